//! `sticky`, and what `cooperative-sticky` has in common with it. Source: the Java client's AbstractStickyAssignor.

mod constrained;
mod general;
mod movements;
mod ownership;

use super::Subscription;
use super::TopicPartition;
use super::group::Group;
use super::racks::Racks;
use ownership::Ownership;

/// What a member had, and when.
#[derive(Clone, Copy)]
pub(super) struct MemberData<'a> {
    partitions: &'a [TopicPartition],
    generation: Option<i32>,
}

impl<'a> MemberData<'a> {
    /// `sticky` gives everything up before it rejoins, and remembers in its user data what it had.
    pub(super) fn of_sticky(subscription: &'a Subscription) -> Self {
        match &subscription.user_data {
            Some(data) => Self { partitions: &data.previous_assignment, generation: data.generation },
            None => Self { partitions: &[], generation: None },
        }
    }

    /// `cooperative-sticky` still holds what it had; only clients of before ConsumerProtocolSubscription 2 have the
    /// generation in their user data.
    pub(super) fn of_cooperative_sticky(subscription: &'a Subscription) -> Self {
        let remembered = subscription.user_data.as_ref().and_then(|data| data.generation);
        Self {
            partitions: &subscription.owned_partitions,
            generation: subscription.generation.or(remembered),
        }
    }
}

/// What came out.
pub(super) struct Outcome {
    /// Member → slots.
    pub(super) assignment: Vec<Vec<usize>>,
    /// Slots that another member held, and their new owners, if that is known.
    pub(super) transferring: Option<Vec<(usize, usize)>>,
}

/// A balanced assignment in which members keep what they had, if that can be.
pub(super) fn assign<'a>(group: &Group<'a>, member_data: fn(&'a Subscription) -> MemberData<'a>) -> Outcome {
    if group.members.is_empty() {
        return Outcome { assignment: Vec::new(), transferring: None };
    }
    let data: Vec<MemberData<'a>> =
        group.members.iter().map(|member| member_data(member.subscription)).collect();
    let ownership = Ownership::resolve(group, &data);
    let racks = Racks::new(group).filter(|racks| racks.matter(0..group.members.len(), 0..group.slots.len()));
    if group.subscribes_alike() {
        constrained::assign(group, racks.as_ref(), ownership)
    } else {
        let assignment = general::assign(group, racks.as_ref(), ownership, &data);
        Outcome { assignment, transferring: None }
    }
}
