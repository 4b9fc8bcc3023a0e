//! The keys of a topic (`LogConfig`), in the order of their definition, and the broker keys that give their defaults.

use super::{
    CLEANUP_POLICIES, COMPRESSION_TYPES, Key, Kind, LONG_MAX, TIMESTAMP_TYPES, Valid, boolean, double, int,
    list, long, null, string,
};

/// Every topic key of Kafka 4.4.
pub static TOPIC_KEYS: &[Key] = &[
    int("segment.bytes", "1073741824").at_least(1048576),
    long("segment.ms", "604800000").at_least(1),
    long("segment.jitter.ms", "0").at_least(0),
    int("segment.index.bytes", "10485760").at_least(4),
    long("flush.messages", LONG_MAX).at_least(1),
    long("flush.ms", LONG_MAX).at_least(0),
    long("retention.bytes", "-1"),
    long("retention.ms", "604800000").at_least(-1),
    int("max.message.bytes", "1048588").at_least(0),
    int("max.decompressed.message.bytes", "2147483639").between(1, 2147483639),
    int("index.interval.bytes", "4096").at_least(0),
    long("delete.retention.ms", "86400000").at_least(0),
    long("min.compaction.lag.ms", "0").at_least(0),
    long("max.compaction.lag.ms", LONG_MAX).at_least(1),
    long("file.delete.delay.ms", "60000").at_least(0),
    double("min.cleanable.dirty.ratio", "0.5").between(0, 1),
    list("cleanup.policy", "delete").items(CLEANUP_POLICIES),
    boolean("unclean.leader.election.enable", "false"),
    int("min.insync.replicas", "1").at_least(1),
    string("compression.type", "producer").one_of(COMPRESSION_TYPES),
    int("compression.gzip.level", "-1").valid(Valid::GzipLevel),
    int("compression.lz4.level", "9").between(1, 17),
    int("compression.zstd.level", "3").between(-131072, 22),
    boolean("preallocate", "false"),
    string("message.timestamp.type", "CreateTime").one_of(TIMESTAMP_TYPES),
    long("message.timestamp.before.max.ms", LONG_MAX).at_least(0),
    long("message.timestamp.after.max.ms", "3600000").at_least(0),
    list("leader.replication.throttled.replicas", "").valid(Valid::ThrottledReplicas),
    list("follower.replication.throttled.replicas", "").valid(Valid::ThrottledReplicas),
    boolean("remote.storage.enable", "false"),
    long("local.retention.ms", "-2").at_least(-2),
    long("local.retention.bytes", "-2").at_least(-2),
    boolean("remote.log.copy.disable", "false"),
    long("remote.copy.lag.ms", "0").at_least(-1),
    long("remote.copy.lag.bytes", "-1").at_least(-1),
    boolean("remote.log.delete.on.disable", "false"),
    boolean("errors.deadletterqueue.group.enable", "false"),
    null(Kind::Int, "internal.segment.bytes").internal(),
];

/// A broker key that gives the default of a topic key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicSynonym {
    /// The broker key.
    pub name: &'static str,
    /// What its value counts.
    pub unit: Unit,
}

/// What the value of a broker key counts, measured in the unit of its topic key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The same.
    Same,
    /// Minutes for milliseconds.
    Minutes,
    /// Hours for milliseconds.
    Hours,
}

impl Unit {
    /// How many of the topic key's units one of these is.
    #[must_use]
    pub const fn factor(self) -> i64 {
        match self {
            Self::Same => 1,
            Self::Minutes => 60_000,
            Self::Hours => 3_600_000,
        }
    }
}

/// The broker keys that give the default of topic key `name`, the strongest first
/// (`ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS`). Empty if there is none.
#[must_use]
pub fn topic_key_broker_synonyms(name: &str) -> &'static [TopicSynonym] {
    match TOPIC_SYNONYMS.binary_search_by(|(key, _)| (*key).cmp(name)) {
        Ok(at) => TOPIC_SYNONYMS[at].1,
        Err(_) => &[],
    }
}

const fn same(name: &'static str) -> TopicSynonym {
    TopicSynonym { name, unit: Unit::Same }
}

const fn minutes(name: &'static str) -> TopicSynonym {
    TopicSynonym { name, unit: Unit::Minutes }
}

const fn hours(name: &'static str) -> TopicSynonym {
    TopicSynonym { name, unit: Unit::Hours }
}

const TOPIC_SYNONYMS: &[(&str, &[TopicSynonym])] = &[
    ("cleanup.policy", &[same("log.cleanup.policy")]),
    ("compression.gzip.level", &[same("compression.gzip.level")]),
    ("compression.lz4.level", &[same("compression.lz4.level")]),
    ("compression.type", &[same("compression.type")]),
    ("compression.zstd.level", &[same("compression.zstd.level")]),
    ("delete.retention.ms", &[same("log.cleaner.delete.retention.ms")]),
    ("file.delete.delay.ms", &[same("log.segment.delete.delay.ms")]),
    ("flush.messages", &[same("log.flush.interval.messages")]),
    ("flush.ms", &[same("log.flush.interval.ms"), same("log.flush.scheduler.interval.ms")]),
    ("index.interval.bytes", &[same("log.index.interval.bytes")]),
    ("local.retention.bytes", &[same("log.local.retention.bytes")]),
    ("local.retention.ms", &[same("log.local.retention.ms")]),
    ("max.compaction.lag.ms", &[same("log.cleaner.max.compaction.lag.ms")]),
    ("max.decompressed.message.bytes", &[same("max.decompressed.message.bytes")]),
    ("max.message.bytes", &[same("message.max.bytes")]),
    ("message.timestamp.after.max.ms", &[same("log.message.timestamp.after.max.ms")]),
    ("message.timestamp.before.max.ms", &[same("log.message.timestamp.before.max.ms")]),
    ("message.timestamp.type", &[same("log.message.timestamp.type")]),
    ("min.cleanable.dirty.ratio", &[same("log.cleaner.min.cleanable.ratio")]),
    ("min.compaction.lag.ms", &[same("log.cleaner.min.compaction.lag.ms")]),
    ("min.insync.replicas", &[same("min.insync.replicas")]),
    ("preallocate", &[same("log.preallocate")]),
    ("remote.copy.lag.bytes", &[same("log.remote.copy.lag.bytes")]),
    ("remote.copy.lag.ms", &[same("log.remote.copy.lag.ms")]),
    ("retention.bytes", &[same("log.retention.bytes")]),
    (
        "retention.ms",
        &[same("log.retention.ms"), minutes("log.retention.minutes"), hours("log.retention.hours")],
    ),
    ("segment.bytes", &[same("log.segment.bytes")]),
    ("segment.index.bytes", &[same("log.index.size.max.bytes")]),
    ("segment.jitter.ms", &[same("log.roll.jitter.ms"), hours("log.roll.jitter.hours")]),
    ("segment.ms", &[same("log.roll.ms"), hours("log.roll.hours")]),
    ("unclean.leader.election.enable", &[same("unclean.leader.election.enable")]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::{broker_key, topic_key};

    #[test]
    fn synonyms_are_found_and_name_keys_that_exist() {
        assert!(TOPIC_SYNONYMS.is_sorted_by(|a, b| a.0 < b.0));
        for (topic, synonyms) in TOPIC_SYNONYMS {
            assert!(topic_key(topic).is_some(), "{topic}");
            assert_eq!(topic_key_broker_synonyms(topic), *synonyms);
            for synonym in *synonyms {
                assert!(broker_key(synonym.name).is_some(), "{}", synonym.name);
            }
        }
        assert!(topic_key_broker_synonyms("remote.storage.enable").is_empty());
    }
}
