//! Offsets that are part of a transaction, until it ends. Hard state: records say which there are.
//!
//! Source: OffsetMetadataManager.commitTransactionalOffset, replayEndTransactionMarker, OpenTransactions.

use super::super::reply::CommittedOffset;
use super::super::vec_map::VecMap;
use crate::types::TopicName;

/// The offsets that open transactions have for the partitions of one group.
///
/// Which of two offsets of a partition is the newer one is told by the order of their records, not by which transaction
/// ends first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PendingOffsets {
    /// Topic → partition and producer → offset.
    by_topic: VecMap<TopicName, VecMap<(i32, i64), PendingOffset>>,
    /// Given to the next one.
    next_order: u64,
    /// What they take in memory, about.
    bytes: usize,
}

/// An offset of an open transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingOffset {
    pub(super) offset: CommittedOffset,
    /// Its place among those of the group.
    pub(super) order: u64,
    /// Whether a newer offset is committed already: then this one comes to nothing.
    pub(super) is_superseded: bool,
}

impl PendingOffsets {
    pub(super) fn is_empty(&self) -> bool {
        self.by_topic.is_empty()
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether an open transaction has an offset for the partition.
    pub(super) fn contains(&self, topic: &str, partition: i32) -> bool {
        self.by_topic
            .get(topic)
            .is_some_and(|pending| !of_partition(pending.as_slice(), partition).is_empty())
    }

    pub(super) fn get(&self, topic: &str, partition: i32, producer_id: i64) -> Option<&PendingOffset> {
        self.by_topic.get(topic)?.get(&(partition, producer_id))
    }

    /// Topic, partition, producer and offset of all of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&TopicName, i32, i64, &PendingOffset)> {
        self.by_topic.as_slice().iter().flat_map(|(topic, pending)| {
            pending.as_slice().iter().map(move |((partition, id), offset)| (topic, *partition, *id, offset))
        })
    }

    pub(super) fn put(
        &mut self,
        topic: &TopicName,
        partition: i32,
        producer_id: i64,
        offset: CommittedOffset,
    ) {
        self.bytes += offset.bytes();
        let pending = PendingOffset { offset, order: self.next_order, is_superseded: false };
        self.next_order += 1;
        let key = (partition, producer_id);
        if let Some(of_topic) = self.by_topic.get_mut(topic.as_str()) {
            let before = of_topic.insert(key, pending);
            self.bytes -= before.map_or(0, |before| before.offset.bytes());
        } else {
            let mut of_topic = VecMap::default();
            of_topic.insert(key, pending);
            self.by_topic.insert(topic.clone(), of_topic);
        }
    }

    /// An offset was committed for the partition that is newer than those before `order`, or than all.
    pub(super) fn supersede(&mut self, topic: &str, partition: i32, order: Option<u64>) {
        let Some(of_topic) = self.by_topic.get_mut(topic) else { return };
        for ((index, _), pending) in of_topic.iter_mut() {
            if *index == partition && order.is_none_or(|order| pending.order < order) {
                pending.is_superseded = true;
            }
        }
    }

    /// Drops what all transactions have for the partition.
    pub(super) fn remove(&mut self, topic: &str, partition: i32) {
        self.retain_of(topic, |(index, _)| *index != partition);
    }

    /// Takes out what one producer has, in the order of the records.
    pub(super) fn take(&mut self, producer_id: i64) -> Vec<(TopicName, i32, PendingOffset)> {
        let of_producer = self.iter().filter(|(_, _, id, _)| *id == producer_id);
        let mut taken: Vec<_> = of_producer
            .map(|(topic, partition, _, pending)| (topic.clone(), partition, pending.clone()))
            .collect();
        taken.sort_by_key(|(_, _, pending)| pending.order);
        let topics: Vec<TopicName> = self.by_topic.keys().cloned().collect();
        for topic in topics {
            self.retain_of(topic.as_str(), |(_, id)| *id != producer_id);
        }
        taken
    }

    fn retain_of(&mut self, topic: &str, keeps: impl Fn(&(i32, i64)) -> bool) {
        let Some(of_topic) = self.by_topic.get_mut(topic) else { return };
        let gone = of_topic.extract_keys(|key| !keeps(key));
        self.bytes -= gone.iter().map(|pending| pending.offset.bytes()).sum::<usize>();
        if of_topic.is_empty() {
            self.by_topic.remove(topic);
        }
    }
}

/// The entries of one partition: they are sorted by it.
fn of_partition<V>(pending: &[((i32, i64), V)], partition: i32) -> &[((i32, i64), V)] {
    let first = pending.partition_point(|((index, _), _)| *index < partition);
    let behind = pending.partition_point(|((index, _), _)| *index <= partition);
    &pending[first..behind]
}
