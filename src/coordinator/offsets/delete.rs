//! Offsets that go before their time: OffsetDelete, DeleteGroups, and the end of a topic.
//!
//! Source: OffsetMetadataManager.deleteOffsets, deleteAllOffsets, onPartitionsDeleted.

use super::super::command::OffsetDelete;
use super::super::error::GroupError;
use super::super::event::Event;
use super::super::record::Record;
use super::super::{Coordinator, Step, Turn};
use crate::types::{GroupId, Now, TopicName};

impl Coordinator {
    /// Drops offsets of topics that no member reads; gives the indexes of the topics that one does.
    pub(in super::super) fn delete_offsets(
        &mut self,
        delete: &OffsetDelete<'_>,
        step: &mut Step,
    ) -> Result<Vec<usize>, GroupError> {
        let (id, group) = self.groups.get_key_value(delete.group).ok_or(GroupError::GroupIdNotFound)?;
        group.admit_offset_delete()?;
        let mut subscribed = Vec::new();
        let mut gone = Vec::new();
        for (index, (topic, partitions)) in delete.topics.iter().enumerate() {
            if group.is_subscribed(topic) {
                subscribed.push(index);
                continue;
            }
            let is_stored =
                |p: i32| group.offsets.get(topic, p).is_some() || group.offsets.is_pending(topic, p);
            let stored = partitions.iter().filter(|p| is_stored(**p));
            gone.extend(stored.map(|p| tombstone(id, &TopicName::from(*topic), *p)));
        }
        self.emit_all(gone, step);
        Ok(subscribed)
    }

    /// Drops a group without members, and its offsets.
    pub(in super::super) fn delete_group(
        &mut self,
        now: Now,
        group: &str,
        step: &mut Step,
    ) -> Result<(), GroupError> {
        let (id, found) = self.groups.get_key_value(group).ok_or(GroupError::GroupIdNotFound)?;
        found.admit_delete()?;
        let id = id.clone();
        let committed = found.offsets.iter().flat_map(|(topic, partitions)| {
            partitions.iter().map(|(p, _)| tombstone(&id, topic, *p)).collect::<Vec<_>>()
        });
        let pending = found.offsets.pending().map(|(topic, p, _)| tombstone(&id, topic, p));
        let gone = committed.chain(pending).collect();
        self.emit_all(gone, step);
        self.drop_group(now, &id, step);
        Ok(())
    }

    /// Ends a group: its timers, its record, itself.
    pub(in super::super) fn drop_group(&mut self, now: Now, id: &GroupId, step: &mut Step) {
        let Self { config, groups, timers, texts, bytes, .. } = self;
        if let Some(mut group) = groups.remove(id.as_str()) {
            *bytes -= group.weighed;
            let mut turn = Turn { now, config, timers, texts, step };
            group.cancel_timers(&mut turn);
            step.records.extend(group.tombstones(id));
        }
        step.events.push(Event::GroupDeleted { group: id.clone() });
    }

    /// Drops what is committed for topics that are gone.
    pub(in super::super) fn delete_topics(&mut self, topics: &[TopicName], step: &mut Step) {
        let mut gone = Vec::new();
        for (id, group) in &self.groups {
            for topic in topics {
                let committed = group.offsets.partitions(topic.as_str());
                gone.extend(committed.iter().map(|(p, _)| tombstone(id, topic, *p)));
                let pending = group.offsets.pending().filter(|(of, ..)| *of == topic);
                gone.extend(pending.map(|(_, p, _)| tombstone(id, topic, p)));
            }
        }
        self.emit_all(gone, step);
    }
}

pub(super) fn tombstone(group: &GroupId, topic: &TopicName, partition: i32) -> Record {
    Record::OffsetCommit { group: group.clone(), topic: topic.clone(), partition, value: None }
}
