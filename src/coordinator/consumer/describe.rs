//! What others see of a consumer group. Source: ConsumerGroup.asDescribedGroup, asListedGroup.

use super::super::error::GroupError;
use super::super::reply::{ConsumerGroupDescription, ConsumerMemberDescription, ListedGroup};
use super::member::Member;
use super::{CONSUMER, ConsumerGroup};
use crate::types::TopicPartition;

impl ConsumerGroup {
    /// One line of ListGroups.
    pub(in super::super) fn listed(&self) -> ListedGroup<'_> {
        ListedGroup { group: &self.id, protocol_type: CONSUMER, state: self.state(), group_type: "consumer" }
    }

    /// ConsumerGroupDescribe.
    pub(in super::super) fn described(&self, default_assignor: &str) -> ConsumerGroupDescription {
        ConsumerGroupDescription {
            state: self.state(),
            epoch: self.epoch,
            assignment_epoch: self.target.epoch,
            assignor: self.preferred_assignor().unwrap_or(default_assignor).into(),
            members: self.members.values().map(|member| described(member)).collect(),
        }
    }

    /// Whether DeleteGroups may drop the group.
    pub(in super::super) fn admit_delete(&self) -> Result<(), GroupError> {
        if self.is_empty() { Ok(()) } else { Err(GroupError::NonEmptyGroup) }
    }
}

fn described(member: &Member) -> ConsumerMemberDescription {
    let held = member.current.assigned.iter().chain(&member.current.pending_revocation);
    let mut assignment: Vec<TopicPartition> = held.map(|owned| owned.partition).collect();
    assignment.sort_unstable();
    ConsumerMemberDescription {
        member: member.id.clone(),
        metadata: member.metadata.clone(),
        epoch: member.current.epoch,
        assignment,
        target: member.target.clone(),
    }
}
