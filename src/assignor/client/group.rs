//! A group as its leader sees it, by places instead of names.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Subscription, Topic, TopicPartition};
use crate::assignor::compare_members;
use crate::assignor::slots::Slots;
use crate::java;
use crate::types::TopicName;

/// Members are in the order of a Java HashMap of their ids, topics in the order of their names.
pub(super) struct Group<'a> {
    pub(super) members: Vec<Member<'a>>,
    /// Those that somebody subscribes to and that have partitions.
    pub(super) topics: Vec<&'a Topic>,
    pub(super) slots: Slots,
    lists: Vec<TopicList<'a>>,
    /// The names of all topics that somebody subscribes to, in the order in which they come up.
    names: Vec<&'a TopicName>,
}

pub(super) struct Member<'a> {
    pub(super) subscription: &'a Subscription,
    /// Its place among the subscriptions.
    place: usize,
    list: usize,
}

/// The topics that one member or several subscribe to.
struct TopicList<'a> {
    names: &'a Arc<[TopicName]>,
    /// Those with partitions, ascending.
    topics: Vec<usize>,
}

impl<'a> Group<'a> {
    pub(super) fn new(topics: &'a [Topic], subscriptions: &'a [Subscription]) -> Self {
        let mut order: Vec<usize> = (0..subscriptions.len()).collect();
        java::sort_as_hash_map(&mut order, subscriptions.len(), |&place| {
            java::string_hash(subscriptions[place].member_id.as_str())
        });

        let mut lists: Vec<TopicList<'a>> = Vec::new();
        let mut members = Vec::with_capacity(order.len());
        for place in order {
            let subscription = &subscriptions[place];
            let names = &subscription.topics;
            if lists.last().is_none_or(|last| !Arc::ptr_eq(last.names, names) && last.names != names) {
                lists.push(TopicList { names, topics: Vec::new() });
            }
            members.push(Member { subscription, place, list: lists.len() - 1 });
        }

        let mut known = BTreeSet::new();
        let all_names = lists.iter().flat_map(|list| list.names.iter());
        let names: Vec<&TopicName> = all_names.filter(|name| known.insert(*name)).collect();
        let mut topics: Vec<&Topic> =
            topics.iter().filter(|topic| topic.partition_count > 0 && known.contains(&topic.name)).collect();
        topics.sort_by(|a, b| java::compare(a.name.as_str(), b.name.as_str()));

        let slots = Slots::new(topics.iter().map(|topic| topic.partition_count));
        let mut group = Self { members, topics, slots, lists: Vec::new(), names };
        for list in &mut lists {
            list.topics = list.names.iter().filter_map(|name| group.topic(name)).collect();
            list.topics.sort_unstable();
        }
        group.lists = lists;
        group
    }

    /// The place of a topic, if somebody subscribes to it and it has partitions.
    fn topic(&self, name: &TopicName) -> Option<usize> {
        self.topics.binary_search_by(|topic| java::compare(topic.name.as_str(), name.as_str())).ok()
    }

    /// The slots of these partitions, without those that have none.
    pub(super) fn slots_of(&self, partitions: &[TopicPartition]) -> impl Iterator<Item = usize> {
        let mut last: Option<(&TopicName, Option<usize>)> = None;
        partitions.iter().filter_map(move |TopicPartition { topic: name, partition }| {
            let topic = match last {
                Some((same, topic)) if same == name => topic,
                _ => self.topic(name),
            };
            last = Some((name, topic));
            self.slots.slot(topic?, *partition)
        })
    }

    /// The topics that a member subscribes to, ascending.
    pub(super) fn topics_of(&self, member: usize) -> &[usize] {
        &self.lists[self.members[member].list].topics
    }

    /// For each topic its subscribers, in the order of these members.
    pub(super) fn subscribers(&self, members: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
        let mut subscribers = vec![Vec::new(); self.topics.len()];
        for member in members {
            for &topic in self.topics_of(member) {
                subscribers[topic].push(member);
            }
        }
        subscribers
    }

    /// Whether all members subscribe to the same topics, known or not. Source: AbstractStickyAssignor.allSubscriptionsEqual.
    pub(super) fn subscribes_alike(&self) -> bool {
        // As in Kafka, a member that subscribes to nothing does not count if it comes first.
        let mut lists = self.members.iter().map(|member| member.list);
        let Some(first) = lists.find(|&list| !self.lists[list].names.is_empty()) else { return true };
        let expected: BTreeSet<&TopicName> = self.lists[first].names.iter().collect();
        let mut last = first;
        lists.all(|list| {
            let names = self.lists[list].names;
            let alike = list == last
                || names.len() == expected.len() && names.iter().all(|name| expected.contains(name));
            last = list;
            alike
        })
    }

    /// The members as the Java client sorts them: static ones by their names, then the others by their ids. Source: Kafka's
    /// AbstractPartitionAssignor.MemberInfo.
    pub(super) fn sorted_members(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (self.members[a].subscription, self.members[b].subscription);
            compare_members((&a.instance_id, &a.member_id), (&b.instance_id, &b.member_id))
        });
        order
    }

    /// For each member its place among all in the order of their ids.
    pub(super) fn ranks(&self) -> Vec<usize> {
        let id = |member: usize| self.members[member].subscription.member_id.as_str();
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&a, &b| java::compare(id(a), id(b)));
        let mut ranks = vec![0; order.len()];
        for (rank, member) in order.into_iter().enumerate() {
            ranks[member] = rank;
        }
        ranks
    }

    /// The topics in the order of the hash map that the Java client collects them in.
    pub(super) fn topics_as_in_java(&self) -> Vec<usize> {
        let mut names = self.names.clone();
        let len = names.len();
        java::sort_as_hash_map(&mut names, len, |name| java::string_hash(name.as_str()));
        let mut topics: Vec<usize> = names.into_iter().filter_map(|name| self.topic(name)).collect();
        let len = topics.len();
        java::sort_as_hash_map(&mut topics, len, |&topic| {
            java::string_hash(self.topics[topic].name.as_str())
        });
        topics
    }

    /// What members are given, by their places among the subscriptions.
    pub(super) fn assignment(&self, slots: &[Vec<usize>]) -> Vec<Vec<TopicPartition>> {
        let mut assignment = vec![Vec::new(); self.members.len()];
        for (member, slots) in self.members.iter().zip(slots) {
            assignment[member.place] = slots
                .iter()
                .map(|&slot| {
                    let (topic, partition) = self.slots.partition(slot);
                    TopicPartition { topic: self.topics[topic].name.clone(), partition }
                })
                .collect();
        }
        assignment
    }
}
