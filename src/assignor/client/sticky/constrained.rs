//! All members subscribe to the same topics. Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder.

use std::collections::VecDeque;

use super::Outcome;
use super::ownership::Ownership;
use crate::assignor::client::group::Group;
use crate::assignor::client::racks::Racks;

/// Everybody keeps up to its quota, then those below theirs are filled up: first from their racks, then in turn.
pub(super) fn assign(group: &Group<'_>, racks: Option<&Racks>, ownership: Ownership) -> Outcome {
    let members = group.members.len();
    let mut filling = Filling {
        group,
        racks,
        least: group.slots.len() / members,
        most: group.slots.len().div_ceil(members),
        extras: group.slots.len() % members,
        below: VecDeque::new(),
        at_least: VecDeque::new(),
        assignment: vec![Vec::new(); members],
        was_owned_by: vec![None; group.slots.len()],
        contested: ownership.contested,
        transferring: Vec::new(),
    };
    filling.keep(ownership.owned);
    let mut free = filling.free();
    let ranks = group.ranks();
    filling.below.make_contiguous().sort_by_key(|&member| ranks[member]);
    filling.at_least.make_contiguous().sort_by_key(|&member| ranks[member]);
    if let Some(racks) = racks {
        let neighbours = racks.neighbours();
        free.sort_by_key(|&slot| neighbours[slot]);
        free = filling.assign_within_racks(free, racks);
    }
    filling.assign_in_turn(free);
    Outcome { assignment: filling.assignment, transferring: Some(filling.transferring) }
}

struct Filling<'a> {
    group: &'a Group<'a>,
    racks: Option<&'a Racks>,
    /// What each member is to have …
    least: usize,
    /// … or one more, if it does not come out even, …
    most: usize,
    /// … as many members as are still to reach that.
    extras: usize,
    /// Members with fewer than `least`.
    below: VecDeque<usize>,
    /// Members with `least` that may be given one more.
    at_least: VecDeque<usize>,
    /// Member → slots.
    assignment: Vec<Vec<usize>>,
    /// Slot → the member that had it but did not keep it.
    was_owned_by: Vec<Option<usize>>,
    contested: Vec<bool>,
    transferring: Vec<(usize, usize)>,
}

impl Filling<'_> {
    /// Everybody keeps what it had, up to `most` while that many may have it, then up to `least`.
    fn keep(&mut self, owned: Vec<Vec<usize>>) {
        for (member, mut slots) in owned.into_iter().enumerate() {
            slots.retain(|&slot| {
                let near = self.racks.is_none_or(|racks| racks.agree(member, slot));
                if !near {
                    self.was_owned_by[slot] = Some(member);
                }
                near && !self.contested[slot]
            });
            slots.sort_by_key(|&slot| {
                let (topic, partition) = self.group.slots.partition(slot);
                (partition, topic)
            });
            let quota = if slots.len() < self.least {
                self.below.push_back(member);
                slots.len()
            } else if slots.len() >= self.most && self.extras > 0 {
                self.reach_most();
                self.most
            } else {
                if self.extras > 0 {
                    self.at_least.push_back(member);
                }
                self.least
            };
            for slot in slots.drain(quota..) {
                self.was_owned_by[slot] = Some(member);
            }
            self.assignment[member] = slots;
        }
    }

    /// One more member has `most`. Once enough have, none of those with `least` is given another.
    fn reach_most(&mut self) {
        self.extras -= 1;
        if self.extras == 0 {
            self.at_least.clear();
        }
    }

    /// What nobody kept.
    fn free(&self) -> Vec<usize> {
        let mut kept = vec![false; self.group.slots.len()];
        for &slot in self.assignment.iter().flatten() {
            kept[slot] = true;
        }
        (0..kept.len()).filter(|&slot| !kept[slot]).collect()
    }

    /// Gives partitions to members in their racks; the rest comes back.
    fn assign_within_racks(&mut self, free: Vec<usize>, racks: &Racks) -> Vec<usize> {
        let near = |member: usize, slot: usize| racks.knows(member) && racks.agree(member, slot);
        let mut next = 0;
        let mut rest = Vec::new();
        for slot in free {
            let in_turn = (0..self.below.len()).map(|i| (next + i) % self.below.len());
            let found = in_turn.into_iter().find(|&at| near(self.below[at], slot));
            if let Some(at) = found {
                let member = self.below[at];
                self.give(slot, member);
                next = at + 1;
                if self.assignment[member].len() >= self.least {
                    self.below.remove(at);
                    next = at;
                    if self.assignment[member].len() < self.most && self.extras > 0 {
                        self.at_least.push_back(member);
                    }
                }
                next = next.checked_rem(self.below.len()).unwrap_or(0);
            } else if let Some(at) = self.at_least.iter().position(|&member| near(member, slot))
                && let Some(member) = self.at_least.remove(at)
            {
                self.give(slot, member);
                self.reach_most();
            } else {
                rest.push(slot);
            }
        }
        rest
    }

    /// One partition after another: to those below `least` in turn, and once there are none, to those that have it.
    fn assign_in_turn(&mut self, free: Vec<usize>) {
        for slot in free {
            // One of the two has a member as long as a partition is left.
            if let Some(member) = self.below.pop_front() {
                self.give(slot, member);
                let filled = self.assignment[member].len() >= self.least;
                if filled { &mut self.at_least } else { &mut self.below }.push_back(member);
            } else if let Some(member) = self.at_least.pop_front() {
                self.give(slot, member);
            }
        }
    }

    fn give(&mut self, slot: usize, member: usize) {
        self.assignment[member].push(slot);
        let was_another = self.was_owned_by[slot].is_some_and(|owner| owner != member);
        if was_another || self.contested[slot] {
            self.transferring.push((slot, member));
        }
    }
}
