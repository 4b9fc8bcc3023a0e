//! CreateTopics (key 19), versions 2–7. 5: partition count, replication factor and configs in the answer (KIP-525).
//! 7: topic ids in the answer.
//!
//! Either all topics of a request that can be created are, or none. Source: Kafka's `ControllerApis`,
//! `ReplicationControlManager`.

use std::collections::{BTreeMap, BTreeSet};

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::create_topics_response::{CreatableTopicConfigs, CreatableTopicResult};
use kafka_protocol::messages::{CreateTopicsRequest, CreateTopicsResponse, TopicName};
use kafka_protocol::protocol::StrBytes;

use super::api_error::ApiError;
use super::convert::some_of;
use super::{Context, Outcome, replica_assignment};
use crate::catalog::{Overrides, name, random_topic_id};
use crate::config::{check_topic_overrides, effective_topic_configs};
use crate::limits::{CONTROLLER_RECORDS_MAX, PARTITIONS_PER_REQUEST_MAX};
use crate::topics::{NewTopic, Topics, check_replication_factor};

/// Creates topics, or only says what would happen.
pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &CreateTopicsRequest,
) -> Outcome<CreateTopicsResponse> {
    let duplicates = duplicates(request);
    let effective: Vec<&CreatableTopic> = request
        .topics
        .iter()
        .filter(|topic| !duplicates.contains(&topic.name) && topic.name.as_str() != name::CLUSTER_METADATA)
        .collect();
    let results = match create(ctx, version, request, &effective) {
        Ok(mut results) => {
            results.extend(
                duplicates.iter().map(|name| refused(name, &invalid_request("Duplicate topic name."))),
            );
            let mut names = request.topics.iter().map(|topic| &topic.name);
            let reserved =
                names.find(|name| name.as_str() == name::CLUSTER_METADATA && !duplicates.contains(*name));
            results.extend(reserved.map(|name| {
                let text = format!("Creation of internal topic {} is prohibited.", name::CLUSTER_METADATA);
                refused(name, &invalid_request(text))
            }));
            results
        }
        Err(error) => request.topics.iter().map(|topic| refused(&topic.name, &error)).collect(),
    };
    Outcome::Reply(CreateTopicsResponse::default().with_topics(results))
}

/// A topic that nothing speaks against.
struct Planned<'a> {
    name: &'a TopicName,
    new: NewTopic<'a>,
}

/// The results for `effective`, in that order.
///
/// # Errors
/// What is wrong with the request as a whole.
fn create(
    ctx: &Context<'_>,
    version: i16,
    request: &CreateTopicsRequest,
    effective: &[&CreatableTopic],
) -> Result<Vec<CreatableTopicResult>, ApiError> {
    if effective.is_empty() {
        return Ok(Vec::new());
    }
    if request.timeout_ms <= 0 {
        return Err(ApiError::bare(ResponseError::RequestTimedOut));
    }
    check_number_of_partitions(effective)?;

    let mut topics = super::lock(&ctx.services.topics);
    let mut partitions = 0;
    let mut records = 0;
    let mut plans = Vec::with_capacity(effective.len());
    for topic in effective {
        let planned = plan(ctx, &topics, topic, partitions);
        if let Ok(planned) = &planned {
            partitions += planned.new.partition_count();
            records += 1 + planned.new.overrides.len() + planned.new.partition_count();
        }
        plans.push((&topic.name, planned));
    }
    if records > CONTROLLER_RECORDS_MAX {
        let text = "Unable to perform excessively large batch operation.";
        return Err(ApiError::new(ResponseError::PolicyViolation, text));
    }
    let mut created = Vec::new();
    let mut results = Vec::with_capacity(plans.len());
    for (name, planned) in plans {
        let outcome = planned.and_then(|planned| {
            let result = accepted(ctx, version, &planned);
            if !request.validate_only {
                topics.create(&ctx.services.live_config.broker(), planned.new)?;
                created.push(name.as_str());
            }
            Ok(result)
        });
        results.push(outcome.unwrap_or_else(|error| refused(name, &error)));
    }
    if !created.is_empty() {
        tracing::info!(client = ctx.client_id, "created: {}", some_of(&created));
    }
    Ok(results)
}

/// Checks one topic against the catalog as it was before the request, and the room left after `planned` partitions.
fn plan<'a>(
    ctx: &Context<'_>,
    topics: &Topics,
    topic: &'a CreatableTopic,
    planned: usize,
) -> Result<Planned<'a>, ApiError> {
    topics.catalog().check_new_name(&topic.name)?;
    let overrides = overrides(topic)?;
    check_topic_overrides(&ctx.services.live_config.broker(), &overrides)
        .map_err(|error| ApiError::new(ResponseError::InvalidConfig, error.0))?;
    let partitions = partitions(ctx, topic)?;
    let new = NewTopic {
        name: topic.name.as_str(),
        id: random_topic_id(ctx.services.entropy.random()),
        partitions,
        overrides,
    };
    topics.catalog().check_room(planned + new.partition_count())?;
    Ok(Planned { name: &topic.name, new })
}

/// How many partitions the topic gets.
fn partitions(ctx: &Context<'_>, topic: &CreatableTopic) -> Result<i32, ApiError> {
    if !topic.assignments.is_empty() {
        return assigned_partitions(topic, ctx.services.config.node_id);
    }
    let replication_factor = match topic.replication_factor {
        -1 => ctx.services.config.default_replication_factor,
        factor => i32::from(factor),
    };
    if topic.replication_factor < -1 || topic.replication_factor == 0 {
        let text = "Replication factor must be larger than 0, or -1 to use the default value.";
        return Err(ApiError::new(ResponseError::InvalidReplicationFactor, text));
    }
    let partitions = match topic.num_partitions {
        -1 => ctx.services.config.num_partitions,
        count if count > 0 => count,
        _ => {
            let text = "Number of partitions was set to an invalid non-positive value.";
            return Err(ApiError::new(ResponseError::InvalidPartitions, text));
        }
    };
    check_replication_factor(replication_factor)?;
    Ok(partitions)
}

fn assigned_partitions(topic: &CreatableTopic, node_id: i32) -> Result<i32, ApiError> {
    let what = match (topic.replication_factor, topic.num_partitions) {
        (-1, -1) => None,
        (-1, _) => Some("numPartitions"),
        _ => Some("replication factor"),
    };
    if let Some(what) = what {
        let text = format!("A manual partition assignment was specified, but {what} was not set to -1.");
        return Err(invalid_request(text));
    }
    let mut indexes = BTreeSet::new();
    for assignment in &topic.assignments {
        let index = assignment.partition_index;
        if !indexes.insert(index) {
            let text = format!("Found multiple manual partition assignments for partition {index}");
            return Err(replica_assignment::invalid(text));
        }
        replica_assignment::check(&assignment.broker_ids, node_id)?;
    }
    if indexes.into_iter().zip(0..).any(|(index, expected)| index != expected) {
        let text = "partitions should be a consecutive 0-based integer sequence";
        return Err(replica_assignment::invalid(text));
    }
    // Bounded by check_number_of_partitions.
    i32::try_from(topic.assignments.len()).map_err(|_| ApiError::bare(ResponseError::PolicyViolation))
}

/// What the client sets; of a key that comes twice the last value.
fn overrides(topic: &CreatableTopic) -> Result<Overrides, ApiError> {
    let mut overrides = Overrides::new();
    let mut null_keys = Vec::new();
    for config in &topic.configs {
        match &config.value {
            Some(value) => _ = overrides.insert(config.name.as_str().into(), value.as_str().into()),
            None => null_keys.push(config.name.as_str()),
        }
    }
    if null_keys.is_empty() {
        return Ok(overrides);
    }
    let text = format!("Null value not supported for topic configs: {}", null_keys.join(","));
    Err(ApiError::new(ResponseError::InvalidConfig, text))
}

/// Topics that take the default count as one here, as in Kafka.
fn check_number_of_partitions(topics: &[&CreatableTopic]) -> Result<(), ApiError> {
    let count = |topic: &&CreatableTopic| match (topic.assignments.len(), topic.num_partitions) {
        (0, -1) => 1,
        (0, partitions) => usize::try_from(partitions).unwrap_or(0),
        (assigned, _) => assigned,
    };
    if topics.iter().map(count).sum::<usize>() > PARTITIONS_PER_REQUEST_MAX {
        let text = "Excessively large number of partitions per request.";
        return Err(ApiError::new(ResponseError::PolicyViolation, text));
    }
    Ok(())
}

/// Names that come more than once, each once.
fn duplicates(request: &CreateTopicsRequest) -> Vec<TopicName> {
    let mut counts = BTreeMap::new();
    for topic in &request.topics {
        *counts.entry(&topic.name).or_insert(0) += 1;
    }
    counts.into_iter().filter(|&(_, count)| count > 1).map(|(name, _)| name.clone()).collect()
}

fn accepted(ctx: &Context<'_>, version: i16, planned: &Planned<'_>) -> CreatableTopicResult {
    let result = CreatableTopicResult::default().with_name(planned.name.clone()).with_error_message(None);
    if version < 5 {
        return result;
    }
    let configs = effective_topic_configs(&ctx.services.live_config.broker(), &planned.new.overrides)
        .into_iter()
        .map(|config| {
            CreatableTopicConfigs::default()
                .with_name(StrBytes::from_static_str(config.name))
                .with_value(config.value.map(StrBytes::from_string))
                .with_config_source(config.source.code())
        });
    result
        .with_topic_id(planned.new.id.into())
        .with_num_partitions(planned.new.partitions)
        .with_replication_factor(1)
        .with_configs(Some(configs.collect()))
}

fn refused(name: &TopicName, error: &ApiError) -> CreatableTopicResult {
    CreatableTopicResult::default()
        .with_name(name.clone())
        .with_error_code(error.code())
        .with_error_message(error.message())
}

fn invalid_request(text: impl Into<String>) -> ApiError {
    ApiError::new(ResponseError::InvalidRequest, text)
}

#[cfg(test)]
mod tests;
