//! What DescribeConfigs shows: each config with its value, where that comes from and what it would be without.
//!
//! Source: Kafka's `ConfigHelper`, `DynamicBrokerConfig.brokerConfigSynonyms`.

use std::collections::{BTreeMap, BTreeSet};

use super::keys::{
    self, BROKER_KEYS, BROKER_QUOTA_KEYS, CLIENT_METRICS_KEYS, GROUP_KEYS, Key, Kind, TOPIC_KEYS, UpdateMode,
};
use super::value::{self, Value};
use super::{Config, ConfigSource, Sources, broker_key_documentation, topic};
use crate::catalog::Overrides;
use crate::java;

/// One config of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// `None` is null, or a value that is not shown.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: ConfigSource,
    /// Whether it stays as it is while the broker runs.
    pub read_only: bool,
    /// Whether the value is not shown.
    pub sensitive: bool,
    /// `None` if Kafka does not know the config.
    pub kind: Option<Kind>,
    /// The value and what it would be without it, the strongest first.
    pub synonyms: Vec<Synonym>,
    /// What it is for.
    pub documentation: Option<&'static str>,
}

/// A setting that the value of a config comes from, or would come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synonym {
    /// The name under which it is set.
    pub name: String,
    /// As it was set; `None` if it is not shown.
    pub value: Option<String>,
    /// Where it is set.
    pub source: ConfigSource,
}

/// The configs of a topic that sets `own`.
#[must_use]
pub fn topic(config: &Config, own: &Overrides) -> Vec<Entry> {
    let entries = listed(TOPIC_KEYS, own).map(|key| {
        let first = keys::topic_key_broker_synonyms(key.name).first().map(|synonym| synonym.name);
        let inherited = first.map(|name| broker_synonyms(&config.sources, name, false)).unwrap_or_default();
        let default = || topic::default_value(key.name, &config.sources).ok().flatten();
        let documentation = topic::documentation(key.name);
        resource_entry(key, own, ConfigSource::DynamicTopic, default, inherited, documentation)
    });
    ordered(TOPIC_KEYS.len(), entries.collect())
}

/// The configs of a group that sets `own`.
#[must_use]
pub fn group(config: &Config, own: &Overrides) -> Vec<Entry> {
    let entries = listed(GROUP_KEYS, own).map(|key| {
        let broker_key = keys::group_key_broker_synonym(key.name);
        let inherited = match broker_key {
            Some(name) => broker_synonyms(&config.sources, name, false),
            None => {
                key.default.map(|value| synonym(key.name, value, ConfigSource::Default)).into_iter().collect()
            }
        };
        let default = || match broker_key {
            Some(name) => inherited_value(&config.sources, key, name),
            None => key.default.and_then(|text| value::parse(key, text).ok()),
        };
        resource_entry(key, own, ConfigSource::Group, default, inherited, None)
    });
    ordered(GROUP_KEYS.len(), entries.collect())
}

/// The configs of a client metrics subscription that sets `own`.
#[must_use]
pub fn client_metrics(own: &Overrides) -> Vec<Entry> {
    let entries = listed(CLIENT_METRICS_KEYS, own).map(|key| {
        let default = || key.default.and_then(|text| value::parse(key, text).ok());
        resource_entry(key, own, ConfigSource::ClientMetrics, default, Vec::new(), None)
    });
    ordered(CLIENT_METRICS_KEYS.len(), entries.collect())
}

/// The configs of this broker.
#[must_use]
pub fn broker(config: &Config) -> Vec<Entry> {
    let sources = &config.sources;
    let layers = [&sources.static_broker, &sources.dynamic_default, &sources.dynamic_broker];
    let known: BTreeSet<&str> = BROKER_KEYS.iter().map(|key| key.name).collect();
    let explicit: BTreeSet<&str> = layers.into_iter().flat_map(BTreeMap::keys).map(String::as_str).collect();
    let listed = BROKER_KEYS.iter().filter(|key| !key.internal || explicit.contains(key.name));
    let names = listed.map(|key| key.name).chain(explicit.difference(&known).copied());
    let entries = names.map(|name| {
        let value = match sources.effective(name) {
            Ok(value) => value.map(|value| value.to_string()),
            Err(_) => sources.explicit(name).map(str::to_owned),
        };
        broker_entry(name, value, broker_synonyms(sources, name, is_sensitive(name)))
    });
    ordered(BROKER_KEYS.len(), entries.collect())
}

/// The dynamic configs of all brokers.
#[must_use]
pub fn every_broker(config: &Config) -> Vec<Entry> {
    let sources = &config.sources;
    let entries = sources.dynamic_default.iter().map(|(name, value)| {
        let mut synonyms = broker_synonyms(sources, name, is_sensitive(name));
        synonyms.retain(|synonym| synonym.source == ConfigSource::DynamicDefaultBroker);
        broker_entry(name, Some(value.clone()), synonyms)
    });
    ordered(0, entries.collect())
}

/// Puts `items` into the order in which Java's `HashMap` holds their names, which were inserted in the given one.
pub(super) fn java_hash_order<T>(items: &mut [T], name: impl Fn(&T) -> &str) {
    java::sort_as_hash_map(items, items.len(), |item| java::string_hash(name(item)));
}

/// Kafka's order: that of a map with all keys of the table, put into one with those that are shown.
fn ordered(table_len: usize, mut entries: Vec<Entry>) -> Vec<Entry> {
    java::sort_as_hash_map(&mut entries, table_len, |entry| java::string_hash(&entry.name));
    java_hash_order(&mut entries, |entry| &entry.name);
    entries
}

/// The keys of a table that are shown: all but the internal ones that are not set.
fn listed(table: &'static [Key], own: &Overrides) -> impl Iterator<Item = &'static Key> {
    table.iter().filter(|key| !key.internal || own.contains_key(key.name))
}

/// A config that a resource may set of its own, or has from elsewhere.
fn resource_entry(
    key: &Key,
    own: &Overrides,
    own_source: ConfigSource,
    default: impl FnOnce() -> Option<Value>,
    inherited: Vec<Synonym>,
    documentation: Option<&'static str>,
) -> Entry {
    let own = own.get(key.name).and_then(|text| value::parse(key, text).ok());
    let own_synonym = own.as_ref().map(|value| synonym(key.name, &value.to_string(), own_source));
    let synonyms: Vec<_> = own_synonym.into_iter().chain(inherited).collect();
    Entry {
        name: key.name.to_owned(),
        value: own.or_else(default).map(|value| value.to_string()),
        source: synonyms.first().map_or(ConfigSource::Default, |synonym| synonym.source),
        read_only: false,
        sensitive: false,
        kind: Some(key.kind),
        synonyms,
        documentation,
    }
}

fn broker_entry(name: &str, value: Option<String>, synonyms: Vec<Synonym>) -> Entry {
    let sensitive = is_sensitive(name);
    let dynamic = any_broker_key(name).is_some_and(|key| key.mode != UpdateMode::ReadOnly);
    Entry {
        name: name.to_owned(),
        value: value.filter(|_| !sensitive),
        source: synonyms.first().map_or(ConfigSource::Default, |synonym| synonym.source),
        read_only: !dynamic,
        sensitive,
        kind: any_broker_key(name).or_else(|| keys::listener_key(name)).map(|key| key.kind),
        synonyms,
        documentation: broker_key_documentation(name),
    }
}

fn any_broker_key(name: &str) -> Option<&'static Key> {
    keys::broker_key(name).or_else(|| BROKER_QUOTA_KEYS.iter().find(|key| key.name == name))
}

/// Whether a value of the broker must not be shown: a password, or nobody knows.
fn is_sensitive(name: &str) -> bool {
    let known = any_broker_key(name).or_else(|| keys::listener_key(name));
    known.is_none_or(|key| key.kind == Kind::Password)
}

fn synonym(name: &str, value: &str, source: ConfigSource) -> Synonym {
    Synonym { name: name.to_owned(), value: Some(value.to_owned()), source }
}

/// What is set for broker key `name` or for one that stands in for it, from `name` itself on.
fn broker_synonyms(sources: &Sources, name: &str, sensitive: bool) -> Vec<Synonym> {
    let names = stand_ins(name);
    let set = [
        (&sources.dynamic_broker, ConfigSource::DynamicBroker),
        (&sources.dynamic_default, ConfigSource::DynamicDefaultBroker),
        (&sources.static_broker, ConfigSource::StaticBroker),
    ];
    let set = set.into_iter().flat_map(|(layer, source)| {
        names.iter().filter_map(move |name| Some(synonym(name, layer.get(*name)?, source)))
    });
    let defaults = names.iter().filter_map(|name| {
        let default = keys::broker_key(name)?.default?;
        Some(synonym(name, default, ConfigSource::Default))
    });
    let shown = |synonym: Synonym| Synonym { value: synonym.value.filter(|_| !sensitive), ..synonym };
    set.chain(defaults).skip_while(|synonym| synonym.name != name).map(shown).collect()
}

/// `name` and the keys that its value comes from when it is not set.
fn stand_ins(name: &str) -> Vec<&str> {
    match name {
        "log.roll.ms" | "log.roll.hours" => vec!["log.roll.ms", "log.roll.hours"],
        "log.roll.jitter.ms" | "log.roll.jitter.hours" => vec!["log.roll.jitter.ms", "log.roll.jitter.hours"],
        "log.flush.interval.ms" => vec![name, "log.flush.scheduler.interval.ms"],
        "log.retention.ms" | "log.retention.minutes" | "log.retention.hours" => {
            vec!["log.retention.ms", "log.retention.minutes", "log.retention.hours"]
        }
        _ => match keys::listener_key(name) {
            Some(key) => vec![name, key.name],
            None => vec![name],
        },
    }
}

/// The value that group key `key` has from broker key `name`.
fn inherited_value(sources: &Sources, key: &Key, name: &str) -> Option<Value> {
    match (key.kind, sources.effective(name).ok().flatten()) {
        // A group has one assignor, the broker a list of which the first is the default.
        (Kind::String, Some(Value::List(items))) => items.into_iter().next().map(Value::Text),
        (_, value) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(pairs: &[(&str, &str)]) -> Overrides {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    /// `VALUE ORIGIN [NAME=VALUE ORIGIN] …`
    fn shown(entries: &[Entry], name: &str) -> String {
        let entry = entries.iter().find(|entry| entry.name == name).expect(name);
        let mut text = format!("{} {:?}", entry.value.as_deref().unwrap_or("null"), entry.source);
        for synonym in &entry.synonyms {
            let value = synonym.value.as_deref().unwrap_or("null");
            text += &format!(" [{}={value} {:?}]", synonym.name, synonym.source);
        }
        text
    }

    #[test]
    fn a_topic_shows_its_own_and_what_stands_behind_it() {
        let config = Config::with(&[("log.cleanup.policy", "compact")]).unwrap();
        let entries =
            topic(&config, &overrides(&[("retention.ms", " 5 "), ("cleanup.policy", "delete, compact")]));
        assert_eq!(entries.len(), 37);
        assert_eq!(shown(&entries, "retention.ms"), "5 DynamicTopic [retention.ms=5 DynamicTopic]");
        assert_eq!(
            shown(&entries, "cleanup.policy"),
            "delete,compact DynamicTopic [cleanup.policy=delete,compact DynamicTopic] \
             [log.cleanup.policy=compact StaticBroker] [log.cleanup.policy=delete Default]"
        );
        assert_eq!(
            shown(&entries, "min.insync.replicas"),
            "1 DynamicDefaultBroker [min.insync.replicas=1 DynamicDefaultBroker] [min.insync.replicas=1 Default]"
        );
        assert_eq!(shown(&entries, "segment.ms"), "604800000 Default");
        assert_eq!(topic(&config, &overrides(&[("internal.segment.bytes", "9")])).len(), 38);
    }

    #[test]
    fn a_broker_shows_every_layer() {
        let mut sources = Config::with(&[("message.max.bytes", "1")]).unwrap().sources;
        sources.dynamic_default.insert("message.max.bytes".to_owned(), "2".to_owned());
        sources.dynamic_broker.insert("message.max.bytes".to_owned(), " 3".to_owned());
        sources.dynamic_broker.insert("no.such.key".to_owned(), "4".to_owned());
        let config = Config::from_sources(sources).unwrap();
        let entries = broker(&config);
        assert_eq!(
            shown(&entries, "message.max.bytes"),
            "3 DynamicBroker [message.max.bytes= 3 DynamicBroker] \
             [message.max.bytes=2 DynamicDefaultBroker] [message.max.bytes=1 StaticBroker] \
             [message.max.bytes=1048588 Default]"
        );
        assert_eq!(shown(&entries, "no.such.key"), "null DynamicBroker [no.such.key=null DynamicBroker]");
        assert_eq!(shown(&entries, "log.retention.minutes"), "null Default");
        assert_eq!(
            shown(&entries, "group.initial.rebalance.delay.ms"),
            "0 StaticBroker [group.initial.rebalance.delay.ms=0 StaticBroker] \
             [group.initial.rebalance.delay.ms=3000 Default]"
        );
        assert_eq!(every_broker(&config).len(), 2);
        assert_eq!(
            shown(&every_broker(&config), "message.max.bytes"),
            "2 DynamicDefaultBroker [message.max.bytes=2 DynamicDefaultBroker]"
        );
    }

    #[test]
    fn passwords_are_not_shown() {
        let settings = [("ssl.keystore.password", "secret"), ("listener.name.a.ssl.key.password", "secret")];
        for entry in broker(&Config::with(&settings).unwrap()) {
            assert!(entry.value.as_deref() != Some("secret"), "{}", entry.name);
            assert!(entry.synonyms.iter().all(|synonym| synonym.value.as_deref() != Some("secret")));
        }
    }

    #[test]
    fn a_group_has_its_defaults_from_the_broker() {
        let config = Config::with(&[("group.streams.assignors", "a,b")]).unwrap();
        let entries = group(&config, &overrides(&[("share.isolation.level", "read_committed")]));
        assert_eq!(entries.len(), 21);
        assert_eq!(
            shown(&entries, "share.isolation.level"),
            "read_committed Group [share.isolation.level=read_committed Group] \
             [share.isolation.level=read_uncommitted Default]"
        );
        assert_eq!(
            shown(&entries, "streams.assignor.name"),
            "a StaticBroker [group.streams.assignors=a,b StaticBroker] [group.streams.assignors=sticky Default]"
        );
    }

    /// The order in which Kafka 4.4.0 answered.
    #[test]
    fn the_order_is_that_of_javas_hash_map() {
        let config = Config::default();
        let names = |entries: Vec<Entry>| entries.into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        let topic = names(topic(&config, &Overrides::new()));
        assert_eq!(
            topic[..3],
            ["compression.type", "errors.deadletterqueue.group.enable", "remote.copy.lag.bytes"]
        );
        assert_eq!(topic[34..], ["message.timestamp.before.max.ms", "segment.ms", "segment.index.bytes"]);
        let group = names(group(&config, &Overrides::new()));
        assert_eq!(group[..2], ["consumer.session.timeout.ms", "streams.assignor.name"]);
        assert_eq!(group[19..], ["share.partition.max.record.locks", "streams.num.standby.replicas"]);
        assert_eq!(names(client_metrics(&Overrides::new())), ["interval.ms", "match", "metrics"]);
    }

    #[test]
    fn what_has_an_effect_here_says_what_it_is_for() {
        let config = Config::default();
        let documented = |entries: &[Entry], name| {
            entries.iter().find(|entry| entry.name == name).is_some_and(|entry| entry.documentation.is_some())
        };
        assert!(documented(&broker(&config), "group.initial.rebalance.delay.ms"));
        assert!(documented(&topic(&config, &Overrides::new()), "retention.ms"));
        assert!(!documented(&broker(&config), "ssl.keystore.type"));
    }
}
