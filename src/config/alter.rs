//! Changes that clients make to configs while the broker runs: from what was set to what shall be set.
//!
//! Pure: nothing is stored here. Source: Kafka's `ConfigurationControlManager`, `ControllerConfigurationValidator`
//! (topics, groups, client metrics), `ConfigAdminManager` and `DynamicBrokerConfig` (brokers).

use std::collections::BTreeMap;

use super::describe::java_hash_order;
use super::keys::{self, BROKER_KEYS, BROKER_QUOTA_KEYS, Key, Kind, UpdateMode};
use super::sources::MIN_INSYNC_REPLICAS;
use super::value::{self, InvalidValue};
use super::{BrokerScope, Config, ConfigError, Sources, check_topic_overrides, client_metrics, group};
use crate::catalog::Overrides;
use crate::limits::{CONFIG_VALUE_BYTES_MAX, CONFIGS_PER_RESOURCE_MAX};

/// One change to one config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The name of the config.
    pub key: String,
    /// What is to happen to it.
    pub operation: Operation,
}

/// What changes are made to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onto {
    /// What was set before (IncrementalAlterConfigs).
    Own,
    /// Nothing: whatever is not set by the changes gets its default (AlterConfigs).
    Nothing,
}

impl Onto {
    /// What the changes are made to, where `own` was set before.
    #[must_use]
    pub fn of<T: Clone + Default>(self, own: &T) -> T {
        match self {
            Self::Own => own.clone(),
            Self::Nothing => T::default(),
        }
    }
}

/// What is to happen to a config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It gets this value.
    Set(String),
    /// It gets its default.
    Delete,
    /// A list gets these items, separated by commas, as far as it lacks them.
    Append(String),
    /// A list loses these items, separated by commas.
    Subtract(String),
}

/// Why configs are refused. Variants bear the names of Kafka's errors, texts are Kafka's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterError {
    InvalidConfig(String),
    InvalidRequest(String),
}

impl From<InvalidValue> for AlterError {
    fn from(error: InvalidValue) -> Self {
        Self::InvalidConfig(error.0)
    }
}

/// What a topic sets of its own after `changes`, which were checked together with the rest.
///
/// # Errors
/// `InvalidConfig`.
pub fn topic(config: &Config, own: &Overrides, changes: &[Change]) -> Result<Overrides, AlterError> {
    let changed = changed(own, changes, |key| keys::topic_key(key).filter(|key| key.kind == Kind::List))?;
    check_topic_overrides(config, &changed)?;
    Ok(changed)
}

/// What a group sets of its own after `changes`, which were checked together with the rest.
///
/// # Errors
/// `InvalidConfig`, also for what is beyond the bounds that the broker sets.
pub fn group(config: &Config, own: &Overrides, changes: &[Change]) -> Result<Overrides, AlterError> {
    // Kafka's controller does not know which group keys are lists.
    let changed = changed(own, changes, |_| None)?;
    group::check(&config.sources, &changed)?;
    Ok(changed)
}

/// What a client metrics subscription sets after `changes`, which were checked together with the rest.
///
/// # Errors
/// `InvalidConfig`, `InvalidRequest`.
pub fn client_metrics(own: &Overrides, changes: &[Change]) -> Result<Overrides, AlterError> {
    let changed = changed(own, changes, |_| None)?;
    client_metrics::check(&changed)?;
    Ok(changed)
}

/// The configuration of the broker after `changes` to the dynamic configs of `scope`.
///
/// # Errors
/// `InvalidRequest` for what cannot be changed or would not be a valid configuration, `InvalidConfig`.
pub fn broker(
    config: &Config,
    scope: BrokerScope,
    onto: Onto,
    changes: &[Change],
) -> Result<Config, AlterError> {
    let mut sources = config.sources.clone();
    let own = scope.layer_mut(&mut sources);
    *own = onto.of(own);
    for change in changes {
        change_broker(own, change)?;
    }
    check_size(own.iter())?;
    check_broker(own, scope)?;
    let changed = config.with_sources(sources).map_err(|error| match error {
        ConfigError::Invalid(message) => AlterError::InvalidRequest(message),
        unknown => AlterError::InvalidRequest(unknown.to_string()),
    })?;
    // Differs from Kafka: `listeners` cannot be changed while the broker runs.
    if changed.listeners != config.listeners {
        let message = "listeners cannot be changed while the broker runs";
        return Err(AlterError::InvalidRequest(message.to_owned()));
    }
    check_min_insync_replicas(&changed.sources, scope, changes)?;
    Ok(changed)
}

/// Applies `changes` in the way of Kafka's controller. `list_key` knows the keys that are lists.
fn changed(
    own: &Overrides,
    changes: &[Change],
    list_key: impl Fn(&str) -> Option<&'static Key>,
) -> Result<Overrides, AlterError> {
    let mut changed = own.clone();
    for Change { key, operation } in changes {
        let items = |verb: &str| {
            let not_a_list = || format!("Can't {verb} to key {key} because its type is not LIST.");
            let list = list_key(key).ok_or_else(|| AlterError::InvalidConfig(not_a_list()))?;
            let text = own.get(key.as_str()).map(AsRef::as_ref).or(list.default).unwrap_or_default();
            Ok::<Vec<String>, AlterError>(split(text).filter(|item| !item.is_empty()).collect())
        };
        let value = match operation {
            Operation::Set(value) => Some(value.clone()),
            Operation::Delete => None,
            Operation::Append(added) => Some(appended(items("APPEND")?, added)),
            Operation::Subtract(removed) => Some(subtracted(items("SUBTRACT")?, removed)),
        };
        match value {
            Some(value) => changed.insert(key.as_str().into(), value.into()),
            None => changed.remove(key.as_str()),
        };
    }
    check_size(changed.iter())?;
    Ok(changed)
}

/// Applies a change in the way of Kafka's broker.
fn change_broker(own: &mut BTreeMap<String, String>, change: &Change) -> Result<(), AlterError> {
    let Change { key, operation } = change;
    let items = |own: &BTreeMap<String, String>, verb: &str| {
        let known = keys::broker_key(key);
        let known = known.ok_or_else(|| AlterError::InvalidConfig(format!("Unknown config name: {key}")))?;
        if known.kind != Kind::List {
            let message = format!("Config value {verb} is not allowed for config key: {key}");
            return Err(AlterError::InvalidConfig(message));
        }
        let text = own.get(key).map(String::as_str).or(known.default).unwrap_or_default();
        Ok(split(text).filter(|item| !item.is_empty()).collect::<Vec<_>>())
    };
    let value = match operation {
        Operation::Set(value) => value.clone(),
        Operation::Append(added) => appended(items(own, "append")?, added),
        Operation::Subtract(removed) => subtracted(items(own, "subtract")?, removed),
        Operation::Delete => {
            own.remove(key);
            return Ok(());
        }
    };
    own.insert(key.clone(), value);
    Ok(())
}

/// Splits at commas as Java's `String.split` does: without empty items at the end, but never into nothing.
fn split(text: &str) -> impl Iterator<Item = String> {
    let end = text.trim_end_matches(',');
    let end = if end.is_empty() && !text.is_empty() { None } else { Some(end) };
    end.into_iter().flat_map(|text| text.split(',').map(str::to_owned))
}

fn appended(mut items: Vec<String>, added: &str) -> String {
    for item in split(added) {
        if !items.contains(&item) {
            items.push(item);
        }
    }
    items.join(",")
}

fn subtracted(mut items: Vec<String>, removed: &str) -> String {
    for item in split(removed) {
        if let Some(at) = items.iter().position(|other| *other == item) {
            items.remove(at);
        }
    }
    items.join(",")
}

// Differs from Kafka: the configs that a client can store are bounded in number and length.
fn check_size<K: AsRef<str>, V: AsRef<str>>(
    mut own: impl ExactSizeIterator<Item = (K, V)>,
) -> Result<(), AlterError> {
    if own.len() > CONFIGS_PER_RESOURCE_MAX {
        let message = format!("A resource cannot have more than {CONFIGS_PER_RESOURCE_MAX} configs.");
        return Err(AlterError::InvalidConfig(message));
    }
    let is_long = |text: &str| text.len() > CONFIG_VALUE_BYTES_MAX;
    if own.any(|(key, value)| is_long(key.as_ref()) || is_long(value.as_ref())) {
        let message = format!("A config cannot be longer than {CONFIG_VALUE_BYTES_MAX} bytes.");
        return Err(AlterError::InvalidConfig(message));
    }
    Ok(())
}

/// Checks the dynamic configs of `scope` by name and one by one. Names that Kafka does not know pass.
// Differs from Kafka: as there are neither threads to count nor classes to load, it is not looked at whether a number
// of threads more than doubles, or a class exists.
fn check_broker(own: &BTreeMap<String, String>, scope: BrokerScope) -> Result<(), AlterError> {
    let mode = |name: &str| keys::broker_key(name).map(|key| key.mode);
    refuse_some(own, "Cannot update these configs dynamically", |name| {
        mode(name) == Some(UpdateMode::ReadOnly)
    })?;
    let what =
        "These security configs can be dynamically updated only per-listener using the listener prefix";
    refuse_some(own, what, |name| SECURITY_KEYS_OF_LISTENERS.contains(&name))?;
    let refused = |error: InvalidValue| AlterError::InvalidRequest(error.0);
    for key in BROKER_KEYS.iter().chain(BROKER_QUOTA_KEYS) {
        if let Some(text) = own.get(key.name) {
            value::parse_strictly(key, text).map_err(refused)?;
        }
    }
    for (name, text) in own {
        if let Some(key) = keys::listener_key(name) {
            value::parse_strictly(key, text).map_err(refused)?;
        }
    }
    if scope == BrokerScope::EveryBroker {
        let what = "Cannot update these configs at default cluster level, broker id must be specified";
        refuse_some(own, what, |name| mode(name) == Some(UpdateMode::PerBroker))?;
    }
    Ok(())
}

fn refuse_some(
    own: &BTreeMap<String, String>,
    what: &str,
    is_refused: impl Fn(&str) -> bool,
) -> Result<(), AlterError> {
    let mut names: Vec<&str> = own.keys().map(String::as_str).filter(|name| is_refused(name)).collect();
    if names.is_empty() {
        return Ok(());
    }
    java_hash_order(&mut names, |name| name);
    Err(AlterError::InvalidRequest(format!("{what}: [{}]", names.join(", "))))
}

/// What a cluster with eligible leader replicas (KIP-966) asks of `min.insync.replicas`.
fn check_min_insync_replicas(
    changed: &Sources,
    scope: BrokerScope,
    changes: &[Change],
) -> Result<(), AlterError> {
    let refuse = |message: &str| Err(AlterError::InvalidConfig(message.to_owned()));
    match scope {
        BrokerScope::ThisBroker if changes.iter().any(|change| change.key == MIN_INSYNC_REPLICAS) => {
            refuse("Broker-level min.insync.replicas cannot be altered while ELR is enabled.")
        }
        BrokerScope::EveryBroker if !changed.dynamic_default.contains_key(MIN_INSYNC_REPLICAS) => {
            refuse("Cluster-level min.insync.replicas cannot be removed while ELR is enabled.")
        }
        _ => Ok(()),
    }
}

/// Kafka's `DynamicBrokerConfig.DYNAMIC_SECURITY_CONFIGS`.
const SECURITY_KEYS_OF_LISTENERS: &[&str] = &[
    "ssl.key.password",
    "ssl.keystore.certificate.chain",
    "ssl.keystore.key",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.truststore.certificates",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: &str, operation: Operation) -> Change {
        Change { key: key.to_owned(), operation }
    }

    fn set(key: &str, value: &str) -> Change {
        change(key, Operation::Set(value.to_owned()))
    }

    fn append(key: &str, value: &str) -> Change {
        change(key, Operation::Append(value.to_owned()))
    }

    fn subtract(key: &str, value: &str) -> Change {
        change(key, Operation::Subtract(value.to_owned()))
    }

    fn overrides(pairs: &[(&str, &str)]) -> Overrides {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    fn invalid_config<T>(message: &str) -> Result<T, AlterError> {
        Err(AlterError::InvalidConfig(message.to_owned()))
    }

    fn alter_topic(own: &[(&str, &str)], changes: &[Change]) -> Result<Overrides, AlterError> {
        topic(&Config::default(), &overrides(own), changes)
    }

    /// The error of a change to the broker's dynamic configs; the answers are those of Kafka 4.4.0.
    fn broker_error(scope: BrokerScope, changes: &[Change]) -> AlterError {
        broker(&Config::default(), scope, Onto::Own, changes).map(|_| ()).expect_err("refused")
    }

    #[test]
    fn configs_are_set_and_deleted() {
        let own = [("retention.ms", "5"), ("segment.bytes", "1048576")];
        let changes = [set("flush.ms", "7"), change("retention.ms", Operation::Delete)];
        let expected = overrides(&[("flush.ms", "7"), ("segment.bytes", "1048576")]);
        assert_eq!(alter_topic(&own, &changes), Ok(expected));
        // What is not set, or does not exist, can be deleted.
        assert_eq!(alter_topic(&[], &[change("nope", Operation::Delete)]), Ok(overrides(&[])));
    }

    #[test]
    fn lists_grow_from_the_default_and_shrink_to_nothing() {
        let policy = |value| Ok(overrides(&[("cleanup.policy", value)]));
        assert_eq!(alter_topic(&[], &[append("cleanup.policy", "compact")]), policy("delete,compact"));
        let both = [("cleanup.policy", "delete,compact")];
        assert_eq!(alter_topic(&both, &[append("cleanup.policy", "compact")]), policy("delete,compact"));
        assert_eq!(alter_topic(&both, &[subtract("cleanup.policy", "delete,nope")]), policy("compact"));
        assert_eq!(alter_topic(&both, &[subtract("cleanup.policy", "delete,compact")]), policy(""));
        let empty_item = invalid_config("Configuration 'cleanup.policy' values must not be empty.");
        assert_eq!(alter_topic(&[], &[append("cleanup.policy", ",compact")]), empty_item);
        assert_eq!(alter_topic(&[], &[append("cleanup.policy", "")]), empty_item);
        let not_a_list = "Can't SUBTRACT to key retention.ms because its type is not LIST.";
        assert_eq!(alter_topic(&[], &[subtract("retention.ms", "1")]), invalid_config(not_a_list));
    }

    #[test]
    fn topics_are_refused_in_kafkas_words() {
        let cases = [
            (vec![set("retention.ms", "x"), set("nope", "1")], "Unknown topic config name: nope"),
            (
                // The order is that of the definition, not that of the request.
                vec![set("retention.ms", "x"), set("segment.bytes", "1")],
                "Invalid value 1 for configuration segment.bytes: Value must be at least 1048576",
            ),
            (
                vec![set("min.compaction.lag.ms", "10"), set("max.compaction.lag.ms", "5")],
                "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
            ),
            (
                vec![set("remote.storage.enable", "true")],
                "Tiered Storage functionality is disabled in the broker. \
                 Topic cannot be configured with remote log storage.",
            ),
        ];
        for (changes, message) in cases {
            assert_eq!(alter_topic(&[], &changes), invalid_config(message));
        }
        assert!(alter_topic(&[], &[set("cleanup.policy", "delete,delete")]).is_ok());
    }

    #[test]
    fn brokers_take_what_is_dynamic() {
        let config = Config::default();
        let changes = [set("message.max.bytes", "7"), set("no.such.key", "1")];
        let changed = broker(&config, BrokerScope::EveryBroker, Onto::Own, &changes).unwrap();
        assert_eq!(changed.topic_defaults.max_message_bytes, 7);
        let this = |config: &Config, changes: &[Change]| {
            broker(config, BrokerScope::ThisBroker, Onto::Own, changes).unwrap()
        };
        let changed = this(&changed, &[set("message.max.bytes", "8")]);
        assert_eq!(changed.topic_defaults.max_message_bytes, 8);
        let delete = change("message.max.bytes", Operation::Delete);
        let changed = this(&changed, &[delete]);
        assert_eq!(changed.topic_defaults.max_message_bytes, 7);
    }

    #[test]
    fn brokers_are_refused_in_kafkas_words() {
        let cases = [
            (
                vec![set("num.partitions", "3"), set("auto.create.topics.enable", "false")],
                "Cannot update these configs dynamically: [num.partitions, auto.create.topics.enable]",
            ),
            (
                vec![set("ssl.key.password", "x"), set("ssl.keystore.key", "x")],
                "These security configs can be dynamically updated only per-listener using the listener prefix: \
                 [ssl.key.password, ssl.keystore.key]",
            ),
            (
                vec![set("log.cleanup.policy", "delete,delete")],
                "Configuration 'log.cleanup.policy' values must not be duplicated.",
            ),
            (
                vec![set("listener.name.plaintext.max.connections", "x")],
                "Invalid value x for configuration max.connections: Not a number of type INT",
            ),
            (
                vec![set("leader.replication.throttled.rate", "-1")],
                "Invalid value -1 for configuration leader.replication.throttled.rate: Value must be at least 0",
            ),
            (
                vec![set("log.retention.ms", "0")],
                "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
            ),
            (
                vec![set("listeners", "PLAINTEXT://:1")],
                "Cannot update these configs at default cluster level, broker id must be specified: [listeners]",
            ),
        ];
        for (changes, message) in cases {
            let error = broker_error(BrokerScope::EveryBroker, &changes);
            assert_eq!(error, AlterError::InvalidRequest(message.to_owned()));
        }
        let append = |key| [append(key, "x")];
        let not_a_list = "Config value append is not allowed for config key: message.max.bytes";
        let cases = [("message.max.bytes", not_a_list), ("nope", "Unknown config name: nope")];
        for (key, message) in cases {
            let error = broker_error(BrokerScope::ThisBroker, &append(key));
            assert_eq!(error, AlterError::InvalidConfig(message.to_owned()));
        }
    }

    #[test]
    fn min_insync_replicas_belongs_to_the_cluster() {
        let this = broker_error(BrokerScope::ThisBroker, &[set("min.insync.replicas", "2")]);
        let message = "Broker-level min.insync.replicas cannot be altered while ELR is enabled.";
        assert_eq!(this, AlterError::InvalidConfig(message.to_owned()));
        let every =
            broker_error(BrokerScope::EveryBroker, &[change("min.insync.replicas", Operation::Delete)]);
        let message = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.";
        assert_eq!(every, AlterError::InvalidConfig(message.to_owned()));
        let set = [set("min.insync.replicas", "2")];
        assert!(broker(&Config::default(), BrokerScope::EveryBroker, Onto::Own, &set).is_ok());
    }

    #[test]
    fn what_a_client_can_store_is_bounded() {
        let many: Vec<_> = (0..=CONFIGS_PER_RESOURCE_MAX).map(|n| set(&format!("key.{n}"), "1")).collect();
        assert!(matches!(broker_error(BrokerScope::EveryBroker, &many), AlterError::InvalidConfig(_)));
        let long = "x".repeat(CONFIG_VALUE_BYTES_MAX + 1);
        assert!(matches!(
            alter_topic(&[], &[set("cleanup.policy", &long)]),
            Err(AlterError::InvalidConfig(_))
        ));
    }
}
