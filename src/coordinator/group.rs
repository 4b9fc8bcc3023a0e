//! A group: its members' protocol, and the offsets committed under its name.

use super::Turn;
use super::classic::{ClassicGroup, OffsetAge};
use super::consumer::ConsumerGroup;
use super::error::GroupError;
use super::offsets::Offsets;
use super::record::Record;
use super::reply::{ListedGroup, Reply};
use crate::types::{GroupId, Now, ReplyTo};

/// A group of any kind.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) kind: Kind,
    pub(super) offsets: Offsets,
    /// What it was last counted with, in bytes (see `weight`).
    pub(super) weighed: usize,
}

/// What the members of a group speak.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// JoinGroup and SyncGroup: the members compute the assignment.
    Classic(ClassicGroup),
    /// ConsumerGroupHeartbeat: the coordinator does (KIP-848).
    Consumer(ConsumerGroup),
}

impl Group {
    /// A classic group without members, as Kafka makes it for a first join or a simple consumer's commit.
    pub(super) fn classic(id: GroupId, now: Now) -> Self {
        Self {
            kind: Kind::Classic(ClassicGroup::new(id, now.wall.0)),
            offsets: Offsets::default(),
            weighed: 0,
        }
    }

    /// A consumer group without members.
    pub(super) fn consumer(id: GroupId) -> Self {
        Self { kind: Kind::Consumer(ConsumerGroup::new(id)), offsets: Offsets::default(), weighed: 0 }
    }

    /// What it takes in memory, about.
    pub(super) fn bytes(&self) -> usize {
        let members = match &self.kind {
            Kind::Classic(classic) => classic.bytes(),
            Kind::Consumer(consumer) => consumer.bytes(),
        };
        members + self.offsets.bytes()
    }

    pub(super) fn classic_mut(&mut self) -> Option<&mut ClassicGroup> {
        match &mut self.kind {
            Kind::Classic(classic) => Some(classic),
            Kind::Consumer(_) => None,
        }
    }

    pub(super) fn consumer_mut(&mut self) -> Option<&mut ConsumerGroup> {
        match &mut self.kind {
            Kind::Classic(_) => None,
            Kind::Consumer(consumer) => Some(consumer),
        }
    }

    pub(super) fn as_consumer(&self) -> Option<&ConsumerGroup> {
        match &self.kind {
            Kind::Classic(_) => None,
            Kind::Consumer(consumer) => Some(consumer),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match &self.kind {
            Kind::Classic(classic) => classic.is_empty(),
            Kind::Consumer(consumer) => consumer.is_empty(),
        }
    }

    pub(super) fn listed(&self) -> ListedGroup<'_> {
        match &self.kind {
            Kind::Classic(classic) => classic.listed(),
            Kind::Consumer(consumer) => consumer.listed(),
        }
    }

    /// Whether a member reads the topic.
    pub(super) fn is_subscribed(&self, topic: &str) -> bool {
        match &self.kind {
            Kind::Classic(classic) => classic.is_subscribed(topic),
            Kind::Consumer(consumer) => consumer.is_subscribed(topic),
        }
    }

    /// Whether DeleteGroups may drop the group.
    pub(super) fn admit_delete(&self) -> Result<(), GroupError> {
        match &self.kind {
            Kind::Classic(classic) => classic.admit_delete(),
            Kind::Consumer(consumer) => consumer.admit_delete(),
        }
    }

    /// Whether OffsetDelete may look at the group.
    pub(super) fn admit_offset_delete(&self) -> Result<(), GroupError> {
        match &self.kind {
            Kind::Classic(classic) => classic.admit_offset_delete(),
            Kind::Consumer(_) => Ok(()),
        }
    }

    /// Since when the offsets of the group age.
    pub(super) fn offset_age(&self) -> OffsetAge {
        match &self.kind {
            Kind::Classic(classic) => classic.offset_age(),
            Kind::Consumer(_) => OffsetAge::SinceCommit,
        }
    }

    /// Ends all timers of a group that is to be dropped.
    pub(super) fn cancel_timers(&mut self, turn: &mut Turn<'_>) {
        match &mut self.kind {
            Kind::Classic(classic) => classic.cancel_timers(turn),
            Kind::Consumer(consumer) => consumer.cancel_all_timers(turn),
        }
    }

    /// The records that end the group itself.
    pub(super) fn tombstones(&self, id: &GroupId) -> Vec<Record> {
        match &self.kind {
            Kind::Classic(_) => vec![Record::GroupMetadata { group: id.clone(), value: None }],
            Kind::Consumer(consumer) => consumer.tombstones(),
        }
    }

    /// The records that give the group itself back.
    pub(super) fn snapshot(&self, id: &GroupId) -> Vec<Record> {
        match &self.kind {
            Kind::Classic(classic) => {
                let value = Some(Box::new(classic.snapshot()));
                vec![Record::GroupMetadata { group: id.clone(), value }]
            }
            Kind::Consumer(consumer) => consumer.snapshot(),
        }
    }

    /// What to answer the members that are parked, if the group goes with its shard.
    pub(super) fn parked(&self, error: GroupError) -> Vec<(ReplyTo, Reply)> {
        match &self.kind {
            Kind::Classic(classic) => classic.parked(error).collect(),
            Kind::Consumer(_) => Vec::new(),
        }
    }

    /// After a load: sessions begin anew.
    pub(super) fn resume(&mut self, turn: &mut Turn<'_>) {
        match &mut self.kind {
            Kind::Classic(classic) => classic.resume(turn),
            Kind::Consumer(consumer) => consumer.resume(turn),
        }
    }
}
