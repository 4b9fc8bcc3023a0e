//! IncrementalAlterConfigs (key 44), versions 0–1 (KIP-339).
//!
//! As in Kafka a request has two parts: the broker looks at all resources and changes itself; what is left, and
//! nothing if that cannot be read, is for the controller.
//! Source: Kafka's `ConfigAdminManager`, `ControllerApis`, `ConfigurationControlManager`, `RuntimeLoggerManager`.
//!
//! Not implemented: changing the level of a logger.

use std::collections::BTreeSet;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::incremental_alter_configs_request::{AlterConfigsResource, AlterableConfig};
use kafka_protocol::messages::incremental_alter_configs_response::AlterConfigsResourceResponse;
use kafka_protocol::messages::{IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse};

use super::alter_resource::{self, broker_scope, invalid_request, not_a_node_id};
use super::api_error::ApiError;
use super::config_resource::{ROOT_LOGGER, ResourceType, node_id};
use super::{Context, Outcome};
use crate::config::alter::{Change, Onto, Operation};

/// Changes the configs of topics, brokers, groups and client metrics subscriptions, or only says what would happen.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &IncrementalAlterConfigsRequest,
) -> Outcome<IncrementalAlterConfigsResponse> {
    let resources = &request.resources;
    let repeated = alter_resource::repeated(resources.iter().map(|r| (r.resource_type, &*r.resource_name)));
    let mut outcomes: Vec<_> =
        resources.iter().map(|resource| preprocess(ctx, &repeated, resource)).collect();
    let is_left = |outcome: &Result<_, _>| matches!(outcome, Ok(Some(_)));
    let unreadable = resources.iter().zip(&outcomes).any(|(resource, outcome)| {
        is_left(outcome)
            && resource.configs.iter().any(|config| operation_is_unknown(config.config_operation))
    });
    for (resource, outcome) in resources.iter().zip(&mut outcomes) {
        let Ok(Some(kind)) = outcome else { continue };
        *outcome = if unreadable {
            Err(ApiError::bare(ResponseError::UnknownServerError))
        } else {
            changes(resource)
                .and_then(|changes| {
                    let name = resource.resource_name.as_str();
                    alter_resource::alter(ctx, *kind, name, Onto::Own, &changes, request.validate_only)
                })
                .map(|()| None)
        };
    }
    let responses = resources.iter().zip(outcomes).map(|(resource, outcome)| {
        let error = outcome.err();
        AlterConfigsResourceResponse::default()
            .with_error_code(error.as_ref().map_or(0, ApiError::code))
            .with_error_message(error.as_ref().and_then(ApiError::message))
            .with_resource_type(resource.resource_type)
            .with_resource_name(resource.resource_name.clone())
    });
    Outcome::Reply(IncrementalAlterConfigsResponse::default().with_responses(responses.collect()))
}

/// Looks at a resource before any is changed. What is left to be changed comes back with its type.
fn preprocess(
    ctx: &Context<'_>,
    repeated: &BTreeSet<(i8, &str)>,
    resource: &AlterConfigsResource,
) -> Result<Option<ResourceType>, ApiError> {
    if repeated.contains(&(resource.resource_type, &resource.resource_name)) {
        return Err(invalid_request("Each resource must appear at most once."));
    }
    let mut keys = BTreeSet::new();
    if !resource.configs.iter().all(|config| keys.insert(&config.name)) {
        return Err(invalid_request("Error due to duplicate config keys"));
    }
    let nulls = resource.configs.iter().filter(|config| config.value.is_none());
    let nulls: Vec<_> =
        nulls.filter(|config| config.config_operation != DELETE).map(|c| c.name.as_str()).collect();
    if !nulls.is_empty() {
        return Err(invalid_request(format!("Null value not supported for : {}", nulls.join(", "))));
    }
    match ResourceType::from_code(resource.resource_type) {
        None => Err(invalid_request(format!("Unknown resource type {}", resource.resource_type))),
        Some(ResourceType::BrokerLogger) => alter_logger(ctx, resource).map(|()| None),
        Some(ResourceType::Broker) => {
            let scope = broker_scope(ctx, &resource.resource_name)?;
            let changes = changes(resource)?;
            ctx.services.live_config.alter_broker(scope, Onto::Own, &changes, true)?;
            Ok(Some(ResourceType::Broker))
        }
        Some(kind) => Ok(Some(kind)),
    }
}

/// Refuses whatever is to happen to loggers, each thing with the reason that Kafka gives where it has one.
// Differs from Kafka: the level of the root logger, the only one there is, stays what it was at start.
fn alter_logger(ctx: &Context<'_>, resource: &AlterConfigsResource) -> Result<(), ApiError> {
    let (name, this) = (resource.resource_name.as_str(), ctx.services.config.node_id);
    match node_id(name) {
        Some(id) if id == this => {}
        Some(_) => {
            return Err(invalid_request(format!("Unexpected node id. Expected {this}, but received {name}")));
        }
        None => return Err(not_a_node_id(name)),
    }
    match changes(resource)?.first() {
        Some(change) => Err(refused_logger(change)),
        None => Ok(()),
    }
}

fn refused_logger(Change { key: logger, operation }: &Change) -> ApiError {
    const LEVELS: &[&str] = &["DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN"];
    let invalid_config = |message| ApiError::new(ResponseError::InvalidConfig, message);
    let not_allowed = |operation| {
        invalid_request(format!("{operation} operation is not allowed for the BROKER_LOGGER resource"))
    };
    match operation {
        Operation::Append(_) => not_allowed("APPEND"),
        Operation::Subtract(_) => not_allowed("SUBTRACT"),
        _ if logger != ROOT_LOGGER => invalid_config(format!("Logger {logger} does not exist!")),
        Operation::Set(level) if !LEVELS.contains(&level.as_str()) => invalid_config(format!(
            "Cannot set the log level of {logger} to {level} as it is not a supported log level. \
             Valid log levels are {}",
            LEVELS.join(", ")
        )),
        Operation::Set(_) => invalid_request("The log level is what RUST_LOG said when the broker started."),
        Operation::Delete => invalid_request("Removing the log level of the root logger is not allowed"),
    }
}

const SET: i8 = 0;
const DELETE: i8 = 1;
const APPEND: i8 = 2;
const SUBTRACT: i8 = 3;

const fn operation_is_unknown(code: i8) -> bool {
    !matches!(code, SET | DELETE | APPEND | SUBTRACT)
}

fn changes(resource: &AlterConfigsResource) -> Result<Vec<Change>, ApiError> {
    let change = |config: &AlterableConfig| {
        let value = || config.value.as_ref().map(|value| value.as_str().to_owned()).unwrap_or_default();
        let operation = match config.config_operation {
            SET => Operation::Set(value()),
            DELETE => Operation::Delete,
            APPEND => Operation::Append(value()),
            SUBTRACT => Operation::Subtract(value()),
            code => return Err(invalid_request(format!("Unknown operations type {code}"))),
        };
        Ok(Change { key: config.name.as_str().to_owned(), operation })
    };
    resource.configs.iter().map(change).collect()
}

#[cfg(test)]
mod tests;
