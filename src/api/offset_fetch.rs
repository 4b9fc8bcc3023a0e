//! OffsetFetch (key 9), versions 1–10.
//!
//! 2: all topics. 5: leader epoch. 7: require stable (KIP-447). 8: several groups (KIP-709). 9: member id and
//! epoch, which mean nothing to a classic group (KIP-848). 10: topics by id.

use kafka_protocol::ResponseError;
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome, error_code};
use crate::coordinator::Coordinator;
use crate::coordinator::reply::CommittedOffset;
use crate::topics::Topics;
use crate::types::TopicId;
use crate::wire::kafka_4_4::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchRequestTopic, OffsetFetchRequestTopics,
    OffsetFetchResponse, OffsetFetchResponseGroup, OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions, OffsetFetchResponseTopic, OffsetFetchResponseTopics,
};

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &OffsetFetchRequest,
) -> Outcome<OffsetFetchResponse> {
    let room = Room::for_an_answer();
    let response = if version >= 8 {
        let wanted = request.groups.iter().take_while(|_| !room.is_exceeded());
        let stable = request.require_stable;
        let groups = wanted.map(|group| fetch(ctx, version, stable, group, &room)).collect();
        OffsetFetchResponse { groups, ..OffsetFetchResponse::default() }
    } else {
        let group = as_group(request);
        single(fetch(ctx, version, request.require_stable, &group, &room), request, version)
    };
    if room.is_exceeded() { Outcome::Close(TOO_LARGE) } else { Outcome::Reply(response) }
}

/// The one group of an old request in the form of the new ones.
fn as_group(request: &OffsetFetchRequest) -> OffsetFetchRequestGroup {
    let topics = request.topics.as_ref().map(|topics| {
        let topic = |t: &OffsetFetchRequestTopic| OffsetFetchRequestTopics {
            name: t.name.clone(),
            partition_indexes: t.partition_indexes.clone(),
            ..OffsetFetchRequestTopics::default()
        };
        topics.iter().map(topic).collect()
    });
    OffsetFetchRequestGroup {
        group_id: request.group_id.clone(),
        topics,
        ..OffsetFetchRequestGroup::default()
    }
}

fn single(
    group: OffsetFetchResponseGroup,
    request: &OffsetFetchRequest,
    version: i16,
) -> OffsetFetchResponse {
    let mut topics: Vec<_> = group.topics.into_iter().map(single_topic).collect();
    if group.error_code != 0 && version < 2 {
        // There is no place for a group's error yet, so every partition carries it.
        topics =
            as_group(request).topics.into_iter().flatten().map(|t| failed(&t, group.error_code)).collect();
    }
    OffsetFetchResponse {
        topics,
        error_code: if version >= 2 { group.error_code } else { 0 },
        ..OffsetFetchResponse::default()
    }
}

fn single_topic(topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopic {
    let partitions = topic.partitions.into_iter().map(|p| OffsetFetchResponsePartition {
        partition_index: p.partition_index,
        committed_offset: p.committed_offset,
        committed_leader_epoch: p.committed_leader_epoch,
        metadata: p.metadata,
        error_code: p.error_code,
    });
    OffsetFetchResponseTopic { name: topic.name, partitions: partitions.collect() }
}

fn failed(topic: &OffsetFetchRequestTopics, code: i16) -> OffsetFetchResponseTopic {
    let partitions = topic.partition_indexes.iter().map(|p| partition(*p, None, code)).collect();
    single_topic(OffsetFetchResponseTopics { name: topic.name.clone(), partitions, ..Default::default() })
}

fn fetch(
    ctx: &Context<'_>,
    version: i16,
    require_stable: bool,
    request: &OffsetFetchRequestGroup,
    room: &Room,
) -> OffsetFetchResponseGroup {
    let mut topics = Vec::new();
    let mut admitted = Ok(());
    let member = request.member_id.as_deref();
    let read = ctx.services.groups.read(&request.group_id, &mut |shard| {
        admitted = shard.admit_offset_fetch(&request.group_id, member, request.member_epoch);
        if admitted.is_err() {
            return;
        }
        let known = super::lock(&ctx.services.topics);
        let view = View { shard, require_stable, group: &request.group_id };
        topics = match &request.topics {
            Some(wanted) => wanted.iter().map(|topic| some(&view, &known, version, topic, room)).collect(),
            None => all(&view, &known, version, room),
        };
    });
    OffsetFetchResponseGroup {
        group_id: request.group_id.clone(),
        topics,
        error_code: error_code::of_result(read.and(admitted)),
    }
}

/// The offsets of a group as the client wants to see them.
struct View<'a> {
    shard: &'a Coordinator,
    /// Whether an offset that a transaction is about to change is an error (KIP-447).
    require_stable: bool,
    group: &'a str,
}

impl View<'_> {
    fn partition(
        &self,
        topic: &str,
        index: i32,
        committed: Option<&CommittedOffset>,
    ) -> OffsetFetchResponsePartitions {
        if self.require_stable && self.shard.is_unstable(self.group, topic, index) {
            return partition(index, None, ResponseError::UnstableOffsetCommit.code());
        }
        partition(index, committed, 0)
    }
}

/// The partitions that the request names.
fn some(
    view: &View<'_>,
    known: &Topics,
    version: i16,
    topic: &OffsetFetchRequestTopics,
    room: &Room,
) -> OffsetFetchResponseTopics {
    let by_id = version >= 10;
    let found = if by_id { known.catalog().by_id(TopicId::from(topic.topic_id)) } else { None };
    let name = found.map_or(&*topic.name, |t| t.name.as_str());
    let code = if by_id && found.is_none() { ResponseError::UnknownTopicId.code() } else { 0 };
    let partitions = topic.partition_indexes.iter().map(|index| {
        if code != 0 {
            return partition(*index, None, code);
        }
        view.partition(name, *index, view.shard.committed(view.group, name, *index))
    });
    OffsetFetchResponseTopics {
        name: topic.name.clone(),
        topic_id: topic.topic_id,
        partitions: partitions.take_while(|partition| room.admits(bytes_of(partition))).collect(),
    }
}

/// About what a partition takes in an answer.
fn bytes_of(partition: &OffsetFetchResponsePartitions) -> usize {
    size_of::<OffsetFetchResponsePartitions>() + partition.metadata.as_ref().map_or(0, |text| text.len())
}

/// Everything that is committed. Asked by id, a topic that has none is left out.
fn all(view: &View<'_>, known: &Topics, version: i16, room: &Room) -> Vec<OffsetFetchResponseTopics> {
    view.shard
        .all_committed(view.group)
        .filter_map(|(name, offsets)| {
            let id = known.catalog().by_name(name.as_str()).map(|topic| topic.id);
            if version >= 10 && id.is_none() {
                return None;
            }
            Some(OffsetFetchResponseTopics {
                name: text(name.as_str()),
                topic_id: id.unwrap_or_default().into(),
                partitions: offsets
                    .iter()
                    .map(|(index, offset)| view.partition(name.as_str(), *index, Some(offset)))
                    .take_while(|partition| room.admits(bytes_of(partition)))
                    .collect(),
            })
        })
        .collect()
}

fn partition(
    index: i32,
    committed: Option<&CommittedOffset>,
    error_code: i16,
) -> OffsetFetchResponsePartitions {
    OffsetFetchResponsePartitions {
        partition_index: index,
        committed_offset: committed.map_or(-1, |c| c.offset),
        committed_leader_epoch: committed.and_then(|c| c.leader_epoch).unwrap_or(-1),
        metadata: Some(committed.map_or_else(StrBytes::new, |c| text(&c.metadata))),
        error_code,
    }
}
