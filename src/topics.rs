//! Topics with their records: the one place where the catalog and the log change together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::catalog::{Catalog, CatalogError, Overrides, Topic, TopicImage, name, random_topic_id};
use crate::config::{Config, TimestampType, TopicConfig};
use crate::limits::PARTITIONS_MAX;
use crate::log::{Log, LogConfig, LogSettings};
use crate::types::TopicId;

/// A topic that is to be created.
#[derive(Clone, Debug)]
pub struct NewTopic<'a> {
    pub name: &'a str,
    /// From [`random_topic_id`].
    pub id: TopicId,
    /// At least 1.
    pub partitions: i32,
    /// Checked by the config room.
    pub overrides: Overrides,
}

impl NewTopic<'_> {
    /// How many partitions it adds.
    #[must_use]
    pub fn partition_count(&self) -> usize {
        usize::try_from(self.partitions).unwrap_or(0)
    }
}

/// Which topics there are, and what is in them.
///
/// A topic is created, grown, configured and deleted only here, so that the log always has the partitions that the
/// catalog shows.
#[derive(Debug)]
pub struct Topics {
    catalog: Catalog,
    /// The records. Its topics are changed by the functions of [`Topics`] only.
    pub log: Log,
    latest: Arc<LatestImage>,
}

/// The newest picture of the topics, for those who look without the lock on them.
#[derive(Debug)]
pub struct LatestImage {
    number: AtomicU64,
    image: Mutex<Arc<TopicImage>>,
}

impl LatestImage {
    /// The number of the picture.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    /// The picture.
    #[must_use]
    pub fn get(&self) -> Arc<TopicImage> {
        self.image.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, image: Arc<TopicImage>) {
        let number = image.number();
        *self.image.lock().unwrap_or_else(PoisonError::into_inner) = image;
        self.number.store(number, Ordering::Release);
    }
}

impl Topics {
    /// No topics.
    #[must_use]
    pub fn new(log: Log) -> Self {
        let catalog = Catalog::new(PARTITIONS_MAX);
        let latest = LatestImage { number: AtomicU64::new(0), image: Mutex::new(catalog.image()) };
        Self { catalog, log, latest: Arc::new(latest) }
    }

    /// Where the newest picture of the topics is to be found from now on.
    #[must_use]
    pub fn latest(&self) -> Arc<LatestImage> {
        Arc::clone(&self.latest)
    }

    fn publish(&self) {
        self.latest.set(self.catalog.image());
    }

    /// Which topics there are.
    #[must_use]
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Both parts at once, to look a topic up while its log is changed.
    pub const fn split(&mut self) -> (&Catalog, &mut Log) {
        (&self.catalog, &mut self.log)
    }

    /// Creates a topic. Whether clients may give it this name is for [`Catalog::check_new_name`].
    ///
    /// # Errors
    /// Those of [`Catalog::create`].
    pub fn create(&mut self, config: &Config, new: NewTopic<'_>) -> Result<Arc<Topic>, CatalogError> {
        let topic = self.catalog.create(new.name, new.id, new.partitions, new.overrides)?;
        self.log.create_topic(topic.id, topic.name.clone(), topic.partitions, log_config(config, &topic));
        self.publish();
        Ok(topic)
    }

    /// Creates a topic because someone asked for it, as Kafka's `AutoTopicCreationManager` does: an internal one with
    /// the settings it needs, any other with the defaults.
    ///
    /// # Errors
    /// Those of [`Catalog::check_new_name`] and [`Catalog::create`]; `InvalidReplicationFactor`.
    pub fn auto_create(
        &mut self,
        config: &Config,
        name: &str,
        random: u128,
    ) -> Result<Arc<Topic>, CatalogError> {
        self.catalog.check_new_name(name)?;
        let (partitions, overrides) = match name {
            // Differs from Kafka: the one broker holds it whatever `offsets.topic.replication.factor` (3) says.
            name::CONSUMER_OFFSETS => {
                (config.offsets_topic_num_partitions, consumer_offsets_overrides(config))
            }
            // Differs from Kafka: `__transaction_state` stays empty, whose contents are nobody's but the coordinator's;
            // `transaction.state.log.replication.factor` (3) and `transaction.state.log.min.isr` (2) do not matter.
            name::TRANSACTION_STATE => {
                (config.transaction_state_log_num_partitions, transaction_state_overrides(config))
            }
            // Differs from Kafka: the internal topics of what is not served are not created.
            _ if name::is_internal(name) => return Err(CatalogError::UnknownTopicOrPartition),
            name::CLUSTER_METADATA => return Err(CatalogError::UnknownTopicOrPartition),
            _ => {
                check_replication_factor(config.default_replication_factor)?;
                (config.num_partitions, Overrides::new())
            }
        };
        self.create(config, NewTopic { name, id: random_topic_id(random), partitions, overrides })
    }

    /// Creates the topics that the configuration asks for; `random` draws the bits of a topic id.
    ///
    /// # Errors
    /// Which topic cannot be created, and why, in one line.
    pub fn create_at_start(
        &mut self,
        config: &Config,
        mut random: impl FnMut() -> u128,
    ) -> Result<(), String> {
        for topic in &config.topics_at_start {
            let policy =
                topic.cleanup_policy.iter().map(|policy| ("cleanup.policy".into(), policy.as_str().into()));
            let new = NewTopic {
                name: &topic.name,
                id: random_topic_id(random()),
                partitions: topic.partitions.unwrap_or(config.num_partitions),
                overrides: policy.collect(),
            };
            self.create(config, new).map_err(|error| format!("topic {}: {error}", topic.name))?;
        }
        Ok(())
    }

    /// Grows a topic to `partitions` partitions.
    ///
    /// # Errors
    /// Those of [`Catalog::grow`].
    pub fn grow(&mut self, id: TopicId, partitions: i32) -> Result<Arc<Topic>, CatalogError> {
        let topic = self.catalog.grow(id, partitions)?;
        self.log.grow_topic(id, partitions);
        self.publish();
        Ok(topic)
    }

    /// Replaces the configs that clients have set for a topic, after the config room has checked them.
    ///
    /// # Errors
    /// `UnknownTopicId`.
    pub fn configure(
        &mut self,
        config: &Config,
        id: TopicId,
        overrides: Overrides,
    ) -> Result<Arc<Topic>, CatalogError> {
        let topic = self.catalog.set_overrides(id, overrides)?;
        self.log.configure_topic(id, log_config(config, &topic));
        Ok(topic)
    }

    /// Tells every topic that the defaults in `config` have changed.
    pub fn reconfigure(&mut self, config: &Config) {
        self.log.expire_producers_after(config.producer_id_expiration_ms.into());
        for topic in self.catalog.iter() {
            self.log.configure_topic(topic.id, log_config(config, topic));
        }
    }

    /// Deletes a topic with its records. Fetches that wait for them become ready; the groups are to be told by the
    /// caller.
    ///
    /// # Errors
    /// `UnknownTopicId`.
    pub fn delete(&mut self, id: TopicId) -> Result<Arc<Topic>, CatalogError> {
        let topic = self.catalog.delete(id)?;
        self.log.delete_topic(id);
        self.publish();
        Ok(topic)
    }
}

/// Whether the one broker can hold so many replicas of a partition.
///
/// # Errors
/// `InvalidReplicationFactor`.
pub fn check_replication_factor(factor: i32) -> Result<(), CatalogError> {
    if factor == 1 {
        return Ok(());
    }
    Err(CatalogError::InvalidReplicationFactor(format!(
        "Unable to replicate the partition {factor} time(s): The target replication factor of {factor} cannot be \
         reached because only 1 broker(s) are registered or some brokers have all their log directories cordoned."
    )))
}

fn consumer_offsets_overrides(config: &Config) -> Overrides {
    Overrides::from([
        ("cleanup.policy".into(), "compact".into()),
        ("compression.type".into(), "producer".into()),
        ("segment.bytes".into(), config.offsets_topic_segment_bytes.to_string().into()),
    ])
}

fn transaction_state_overrides(config: &Config) -> Overrides {
    Overrides::from([
        ("cleanup.policy".into(), "compact".into()),
        ("compression.type".into(), "uncompressed".into()),
        ("min.insync.replicas".into(), "1".into()),
        ("segment.bytes".into(), config.transaction_state_log_segment_bytes.to_string().into()),
        ("unclean.leader.election.enable".into(), "false".into()),
    ])
}

/// What the configuration says to the log as a whole. `seed` is random.
#[must_use]
pub fn log_settings(config: &Config, seed: u64) -> LogSettings {
    LogSettings {
        retention_check_interval_ms: config.log_retention_check_interval_ms,
        producer_id_expiration_ms: config.producer_id_expiration_ms.into(),
        producer_check_interval_ms: config.producer_id_expiration_check_interval_ms.into(),
        bytes_max: usize::try_from(config.rallypoint_log_max_bytes).unwrap_or(usize::MAX),
        fetch_sessions_max: usize::try_from(config.max_incremental_fetch_session_cache_slots).unwrap_or(0),
        seed,
    }
}

fn log_config(config: &Config, topic: &Topic) -> LogConfig {
    let config = TopicConfig::of(config, &topic.overrides);
    let unless_negative = |number: i64| (number >= 0).then_some(number);
    LogConfig {
        retention_ms: unless_negative(config.retention_ms),
        retention_bytes: unless_negative(config.retention_bytes),
        max_message_bytes: usize::try_from(config.max_message_bytes).unwrap_or(0),
        segment_bytes: usize::try_from(config.segment_bytes).unwrap_or(0),
        log_append_time: config.message_timestamp_type == TimestampType::LogAppendTime,
        timestamp_before_max_ms: config.message_timestamp_before_max_ms,
        timestamp_after_max_ms: config.message_timestamp_after_max_ms,
        delete: config.cleanup_policy.delete,
        compact: config.cleanup_policy.compact,
        delete_retention_ms: config.delete_retention_ms,
        min_compaction_lag_ms: config.min_compaction_lag_ms,
        max_compaction_lag_ms: config.max_compaction_lag_ms,
        min_cleanable_dirty_ratio: config.min_cleanable_dirty_ratio,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TopicAtStart;
    use crate::log::TopicIdPartition;
    use crate::types::Now;

    fn topics() -> Topics {
        Topics::new(Log::new(Now::default(), LogSettings::default()))
    }

    #[test]
    fn the_memory_of_the_log_is_configured() {
        assert_eq!(log_settings(&Config::default(), 0).bytes_max, LogSettings::default().bytes_max);
        let config = Config::with(&[("rallypoint.log.max.bytes", "12345")]).unwrap();
        assert_eq!(log_settings(&config, 0).bytes_max, 12345);
    }

    fn partitions_in_log(topics: &Topics, topic: TopicId) -> usize {
        let exists = |partition| topics.log.high_watermark(TopicIdPartition { topic, partition }).is_ok();
        (0..100).take_while(|&partition| exists(partition)).count()
    }

    #[test]
    fn the_log_has_the_partitions_of_the_catalog() {
        let (mut topics, config) = (topics(), Config::with(&[]).unwrap());
        let new = NewTopic { name: "a", id: TopicId(7), partitions: 2, overrides: Overrides::new() };
        let id = topics.create(&config, new.clone()).unwrap().id;
        assert_eq!(partitions_in_log(&topics, id), 2);
        assert!(topics.create(&config, NewTopic { id: TopicId(8), partitions: 9, ..new }).is_err());
        assert_eq!(partitions_in_log(&topics, TopicId(8)), 0);

        assert!(topics.grow(id, 1).is_err());
        assert_eq!(partitions_in_log(&topics, id), 2);
        assert_eq!(topics.grow(id, 5).unwrap().partitions, 5);
        assert_eq!(partitions_in_log(&topics, id), 5);

        assert_eq!(topics.delete(id).unwrap().name.as_str(), "a");
        assert_eq!(partitions_in_log(&topics, id), 0);
        assert_eq!(topics.delete(id), Err(CatalogError::UnknownTopicId));
    }

    #[test]
    fn topics_are_created_on_demand_with_what_they_need() {
        let mut topics = topics();
        let config = Config::with(&[
            ("num.partitions", "3"),
            ("offsets.topic.num.partitions", "5"),
            ("offsets.topic.segment.bytes", "2000000"),
        ])
        .unwrap();
        let orders = topics.auto_create(&config, "orders", 1).unwrap();
        assert_eq!((orders.partitions, orders.internal, orders.overrides.len()), (3, false, 0));
        let offsets = topics.auto_create(&config, "__consumer_offsets", 2).unwrap();
        assert_eq!((offsets.partitions, offsets.internal), (5, true));
        assert_eq!(offsets.overrides["segment.bytes"].as_ref(), "2000000");
        assert_eq!(offsets.overrides["cleanup.policy"].as_ref(), "compact");
        assert_eq!(partitions_in_log(&topics, offsets.id), 5);
        let state = topics.auto_create(&config, "__transaction_state", 3).unwrap();
        assert_eq!((state.partitions, state.internal), (50, true));
        assert_eq!(state.overrides["cleanup.policy"].as_ref(), "compact");
    }

    #[test]
    fn topics_are_created_at_start() {
        let mut topics = topics();
        let mut config = Config::with(&[("num.partitions", "3")]).unwrap();
        let compacted =
            TopicAtStart { cleanup_policy: Some("compact".to_owned()), ..TopicAtStart::parse("a").unwrap() };
        config.topics_at_start = vec![compacted, TopicAtStart::parse("b:2").unwrap()];
        let mut random = 0..;
        assert_eq!(topics.create_at_start(&config, || random.next().unwrap()), Ok(()));
        let topic = |name| topics.catalog().by_name(name).unwrap().clone();
        assert_eq!((topic("a").partitions, topic("b").partitions), (3, 2));
        assert_eq!(topic("a").overrides["cleanup.policy"].as_ref(), "compact");
        assert_eq!(partitions_in_log(&topics, topic("b").id), 2);

        config.topics_at_start = vec![TopicAtStart::parse("c:100000").unwrap()];
        let refusal = topics.create_at_start(&config, || random.next().unwrap()).unwrap_err();
        assert!(refusal.starts_with("topic c: Unable to add 100000 partition(s)"), "{refusal}");
    }

    #[test]
    fn creation_on_demand_is_refused() {
        let mut topics = topics();
        let config = Config::with(&[("default.replication.factor", "3")]).unwrap();
        topics.auto_create(&config, "__consumer_offsets", 1).unwrap();
        let mut refusal = |name| topics.auto_create(&config, name, 2).unwrap_err();
        assert!(matches!(refusal("__consumer_offsets"), CatalogError::TopicAlreadyExists(_)));
        assert!(matches!(refusal(".."), CatalogError::InvalidTopicException(_)));
        assert!(matches!(refusal("orders"), CatalogError::InvalidReplicationFactor(_)));
        assert_eq!(refusal("__share_group_state"), CatalogError::UnknownTopicOrPartition);
        assert_eq!(refusal("__cluster_metadata"), CatalogError::UnknownTopicOrPartition);
    }

    #[test]
    fn what_a_topic_is_told_reaches_its_log() {
        let overrides = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect::<Overrides>()
        };
        let config = Config::with(&[("log.retention.bytes", "9")]).unwrap();
        let of = |pairs| {
            let topic = Topic {
                name: "a".into(),
                id: TopicId(7),
                partitions: 1,
                internal: false,
                overrides: overrides(pairs),
            };
            log_config(&config, &topic)
        };
        assert_eq!(of(&[]), LogConfig { retention_bytes: Some(9), ..LogConfig::default() });
        assert_eq!(
            of(&[
                ("retention.ms", "-1"),
                ("retention.bytes", "-1"),
                ("cleanup.policy", "compact"),
                ("message.timestamp.type", "LogAppendTime"),
                ("max.message.bytes", "5"),
            ]),
            LogConfig {
                retention_ms: None,
                retention_bytes: None,
                max_message_bytes: 5,
                log_append_time: true,
                delete: false,
                compact: true,
                ..LogConfig::default()
            }
        );
    }
}
