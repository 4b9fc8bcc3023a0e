//! A member of a consumer group. Source: kafka ConsumerGroupMember.

use std::sync::Arc;

use super::super::record::{ConsumerMemberMetadata, CurrentAssignment, MemberState, OwnedPartition, Record};
use super::super::timer::Lease;
use super::super::weight::member_bytes;
use crate::assignor::MemberAssignment;
use crate::types::{GroupId, MemberId, Millis, TopicPartition};

/// A member, of either protocol.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: MemberId,
    pub(super) metadata: Arc<ConsumerMemberMetadata>,
    /// What it has.
    pub(super) current: CurrentAssignment,
    /// What it is to have.
    pub(super) target: MemberAssignment,
    pub(super) soft: Soft,
}

/// What a reload may lose of a member: its timers.
#[derive(Clone, Debug, Default)]
pub(super) struct Soft {
    /// Its session.
    pub(super) lease: Lease,
    /// When each of its timeouts is over, by [`Timeout`](super::Timeout).
    pub(super) timeouts: [Option<Millis>; 3],
    /// The epoch in which it was told to give partitions up.
    pub(super) revocation_epoch: i32,
}

impl Member {
    pub(super) fn new(id: MemberId) -> Self {
        Self {
            id,
            metadata: Arc::default(),
            current: CurrentAssignment::default(),
            target: MemberAssignment::default(),
            soft: Soft::default(),
        }
    }

    pub(super) fn is_classic(&self) -> bool {
        self.metadata.classic.is_some()
    }

    pub(super) fn is_reconciled_to(&self, target_epoch: i32) -> bool {
        is_reconciled_to(&self.current, target_epoch)
    }

    /// Milliseconds that it may stay silent if it speaks the classic protocol.
    pub(super) fn classic_session_timeout_ms(&self) -> Option<i32> {
        self.metadata.classic.as_ref().map(|classic| classic.session_timeout_ms)
    }

    pub(super) fn target_record(&self, group: &GroupId) -> Record {
        target_record(group, &self.id, self.target.clone())
    }

    pub(super) fn current_record(&self, group: &GroupId) -> Record {
        current_record(group, &self.id, self.current.clone())
    }
}

/// What a member takes in memory without its partitions, in bytes.
pub(super) fn metadata_bytes(metadata: &ConsumerMemberMetadata) -> usize {
    let text = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
    let instance = metadata.instance.as_ref().map(|instance| instance.as_str());
    let protocols = metadata.classic.iter().flat_map(|classic| classic.protocols.iter());
    let protocols = protocols.map(|(name, metadata)| (&**name, &**metadata));
    let topics: usize = metadata.topics.iter().map(|topic| TOPIC_BYTES + topic.as_str().len()).sum();
    let texts = text(&metadata.rack) + text(&metadata.regex) + text(&metadata.assignor);
    member_bytes(&metadata.client_id, instance, protocols) + topics + texts
}

/// The name of a topic, and its place among the topics of the group.
pub(super) const TOPIC_BYTES: usize = 64;
/// A partition that a member has, and what is noted of it elsewhere.
pub(super) const PARTITION_BYTES: usize = 40;

pub(super) fn is_reconciled_to(current: &CurrentAssignment, target_epoch: i32) -> bool {
    current.state == MemberState::Stable && current.epoch == target_epoch
}

pub(super) fn metadata_record(
    group: &GroupId,
    id: &MemberId,
    metadata: Arc<ConsumerMemberMetadata>,
) -> Record {
    Record::ConsumerGroupMemberMetadata { group: group.clone(), member: id.clone(), value: Some(metadata) }
}

pub(super) fn target_record(group: &GroupId, id: &MemberId, target: MemberAssignment) -> Record {
    Record::ConsumerGroupTargetAssignmentMember {
        group: group.clone(),
        member: id.clone(),
        value: Some(target),
    }
}

pub(super) fn current_record(group: &GroupId, id: &MemberId, current: CurrentAssignment) -> Record {
    let (group, member, value) = (group.clone(), id.clone(), Some(Box::new(current)));
    Record::ConsumerGroupCurrentMemberAssignment { group, member, value }
}

/// The records that end a member.
pub(super) fn tombstones(group: &GroupId, id: &MemberId) -> [Record; 3] {
    let (group, member) = (|| group.clone(), || id.clone());
    [
        Record::ConsumerGroupCurrentMemberAssignment { group: group(), member: member(), value: None },
        Record::ConsumerGroupTargetAssignmentMember { group: group(), member: member(), value: None },
        Record::ConsumerGroupMemberMetadata { group: group(), member: member(), value: None },
    ]
}

/// Looks a partition up among sorted ones.
pub(super) fn find(owned: &[OwnedPartition], partition: TopicPartition) -> Option<&OwnedPartition> {
    owned.binary_search_by(|o| o.partition.cmp(&partition)).ok().map(|index| &owned[index])
}
