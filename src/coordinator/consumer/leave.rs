//! Members go: by themselves, for a while, or since they were not heard of.
//!
//! Source: GroupMetadataManager.consumerGroupLeave, consumerGroupStaticMemberGroupLeave, consumerGroupFenceMembers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::command::ConsumerGroupHeartbeat;
use super::super::consumer_event::{ConsumerEvent, Departure};
use super::super::error::Refusal;
use super::super::record::{CurrentAssignment, OwnedPartition, Record};
use super::super::reply::ConsumerHeartbeat;
use super::super::{Coordinator, Step};
use super::member::{self, Member};
use super::subscription::{Outcome, hash_topics};
use super::{ConsumerGroup, Given};
use crate::types::{MemberId, Now};

impl Coordinator {
    /// A member goes (-1).
    pub(super) fn consumer_group_leave(
        &mut self,
        now: Now,
        heartbeat: &ConsumerGroupHeartbeat<'_>,
        step: &mut Step,
    ) -> Result<ConsumerHeartbeat, Refusal> {
        let member = self.existing_consumer_group(heartbeat.group)?.leaver(heartbeat)?.id.clone();
        self.fence(now, heartbeat.group, vec![(member.clone(), Departure::Left)], step);
        Ok(ConsumerHeartbeat::gone(member, -1))
    }

    /// A static member goes and comes back (-2): it keeps its place and its partitions until its session is over.
    pub(super) fn consumer_group_leave_for_now(
        &mut self,
        now: Now,
        heartbeat: &ConsumerGroupHeartbeat<'_>,
        step: &mut Step,
    ) -> Result<ConsumerHeartbeat, Refusal> {
        let group = self.existing_consumer_group(heartbeat.group)?;
        let member = group.leaver(heartbeat)?;
        let id = member.id.clone();
        let away = CurrentAssignment {
            epoch: CurrentAssignment::LEFT_FOR_NOW,
            assigned: member
                .current
                .assigned
                .iter()
                .map(|o| OwnedPartition { since_epoch: 0, ..*o })
                .collect(),
            pending_revocation: Vec::new(),
            ..member.current.clone()
        };
        let outcome = Outcome {
            records: vec![member::current_record(&group.id, &id, away)],
            events: vec![ConsumerEvent::left(member, Departure::LeftForNow)],
            ..Outcome::default()
        };
        self.carry_out(now, heartbeat.group, outcome, step);
        Ok(ConsumerHeartbeat::gone(id, CurrentAssignment::LEFT_FOR_NOW))
    }

    /// Takes members out; when only members of the classic protocol are left, the group becomes a classic one.
    pub(super) fn fence(
        &mut self,
        now: Now,
        group: &str,
        members: Vec<(MemberId, Departure)>,
        step: &mut Step,
    ) {
        let Ok(found) = self.consumer_group(group) else { return };
        let events = members.iter().filter_map(|(id, why)| {
            found.member(id.as_str()).map(|member| ConsumerEvent::left(member, *why).of(&found.id))
        });
        step.events.extend(events);
        let ids: BTreeSet<MemberId> = members.into_iter().map(|(id, _)| id).collect();
        if found.may_downgrade_without(&ids, &self.config) {
            return self.downgrade_without(now, group, &ids, step);
        }
        let given = Given { now, config: &self.config, topics: &self.topics };
        let outcome = found.decide_fence(given, &ids);
        self.carry_out(now, group, outcome, step);
    }
}

impl ConsumerGroup {
    /// The member that wants to go.
    fn leaver(&self, heartbeat: &ConsumerGroupHeartbeat<'_>) -> Result<&Member, Refusal> {
        let id = heartbeat.member.unwrap_or_default();
        match heartbeat.instance {
            None => self.member(id).ok_or_else(|| self.no_member(id)),
            Some(instance) => self.check_holder(self.static_member(instance), id, instance),
        }
    }

    /// The epoch goes up, and the next heartbeat computes who gets what is free; without members nobody is to have
    /// anything, at that epoch.
    fn decide_fence(&self, given: Given<'_>, members: &BTreeSet<MemberId>) -> Outcome {
        let mut outcome = Outcome::default();
        let gone: Vec<&Member> = members.iter().filter_map(|id| self.member(id.as_str())).collect();
        if gone.is_empty() {
            return outcome;
        }
        let mut topics = self.topics.clone();
        let mut regexes: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
        for member in &gone {
            outcome.records.extend(member::tombstones(&self.id, &member.id));
            for topic in member.metadata.topics.iter() {
                topics.entry(topic.clone()).or_default().by_name -= 1;
            }
            member.metadata.regex.iter().for_each(|regex| *regexes.entry(regex).or_default() += 1);
        }
        for (regex, _) in
            regexes.into_iter().filter(|(regex, count)| self.regexes.get(&***regex) == Some(count))
        {
            let (group, regex) = (self.id.clone(), regex.clone());
            for topic in self.resolved.get(&*regex).iter().flat_map(|resolved| resolved.topics.iter()) {
                topics.entry(topic.clone()).or_default().by_regex -= 1;
            }
            outcome.records.push(Record::ConsumerGroupRegularExpression { group, regex, value: None });
        }
        let read = topics.iter().filter(|(_, subscribers)| !subscribers.is_nobody()).map(|(topic, _)| topic);
        let epoch = self.epoch.wrapping_add(1);
        outcome.records.push(self.epoch_record(epoch, hash_topics(&**given.topics, read)));
        outcome.events.push(ConsumerEvent::EpochBumped { epoch });
        if gone.len() == self.members.len() {
            outcome.records.push(self.target_metadata_record(epoch, 0));
        }
        outcome
    }
}

impl ConsumerEvent {
    pub(super) fn left(member: &Member, why: Departure) -> Self {
        Self::MemberGone {
            member: member.id.clone(),
            instance: member.metadata.instance.clone(),
            epoch: member.current.epoch,
            why,
        }
    }
}
