//! Whose heartbeat, or whose JoinGroup, it is: finds the member or makes it, and checks its epoch.
//!
//! Source: GroupMetadataManager.getOrMaybeSubscribeDynamicConsumerGroupMember, …StaticConsumerGroupMember,
//! throwIfConsumerGroupMemberEpochIsInvalid.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::error::{GroupError, Refusal};
use super::super::record::{ConsumerMemberMetadata, CurrentAssignment, Record};
use super::ConsumerGroup;
use super::member::{self, Member, find};
use crate::types::{MemberId, TopicPartition};

/// A member as it is before the request.
#[derive(Debug)]
pub(super) struct Before<'a> {
    pub(super) metadata: Arc<ConsumerMemberMetadata>,
    pub(super) current: Cow<'a, CurrentAssignment>,
    /// The member whose place a returning static member takes.
    pub(super) replaced: Option<&'a Member>,
}

impl<'a> Before<'a> {
    fn new() -> Self {
        Self { metadata: Arc::default(), current: Cow::Owned(CurrentAssignment::default()), replaced: None }
    }

    pub(super) fn of(member: &'a Member) -> Self {
        Self { metadata: member.metadata.clone(), current: Cow::Borrowed(&member.current), replaced: None }
    }
}

/// What a member of the consumer protocol says about where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand<'a> {
    /// 0 to join.
    pub(super) epoch: i32,
    pub(super) owned: Option<&'a [TopicPartition]>,
}

impl ConsumerGroup {
    /// Whether `group.consumer.max.size` leaves room. Source: throwIfConsumerGroupIsFull.
    pub(super) fn check_room(
        &self,
        members_max: usize,
        member: Option<&str>,
        instance: Option<&str>,
    ) -> Result<(), Refusal> {
        let is_known = instance.is_some_and(|instance| self.statics.get(instance).is_some())
            || member.is_some_and(|member| self.member(member).is_some());
        if is_known || self.members.len() < members_max {
            return Ok(());
        }
        let message =
            format!("The consumer group has reached its maximum capacity of {members_max} members.");
        Err(Refusal::new(GroupError::GroupMaxSizeReached, message))
    }

    /// The member of a request without an instance id; `stand` is None for the classic protocol.
    pub(super) fn dynamic_member(
        &self,
        id: &MemberId,
        joins: bool,
        stand: Option<Stand<'_>>,
    ) -> Result<Before<'_>, Refusal> {
        let Some(member) = self.member(id.as_str()) else {
            return if joins { Ok(Before::new()) } else { Err(self.no_member(id.as_str())) };
        };
        stand.map_or(Ok(()), |stand| check_epoch(member, stand))?;
        Ok(Before::of(member))
    }

    /// The member of a request with an instance id. One that comes back takes the place of its former self, for which
    /// `records` gets what is to be written.
    pub(super) fn static_member_of(
        &self,
        id: &MemberId,
        instance: &str,
        joins: bool,
        stand: Option<Stand<'_>>,
        records: &mut Vec<Record>,
    ) -> Result<Before<'_>, Refusal> {
        let holder = self.static_member(instance);
        if !joins {
            let holder = self.check_holder(holder, id.as_str(), instance)?;
            stand.map_or(Ok(()), |stand| check_epoch(holder, stand))?;
            return Ok(Before::of(holder));
        }
        let Some(holder) = holder else {
            return Ok(self.member(id.as_str()).map_or_else(Before::new, Before::of));
        };
        let is_away = holder.current.epoch == CurrentAssignment::LEFT_FOR_NOW;
        if stand.is_some() && !holder.is_classic() && !is_away {
            let message = format!(
                "Static member {id} with instance id {instance} cannot join the group because the instance id is owned \
                 by {} member.",
                holder.id
            );
            return Err(Refusal::new(GroupError::UnreleasedInstanceId, message));
        }
        Ok(self.replace(holder, id, records))
    }

    /// Source: GroupMetadataManager.replaceMember.
    fn replace<'a>(&'a self, holder: &'a Member, id: &MemberId, records: &mut Vec<Record>) -> Before<'a> {
        let current = CurrentAssignment { epoch: 0, previous_epoch: 0, ..holder.current.clone() };
        records.extend(member::tombstones(&self.id, &holder.id));
        records.push(member::metadata_record(&self.id, id, holder.metadata.clone()));
        records.push(member::target_record(&self.id, id, holder.target.clone()));
        records.push(member::current_record(&self.id, id, current.clone()));
        Before { metadata: holder.metadata.clone(), current: Cow::Owned(current), replaced: Some(holder) }
    }

    /// The holder of an instance id, if it is the member that asks.
    pub(super) fn check_holder<'a>(
        &self,
        holder: Option<&'a Member>,
        id: &str,
        instance: &str,
    ) -> Result<&'a Member, Refusal> {
        let Some(holder) = holder else {
            return Err(Refusal::new(
                GroupError::UnknownMemberId,
                format!("Instance id {instance} is unknown."),
            ));
        };
        if holder.id.as_str() != id {
            let message =
                format!("Static member {id} with instance id {instance} was fenced by member {}.", holder.id);
            return Err(Refusal::new(GroupError::FencedInstanceId, message));
        }
        Ok(holder)
    }

    pub(super) fn no_member(&self, id: &str) -> Refusal {
        let message = format!("Member {id} is not a member of group {}.", self.id);
        Refusal::new(GroupError::UnknownMemberId, message)
    }
}

/// A member is at the epoch that it was told last, or at the one before if that answer was lost: then it has nothing
/// that it was not assigned.
fn check_epoch(member: &Member, stand: Stand<'_>) -> Result<(), Refusal> {
    let (given, known) = (stand.epoch, member.current.epoch);
    let has_only_assigned = || {
        stand.owned.is_some_and(|owned| owned.iter().all(|p| find(&member.current.assigned, *p).is_some()))
    };
    let is_lost_answer = given == member.current.previous_epoch && has_only_assigned();
    if given == 0 || given == known || (given < known && is_lost_answer) {
        return Ok(());
    }
    let word = if given > known { "greater" } else { "smaller" };
    Err(Refusal::new(
        GroupError::FencedMemberEpoch,
        format!(
            "The consumer group member has a {word} member epoch ({given}) than the one known by the group coordinator \
             ({known}). The member must abandon all its partitions and rejoin."
        ),
    ))
}
