//! Subscriptions by regular expression: which topics match is found out aside, and again when topics come.
//!
//! Source: GroupMetadataManager.maybeUpdateRegularExpressions, handleRegularExpressionsResult.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::command::RegexesResolved;
use super::super::consumer_event::ConsumerEvent;
use super::super::error::{GroupError, Refusal};
use super::super::job::Job;
use super::super::record::{Record, ResolvedRegex};
use super::super::{Coordinator, Step};
use super::member::TOPIC_BYTES;
use super::subscription::{Draft, Outcome, hash_topics};
use super::{ConsumerGroup, Given};
use crate::limits::REGEXES_PER_GROUP_MAX;
use crate::topic_regex::TopicRegex;
use crate::types::{GroupId, Now, TopicImage};

/// Milliseconds between two looks at the topics, as in Kafka.
const REFRESH_INTERVAL_MIN_MS: i64 = 10_000;

/// What a request did to the expression of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegexUpdate {
    Unchanged,
    /// Changed, and what it matches is not known yet.
    Changed,
    /// Changed to one whose topics are known, or to none.
    Resolved,
}

impl RegexUpdate {
    pub(super) fn is_changed(self) -> bool {
        self != Self::Unchanged
    }

    pub(super) fn is_resolved(self) -> bool {
        self == Self::Resolved
    }
}

impl Draft<'_> {
    /// Looks what the member's expression means for the group.
    pub(super) fn update_regex(&mut self) -> Result<RegexUpdate, Refusal> {
        let (old, new) = (self.before.metadata.regex.clone(), self.after.regex.clone());
        let mut update = RegexUpdate::Unchanged;
        let mut is_due = false;
        if old != new {
            update = RegexUpdate::Changed;
            let members = |regex: &Arc<str>| self.group.regexes.get(&**regex).copied().unwrap_or(0);
            if let Some(old) = old.as_ref().filter(|old| members(old) == 1) {
                let (group, regex) = (self.group.id.clone(), old.clone());
                self.outcome.records.push(Record::ConsumerGroupRegularExpression {
                    group,
                    regex,
                    value: None,
                });
            }
            match &new {
                Some(new) if members(new) == 0 => {
                    self.group.check_regex(new)?;
                    self.check_regex_count()?;
                    is_due = true;
                }
                Some(new) if self.group.resolved.get(&**new).is_some() => update = RegexUpdate::Resolved,
                Some(_) => {}
                None => update = RegexUpdate::Resolved,
            }
        }
        self.maybe_resolve(is_due, old.as_ref(), new.as_ref());
        Ok(update)
    }

    /// Whether the group may have one more expression.
    // Differs from Kafka: a group has at most 100 different regular expressions.
    fn check_regex_count(&self) -> Result<(), Refusal> {
        if self.group.regexes.len() < REGEXES_PER_GROUP_MAX {
            return Ok(());
        }
        let message = format!("The group has {REGEXES_PER_GROUP_MAX} different regular expressions already.");
        Err(Refusal::new(GroupError::GroupMaxSizeReached, message))
    }

    /// Has the expressions resolved if that is due, and not more often than every ten seconds.
    fn maybe_resolve(&mut self, is_due: bool, old: Option<&Arc<str>>, new: Option<&Arc<str>>) {
        let (group, given) = (self.group, self.given);
        if (!is_due && group.regexes.is_empty()) || group.resolving {
            return;
        }
        let last = group.resolved.values().next();
        let last_ms = last.map_or(i64::MIN, |resolved| resolved.timestamp_ms);
        let now_ms = given.now.wall.0;
        if now_ms <= last_ms.saturating_add(REFRESH_INTERVAL_MIN_MS) && last.is_some() {
            return;
        }
        let mut members: BTreeMap<&Arc<str>, usize> =
            group.regexes.as_slice().iter().map(|(regex, count)| (regex, *count)).collect();
        if let Some(count) = old.and_then(|old| members.get_mut(old)) {
            *count -= 1;
        }
        if let Some(new) = new {
            *members.entry(new).or_default() += 1;
        }
        let wanted: Vec<Arc<str>> =
            members.into_iter().filter(|(_, count)| *count > 0).map(|(regex, _)| regex.clone()).collect();
        let refresh_ms = given.config.consumer.regex_refresh_interval_ms;
        let is_due = is_due
            || wanted.len() != group.resolved.len()
            || last.map_or(0, |resolved| resolved.version) < given.topics.newest_topic()
            || now_ms > last_ms.saturating_add(refresh_ms);
        if is_due {
            self.outcome.to_resolve = wanted;
        }
    }
}

impl Coordinator {
    /// Takes what was found out aside.
    pub(in super::super) fn regexes_resolved(
        &mut self,
        now: Now,
        resolved: RegexesResolved,
        step: &mut Step,
    ) {
        let given = Given { now, config: &self.config, topics: &self.topics };
        let RegexesResolved { group: id, mut regexes, excessive } = resolved;
        let Some(group) = self.groups.get_mut(id.as_str()).and_then(|g| g.consumer_mut()) else {
            return;
        };
        group.resolving = false;
        let refused = group.forget_beyond(given.config.bytes_left, &mut regexes);
        let is_changed = group.is_changed_by(&regexes);
        let excessive = excessive.into_iter().chain(refused);
        let events = excessive.map(|regex| ConsumerEvent::RegexExcessive { regex }).collect();
        let outcome = Outcome { records: group.resolved_records(regexes), events, ..Outcome::default() };
        self.carry_out(now, id.as_str(), outcome, step);
        let given = Given { now, config: &self.config, topics: &self.topics };
        let group = self.groups.get(id.as_str()).and_then(|group| group.as_consumer());
        if let Some(outcome) = group.and_then(|group| group.decide_epoch(given, is_changed)) {
            self.carry_out(now, id.as_str(), outcome, step);
        }
    }
}

impl ConsumerGroup {
    /// Has those match nothing for whose topics there is no memory; which ones those are.
    // Differs from Kafka: what all groups take together is bounded.
    fn forget_beyond(&self, bytes_left: usize, regexes: &mut [(Arc<str>, ResolvedRegex)]) -> Vec<Arc<str>> {
        let mut left = bytes_left;
        let mut refused = Vec::new();
        for (regex, new) in regexes {
            let known = self.resolved.get(&**regex).map_or(0, resolved_bytes);
            let more = resolved_bytes(new).saturating_sub(known);
            match left.checked_sub(more) {
                Some(rest) => left = rest,
                None => {
                    new.topics = Arc::default();
                    refused.push(regex.clone());
                }
            }
        }
        refused
    }

    /// Whether an expression that a member still has matches something else than before.
    fn is_changed_by(&self, regexes: &[(Arc<str>, ResolvedRegex)]) -> bool {
        regexes.iter().any(|(regex, new)| {
            let old = self.resolved.get(&**regex).map_or(&[][..], |old| &old.topics);
            self.regexes.get(&**regex).is_some() && *old != *new.topics
        })
    }

    /// What is to be written of those that a member still has.
    fn resolved_records(&self, mut regexes: Vec<(Arc<str>, ResolvedRegex)>) -> Vec<Record> {
        regexes.retain(|(regex, _)| self.regexes.get(&**regex).is_some());
        let record = |(regex, new)| Record::ConsumerGroupRegularExpression {
            group: self.id.clone(),
            regex,
            value: Some(new),
        };
        regexes.into_iter().map(record).collect()
    }

    /// The next epoch, if `is_changed` says that there is to be one, or if the topics are not what they were.
    fn decide_epoch(&self, given: Given<'_>, is_changed: bool) -> Option<Outcome> {
        let hash = hash_topics(&**given.topics, self.topics.keys());
        if !is_changed && hash == self.metadata_hash {
            return None;
        }
        let epoch = self.epoch.wrapping_add(1);
        Some(Outcome {
            records: vec![self.epoch_record(epoch, hash)],
            events: vec![ConsumerEvent::EpochBumped { epoch }],
            topics_seen: Some(given.topics.number()),
            ..Outcome::default()
        })
    }
}

/// What the topics that an expression matches take in memory, in bytes.
pub(super) fn resolved_bytes(resolved: &ResolvedRegex) -> usize {
    TOPIC_BYTES * resolved.topics.len()
}

/// Whether RE2 takes the expression.
pub(super) fn check(regex: &str) -> Result<(), Refusal> {
    TopicRegex::new(regex).map(drop).map_err(|error| {
        let message = format!("SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}.");
        Refusal::new(GroupError::InvalidRegularExpression, message)
    })
}

pub(super) fn job(group: &GroupId, regexes: Vec<Arc<str>>, topics: Arc<dyn TopicImage>, now: Now) -> Job {
    Job::ResolveRegexes { group: group.clone(), regexes, topics, timestamp_ms: now.wall.0 }
}
