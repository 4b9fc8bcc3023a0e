//! The committed offsets of a group: who may commit, what a fetch sees, when they go.
//!
//! Source: kafka OffsetMetadataManager.

mod commit;
mod delete;
mod expire;
mod pending;
mod transactional;

use pending::PendingOffsets;

use super::record::Record;
use super::reply::{CommittedOffset, TopicOffsets};
use super::vec_map::VecMap;
use super::weight::OFFSET_BYTES;
use crate::types::{GroupId, TopicName};

impl CommittedOffset {
    /// What it takes in memory, about.
    fn bytes(&self) -> usize {
        OFFSET_BYTES + self.metadata.len()
    }
}

/// Topic → partition → committed offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offsets {
    by_topic: VecMap<TopicName, VecMap<i32, CommittedOffset>>,
    /// What they take in memory, about.
    bytes: usize,
    /// Those of open transactions; most groups have none.
    pending: Option<Box<PendingOffsets>>,
}

impl Offsets {
    /// Whether nothing is committed, and no open transaction has anything.
    pub(super) fn is_empty(&self) -> bool {
        self.by_topic.is_empty() && self.pending.is_none()
    }

    pub(super) fn get(&self, topic: &str, partition: i32) -> Option<&CommittedOffset> {
        self.by_topic.get(topic)?.get(&partition)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.pending.as_ref().map_or(0, |pending| size_of_val(&**pending) + pending.bytes())
    }

    /// All topics in the order of their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = TopicOffsets<'_>> {
        self.by_topic.as_slice().iter().map(|(topic, partitions)| (topic, partitions.as_slice()))
    }

    /// Commits an offset; what open transactions have for the partition is older.
    pub(super) fn put(&mut self, topic: &TopicName, partition: i32, offset: CommittedOffset) {
        if let Some(pending) = &mut self.pending {
            pending.supersede(topic.as_str(), partition, None);
        }
        self.put_committed(topic, partition, offset);
    }

    fn put_committed(&mut self, topic: &TopicName, partition: i32, offset: CommittedOffset) {
        self.bytes += offset.bytes();
        if let Some(partitions) = self.by_topic.get_mut(topic.as_str()) {
            let before = partitions.insert(partition, offset);
            self.bytes -= before.map_or(0, |offset| offset.bytes());
        } else {
            let mut partitions = VecMap::default();
            partitions.insert(partition, offset);
            self.by_topic.insert(topic.clone(), partitions);
        }
    }

    /// Drops what is committed for a partition, and what open transactions have for it.
    pub(super) fn remove(&mut self, topic: &str, partition: i32) {
        self.change_pending(|pending| pending.remove(topic, partition));
        let Some(partitions) = self.by_topic.get_mut(topic) else { return };
        let before = partitions.remove(&partition);
        self.bytes -= before.map_or(0, |offset| offset.bytes());
        if partitions.is_empty() {
            self.by_topic.remove(topic);
        }
    }

    /// The partitions of one topic.
    fn partitions(&self, topic: &str) -> &[(i32, CommittedOffset)] {
        self.by_topic.get(topic).map_or(&[], VecMap::as_slice)
    }

    /// Keeps an offset until the transaction of its producer ends.
    pub(super) fn put_pending(
        &mut self,
        topic: &TopicName,
        partition: i32,
        producer_id: i64,
        offset: CommittedOffset,
    ) {
        self.pending.get_or_insert_default().put(topic, partition, producer_id, offset);
    }

    /// The transaction of a producer has ended: what it had is committed, unless something newer is, or dropped.
    pub(super) fn end_transaction(&mut self, producer_id: i64, committed: bool) {
        let taken = self.change_pending(|pending| pending.take(producer_id)).unwrap_or_default();
        for (topic, partition, pending) in taken {
            if committed && !pending.is_superseded {
                if let Some(others) = &mut self.pending {
                    others.supersede(topic.as_str(), partition, Some(pending.order));
                }
                self.put_committed(&topic, partition, pending.offset);
            }
        }
    }

    /// Whether an open transaction has an offset for the partition.
    pub(super) fn is_pending(&self, topic: &str, partition: i32) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.contains(topic, partition))
    }

    /// What a producer has for the partition.
    fn pending_of(&self, topic: &str, partition: i32, producer_id: i64) -> Option<&CommittedOffset> {
        self.pending.as_ref()?.get(topic, partition, producer_id).map(|pending| &pending.offset)
    }

    /// The partitions that open transactions have offsets for, by topic, and the producers.
    fn pending(&self) -> impl Iterator<Item = (&TopicName, i32, i64)> {
        let pending = self.pending.iter().flat_map(|pending| pending.iter());
        pending.map(|(topic, partition, producer_id, _)| (topic, partition, producer_id))
    }

    /// The records that give all offsets of a group back: what is older comes first.
    pub(super) fn snapshot(&self, group: &GroupId) -> Vec<Record> {
        let committed = self.iter().flat_map(|(topic, partitions)| {
            partitions.iter().map(move |(partition, offset)| Record::OffsetCommit {
                group: group.clone(),
                topic: topic.clone(),
                partition: *partition,
                value: Some(offset.clone()),
            })
        });
        let mut pending: Vec<_> = self.pending.iter().flat_map(|pending| pending.iter()).collect();
        pending.sort_by_key(|(.., pending)| pending.order);
        let (superseded, newer): (Vec<_>, Vec<_>) =
            pending.into_iter().partition(|(.., pending)| pending.is_superseded);
        let record =
            |(topic, partition, producer_id, pending): (&TopicName, i32, i64, &pending::PendingOffset)| {
                Record::TxnOffsetCommit {
                    group: group.clone(),
                    topic: topic.clone(),
                    partition,
                    producer_id,
                    value: pending.offset.clone(),
                }
            };
        superseded.into_iter().map(record).chain(committed).chain(newer.into_iter().map(record)).collect()
    }

    /// Changes what open transactions have; nothing is kept where there is nothing.
    fn change_pending<R>(&mut self, change: impl FnOnce(&mut PendingOffsets) -> R) -> Option<R> {
        let changed = change(self.pending.as_mut()?);
        if self.pending.as_ref().is_some_and(|pending| pending.is_empty()) {
            self.pending = None;
        }
        Some(changed)
    }
}
