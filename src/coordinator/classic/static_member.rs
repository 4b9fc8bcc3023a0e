//! A static member comes back under its instance id with no member id (KIP-345, KIP-814).
//!
//! Source: GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin, ClassicGroup.replaceStaticMember.

use std::sync::Arc;

use super::super::Turn;
use super::super::command::JoinGroup;
use super::super::error::GroupError;
use super::super::event::{Cause, Event};
use super::super::reply::{JoinReply, Joined, Reply};
use super::super::timer::TimerKey;
use super::ClassicGroup;
use super::join::refuse;
use super::state::State;
use crate::types::{InstanceId, MemberId, ReplyTo};

impl ClassicGroup {
    /// Gives the place of `old` to `new`. In Stable nothing else happens unless the chosen protocol changes.
    pub(super) fn static_member_returns(
        &mut self,
        turn: &mut Turn<'_>,
        from: ReplyTo,
        join: &JoinGroup<'_>,
        old: &MemberId,
        new: MemberId,
    ) {
        let old_leader = self.leader.clone();
        self.replace(turn, old, &new);
        self.update_member(turn, new.as_str(), join, from);
        let reason = join.reason.map(Arc::from);
        let instance = InstanceId::from(join.instance.unwrap_or_default());
        match self.state {
            State::Stable if self.select_protocol() == self.protocol_name => {
                self.answer_return(turn, &new, join.may_skip_assignment, old_leader);
                self.write(turn);
            }
            State::Stable => {
                let cause = Cause::ProtocolChanged { member: new, instance, reason };
                self.rebalance_or_complete_join(turn, cause);
            }
            // The leader may have been told of the old id already; what it assigns to that would be lost.
            State::CompletingRebalance => {
                self.prepare_rebalance(turn, Cause::StaticMemberReturned { member: new, instance, reason });
            }
            State::Empty | State::PreparingRebalance { .. } => self.complete_join_if_all_joined(turn),
        }
    }

    /// Fences whoever is parked under the old id, and puts the member under the new one.
    fn replace(&mut self, turn: &mut Turn<'_>, old: &MemberId, new: &MemberId) {
        if let Some(parked) = self.members.take_join(old.as_str()) {
            refuse(turn, parked, Some(old.clone()), GroupError::FencedInstanceId);
        }
        if let Some(member) = self.members.get_mut(old.as_str()) {
            if let Some(parked) = member.awaiting_sync.take() {
                turn.reply(parked, Reply::SyncGroup(Err(GroupError::FencedInstanceId)));
            }
            member.is_new = false;
            member.lease.cancel(turn.timers, || TimerKey::Session(self.id.clone(), old.clone()));
        }
        self.members.rename(old.as_str(), new.clone());
        if self.is_leader(old.as_str()) {
            self.leader = Some(new.clone());
        }
        if let Some(member) = self.members.get(new.as_str()) {
            turn.step.events.push(Event::StaticMemberReplaced {
                group: self.id.clone(),
                state: self.state.name(),
                who: member.who(),
                old: old.clone(),
            });
        }
        self.renew_session(turn, new.as_str());
    }

    /// Answers a return that changes nothing. From version 9 on a leader is told that it leads, and that it need
    /// not assign; before, it is told the id it led under, so that it takes itself for a follower.
    fn answer_return(
        &mut self,
        turn: &mut Turn<'_>,
        member: &MemberId,
        may_skip: bool,
        old_leader: Option<MemberId>,
    ) {
        let Some(from) = self.members.take_join(member.as_str()) else { return };
        let leads = self.is_leader(member.as_str());
        let joined = if may_skip {
            self.joined(leads, leads)
        } else {
            Joined { leader: old_leader, ..self.joined(false, false) }
        };
        let reply = JoinReply { member: Some(member.clone()), outcome: Ok(joined) };
        turn.reply(from, Reply::JoinGroup(Box::new(reply)));
    }
}
