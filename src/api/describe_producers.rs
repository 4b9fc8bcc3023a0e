//! DescribeProducers (key 61), version 0: the producers that partitions remember, and their open transactions (KIP-664).
//!
//! Differs from Kafka: nobody is shown who has offsets of a transaction in `__consumer_offsets`.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::describe_producers_response::{
    PartitionResponse, ProducerState as WireState, TopicResponse,
};
use kafka_protocol::messages::{DescribeProducersRequest, DescribeProducersResponse, ProducerId};

use super::convert::text;
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome, lock};
use crate::catalog::name;
use crate::log::{ProducerState, TopicIdPartition};
use crate::topics::Topics;

pub(super) fn handle(
    ctx: &Context<'_>,
    request: &DescribeProducersRequest,
) -> Outcome<DescribeProducersResponse> {
    let room = Room::for_an_answer();
    let topics = lock(&ctx.services.topics);
    let answers = request.topics.iter().map(|topic| {
        let partitions = topic.partition_indexes.iter().take_while(|_| !room.is_exceeded());
        let partitions = partitions.map(|&partition| describe(&topics, topic, partition, &room));
        TopicResponse::default().with_name(topic.name.clone()).with_partitions(partitions.collect())
    });
    let answers = answers.collect();
    if room.is_exceeded() {
        return Outcome::Close(TOO_LARGE);
    }
    Outcome::Reply(DescribeProducersResponse::default().with_topics(answers))
}

fn describe(topics: &Topics, topic: &TopicRequest, partition: i32, room: &Room) -> PartitionResponse {
    let answer = PartitionResponse::default().with_partition_index(partition).with_error_message(None);
    let refused = |error: ResponseError, message: Option<&str>| {
        answer.clone().with_error_code(error.code()).with_error_message(message.map(text))
    };
    if let Err(reason) = name::validate(&topic.name) {
        return refused(ResponseError::InvalidTopicException, Some(&reason));
    }
    let Some(found) = topics.catalog().by_name(&topic.name) else {
        return refused(ResponseError::UnknownTopicOrPartition, Some(UNKNOWN_TOPIC_OR_PARTITION));
    };
    match topics.log.producers(TopicIdPartition { topic: found.id, partition }) {
        Err(_) => refused(ResponseError::UnknownTopicOrPartition, None),
        Ok(producers) => {
            let producers = producers.take_while(|_| room.admits(size_of::<WireState>()));
            answer.with_active_producers(producers.map(|producer| to_wire(&producer)).collect())
        }
    }
}

/// Kafka's default text for the error.
const UNKNOWN_TOPIC_OR_PARTITION: &str = "This server does not host this topic-partition.";

fn to_wire(state: &ProducerState) -> WireState {
    WireState::default()
        .with_producer_id(ProducerId(state.producer.id))
        .with_producer_epoch(state.producer.epoch.into())
        .with_last_sequence(state.last_sequence.unwrap_or(-1))
        .with_last_timestamp(state.last_timestamp)
        .with_coordinator_epoch(state.coordinator_epoch)
        .with_current_txn_start_offset(state.open_since.unwrap_or(-1))
}
