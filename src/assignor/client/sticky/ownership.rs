//! Who may keep what, where members claim the same partition. Source: AbstractStickyAssignor.allSubscriptionsEqual.

use super::MemberData;
use crate::assignor::client::group::Group;

/// The generation of a member that says none.
pub(super) const DEFAULT_GENERATION: i32 = -1;

pub(super) struct Ownership {
    /// Member → the slots it had, in its own order.
    pub(super) owned: Vec<Vec<usize>>,
    /// Slot → whether two members claim to have had it in the same generation. Nobody keeps it.
    pub(super) contested: Vec<bool>,
    /// The latest generation that a member says.
    pub(super) max_generation: i32,
}

impl Ownership {
    pub(super) fn resolve(group: &Group<'_>, data: &[MemberData<'_>]) -> Self {
        let mut ownership = Self {
            owned: vec![Vec::new(); data.len()],
            contested: vec![false; group.slots.len()],
            max_generation: DEFAULT_GENERATION,
        };
        let mut owners: Vec<Option<usize>> = vec![None; group.slots.len()];
        for (member, data) in data.iter().enumerate() {
            let generation = data.generation.unwrap_or(DEFAULT_GENERATION);
            ownership.max_generation = ownership.max_generation.max(generation);
            for slot in group.slots_of(data.partitions) {
                let Some(other) = owners[slot] else {
                    owners[slot] = Some(member);
                    ownership.owned[member].push(slot);
                    continue;
                };
                // As in Kafka, that of the subscription, which may differ from the one in the user data.
                let generation_of_other =
                    group.members[other].subscription.generation.unwrap_or(DEFAULT_GENERATION);
                if generation < generation_of_other {
                    continue;
                }
                owners[slot] = Some(member);
                ownership.take_away(other, slot);
                if generation == generation_of_other {
                    ownership.contested[slot] = true;
                } else {
                    ownership.owned[member].push(slot);
                }
            }
        }
        ownership
    }

    fn take_away(&mut self, member: usize, slot: usize) {
        if let Some(at) = self.owned[member].iter().position(|&other| other == slot) {
            self.owned[member].remove(at);
        }
    }
}
