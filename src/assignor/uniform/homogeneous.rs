//! All members subscribe to the same topics. Source: Kafka's UniformHomogeneousAssignmentBuilder.

use super::super::member_assignment::Builder;
use super::super::partition_space::PartitionSpace;
use super::super::{GroupSpec, MemberAssignment, PartitionAssignorError};
use crate::java;

/// Everybody keeps what fits into an equal share; what is left goes to those with less, in their order.
pub(super) fn assign(group: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
    let Some(first) = group.members.first() else { return Ok(Vec::new()) };
    let topics = group.topic_indices(&first.subscribed_topics)?;
    let space = PartitionSpace::new(topics.iter().map(|&topic| &group.topics[topic]));

    let mut shares = Shares::new(space.len(), group.members.len());
    let mut pool = Pool { owned: vec![false; space.len()], given_up: Vec::new() };
    let claims: Vec<Claim> = group
        .members
        .iter()
        .map(|member| Claim::new(&space, &member.assignment, &mut shares, &mut pool))
        .collect();

    let free = pool.into_slots();
    let mut taken = 0;
    let mut slots = Vec::new();
    let mut builder = Builder::default();
    let assignments = group.members.iter().zip(claims).map(|(member, claim)| {
        let until = (taken + claim.missing).min(free.len());
        let new = &free[taken..until];
        taken = until;
        match claim.kept {
            Kept::Everything if new.is_empty() => return member.assignment.clone(),
            Kept::Everything => slots.extend(owned_slots(&space, &member.assignment)),
            Kept::Slots(kept) => slots.extend(kept),
        }
        slots.extend(new);
        slots.sort_unstable();
        let assignment = space.assignment(&slots, &mut builder);
        slots.clear();
        assignment
    });
    let assignments = assignments.collect();
    if taken < free.len() {
        return Err(PartitionAssignorError("Partitions were left unassigned".to_owned()));
    }
    Ok(assignments)
}

/// How much each member is to have: the quotient, and one more for as many members as the remainder says.
struct Shares {
    least: usize,
    extras: usize,
    members_to_come: usize,
}

impl Shares {
    fn new(partitions: usize, members: usize) -> Self {
        Self { least: partitions / members, extras: partitions % members, members_to_come: members }
    }

    /// The most that the next member may keep.
    fn quota(&self) -> usize {
        self.least + usize::from(self.extras > 0)
    }

    /// How much the next member, which keeps less than its quota by `room`, is to be given.
    ///
    /// It is not given one of the extras while there are enough members to come: they may have one already.
    fn fill(&mut self, room: usize) -> usize {
        let spared = room > 0 && self.extras > 0 && self.members_to_come > self.extras;
        if self.extras > 0 && !spared {
            self.extras -= 1;
        }
        self.members_to_come -= 1;
        room - usize::from(spared)
    }
}

/// The partitions to be given away.
struct Pool {
    /// Whether anybody had the partition of this slot before.
    owned: Vec<bool>,
    /// In the order in which members gave them up.
    given_up: Vec<usize>,
}

impl Pool {
    /// Those that nobody had, then those given up.
    fn into_slots(self) -> Vec<usize> {
        let never_owned = self.owned.iter().enumerate().filter(|(_, owned)| !**owned).map(|(slot, _)| slot);
        never_owned.chain(self.given_up.iter().copied()).collect()
    }
}

/// What a member keeps, and how many partitions it is to be given.
struct Claim {
    kept: Kept,
    missing: usize,
}

enum Kept {
    /// All that it has; nothing needs to be copied as long as nothing is added.
    Everything,
    Slots(Vec<usize>),
}

impl Claim {
    fn new(
        space: &PartitionSpace,
        assignment: &MemberAssignment,
        shares: &mut Shares,
        pool: &mut Pool,
    ) -> Self {
        let mut room = shares.quota();
        let mut everything = true;
        for (topic, partitions) in space.locate(assignment) {
            // A topic that the group no longer subscribes to.
            let Some(topic) = topic else {
                everything = false;
                continue;
            };
            for &partition in partitions {
                if let Some(slot) = space.slot(topic, partition) {
                    pool.owned[slot] = true;
                }
            }
            everything &= partitions.len() <= room;
            room = room.saturating_sub(partitions.len());
        }
        let kept =
            if everything { Kept::Everything } else { Self::cut(space, assignment, shares.quota(), pool) };
        Self { kept, missing: shares.fill(room) }
    }

    /// Keeps as much as the quota allows and gives up the rest.
    fn cut(space: &PartitionSpace, assignment: &MemberAssignment, quota: usize, pool: &mut Pool) -> Kept {
        let mut kept = Vec::with_capacity(quota);
        for (topic, partitions) in space.locate(assignment) {
            let Some(topic) = topic else { continue };
            let mut partitions = partitions.to_vec();
            // Kafka keeps those that come first in its set of them.
            if partitions.len() > quota - kept.len() {
                java::sort_as_set_of_integers(&mut partitions);
            }
            for slot in partitions.into_iter().filter_map(|partition| space.slot(topic, partition)) {
                if kept.len() < quota { &mut kept } else { &mut pool.given_up }.push(slot);
            }
        }
        Kept::Slots(kept)
    }
}

fn owned_slots<'a>(
    space: &'a PartitionSpace,
    assignment: &'a MemberAssignment,
) -> impl Iterator<Item = usize> {
    space.locate(assignment).flat_map(move |(topic, partitions)| {
        partitions.iter().filter_map(move |&partition| space.slot(topic?, partition))
    })
}
