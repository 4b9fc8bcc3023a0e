//! What the broker is told: Kafka's keys in layers of text → one typed, checked [`Config`].
//!
//! A file is weaker than the environment, which is weaker than flags; all three are the static config.
//! Over it lie the dynamic ones that clients set (for the whole cluster, then for this broker).
//! Knows no socket and no file: text comes in, values go out. Source: Kafka's `KafkaConfig`, `DynamicBrokerConfig`.

pub mod alter;
mod checks;
mod client_metrics;
pub mod describe;
pub mod env;
mod error;
mod group;
pub mod keys;
pub mod listeners;
mod live;
pub mod properties;
mod sources;
mod topic;
mod topic_overrides;
pub mod value;

pub use env::Environment;
pub use error::ConfigError;
pub use listeners::Listener;
pub use live::{BrokerScope, LiveConfig};
pub use sources::{ConfigSource, Sources};
pub use topic::{CleanupPolicy, TimestampType, TopicAtStart, TopicConfig};
pub use topic_overrides::{EffectiveConfig, check_topic_overrides, effective_topic_configs};

pub use value::Value;

/// The cluster id when nobody sets one; that of the apache/kafka image, so that it is the same everywhere.
pub const DEFAULT_CLUSTER_ID: &str = "5L6g3nShT-eMCtK--X86sw";

/// Declares [`Config`] and how it is read, so that a field and its key stand in one place.
macro_rules! config {
    ($($(#[doc = $doc:literal])+ $field:ident: $kind:ty = $key:literal,)*) => {
        /// The configuration of a broker. A field bears the name of its key, `.` written as `_`.
        #[derive(Clone, Debug)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $field: $kind,)*
            /// The id of this broker (`node.id`, or `broker.id`).
            pub node_id: i32,
            /// `CLUSTER_ID`.
            pub cluster_id: String,
            /// Where clients connect, at least one. Controller listeners are left out.
            pub listeners: Vec<Listener>,
            /// What a topic has that sets nothing of its own.
            pub topic_defaults: TopicConfig,
            /// Topics that exist from the start on.
            pub topics_at_start: Vec<TopicAtStart>,
            /// What was set, as text.
            pub sources: Sources,
        }

        /// The keys that [`Config`] reads into a field of their own, and what they are for.
        const KEYS_WITH_FIELD: &[(&str, &str)] = &[$(($key, concat!($($doc),+))),*];

        impl Config {
            /// Reads and checks everything that was set.
            ///
            /// # Errors
            /// The first value, or combination of values, that cannot be.
            pub fn from_sources(sources: Sources) -> Result<Self, ConfigError> {
                let config = Self {
                    $($field: <$kind>::from_value(sources.effective($key)?),)*
                    node_id: sources.node_id()?,
                    cluster_id: DEFAULT_CLUSTER_ID.to_owned(),
                    listeners: listeners::read(&sources)?,
                    topic_defaults: TopicConfig::defaults(&sources)?,
                    topics_at_start: Vec::new(),
                    sources,
                };
                checks::check(&config)?;
                Ok(config)
            }
        }
    };
}

config! {
    /// Whether asking for a topic creates it.
    auto_create_topics_enable: bool = "auto.create.topics.enable",
    /// Told to clients that choose near replicas.
    broker_rack: Option<String> = "broker.rack",
    /// A connection without a request for so long is closed. Milliseconds; below 0 never.
    connections_max_idle_ms: i64 = "connections.max.idle.ms",
    /// The replication factor of topics that ask for none (-1).
    default_replication_factor: i32 = "default.replication.factor",
    /// Whether DeleteTopics is allowed.
    delete_topic_enable: bool = "delete.topic.enable",
    /// The most bytes in one answer to Fetch, at least 1024.
    fetch_max_bytes: i32 = "fetch.max.bytes",
    /// The least time between two assignments of a consumer group. Milliseconds.
    group_consumer_assignment_interval_ms: i32 = "group.consumer.assignment.interval.ms",
    /// The assignors that members of consumer groups may ask for; the first is the default.
    group_consumer_assignors: Vec<String> = "group.consumer.assignors",
    /// How often members of consumer groups are to be heard. Milliseconds.
    group_consumer_heartbeat_interval_ms: i32 = "group.consumer.heartbeat.interval.ms",
    /// The most that a group may set for the time between two assignments. Milliseconds.
    group_consumer_max_assignment_interval_ms: i32 = "group.consumer.max.assignment.interval.ms",
    /// The most that a group may set for its heartbeats. Milliseconds.
    group_consumer_max_heartbeat_interval_ms: i32 = "group.consumer.max.heartbeat.interval.ms",
    /// The most that a group may set for its sessions. Milliseconds.
    group_consumer_max_session_timeout_ms: i32 = "group.consumer.max.session.timeout.ms",
    /// The most members of a consumer group, at least 1.
    group_consumer_max_size: i32 = "group.consumer.max.size",
    /// Which groups with members may change their protocol.
    group_consumer_migration_policy: String = "group.consumer.migration.policy",
    /// The least that a group may set for the time between two assignments. Milliseconds.
    group_consumer_min_assignment_interval_ms: i32 = "group.consumer.min.assignment.interval.ms",
    /// The least that a group may set for its heartbeats. Milliseconds.
    group_consumer_min_heartbeat_interval_ms: i32 = "group.consumer.min.heartbeat.interval.ms",
    /// The least that a group may set for its sessions. Milliseconds.
    group_consumer_min_session_timeout_ms: i32 = "group.consumer.min.session.timeout.ms",
    /// How often regular expressions of consumer groups are looked at again. Milliseconds.
    group_consumer_regex_refresh_interval_ms: i32 = "group.consumer.regex.refresh.interval.ms",
    /// How long a member of a consumer group may be silent. Milliseconds.
    group_consumer_session_timeout_ms: i32 = "group.consumer.session.timeout.ms",
    /// How long the first member of an empty classic group waits for others. Milliseconds.
    group_initial_rebalance_delay_ms: i32 = "group.initial.rebalance.delay.ms",
    /// The longest session timeout that a classic member may ask for. Milliseconds.
    group_max_session_timeout_ms: i32 = "group.max.session.timeout.ms",
    /// The most members of a classic group, at least 1.
    group_max_size: i32 = "group.max.size",
    /// The shortest session timeout that a classic member may ask for. Milliseconds.
    group_min_session_timeout_ms: i32 = "group.min.session.timeout.ms",
    /// How often logs are looked at for what `retention.ms` and `retention.bytes` remove. Milliseconds, at least 1.
    log_retention_check_interval_ms: i64 = "log.retention.check.interval.ms",
    /// New connections per second and listener.
    max_connection_creation_rate: i32 = "max.connection.creation.rate",
    /// The most open connections.
    max_connections: i32 = "max.connections",
    /// The most open connections from one address.
    max_connections_per_ip: i32 = "max.connections.per.ip",
    /// Other maxima for some addresses: `HOST:COUNT,HOST:COUNT`.
    max_connections_per_ip_overrides: String = "max.connections.per.ip.overrides",
    /// The most fetch sessions.
    max_incremental_fetch_session_cache_slots: i32 = "max.incremental.fetch.session.cache.slots",
    /// The most partitions in one answer to DescribeTopicPartitions, at least 1.
    max_request_partition_size_limit: i32 = "max.request.partition.size.limit",
    /// Partitions of a topic that asks for no number, at least 1.
    num_partitions: i32 = "num.partitions",
    /// The longest metadata of a committed offset, in UTF-16 units.
    offset_metadata_max_bytes: i32 = "offset.metadata.max.bytes",
    /// How often offsets are looked at for what retention removes. Milliseconds, at least 1.
    offsets_retention_check_interval_ms: i64 = "offsets.retention.check.interval.ms",
    /// How long offsets are kept that nobody uses. Minutes, at least 1.
    offsets_retention_minutes: i32 = "offsets.retention.minutes",
    /// Partitions of `__consumer_offsets`, at least 1: by them groups are spread.
    offsets_topic_num_partitions: i32 = "offsets.topic.num.partitions",
    /// `segment.bytes` of `__consumer_offsets`, at least 1.
    offsets_topic_segment_bytes: i32 = "offsets.topic.segment.bytes",
    /// How often producers are looked at for those that are gone. Milliseconds, at least 1.
    producer_id_expiration_check_interval_ms: i32 = "producer.id.expiration.check.interval.ms",
    /// How long the state of an idle producer is kept. Milliseconds, at least 1.
    producer_id_expiration_ms: i32 = "producer.id.expiration.ms",
    /// Connections that the system keeps waiting to be accepted, at least 1.
    socket_listen_backlog_size: i32 = "socket.listen.backlog.size",
    /// The memory that all groups may take together; new members and offsets beyond that are refused. Bytes.
    rallypoint_groups_max_bytes: i64 = "rallypoint.groups.max.bytes",
    /// The memory that all records may take together; what is produced beyond that is refused. Bytes.
    rallypoint_log_max_bytes: i64 = "rallypoint.log.max.bytes",
    /// The longest request. Bytes, at least 1.
    socket_request_max_bytes: i32 = "socket.request.max.bytes",
    /// How often transactions are looked for that are open for too long. Milliseconds, at least 1.
    transaction_abort_timed_out_transaction_cleanup_interval_ms: i32 =
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
    /// The longest timeout that a transactional producer may ask for. Milliseconds, at least 1.
    transaction_max_timeout_ms: i32 = "transaction.max.timeout.ms",
    /// Whether a batch of a client that adds partitions itself is looked up in its transaction first.
    transaction_partition_verification_enable: bool = "transaction.partition.verification.enable",
    /// How often transactional ids are looked for that nobody uses. Milliseconds, at least 1.
    transaction_remove_expired_transaction_cleanup_interval_ms: i32 =
        "transaction.remove.expired.transaction.cleanup.interval.ms",
    /// Partitions of `__transaction_state`, at least 1.
    transaction_state_log_num_partitions: i32 = "transaction.state.log.num.partitions",
    /// `segment.bytes` of `__transaction_state`, at least 1.
    transaction_state_log_segment_bytes: i32 = "transaction.state.log.segment.bytes",
    /// How long a transactional id is kept that nobody uses. Milliseconds, at least 1.
    transactional_id_expiration_ms: i32 = "transactional.id.expiration.ms",
}

/// Keys that something other than a field of [`Config`] or [`TopicConfig`] is made of.
const KEYS_BEHIND_LISTENERS_AND_IDS: &[&str] = &[
    "advertised.listeners",
    "broker.id",
    "controller.listener.names",
    "listener.security.protocol.map",
    "listeners",
    "node.id",
];

/// Whether broker key `name` changes anything here.
#[must_use]
pub fn has_effect(name: &str) -> bool {
    KEYS_BEHIND_LISTENERS_AND_IDS.contains(&name) || broker_key_documentation(name).is_some()
}

/// What broker key `name` is for, if it changes anything here.
#[must_use]
pub fn broker_key_documentation(name: &str) -> Option<&'static str> {
    let own = KEYS_WITH_FIELD.iter().find(|(key, _)| *key == name).map(|(_, text)| text.trim());
    own.or_else(|| topic::broker_key_documentation(name))
}

impl Config {
    /// Puts the layers of the static config together: `file` < `environment` < `flags`.
    ///
    /// What is accepted without effect is logged, and so are unknown keys in the environment.
    ///
    /// # Errors
    /// An unknown key in `file` or `flags`, or what [`Self::from_sources`] refuses.
    pub fn from_layers(
        file: &[(String, String)],
        environment: &Environment,
        flags: &[(String, String)],
    ) -> Result<Self, ConfigError> {
        for key in &environment.unknown {
            tracing::warn!("{key} in the environment stands for no known configuration and is ignored");
        }
        let mut sources = Sources::default();
        for (key, value) in file.iter().chain(&environment.settings).chain(flags) {
            sources.set_static(key, value)?;
        }
        for key in sources.static_broker.keys().filter(|key| !has_effect(key)) {
            tracing::info!("configuration {key} is accepted and has no effect here");
        }
        let mut config = Self::started_with(sources)?;
        if let Some(id) = &environment.cluster_id {
            config.cluster_id.clone_from(id);
        }
        config.topics_at_start.clone_from(&environment.topics);
        Ok(config)
    }

    /// The defaults with `overrides` (Kafka's key, value), as for a broker within a test.
    ///
    /// # Errors
    /// An unknown key, or what [`Self::from_sources`] refuses.
    pub fn with(overrides: &[(&str, &str)]) -> Result<Self, ConfigError> {
        let mut sources = Sources::default();
        for (key, value) in overrides {
            sources.set_static(key, value)?;
        }
        Self::started_with(sources)
    }

    fn started_with(mut sources: Sources) -> Result<Self, ConfigError> {
        sources.fill_presets()?;
        Self::from_sources(sources)
    }

    /// This configuration with other dynamic sources.
    ///
    /// # Errors
    /// What [`Self::from_sources`] refuses.
    pub fn with_sources(&self, sources: Sources) -> Result<Self, ConfigError> {
        let cluster_id = self.cluster_id.clone();
        let topics_at_start = self.topics_at_start.clone();
        Ok(Self { cluster_id, topics_at_start, ..Self::from_sources(sources)? })
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::started_with(Sources::default()).expect("the defaults are valid")
    }
}

/// How a field is made of the value of its key, whose type the key's table says.
trait FromValue {
    fn from_value(value: Option<Value>) -> Self;
}

impl FromValue for bool {
    fn from_value(value: Option<Value>) -> Self {
        matches!(value, Some(Value::Boolean(true)))
    }
}

impl FromValue for i64 {
    fn from_value(value: Option<Value>) -> Self {
        match value {
            Some(Value::Number(number)) => number,
            other => unreachable!("{other:?} is no number"),
        }
    }
}

impl FromValue for f64 {
    fn from_value(value: Option<Value>) -> Self {
        match value {
            Some(Value::Double(number)) => number,
            other => unreachable!("{other:?} is no double"),
        }
    }
}

impl FromValue for i32 {
    fn from_value(value: Option<Value>) -> Self {
        Self::try_from(i64::from_value(value)).expect("an INT has 32 bits")
    }
}

impl FromValue for Option<String> {
    fn from_value(value: Option<Value>) -> Self {
        value.map(|value| value.to_string())
    }
}

impl FromValue for String {
    fn from_value(value: Option<Value>) -> Self {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
}

impl FromValue for Vec<String> {
    fn from_value(value: Option<Value>) -> Self {
        match value {
            Some(Value::List(items)) => items,
            _ => Self::new(),
        }
    }
}

#[cfg(test)]
mod tests;
