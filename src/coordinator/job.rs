//! Work that is done aside, without the shard: its result comes back as a command.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::command::RegexesResolved;
use super::record::ResolvedRegex;
use crate::limits::REGEX_MATCHES_PER_GROUP_MAX;
use crate::topic_regex::TopicRegex;
use crate::types::{GroupId, TopicImage, TopicName};

/// What a shard wants to be done.
#[derive(Clone, Debug)]
pub enum Job {
    /// Look which topics match, which takes as long as there are topics.
    ResolveRegexes {
        /// The group that asks.
        group: GroupId,
        /// What its members wrote.
        regexes: Vec<Arc<str>>,
        /// The topics to look at.
        topics: Arc<dyn TopicImage>,
        /// Wall-clock milliseconds of the question.
        timestamp_ms: i64,
    },
}

impl Job {
    /// Does it, and gives what is to be submitted as [`Command::RegexesResolved`](super::command::Command).
    /// Source: kafka TopicRegexResolver.
    #[must_use]
    pub fn run(self) -> RegexesResolved {
        let Self::ResolveRegexes { group, regexes, topics, timestamp_ms } = self;
        let version = topics.number();
        let mut room = REGEX_MATCHES_PER_GROUP_MAX;
        let (mut resolved, mut excessive) = (Vec::with_capacity(regexes.len()), Vec::new());
        // One after the other: compiled, each may take a megabyte and more.
        for regex in regexes {
            let matched = matching(&regex, &*topics, room).unwrap_or_else(|| {
                excessive.push(regex.clone());
                BTreeSet::new()
            });
            room -= matched.len();
            let topics = matched.into_iter().collect();
            resolved.push((regex, ResolvedRegex { topics, version, timestamp_ms }));
        }
        RegexesResolved { group, regexes: resolved, excessive }
    }

    /// What is to be submitted if it could not be done: nothing is known, and the next heartbeat asks again.
    #[must_use]
    pub fn given_up(group: GroupId) -> RegexesResolved {
        RegexesResolved { group, regexes: Vec::new(), excessive: Vec::new() }
    }

    /// The group that asks.
    #[must_use]
    pub const fn group(&self) -> &GroupId {
        let Self::ResolveRegexes { group, .. } = self;
        group
    }
}

/// The topics that match, unless there is no room for so many.
// Differs from Kafka: what the regular expressions of a group match is bounded; one that matches more matches nothing.
fn matching(regex: &str, topics: &dyn TopicImage, room: usize) -> Option<BTreeSet<TopicName>> {
    let mut names = BTreeSet::new();
    let Ok(regex) = TopicRegex::new(regex) else { return Some(names) };
    let mut is_too_much = false;
    topics.for_each_topic(&mut |topic| {
        if !is_too_much && regex.matches(topic.name.as_str()) {
            is_too_much = names.len() == room;
            names.insert(topic.name.clone());
        }
    });
    (!is_too_much).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::super::command::{Command, ConsumerGroupHeartbeat, ConsumerSettings, HeartbeatIntent};
    use super::super::{Coordinator, GroupConfig, Step};
    use super::*;
    use crate::types::{Now, ReplyTo};

    fn jobs_of_a_heartbeat(shard: &mut Coordinator) -> Vec<Job> {
        let mut step = Step::default();
        let heartbeat = ConsumerGroupHeartbeat {
            group: "g",
            member: Some("m"),
            intent: HeartbeatIntent::Join,
            instance: None,
            rack: None,
            client_id: "c",
            client_host: "/127.0.0.1",
            rebalance_timeout_ms: Some(1_000),
            topics: None,
            regex: Some("t.*"),
            assignor: None,
            owned: Some(&[]),
            settings: ConsumerSettings::default(),
            random: 1,
        };
        shard.submit(Now::default(), ReplyTo(1), Command::ConsumerGroupHeartbeat(heartbeat), &mut step);
        step.jobs
    }

    #[test]
    fn what_was_given_up_is_asked_for_again() {
        let mut shard = Coordinator::new(GroupConfig::default(), Now::default());
        let mut jobs = jobs_of_a_heartbeat(&mut shard);
        assert_eq!(jobs.len(), 1);
        assert_eq!(jobs_of_a_heartbeat(&mut shard).len(), 0, "it is being done");
        let group = jobs.remove(0).group().clone();
        let given_up = Command::RegexesResolved(Job::given_up(group));
        shard.submit(Now::default(), ReplyTo(2), given_up, &mut Step::default());
        assert_eq!(jobs_of_a_heartbeat(&mut shard).len(), 1, "nothing came of it");
    }
}
