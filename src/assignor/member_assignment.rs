//! What one member is given.

use std::fmt;
use std::sync::Arc;

use crate::types::TopicId;

/// TopicId → partitions, both ascending; no topic without partitions. A clone shares what it holds.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct MemberAssignment(Option<Arc<Partitions>>);

#[derive(PartialEq, Eq)]
struct Partitions {
    /// Each topic, and where its partitions end. Members that have as many of the same topics share it.
    topics: Arc<[(TopicId, usize)]>,
    /// The partitions of all topics, one topic after another.
    partitions: Box<[i32]>,
}

impl MemberAssignment {
    /// Whether it has no partition.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many partitions it has, over all topics.
    #[must_use]
    pub fn partition_count(&self) -> usize {
        self.0.as_deref().map_or(0, |held| held.partitions.len())
    }

    /// Each topic with its partitions.
    pub fn iter(&self) -> impl Iterator<Item = (TopicId, &[i32])> {
        let (topics, partitions) = match self.0.as_deref() {
            Some(held) => (&*held.topics, &*held.partitions),
            None => (&[][..], &[][..]),
        };
        let mut start = 0;
        topics.iter().map(move |&(topic_id, end)| {
            let of_topic = &partitions[start..end];
            start = end;
            (topic_id, of_topic)
        })
    }

    /// The partitions of a topic; none if it has none.
    #[must_use]
    pub fn get(&self, topic_id: TopicId) -> &[i32] {
        let Some(held) = self.0.as_deref() else { return &[] };
        let Ok(at) = held.topics.binary_search_by_key(&topic_id, |topic| topic.0) else { return &[] };
        let start = at.checked_sub(1).map_or(0, |before| held.topics[before].1);
        &held.partitions[start..held.topics[at].1]
    }

    /// Whether both are the same piece of memory, and so equal without a look at the partitions.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

/// In any order, with repetitions.
impl FromIterator<(TopicId, i32)> for MemberAssignment {
    fn from_iter<I: IntoIterator<Item = (TopicId, i32)>>(partitions: I) -> Self {
        let mut sorted: Vec<(TopicId, i32)> = partitions.into_iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        let mut builder = Builder::default();
        for of_topic in sorted.chunk_by(|a, b| a.0 == b.0) {
            builder.push(of_topic[0].0, of_topic.iter().map(|&(_, partition)| partition));
        }
        builder.build()
    }
}

impl fmt::Debug for MemberAssignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Puts assignments together, topic by topic.
#[derive(Default)]
pub(super) struct Builder {
    topics: Vec<(TopicId, usize)>,
    partitions: Vec<i32>,
    /// The topics of the assignment before.
    shared: Arc<[(TopicId, usize)]>,
}

impl Builder {
    /// Adds a topic behind all that were added; `partitions` are ascending.
    pub(super) fn push(&mut self, topic_id: TopicId, partitions: impl Iterator<Item = i32>) {
        let start = self.partitions.len();
        self.partitions.extend(partitions);
        if self.partitions.len() > start {
            self.topics.push((topic_id, self.partitions.len()));
        }
    }

    /// The assignment; the builder is empty again.
    pub(super) fn build(&mut self) -> MemberAssignment {
        if self.topics.is_empty() {
            return MemberAssignment::default();
        }
        if *self.shared != *self.topics {
            self.shared = self.topics[..].into();
        }
        let held = Partitions { topics: self.shared.clone(), partitions: self.partitions[..].into() };
        self.topics.clear();
        self.partitions.clear();
        MemberAssignment(Some(Arc::new(held)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_it_is_given_in_order_and_once() {
        let pairs = [(2, 1), (1, 5), (2, 0), (1, 3), (2, 1)].map(|(topic, p)| (TopicId(topic), p));
        let assignment: MemberAssignment = pairs.into_iter().collect();
        let listed: Vec<_> = assignment.iter().map(|(topic, p)| (topic.0, p.to_vec())).collect();
        assert_eq!(listed, [(1, vec![3, 5]), (2, vec![0, 1])]);
        assert_eq!(assignment.get(TopicId(1)), [3, 5]);
        assert_eq!(assignment.get(TopicId(2)), [0, 1]);
        assert!(assignment.get(TopicId(3)).is_empty());
        assert_eq!(assignment.partition_count(), 4);
    }

    #[test]
    fn nothing_takes_no_memory_of_its_own() {
        let nothing: MemberAssignment = [].into_iter().collect();
        assert!(nothing.is_empty() && nothing.ptr_eq(&MemberAssignment::default()));
        assert_eq!(nothing.iter().count() + nothing.partition_count() + nothing.get(TopicId(1)).len(), 0);
    }

    #[test]
    fn only_clones_are_the_same_memory() {
        let one: MemberAssignment = [(TopicId(1), 0)].into_iter().collect();
        let other: MemberAssignment = [(TopicId(1), 0)].into_iter().collect();
        assert!(one.ptr_eq(&one.clone()));
        assert!(one == other && !one.ptr_eq(&other) && !one.ptr_eq(&MemberAssignment::default()));
    }
}
