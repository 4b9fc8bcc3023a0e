//! Who subscribes to what, by places in the group instead of ids.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{GroupSpec, PartitionAssignorError};
use crate::types::TopicId;

/// The topics of each member. Lists that members share are looked up and kept once.
pub(super) struct Subscriptions {
    lists: Vec<SharedList>,
    list_of: Vec<usize>,
}

struct SharedList {
    topics: Vec<usize>,
    members: usize,
}

impl Subscriptions {
    pub(super) fn resolve(group: &GroupSpec) -> Result<Self, PartitionAssignorError> {
        let mut lists: Vec<SharedList> = Vec::new();
        let mut list_of: Vec<usize> = Vec::with_capacity(group.members.len());
        let mut known: BTreeMap<&[TopicId], usize> = BTreeMap::new();
        let mut last: Option<&Arc<[TopicId]>> = None;
        for member in &group.members {
            let topics = &member.subscribed_topics;
            let list = match list_of.last() {
                Some(&list) if last.is_some_and(|last| Arc::ptr_eq(last, topics)) => list,
                _ => *known.entry(topics).or_insert(lists.len()),
            };
            if list == lists.len() {
                lists.push(SharedList { topics: group.topic_indices(topics)?, members: 0 });
            }
            lists[list].members += 1;
            last = Some(topics);
            list_of.push(list);
        }
        Ok(Self { lists, list_of })
    }

    /// The topics that a member subscribes to, ascending.
    pub(super) fn topics(&self, member: usize) -> &[usize] {
        &self.lists[self.list_of[member]].topics
    }

    /// For each of `topics` topics, how many members subscribe to it.
    pub(super) fn subscriber_counts(&self, topics: usize) -> Vec<usize> {
        let mut counts = vec![0; topics];
        for list in &self.lists {
            for &topic in &list.topics {
                counts[topic] += list.members;
            }
        }
        counts
    }
}
