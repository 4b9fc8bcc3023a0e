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
use super::subscription::{Draft, Outcome, Subscribers, hash_topics};
use super::{ConsumerGroup, Given};
use crate::topic_regex::TopicRegex;
use crate::types::{GroupId, Now, TopicImage, TopicName};

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
        let Some(group) = self.groups.get_mut(resolved.group.as_str()).and_then(|g| g.consumer_mut()) else {
            return;
        };
        group.resolving = false;
        let outcome = group.decide_resolved(given, &resolved.regexes);
        self.carry_out(now, resolved.group.as_str(), outcome, step);
    }
}

impl ConsumerGroup {
    fn decide_resolved(&self, given: Given<'_>, regexes: &[(Arc<str>, ResolvedRegex)]) -> Outcome {
        let mut outcome = Outcome::default();
        let mut topics = self.topics.clone();
        let mut bump = false;
        for (regex, new) in regexes.iter().filter(|(regex, _)| self.regexes.get(&**regex).is_some()) {
            let old: &[TopicName] = self.resolved.get(&**regex).map_or(&[], |old| &old.topics);
            if *old != *new.topics {
                bump = true;
                for topic in old {
                    topics.entry(topic.clone()).or_default().by_regex -= 1;
                }
                for topic in new.topics.iter() {
                    topics.entry(topic.clone()).or_default().by_regex += 1;
                }
            }
            outcome.records.push(Record::ConsumerGroupRegularExpression {
                group: self.id.clone(),
                regex: regex.clone(),
                value: Some(new.clone()),
            });
        }
        let is_read = |subscribers: &Subscribers| !subscribers.is_nobody();
        let hash =
            hash_topics(&**given.topics, topics.iter().filter(|(_, s)| is_read(s)).map(|(topic, _)| topic));
        if bump || hash != self.metadata_hash {
            let epoch = self.epoch.wrapping_add(1);
            outcome.records.push(self.epoch_record(epoch, hash));
            outcome.events.push(ConsumerEvent::EpochBumped { epoch });
            outcome.topics_seen = Some(given.topics.number());
        }
        outcome
    }
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
