//! What a topic is told: its own configs over the broker's defaults (Kafka's `LogConfig`).

use std::collections::BTreeMap;

use super::keys::{self, topic_key, topic_key_broker_synonyms};
use super::value::{self, Value};
use super::{Config, ConfigError, FromValue, Sources};
use crate::catalog::{Overrides, name};

/// What happens to old records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanupPolicy {
    /// Keep the latest value of each key.
    pub compact: bool,
    /// Remove what is past `retention.ms` or `retention.bytes`.
    pub delete: bool,
}

/// Whose clock stamps a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimestampType {
    /// The producer's.
    CreateTime,
    /// The broker's.
    LogAppendTime,
}

/// A topic that exists from the start on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicAtStart {
    /// A legal topic name.
    pub name: String,
    /// At least 1; `None` takes `num.partitions`.
    pub partitions: Option<i32>,
    /// A value of `cleanup.policy`; `None` takes the default.
    pub cleanup_policy: Option<String>,
}

/// Declares [`TopicConfig`] and how it is read, so that a field and its key stand in one place.
macro_rules! topic_config {
    ($($(#[doc = $doc:literal])+ $field:ident: $kind:ty = $key:literal,)*) => {
        /// The configuration of a topic. A field bears the name of its key, `.` written as `_`.
        #[derive(Clone, Debug, PartialEq)]
        pub struct TopicConfig {
            $($(#[doc = $doc])+ pub $field: $kind,)*
        }

        /// The topic keys that [`TopicConfig`] reads, and what they are for.
        const KEYS_WITH_FIELD: &[(&str, &str)] = &[$(($key, concat!($($doc),+))),*];

        impl TopicConfig {
            /// The defaults that the broker's configuration gives to its topics.
            pub(super) fn defaults(sources: &Sources) -> Result<Self, ConfigError> {
                Ok(Self { $($field: <$kind>::from_value(default_value($key, sources)?),)* })
            }

            /// This configuration with what a topic sets of its own.
            fn overridden(mut self, own: &BTreeMap<&str, Value>) -> Self {
                $(if let Some(value) = own.get($key) {
                    self.$field = <$kind>::from_value(Some(value.clone()));
                })*
                self
            }
        }
    };
}

topic_config! {
    /// What happens to old records.
    cleanup_policy: CleanupPolicy = "cleanup.policy",
    /// `producer` keeps batches as they come.
    compression_type: String = "compression.type",
    /// How long a tombstone outlives compaction. Milliseconds.
    delete_retention_ms: i64 = "delete.retention.ms",
    /// Records older than this are compacted whatever the ratio says. Milliseconds.
    max_compaction_lag_ms: i64 = "max.compaction.lag.ms",
    /// The most bytes that a batch may have.
    max_message_bytes: i32 = "max.message.bytes",
    /// How far ahead of the broker's clock a producer's timestamp may be. Milliseconds.
    message_timestamp_after_max_ms: i64 = "message.timestamp.after.max.ms",
    /// How far behind the broker's clock a producer's timestamp may be. Milliseconds.
    message_timestamp_before_max_ms: i64 = "message.timestamp.before.max.ms",
    /// Whose clock stamps a record.
    message_timestamp_type: TimestampType = "message.timestamp.type",
    /// How much of a partition has to be new before it is compacted.
    min_cleanable_dirty_ratio: f64 = "min.cleanable.dirty.ratio",
    /// Records younger than this are not compacted. Milliseconds.
    min_compaction_lag_ms: i64 = "min.compaction.lag.ms",
    /// Replicas that must have a record before `acks=all` is answered, at least 1.
    min_insync_replicas: i32 = "min.insync.replicas",
    /// The most bytes of a partition; -1 for no limit.
    retention_bytes: i64 = "retention.bytes",
    /// How long records are kept. Milliseconds; -1 for ever.
    retention_ms: i64 = "retention.ms",
    /// The most bytes of a segment: retention removes whole segments.
    segment_bytes: i32 = "segment.bytes",
    /// A segment is closed after so long. Milliseconds, at least 1.
    segment_ms: i64 = "segment.ms",
}

impl TopicConfig {
    /// What applies to a topic with these configs of its own. Keys and values that Kafka does not know
    /// are left out: they were refused when they were set.
    #[must_use]
    pub fn of(config: &Config, overrides: &Overrides) -> Self {
        let known = |(key, text)| {
            let key = topic_key(key)?;
            Some((key.name, value::parse(key, text).ok()?))
        };
        let own =
            overrides.iter().map(|(key, text)| (key.as_ref(), text.as_ref())).filter_map(known).collect();
        config.topic_defaults.clone().overridden(&own)
    }
}

impl TopicAtStart {
    /// Reads `NAME[:PARTITIONS]`.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, partitions) = match text.split_once(':') {
            Some((name, partitions)) => (name, Some(parse_partitions(partitions)?)),
            None => (text, None),
        };
        name::validate(name)?;
        Ok(Self { name: name.to_owned(), partitions, cleanup_policy: None })
    }

    /// Reads `NAME:PARTITIONS:REPLICATION_FACTOR[:CLEANUP_POLICY]`, as `KAFKA_CREATE_TOPICS` has it.
    /// There is one broker, so the replication factor only has to be a number.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn parse_with_replication_factor(text: &str) -> Result<Self, String> {
        let mut parts = text.trim().splitn(4, ':');
        let topic = match (parts.next(), parts.next()) {
            (Some(name), Some(partitions)) => Self::parse(&format!("{name}:{partitions}"))?,
            _ => Self::parse(text.trim())?,
        };
        if let Some(factor) = parts.next() {
            let is_count = factor.parse::<i16>().is_ok_and(|factor| factor >= 1);
            if !is_count {
                return Err(format!(
                    "the replication factor of a topic must be a number from 1, not '{factor}'"
                ));
            }
        }
        let Some(policy) = parts.next() else { return Ok(topic) };
        let key = topic_key("cleanup.policy").expect("a known key");
        // Some write a policy with `+` for the comma, which separates topics.
        let policy = policy.replace('+', ",");
        value::parse(key, &policy).map_err(|error| error.to_string())?;
        Ok(Self { cleanup_policy: Some(policy), ..topic })
    }
}

/// What topic key `name` is for, if it changes anything here.
pub(super) fn documentation(name: &str) -> Option<&'static str> {
    KEYS_WITH_FIELD.iter().find(|(key, _)| *key == name).map(|(_, text)| text.trim())
}

/// What broker key `name` is for, if it gives the default of a topic key that changes anything here.
pub(super) fn broker_key_documentation(name: &str) -> Option<&'static str> {
    let gives_default = |key: &str| topic_key_broker_synonyms(key).iter().any(|synonym| synonym.name == name);
    KEYS_WITH_FIELD.iter().find(|(key, _)| gives_default(key)).map(|(_, text)| text.trim())
}

fn parse_partitions(text: &str) -> Result<i32, String> {
    match text.parse() {
        Ok(partitions) if partitions >= 1 => Ok(partitions),
        _ => Err(format!("the number of partitions of a topic must be at least 1, not '{text}'")),
    }
}

/// The default of a topic key: that of the strongest broker key that has a value, in the topic key's unit.
pub(super) fn default_value(name: &str, sources: &Sources) -> Result<Option<Value>, ConfigError> {
    for synonym in topic_key_broker_synonyms(name) {
        match sources.effective(synonym.name)? {
            Some(Value::Number(number)) => return Ok(Some(Value::Number(converted(number, synonym.unit)))),
            Some(value) => return Ok(Some(value)),
            None => {}
        }
    }
    let key = topic_key(name).ok_or_else(|| ConfigError::unknown_key(name))?;
    key.default.map(|text| value::parse(key, text).map_err(ConfigError::from)).transpose()
}

/// The value of a broker key in the unit of its topic key.
pub(super) fn converted(number: i64, unit: keys::Unit) -> i64 {
    match unit {
        keys::Unit::Same => number,
        // Kafka takes every negative time as "for ever".
        keys::Unit::Minutes | keys::Unit::Hours if number < 0 => -1,
        keys::Unit::Minutes | keys::Unit::Hours => number.saturating_mul(unit.factor()),
    }
}

impl FromValue for CleanupPolicy {
    fn from_value(value: Option<Value>) -> Self {
        let items = Vec::<String>::from_value(value);
        let has = |policy: &str| items.iter().any(|item| item == policy);
        Self { compact: has("compact"), delete: has("delete") }
    }
}

impl FromValue for TimestampType {
    fn from_value(value: Option<Value>) -> Self {
        match value {
            Some(Value::Text(text)) if text == "LogAppendTime" => Self::LogAppendTime,
            _ => Self::CreateTime,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(pairs: &[(&str, &str)]) -> Overrides {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    #[test]
    fn a_topic_overrides_what_the_broker_says() {
        let config = Config::with(&[("log.retention.bytes", "7"), ("message.max.bytes", "9")]).unwrap();
        let own = overrides(&[("retention.bytes", "8"), ("cleanup.policy", "compact"), ("no.such.key", "1")]);
        let topic = TopicConfig::of(&config, &own);
        assert_eq!((topic.retention_bytes, topic.max_message_bytes), (8, 9));
        assert_eq!(topic.cleanup_policy, CleanupPolicy { compact: true, delete: false });
        assert_eq!(config.topic_defaults.cleanup_policy, CleanupPolicy { compact: false, delete: true });
    }

    #[test]
    fn retention_comes_from_the_finest_unit_that_is_set() {
        let retention_ms =
            |settings: &[(&str, &str)]| Config::with(settings).unwrap().topic_defaults.retention_ms;
        assert_eq!(retention_ms(&[]), 604_800_000);
        assert_eq!(retention_ms(&[("log.retention.hours", "1")]), 3_600_000);
        assert_eq!(retention_ms(&[("log.retention.hours", "1"), ("log.retention.minutes", "2")]), 120_000);
        assert_eq!(retention_ms(&[("log.retention.minutes", "2"), ("log.retention.ms", "5")]), 5);
        assert_eq!(retention_ms(&[("log.retention.hours", "-5")]), -1);
    }

    #[test]
    fn topics_at_start_are_read() {
        let topic = |name: &str, partitions| {
            Ok(TopicAtStart { name: name.to_owned(), partitions, cleanup_policy: None })
        };
        assert_eq!(TopicAtStart::parse("orders"), topic("orders", None));
        assert_eq!(TopicAtStart::parse("orders:6"), topic("orders", Some(6)));
        assert_eq!(TopicAtStart::parse_with_replication_factor(" orders:6:1"), topic("orders", Some(6)));
        for bad in ["", "a:0", "a:x", "a:", "a/b", "a:1:1"] {
            assert!(TopicAtStart::parse(bad).is_err(), "{bad}");
        }
        let compacted = TopicAtStart::parse_with_replication_factor("a:1:3:compact+delete").unwrap();
        assert_eq!(compacted.cleanup_policy.as_deref(), Some("compact,delete"));
        for bad in ["a:1:0", "a:1:x", "a:1:1:shred", ":1:1"] {
            assert!(TopicAtStart::parse_with_replication_factor(bad).is_err(), "{bad}");
        }
    }
}
