//! A member goes a step nearer to its target assignment (KIP-848 §Reconciliation): first it gives up what is not its
//! own any more, then it gets to the epoch of the target, then it takes what others have given up.
//!
//! A pure function of the member, its target, and who has what. Source: kafka CurrentAssignmentBuilder.

use super::super::record::{CurrentAssignment, MemberState, OwnedPartition};
use super::member::find;
use crate::assignor::MemberAssignment;
use crate::types::{TopicId, TopicPartition};

/// What a step depends on, besides the member.
pub(super) struct Surroundings<'a> {
    /// The epoch of the target assignment.
    pub(super) target_epoch: i32,
    /// What the member is to have.
    pub(super) target: &'a MemberAssignment,
    /// Whether the member still subscribes to a topic.
    pub(super) is_subscribed: &'a dyn Fn(TopicId) -> bool,
    /// Whether anybody has a partition.
    pub(super) is_owned: &'a dyn Fn(TopicPartition) -> bool,
    /// Whether this request changed what the member subscribes to.
    pub(super) has_subscription_changed: bool,
    /// What the member says that it has, sorted; None if that did not change.
    pub(super) owned: Option<&'a [TopicPartition]>,
}

/// The member after the step; the same as before if there is none to take.
pub(super) fn reconcile(current: &CurrentAssignment, around: &Surroundings<'_>) -> CurrentAssignment {
    match current.state {
        MemberState::Stable if current.epoch != around.target_epoch => next(current, around),
        MemberState::UnrevokedPartitions if !has_any(around, &current.pending_revocation) => {
            next(current, around)
        }
        MemberState::UnreleasedPartitions => next(current, around),
        MemberState::Stable | MemberState::UnrevokedPartitions if around.has_subscription_changed => {
            without_unsubscribed(current, around)
        }
        MemberState::Stable | MemberState::UnrevokedPartitions => current.clone(),
    }
}

/// Whether the member still has one of these partitions, as far as it has told.
fn has_any(around: &Surroundings<'_>, partitions: &[OwnedPartition]) -> bool {
    around.owned.is_none_or(|owned| owned.iter().any(|partition| find(partitions, *partition).is_some()))
}

/// Takes away what the member does not subscribe to any more, and leaves the rest for the next target.
fn without_unsubscribed(current: &CurrentAssignment, around: &Surroundings<'_>) -> CurrentAssignment {
    let (assigned, lost): (Vec<_>, Vec<_>) =
        current.assigned.iter().copied().partition(|o| (around.is_subscribed)(o.partition.topic));
    if lost.is_empty() {
        return current.clone();
    }
    let pending_revocation = merged(&current.pending_revocation, lost);
    let stepped = CurrentAssignment { previous_epoch: current.epoch, assigned, ..current.clone() };
    if has_any(around, &pending_revocation) {
        return CurrentAssignment { state: MemberState::UnrevokedPartitions, pending_revocation, ..stepped };
    }
    stepped
}

/// Steps towards the target.
fn next(current: &CurrentAssignment, around: &Surroundings<'_>) -> CurrentAssignment {
    let wanted = around.target.iter().filter(|(topic, _)| (around.is_subscribed)(*topic));
    let target: Vec<TopicPartition> = wanted.flat_map(partitions_of).collect();
    let (assigned, pending_revocation): (Vec<_>, Vec<_>) =
        current.assigned.iter().copied().partition(|owned| target.binary_search(&owned.partition).is_ok());
    if !pending_revocation.is_empty() && has_any(around, &pending_revocation) {
        return CurrentAssignment {
            epoch: current.epoch,
            previous_epoch: current.epoch,
            state: MemberState::UnrevokedPartitions,
            assigned,
            pending_revocation,
        };
    }
    let missing = target.into_iter().filter(|partition| find(&assigned, *partition).is_none());
    let (unreleased, free): (Vec<_>, Vec<_>) = missing.partition(|partition| {
        (around.is_owned)(*partition) && find(&current.pending_revocation, *partition).is_none()
    });
    let new =
        free.into_iter().map(|partition| OwnedPartition { partition, since_epoch: around.target_epoch });
    CurrentAssignment {
        epoch: around.target_epoch,
        previous_epoch: current.epoch,
        state: if unreleased.is_empty() { MemberState::Stable } else { MemberState::UnreleasedPartitions },
        assigned: merged(&assigned, new.collect()),
        pending_revocation: Vec::new(),
    }
}

/// The partitions of a topic by its id.
pub(super) fn partitions_of((topic, partitions): (TopicId, &[i32])) -> impl Iterator<Item = TopicPartition> {
    partitions.iter().map(move |&partition| TopicPartition { topic, partition })
}

fn merged(some: &[OwnedPartition], others: Vec<OwnedPartition>) -> Vec<OwnedPartition> {
    if others.is_empty() {
        return some.to_vec();
    }
    let mut all = others;
    all.extend_from_slice(some);
    all.sort_unstable();
    all.dedup_by_key(|owned| owned.partition);
    all
}
