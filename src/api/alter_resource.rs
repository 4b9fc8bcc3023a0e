//! What AlterConfigs and IncrementalAlterConfigs have in common: the changes to one resource.
//!
//! Source: Kafka's `ConfigAdminManager`, `ControllerApis`, `ConfigurationControlManager`.

use std::collections::BTreeSet;

use kafka_protocol::ResponseError;

use super::Context;
use super::api_error::ApiError;
use super::config_resource::{ResourceType, node_id};
use crate::catalog::name;
use crate::config::BrokerScope;
use crate::config::alter::{self, AlterError, Change, Onto};

pub(super) fn invalid_request(message: impl Into<String>) -> ApiError {
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

/// The resources that are there more than once.
pub(super) fn repeated<'a>(resources: impl Iterator<Item = (i8, &'a str)>) -> BTreeSet<(i8, &'a str)> {
    let mut seen = BTreeSet::new();
    resources.filter(|&resource| !seen.insert(resource)).collect()
}

/// Changes what one resource sets of its own, or only says what would happen.
pub(super) fn alter(
    ctx: &Context<'_>,
    kind: ResourceType,
    name: &str,
    onto: Onto,
    changes: &[Change],
    validate_only: bool,
) -> Result<(), ApiError> {
    let live = &ctx.services.live_config;
    match kind {
        ResourceType::Topic => alter_topic(ctx, name, onto, changes, validate_only)?,
        ResourceType::Broker => {
            // The lock on topics comes first, so that they follow the changes in order.
            let mut topics = super::lock(&ctx.services.topics);
            let config = live.alter_broker(broker_scope(ctx, name)?, onto, changes, validate_only)?;
            if !validate_only {
                topics.reconfigure(&config);
            }
        }
        ResourceType::Group if name.is_empty() => {
            return Err(invalid_request("Default group resources are not allowed."));
        }
        ResourceType::Group => live.alter_group(name, onto, changes, validate_only)?,
        ResourceType::ClientMetrics if name.is_empty() => {
            return Err(invalid_request("Subscription name can't be empty"));
        }
        ResourceType::ClientMetrics => live.alter_client_metrics(name, onto, changes, validate_only)?,
        ResourceType::BrokerLogger => {}
    }
    if !validate_only && (onto == Onto::Nothing || !changes.is_empty()) {
        let keys: Vec<_> = changes.iter().map(|change| change.key.as_str()).collect();
        let verb = if onto == Onto::Nothing { "replaced" } else { "changed" };
        tracing::info!(client = ctx.client_id, "configs of {kind:?} '{name}' {verb}: {}", keys.join(", "));
    }
    Ok(())
}

/// Whether the topic exists is looked at last, as in Kafka.
fn alter_topic(
    ctx: &Context<'_>,
    name: &str,
    onto: Onto,
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
    let own = topic.as_ref().map(|topic| onto.of(&topic.overrides)).unwrap_or_default();
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

/// Which brokers a resource of type broker means.
pub(super) fn broker_scope(ctx: &Context<'_>, name: &str) -> Result<BrokerScope, ApiError> {
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

pub(super) fn not_a_node_id(name: &str) -> ApiError {
    invalid_request(format!("Node id must be an integer, but it is: {name}"))
}
