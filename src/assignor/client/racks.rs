//! Which members and partitions are close to each other (KIP-881).

use std::collections::BTreeMap;
use std::ops::Range;

use super::group::Group;

/// The rack of each member that says one, and the racks with a replica of each partition; racks are numbers.
pub(super) struct Racks {
    members: Vec<Option<usize>>,
    slots: Vec<Vec<usize>>,
}

impl Racks {
    /// None if no member says where it runs.
    pub(super) fn new(group: &Group<'_>) -> Option<Self> {
        let mut numbers = BTreeMap::new();
        let mut number = |rack: &str| {
            let next = numbers.len();
            *numbers.entry(rack.to_owned()).or_insert(next)
        };
        let members: Vec<Option<usize>> = group
            .members
            .iter()
            .map(|member| member.subscription.rack_id.as_deref().filter(|rack| !rack.is_empty()))
            .map(|rack| rack.map(&mut number))
            .collect();
        if members.iter().all(Option::is_none) {
            return None;
        }
        let mut slots = Vec::with_capacity(group.slots.len());
        for topic in &group.topics {
            for partition in 0..topic.partition_count {
                let racks = topic.partition_racks.get(partition).map_or(&[][..], Vec::as_slice);
                let mut racks: Vec<usize> = racks.iter().map(|rack| number(rack)).collect();
                racks.sort_unstable();
                racks.dedup();
                slots.push(racks);
            }
        }
        Some(Self { members, slots })
    }

    /// Whether these members would gain from being given the partitions of their racks: some partitions are in some racks
    /// only. Source: AbstractPartitionAssignor.useRackAwareAssignment.
    pub(super) fn matter(&self, mut members: impl Iterator<Item = usize>, slots: Range<usize>) -> bool {
        let slots = &self.slots[slots];
        let mut all: Vec<usize> = slots.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        members.any(|member| self.members[member].is_some_and(|rack| all.contains(&rack)))
            && slots.iter().any(|racks| *racks != all)
    }

    /// Whether a member says where it runs.
    pub(super) fn knows(&self, member: usize) -> bool {
        self.members[member].is_some()
    }

    /// Whether a replica of the partition is in the member's rack, or the member says none.
    pub(super) fn agree(&self, member: usize, slot: usize) -> bool {
        self.members[member].is_none_or(|rack| self.slots[slot].contains(&rack))
    }

    /// How many members are in the racks of each partition.
    pub(super) fn neighbours(&self) -> Vec<usize> {
        let mut members = BTreeMap::new();
        for rack in self.members.iter().flatten() {
            *members.entry(*rack).or_insert(0) += 1;
        }
        let of = |racks: &Vec<usize>| racks.iter().filter_map(|rack| members.get(rack)).sum();
        self.slots.iter().map(of).collect()
    }
}
