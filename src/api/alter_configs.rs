//! AlterConfigs (key 33), versions 0–2 (KIP-133), which KIP-339 has replaced by IncrementalAlterConfigs. 2 is flexible.
//!
//! A resource gets the configs of the request, and the default of every other.
//! Source: Kafka's `ConfigAdminManager.preprocess`, `ConfigurationControlManager.legacyAlterConfigs`.

use std::collections::BTreeSet;

use kafka_protocol::messages::alter_configs_request::{AlterConfigsResource, AlterableConfig};
use kafka_protocol::messages::alter_configs_response::AlterConfigsResourceResponse;
use kafka_protocol::messages::{AlterConfigsRequest, AlterConfigsResponse};

use super::alter_resource::{self, broker_scope, invalid_request};
use super::api_error::ApiError;
use super::config_resource::ResourceType;
use super::{Context, Outcome};
use crate::config::alter::{Change, Onto, Operation};

/// Replaces the configs of topics, brokers, groups and client metrics subscriptions, or only says what would happen.
pub(super) fn handle(ctx: &Context<'_>, request: &AlterConfigsRequest) -> Outcome<AlterConfigsResponse> {
    let resources = request.resources.iter();
    let repeated = alter_resource::repeated(resources.clone().map(|r| (r.resource_type, &*r.resource_name)));
    // All are looked at before any is changed.
    let kinds: Vec<_> = resources.clone().map(|resource| preprocess(ctx, &repeated, resource)).collect();
    let responses = resources.zip(kinds).map(|(resource, kind)| {
        let error = kind.and_then(|kind| {
            let name = resource.resource_name.as_str();
            alter_resource::alter(ctx, kind, name, Onto::Nothing, &changes(resource), request.validate_only)
        });
        let error = error.err();
        AlterConfigsResourceResponse::default()
            .with_error_code(error.as_ref().map_or(0, ApiError::code))
            .with_error_message(error.as_ref().and_then(ApiError::message))
            .with_resource_type(resource.resource_type)
            .with_resource_name(resource.resource_name.clone())
    });
    Outcome::Reply(AlterConfigsResponse::default().with_responses(responses.collect()))
}

// Differs from Kafka: a resource that appears twice is refused in words; Kafka means to say the same, fails at it, and
// leaves the request without an answer.
fn preprocess(
    ctx: &Context<'_>,
    repeated: &BTreeSet<(i8, &str)>,
    resource: &AlterConfigsResource,
) -> Result<ResourceType, ApiError> {
    if repeated.contains(&(resource.resource_type, &resource.resource_name)) {
        return Err(invalid_request("Each resource must appear at most once."));
    }
    let mut keys = BTreeSet::new();
    if !resource.configs.iter().all(|config| keys.insert(&config.name)) {
        return Err(invalid_request("Error due to duplicate config keys"));
    }
    let nulls: Vec<_> = resource.configs.iter().filter(|config| config.value.is_none()).collect();
    if !nulls.is_empty() {
        let names: Vec<_> = nulls.iter().map(|config| config.name.as_str()).collect();
        return Err(invalid_request(format!("Null value not supported for : {}", names.join(", "))));
    }
    match ResourceType::from_code(resource.resource_type) {
        // Levels of loggers can only be changed one by one.
        None | Some(ResourceType::BrokerLogger) => {
            Err(invalid_request(format!("Unknown resource type {}", resource.resource_type)))
        }
        Some(ResourceType::Broker) => {
            let scope = broker_scope(ctx, &resource.resource_name)?;
            ctx.services.live_config.alter_broker(scope, Onto::Nothing, &changes(resource), true)?;
            Ok(ResourceType::Broker)
        }
        Some(kind) => Ok(kind),
    }
}

fn changes(resource: &AlterConfigsResource) -> Vec<Change> {
    let change = |config: &AlterableConfig| Change {
        key: config.name.as_str().to_owned(),
        operation: Operation::Set(config.value.as_deref().unwrap_or_default().to_owned()),
    };
    resource.configs.iter().map(change).collect()
}

#[cfg(test)]
mod tests;
