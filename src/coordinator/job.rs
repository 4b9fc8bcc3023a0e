//! Work that is done aside, without the shard: its result comes back as a command.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::command::RegexesResolved;
use super::record::ResolvedRegex;
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
        let mut matched: Vec<_> =
            regexes.iter().map(|regex| (TopicRegex::new(regex).ok(), BTreeSet::<TopicName>::new())).collect();
        topics.for_each_topic(&mut |topic| {
            for (regex, names) in &mut matched {
                if regex.as_ref().is_some_and(|regex| regex.matches(topic.name.as_str())) {
                    names.insert(topic.name.clone());
                }
            }
        });
        let version = topics.number();
        let resolved = |names: BTreeSet<TopicName>| ResolvedRegex {
            topics: names.into_iter().collect(),
            version,
            timestamp_ms,
        };
        let regexes = regexes.into_iter().zip(matched).map(|(regex, (_, names))| (regex, resolved(names)));
        RegexesResolved { group, regexes: regexes.collect() }
    }
}
