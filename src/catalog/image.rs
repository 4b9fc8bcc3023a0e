//! A picture of the topics that is shared without a lock.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use super::Topic;
use crate::types::{self, TopicId, TopicName, TopicView};

/// The topics as they were at one moment. A later picture has a higher number.
#[derive(Clone, Debug)]
pub struct TopicImage {
    number: u64,
    newest_topic: u64,
    by_name: SharedMap<TopicName>,
    by_id: SharedMap<TopicId>,
}

impl TopicImage {
    pub(super) fn empty() -> Self {
        Self { number: 0, newest_topic: 0, by_name: SharedMap::empty(), by_id: SharedMap::empty() }
    }

    /// Counts the changes to the topics since the start.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// The topic with this name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<&Arc<Topic>> {
        self.by_name.get(name)
    }

    /// The topic with this id.
    #[must_use]
    pub fn by_id(&self, id: TopicId) -> Option<&Arc<Topic>> {
        self.by_id.get(&id)
    }

    /// Whether the topic exists and has this partition.
    #[must_use]
    pub fn has_partition(&self, name: &str, partition: i32) -> bool {
        self.by_name(name).is_some_and(|topic| topic.has_partition(partition))
    }

    pub(super) fn put(&mut self, topic: &Arc<Topic>) {
        self.number += 1;
        if self.by_id(topic.id).is_none() {
            self.newest_topic = self.number;
        }
        self.by_name.insert(topic.name.clone(), topic.clone());
        self.by_id.insert(topic.id, topic.clone());
    }

    pub(super) fn remove(&mut self, topic: &Topic) {
        self.number += 1;
        self.by_name.remove(&topic.name);
        self.by_id.remove(&topic.id);
    }
}

impl types::TopicImage for TopicImage {
    fn number(&self) -> u64 {
        self.number
    }

    fn newest_topic(&self) -> u64 {
        self.newest_topic
    }

    fn topic_by_name(&self, name: &str) -> Option<TopicView<'_>> {
        self.by_name(name).map(|topic| topic.view())
    }

    fn topic_by_id(&self, id: TopicId) -> Option<TopicView<'_>> {
        self.by_id(id).map(|topic| topic.view())
    }

    fn for_each_topic(&self, visit: &mut dyn FnMut(TopicView<'_>)) {
        for bucket in &self.by_name.buckets {
            bucket.values().for_each(|topic| visit(topic.view()));
        }
    }
}

impl Topic {
    fn view(&self) -> TopicView<'_> {
        TopicView { name: &self.name, id: self.id, partitions: self.partitions }
    }
}

/// With 100,000 topics a change copies some four hundred entries.
const BUCKETS: usize = 256;

/// A map that is cheap to clone: a change to a clone copies one bucket, not the map.
/// For look-up only, so that its order is nowhere seen.
#[derive(Clone, Debug)]
struct SharedMap<K> {
    hasher: RandomState,
    buckets: Vec<Arc<HashMap<K, Arc<Topic>>>>,
}

impl<K: Clone + Eq + Hash> SharedMap<K> {
    fn empty() -> Self {
        Self { hasher: RandomState::new(), buckets: vec![Arc::default(); BUCKETS] }
    }

    fn get<Q>(&self, key: &Q) -> Option<&Arc<Topic>>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.buckets[self.bucket_of(key)].get(key)
    }

    fn insert(&mut self, key: K, topic: Arc<Topic>) {
        let bucket = self.bucket_of(&key);
        Arc::make_mut(&mut self.buckets[bucket]).insert(key, topic);
    }

    fn remove(&mut self, key: &K) {
        let bucket = self.bucket_of(key);
        Arc::make_mut(&mut self.buckets[bucket]).remove(key);
    }

    fn bucket_of<Q: Hash + ?Sized>(&self, key: &Q) -> usize {
        // The remainder is below BUCKETS.
        (self.hasher.hash_one(key) % BUCKETS as u64) as usize
    }
}
