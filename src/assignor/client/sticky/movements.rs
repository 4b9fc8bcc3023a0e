//! What moved from whom to whom while balancing. Source: AbstractStickyAssignor.PartitionMovements.

use std::collections::BTreeMap;

use crate::assignor::client::group::Group;
use crate::java;

/// Keeps two members from exchanging partitions of a topic: before one moves from A to B, one that moved from B to A moves
/// back.
#[derive(Default)]
pub(super) struct Movements {
    /// Slot → from whom, to whom.
    by_slot: BTreeMap<usize, Movement>,
    /// Which partitions of a topic moved from one member to another.
    by_topic: BTreeMap<(usize, Movement), MovedSet>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Movement {
    from: usize,
    to: usize,
}

impl Movements {
    /// A partition moves; over several moves it counts as one from the first member to the last.
    pub(super) fn record(&mut self, group: &Group<'_>, slot: usize, from: usize, to: usize) {
        let topic = group.slots.topic(slot);
        let mut movement = Movement { from, to };
        if let Some(before) = self.by_slot.remove(&slot) {
            if let Some(moved) = self.by_topic.get_mut(&(topic, before)) {
                moved.slots.retain(|&other| other != slot);
                if moved.slots.is_empty() {
                    self.by_topic.remove(&(topic, before));
                }
            }
            if before.from == to {
                return;
            }
            movement.from = before.from;
        }
        self.by_slot.insert(slot, movement);
        self.by_topic.entry((topic, movement)).or_default().insert(slot);
    }

    /// The partition that had better move from one member to another instead of this one.
    pub(super) fn better(&self, group: &Group<'_>, slot: usize, from: usize, to: usize) -> usize {
        let from = self.by_slot.get(&slot).map_or(from, |before| before.from);
        let back = (group.slots.topic(slot), Movement { from: to, to: from });
        self.by_topic.get(&back).and_then(|moved| moved.first(group)).unwrap_or(slot)
    }
}

/// A Java HashSet of partitions of one topic.
#[derive(Default)]
struct MovedSet {
    /// In the order of insertion.
    slots: Vec<usize>,
    /// The most that it held: its buckets do not become fewer.
    len_max: usize,
}

impl MovedSet {
    fn insert(&mut self, slot: usize) {
        self.slots.push(slot);
        self.len_max = self.len_max.max(self.slots.len());
    }

    /// The one that Java's iterator returns first.
    fn first(&self, group: &Group<'_>) -> Option<usize> {
        let capacity = java::hash_map_capacity(self.len_max);
        self.slots.iter().copied().min_by_key(|&slot| {
            let (topic, partition) = group.slots.partition(slot);
            let hash = java::topic_partition_hash(group.topics[topic].name.as_str(), partition);
            java::bucket(hash, capacity)
        })
    }
}
