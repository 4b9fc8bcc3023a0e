//! ListOffsets (key 2), versions 1–11.
//!
//! 2: isolation levels. 4: leader epochs. 7: the largest timestamp (KIP-734). 8, 9, 11: offsets in tiered storage, of which there is
//! none (KIP-405, KIP-1005, KIP-1023). 10: a timeout, for tiered storage.

use std::collections::HashSet;

use kafka_protocol::ResponseError;

use super::convert::isolation_from_wire;
use super::{Context, Outcome, error_code, lock};
use crate::catalog::name::CONSUMER_OFFSETS;
use crate::log::{
    Isolation, LEADER_EPOCH, Log, LogError, TimestampAndOffset, TopicIdPartition, check_leader_epoch,
};
use crate::topics::Topics;
use crate::wire::kafka_4_4::{
    ListOffsetsPartition, ListOffsetsPartitionResponse, ListOffsetsRequest, ListOffsetsResponse,
    ListOffsetsTopic, ListOffsetsTopicResponse,
};

const NO_EPOCH: i32 = -1;
const NO_TIMESTAMP: i64 = -1;

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &ListOffsetsRequest,
) -> Outcome<ListOffsetsResponse> {
    let twice = listed_twice(request);
    let isolation = isolation_from_wire(request.isolation_level);
    let offsets_topic = request.topics.iter().filter(|topic| topic.name.as_str() == CONSUMER_OFFSETS);
    for partition in offsets_topic.flat_map(|topic| &topic.partitions) {
        ctx.services.groups.show_records(ctx.now, partition.partition_index);
    }
    let topics = lock(&ctx.services.topics);
    let find = |topic: &ListOffsetsTopic, partition: &ListOffsetsPartition| {
        let index = partition.partition_index;
        // Kafka fails at an isolation level that it does not know.
        let found = match isolation {
            None => Err(ResponseError::UnknownServerError),
            Some(_) if twice.contains(&(topic.name.as_str(), index)) => Err(ResponseError::InvalidRequest),
            Some(isolation) => find(&topics, version, isolation, topic, partition),
        };
        respond(index, found)
    };
    let answers = request.topics.iter().map(|topic| ListOffsetsTopicResponse {
        name: topic.name.clone(),
        partitions: topic.partitions.iter().map(|partition| find(topic, partition)).collect(),
    });
    Outcome::Reply(ListOffsetsResponse { topics: answers.collect(), ..Default::default() })
}

/// What a timestamp asks for: a time, or one of the protocol's negative numbers.
enum Question {
    Time(i64),
    Latest,
    Earliest,
    MaxTimestamp,
    /// Something that is only in tiered storage.
    Tiered,
}

impl Question {
    fn from_wire(version: i16, timestamp: i64) -> Option<Self> {
        match timestamp {
            0.. => Some(Self::Time(timestamp)),
            -1 => Some(Self::Latest),
            -2 => Some(Self::Earliest),
            -3 if version >= 7 => Some(Self::MaxTimestamp),
            // The local log is all there is.
            -4 if version >= 8 => Some(Self::Earliest),
            -5 if version >= 9 => Some(Self::Tiered),
            -6 if version >= 11 => Some(Self::Tiered),
            _ => None,
        }
    }
}

fn find(
    topics: &Topics,
    version: i16,
    isolation: Isolation,
    topic: &ListOffsetsTopic,
    partition: &ListOffsetsPartition,
) -> Result<Option<TimestampAndOffset>, ResponseError> {
    let question = Question::from_wire(version, partition.timestamp);
    let question = question.ok_or(ResponseError::UnsupportedVersion)?;
    let topic = topics.catalog().by_name(&topic.name).ok_or(ResponseError::UnknownTopicOrPartition)?;
    let place = TopicIdPartition { topic: topic.id, partition: partition.partition_index };
    answer(&topics.log, place, partition.current_leader_epoch, isolation, question)
        .map_err(|error| error_code::of_log(&error))
}

fn answer(
    log: &Log,
    place: TopicIdPartition,
    current_leader_epoch: i32,
    isolation: Isolation,
    question: Question,
) -> Result<Option<TimestampAndOffset>, LogError> {
    let end = log.end_for(place, isolation)?;
    if current_leader_epoch != NO_EPOCH {
        check_leader_epoch(current_leader_epoch)?;
    }
    let without_timestamp = |offset| Some(TimestampAndOffset { timestamp: NO_TIMESTAMP, offset });
    let visible = |found: Option<TimestampAndOffset>| found.filter(|found| found.offset < end);
    Ok(match question {
        Question::Time(timestamp) => visible(log.offset_for_time(place, timestamp)?),
        Question::Latest => without_timestamp(end),
        Question::Earliest => without_timestamp(log.log_start_offset(place)?),
        Question::MaxTimestamp => visible(log.offset_of_max_timestamp(place)?),
        Question::Tiered => None,
    })
}

fn respond(
    index: i32,
    found: Result<Option<TimestampAndOffset>, ResponseError>,
) -> ListOffsetsPartitionResponse {
    let nothing = ListOffsetsPartitionResponse { partition_index: index, ..Default::default() };
    match found {
        Ok(None) => nothing,
        Ok(Some(TimestampAndOffset { timestamp, offset })) => {
            ListOffsetsPartitionResponse { timestamp, offset, leader_epoch: LEADER_EPOCH, ..nothing }
        }
        Err(error) => ListOffsetsPartitionResponse { error_code: error.code(), ..nothing },
    }
}

fn listed_twice(request: &ListOffsetsRequest) -> HashSet<(&str, i32)> {
    let mut seen = HashSet::new();
    let partitions = request.topics.iter().flat_map(|topic| {
        topic.partitions.iter().map(move |partition| (topic.name.as_str(), partition.partition_index))
    });
    partitions.filter(|partition| !seen.insert(*partition)).collect()
}

#[cfg(test)]
mod tests {
    use kafka_protocol::protocol::StrBytes;

    use super::*;
    use crate::api::testing::{Broker, NOW};

    /// Error, timestamp, offset and leader epoch of a partition.
    type Found = (i16, i64, i64, i32);

    fn request(topic: &'static str, partitions: &[ListOffsetsPartition]) -> ListOffsetsRequest {
        let name = StrBytes::from_static_str(topic);
        let topic = ListOffsetsTopic { name, partitions: partitions.to_vec() };
        ListOffsetsRequest { replica_id: -1, topics: vec![topic], ..Default::default() }
    }

    fn partition(timestamp: i64, current_leader_epoch: i32) -> ListOffsetsPartition {
        ListOffsetsPartition { partition_index: 0, timestamp, current_leader_epoch }
    }

    fn found(broker: &Broker, version: i16, request: &ListOffsetsRequest) -> Vec<Found> {
        let answer = broker.call(version, request, handle);
        let partitions = answer.topics[0].partitions.iter();
        partitions
            .map(|found| (found.error_code, found.timestamp, found.offset, found.leader_epoch))
            .collect()
    }

    fn ask(broker: &Broker, version: i16, timestamp: i64) -> Found {
        found(broker, version, &request("t", &[partition(timestamp, -1)]))[0]
    }

    // Seen on Kafka 4.4.0.
    #[test]
    fn each_version_has_its_questions() {
        let broker = Broker::with_topics(&[("t", 1)]);
        broker.append("t", 0, 12);
        broker.delete_records("t", 0, 4);
        let unsupported = (35, -1, -1, -1);
        for version in 1..=11 {
            let epoch = if version >= 4 { 0 } else { -1 };
            let since = |first: i16, found| if version >= first { found } else { unsupported };
            assert_eq!(ask(&broker, version, -1), (0, -1, 12, epoch));
            assert_eq!(ask(&broker, version, -2), (0, -1, 4, epoch));
            assert_eq!(ask(&broker, version, -4), since(8, (0, -1, 4, epoch)));
            assert_eq!(ask(&broker, version, -5), since(9, (0, -1, -1, -1)));
            assert_eq!(ask(&broker, version, -6), since(11, (0, -1, -1, -1)));
            assert_eq!(ask(&broker, version, -7), unsupported);
            assert_eq!(ask(&broker, version, 0), (0, NOW.wall.0, 4, epoch));
            assert_eq!(ask(&broker, version, NOW.wall.0 + 1), (0, -1, -1, -1));
        }
        assert_eq!(ask(&broker, 6, -3), unsupported);
        assert_eq!(ask(&broker, 7, -3), (0, NOW.wall.0, 0, 0));
    }

    #[test]
    fn an_empty_partition_has_an_end_and_no_times() {
        let broker = Broker::with_topics(&[("t", 1)]);
        assert_eq!(ask(&broker, 9, -1), (0, -1, 0, 0));
        assert_eq!(ask(&broker, 9, -2), (0, -1, 0, 0));
        assert_eq!(ask(&broker, 9, -3), (0, -1, -1, -1));
        assert_eq!(ask(&broker, 9, 0), (0, -1, -1, -1));
    }

    #[test]
    fn what_cannot_be_answered_is_refused() {
        let broker = Broker::with_topics(&[("t", 1)]);
        let refused = |request: &ListOffsetsRequest| found(&broker, 5, request)[0].0;
        assert_eq!(refused(&request("nope", &[partition(-1, -1)])), 3);
        let beyond = ListOffsetsPartition { partition_index: 1, ..partition(-1, -1) };
        assert_eq!(refused(&request("t", &[beyond])), 3);
        assert_eq!(refused(&request("t", &[partition(-1, 1)])), 75);
        assert_eq!(refused(&request("t", &[partition(-1, 0)])), 0);
        assert_eq!(refused(&request("t", &[partition(-1, -1), partition(-1, -1)])), 42);
        let isolation_level = ListOffsetsRequest { isolation_level: 7, ..request("t", &[partition(-1, -1)]) };
        assert_eq!(refused(&isolation_level), -1);
    }

    #[test]
    fn consumer_offsets_shows_what_the_groups_keep() {
        let broker = Broker::with_topics(&[("__consumer_offsets", 1), ("t", 1)]);
        found(&broker, 7, &request("__consumer_offsets", &[partition(-1, -1)]));
        assert_eq!(broker.shown(), [0]);
        found(&broker, 7, &request("t", &[partition(-1, -1)]));
        assert!(broker.shown().is_empty());
    }
}
