//! Members subscribe to different topics. Source: AbstractStickyAssignor.GeneralAssignmentBuilder.

use super::MemberData;
use super::movements::Movements;
use super::ownership::{DEFAULT_GENERATION, Ownership};
use crate::assignor::client::group::Group;
use crate::assignor::client::racks::Racks;

/// Nobody owns this slot.
const NOBODY: usize = usize::MAX;

/// How often to go through all partitions without getting nearer to a balance.
const IDLE_ROUNDS_MAX: usize = 16;

/// Everybody keeps what it subscribes to, the rest goes to the lightest, then partitions move while that helps.
pub(super) fn assign<'a>(
    group: &'a Group<'_>,
    racks: Option<&'a Racks>,
    ownership: Ownership,
    data: &[MemberData<'_>],
) -> Vec<Vec<usize>> {
    let previous = previous_owners(group, data, ownership.max_generation);
    let mut balance = Balance::new(group, ownership.owned, previous);
    let revoked = balance.revoke(racks);

    let by_topic = balance.slots_by_topic();
    let free: Vec<usize> = by_topic.iter().copied().filter(|&slot| balance.owners[slot] == NOBODY).collect();
    let initializing = balance.held.iter().all(Vec::is_empty);
    if let Some(racks) = racks {
        balance.hand_out(&free, Some(racks));
    }
    balance.hand_out(&free, None);

    balance.leave_out_settled_members();
    let movable = |slots: &[usize]| -> Vec<usize> {
        slots.iter().copied().filter(|&slot| balance.subscribers[group.slots.topic(slot)].len() > 1).collect()
    };
    let (free, by_topic) = (movable(&free), movable(&by_topic));
    let before = (balance.held.clone(), balance.score());
    // If nothing had to be taken away, it is tried first whether moving the new partitions is enough.
    if !revoked {
        balance.move_partitions(&free);
    }
    let moved = balance.move_partitions(&by_topic);
    if !initializing && moved && balance.score() >= before.1 {
        return before.0;
    }
    balance.held
}

/// Slot → who had it in the latest of the generations before the last.
fn previous_owners(group: &Group<'_>, data: &[MemberData<'_>], max_generation: i32) -> Vec<Option<usize>> {
    let mut previous: Vec<Option<(usize, i32)>> = vec![None; group.slots.len()];
    for (member, data) in data.iter().enumerate() {
        let generation = data.generation.unwrap_or(DEFAULT_GENERATION);
        if generation >= max_generation {
            continue;
        }
        for slot in group.slots_of(data.partitions) {
            if previous[slot].is_none_or(|(_, other)| generation > other) {
                previous[slot] = Some((member, generation));
            }
        }
    }
    previous.into_iter().map(|owner| owner.map(|(member, _)| member)).collect()
}

struct Balance<'a> {
    group: &'a Group<'a>,
    /// Topic → its subscribers.
    subscribers: Vec<Vec<usize>>,
    /// Member → its place in the order of ids.
    ranks: Vec<usize>,
    /// Member → how many partitions the topics have that it subscribes to.
    held_max: Vec<usize>,
    /// Member → the slots it has, in the order in which it came to them.
    held: Vec<Vec<usize>>,
    /// Slot → member.
    owners: Vec<usize>,
    /// Slot → the member that had it longer ago.
    previous: Vec<Option<usize>>,
    /// Member → whether it may still be given partitions or lose them.
    takes_part: Vec<bool>,
    movements: Movements,
}

impl<'a> Balance<'a> {
    fn new(group: &'a Group<'_>, held: Vec<Vec<usize>>, previous: Vec<Option<usize>>) -> Self {
        let members = group.members.len();
        let mut owners = vec![NOBODY; group.slots.len()];
        for (member, slots) in held.iter().enumerate() {
            slots.iter().for_each(|&slot| owners[slot] = member);
        }
        let held_max =
            |member| group.topics_of(member).iter().map(|&topic| group.slots.of(topic).len()).sum();
        Self {
            group,
            subscribers: group.subscribers(0..members),
            ranks: group.ranks(),
            held_max: (0..members).map(held_max).collect(),
            held,
            owners,
            previous,
            takes_part: vec![true; members],
            movements: Movements::default(),
        }
    }

    /// Takes away what a member no longer subscribes to, or has in the wrong rack. Whether there was any.
    fn revoke(&mut self, racks: Option<&Racks>) -> bool {
        let mut revoked = false;
        for member in 0..self.held.len() {
            let topics = self.group.topics_of(member);
            self.held[member].retain(|&slot| {
                let keeps = topics.binary_search(&self.group.slots.topic(slot)).is_ok()
                    && racks.is_none_or(|racks| racks.agree(member, slot));
                if !keeps {
                    self.owners[slot] = NOBODY;
                    revoked = true;
                }
                keeps
            });
        }
        revoked
    }

    /// All slots: first those of the topics with the fewest subscribers.
    fn slots_by_topic(&self) -> Vec<usize> {
        let mut topics: Vec<usize> = (0..self.subscribers.len()).collect();
        topics.sort_by_key(|&topic| self.subscribers[topic].len());
        topics.into_iter().flat_map(|topic| self.group.slots.of(topic)).collect()
    }

    /// Gives each of these that nobody has to the lightest subscriber, if racks are given to the lightest in its racks.
    fn hand_out(&mut self, free: &[usize], racks: Option<&Racks>) {
        for &slot in free.iter() {
            if self.owners[slot] != NOBODY {
                continue;
            }
            let near = |member: &usize| racks.is_none_or(|racks| racks.agree(*member, slot));
            let subscribers = &self.subscribers[self.group.slots.topic(slot)];
            if let Some(member) = self.lightest(subscribers.iter().copied().filter(near)) {
                self.held[member].push(slot);
                self.owners[slot] = member;
            }
        }
    }

    /// The member with the fewest partitions; of equals the one with the least id.
    fn lightest(&self, members: impl Iterator<Item = usize>) -> Option<usize> {
        members.min_by_key(|&member| (self.held[member].len(), self.ranks[member]))
    }

    /// Leaves out members that have all they can have, if nobody else could have any of it.
    fn leave_out_settled_members(&mut self) {
        let shared = |&slot: &usize| self.subscribers[self.group.slots.topic(slot)].len() > 1;
        self.takes_part = (0..self.held.len())
            .map(|member| {
                self.held[member].len() < self.held_max[member] || self.held[member].iter().any(shared)
            })
            .collect();
    }

    /// Goes through the partitions again and again and moves those whose move helps. Whether any did.
    fn move_partitions(&mut self, slots: &[usize]) -> bool {
        let (mut any_moved, mut best, mut idle_rounds) = (false, self.score(), 0);
        // Differs from Kafka: it may go round in circles for ever, since `better` partitions need not be of the heaviest.
        while idle_rounds < IDLE_ROUNDS_MAX && self.move_once(slots) {
            any_moved = true;
            idle_rounds += 1;
            if self.score() < best {
                (best, idle_rounds) = (self.score(), 0);
            }
        }
        any_moved
    }

    fn move_once(&mut self, slots: &[usize]) -> bool {
        let mut moved = false;
        let mut balanced = self.is_balanced();
        for &slot in slots {
            if balanced {
                break;
            }
            if self.move_partition(slot) {
                moved = true;
                balanced = self.is_balanced();
            }
        }
        moved
    }

    /// Moves a partition to whom had it before, or to the lightest subscriber, if its owner has at least two more.
    fn move_partition(&mut self, slot: usize) -> bool {
        let owner = self.owners[slot];
        let has_two_more = |member: usize| self.held[owner].len() > self.held[member].len() + 1;
        // As in Kafka, it is not asked whether that one still subscribes to the topic.
        // Differs from Kafka: it fails if the member that had it before takes part no longer.
        let previous = self.previous[slot].filter(|&member| self.takes_part[member] && has_two_more(member));
        let subscribers = &self.subscribers[self.group.slots.topic(slot)];
        let to = previous.or_else(|| {
            self.lightest(subscribers.iter().copied().filter(|&member| self.takes_part[member]))
                .filter(|&member| has_two_more(member))
        });
        let Some(to) = to else { return false };
        let slot = self.movements.better(self.group, slot, owner, to);
        let from = std::mem::replace(&mut self.owners[slot], to);
        self.movements.record(self.group, slot, from, to);
        self.held[from].retain(|&other| other != slot);
        self.held[to].push(slot);
        true
    }

    /// Whether no member could take a partition from one that has at least two more.
    fn is_balanced(&self) -> bool {
        let taking_part = || (0..self.held.len()).filter(|&member| self.takes_part[member]);
        let loads = taking_part().map(|member| self.held[member].len());
        let (lightest, heaviest) =
            loads.fold((usize::MAX, 0), |(least, most), load| (least.min(load), most.max(load)));
        if lightest.saturating_add(1) >= heaviest {
            return true;
        }
        let mut heaviest_owner = vec![0; self.subscribers.len()];
        for member in taking_part() {
            for &slot in &self.held[member] {
                let heaviest = &mut heaviest_owner[self.group.slots.topic(slot)];
                *heaviest = self.held[member].len().max(*heaviest);
            }
        }
        taking_part().all(|member| {
            let load = self.held[member].len();
            let topics = self.group.topics_of(member);
            load == self.held_max[member] || topics.iter().all(|&topic| heaviest_owner[topic] <= load + 1)
        })
    }

    /// How far apart any two members are, over all; 0 is best. As in Kafka it wraps around.
    fn score(&self) -> i32 {
        let mut loads: Vec<i64> = (0..self.held.len())
            .filter(|&member| self.takes_part[member])
            .map(|member| self.held[member].len() as i64)
            .collect();
        loads.sort_unstable();
        // The nth of them is greater than n others and less than all behind it.
        let others = loads.len() as i64 - 1;
        let sum: i64 = (0..).zip(&loads).map(|(below, load)| load * (2 * below - others)).sum();
        sum as i32
    }
}
