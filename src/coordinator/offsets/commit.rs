//! OffsetCommit and TxnOffsetCommit. Source: OffsetMetadataManager.commitOffset, commitTransactionalOffset.

use std::sync::Arc;

use super::super::command::OffsetCommit;
use super::super::error::GroupError;
use super::super::event::Event;
use super::super::group::{Group, Kind};
use super::super::record::Record;
use super::super::reply::CommittedOffset;
use super::super::weight::{GROUP_BYTES, OFFSET_BYTES};
use super::super::{Coordinator, Step, Turn};
use crate::types::{GroupId, Now};

impl Coordinator {
    /// Stores offsets; a simple consumer's first commit makes the group. Gives the indexes of what was refused.
    pub(in super::super) fn commit_offsets(
        &mut self,
        now: Now,
        commit: &OffsetCommit<'_>,
        step: &mut Step,
    ) -> Result<Vec<usize>, GroupError> {
        if !self.has_room_for(commit) {
            return Err(GroupError::InvalidCommitOffsetSize);
        }
        let id = self.group_to_commit_to(now, commit, step)?;
        let Self { config, groups, timers, texts, .. } = self;
        if let Some(group) = groups.get_mut(commit.group) {
            let mut turn = Turn { now, config, timers, texts, step };
            match &mut group.kind {
                Kind::Classic(classic) => classic.admit_commit(&mut turn, commit)?,
                Kind::Consumer(consumer) => {
                    let units_max = config.offset_metadata_max;
                    let stored = commit.offsets.iter().filter(|o| !exceeds(o.metadata, units_max));
                    let admitted = consumer.admit_commit(commit, stored);
                    // Before version 6 a TxnOffsetCommit knows nothing of member epochs.
                    let is_old = commit.producer_id.is_some() && !commit.has_member_epoch;
                    admitted.map_err(|error| match error {
                        GroupError::StaleMemberEpoch if is_old => GroupError::IllegalGeneration,
                        error => error,
                    })?;
                }
            }
        }
        Ok(self.store_offsets(now, &id, commit, step))
    }

    /// Whether there is memory for these offsets, in place of those that are there.
    ///
    /// Differs from Kafka: what all groups take together is bounded.
    fn has_room_for(&self, commit: &OffsetCommit<'_>) -> bool {
        let known = self.groups.get(commit.group);
        let group = if known.is_some() { 0 } else { GROUP_BYTES + commit.group.len() };
        let added: usize =
            group + commit.offsets.iter().map(|o| OFFSET_BYTES + o.metadata.len()).sum::<usize>();
        let left = self.config.bytes_left;
        if added <= left {
            return true;
        }
        let Some(group) = known else { return false };
        let there = commit.offsets.iter().filter_map(|o| match commit.producer_id {
            None => group.offsets.get(o.topic.as_str(), o.partition),
            Some(producer_id) => group.offsets.pending_of(o.topic.as_str(), o.partition, producer_id),
        });
        added.saturating_sub(there.map(CommittedOffset::bytes).sum()) <= left
    }

    fn group_to_commit_to(
        &mut self,
        now: Now,
        commit: &OffsetCommit<'_>,
        step: &mut Step,
    ) -> Result<GroupId, GroupError> {
        if let Some((id, _)) = self.groups.get_key_value(commit.group) {
            return Ok(id.clone());
        }
        if commit.generation >= 0 {
            return Err(if commit.has_member_epoch {
                GroupError::GroupIdNotFound
            } else {
                GroupError::IllegalGeneration
            });
        }
        let id = GroupId::from(commit.group);
        step.events.push(Event::SimpleGroupCreated { group: id.clone() });
        self.groups.insert(id.clone(), Box::new(Group::classic(id.clone(), now)));
        Ok(id)
    }

    fn store_offsets(
        &mut self,
        now: Now,
        id: &GroupId,
        commit: &OffsetCommit<'_>,
        step: &mut Step,
    ) -> Vec<usize> {
        let mut refused = Vec::new();
        for (index, partition) in commit.offsets.iter().enumerate() {
            if exceeds(partition.metadata, self.config.offset_metadata_max) {
                refused.push(index);
                continue;
            }
            let value = CommittedOffset {
                offset: partition.offset,
                leader_epoch: partition.leader_epoch,
                metadata: text(partition.metadata),
                commit_timestamp_ms: now.wall.0,
                expire_timestamp_ms: commit.retention_ms.map(|ms| now.wall.plus(ms).0),
                topic_id: partition.topic_id,
            };
            let (group, topic, partition) = (id.clone(), partition.topic.clone(), partition.partition);
            let record = match commit.producer_id {
                None => Record::OffsetCommit { group, topic, partition, value: Some(value) },
                Some(producer_id) => Record::TxnOffsetCommit { group, topic, partition, producer_id, value },
            };
            self.emit(record, step);
        }
        refused
    }
}

/// Most commits have nothing to say, which takes no memory.
fn text(metadata: &str) -> Arc<str> {
    if metadata.is_empty() { Arc::default() } else { Arc::from(metadata) }
}

/// Kafka counts UTF-16 units, and a text has never more of those than bytes.
fn exceeds(metadata: &str, units_max: usize) -> bool {
    metadata.len() > units_max && metadata.encode_utf16().count() > units_max
}
