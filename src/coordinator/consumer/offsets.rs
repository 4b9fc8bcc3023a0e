//! Who may commit and fetch offsets of a consumer group (KIP-848 §Offsets).
//!
//! Source: ConsumerGroup.validateOffsetCommit, validateOffsetFetch, createAssignmentEpochValidator.

use super::super::command::{CommitPartition, OffsetCommit};
use super::super::error::GroupError;
use super::ConsumerGroup;
use super::member::{Member, find};
use crate::types::TopicPartition;

impl ConsumerGroup {
    /// Whether a commit may be stored, given the partitions of it that are not refused otherwise.
    ///
    /// A member that is behind may commit for what it has had since the epoch that it says.
    pub(in super::super) fn admit_commit<'a>(
        &self,
        commit: &OffsetCommit<'_>,
        mut offsets: impl Iterator<Item = &'a CommitPartition<'a>>,
    ) -> Result<(), GroupError> {
        if commit.generation < 0 && self.is_empty() {
            return Ok(());
        }
        let is_transactional = commit.producer_id.is_some();
        let is_anonymous = commit.generation == -1 && commit.member.is_empty() && commit.instance.is_none();
        if is_transactional && is_anonymous {
            // Before version 3 a TxnOffsetCommit cannot say who it comes from.
            return Ok(());
        }
        let member = self.member(commit.member).ok_or(GroupError::UnknownMemberId)?;
        if !is_transactional && !member.is_classic() && !commit.has_member_epoch {
            return Err(GroupError::UnsupportedVersion);
        }
        if commit.generation == member.current.epoch {
            return Ok(());
        }
        let held_since = |offset: &CommitPartition<'_>| {
            let partition = TopicPartition { topic: offset.topic_id, partition: offset.partition };
            find(&member.current.assigned, partition)
                .or_else(|| find(&member.current.pending_revocation, partition))
                .map(|owned| owned.since_epoch)
        };
        let is_behind = commit.generation < member.current.epoch;
        if is_behind
            && offsets.all(|offset| held_since(offset).is_some_and(|since| commit.generation >= since))
        {
            return Ok(());
        }
        Err(wrong_epoch(member))
    }

    /// Whether offsets may be shown; `member` is None for an admin client.
    pub(in super::super) fn admit_fetch(&self, member: Option<&str>, epoch: i32) -> Result<(), GroupError> {
        let Some(id) = member else {
            // Kafka looks the null member up in a map that takes none.
            return if epoch < 0 { Ok(()) } else { Err(GroupError::UnknownServerError) };
        };
        let member = self.member(id).ok_or(GroupError::UnknownMemberId)?;
        if member.current.epoch == epoch { Ok(()) } else { Err(wrong_epoch(member)) }
    }
}

fn wrong_epoch(member: &Member) -> GroupError {
    if member.is_classic() { GroupError::IllegalGeneration } else { GroupError::StaleMemberEpoch }
}
