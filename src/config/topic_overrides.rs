//! What a client sets for a topic: whether it may, and how it is told with everything else that applies
//! (Kafka's `ControllerConfigurationValidator`, `LogConfig.validate`, `KafkaConfigSchema`).

use super::keys::{Key, TOPIC_KEYS, TopicSynonym, topic_key, topic_key_broker_synonyms};
use super::topic::converted;
use super::value::{self, InvalidValue, Value};
use super::{Config, ConfigSource, Sources};
use crate::catalog::Overrides;

/// One config of a topic, as clients are told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveConfig {
    /// The topic key.
    pub name: &'static str,
    /// `None` is null.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: ConfigSource,
}

/// Whether a topic may have these configs of its own.
///
/// # Errors
/// A key that no topic has, a value that a key does not take, or two that do not fit together; in Kafka's words.
pub fn check_topic_overrides(config: &Config, overrides: &Overrides) -> Result<(), InvalidValue> {
    let unknown = overrides.keys().find(|name| topic_key(name).is_none());
    if let Some(name) = unknown {
        return Err(InvalidValue(format!("Unknown topic config name: {name}")));
    }
    // Of several errors the first in the order of the table is told.
    for key in TOPIC_KEYS {
        if let Some(text) = overrides.get(key.name) {
            value::parse(key, text)?;
        }
    }
    check_compaction_lags(config, overrides)?;
    if value_of(config, overrides, "remote.storage.enable") == Some(Value::Boolean(true)) {
        let text = "Tiered Storage functionality is disabled in the broker. \
                    Topic cannot be configured with remote log storage.";
        return Err(InvalidValue(text.to_owned()));
    }
    Ok(())
}

/// Everything that applies to a topic with these configs of its own, in the order of names.
#[must_use]
pub fn effective_topic_configs(config: &Config, overrides: &Overrides) -> Vec<EffectiveConfig> {
    let told = TOPIC_KEYS.iter().filter(|key| !key.internal || overrides.contains_key(key.name));
    let mut told: Vec<_> = told.map(|key| effective(config, overrides, key)).collect();
    told.sort_by_key(|config| config.name);
    told
}

fn check_compaction_lags(config: &Config, overrides: &Overrides) -> Result<(), InvalidValue> {
    let lag = |name| value_of(config, overrides, name);
    match (lag("min.compaction.lag.ms"), lag("max.compaction.lag.ms")) {
        (Some(Value::Number(min)), Some(Value::Number(max))) if min > max => Err(InvalidValue(format!(
            "conflict topic config setting min.compaction.lag.ms ({min}) > max.compaction.lag.ms ({max})"
        ))),
        _ => Ok(()),
    }
}

fn value_of(config: &Config, overrides: &Overrides, name: &str) -> Option<Value> {
    let key = topic_key(name)?;
    value::parse(key, &effective(config, overrides, key).value?).ok()
}

fn effective(config: &Config, overrides: &Overrides, key: &Key) -> EffectiveConfig {
    let told = |value: String, source| EffectiveConfig { name: key.name, value: Some(value), source };
    if let Some(text) = overrides.get(key.name) {
        return told(text.to_string(), ConfigSource::DynamicTopic);
    }
    let Sources { dynamic_broker, dynamic_default, static_broker } = &config.sources;
    let synonyms = topic_key_broker_synonyms(key.name);
    for (layer, source) in [
        (dynamic_broker, ConfigSource::DynamicBroker),
        (dynamic_default, ConfigSource::DynamicDefaultBroker),
        (static_broker, ConfigSource::StaticBroker),
    ] {
        let set = synonyms.iter().find_map(|synonym| Some((synonym, layer.get(synonym.name)?)));
        if let Some((synonym, text)) = set {
            return told(in_unit_of_topic(synonym, text), source);
        }
    }
    EffectiveConfig { name: key.name, value: key.default.map(str::to_owned), source: ConfigSource::Default }
}

fn in_unit_of_topic(synonym: &TopicSynonym, text: &str) -> String {
    match value::java_trim(text).parse() {
        Ok(number) => converted(number, synonym.unit).to_string(),
        Err(_) => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(pairs: &[(&str, &str)]) -> Overrides {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    #[test]
    fn what_a_topic_may_not_have_is_refused() {
        let config = Config::with(&[]).unwrap();
        let check = |pairs: &[(&str, &str)]| {
            check_topic_overrides(&config, &overrides(pairs)).map_err(|error| error.0)
        };
        assert_eq!(check(&[("retention.ms", "5"), ("cleanup.policy", "compact,delete")]), Ok(()));
        for (pairs, text) in [
            (&[("message.format.version", "3.0")][..], "Unknown topic config name: message.format.version"),
            // Names are looked at before values.
            (&[("compression.type", "x"), ("nope", "1")], "Unknown topic config name: nope"),
            (
                &[("segment.bytes", "1")],
                "Invalid value 1 for configuration segment.bytes: Value must be at least 1048576",
            ),
            (
                &[("min.compaction.lag.ms", "10"), ("max.compaction.lag.ms", "5")],
                "conflict topic config setting min.compaction.lag.ms (10) > max.compaction.lag.ms (5)",
            ),
            (
                &[("remote.storage.enable", "true")],
                "Tiered Storage functionality is disabled in the broker. \
                 Topic cannot be configured with remote log storage.",
            ),
        ] {
            assert_eq!(check(pairs), Err(text.to_owned()));
        }
        let config = Config::with(&[("log.cleaner.max.compaction.lag.ms", "7")]).unwrap();
        assert!(check_topic_overrides(&config, &overrides(&[("min.compaction.lag.ms", "8")])).is_err());
        assert!(check_topic_overrides(&config, &overrides(&[("min.compaction.lag.ms", "7")])).is_ok());
    }

    #[test]
    fn each_config_is_told_with_its_source() {
        let mut config = Config::with(&[
            ("log.retention.hours", "2"),
            ("log.roll.ms", "9"),
            ("log.roll.hours", "1"),
            ("log.segment.bytes", "2000000"),
        ])
        .unwrap();
        config.sources.dynamic_default.insert("log.segment.bytes".to_owned(), "3000000".to_owned());
        config.sources.dynamic_broker.insert("message.max.bytes".to_owned(), "7".to_owned());
        let own = overrides(&[("retention.bytes", "5")]);
        let told = effective_topic_configs(&config, &own);
        assert!(told.is_sorted_by(|a, b| a.name < b.name));
        let one = |name: &str| {
            let config = told.iter().find(|config| config.name == name).unwrap();
            (config.value.as_deref().unwrap(), config.source)
        };
        assert_eq!(one("retention.bytes"), ("5", ConfigSource::DynamicTopic));
        assert_eq!(one("retention.ms"), ("7200000", ConfigSource::StaticBroker));
        assert_eq!(one("segment.ms"), ("9", ConfigSource::StaticBroker));
        assert_eq!(one("segment.bytes"), ("3000000", ConfigSource::DynamicDefaultBroker));
        assert_eq!(one("max.message.bytes"), ("7", ConfigSource::DynamicBroker));
        assert_eq!(one("cleanup.policy"), ("delete", ConfigSource::Default));
        assert_eq!(one("min.insync.replicas"), ("1", ConfigSource::DynamicDefaultBroker));
    }

    #[test]
    fn an_internal_config_is_told_when_it_is_set() {
        let config = Config::with(&[]).unwrap();
        let is_told = |own: &[(&str, &str)]| {
            let told = effective_topic_configs(&config, &overrides(own));
            told.iter().any(|config| config.name == "internal.segment.bytes")
        };
        assert!(!is_told(&[]) && is_told(&[("internal.segment.bytes", "1000")]));
    }
}
