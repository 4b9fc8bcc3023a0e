//! What a member's change means for the group: its topics, its epoch.
//!
//! Source: the middle of GroupMetadataManager.consumerGroupHeartbeat, updateSubscriptionMetadata,
//! ModernGroup.computeMetadataHash.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::consumer_event::ConsumerEvent;
use super::super::error::{GroupError, Refusal};
use super::super::record::{ConsumerMemberMetadata, CurrentAssignment, MemberState, Record};
use super::super::vec_map::VecMap;
use super::member::{self, is_reconciled_to, metadata_bytes};
use super::reconcile::{Surroundings, reconcile};
use super::subscribe::Before;
use super::{ConsumerGroup, Given};
use crate::assignor::{MemberAssignment, PartitionAssignor};
use crate::java;
use crate::types::{MemberId, TopicImage, TopicName, TopicPartition};

/// How many subscribe to a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Subscribers {
    /// Members that name it.
    pub(super) by_name: usize,
    /// Regular expressions that match it.
    pub(super) by_regex: usize,
}

impl Subscribers {
    pub(super) const fn is_nobody(self) -> bool {
        self.by_name == 0 && self.by_regex == 0
    }
}

/// A decision in the making: a member as it is and as it will be, and what comes of that.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) group: &'a ConsumerGroup,
    pub(super) given: Given<'a>,
    pub(super) id: MemberId,
    pub(super) before: Before<'a>,
    pub(super) after: Arc<ConsumerMemberMetadata>,
    pub(super) outcome: Outcome,
}

/// What is to be done once a decision is made.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) records: Vec<Record>,
    pub(super) events: Vec<ConsumerEvent>,
    /// The picture of the topics that the group has now been compared with.
    pub(super) topics_seen: Option<u64>,
    /// Regular expressions that are to be resolved aside.
    pub(super) to_resolve: Vec<Arc<str>>,
    /// What the member has after the request, if that changed.
    pub(super) current: Option<CurrentAssignment>,
}

impl<'a> Draft<'a> {
    /// Whether there is memory for what the member says.
    // Differs from Kafka: what all groups take together is bounded.
    pub(super) fn check_memory(&self) -> Result<(), Refusal> {
        let (before, after) = (&self.before.metadata, &self.after);
        let bytes_max = metadata_bytes(before).saturating_add(self.given.config.bytes_left);
        if before == after || metadata_bytes(after) <= bytes_max {
            return Ok(());
        }
        Err(Refusal::new(GroupError::GroupMaxSizeReached, "There is no memory for more members."))
    }

    /// Writes the member if it changed; tells whether the topics that it names did.
    pub(super) fn write_member(&mut self) -> bool {
        if self.after == self.before.metadata {
            return false;
        }
        self.outcome.records.push(member::metadata_record(&self.group.id, &self.id, self.after.clone()));
        self.after.topics != self.before.metadata.topics
    }

    /// Whether the votes choose another assignor than before.
    pub(super) fn is_assignor_changed(&self) -> bool {
        let before = preferred(&self.group.assignors);
        self.given.config.consumer.assignor(before).name() != self.preferred_assignor().name()
    }

    /// The assignor that has most votes after the change.
    pub(super) fn preferred_assignor(&self) -> Arc<dyn PartitionAssignor> {
        let (before, after) = (&self.before.metadata.assignor, &self.after.assignor);
        if before == after {
            return self.given.config.consumer.assignor(preferred(&self.group.assignors));
        }
        let mut votes = self.group.assignors.clone();
        if let Some(count) = before.as_ref().and_then(|name| votes.get_mut(&**name)) {
            *count -= 1;
        }
        if let Some(name) = after {
            let count = votes.get(&**name).copied().unwrap_or(0);
            votes.insert(name.clone(), count + 1);
        }
        self.given.config.consumer.assignor(preferred(&votes))
    }

    /// The epoch of the group after the change: one more if `bump` says so, or if the topics are not what they were.
    pub(super) fn group_epoch(&mut self, bump: bool) -> i32 {
        let number = self.given.topics.number();
        if !bump && self.group.topics_seen == Some(number) {
            return self.group.epoch;
        }
        self.outcome.topics_seen = Some(number);
        let hash = hash_topics(&**self.given.topics, self.topics_after().into_iter());
        if !bump && hash == self.group.metadata_hash {
            return self.group.epoch;
        }
        let epoch = self.group.epoch.wrapping_add(1);
        self.outcome.records.push(self.group.epoch_record(epoch, hash));
        self.outcome.events.push(ConsumerEvent::EpochBumped { epoch });
        epoch
    }

    /// All topics that the group subscribes to after the change.
    /// Source: ConsumerGroup.computeSubscribedTopicNames.
    fn topics_after(&self) -> BTreeSet<&TopicName> {
        let (before, after) = (&*self.before.metadata, &*self.after);
        let lost_regex = before.regex.as_ref().filter(|regex| {
            after.regex.as_ref() != Some(regex) && self.group.regexes.get(&***regex) == Some(&1)
        });
        let lost = lost_regex.and_then(|regex| self.group.resolved.get(&**regex));
        let goes = |topic: &TopicName, subscribers: &Subscribers| {
            let names = usize::from(before.topics.binary_search(topic).is_ok());
            let matches = usize::from(lost.is_some_and(|lost| lost.topics.binary_search(topic).is_ok()));
            subscribers.by_name == names && subscribers.by_regex == matches
        };
        let stay = self.group.topics.iter().filter(|(topic, subscribers)| !goes(topic, subscribers));
        stay.map(|(topic, _)| topic).chain(self.after.topics.iter()).collect()
    }

    /// Takes the member a step nearer to its target assignment.
    pub(super) fn reconcile(
        &mut self,
        (target_epoch, target): (i32, MemberAssignment),
        has_subscription_changed: bool,
        owned: Option<&[TopicPartition]>,
    ) {
        let current = &*self.before.current;
        if !has_subscription_changed && is_reconciled_to(current, target_epoch) {
            return;
        }
        let around = Surroundings {
            target_epoch,
            target: &target,
            is_subscribed: &|topic| {
                let topic = self.given.topics.topic_by_id(topic);
                topic.is_some_and(|topic| self.group.subscribes(&self.after, topic.name))
            },
            is_owned: &|partition| self.group.is_owned(partition),
            has_subscription_changed,
            owned,
        };
        let stepped = reconcile(current, &around);
        if stepped != *current {
            self.outcome.records.push(member::current_record(&self.group.id, &self.id, stepped.clone()));
            self.outcome.current = Some(stepped);
        }
    }

    /// What the member has after the request.
    pub(super) fn current(&self) -> &CurrentAssignment {
        self.outcome.current.as_ref().unwrap_or(&self.before.current)
    }

    /// The target assignment that is there, and its epoch.
    pub(super) fn last_target(&self) -> (i32, MemberAssignment) {
        let holder = match &self.after.instance {
            Some(instance) => self.group.static_member(instance.as_str()),
            None => self.group.member(self.id.as_str()),
        };
        (self.group.target.epoch, holder.map(|m| m.target.clone()).unwrap_or_default())
    }

    /// Whether the member waits until it has given partitions up.
    pub(super) fn is_revoking(&self) -> bool {
        self.current().state == MemberState::UnrevokedPartitions
    }
}

impl ConsumerGroup {
    /// Whether a member subscribes to a topic, by name or by what its regular expression matched.
    pub(super) fn subscribes(&self, member: &ConsumerMemberMetadata, topic: &TopicName) -> bool {
        let resolved = || self.resolved.get(&**member.regex.as_ref()?);
        member.topics.binary_search(topic).is_ok()
            || resolved().is_some_and(|resolved| resolved.topics.binary_search(topic).is_ok())
    }

    /// Ends in a refusal only if the expression is new to the group and cannot be read.
    pub(super) fn check_regex(&self, regex: &str) -> Result<(), Refusal> {
        super::regex::check(regex)
    }

    /// The assignor that has most votes.
    pub(super) fn preferred_assignor(&self) -> Option<&str> {
        preferred(&self.assignors)
    }
}

/// The most votes win; of equals the one that comes first in Java's map.
fn preferred(votes: &VecMap<Arc<str>, usize>) -> Option<&str> {
    let mut votes: Vec<_> = votes.as_slice().iter().filter(|(_, count)| *count > 0).collect();
    let kinds = votes.len();
    java::sort_as_hash_map(&mut votes, kinds, |(name, _)| java::string_hash(name));
    votes.into_iter().min_by_key(|(_, count)| Reverse(*count)).map(|(name, _)| &**name)
}

/// Stands for the ids and sizes of those topics that exist (FNV-1a over them in the order of their names).
pub(super) fn hash_topics<'a>(image: &dyn TopicImage, topics: impl Iterator<Item = &'a TopicName>) -> u64 {
    let known = topics.filter_map(|topic| image.topic_by_name(topic.as_str()));
    known.fold(0, |hash, topic| {
        let start = if hash == 0 { 0xcbf2_9ce4_8422_2325 } else { hash };
        let (id, partitions) = (topic.id.0.to_be_bytes(), topic.partitions.to_be_bytes());
        id.iter()
            .chain(&partitions)
            .fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
    })
}
