//! OffsetCommit (key 8), versions 2–10.
//!
//! 2–4: a retention of its own. 6: leader epoch (KIP-320). 7: instance ids (KIP-345). 9: an unknown group is
//! GROUP_ID_NOT_FOUND (KIP-848). 10: topics by id.
//!
//! Topics and partitions that the broker does not have are refused here, the rest goes to the group. If nothing is
//! left the group is not asked, and so neither member nor generation is checked.

use kafka_protocol::ResponseError;

use super::{Context, Outcome, Submitted, error_code};
use crate::coordinator::command::{Command, CommitPartition, OffsetCommit};
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::Reply;
use crate::types::{TopicId, TopicName};
use crate::wire::kafka_4_4::{
    OffsetCommitRequest, OffsetCommitRequestTopic, OffsetCommitResponse, OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
};

/// A topic of the request that the broker has: where it stands in the request, and the partitions it has of it.
struct Known {
    index: usize,
    name: TopicName,
    id: TopicId,
    partitions: i32,
}

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &OffsetCommitRequest,
) -> Outcome<OffsetCommitResponse> {
    let known = known_topics(ctx, version, request);
    let has = |topic: &Known, partition: i32| (0..topic.partitions).contains(&partition);
    let mut offsets = Vec::new();
    for topic in &known {
        for partition in &request.topics[topic.index].partitions {
            if has(topic, partition.partition_index) {
                offsets.push(CommitPartition {
                    topic: &topic.name,
                    topic_id: topic.id,
                    partition: partition.partition_index,
                    offset: partition.committed_offset,
                    leader_epoch: (partition.committed_leader_epoch >= 0)
                        .then_some(partition.committed_leader_epoch),
                    metadata: partition.committed_metadata.as_deref().unwrap_or_default(),
                });
            }
        }
    }
    let outcome = if offsets.is_empty() { Ok(Vec::new()) } else { submit(ctx, version, request, &offsets) };

    // The codes of the offsets that the group was asked about, in their order.
    let mut asked = (0..offsets.len()).map(|index| match &outcome {
        Ok(refused) if refused.binary_search(&index).is_ok() => {
            error_code::code(GroupError::OffsetMetadataTooLarge)
        }
        Ok(_) => 0,
        Err(error) => error_code::code(*error),
    });
    let mut known = known.iter().peekable();
    let topics = request.topics.iter().enumerate().map(|(index, topic)| {
        let known = known.next_if(|known| known.index == index);
        answer(topic, |partition| match known {
            Some(known) if has(known, partition) => asked.next().unwrap_or_default(),
            Some(_) => ResponseError::UnknownTopicOrPartition.code(),
            None if version >= 10 => ResponseError::UnknownTopicId.code(),
            None => ResponseError::UnknownTopicOrPartition.code(),
        })
    });
    let mut topics: Vec<_> = topics.collect();
    if version < 10 {
        errors_first(&mut topics);
    }
    Outcome::Reply(OffsetCommitResponse { topics, ..OffsetCommitResponse::default() })
}

fn known_topics(ctx: &Context<'_>, version: i16, request: &OffsetCommitRequest) -> Vec<Known> {
    let topics = super::lock(&ctx.services.topics);
    let catalog = topics.catalog();
    let find = |(index, topic): (usize, &OffsetCommitRequestTopic)| {
        let found = if version >= 10 {
            catalog.by_id(TopicId::from(topic.topic_id))
        } else {
            catalog.by_name(&topic.name)
        }?;
        Some(Known { index, name: found.name.clone(), id: found.id, partitions: found.partitions })
    };
    request.topics.iter().enumerate().filter_map(find).collect()
}

fn submit(
    ctx: &Context<'_>,
    version: i16,
    request: &OffsetCommitRequest,
    offsets: &[CommitPartition<'_>],
) -> Result<Vec<usize>, GroupError> {
    let command = Command::OffsetCommit(OffsetCommit {
        group: &request.group_id,
        member: &request.member_id,
        instance: request.group_instance_id.as_deref(),
        generation: request.generation_id_or_member_epoch,
        retention_ms: (request.retention_time_ms != -1).then_some(request.retention_time_ms),
        has_member_epoch: version >= 9,
        producer_id: None,
        offsets,
    });
    match ctx.services.groups.submit(ctx.now, &request.group_id, ctx.from, command) {
        Submitted::Replied(Reply::OffsetCommit(outcome)) => outcome,
        Submitted::Unavailable(error) => Err(error),
        other => unreachable!("an OffsetCommit was answered with {other:?}"),
    }
}

fn answer(topic: &OffsetCommitRequestTopic, mut code: impl FnMut(i32) -> i16) -> OffsetCommitResponseTopic {
    let partitions = topic.partitions.iter().map(|partition| OffsetCommitResponsePartition {
        partition_index: partition.partition_index,
        error_code: code(partition.partition_index),
    });
    OffsetCommitResponseTopic {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: partitions.collect(),
    }
}

/// Kafka answers for topics that the broker does not have before it asks the group.
fn errors_first(topics: &mut [OffsetCommitResponseTopic]) {
    let unknown = ResponseError::UnknownTopicOrPartition.code();
    topics.sort_by_key(|topic| !topic.partitions.iter().any(|p| p.error_code == unknown));
}
