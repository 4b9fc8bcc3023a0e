//! TxnOffsetCommit (key 28), versions 0–6: offsets that are committed when a transaction is.
//!
//! 2: leader epoch. 3: generation, member and instance (KIP-447). 5: adds the group to the transaction (KIP-890).
//! 6: topics by id, member epochs (KIP-1319).
//!
//! As with OffsetCommit, topics and partitions that the broker does not have are refused here.

use kafka_protocol::ResponseError;

use super::transactional::{self, Operation};
use super::{Context, Outcome, Submitted, error_code};
use crate::catalog::name::CONSUMER_OFFSETS;
use crate::coordinator::command::{Command, CommitPartition, OffsetCommit};
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::Reply;
use crate::types::{ProducerIdAndEpoch, TopicId, TopicName};
use crate::wire::kafka_4_4::{
    TxnOffsetCommitRequest, TxnOffsetCommitRequestTopic, TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition, TxnOffsetCommitResponseTopic,
};

/// From here on topics have ids instead of names, and members their epochs.
const TOPIC_IDS_SINCE: i16 = 6;

/// A topic that the broker has.
struct Known {
    name: TopicName,
    id: TopicId,
    partitions: i32,
}

impl Known {
    fn has(&self, partition: i32) -> bool {
        (0..self.partitions).contains(&partition)
    }
}

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &TxnOffsetCommitRequest,
) -> Outcome<TxnOffsetCommitResponse> {
    let known = known_topics(ctx, version, request);
    let mut offsets = Vec::new();
    for (topic, known) in request.topics.iter().zip(&known) {
        let Some(known) = known else { continue };
        for partition in topic.partitions.iter().filter(|partition| known.has(partition.partition_index)) {
            offsets.push(CommitPartition {
                topic: &known.name,
                topic_id: known.id,
                partition: partition.partition_index,
                offset: partition.committed_offset,
                leader_epoch: (partition.committed_leader_epoch >= 0)
                    .then_some(partition.committed_leader_epoch),
                metadata: partition.committed_metadata.as_deref().unwrap_or_default(),
            });
        }
    }
    let outcome = if offsets.is_empty() { Ok(Vec::new()) } else { commit(ctx, version, request, &offsets) };

    // The codes of the offsets that the group was asked about, in their order.
    let mut asked = (0..offsets.len()).map(|index| match &outcome {
        Ok(refused) if refused.binary_search(&index).is_ok() => {
            error_code::code(GroupError::OffsetMetadataTooLarge)
        }
        Ok(_) => 0,
        Err(code) => *code,
    });
    // Kafka answers for what the broker does not have before it asks the group.
    let (mut unknown, mut answered) = (Vec::new(), Vec::new());
    for (topic, known) in request.topics.iter().zip(&known) {
        let missing = match known {
            None if version >= TOPIC_IDS_SINCE => ResponseError::UnknownTopicId,
            _ => ResponseError::UnknownTopicOrPartition,
        };
        let (mut refused, mut asked_for) = (Vec::new(), Vec::new());
        for partition in &topic.partitions {
            let partition_index = partition.partition_index;
            match known.as_ref().filter(|known| known.has(partition_index)) {
                None => refused.push(answer(partition_index, missing.code())),
                Some(_) => asked_for.push(answer(partition_index, asked.next().unwrap_or_default())),
            }
        }
        let to_put = if refused.is_empty() { &mut answered } else { &mut unknown };
        refused.append(&mut asked_for);
        to_put.push(TxnOffsetCommitResponseTopic {
            name: topic.name.clone(),
            topic_id: topic.topic_id,
            partitions: refused,
        });
    }
    unknown.append(&mut answered);
    Outcome::Reply(TxnOffsetCommitResponse { topics: unknown, ..TxnOffsetCommitResponse::default() })
}

const fn answer(partition_index: i32, error_code: i16) -> TxnOffsetCommitResponsePartition {
    TxnOffsetCommitResponsePartition { partition_index, error_code }
}

fn known_topics(ctx: &Context<'_>, version: i16, request: &TxnOffsetCommitRequest) -> Vec<Option<Known>> {
    let topics = super::lock(&ctx.services.topics);
    let catalog = topics.catalog();
    let find = |topic: &TxnOffsetCommitRequestTopic| {
        let found = if version >= TOPIC_IDS_SINCE {
            catalog.by_id(TopicId::from(topic.topic_id))
        } else {
            catalog.by_name(&topic.name)
        }?;
        Some(Known { name: found.name.clone(), id: found.id, partitions: found.partitions })
    };
    request.topics.iter().map(find).collect()
}

/// Asks the transaction coordinator first, then the group; nothing can come between the two.
fn commit(
    ctx: &Context<'_>,
    version: i16,
    request: &TxnOffsetCommitRequest,
    offsets: &[CommitPartition<'_>],
) -> Result<Vec<usize>, i16> {
    if request.group_id.is_empty() {
        return Err(error_code::code(GroupError::InvalidGroupId));
    }
    let groups = &ctx.services.groups;
    let partition = (TopicName::from(CONSUMER_OFFSETS), groups.partition_of(&request.group_id));
    let producer = ProducerIdAndEpoch { id: request.producer_id, epoch: request.producer_epoch };
    let operation = Operation::of_txn_offset_commit(version);
    let mut admits = || {
        let partitions = std::slice::from_ref(&partition);
        let asked = transactional::ask(ctx, operation, &request.transactional_id, producer, partitions);
        asked.into_iter().collect::<Result<(), _>>()
    };
    let command = Command::OffsetCommit(OffsetCommit {
        group: &request.group_id,
        member: &request.member_id,
        instance: request.group_instance_id.as_deref(),
        generation: request.generation_id_or_member_epoch,
        retention_ms: None,
        has_member_epoch: version >= TOPIC_IDS_SINCE,
        producer_id: Some(request.producer_id),
        offsets,
    });
    match groups.submit_if(ctx.now, &request.group_id, ctx.from, command, &mut admits) {
        Ok(Submitted::Replied(Reply::OffsetCommit(outcome))) => outcome.map_err(error_code::code),
        Ok(Submitted::Unavailable(error)) => Err(error_code::code(error)),
        Ok(other) => unreachable!("a TxnOffsetCommit was answered with {other:?}"),
        Err(error) => Err(error.code()),
    }
}
