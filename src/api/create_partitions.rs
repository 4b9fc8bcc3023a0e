//! CreatePartitions (key 37), versions 0–3, which only differ in encoding and in Kafka's quotas.
//!
//! Source: Kafka's `ControllerApis`, `ReplicationControlManager`.

use std::collections::BTreeSet;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsTopic;
use kafka_protocol::messages::create_partitions_response::CreatePartitionsTopicResult;
use kafka_protocol::messages::{CreatePartitionsRequest, CreatePartitionsResponse, TopicName};

use super::api_error::ApiError;
use super::convert::some_of;
use super::{Context, Outcome, replica_assignment};
use crate::catalog::Topic;
use crate::limits::{CONTROLLER_RECORDS_MAX, PARTITIONS_PER_REQUEST_MAX};
use crate::topics::Topics;

/// Grows topics, or only says what would happen.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &CreatePartitionsRequest,
) -> Outcome<CreatePartitionsResponse> {
    let mut seen = BTreeSet::new();
    let duplicates: BTreeSet<&TopicName> =
        request.topics.iter().map(|topic| &topic.name).filter(|&name| !seen.insert(name)).collect();
    let effective: Vec<&CreatePartitionsTopic> =
        request.topics.iter().filter(|topic| !duplicates.contains(&topic.name)).collect();

    let results = match create(ctx, request, &effective) {
        Ok(results) => {
            let duplicate = ApiError::new(ResponseError::InvalidRequest, "Duplicate topic name.");
            let duplicates = duplicates.iter().map(|name| result(name, Err(duplicate.clone())));
            duplicates.chain(results).collect()
        }
        Err(error) => request.topics.iter().map(|topic| result(&topic.name, Err(error.clone()))).collect(),
    };
    Outcome::Reply(CreatePartitionsResponse::default().with_results(results))
}

/// The results for `effective`, in that order.
///
/// # Errors
/// What is wrong with the request as a whole.
fn create(
    ctx: &Context<'_>,
    request: &CreatePartitionsRequest,
    effective: &[&CreatePartitionsTopic],
) -> Result<Vec<CreatePartitionsTopicResult>, ApiError> {
    if effective.is_empty() {
        return Ok(Vec::new());
    }
    if request.timeout_ms <= 0 {
        return Err(ApiError::bare(ResponseError::RequestTimedOut));
    }
    let mut topics = super::lock(&ctx.services.topics);
    check_number_of_partitions(&topics, effective)?;
    if effective.len() > CONTROLLER_RECORDS_MAX {
        let text = "Unable to perform excessively large batch operation.";
        return Err(ApiError::new(ResponseError::PolicyViolation, text));
    }
    let mut planned = 0;
    let mut grown = Vec::new();
    let mut results = Vec::with_capacity(effective.len());
    for topic in effective {
        let outcome = check(ctx, &topics, topic, planned).and_then(|known| {
            if request.validate_only {
                planned += additional(known.partitions, topic.count);
            } else {
                topics.grow(known.id, topic.count)?;
                grown.push(topic.name.as_str());
            }
            Ok(())
        });
        results.push(result(&topic.name, outcome));
    }
    if !grown.is_empty() {
        tracing::info!(client = ctx.client_id, "grown: {}", some_of(&grown));
    }
    Ok(results)
}

/// Checks one topic, and that there is room for it after `planned` partitions.
fn check(
    ctx: &Context<'_>,
    topics: &Topics,
    topic: &CreatePartitionsTopic,
    planned: usize,
) -> Result<std::sync::Arc<Topic>, ApiError> {
    let known = topics.catalog().by_name(&topic.name);
    let known = known.ok_or(ApiError::bare(ResponseError::UnknownTopicOrPartition))?.clone();
    known.check_growth(topic.count)?;
    let additional = additional(known.partitions, topic.count);
    if let Some(assignments) = &topic.assignments {
        if assignments.len() != additional {
            return Err(replica_assignment::invalid(format!(
                "Attempted to add {additional} additional partition(s), but only {} assignment(s) were specified.",
                assignments.len()
            )));
        }
        for assignment in assignments {
            replica_assignment::check(&assignment.broker_ids, ctx.services.config.node_id)?;
        }
    }
    topics.catalog().check_room(planned + additional)?;
    Ok(known)
}

fn check_number_of_partitions(topics: &Topics, wanted: &[&CreatePartitionsTopic]) -> Result<(), ApiError> {
    let known = wanted.iter().filter_map(|topic| Some((topics.catalog().by_name(&topic.name)?, topic.count)));
    let sum: usize = known.map(|(topic, count)| additional(topic.partitions, count)).sum();
    if sum > PARTITIONS_PER_REQUEST_MAX {
        let text = "Excessively large number of additional partitions per request.";
        return Err(ApiError::new(ResponseError::PolicyViolation, text));
    }
    Ok(())
}

fn additional(now: i32, wanted: i32) -> usize {
    usize::try_from(wanted.saturating_sub(now)).unwrap_or(0)
}

fn result(name: &TopicName, outcome: Result<(), ApiError>) -> CreatePartitionsTopicResult {
    let result = CreatePartitionsTopicResult::default().with_name(name.clone()).with_error_message(None);
    match outcome {
        Ok(()) => result,
        Err(error) => result.with_error_code(error.code()).with_error_message(error.message()),
    }
}

#[cfg(test)]
mod tests;
