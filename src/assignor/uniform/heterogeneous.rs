//! Members subscribe to different topics. Source: Kafka's UniformHeterogeneousAssignmentBuilder.

use std::cmp::Ordering;

use super::super::member_assignment::Builder;
use super::super::partition_space::PartitionSpace;
use super::super::subscriptions::Subscriptions;
use super::super::{GroupSpec, MemberAssignment, PartitionAssignorError};
use super::balancer::{Balancer, Load};

/// How often to go over all topics. Where subscribers have the same subscriptions the first time does it and the second
/// finds nothing to do; where these overlap, each time about halves what is out of balance.
const ROUNDS_MAX: usize = 16;

/// Nobody owns this slot.
const NOBODY: usize = usize::MAX;

/// Everybody keeps what it subscribes to, what is left goes to the lightest, then the heaviest give to the lightest.
pub(super) fn assign(group: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
    let mut draft = Draft::new(group)?;
    draft.hand_out();
    draft.balance();
    Ok(draft.finish(group))
}

/// An assignment in the making. Topics and members are known by their places in the group, partitions by their slots.
struct Draft {
    space: PartitionSpace,
    /// Topic → its subscribers, ascending.
    subscribers: Vec<Vec<usize>>,
    /// The topics somebody subscribes to: first those with the most partitions for a subscriber.
    topics: Vec<usize>,
    /// Slot → member.
    owners: Vec<usize>,
    /// Member → how many partitions it has.
    loads: Vec<Load>,
    /// Member → whether it has other partitions than before.
    changed: Vec<bool>,
    balancer: Balancer,
}

impl Draft {
    /// Everybody has what it had of the topics it subscribes to.
    fn new(group: &GroupSpec) -> Result<Self, PartitionAssignorError> {
        let subscriptions = Subscriptions::resolve(group)?;
        let counts = subscriptions.subscriber_counts(group.topics.len());
        let mut subscribers: Vec<Vec<usize>> = counts.into_iter().map(Vec::with_capacity).collect();
        for member in 0..group.members.len() {
            for &topic in subscriptions.topics(member) {
                subscribers[topic].push(member);
            }
        }
        let space = PartitionSpace::new(group.topics.iter());
        let mut topics: Vec<usize> =
            (0..group.topics.len()).filter(|&topic| !subscribers[topic].is_empty()).collect();
        topics.sort_by(|&a, &b| {
            let size = |topic| (space.of(topic).len(), subscribers[topic].len());
            compare_topics(size(a), size(b))
        });
        let mut draft = Self {
            subscribers,
            topics,
            owners: vec![NOBODY; space.len()],
            loads: vec![0; group.members.len()],
            changed: vec![false; group.members.len()],
            balancer: Balancer::default(),
            space,
        };
        for (member, spec) in group.members.iter().enumerate() {
            draft.keep(member, &spec.assignment, subscriptions.topics(member));
        }
        Ok(draft)
    }

    fn keep(&mut self, member: usize, assignment: &MemberAssignment, subscribed: &[usize]) {
        for (topic, partitions) in self.space.locate(assignment) {
            let topic = topic.filter(|topic| subscribed.binary_search(topic).is_ok());
            for &partition in partitions {
                match topic.and_then(|topic| self.space.slot(topic, partition)) {
                    Some(slot) => {
                        self.owners[slot] = member;
                        self.loads[member] += 1;
                    }
                    None => self.changed[member] = true,
                }
            }
        }
    }

    /// Gives each partition that nobody has to the lightest subscriber of its topic.
    fn hand_out(&mut self) {
        for topic in self.topics.clone() {
            let mut free = self.space.of(topic).filter(|&slot| self.owners[slot] == NOBODY).peekable();
            if free.peek().is_none() {
                continue;
            }
            let free: Vec<usize> = free.collect();
            self.balancer.reset(&self.subscribers[topic], &self.loads);
            for slot in free {
                let member = self.balancer.next_lightest(&self.loads);
                self.give(slot, member);
            }
        }
    }

    /// Goes round the topics until none has moved a partition since the last one that did.
    fn balance(&mut self) {
        let shared: Vec<usize> =
            self.topics.iter().copied().filter(|&topic| self.subscribers[topic].len() > 1).collect();
        let mut last_moved = None;
        for _ in 0..ROUNDS_MAX {
            for &topic in &shared {
                if last_moved == Some(topic) {
                    return;
                }
                if self.balance_topic(topic) > 0 || last_moved.is_none() {
                    last_moved = Some(topic);
                }
            }
        }
    }

    /// Moves partitions from the heaviest subscribers to the lightest. How many it moved.
    fn balance_topic(&mut self, topic: usize) -> usize {
        let loads = self.subscribers[topic].iter().map(|&member| self.loads[member]);
        let (lightest, heaviest) =
            loads.fold((Load::MAX, 0), |(least, most), load| (least.min(load), most.max(load)));
        if heaviest - lightest <= 1 {
            return 0;
        }

        let mut given_last = vec![Vec::new(); self.loads.len()];
        for slot in self.space.of(topic) {
            given_last[self.owners[slot]].push(slot);
        }
        self.balancer.reset(&self.subscribers[topic], &self.loads);
        let mut moved = 0;
        while let Some(heaviest) = self.balancer.next_heaviest(&self.loads) {
            let Some(slot) = given_last[heaviest].pop() else {
                self.balancer.exclude_heaviest();
                continue;
            };
            let lightest = self.balancer.next_lightest(&self.loads);
            if self.balancer.is_balanced() {
                break;
            }
            self.give(slot, lightest);
            moved += 1;
        }
        moved
    }

    fn give(&mut self, slot: usize, member: usize) {
        let before = std::mem::replace(&mut self.owners[slot], member);
        if before != NOBODY {
            self.loads[before] -= 1;
            self.changed[before] = true;
        }
        self.loads[member] += 1;
        self.changed[member] = true;
    }

    fn finish(self, group: &GroupSpec) -> Vec<MemberAssignment> {
        let mut slots: Vec<Vec<usize>> = vec![Vec::new(); group.members.len()];
        for (slot, &owner) in self.owners.iter().enumerate() {
            if owner != NOBODY && self.changed[owner] {
                slots[owner].push(slot);
            }
        }
        let mut builder = Builder::default();
        let members = group.members.iter().zip(&self.changed).zip(&slots);
        members
            .map(|((member, &changed), slots)| match changed {
                true => self.space.assignment(slots, &mut builder),
                false => member.assignment.clone(),
            })
            .collect()
    }
}

/// By partitions for each subscriber, most first, then by subscribers, fewest first. Each is (partitions, subscribers).
fn compare_topics(a: (usize, usize), b: (usize, usize)) -> Ordering {
    (b.0 * a.1).cmp(&(a.0 * b.1)).then(a.1.cmp(&b.1))
}
