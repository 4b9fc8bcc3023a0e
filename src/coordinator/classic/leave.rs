//! LeaveGroup: members go by member id, or by instance id alone when a person or a tool sends them away.
//!
//! Source: GroupMetadataManager.classicGroupLeaveToClassicGroup.

use std::sync::Arc;

use super::super::Turn;
use super::super::command::{LeaveGroup, Leaver};
use super::super::error::GroupError;
use super::super::event::{Cause, Event, Removal, Who};
use super::ClassicGroup;
use super::join::refuse;
use super::state::State;
use crate::types::{InstanceId, MemberId};

impl ClassicGroup {
    /// Takes the leavers out one by one, then looks once what that means for the rest.
    pub(in super::super) fn leave(
        &mut self,
        turn: &mut Turn<'_>,
        leave: &LeaveGroup<'_>,
    ) -> Vec<Result<(), GroupError>> {
        let outcomes: Vec<_> = leave.members.iter().map(|leaver| self.leave_one(turn, leaver)).collect();
        let gone = || leave.members.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok());
        if gone().next().is_some() {
            match self.state {
                State::CompletingRebalance | State::Stable => {
                    let members = gone().map(|(l, _)| Arc::from(l.member.unwrap_or_default())).collect();
                    self.prepare_rebalance(turn, Cause::MembersLeft { members });
                }
                State::PreparingRebalance { .. } => self.complete_join_if_all_joined(turn),
                State::Empty => {}
            }
        }
        outcomes
    }

    fn leave_one(&mut self, turn: &mut Turn<'_>, leaver: &Leaver<'_>) -> Result<(), GroupError> {
        let removal = Removal::Left(leaver.reason.map(Arc::from));
        match (leaver.member, leaver.instance) {
            (None, instance) => {
                let holder = instance.and_then(|i| self.members.static_member(i)).cloned();
                self.remove_leaver(turn, holder.ok_or(GroupError::UnknownMemberId)?.as_str(), removal);
            }
            (Some(member), instance) if self.pending.get(member).is_some() => {
                self.remove_pending(turn, member);
                let who = Who {
                    member: MemberId::from(member),
                    instance: instance.map(InstanceId::from),
                    client_id: Arc::default(),
                    client_host: Arc::default(),
                };
                turn.step.events.push(Event::MemberRemoved { group: self.id.clone(), who, removal });
            }
            (Some(member), instance) => {
                self.validate_member(turn, member, instance, "leave-group")?;
                self.remove_leaver(turn, member, removal);
            }
        }
        Ok(())
    }

    /// A leaver's parked JoinGroup is answered; a parked SyncGroup of it never is.
    fn remove_leaver(&mut self, turn: &mut Turn<'_>, member: &str, removal: Removal) {
        if let Some(from) = self.members.take_join(member) {
            refuse(turn, from, None, GroupError::UnknownMemberId);
        }
        if let Some(gone) = self.remove_member(turn, member) {
            let event = Event::MemberRemoved { group: self.id.clone(), who: gone.who(), removal };
            turn.step.events.push(event);
        }
    }
}
