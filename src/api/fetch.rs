//! Fetch (key 1), versions 4–18: reads records, or waits until there are some.
//!
//! 5: log start offset. 7: fetch sessions (KIP-227). 9: leader epochs (KIP-320). 11: rack id, of no use with one
//! broker. 12: the epoch last fetched, tags. 13: topic ids. 15: the replica id moves into a tag.
//!
//! Not implemented: fetches of other brokers (replica ids), refused with NOT_LEADER_OR_FOLLOWER.

use std::collections::HashMap;

use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::fetch_request::FetchPartition as WirePartition;
use kafka_protocol::messages::fetch_response::{
    AbortedTransaction as WireAborted, EpochEndOffset, FetchableTopicResponse, PartitionData,
};
use kafka_protocol::messages::{BrokerId, FetchRequest, FetchResponse, ProducerId, TopicName as WireName};
use uuid::Uuid;

use super::convert::{isolation_from_wire, text};
use super::{Context, Outcome, Parked, error_code, lock};
use crate::catalog::Catalog;
use crate::catalog::name::CONSUMER_OFFSETS;
use crate::log::{
    AbortedTransaction, Answered, FetchContext, FetchParams, FetchPartition, FetchTopic, Isolation,
    LEADER_EPOCH, Log, LogError, Read, SessionRequest, TopicIdPartition, WaitPartition, check_leader_epoch,
};
use crate::types::{Millis, TopicName};

/// From here on topics have ids instead of names.
const TOPIC_IDS_SINCE: i16 = 13;
/// Replica ids from here on are those of brokers.
const FIRST_BROKER: i32 = 0;

/// A Fetch that waits, or is about to be answered.
#[derive(Debug)]
pub struct Waiting {
    context: FetchContext,
    /// In the order of the session.
    partitions: Vec<(FetchPartition, FetchParams)>,
    /// Which log each of them is, as the topics were when the request came; or why none.
    places: Vec<Result<TopicIdPartition, ResponseError>>,
    isolation: Isolation,
    from_broker: bool,
    bytes_max: i32,
    min_bytes: i64,
    deadline: Millis,
}

pub(super) fn handle(ctx: &Context<'_>, version: i16, request: &FetchRequest) -> Outcome<FetchResponse> {
    let Some(isolation) = isolation_from_wire(request.isolation_level) else {
        return Outcome::Reply(failed(version, request));
    };
    let mut partitions = requested(version, request);
    let forgotten = forgotten(version, request);
    let session = SessionRequest {
        id: request.session_id,
        epoch: request.session_epoch,
        uses_topic_ids: version >= TOPIC_IDS_SINCE,
    };
    let mut topics = lock(&ctx.services.topics);
    let context = match topics.log.sessions.begin(ctx.now, session, &mut partitions, &forgotten) {
        Ok(context) => context,
        Err(error) => {
            let code = error_code::of_session(error).code();
            return Outcome::Reply(FetchResponse::default().with_error_code(code));
        }
    };
    let (catalog, log) = topics.split();
    let places = partitions.iter().map(|(partition, _)| find(catalog, partition)).collect();
    let bytes_max = request.max_bytes.min(ctx.services.config.fetch_max_bytes);
    let replica = if version < 15 { request.replica_id } else { request.replica_state.replica_id };
    let waiting = Waiting {
        context,
        partitions,
        places,
        isolation,
        from_broker: replica.0 >= FIRST_BROKER,
        bytes_max,
        min_bytes: request.min_bytes.min(bytes_max).into(),
        deadline: ctx.now.after(request.max_wait_ms.into()),
    };
    let offsets_topic = catalog.by_name(CONSUMER_OFFSETS).map(|topic| topic.id);
    let shown = waiting.places.iter().flatten().filter(|place| Some(place.topic) == offsets_topic);
    let shown: Vec<i32> = shown.map(|place| place.partition).collect();
    if shown.is_empty() {
        return answer_or_wait(ctx, log, waiting);
    }
    // A shard locks the topics while it is locked itself, so nobody may do it the other way round.
    drop(topics);
    shown.into_iter().for_each(|partition| ctx.services.groups.show_records(ctx.now, partition));
    answer_or_wait(ctx, &mut lock(&ctx.services.topics).log, waiting)
}

/// Goes on with a Fetch that waited: something was appended, deleted, or its time is over.
pub(super) fn resume(ctx: &Context<'_>, waiting: Waiting) -> Outcome<FetchResponse> {
    answer_or_wait(ctx, &mut lock(&ctx.services.topics).log, waiting)
}

/// Reads, and answers if that is enough: Kafka's `ReplicaManager.fetchMessages`.
fn answer_or_wait(ctx: &Context<'_>, log: &mut Log, waiting: Waiting) -> Outcome<FetchResponse> {
    let read = read_all(log, &waiting);
    let bytes: usize = read.iter().map(|partition| partition.records_len()).sum();
    // What cannot be found at all does not hurry the rest.
    let urgent = read.iter().any(|found| matches!(found, Found::Failed(_) | Found::Diverging(_)));
    let nothing_to_wait_for = waiting.places.iter().all(Result::is_err);
    let is_enough = i64::try_from(bytes).unwrap_or(i64::MAX) >= waiting.min_bytes;
    if is_enough || urgent || nothing_to_wait_for || waiting.deadline <= ctx.now.monotonic {
        return Outcome::Reply(respond(ctx, log, &waiting, read));
    }
    park(ctx, log, &waiting);
    Outcome::Parked(Parked::Fetch(Box::new(waiting)))
}

fn park(ctx: &Context<'_>, log: &mut Log, waiting: &Waiting) {
    let mut waits = Vec::new();
    for ((_, params), place) in waiting.partitions.iter().zip(&waiting.places) {
        let Ok(partition) = *place else { continue };
        waits.push(WaitPartition {
            partition,
            available: log.bytes_from(partition, params.offset, waiting.isolation).unwrap_or(0),
            bytes_max: usize::try_from(params.bytes_max).unwrap_or(0),
            isolation: waiting.isolation,
        });
    }
    let min_bytes = usize::try_from(waiting.min_bytes).unwrap_or(0);
    log.park(ctx.from, waiting.deadline, min_bytes, waits);
}

/// What there is to say of one partition.
enum Found {
    Records(Read),
    /// The client has records that were never here: where they part.
    Diverging(Read),
    /// The partition exists and cannot be read so.
    Failed(ResponseError),
    /// There is no such partition.
    Unknown(ResponseError),
}

impl Found {
    fn records_len(&self) -> usize {
        match self {
            Self::Records(read) => read.records.len(),
            Self::Diverging(_) | Self::Failed(_) | Self::Unknown(_) => 0,
        }
    }
}

/// Reads the partitions in order until the bytes are used up; the first records are sent even if they are more.
fn read_all(log: &Log, waiting: &Waiting) -> Vec<Found> {
    let mut bytes_left = waiting.bytes_max;
    let mut min_one = true;
    let partitions = waiting.partitions.iter().zip(&waiting.places);
    partitions
        .map(|((_, params), place)| {
            let found = match *place {
                Err(error) => return Found::Unknown(error),
                Ok(_) if waiting.from_broker => return Found::Failed(ResponseError::NotLeaderOrFollower),
                Ok(place) => {
                    let bytes_max = params.bytes_max.min(bytes_left);
                    read(log, place, params, waiting.isolation, bytes_max, min_one)
                }
            };
            let len = found.records_len();
            min_one &= len == 0;
            bytes_left =
                bytes_left.saturating_sub(i32::try_from(len).unwrap_or(i32::MAX)).max(bytes_left.min(0));
            found
        })
        .collect()
}

fn read(
    log: &Log,
    place: TopicIdPartition,
    params: &FetchParams,
    isolation: Isolation,
    bytes_max: i32,
    min_one: bool,
) -> Found {
    match try_read(log, place, params, isolation, bytes_max, min_one) {
        Ok(found) => found,
        Err(error) => Found::Failed(error_code::of_log(&error)),
    }
}

fn try_read(
    log: &Log,
    place: TopicIdPartition,
    params: &FetchParams,
    isolation: Isolation,
    bytes_max: i32,
    min_one: bool,
) -> Result<Found, LogError> {
    let high_watermark = log.high_watermark(place)?;
    params.current_leader_epoch.map_or(Ok(()), check_leader_epoch)?;
    match params.last_fetched_epoch {
        None => {}
        Some(LEADER_EPOCH) if params.offset <= high_watermark => {}
        Some(LEADER_EPOCH) => {
            return Ok(Found::Diverging(log.read(place, high_watermark, 0, false, isolation)?));
        }
        Some(_) => return Err(LogError::OffsetOutOfRange),
    }
    let bytes = usize::try_from(bytes_max);
    let read = log.read(place, params.offset, bytes.unwrap_or(0), min_one && bytes.is_ok(), isolation)?;
    // Kafka fails at a negative number of bytes once there is something to read.
    if bytes.is_err() && params.offset < high_watermark {
        return Err(LogError::UnknownServerError);
    }
    Ok(Found::Records(read))
}

/// Puts the answer together: what was read first, then what is unknown, without what the session knows already.
fn respond(ctx: &Context<'_>, log: &mut Log, waiting: &Waiting, read: Vec<Found>) -> FetchResponse {
    let answers: Vec<Answered> = read.iter().map(answered).collect();
    let finished = match log.sessions.finish(ctx.now, waiting.context, &waiting.partitions, &answers) {
        Ok(finished) => finished,
        Err(error) => {
            let session_id = match waiting.context {
                FetchContext::Incremental { id, .. } => id,
                FetchContext::Sessionless | FetchContext::Full { .. } => 0,
            };
            return FetchResponse::default()
                .with_error_code(error_code::of_session(error).code())
                .with_session_id(session_id);
        }
    };
    let mut responses = Vec::new();
    let mut unknown = Vec::new();
    let news = waiting.partitions.iter().zip(read).zip(finished.news);
    for (((partition, _), found), _) in news.filter(|(_, is_news)| *is_news) {
        match found {
            Found::Unknown(_) => unknown.push((partition, found)),
            _ => add(&mut responses, partition, data(waiting, partition.partition, found)),
        }
    }
    for (partition, found) in unknown {
        add(&mut responses, partition, data(waiting, partition.partition, found));
    }
    FetchResponse::default().with_session_id(finished.session_id).with_responses(responses)
}

/// Adds to the last topic if it is the same: Kafka groups only neighbours.
fn add(responses: &mut Vec<FetchableTopicResponse>, partition: &FetchPartition, data: PartitionData) {
    let (name, id) = topic_to_wire(&partition.topic);
    match responses.last_mut() {
        Some(last) if last.topic == name && last.topic_id == id => last.partitions.push(data),
        _ => responses.push(
            FetchableTopicResponse::default().with_topic(name).with_topic_id(id).with_partitions(vec![data]),
        ),
    }
}

fn answered(found: &Found) -> Answered {
    match found {
        Found::Records(read) => Answered {
            has_records: !read.records.is_empty(),
            high_watermark: read.high_watermark,
            log_start_offset: read.log_start_offset,
            is_error: false,
        },
        // Always told, as an error is.
        Found::Diverging(_) | Found::Failed(_) | Found::Unknown(_) => {
            Answered { has_records: false, high_watermark: -1, log_start_offset: -1, is_error: true }
        }
    }
}

fn data(waiting: &Waiting, index: i32, found: Found) -> PartitionData {
    let with_read = |read: Read| {
        PartitionData::default()
            .with_partition_index(index)
            .with_high_watermark(read.high_watermark)
            .with_last_stable_offset(read.last_stable_offset)
            .with_log_start_offset(read.log_start_offset)
            .with_aborted_transactions(aborted(waiting.isolation, &read.aborted))
            .with_preferred_read_replica(BrokerId(-1))
            .with_records(Some(read.records))
    };
    match found {
        Found::Records(read) => with_read(read),
        Found::Diverging(read) => {
            let end = EpochEndOffset::default().with_epoch(LEADER_EPOCH).with_end_offset(read.high_watermark);
            with_read(read).with_diverging_epoch(end)
        }
        Found::Failed(error) => error_data(index, error).with_aborted_transactions(None),
        Found::Unknown(error) => error_data(index, error),
    }
}

/// Null for those who read everything.
fn aborted(isolation: Isolation, aborted: &[AbortedTransaction]) -> Option<Vec<WireAborted>> {
    let to_wire = |aborted: &AbortedTransaction| {
        WireAborted::default()
            .with_producer_id(ProducerId(aborted.producer_id))
            .with_first_offset(aborted.first_offset)
    };
    match isolation {
        Isolation::ReadUncommitted => None,
        Isolation::ReadCommitted => Some(aborted.iter().map(to_wire).collect()),
    }
}

fn error_data(index: i32, error: ResponseError) -> PartitionData {
    PartitionData::default()
        .with_partition_index(index)
        .with_error_code(error.code())
        .with_high_watermark(-1)
        .with_last_stable_offset(-1)
        .with_log_start_offset(-1)
        .with_aborted_transactions(Some(Vec::new()))
        .with_preferred_read_replica(BrokerId(-1))
        .with_records(Some(Bytes::new()))
}

/// The answer to what Kafka fails at before it looks at any partition.
fn failed(version: i16, request: &FetchRequest) -> FetchResponse {
    let error = ResponseError::UnknownServerError;
    let response = FetchResponse::default().with_error_code(error.code());
    if version >= TOPIC_IDS_SINCE {
        return response;
    }
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|partition| error_data(partition.partition, error));
        FetchableTopicResponse::default()
            .with_topic(topic.topic.clone())
            .with_partitions(partitions.collect())
    });
    response.with_responses(topics.collect())
}

fn find(catalog: &Catalog, partition: &FetchPartition) -> Result<TopicIdPartition, ResponseError> {
    let topic = match &partition.topic {
        FetchTopic::Name(name) => {
            catalog.by_name(name.as_str()).ok_or(ResponseError::UnknownTopicOrPartition)?
        }
        FetchTopic::Id(id) => catalog.by_id(*id).ok_or(ResponseError::UnknownTopicId)?,
    };
    if !topic.has_partition(partition.partition) {
        return Err(ResponseError::UnknownTopicOrPartition);
    }
    Ok(TopicIdPartition { topic: topic.id, partition: partition.partition })
}

/// The partitions of a request in order. One that is there twice keeps its place and takes what comes last.
fn requested(version: i16, request: &FetchRequest) -> Vec<(FetchPartition, FetchParams)> {
    let mut places = HashMap::new();
    let mut partitions: Vec<(FetchPartition, FetchParams)> = Vec::new();
    for asked in &request.topics {
        let topic = topic_from_wire(version, &asked.topic, asked.topic_id);
        for partition in &asked.partitions {
            let key = FetchPartition { topic: topic.clone(), partition: partition.partition };
            let params = params(partition);
            match places.get(&key) {
                Some(&place) => partitions[place] = (key, params),
                None => {
                    places.insert(key.clone(), partitions.len());
                    partitions.push((key, params));
                }
            }
        }
    }
    partitions
}

fn params(partition: &WirePartition) -> FetchParams {
    let epoch = |epoch: i32| (epoch >= 0).then_some(epoch);
    FetchParams {
        offset: partition.fetch_offset,
        bytes_max: partition.partition_max_bytes,
        current_leader_epoch: epoch(partition.current_leader_epoch),
        last_fetched_epoch: epoch(partition.last_fetched_epoch),
    }
}

fn forgotten(version: i16, request: &FetchRequest) -> Vec<FetchPartition> {
    let topics = request.forgotten_topics_data.iter();
    topics
        .flat_map(|forgotten| {
            let topic = topic_from_wire(version, &forgotten.topic, forgotten.topic_id);
            forgotten
                .partitions
                .iter()
                .map(move |&partition| FetchPartition { topic: topic.clone(), partition })
        })
        .collect()
}

fn topic_from_wire(version: i16, name: &WireName, id: Uuid) -> FetchTopic {
    if version < TOPIC_IDS_SINCE {
        FetchTopic::Name(TopicName::from(name.as_str()))
    } else {
        FetchTopic::Id(id.into())
    }
}

fn topic_to_wire(topic: &FetchTopic) -> (WireName, Uuid) {
    match topic {
        FetchTopic::Name(name) => (WireName(text(name.as_str())), Uuid::nil()),
        FetchTopic::Id(id) => (WireName::default(), (*id).into()),
    }
}

#[cfg(test)]
mod tests;
