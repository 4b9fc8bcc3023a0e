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

use super::api_error::ApiError;
use super::config_resource::{ROOT_LOGGER, ResourceType, node_id};
use super::{Context, Outcome};
use crate::catalog::name;
use crate::config::BrokerScope;
use crate::config::alter::{self, AlterError, Change, Operation};

/// Changes the configs of topics, brokers, groups and client metrics subscriptions, or only says what would happen.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &IncrementalAlterConfigsRequest,
) -> Outcome<IncrementalAlterConfigsResponse> {
    let resources = &request.resources;
    let mut outcomes: Vec<_> =
        resources.iter().map(|resource| preprocess(ctx, resources, resource)).collect();
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
            alter(ctx, *kind, resource, request.validate_only).map(|()| None)
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

fn invalid_request(message: impl Into<String>) -> ApiError {
    ApiError::new(ResponseError::InvalidRequest, message)
}

impl From<AlterError> for ApiError {
    fn from(error: AlterError) -> Self {
        match error {
            AlterError::InvalidConfig(message) => Self::new(ResponseError::InvalidConfig, message),
            AlterError::InvalidRequest(message) => invalid_request(message),
        }
    }
}

/// Looks at a resource before any is changed. What is left to be changed comes back with its type.
fn preprocess(
    ctx: &Context<'_>,
    resources: &[AlterConfigsResource],
    resource: &AlterConfigsResource,
) -> Result<Option<ResourceType>, ApiError> {
    let same = |other: &&AlterConfigsResource| {
        (other.resource_type, &other.resource_name) == (resource.resource_type, &resource.resource_name)
    };
    if resources.iter().filter(same).count() > 1 {
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
            ctx.services.live_config.alter_broker(scope, &changes, true)?;
            Ok(Some(ResourceType::Broker))
        }
        Some(kind) => Ok(Some(kind)),
    }
}

fn alter(
    ctx: &Context<'_>,
    kind: ResourceType,
    resource: &AlterConfigsResource,
    validate_only: bool,
) -> Result<(), ApiError> {
    let name = resource.resource_name.as_str();
    let changes = changes(resource)?;
    let live = &ctx.services.live_config;
    match kind {
        ResourceType::Topic => alter_topic(ctx, name, &changes, validate_only)?,
        ResourceType::Broker => {
            // The lock on topics comes first, so that they follow the changes in order.
            let mut topics = super::lock(&ctx.services.topics);
            let config = live.alter_broker(broker_scope(ctx, name)?, &changes, validate_only)?;
            if !validate_only {
                topics.reconfigure(&config);
            }
        }
        ResourceType::Group if name.is_empty() => {
            return Err(invalid_request("Default group resources are not allowed."));
        }
        ResourceType::Group => live.alter_group(name, &changes, validate_only)?,
        ResourceType::ClientMetrics if name.is_empty() => {
            return Err(invalid_request("Subscription name can't be empty"));
        }
        ResourceType::ClientMetrics => live.alter_client_metrics(name, &changes, validate_only)?,
        ResourceType::BrokerLogger => {}
    }
    if !validate_only && !changes.is_empty() {
        let keys: Vec<_> = changes.iter().map(|change| change.key.as_str()).collect();
        tracing::info!(client = ctx.client_id, "configs of {kind:?} '{name}' changed: {}", keys.join(", "));
    }
    Ok(())
}

/// Whether the topic exists is looked at last, as in Kafka.
fn alter_topic(
    ctx: &Context<'_>,
    name: &str,
    changes: &[Change],
    validate_only: bool,
) -> Result<(), ApiError> {
    if name.is_empty() {
        return Err(invalid_request("Default topic resources are not allowed."));
    }
    name::validate(name).map_err(|message| ApiError::new(ResponseError::InvalidTopicException, message))?;
    let mut topics = super::lock(&ctx.services.topics);
    let config = ctx.services.live_config.broker();
    let topic = topics.catalog().by_name(name).cloned();
    let own = topic.as_ref().map(|topic| topic.overrides.clone()).unwrap_or_default();
    let changed = alter::topic(&config, &own, changes)?;
    let Some(topic) = topic else {
        let message = format!("The topic '{name}' does not exist.");
        return Err(ApiError::new(ResponseError::UnknownTopicOrPartition, message));
    };
    if !validate_only {
        topics.configure(&config, topic.id, changed)?;
    }
    Ok(())
}

fn broker_scope(ctx: &Context<'_>, name: &str) -> Result<BrokerScope, ApiError> {
    let this = ctx.services.config.node_id;
    match node_id(name) {
        _ if name.is_empty() => Ok(BrokerScope::EveryBroker),
        Some(id) if id == this => Ok(BrokerScope::ThisBroker),
        Some(_) => {
            Err(invalid_request(format!("Unexpected broker id, expected {this}, but received {name}")))
        }
        None => Err(not_a_node_id(name)),
    }
}

fn not_a_node_id(name: &str) -> ApiError {
    invalid_request(format!("Node id must be an integer, but it is: {name}"))
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
