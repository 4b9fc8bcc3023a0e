//! `cooperative-sticky`: what changes hands is first taken away. Source: the Java client's CooperativeStickyAssignor.

use super::group::Group;
use super::sticky::{self, MemberData};

/// Nobody is given a partition that another member still holds: that member gives it up after this rebalance, and the next
/// one, which it asks for, gives it away.
pub(super) fn assign(group: &Group<'_>) -> Vec<Vec<usize>> {
    let outcome = sticky::assign(group, MemberData::of_cooperative_sticky);
    let mut assignment = outcome.assignment;
    let transferring = outcome.transferring.unwrap_or_else(|| transferring(group, &assignment));
    for (slot, member) in transferring {
        assignment[member].retain(|&other| other != slot);
    }
    assignment
}

/// The partitions that a member has been given which another one held, and their new owners.
fn transferring(group: &Group<'_>, assignment: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let mut added: Vec<Option<usize>> = vec![None; group.slots.len()];
    let mut revoked = vec![false; group.slots.len()];
    for (member, assigned) in assignment.iter().enumerate() {
        let mut assigned = assigned.clone();
        assigned.sort_unstable();
        let mut owned: Vec<usize> =
            group.slots_of(&group.members[member].subscription.owned_partitions).collect();
        owned.sort_unstable();
        for &slot in assigned.iter().filter(|slot| owned.binary_search(slot).is_err()) {
            added[slot] = Some(member);
        }
        for &slot in owned.iter().filter(|slot| assigned.binary_search(slot).is_err()) {
            revoked[slot] = true;
        }
    }
    let moved = added.into_iter().zip(revoked).enumerate();
    moved.filter_map(|(slot, (member, revoked))| Some((slot, member.filter(|_| revoked)?))).collect()
}
