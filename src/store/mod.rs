//! What the coordinators keep, as Kafka writes it into `__consumer_offsets`: records become keys and values.
//!
//! Source: the schemas of Kafka's group coordinator (`GroupMetadataValue`, `OffsetCommitValue`, `ConsumerGroup…`), and
//! `GroupCoordinatorRecordHelpers` for the versions that are written.

mod writer;

use writer::Writer;

use crate::assignor::MemberAssignment;
use crate::coordinator::record::{
    ClassicMemberMetadata, ConsumerMemberMetadata, CurrentAssignment, GroupEpoch, GroupMetadata, MemberState,
    OwnedPartition, Record, ResolvedRegex, TargetAssignmentMetadata,
};
use crate::coordinator::reply::CommittedOffset;
use crate::types::{GroupId, InstanceId, MemberId, TopicId, TopicName};

/// The numbers of the kinds of records, as they begin a key.
mod kind {
    pub(super) const OFFSET_COMMIT: i16 = 1;
    pub(super) const GROUP_METADATA: i16 = 2;
    pub(super) const CONSUMER_GROUP_METADATA: i16 = 3;
    pub(super) const CONSUMER_GROUP_MEMBER_METADATA: i16 = 5;
    pub(super) const CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA: i16 = 6;
    pub(super) const CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER: i16 = 7;
    pub(super) const CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT: i16 = 8;
    pub(super) const CONSUMER_GROUP_REGULAR_EXPRESSION: i16 = 16;
}

/// A record as it is written. No value is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    pub key: Vec<u8>,
    pub value: Option<Vec<u8>>,
}

/// What a record adds to the topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A record.
    Record(Encoded),
    /// A record that counts once the transaction of its producer is committed.
    Pending { producer_id: i64, record: Encoded },
    /// The end of the transaction of a producer.
    End { producer_id: i64, committed: bool },
}

/// Writes a record.
#[must_use]
pub fn encode(record: &Record) -> Written {
    Written::Record(match record {
        Record::TxnOffsetCommit { group, topic, partition, producer_id, value } => {
            let record = encoded(offset_key(group, topic, *partition), Some(offset_commit(value)));
            return Written::Pending { producer_id: *producer_id, record };
        }
        Record::EndTxnMarker { producer_id, committed } => {
            return Written::End { producer_id: *producer_id, committed: *committed };
        }
        Record::OffsetCommit { group, topic, partition, value } => {
            encoded(offset_key(group, topic, *partition), value.as_ref().map(offset_commit))
        }
        Record::GroupMetadata { group, value } => {
            encoded(key(kind::GROUP_METADATA, group), value.as_deref().map(group_metadata))
        }
        Record::ConsumerGroupMetadata { group, value } => {
            encoded(key(kind::CONSUMER_GROUP_METADATA, group), value.as_ref().map(group_epoch))
        }
        Record::ConsumerGroupMemberMetadata { group, member, value } => {
            let key = member_key(kind::CONSUMER_GROUP_MEMBER_METADATA, group, member);
            encoded(key, value.as_deref().map(member_metadata))
        }
        Record::ConsumerGroupTargetAssignmentMetadata { group, value } => {
            let key = key(kind::CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA, group);
            encoded(key, value.as_ref().map(target_assignment_metadata))
        }
        Record::ConsumerGroupTargetAssignmentMember { group, member, value } => {
            let key = member_key(kind::CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER, group, member);
            encoded(key, value.as_ref().map(target_assignment_member))
        }
        Record::ConsumerGroupCurrentMemberAssignment { group, member, value } => {
            let key = member_key(kind::CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT, group, member);
            encoded(key, value.as_deref().map(current_assignment))
        }
        Record::ConsumerGroupRegularExpression { group, regex, value } => {
            let mut key = key(kind::CONSUMER_GROUP_REGULAR_EXPRESSION, group);
            key.string(regex);
            encoded(key, value.as_ref().map(regular_expression))
        }
    })
}

fn offset_key(group: &GroupId, topic: &TopicName, partition: i32) -> Writer {
    let mut key = key(kind::OFFSET_COMMIT, group);
    key.string(topic.as_str());
    key.i32(partition);
    key
}

fn encoded(key: Writer, value: Option<Writer>) -> Encoded {
    Encoded { key: key.finish(), value: value.map(Writer::finish) }
}

fn key(kind: i16, group: &GroupId) -> Writer {
    let mut key = Writer::default();
    key.i16(kind);
    key.string(group.as_str());
    key
}

fn member_key(kind: i16, group: &GroupId, member: &MemberId) -> Writer {
    let mut key = key(kind, group);
    key.string(member.as_str());
    key
}

/// A value begins with its version.
fn value(version: i16) -> Writer {
    let mut value = Writer::default();
    value.i16(version);
    value
}

/// OffsetCommitValue: version 1 if it says when it expires, 4 if it names a topic id, else 3.
fn offset_commit(offset: &CommittedOffset) -> Writer {
    let version = match (offset.expire_timestamp_ms, offset.topic_id) {
        (Some(_), _) => 1,
        (None, TopicId(0)) => 3,
        (None, _) => 4,
    };
    let mut out = value(version);
    out.i64(offset.offset);
    if version >= 3 {
        out.i32(offset.leader_epoch.unwrap_or(-1));
    }
    if version >= 4 {
        out.compact_string(&offset.metadata);
    } else {
        out.string(&offset.metadata);
    }
    out.i64(offset.commit_timestamp_ms);
    if version == 1 {
        out.i64(offset.expire_timestamp_ms.unwrap_or(-1));
    }
    if version >= 4 {
        let mut tag = Writer::default();
        tag.uuid(offset.topic_id);
        out.tags(&[(0, tag)]);
    }
    out
}

/// GroupMetadataValue, version 3.
fn group_metadata(group: &GroupMetadata) -> Writer {
    let mut out = value(3);
    out.string(group.protocol_type.as_deref().unwrap_or_default());
    out.i32(group.generation);
    out.nullable_string(group.protocol_name.as_deref());
    out.nullable_string(group.leader.as_ref().map(MemberId::as_str));
    out.i64(group.state_timestamp_ms);
    out.len(group.members.len());
    for member in &group.members {
        out.string(member.member.as_str());
        out.nullable_string(member.instance.as_ref().map(InstanceId::as_str));
        out.string(&member.client_id);
        out.string(&member.client_host);
        out.i32(member.rebalance_timeout_ms);
        out.i32(member.session_timeout_ms);
        out.bytes(&member.subscription);
        out.bytes(&member.assignment);
    }
    out
}

/// ConsumerGroupMetadataValue, version 0.
fn group_epoch(group: &GroupEpoch) -> Writer {
    let mut out = value(0);
    out.i32(group.epoch);
    if group.metadata_hash == 0 {
        out.tags(&[]);
    } else {
        let mut hash = Writer::default();
        hash.i64(group.metadata_hash.cast_signed());
        out.tags(&[(0, hash)]);
    }
    out
}

/// ConsumerGroupMemberMetadataValue, version 0.
fn member_metadata(member: &ConsumerMemberMetadata) -> Writer {
    let mut out = value(0);
    out.compact_nullable_string(member.instance.as_ref().map(InstanceId::as_str));
    out.compact_nullable_string(member.rack.as_deref());
    out.compact_string(&member.client_id);
    out.compact_string(&member.client_host);
    out.compact_len(member.topics.len());
    for topic in &*member.topics {
        out.compact_string(topic.as_str());
    }
    // No expression is an empty one.
    out.compact_string(member.regex.as_deref().unwrap_or_default());
    out.i32(member.rebalance_timeout_ms);
    out.compact_nullable_string(member.assignor.as_deref());
    out.tags(&[(0, classic_member(member.classic.as_ref()))]);
    out
}

/// Whether it is there, and what it is: Kafka writes the field in both cases.
fn classic_member(classic: Option<&ClassicMemberMetadata>) -> Writer {
    let mut out = Writer::default();
    out.i8(classic.is_some().into());
    let Some(classic) = classic else { return out };
    out.i32(classic.session_timeout_ms);
    out.compact_len(classic.protocols.len());
    for (name, metadata) in &*classic.protocols {
        out.compact_string(name);
        out.compact_bytes(metadata);
        out.tags(&[]);
    }
    out.tags(&[]);
    out
}

/// ConsumerGroupTargetAssignmentMetadataValue, version 0.
fn target_assignment_metadata(target: &TargetAssignmentMetadata) -> Writer {
    let mut out = value(0);
    out.i32(target.epoch);
    if target.timestamp_ms == 0 {
        out.tags(&[]);
    } else {
        let mut timestamp = Writer::default();
        timestamp.i64(target.timestamp_ms);
        out.tags(&[(0, timestamp)]);
    }
    out
}

/// ConsumerGroupTargetAssignmentMemberValue, version 0.
fn target_assignment_member(assignment: &MemberAssignment) -> Writer {
    let mut out = value(0);
    out.compact_len(assignment.iter().count());
    for (topic, partitions) in assignment.iter() {
        out.uuid(topic);
        out.compact_len(partitions.len());
        partitions.iter().for_each(|&partition| out.i32(partition));
        out.tags(&[]);
    }
    out.tags(&[]);
    out
}

/// ConsumerGroupCurrentMemberAssignmentValue, version 0.
fn current_assignment(current: &CurrentAssignment) -> Writer {
    let mut out = value(0);
    out.i32(current.epoch);
    out.i32(current.previous_epoch);
    out.i8(match current.state {
        MemberState::Stable => 0,
        MemberState::UnrevokedPartitions => 1,
        MemberState::UnreleasedPartitions => 2,
    });
    owned_partitions(&mut out, &current.assigned);
    owned_partitions(&mut out, &current.pending_revocation);
    out.tags(&[]);
    out
}

/// Sorted partitions by topic, with the epochs in which they were assigned.
fn owned_partitions(out: &mut Writer, owned: &[OwnedPartition]) {
    let topics: Vec<_> = owned.chunk_by(|a, b| a.partition.topic == b.partition.topic).collect();
    out.compact_len(topics.len());
    for of_topic in topics {
        out.uuid(of_topic[0].partition.topic);
        out.compact_len(of_topic.len());
        of_topic.iter().for_each(|owned| out.i32(owned.partition.partition));
        let mut epochs = Writer::default();
        epochs.compact_len(of_topic.len());
        of_topic.iter().for_each(|owned| epochs.i32(owned.since_epoch));
        out.tags(&[(0, epochs)]);
    }
}

/// ConsumerGroupRegularExpressionValue, version 0.
fn regular_expression(resolved: &ResolvedRegex) -> Writer {
    let mut out = value(0);
    out.compact_len(resolved.topics.len());
    for topic in &*resolved.topics {
        out.compact_string(topic.as_str());
    }
    out.i64(resolved.version.cast_signed());
    out.i64(resolved.timestamp_ms);
    out.tags(&[]);
    out
}

#[cfg(test)]
mod tests;
