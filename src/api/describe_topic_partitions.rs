//! DescribeTopicPartitions (key 75), version 0 (KIP-966): topics in name order, page by page.

use std::collections::BTreeSet;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_topic_partitions_response::{
    Cursor, DescribeTopicPartitionsResponsePartition, DescribeTopicPartitionsResponseTopic,
};
use kafka_protocol::messages::{
    BrokerId, DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, TopicName,
};

use super::convert::text;
use super::{Context, Outcome, authorized_operations};
use crate::catalog::{Topic, name};

/// Answers as many partitions as the client and `max.request.partition.size.limit` allow, at least one, and where
/// to go on.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &DescribeTopicPartitionsRequest,
) -> Outcome<DescribeTopicPartitionsResponse> {
    let Some(start) = Start::read(request) else {
        return Outcome::Reply(refused(request));
    };
    let limit = ctx.services.config.max_request_partition_size_limit;
    let limit = usize::try_from(limit.min(request.response_partition_limit)).unwrap_or(0).max(1);
    let mut page = Page {
        broker: BrokerId(ctx.services.config.node_id),
        start,
        left: limit,
        response: Default::default(),
    };

    let topics = super::lock(&ctx.services.topics);
    let catalog = topics.catalog();
    if request.topics.is_empty() {
        for topic in catalog.iter_from(page.start.topic) {
            if page.is_full(topic.name.as_str()) {
                break;
            }
            page.add(topic);
        }
    } else {
        let names: BTreeSet<&str> = request.topics.iter().map(|topic| topic.name.as_str()).collect();
        for name in names.range(page.start.topic..) {
            if page.is_full(name) {
                break;
            }
            match catalog.by_name(name) {
                Some(topic) => page.add(topic),
                None => page.add_unknown(name),
            }
        }
    }
    Outcome::Reply(page.response)
}

/// Where the client wants to begin: topics before are left out, and partitions before of that topic.
#[derive(Clone, Copy)]
struct Start<'a> {
    topic: &'a str,
    partition: i32,
}

impl<'a> Start<'a> {
    /// `None` when the cursor does not fit the request.
    fn read(request: &'a DescribeTopicPartitionsRequest) -> Option<Self> {
        let Some(cursor) = &request.cursor else {
            return Some(Self { topic: "", partition: 0 });
        };
        let listed =
            request.topics.is_empty() || request.topics.iter().any(|topic| topic.name == cursor.topic_name);
        (listed && cursor.partition_index >= 0)
            .then(|| Self { topic: cursor.topic_name.as_str(), partition: cursor.partition_index })
    }
}

struct Page<'a> {
    broker: BrokerId,
    start: Start<'a>,
    /// How many partitions may still be added.
    left: usize,
    response: DescribeTopicPartitionsResponse,
}

impl Page<'_> {
    /// Whether no topic can be added; the cursor then says where to go on, at the latest with `next`.
    fn is_full(&mut self, next: &str) -> bool {
        if self.left == 0 && self.response.next_cursor.is_none() {
            self.response.next_cursor = Some(cursor(next, 0));
        }
        self.response.next_cursor.is_some()
    }

    fn add(&mut self, topic: &Topic) {
        let name = topic.name.as_str();
        let first = if name == self.start.topic { self.start.partition } else { 0 };
        let partitions: Vec<_> =
            (first..topic.partitions).take(self.left).map(|index| self.partition(index)).collect();
        self.left -= partitions.len();
        let next = i32::try_from(partitions.len()).map_or(i32::MAX, |count| first.saturating_add(count));
        if next < topic.partitions {
            self.response.next_cursor = Some(cursor(name, next));
        }
        self.response.topics.push(
            DescribeTopicPartitionsResponseTopic::default()
                .with_name(Some(to_wire(name)))
                .with_topic_id(topic.id.into())
                .with_is_internal(topic.internal)
                .with_partitions(partitions)
                .with_topic_authorized_operations(authorized_operations::TOPIC),
        );
    }

    fn add_unknown(&mut self, topic_name: &str) {
        let error = match name::validate(topic_name) {
            Ok(()) => ResponseError::UnknownTopicOrPartition,
            Err(_) => ResponseError::InvalidTopicException,
        };
        self.response.topics.push(
            DescribeTopicPartitionsResponseTopic::default()
                .with_error_code(error.code())
                .with_name(Some(to_wire(topic_name)))
                .with_is_internal(name::is_internal(topic_name))
                .with_topic_authorized_operations(authorized_operations::TOPIC),
        );
    }

    fn partition(&self, index: i32) -> DescribeTopicPartitionsResponsePartition {
        DescribeTopicPartitionsResponsePartition::default()
            .with_partition_index(index)
            .with_leader_id(self.broker)
            .with_leader_epoch(0)
            .with_replica_nodes(vec![self.broker])
            .with_isr_nodes(vec![self.broker])
            .with_eligible_leader_replicas(Some(Vec::new()))
            .with_last_known_elr(Some(Vec::new()))
    }
}

fn cursor(topic: &str, partition: i32) -> Cursor {
    Cursor::default().with_topic_name(to_wire(topic)).with_partition_index(partition)
}

fn to_wire(name: &str) -> TopicName {
    TopicName(text(name))
}

fn refused(request: &DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse {
    let topics = request.topics.iter().map(|topic| {
        DescribeTopicPartitionsResponseTopic::default()
            .with_error_code(ResponseError::InvalidRequest.code())
            .with_name(Some(topic.name.clone()))
    });
    DescribeTopicPartitionsResponse::default().with_topics(topics.collect())
}

#[cfg(test)]
mod tests;
