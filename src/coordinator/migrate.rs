//! Groups move between the two protocols while their members live on (KIP-848 §Migration,
//! `group.consumer.migration.policy`); empty groups do so always.
//!
//! Source: GroupMetadataManager.getOrMaybeCreateConsumerGroup, convertToConsumerGroup, convertToClassicGroup,
//! validateOnlineUpgrade, validateOnlineDowngradeWith….

use std::collections::BTreeSet;

use super::classic::{ClassicGroup, Joining};
use super::consumer::{ConsumerGroup, Downgrade};
use super::consumer_event::ConsumerEvent;
use super::error::{GroupError, Refusal};
use super::group::{Group, Kind};
use super::record::Record;
use super::{Coordinator, GroupConfig, Step, Turn};
use crate::types::{GroupId, MemberId, Now};

/// `group.consumer.migration.policy`: which groups with members may change their protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigrationPolicy {
    /// In both directions.
    Bidirectional,
    /// From the classic protocol to the consumer protocol.
    Upgrade,
    /// From the consumer protocol to the classic protocol.
    Downgrade,
    /// In none, and members of the classic protocol are kept out of consumer groups.
    Disabled,
}

impl MigrationPolicy {
    const fn allows_upgrade(self) -> bool {
        matches!(self, Self::Bidirectional | Self::Upgrade)
    }

    const fn allows_downgrade(self) -> bool {
        matches!(self, Self::Bidirectional | Self::Downgrade)
    }
}

/// A consumer group that is to be put in place of what is there, if the request that asks for it goes through.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) group: ConsumerGroup,
    id: GroupId,
    /// What gives the group as it is before the request.
    records: Vec<Record>,
}

impl Coordinator {
    /// The consumer group that a first member makes, or None if there is one already.
    pub(super) fn candidate(&self, group: &str) -> Result<Option<Candidate>, Refusal> {
        let Some((id, found)) = self.groups.get_key_value(group) else {
            let id = GroupId::from(group);
            return Ok(Some(Candidate { group: ConsumerGroup::new(id.clone()), id, records: Vec::new() }));
        };
        let Kind::Classic(classic) = &found.kind else { return Ok(None) };
        let mut consumer = ConsumerGroup::new(id.clone());
        let mut records = Vec::new();
        if !classic.is_empty() {
            check_upgrade(classic, id, &self.config)?;
            records = classic.to_consumer_records(&*self.topics, &mut consumer)?;
        }
        Ok(Some(Candidate { group: consumer, id: id.clone(), records }))
    }

    /// Ends the classic group that is there, if there is one, and puts the consumer group in its place.
    pub(super) fn put_in_place(&mut self, now: Now, candidate: Candidate, step: &mut Step) {
        let Candidate { group, id, records } = candidate;
        let Self { groups, config, timers, texts, .. } = self;
        let mut turn = Turn { now, config, timers, texts, step };
        let is_upgrade = !records.is_empty();
        let place = groups.entry(id.clone()).or_insert_with(|| Box::new(Group::consumer(id.clone())));
        if let Kind::Classic(classic) = &mut place.kind {
            classic.dissolve(&mut turn, GroupError::RebalanceInProgress);
            turn.step.records.push(Record::GroupMetadata { group: id.clone(), value: None });
        }
        turn.step.records.extend(records);
        place.kind = Kind::Consumer(group);
        if let Kind::Consumer(group) = &mut place.kind {
            group.resume(&mut turn);
        }
        if is_upgrade {
            step.events.push(ConsumerEvent::Upgraded.of(&id));
        }
    }

    /// Makes an empty consumer group a classic one.
    pub(super) fn make_classic(&mut self, now: Now, group: &str, step: &mut Step) {
        let Some(place) = self.groups.get_mut(group) else { return };
        let Kind::Consumer(consumer) = &place.kind else { return };
        step.records.extend(consumer.tombstones());
        let id = GroupId::from(group);
        step.events.push(ConsumerEvent::Downgraded.of(&id));
        place.kind = Kind::Classic(ClassicGroup::new(id, now.wall.0));
    }

    /// Makes a consumer group a classic one since these were the last members of the consumer protocol.
    pub(super) fn downgrade_without(
        &mut self,
        now: Now,
        group: &str,
        leaving: &BTreeSet<MemberId>,
        step: &mut Step,
    ) {
        let Ok(consumer) = self.consumer_group(group) else { return };
        let classic = consumer.to_classic(now, &*self.topics, |id| leaving.contains(id), None);
        self.put_classic_in_place(now, group, classic, true, step);
    }

    /// The same since a static member of the classic protocol took the place of the last member of the other one.
    pub(super) fn downgrade_replacing(
        &mut self,
        now: Now,
        group: &str,
        downgrade: Downgrade,
        step: &mut Step,
    ) {
        let Ok(consumer) = self.consumer_group(group) else { return };
        let Downgrade { joining: (id, metadata), replaced, needs_rebalance } = downgrade;
        let target = consumer.target_of(&replaced);
        let joining = Joining { id, metadata, target };
        let classic = consumer.to_classic(now, &*self.topics, |id| *id == replaced, Some(joining));
        self.put_classic_in_place(now, group, classic, needs_rebalance, step);
    }

    fn put_classic_in_place(
        &mut self,
        now: Now,
        group: &str,
        classic: ClassicGroup,
        rebalance: bool,
        step: &mut Step,
    ) {
        let Self { groups, config, timers, texts, .. } = self;
        let Some((id, _)) = groups.get_key_value(group) else { return };
        let id = id.clone();
        let mut turn = Turn { now, config, timers, texts, step };
        let Some(place) = groups.get_mut(group) else { return };
        if let Kind::Consumer(consumer) = &mut place.kind {
            turn.step.records.extend(consumer.tombstones());
            consumer.cancel_all_timers(&mut turn);
        }
        turn.step.events.push(ConsumerEvent::Downgraded.of(&id));
        place.kind = Kind::Classic(classic);
        if let Kind::Classic(classic) = &mut place.kind {
            classic.write(&mut turn);
            classic.begin_after_downgrade(&mut turn, rebalance);
        }
    }

    /// The consumer group with this id, for requests of its own protocol that join or stay.
    pub(super) fn consumer_group(&self, group: &str) -> Result<&ConsumerGroup, Refusal> {
        match self.groups.get(group).map(|found| &found.kind) {
            Some(Kind::Consumer(consumer)) => Ok(consumer),
            Some(Kind::Classic(_)) => Err(not_a_consumer_group(group)),
            None => Err(not_found(format!("Consumer group {group} not found."))),
        }
    }

    /// The same for requests that look at what is there.
    pub(super) fn existing_consumer_group(&self, group: &str) -> Result<&ConsumerGroup, Refusal> {
        if self.groups.contains_key(group) {
            return self.consumer_group(group);
        }
        Err(not_found(format!("Group {group} not found.")))
    }
}

impl ConsumerGroup {
    /// Whether the group becomes a classic one without these members.
    pub(super) fn may_downgrade_without(&self, leaving: &BTreeSet<MemberId>, config: &GroupConfig) -> bool {
        let stay = self.members_len() - leaving.len();
        self.classic_members_except(leaving) == stay
            && stay > 0
            && config.consumer.migration_policy.allows_downgrade()
            && stay <= config.group_max_size
    }

    /// Whether the group becomes a classic one once a member of that protocol has taken the place of this one.
    pub(super) fn may_downgrade_replacing(&self, replaced: &MemberId, config: &GroupConfig) -> bool {
        let leaving = BTreeSet::from([replaced.clone()]);
        let others = self.members_len() - 1;
        self.classic_members_len() == others
            && self.classic_members_except(&leaving) == others
            && config.consumer.migration_policy.allows_downgrade()
            && self.members_len() <= config.group_max_size
    }
}

fn check_upgrade(classic: &ClassicGroup, id: &GroupId, config: &GroupConfig) -> Result<(), Refusal> {
    let refuse = |why: &str| {
        Err(not_found(format!("Cannot upgrade classic group {id} to consumer group because {why}.")))
    };
    if !config.consumer.migration_policy.allows_upgrade() {
        return refuse("online upgrade is disabled");
    }
    if !classic.is_of_consumers() {
        return refuse("the group does not use the consumer embedded protocol");
    }
    if classic.members_len() > config.consumer.members_max {
        return refuse("the group size exceeds the consumer group maximum size");
    }
    Ok(())
}

pub(super) fn not_found(message: String) -> Refusal {
    Refusal::new(GroupError::GroupIdNotFound, message)
}

fn not_a_consumer_group(group: &str) -> Refusal {
    not_found(format!("Group {group} is not a consumer group."))
}
