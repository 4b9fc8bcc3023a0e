//! DescribeConfigs (key 32), versions 1–4. 3: types and documentation (KIP-569).
//!
//! Source: Kafka's `ConfigHelper`.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult, DescribeConfigsSynonym,
};
use kafka_protocol::messages::{DescribeConfigsRequest, DescribeConfigsResponse};
use kafka_protocol::protocol::StrBytes;
use tracing::level_filters::LevelFilter;

use super::api_error::ApiError;
use super::config_resource::{ROOT_LOGGER, ResourceType, node_id};
use super::convert::text;
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome};
use crate::catalog::name;
use crate::config::ConfigSource;
use crate::config::describe::{self, Entry};
use crate::config::keys::Kind;

/// Tells the configs of topics, brokers, loggers, groups and client metrics subscriptions.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &DescribeConfigsRequest,
) -> Outcome<DescribeConfigsResponse> {
    let mut types = request.resources.iter().map(|resource| ResourceType::from_code(resource.resource_type));
    let room = Room::for_an_answer();
    let results = if types.all(|kind| kind.is_some()) {
        let results = request.resources.iter().map(|resource| result(ctx, request, resource));
        results.take_while(|result| room.admits(result.configs.iter().map(bytes_of).sum())).collect()
    } else {
        // One resource of an unknown type spoils them all.
        request.resources.iter().map(|resource| refused(resource, &unknown_type())).collect()
    };
    if room.is_exceeded() {
        return Outcome::Close(TOO_LARGE);
    }
    Outcome::Reply(DescribeConfigsResponse::default().with_results(results))
}

/// About what a config takes in an answer.
fn bytes_of(config: &DescribeConfigsResourceResult) -> usize {
    /// A text besides its bytes: what shares them, and what the allocator adds.
    const TEXT_BYTES: usize = 64;
    let text = |text: Option<&StrBytes>| text.map_or(0, |text| TEXT_BYTES + text.len());
    let synonym = |synonym: &DescribeConfigsSynonym| {
        size_of::<DescribeConfigsSynonym>() + text(Some(&synonym.name)) + text(synonym.value.as_ref())
    };
    let texts = text(Some(&config.name)) + text(config.value.as_ref()) + text(config.documentation.as_ref());
    size_of::<DescribeConfigsResourceResult>() + texts + config.synonyms.iter().map(synonym).sum::<usize>()
}

fn unknown_type() -> ApiError {
    let message = "This most likely occurs because of a request being malformed by the client library or the \
                   message was sent to an incompatible broker. See the broker logs for more details.";
    invalid_request(message)
}

fn invalid_request(message: impl Into<String>) -> ApiError {
    ApiError::new(ResponseError::InvalidRequest, message)
}

fn result(
    ctx: &Context<'_>,
    request: &DescribeConfigsRequest,
    resource: &DescribeConfigsResource,
) -> DescribeConfigsResult {
    let described = match ResourceType::from_code(resource.resource_type) {
        Some(ResourceType::BrokerLogger) => loggers(ctx, &resource.resource_name),
        Some(kind) => entries(ctx, kind, &resource.resource_name)
            .map(|entries| entries.into_iter().map(|entry| config(request, entry)).collect()),
        None => Err(unknown_type()),
    };
    let mut configs: Vec<_> = match described {
        Ok(configs) => configs,
        Err(error) => return refused(resource, &error),
    };
    let wanted = resource.configuration_keys.as_deref().unwrap_or_default();
    configs.retain(|config| wanted.is_empty() || wanted.contains(&config.name));
    DescribeConfigsResult::default()
        .with_resource_type(resource.resource_type)
        .with_resource_name(resource.resource_name.clone())
        .with_configs(configs)
}

fn refused(resource: &DescribeConfigsResource, error: &ApiError) -> DescribeConfigsResult {
    DescribeConfigsResult::default()
        .with_error_code(error.code())
        // Where there is nothing to say, Kafka says so with an empty text.
        .with_error_message(Some(error.message().unwrap_or_default()))
        .with_resource_type(resource.resource_type)
        .with_resource_name(resource.resource_name.clone())
}

/// The configs of a resource that is no logger.
fn entries(ctx: &Context<'_>, kind: ResourceType, name: &str) -> Result<Vec<Entry>, ApiError> {
    let live = &ctx.services.live_config;
    match kind {
        ResourceType::Topic => {
            name::validate(name)
                .map_err(|message| ApiError::new(ResponseError::InvalidTopicException, message))?;
            let topic = super::lock(&ctx.services.topics).catalog().by_name(name).cloned();
            let topic = topic.ok_or_else(|| ApiError::bare(ResponseError::UnknownTopicOrPartition))?;
            Ok(describe::topic(&live.broker(), &topic.overrides))
        }
        ResourceType::Broker if name.is_empty() => Ok(describe::every_broker(&live.broker())),
        ResourceType::Broker => {
            let this = ctx.services.config.node_id;
            check_broker_id(name, this, &format!("expected {this} or empty string, but received {name}"))?;
            Ok(describe::broker(&live.broker()))
        }
        ResourceType::Group if name.is_empty() => Err(invalid_request("Group name must not be empty")),
        ResourceType::Group => Ok(describe::group(&live.broker(), &live.group(name))),
        ResourceType::ClientMetrics if name.is_empty() => {
            Err(invalid_request("Client metrics subscription name must not be empty"))
        }
        ResourceType::ClientMetrics => Ok(describe::client_metrics(&live.client_metrics(name))),
        ResourceType::BrokerLogger => Ok(Vec::new()),
    }
}

/// The level of the process, as that of Kafka's root logger.
fn loggers(ctx: &Context<'_>, name: &str) -> Result<Vec<DescribeConfigsResourceResult>, ApiError> {
    if name.is_empty() {
        return Err(invalid_request("Broker id must not be empty"));
    }
    let this = ctx.services.config.node_id;
    check_broker_id(name, this, &format!("expected {this} but received {name}"))?;
    let level = match LevelFilter::current() {
        // Kafka has no level at which nothing is logged.
        LevelFilter::OFF => "FATAL".to_owned(),
        level => level.to_string().to_uppercase(),
    };
    let root = DescribeConfigsResourceResult::default()
        .with_name(StrBytes::from_static_str(ROOT_LOGGER))
        .with_value(Some(StrBytes::from_string(level)))
        .with_config_source(ConfigSource::DynamicBrokerLogger.code());
    Ok(vec![root])
}

fn check_broker_id(name: &str, this: i32, unexpected: &str) -> Result<(), ApiError> {
    match node_id(name) {
        Some(id) if id == this => Ok(()),
        Some(_) => Err(invalid_request(format!("Unexpected broker id, {unexpected}"))),
        None => Err(invalid_request(format!("Broker id must be an integer, but it is: {name}"))),
    }
}

fn config(request: &DescribeConfigsRequest, entry: Entry) -> DescribeConfigsResourceResult {
    let documentation = entry.documentation.filter(|_| request.include_documentation);
    let synonyms = entry.synonyms.into_iter().filter(|_| request.include_synonyms).map(|synonym| {
        DescribeConfigsSynonym::default()
            .with_name(StrBytes::from_string(synonym.name))
            .with_value(synonym.value.map(StrBytes::from_string))
            .with_source(synonym.source.code())
    });
    DescribeConfigsResourceResult::default()
        .with_name(StrBytes::from_string(entry.name))
        .with_value(entry.value.map(StrBytes::from_string))
        .with_read_only(entry.read_only)
        .with_config_source(entry.source.code())
        .with_is_sensitive(entry.sensitive)
        .with_synonyms(synonyms.collect())
        .with_config_type(entry.kind.map_or(0, type_code))
        // Differs from Kafka: DescribeConfigs documents only what has an effect here, and in words of ours.
        .with_documentation(documentation.map(text))
}

/// Kafka's `DescribeConfigsResponse.ConfigType`.
const fn type_code(kind: Kind) -> i8 {
    match kind {
        Kind::Boolean => 1,
        Kind::String => 2,
        Kind::Int => 3,
        Kind::Short => 4,
        Kind::Long => 5,
        Kind::Double => 6,
        Kind::List => 7,
        Kind::Class => 8,
        Kind::Password => 9,
    }
}

#[cfg(test)]
mod tests;
