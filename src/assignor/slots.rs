//! The partitions of several topics as one row of numbers, so that arrays can be kept of them.

use std::ops::Range;

/// Gives each partition a slot: those of the first topic come first, then those of the second, and so on.
pub(super) struct Slots {
    /// Where the slots of each topic end.
    ends: Vec<usize>,
}

impl Slots {
    /// By the partition counts of the topics.
    pub(super) fn new(partition_counts: impl Iterator<Item = usize>) -> Self {
        let ends = partition_counts.scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        Self { ends: ends.collect() }
    }

    /// How many partitions there are.
    pub(super) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The slots of a topic.
    pub(super) fn of(&self, topic: usize) -> Range<usize> {
        let start = topic.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[topic]
    }

    /// The slot of a partition of a topic, if the topic has that partition.
    pub(super) fn slot(&self, topic: usize, partition: i32) -> Option<usize> {
        let slots = self.of(topic);
        let slot = slots.start + usize::try_from(partition).ok()?;
        slots.contains(&slot).then_some(slot)
    }

    /// The topic that a slot belongs to.
    pub(super) fn topic(&self, slot: usize) -> usize {
        self.ends.partition_point(|&end| end <= slot)
    }

    /// The topic that a slot belongs to, and which partition it is there.
    pub(super) fn partition(&self, slot: usize) -> (usize, i32) {
        let topic = self.topic(slot);
        (topic, (slot - self.of(topic).start) as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_and_partitions_belong_together() {
        let slots = Slots::new([2, 0, 3].into_iter());
        assert_eq!(slots.len(), 5);
        let expected = [(0, 0), (0, 1), (2, 0), (2, 1), (2, 2)];
        for (slot, (topic, partition)) in expected.into_iter().enumerate() {
            assert_eq!(slots.partition(slot), (topic, partition));
            assert_eq!(slots.slot(topic, partition), Some(slot));
        }
        for (topic, partition) in [(0, 2), (0, -1), (1, 0), (2, 3), (2, i32::MAX)] {
            assert_eq!(slots.slot(topic, partition), None);
        }
        assert_eq!(Slots::new([].into_iter()).len(), 0);
    }
}
