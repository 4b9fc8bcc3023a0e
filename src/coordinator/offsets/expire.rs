//! Offsets past their retention (KIP-211), looked for every `offsets.retention.check.interval.ms`.
//!
//! Source: GroupCoordinatorShard.cleanupGroupMetadata, OffsetMetadataManager.cleanupExpiredOffsets.

use super::super::classic::OffsetAge;
use super::super::event::Event;
use super::super::group::Group;
use super::super::record::Record;
use super::super::reply::CommittedOffset;
use super::super::timer::TimerKey;
use super::super::{Coordinator, Step};
use super::delete::tombstone;
use crate::types::{GroupId, Now};

impl Coordinator {
    /// Drops what is past its retention, and every empty group that has nothing left.
    pub(in super::super) fn expire_offsets(&mut self, now: Now, step: &mut Step) {
        let ids: Vec<GroupId> = self.groups.keys().cloned().collect();
        for id in ids {
            let Some(group) = self.groups.get(id.as_str()) else { continue };
            let gone = self.expired(now, &id, group);
            if !gone.is_empty() {
                step.events.push(Event::OffsetsExpired { group: id.clone(), offsets: gone.len() });
            }
            self.emit_all(gone, step);
            if self.groups.get(id.as_str()).is_some_and(|g| g.offsets.is_empty() && g.is_empty()) {
                self.drop_group(now, &id, step);
            }
            self.weigh(id.as_str());
        }
        let next = now.after(self.config.offsets_retention_check_interval_ms.max(1));
        self.timers.insert(next, TimerKey::OffsetRetention);
    }

    fn expired(&self, now: Now, id: &GroupId, group: &Group) -> Vec<Record> {
        let age = group.offset_age();
        let past = |offset: &CommittedOffset| match (age, offset.expire_timestamp_ms) {
            (OffsetAge::Never, _) => false,
            (_, Some(at)) => now.wall.0 >= at,
            (OffsetAge::SinceCommit, None) => self.is_past(now, offset.commit_timestamp_ms),
            (OffsetAge::Since(at), None) => self.is_past(now, at),
        };
        let unread = group.offsets.iter().filter(|(topic, _)| !group.is_subscribed(topic.as_str()));
        unread
            .flat_map(|(topic, partitions)| {
                let gone = partitions
                    .iter()
                    .filter(|(p, o)| past(o) && !group.offsets.is_pending(topic.as_str(), *p));
                gone.map(|(p, _)| tombstone(id, topic, *p)).collect::<Vec<_>>()
            })
            .collect()
    }

    fn is_past(&self, now: Now, since_ms: i64) -> bool {
        now.wall.0.saturating_sub(since_ms) >= self.config.offsets_retention_ms
    }
}
