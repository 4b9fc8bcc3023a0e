//! Every configuration key that Kafka 4.4 defines, with its type, default, valid values and update mode.
//!
//! Whether a key has an effect here is not written in these tables: it has one exactly when
//! [`super::Config`] or [`super::TopicConfig`] reads it.
//! Source: Kafka's `AbstractKafkaConfig`, `LogConfig`, `GroupConfig`, `ClientMetricsConfigs`, `DynamicBrokerConfig`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

mod broker;
mod client_metrics;
mod group;
mod topic;

pub use broker::{BROKER_KEYS, BROKER_QUOTA_KEYS};
pub use client_metrics::CLIENT_METRICS_KEYS;
pub use group::{GROUP_KEYS, group_key_broker_synonym};
pub use topic::{TOPIC_KEYS, TopicSynonym, Unit, topic_key_broker_synonyms};

/// One configuration key, as Kafka's `ConfigDef.ConfigKey` describes it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name as users write it.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default as text; `None` is null.
    pub default: Option<&'static str>,
    /// What a value must fulfil beyond its type.
    pub valid: Valid,
    /// How it can be changed while the broker runs.
    pub mode: UpdateMode,
    /// Accepted, but not listed by DescribeConfigs unless it is set.
    pub internal: bool,
}

/// The type of a value (Kafka's `ConfigDef.Type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`, in any case.
    Boolean,
    /// Any text.
    String,
    /// 32 bits.
    Int,
    /// 16 bits.
    Short,
    /// 64 bits.
    Long,
    /// A floating-point number.
    Double,
    /// Texts separated by commas.
    List,
    /// The name of a Java class.
    Class,
    /// Text that is never shown.
    Password,
}

impl Kind {
    /// The word that Kafka's messages use for the type.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::String => "STRING",
            Self::Int => "INT",
            Self::Short => "SHORT",
            Self::Long => "LONG",
            Self::Double => "DOUBLE",
            Self::List => "LIST",
            Self::Class => "CLASS",
            Self::Password => "PASSWORD",
        }
    }
}

/// What a value must fulfil beyond its type (Kafka's `ConfigDef.Validator`).
#[derive(Clone, Copy, Debug)]
pub enum Valid {
    /// Every value of the type.
    Any,
    /// A number from `min` to `max`, both included.
    Range { min: f64, max: Option<f64> },
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// One of these texts in any case.
    OneOfIgnoringCase(&'static [&'static str]),
    /// A text that is not empty.
    NotEmpty,
    /// Distinct items that are not empty; one of `items` each, if that is not empty.
    Items { items: &'static [&'static str], may_be_empty: bool },
    /// -1 or a gzip level from 1 to 9.
    GzipLevel,
    /// `*`, or pairs `partition:broker`.
    ThrottledReplicas,
    /// `earliest`, `latest` or `by_duration:` with an ISO 8601 duration.
    AutoOffsetReset,
}

/// How a broker key can be changed while the broker runs (Kafka's `DynamicBrokerConfig`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateMode {
    /// Only at start.
    ReadOnly,
    /// For the whole cluster, or for one broker.
    ClusterWide,
    /// Only for one broker.
    PerBroker,
}

/// A table of keys, to look up by name.
type Index = LazyLock<BTreeMap<&'static str, &'static Key>>;

macro_rules! lookup {
    ($(#[$doc:meta])* $function:ident in $table:ident) => {
        $(#[$doc])*
        #[must_use]
        pub fn $function(name: &str) -> Option<&'static Key> {
            static INDEX: Index = LazyLock::new(|| $table.iter().map(|key| (key.name, key)).collect());
            INDEX.get(name).copied()
        }
    };
}

lookup!(
    /// The broker key called `name`.
    broker_key in BROKER_KEYS
);
lookup!(
    /// The topic key called `name`.
    topic_key in TOPIC_KEYS
);
lookup!(
    /// The group key called `name`.
    group_key in GROUP_KEYS
);
lookup!(
    /// The client metrics key called `name`.
    client_metrics_key in CLIENT_METRICS_KEYS
);

/// The key behind `listener.name.LISTENER.KEY` or `listener.name.LISTENER.MECHANISM.KEY`.
#[must_use]
pub fn listener_key(name: &str) -> Option<&'static Key> {
    let (_listener, key) = name.strip_prefix("listener.name.")?.split_once('.')?;
    broker_key(key).or_else(|| broker_key(key.split_once('.')?.1))
}

/// The largest LONG: Kafka's word for "never" and "no limit".
const LONG_MAX: &str = "9223372036854775807";
const CLEANUP_POLICIES: &[&str] = &["compact", "delete"];
const COMPRESSION_TYPES: &[&str] = &["uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"];
const TIMESTAMP_TYPES: &[&str] = &["CreateTime", "LogAppendTime"];

const fn key(name: &'static str, kind: Kind, default: Option<&'static str>) -> Key {
    let valid = match kind {
        Kind::List => Valid::Items { items: &[], may_be_empty: true },
        _ => Valid::Any,
    };
    Key { name, kind, default, valid, mode: UpdateMode::ReadOnly, internal: false }
}

const fn null(kind: Kind, name: &'static str) -> Key {
    key(name, kind, None)
}

const fn boolean(name: &'static str, default: &'static str) -> Key {
    key(name, Kind::Boolean, Some(default))
}

const fn string(name: &'static str, default: &'static str) -> Key {
    key(name, Kind::String, Some(default))
}

const fn int(name: &'static str, default: &'static str) -> Key {
    key(name, Kind::Int, Some(default))
}

const fn short(name: &'static str, default: &'static str) -> Key {
    key(name, Kind::Short, Some(default))
}

const fn long(name: &'static str, default: &'static str) -> Key {
    key(name, Kind::Long, Some(default))
}

const fn double(name: &'static str, default: &'static str) -> Key {
    key(name, Kind::Double, Some(default))
}

const fn list(name: &'static str, default: &'static str) -> Key {
    key(name, Kind::List, Some(default))
}

const fn class(name: &'static str, default: &'static str) -> Key {
    key(name, Kind::Class, Some(default))
}

impl Key {
    const fn at_least(self, min: i64) -> Self {
        self.valid(Valid::Range { min: min as f64, max: None })
    }

    const fn between(self, min: i64, max: i64) -> Self {
        self.valid(Valid::Range { min: min as f64, max: Some(max as f64) })
    }

    const fn between_fractions(self, min: f64, max: f64) -> Self {
        self.valid(Valid::Range { min, max: Some(max) })
    }

    const fn one_of(self, values: &'static [&'static str]) -> Self {
        self.valid(Valid::OneOf(values))
    }

    const fn one_of_ignoring_case(self, values: &'static [&'static str]) -> Self {
        self.valid(Valid::OneOfIgnoringCase(values))
    }

    const fn items(self, items: &'static [&'static str]) -> Self {
        self.valid(Valid::Items { items, may_be_empty: true })
    }

    const fn not_empty(self) -> Self {
        match self.valid {
            Valid::Items { items, .. } => self.valid(Valid::Items { items, may_be_empty: false }),
            _ => self.valid(Valid::NotEmpty),
        }
    }

    const fn valid(self, valid: Valid) -> Self {
        Self { valid, ..self }
    }

    const fn cluster_wide(self) -> Self {
        Self { mode: UpdateMode::ClusterWide, ..self }
    }

    const fn per_broker(self) -> Self {
        Self { mode: UpdateMode::PerBroker, ..self }
    }

    const fn internal(self) -> Self {
        Self { internal: true, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::value;

    #[test]
    fn every_key_is_found_once() {
        let found = |key: &'static Key| {
            [broker_key, topic_key, group_key, client_metrics_key].iter().any(|find| {
                // Keys of two tables may share a name, so the address tells.
                find(key.name).is_some_and(|found| std::ptr::eq(found, key))
            })
        };
        for table in [BROKER_KEYS, TOPIC_KEYS, GROUP_KEYS, CLIENT_METRICS_KEYS] {
            assert!(table.iter().all(found));
        }
    }

    #[test]
    fn every_default_is_valid_and_written_as_kafka_writes_it() {
        for key in [BROKER_KEYS, TOPIC_KEYS, GROUP_KEYS, CLIENT_METRICS_KEYS].into_iter().flatten() {
            if let Some(default) = key.default {
                let value = value::parse(key, default).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(value.to_string(), default, "{}", key.name);
            }
        }
    }

    #[test]
    fn listener_keys_are_known_by_the_key_behind_the_prefix() {
        let name = |text| listener_key(text).map(|key| key.name);
        assert_eq!(name("listener.name.external.ssl.keystore.type"), Some("ssl.keystore.type"));
        assert_eq!(name("listener.name.a.scram-sha-256.sasl.jaas.config"), Some("sasl.jaas.config"));
        assert_eq!(name("listener.name.external.nothing"), None);
        assert_eq!(name("ssl.keystore.type"), None);
    }
}
