//! Where a value comes from: the layers of text behind a [`super::Config`].

use std::collections::BTreeMap;

use super::ConfigError;
use super::keys::{broker_key, listener_key};
use super::value::{self, Value};

/// What was set for the broker, as text and by layer; the strongest layer is the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Key → value from file, environment and flags.
    pub static_broker: BTreeMap<String, String>,
    /// Key → value that clients set for all brokers.
    pub dynamic_default: BTreeMap<String, String>,
    /// Key → value that clients set for this broker.
    pub dynamic_broker: BTreeMap<String, String>,
}

/// Where a value comes from, as clients are told it (Kafka's `ConfigSource`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// Set for the topic.
    DynamicTopic,
    /// Set by a client for this broker.
    DynamicBroker,
    /// Set by a client for all brokers.
    DynamicDefaultBroker,
    /// Set by file, environment or flag.
    StaticBroker,
    /// Not set.
    Default,
    /// The level of a logger.
    DynamicBrokerLogger,
    /// Set for the client metrics subscription.
    ClientMetrics,
    /// Set for the group.
    Group,
}

impl ConfigSource {
    /// The number that clients know it by.
    #[must_use]
    pub const fn code(self) -> i8 {
        match self {
            Self::DynamicTopic => 1,
            Self::DynamicBroker => 2,
            Self::DynamicDefaultBroker => 3,
            Self::StaticBroker => 4,
            Self::Default => 5,
            Self::DynamicBrokerLogger => 6,
            Self::ClientMetrics => 7,
            Self::Group => 8,
        }
    }
}

impl Sources {
    /// Sets `key` in the static config.
    ///
    /// # Errors
    /// An unknown key, or a value that the key does not take.
    pub fn set_static(&mut self, key: &str, text: &str) -> Result<(), ConfigError> {
        let known =
            broker_key(key).or_else(|| listener_key(key)).ok_or_else(|| ConfigError::unknown_key(key))?;
        value::parse(known, text)?;
        self.static_broker.insert(key.to_owned(), text.to_owned());
        Ok(())
    }

    /// What is set for `key`, from the strongest layer that sets it.
    #[must_use]
    pub fn explicit(&self, key: &str) -> Option<&str> {
        [&self.dynamic_broker, &self.dynamic_default, &self.static_broker]
            .into_iter()
            .find_map(|layer| layer.get(key))
            .map(String::as_str)
    }

    /// The value of broker key `key`: what is set, or the default; `None` is null.
    ///
    /// # Errors
    /// An unknown key, or a value that the key does not take.
    pub fn effective(&self, key: &str) -> Result<Option<Value>, ConfigError> {
        let known = broker_key(key).ok_or_else(|| ConfigError::unknown_key(key))?;
        let text = self.explicit(key).or(known.default);
        text.map(|text| value::parse(known, text).map_err(ConfigError::from)).transpose()
    }

    /// The number that broker key `key` has; `None` if it is null or no number.
    ///
    /// # Errors
    /// As for [`Self::effective`].
    pub fn number(&self, key: &str) -> Result<Option<i64>, ConfigError> {
        Ok(match self.effective(key)? {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        })
    }

    /// Sets what a broker must be told and nobody has told: enough for development on one machine.
    ///
    /// # Errors
    /// `node.id` and `broker.id` that differ.
    pub(super) fn fill_presets(&mut self) -> Result<(), ConfigError> {
        let ids = (self.static_broker.get("node.id").cloned(), self.static_broker.get("broker.id").cloned());
        let (node, broker) = match ids {
            (Some(node), Some(broker)) => (node, broker),
            (Some(id), None) | (None, Some(id)) => (id.clone(), id),
            (None, None) => ("1".to_owned(), "1".to_owned()),
        };
        self.set_static("node.id", &node)?;
        self.set_static("broker.id", &broker)?;
        if self.number("node.id")? != self.number("broker.id")? {
            let message = "`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, \
                           please use `node.id` instead.";
            return Err(ConfigError::Invalid(message.to_owned()));
        }
        for (key, value) in PRESETS {
            self.static_broker.entry((*key).to_owned()).or_insert_with(|| (*value).to_owned());
        }
        // A cluster with eligible leader replicas (KIP-966) is born with this one as a dynamic config.
        let min_insync_replicas = self.effective(MIN_INSYNC_REPLICAS)?.map(|value| value.to_string());
        self.dynamic_default.extend(min_insync_replicas.map(|value| (MIN_INSYNC_REPLICAS.to_owned(), value)));
        Ok(())
    }

    /// `node.id`.
    pub(super) fn node_id(&self) -> Result<i32, ConfigError> {
        let id = self.number("node.id")?.and_then(|id| i32::try_from(id).ok());
        Ok(id.expect("a preset INT"))
    }
}

/// The key that a cluster with eligible leader replicas always has among its dynamic configs.
pub(super) const MIN_INSYNC_REPLICAS: &str = "min.insync.replicas";

/// What Kafka leaves to its user, and the one default of ours.
// Differs from Kafka: it listens on this machine only, and a new group does not wait for more members (as in Kafka's
// configurations for development).
const PRESETS: &[(&str, &str)] = &[
    ("controller.listener.names", "CONTROLLER"),
    ("group.initial.rebalance.delay.ms", "0"),
    ("listeners", "PLAINTEXT://127.0.0.1:9092"),
    ("process.roles", "broker,controller"),
];
