//! Slots for the partitions of topics that are known by their ids.

use std::ops::Deref;

use super::member_assignment::Builder;
use super::slots::Slots;
use super::{MemberAssignment, TopicFinder, TopicSpec};
use crate::types::TopicId;

/// A slot for each partition of some topics; a topic is known by its place among them.
pub(super) struct PartitionSpace {
    topic_ids: Vec<TopicId>,
    slots: Slots,
}

impl PartitionSpace {
    /// `topics` are ascending.
    pub(super) fn new<'a>(topics: impl Iterator<Item = &'a TopicSpec> + Clone) -> Self {
        Self {
            topic_ids: topics.clone().map(|topic| topic.topic_id).collect(),
            slots: Slots::new(topics.map(|topic| topic.partition_count)),
        }
    }

    /// For each topic of an assignment: its place among the topics here, if it is one of them, and its partitions.
    pub(super) fn locate<'a>(
        &'a self,
        assignment: &'a MemberAssignment,
    ) -> impl Iterator<Item = (Option<usize>, &'a [i32])> {
        let mut finder = TopicFinder::new(&self.topic_ids, |&topic_id| topic_id);
        assignment.iter().map(move |(topic_id, partitions)| (finder.find(topic_id), partitions))
    }

    /// The assignment of these slots, which are ascending.
    pub(super) fn assignment(&self, mut slots: &[usize], builder: &mut Builder) -> MemberAssignment {
        while let Some(&first) = slots.first() {
            let topic = self.topic(first);
            let of_topic = self.of(topic);
            let (these, others) = slots.split_at(slots.partition_point(|&slot| slot < of_topic.end));
            builder.push(self.topic_ids[topic], these.iter().map(|slot| (slot - of_topic.start) as i32));
            slots = others;
        }
        builder.build()
    }
}

impl Deref for PartitionSpace {
    type Target = Slots;

    fn deref(&self) -> &Slots {
        &self.slots
    }
}
