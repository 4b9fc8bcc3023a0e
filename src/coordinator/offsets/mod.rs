//! The committed offsets of a group: who may commit, what a fetch sees, when they go.
//!
//! Source: kafka OffsetMetadataManager.

mod commit;
mod delete;
mod expire;

use super::reply::{CommittedOffset, TopicOffsets};
use super::vec_map::VecMap;
use super::weight::OFFSET_BYTES;
use crate::types::TopicName;

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
}

impl Offsets {
    pub(super) fn is_empty(&self) -> bool {
        self.by_topic.is_empty()
    }

    pub(super) fn get(&self, topic: &str, partition: i32) -> Option<&CommittedOffset> {
        self.by_topic.get(topic)?.get(&partition)
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// All topics in the order of their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = TopicOffsets<'_>> {
        self.by_topic.as_slice().iter().map(|(topic, partitions)| (topic, partitions.as_slice()))
    }

    pub(super) fn put(&mut self, topic: &TopicName, partition: i32, offset: CommittedOffset) {
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

    pub(super) fn remove(&mut self, topic: &str, partition: i32) {
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
}
