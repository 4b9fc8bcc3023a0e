//! DeleteTopics (key 20), versions 1–6. 3: TOPIC_DELETION_DISABLED. 5: error messages. 6: topics by id (KIP-516).
//!
//! Source: Kafka's `ControllerApis.deleteTopics`, which shuffles its answer; here refusals come first.

use std::collections::BTreeMap;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::delete_topics_response::DeletableTopicResult;
use kafka_protocol::messages::{DeleteTopicsRequest, DeleteTopicsResponse};

use super::api_error::ApiError;
use super::convert::{some_of, text};
use super::{Context, Outcome};
use crate::limits::CONTROLLER_RECORDS_MAX;
use crate::topics::Topics;
use crate::types::{TopicId, TopicName};

/// Deletes topics, and with them the offsets that groups have committed for them.
pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &DeleteTopicsRequest,
) -> Outcome<DeleteTopicsResponse> {
    let results = match delete(ctx, version, request) {
        Ok(results) => results,
        Err(error) => {
            let by_name = request
                .topic_names
                .iter()
                .map(|name| result(Some(name.as_str()), TopicId::ZERO, Some(&error)));
            let by_state = request.topics.iter().map(|topic| {
                result(topic.name.as_ref().map(|name| name.as_str()), topic.topic_id.into(), Some(&error))
            });
            by_name.chain(by_state).collect()
        }
    };
    Outcome::Reply(DeleteTopicsResponse::default().with_responses(results))
}

/// # Errors
/// What is wrong with the request as a whole.
fn delete(
    ctx: &Context<'_>,
    version: i16,
    request: &DeleteTopicsRequest,
) -> Result<Vec<DeletableTopicResult>, ApiError> {
    if !ctx.services.config.delete_topic_enable {
        let error =
            if version < 3 { ResponseError::InvalidRequest } else { ResponseError::TopicDeletionDisabled };
        return Err(ApiError::bare(error));
    }
    let mut results = Vec::new();
    let wanted = Wanted::read(request, &mut results);
    if wanted.is_empty() {
        return Ok(results);
    }
    if request.timeout_ms <= 0 {
        return Err(ApiError::bare(ResponseError::RequestTimedOut));
    }
    let mut topics = super::lock(&ctx.services.topics);
    let doomed = wanted.resolve(&topics, &mut results);
    if doomed.len() > CONTROLLER_RECORDS_MAX {
        let text = "Unable to perform excessively large batch operation.";
        return Err(ApiError::new(ResponseError::PolicyViolation, text));
    }
    let mut deleted: Vec<TopicName> = Vec::with_capacity(doomed.len());
    for (id, name) in doomed {
        let outcome = topics.delete(id).map_err(ApiError::from);
        results.push(result(Some(name.as_str()), id, outcome.as_ref().err()));
        if outcome.is_ok() {
            deleted.push(name);
        }
    }
    let ready = topics.log.take_ready();
    drop(topics);
    ctx.services.wakeups.wake(&ready);
    if !deleted.is_empty() {
        let names: Vec<_> = deleted.iter().map(TopicName::as_str).collect();
        tracing::info!(client = ctx.client_id, "deleted: {}", some_of(&names));
        ctx.services.groups.topics_deleted(ctx.now, &deleted);
    }
    Ok(results)
}

/// Names and ids → whether they come more than once.
struct Wanted<'a> {
    names: BTreeMap<&'a str, bool>,
    ids: BTreeMap<TopicId, bool>,
}

impl<'a> Wanted<'a> {
    /// Takes the names and ids of a request and adds to `results` what cannot be meant.
    fn read(request: &'a DeleteTopicsRequest, results: &mut Vec<DeletableTopicResult>) -> Self {
        let mut wanted = Self { names: BTreeMap::new(), ids: BTreeMap::new() };
        for name in &request.topic_names {
            wanted.names.entry(name.as_str()).and_modify(|twice| *twice = true).or_insert(false);
        }
        for topic in &request.topics {
            let id = TopicId::from(topic.topic_id);
            match topic.name.as_ref().map(|name| name.as_str()) {
                None if id == TopicId::ZERO => {
                    let error = invalid_request("Neither topic name nor id were specified.");
                    results.push(result(None, id, Some(&error)));
                }
                None => _ = wanted.ids.entry(id).and_modify(|twice| *twice = true).or_insert(false),
                Some(name) if id == TopicId::ZERO => {
                    wanted.names.entry(name).and_modify(|twice| *twice = true).or_insert(false);
                }
                Some(name) => {
                    let error = invalid_request("You may not specify both topic name and topic id.");
                    results.push(result(Some(name), id, Some(&error)));
                }
            }
        }
        let twice = invalid_request("Duplicate topic name.");
        let names = wanted.names.iter().filter(|&(_, &twice)| twice);
        results.extend(names.map(|(name, _)| result(Some(name), TopicId::ZERO, Some(&twice))));
        let twice = invalid_request("Duplicate topic id.");
        let ids = wanted.ids.iter().filter(|&(_, &twice)| twice);
        results.extend(ids.map(|(&id, _)| result(None, id, Some(&twice))));
        wanted
    }

    /// Whether nothing is left to look up.
    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.ids.is_empty()
    }

    /// The topics to delete; adds to `results` what there is not, or what is meant twice.
    fn resolve(
        self,
        topics: &Topics,
        results: &mut Vec<DeletableTopicResult>,
    ) -> BTreeMap<TopicId, TopicName> {
        let mut doomed = BTreeMap::new();
        for (&id, _) in self.ids.iter().filter(|&(_, &twice)| !twice) {
            match topics.catalog().by_id(id) {
                Some(topic) => _ = doomed.insert(id, topic.name.clone()),
                None => {
                    let text = "This server does not host this topic ID.";
                    results.push(result(None, id, Some(&ApiError::new(ResponseError::UnknownTopicId, text))));
                }
            }
        }
        let mut meant_twice = Vec::new();
        for (&name, _) in self.names.iter().filter(|&(_, &twice)| !twice) {
            let Some(topic) = topics.catalog().by_name(name) else {
                let text = "This server does not host this topic-partition.";
                let error = ApiError::new(ResponseError::UnknownTopicOrPartition, text);
                results.push(result(Some(name), TopicId::ZERO, Some(&error)));
                continue;
            };
            if self.ids.contains_key(&topic.id) {
                let error =
                    invalid_request("The provided topic name maps to an ID that was already supplied.");
                results.push(result(Some(name), topic.id, Some(&error)));
                meant_twice.push(topic.id);
            } else {
                doomed.insert(topic.id, topic.name.clone());
            }
        }
        for id in meant_twice {
            doomed.remove(&id);
        }
        doomed
    }
}

fn result(name: Option<&str>, id: TopicId, error: Option<&ApiError>) -> DeletableTopicResult {
    let name = name.map(|name| text(name).into());
    DeletableTopicResult::default()
        .with_name(name)
        .with_topic_id(id.into())
        .with_error_code(error.map_or(0, ApiError::code))
        .with_error_message(error.and_then(ApiError::message))
}

fn invalid_request(text: &str) -> ApiError {
    ApiError::new(ResponseError::InvalidRequest, text)
}

#[cfg(test)]
mod tests;
