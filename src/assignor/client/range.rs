//! `range`: of each topic a stretch of partitions for each subscriber. Source: the Java client's RangeAssignor.

use std::collections::{BTreeMap, VecDeque};

use super::group::Group;
use super::racks::Racks;

pub(super) fn assign(group: &Group<'_>) -> Vec<Vec<usize>> {
    let mut subscribers = group.subscribers(group.sorted_members().into_iter());
    let mut topics: Vec<Division> = group
        .topics_as_in_java()
        .into_iter()
        .map(|topic| Division::new(group, topic, std::mem::take(&mut subscribers[topic])))
        .collect();
    let mut assignment = vec![Vec::new(); group.members.len()];

    let racks = Racks::new(group).filter(|racks| topics.iter().any(|topic| topic.gains_from(racks)));
    if let Some(racks) = &racks {
        match_racks(&mut topics, racks, &mut assignment);
    }
    for topic in &mut topics {
        topic.assign_ranges(|_, _| true, &mut assignment);
    }
    if racks.is_some() {
        assignment.iter_mut().for_each(|slots| slots.sort_unstable());
    }
    assignment
}

/// Gives partitions to members in their racks, as far as ranges and co-partitioning allow.
fn match_racks(topics: &mut [Division], racks: &Racks, assignment: &mut [Vec<usize>]) {
    let mut alike: BTreeMap<(Vec<usize>, usize), Vec<&mut Division>> = BTreeMap::new();
    for topic in topics {
        if topic.subscribers.iter().any(|&member| racks.knows(member)) {
            alike.entry((topic.subscribers.clone(), topic.slots.len())).or_default().push(topic);
        }
    }
    for ((subscribers, _), mut topics) in alike {
        match &mut topics[..] {
            [topic] if topic.gains_from(racks) => {
                topic.assign_ranges(|member, slot| racks.agree(member, slot), assignment);
            }
            [_] => {}
            topics => match_racks_of_co_partitioned(&subscribers, topics, racks, assignment),
        }
    }
}

/// A member is given the same partition of each topic, and only if all of these are in its rack.
fn match_racks_of_co_partitioned(
    subscribers: &[usize],
    topics: &mut [&mut Division],
    racks: &Racks,
    assignment: &mut [Vec<usize>],
) {
    for partition in 0..topics[0].slots.len() {
        let may_have = |place: usize| {
            let fits = |topic: &&mut Division| racks.agree(subscribers[place], topic.slots.start + partition);
            topics.iter().all(|topic| fits(topic) && topic.room(place) > 0)
        };
        let Some(place) = (0..subscribers.len()).find(|&place| may_have(place)) else { continue };
        for topic in &mut *topics {
            let slot = topic.slots.start + partition;
            topic.left.retain(|&other| other != slot);
            topic.give(place, &[slot], assignment);
        }
    }
}

/// A topic while its partitions are given away. Subscribers are known by their places here.
struct Division {
    slots: std::ops::Range<usize>,
    /// Sorted as the ranges are.
    subscribers: Vec<usize>,
    /// How many partitions each subscriber has been given.
    given: Vec<usize>,
    /// The slots that nobody has been given.
    left: VecDeque<usize>,
    /// What each subscriber is to have …
    least: usize,
    /// … and how many of them, from now on, may have one more.
    extras: usize,
}

impl Division {
    fn new(group: &Group<'_>, topic: usize, subscribers: Vec<usize>) -> Self {
        let slots = group.slots.of(topic);
        Self {
            given: vec![0; subscribers.len()],
            left: slots.clone().collect(),
            // A topic without subscribers is not among those of the group.
            least: slots.len() / subscribers.len().max(1),
            extras: slots.len() % subscribers.len().max(1),
            subscribers,
            slots,
        }
    }

    fn gains_from(&self, racks: &Racks) -> bool {
        racks.matter(self.subscribers.iter().copied(), self.slots.clone())
    }

    /// How many more partitions a subscriber may be given.
    fn room(&self, place: usize) -> usize {
        (self.least + usize::from(self.extras > 0)).saturating_sub(self.given[place])
    }

    /// Gives to each subscriber as many as it may have of those it may be given.
    fn assign_ranges(&mut self, may: impl Fn(usize, usize) -> bool, assignment: &mut [Vec<usize>]) {
        for place in 0..self.subscribers.len() {
            let (room, member) = (self.room(place), self.subscribers[place]);
            let mut taken = Vec::with_capacity(room);
            let mut passed_over = Vec::new();
            while taken.len() < room
                && let Some(slot) = self.left.pop_front()
            {
                if may(member, slot) { &mut taken } else { &mut passed_over }.push(slot);
            }
            passed_over.into_iter().rev().for_each(|slot| self.left.push_front(slot));
            self.give(place, &taken, assignment);
        }
    }

    fn give(&mut self, place: usize, slots: &[usize], assignment: &mut [Vec<usize>]) {
        if slots.is_empty() {
            return;
        }
        assignment[self.subscribers[place]].extend(slots);
        self.given[place] += slots.len();
        if self.given[place] > self.least {
            self.extras -= 1;
        }
    }
}
