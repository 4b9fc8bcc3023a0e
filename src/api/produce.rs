//! Produce (key 0), versions 3–13; 0–2 are in the list of versions for librdkafka's sake, and close the
//! connection as on Kafka 4.4.
//!
//! 5: log start offset. 7: zstd. 8: errors of single records (KIP-467). 10: current leader (KIP-951, never needed
//! with one broker). 11: TRANSACTION_ABORTABLE. 12: adds the partitions to the transaction (KIP-890). 13: topic ids.

mod transactions;

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::produce_response::{
    BatchIndexAndErrorMessage, PartitionProduceResponse, TopicProduceResponse,
};
use kafka_protocol::messages::{ProduceRequest, ProduceResponse};

use super::convert::text;
use super::{Context, Outcome, error_code, lock, wake};
use crate::catalog::{Catalog, Topic};
use crate::log::{
    Appended, Incoming, LogError, TopicIdPartition, Verified, check_first_frame, is_transactional,
};
use crate::topics::Topics;

/// Before version 3 come formats that Kafka 4 no longer takes.
const OLDEST_SERVED: i16 = 3;
/// From here on topics have ids instead of names.
const TOPIC_IDS_SINCE: i16 = 13;
/// The client id that may write to internal topics (Kafka's `AdminUtils.ADMIN_CLIENT_ID`).
const ADMIN_CLIENT_ID: &str = "__admin_client";

pub(super) fn handle(ctx: &Context<'_>, version: i16, request: &ProduceRequest) -> Outcome<ProduceResponse> {
    if version < OLDEST_SERVED {
        return Outcome::Close("Produce before version 3");
    }
    let response = match check_request(request) {
        Err(error) => refused_as_a_whole(request, &error),
        Ok(()) => match append_all(ctx, version, request) {
            Some(response) => response,
            // Kafka fails here and never answers.
            None => return Outcome::Close("Produce without records"),
        },
    };
    if request.acks != 0 {
        return Outcome::Reply(response);
    }
    // Who asked for no answer learns of an error in no other way.
    let is_good = |topic: &TopicProduceResponse| topic.partition_responses.iter().all(|p| p.error_code == 0);
    if response.responses.iter().all(is_good) { Outcome::Silent } else { Outcome::Close("error with acks=0") }
}

/// What a request is refused for as a whole, before any topic is looked at.
fn check_request(request: &ProduceRequest) -> Result<(), RequestError> {
    let mut transactional = false;
    for records in partitions(request).filter_map(|(_, partition)| partition.records.as_ref()) {
        check_first_frame(records).map_err(RequestError::Log)?;
        transactional |= is_transactional(records);
    }
    if transactional && request.transactional_id.is_none() {
        return Err(RequestError::Code(ResponseError::TransactionalIdAuthorizationFailed));
    }
    Ok(())
}

enum RequestError {
    Log(LogError),
    Code(ResponseError),
    /// With a text.
    Said(ResponseError, &'static str),
}

fn refused_as_a_whole(request: &ProduceRequest, error: &RequestError) -> ProduceResponse {
    let answer = |index| match error {
        RequestError::Log(error) => failed(index, error, -1),
        RequestError::Code(error) => with_code(index, *error),
        RequestError::Said(error, message) => {
            with_code(index, *error).with_error_message(Some(text(message)))
        }
    };
    let mut answers = Answers::default();
    for (topic, partition) in partitions(request) {
        answers.add(topic, answer(partition.index));
    }
    answers.into_response()
}

/// Appends what can be appended. `None` if there are partitions without records.
fn append_all(ctx: &Context<'_>, version: i16, request: &ProduceRequest) -> Option<ProduceResponse> {
    // What asks for no lock is done first: CRCs and records of all batches.
    let parsed: Vec<_> = last_of_each(request)
        .into_iter()
        .map(|(topic, partition)| (topic, partition, parse(version, partition.records.as_ref())))
        .collect();
    let mut answers = Answers::default();
    let mut refused = Vec::new();
    let mut topics = lock(&ctx.services.topics);
    let found: Vec<_> = parsed.iter().map(|(name, ..)| find(topics.catalog(), version, name)).collect();
    let mut verdicts = match transactions::verify(ctx, version, request, &mut topics, &parsed, &found) {
        Ok(verdicts) => verdicts.into_iter(),
        Err(error) => return Some(refused_as_a_whole(request, &error)),
    };
    for ((name, partition, batch), topic) in parsed.iter().zip(found) {
        let index = partition.index;
        let verdict = verdicts.next().unwrap_or(Ok(Verified::No));
        let answer = match (topic, batch) {
            (Err(error), _) => Err(with_code(index, error)),
            (Ok(topic), _) if !topic.has_partition(index) => {
                Err(with_code(index, ResponseError::UnknownTopicOrPartition))
            }
            (Ok(_), None) => return None,
            (Ok(_), Some(Err(error))) => Err(failed_silently(index, error)),
            (Ok(topic), Some(Ok(batch))) => match verdict {
                Err(refusal) => Err(refusal.to_answer(index)),
                Ok(verified) => Ok(append(ctx, request.acks, &mut topics, &topic, index, batch, verified)),
            },
        };
        match answer {
            Ok(answer) => answers.add(name, answer),
            Err(answer) => refused.push((*name, answer)),
        }
    }
    let ready = topics.log.take_ready();
    drop(topics);
    wake(ctx.services, &ready);
    // Kafka lists what it refused at once behind what it tried to append.
    for (name, answer) in refused {
        answers.add(name, answer);
    }
    Some(answers.into_response())
}

fn append(
    ctx: &Context<'_>,
    acks: i16,
    topics: &mut Topics,
    topic: &Topic,
    index: i32,
    batch: &Incoming<'_>,
    verified: Verified,
) -> PartitionProduceResponse {
    if !(-1..=1).contains(&acks) {
        return with_code(index, ResponseError::InvalidRequiredAcks);
    }
    if topic.internal && ctx.client_id != ADMIN_CLIENT_ID {
        return with_code(index, ResponseError::InvalidTopicException);
    }
    let partition = TopicIdPartition { topic: topic.id, partition: index };
    match topics.log.append_verified(ctx.now, partition, batch, verified) {
        Ok(appended) => succeeded(index, appended),
        Err(error) => {
            let log_start_offset = match error {
                // These come from a layer of Kafka that does not know where the log starts.
                LogError::UnknownTopicOrPartition
                | LogError::MessageTooLarge
                | LogError::RecordListTooLarge
                | LogError::CorruptMessage(_) => -1,
                _ => topics.log.log_start_offset(partition).unwrap_or(-1),
            };
            failed(index, &error, log_start_offset)
        }
    }
}

/// `None` is no records at all, as against none in number.
fn parse(version: i16, records: Option<&Bytes>) -> Option<Result<Incoming<'_>, LogError>> {
    records.map(|records| Incoming::parse(version, records))
}

fn find(catalog: &Catalog, version: i16, topic: &TopicProduceData) -> Result<Arc<Topic>, ResponseError> {
    if version < TOPIC_IDS_SINCE {
        catalog.by_name(&topic.name).cloned().ok_or(ResponseError::UnknownTopicOrPartition)
    } else {
        catalog.by_id(topic.topic_id.into()).cloned().ok_or(ResponseError::UnknownTopicId)
    }
}

fn partitions(request: &ProduceRequest) -> impl Iterator<Item = (&TopicProduceData, &PartitionProduceData)> {
    request
        .topic_data
        .iter()
        .flat_map(|topic| topic.partition_data.iter().map(move |partition| (topic, partition)))
}

/// The partitions of a request in order. Of one that is there twice, Kafka takes the last.
fn last_of_each(request: &ProduceRequest) -> Vec<(&TopicProduceData, &PartitionProduceData)> {
    let mut seen = HashSet::new();
    let mut partitions: Vec<_> = partitions(request).collect();
    partitions.reverse();
    partitions.retain(|(topic, partition)| seen.insert((&topic.name, topic.topic_id, partition.index)));
    partitions.reverse();
    partitions
}

/// The answers so far, grouped by topic.
#[derive(Default)]
struct Answers(Vec<TopicProduceResponse>);

impl Answers {
    fn add(&mut self, topic: &TopicProduceData, answer: PartitionProduceResponse) {
        let same =
            |other: &&mut TopicProduceResponse| other.name == topic.name && other.topic_id == topic.topic_id;
        // Most often it is the last one.
        match self.0.iter_mut().rev().find(same) {
            Some(group) => group.partition_responses.push(answer),
            None => self.0.push(
                TopicProduceResponse::default()
                    .with_name(topic.name.clone())
                    .with_topic_id(topic.topic_id)
                    .with_partition_responses(vec![answer]),
            ),
        }
    }

    fn into_response(self) -> ProduceResponse {
        ProduceResponse::default().with_responses(self.0)
    }
}

fn succeeded(index: i32, appended: Appended) -> PartitionProduceResponse {
    PartitionProduceResponse::default()
        .with_index(index)
        .with_base_offset(appended.base_offset)
        .with_log_append_time_ms(appended.log_append_time.unwrap_or(-1))
        .with_log_start_offset(appended.log_start_offset)
}

fn with_code(index: i32, error: ResponseError) -> PartitionProduceResponse {
    PartitionProduceResponse::default()
        .with_index(index)
        .with_error_code(error.code())
        .with_base_offset(-1)
        .with_log_append_time_ms(-1)
        .with_log_start_offset(-1)
}

/// Found before the partition was looked at: Kafka then sends no text.
fn failed_silently(index: i32, error: &LogError) -> PartitionProduceResponse {
    with_code(index, error_code::of_log(error))
}

fn failed(index: i32, error: &LogError, log_start_offset: i64) -> PartitionProduceResponse {
    let records = error.record_errors().iter().map(|record| {
        BatchIndexAndErrorMessage::default()
            .with_batch_index(record.index)
            .with_batch_index_error_message(Some(text(&record.message)))
    });
    with_code(index, error_code::of_log(error))
        .with_log_start_offset(log_start_offset)
        .with_record_errors(records.collect())
        .with_error_message(error.message().map(text))
}

#[cfg(test)]
mod tests;
