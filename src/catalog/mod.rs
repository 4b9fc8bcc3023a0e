//! Which topics there are: names, ids, partition counts and explicit configs.
//!
//! Turns created, grown and deleted topics into look-ups by name and by id, walks in name
//! order, and [`TopicImage`]s for those who look without a lock. Knows nothing of records
//! (that is the log), of default configs (config) or of error codes (api). Without clock and
//! randomness. Source: Kafka's `ReplicationControlManager` and `Topic`.

mod image;
pub mod name;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

pub use self::image::TopicImage;
use crate::types::{TopicId, TopicName};

/// Config key → value, as set by a client: what is absent has the broker's default.
pub type Overrides = BTreeMap<Box<str>, Box<str>>;

/// One topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    pub name: TopicName,
    pub id: TopicId,
    /// At least 1. Partitions are numbered from 0.
    pub partitions: i32,
    /// Written by the broker itself, such as `__consumer_offsets`.
    pub internal: bool,
    pub overrides: Overrides,
}

impl Topic {
    /// Whether the topic has a partition with this index.
    #[must_use]
    pub const fn has_partition(&self, partition: i32) -> bool {
        partition >= 0 && partition < self.partitions
    }
}

/// Why the catalog refuses. Variants bear the names of Kafka's errors, texts are Kafka's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    InvalidTopicException(String),
    TopicAlreadyExists(String),
    UnknownTopicOrPartition,
    UnknownTopicId,
    InvalidPartitions(String),
    InvalidReplicationFactor(String),
    PolicyViolation(String),
}

impl CatalogError {
    /// What Kafka says about it, `None` where it has only the error's default text.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::InvalidTopicException(text)
            | Self::TopicAlreadyExists(text)
            | Self::InvalidPartitions(text)
            | Self::InvalidReplicationFactor(text)
            | Self::PolicyViolation(text) => Some(text),
            Self::UnknownTopicOrPartition | Self::UnknownTopicId => None,
        }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            Some(text) => f.write_str(text),
            None => fmt::Debug::fmt(self, f),
        }
    }
}

impl std::error::Error for CatalogError {}

/// All topics.
#[derive(Debug)]
pub struct Catalog {
    by_name: BTreeMap<TopicName, Arc<Topic>>,
    /// Names that would share a metric → the topics that have them.
    colliding: BTreeMap<String, BTreeSet<TopicName>>,
    image: Arc<TopicImage>,
    partitions: usize,
    partitions_max: usize,
}

impl Catalog {
    /// No topics, and room for `partitions_max` partitions in all.
    #[must_use]
    pub fn new(partitions_max: usize) -> Self {
        Self {
            by_name: BTreeMap::new(),
            colliding: BTreeMap::new(),
            image: Arc::new(TopicImage::empty()),
            partitions: 0,
            partitions_max,
        }
    }

    /// The topic with this name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&Arc<Topic>> {
        self.image.by_name(name)
    }

    /// The topic with this id.
    #[must_use]
    pub fn by_id(&self, id: TopicId) -> Option<&Arc<Topic>> {
        self.image.by_id(id)
    }

    /// All topics in name order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Topic>> {
        self.by_name.values()
    }

    /// The topics from `name` on (this one included), in name order.
    pub fn iter_from(&self, name: &str) -> impl Iterator<Item = &Arc<Topic>> {
        self.by_name.range::<str, _>((Bound::Included(name), Bound::Unbounded)).map(|(_, topic)| topic)
    }

    /// How many topics there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there is no topic.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The topics as they are now.
    #[must_use]
    pub fn image(&self) -> Arc<TopicImage> {
        self.image.clone()
    }

    /// Whether a client may create a topic with this name.
    ///
    /// # Errors
    /// `TopicAlreadyExists`; `InvalidTopicException` for an illegal name, or one that differs from
    /// an existing one only in `.` and `_`.
    pub fn check_new_name(&self, name: &str) -> Result<(), CatalogError> {
        if self.by_name(name).is_some() {
            return Err(already_exists(name));
        }
        if let Some(existing) = self.collision(name) {
            let text = format!("Topic '{name}' collides with existing topic: {existing}");
            return Err(CatalogError::InvalidTopicException(text));
        }
        name::validate(name).map_err(CatalogError::InvalidTopicException)
    }

    /// Whether there is room for this many partitions more.
    ///
    /// # Errors
    /// `PolicyViolation`, which no client retries.
    pub fn check_room(&self, additional: usize) -> Result<(), CatalogError> {
        // Differs from Kafka: the number of partitions of all topics is bounded.
        if additional > self.partitions_max - self.partitions {
            let text = format!(
                "Unable to add {additional} partition(s): there are {} of at most {}.",
                self.partitions, self.partitions_max
            );
            return Err(CatalogError::PolicyViolation(text));
        }
        Ok(())
    }

    /// Adds a topic. Names that collide are no obstacle here: Kafka creates both when one request
    /// asks for both, so whoever checks a request uses [`Catalog::check_new_name`] first.
    /// `id` comes from [`random_topic_id`].
    ///
    /// # Errors
    /// `TopicAlreadyExists`, `InvalidTopicException`, `InvalidPartitions`, `PolicyViolation`.
    pub fn create(
        &mut self,
        name: &str,
        id: TopicId,
        partitions: i32,
        overrides: Overrides,
    ) -> Result<Arc<Topic>, CatalogError> {
        if self.by_name(name).is_some() {
            return Err(already_exists(name));
        }
        name::validate(name).map_err(CatalogError::InvalidTopicException)?;
        let added = usize::try_from(partitions).unwrap_or(0);
        if added == 0 {
            let text = "Number of partitions was set to an invalid non-positive value.".to_owned();
            return Err(CatalogError::InvalidPartitions(text));
        }
        self.check_room(added)?;
        assert!(self.by_id(id).is_none(), "topic ids are random, so this one cannot be taken");

        let internal = name::is_internal(name);
        let topic = Topic { name: TopicName::from(name), id, partitions, internal, overrides };
        self.partitions += added;
        if let Some(key) = name::collision_key(name) {
            self.colliding.entry(key).or_default().insert(topic.name.clone());
        }
        Ok(self.put(topic))
    }

    /// Removes a topic and gives back what it was.
    ///
    /// # Errors
    /// `UnknownTopicId`.
    pub fn delete(&mut self, id: TopicId) -> Result<Arc<Topic>, CatalogError> {
        let topic = self.by_id(id).ok_or(CatalogError::UnknownTopicId)?.clone();
        self.by_name.remove(&topic.name);
        self.partitions -= usize::try_from(topic.partitions).unwrap_or(0);
        if let Some(key) = name::collision_key(topic.name.as_str())
            && let Some(names) = self.colliding.get_mut(&key)
        {
            names.remove(&topic.name);
            if names.is_empty() {
                self.colliding.remove(&key);
            }
        }
        Arc::make_mut(&mut self.image).remove(&topic);
        Ok(topic)
    }

    /// Grows a topic to `partitions` partitions and gives back what it is now.
    ///
    /// # Errors
    /// `UnknownTopicId`, `InvalidPartitions` unless it is an increase, `PolicyViolation`.
    pub fn grow(&mut self, id: TopicId, partitions: i32) -> Result<Arc<Topic>, CatalogError> {
        let topic = self.by_id(id).ok_or(CatalogError::UnknownTopicId)?.clone();
        topic.check_growth(partitions)?;
        let added = usize::try_from(partitions - topic.partitions).unwrap_or(0);
        self.check_room(added)?;
        self.partitions += added;
        Ok(self.put(Topic { partitions, ..Topic::clone(&topic) }))
    }

    /// Replaces the configs that clients have set for a topic.
    ///
    /// # Errors
    /// `UnknownTopicId`.
    pub fn set_overrides(&mut self, id: TopicId, overrides: Overrides) -> Result<Arc<Topic>, CatalogError> {
        let topic = self.by_id(id).ok_or(CatalogError::UnknownTopicId)?.clone();
        Ok(self.put(Topic { overrides, ..Topic::clone(&topic) }))
    }

    fn put(&mut self, topic: Topic) -> Arc<Topic> {
        let topic = Arc::new(topic);
        self.by_name.insert(topic.name.clone(), topic.clone());
        Arc::make_mut(&mut self.image).put(&topic);
        topic
    }

    fn collision(&self, name: &str) -> Option<&TopicName> {
        self.colliding.get(&name::collision_key(name)?)?.first()
    }
}

impl Topic {
    /// Whether `partitions` is an increase.
    ///
    /// # Errors
    /// `InvalidPartitions`.
    pub fn check_growth(&self, partitions: i32) -> Result<(), CatalogError> {
        if partitions > self.partitions {
            return Ok(());
        }
        let text = if partitions == self.partitions {
            format!("Topic already has {} partition(s).", self.partitions)
        } else {
            format!(
                "The topic {} currently has {} partition(s); {partitions} would not be an increase.",
                self.name, self.partitions
            )
        };
        Err(CatalogError::InvalidPartitions(text))
    }
}

/// Makes a topic id of 128 random bits: a UUID of version 4 that, as text, does not begin with
/// a dash (Kafka's `Uuid.randomUuid`, so that ids can be given to command line tools).
#[must_use]
pub fn random_topic_id(random: u128) -> TopicId {
    let id = uuid::Builder::from_u128(random).with_version(uuid::Version::Random).into_uuid().as_u128();
    let first_digit_of_base64 = id >> 122;
    let is_dash = first_digit_of_base64 == 62;
    TopicId(if is_dash { id ^ (1 << 127) } else { id })
}

fn already_exists(name: &str) -> CatalogError {
    CatalogError::TopicAlreadyExists(format!("Topic '{name}' already exists."))
}

#[cfg(test)]
mod tests;
