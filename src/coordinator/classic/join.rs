//! JoinGroup: a member enters, or says again what it offers.
//!
//! Source: GroupMetadataManager.classicGroupJoinToClassicGroup and what it calls.

use std::sync::Arc;

use super::super::Turn;
use super::super::command::JoinGroup;
use super::super::error::GroupError;
use super::super::event::{Cause, Event, Removal};
use super::super::reply::{JoinReply, Joined, Reply};
use super::super::timer::{Lease, TimerKey};
use super::super::weight::MEMBER_BYTES;
use super::ClassicGroup;
use super::member::{self, Member};
use super::state::State;
use crate::limits::{GROUP_MEMBERS_BYTES_MAX, PROTOCOLS_PER_MEMBER_MAX};
use crate::types::{InstanceId, MemberId, ReplyTo};

impl ClassicGroup {
    /// Takes a JoinGroup; the answer goes to `step` now or when the join phase ends.
    pub(in super::super) fn join(&mut self, turn: &mut Turn<'_>, from: ReplyTo, join: &JoinGroup<'_>) {
        if !self.accepts(turn, join.member) || !self.has_room(turn, join) {
            self.leave_out(turn, join.member);
            return refuse(turn, from, None, GroupError::GroupMaxSizeReached);
        }
        match join.member {
            None => self.join_new(turn, from, join),
            Some(member) => self.join_known(turn, from, member, join),
        }
    }

    /// Whether `group.max.size` leaves room. Source: acceptJoiningMember.
    ///
    /// Differs from Kafka: ids that were handed out count too; Kafka hands out as many as are asked for.
    fn accepts(&self, turn: &Turn<'_>, member: Option<&str>) -> bool {
        let known = member.and_then(|id| self.members.get(id));
        let is_pending = member.is_some_and(|id| self.pending.get(id).is_some());
        let left = turn.config.group_max_size.saturating_sub(self.pending.len() - usize::from(is_pending));
        match self.state {
            State::Empty => left > 0,
            State::PreparingRebalance { .. } => {
                known.is_some_and(|m| m.awaiting_join.is_some()) || self.members.awaiting_join_len() < left
            }
            State::CompletingRebalance | State::Stable => known.is_some() || self.members.len() < left,
        }
    }

    /// Whether there is memory for what the member offers.
    ///
    /// Differs from Kafka: what the members of a group offer is bounded, and so is what all groups take together.
    fn has_room(&self, turn: &Turn<'_>, join: &JoinGroup<'_>) -> bool {
        let before = join.member.and_then(|id| self.members.get(id)).map_or(0, Member::bytes);
        let added = join.bytes().saturating_sub(before);
        added <= turn.config.bytes_left && self.members.bytes() + added <= GROUP_MEMBERS_BYTES_MAX
    }

    /// Forgets a member, or an id that was handed out, for which there is no room any more. Kafka does not look
    /// whether that ends the join phase, so the others may wait for nobody until it times out.
    fn leave_out(&mut self, turn: &mut Turn<'_>, member: Option<&str>) {
        let Some(member) = member else { return };
        self.remove_pending(turn, member);
        if let Some(gone) = self.remove_member(turn, member) {
            let (group, who, removal) = (self.id.clone(), gone.who(), Removal::GroupFull);
            turn.step.events.push(Event::MemberRemoved { group, who, removal });
        }
    }

    /// Whether at least one protocol would be common to all. An empty group takes any type.
    fn supports(&self, join: &JoinGroup<'_>) -> bool {
        // Differs from Kafka: a member may not offer protocols without end.
        if join.protocols.len() > PROTOCOLS_PER_MEMBER_MAX {
            return false;
        }
        if self.is_empty() {
            return !join.protocol_type.is_empty() && !join.protocols.is_empty();
        }
        self.protocol_type.as_deref() == Some(join.protocol_type)
            && join.protocols.iter().any(|(name, _)| self.members.all_offer(name))
    }

    fn join_new(&mut self, turn: &mut Turn<'_>, from: ReplyTo, join: &JoinGroup<'_>) {
        if !self.supports(join) {
            return refuse(turn, from, None, GroupError::InconsistentGroupProtocol);
        }
        let id = new_member_id(join);
        match join.instance {
            Some(instance) => match self.members.static_member(instance).cloned() {
                Some(old) => self.static_member_returns(turn, from, join, &old, id),
                None => self.add_member(turn, from, join, id),
            },
            None if join.member_id_required => self.hand_out_id(turn, from, join, id),
            None => self.add_member(turn, from, join, id),
        }
    }

    /// Answers MEMBER_ID_REQUIRED; until the id is used or expires, a join phase waits for it (KIP-394).
    fn hand_out_id(&mut self, turn: &mut Turn<'_>, from: ReplyTo, join: &JoinGroup<'_>, id: MemberId) {
        let mut lease = Lease::default();
        lease.renew(turn.timers, turn.now.after(i64::from(join.session_timeout_ms)), || {
            TimerKey::Session(self.id.clone(), id.clone())
        });
        self.pending_bytes += MEMBER_BYTES + id.as_str().len();
        self.pending.insert(id.clone(), lease);
        turn.step.events.push(Event::MemberIdHandedOut {
            group: self.id.clone(),
            state: self.state.name(),
            member: id.clone(),
        });
        refuse(turn, from, Some(id), GroupError::MemberIdRequired);
    }

    fn join_known(&mut self, turn: &mut Turn<'_>, from: ReplyTo, member: &str, join: &JoinGroup<'_>) {
        if !self.supports(join) {
            return refuse(turn, from, Some(member.into()), GroupError::InconsistentGroupProtocol);
        }
        if self.pending.get(member).is_some() {
            if join.instance.is_some() {
                // Kafka trips over its own check here: a pending member cannot be static.
                return refuse(turn, from, None, GroupError::UnknownServerError);
            }
            self.remove_pending(turn, member);
            return self.add_member(turn, from, join, MemberId::from(member));
        }
        if let Err(error) = self.validate_member(turn, member, join.instance, "join-group") {
            return refuse(turn, from, Some(member.into()), error);
        }
        match self.rejoin_cause(member, join) {
            Some(cause) => {
                self.update_member(turn, member, join, from);
                self.rebalance_or_complete_join(turn, cause);
            }
            None => self.answer_unchanged(turn, from, member),
        }
    }

    /// What a rejoin sets off, or None where it changes nothing and is answered at once.
    fn rejoin_cause(&self, member: &str, join: &JoinGroup<'_>) -> Option<Cause> {
        let id = MemberId::from(member);
        let reason = join.reason.map(Arc::from);
        let unchanged = self.members.get(member).is_some_and(|m| m.matches(join));
        match self.state {
            State::Stable if self.is_leader(member) => Some(Cause::LeaderRejoined { member: id, reason }),
            State::Stable | State::CompletingRebalance if unchanged => None,
            State::Empty | State::PreparingRebalance { .. } | State::CompletingRebalance | State::Stable => {
                Some(Cause::MetadataChanged { member: id, state: self.state.name(), reason })
            }
        }
    }

    /// Tells a member once more about the generation it is in.
    fn answer_unchanged(&self, turn: &mut Turn<'_>, from: ReplyTo, member: &str) {
        let with_members = self.state == State::CompletingRebalance && self.is_leader(member);
        let reply =
            JoinReply { member: Some(MemberId::from(member)), outcome: Ok(self.joined(with_members, false)) };
        turn.reply(from, Reply::JoinGroup(Box::new(reply)));
    }

    pub(super) fn update_member(
        &mut self,
        turn: &mut Turn<'_>,
        member: &str,
        join: &JoinGroup<'_>,
        from: ReplyTo,
    ) {
        self.members.set_protocols(member, member::protocols(join, turn.texts));
        if let Some(m) = self.members.get_mut(member) {
            m.rebalance_timeout_ms = join.rebalance_timeout_ms;
            m.session_timeout_ms = join.session_timeout_ms;
        }
        self.members.park_join(member, from);
    }

    /// Adds a member and parks its JoinGroup. A new member may wait long for the others, so it gets the long
    /// join timeout instead of its session timeout.
    fn add_member(&mut self, turn: &mut Turn<'_>, from: ReplyTo, join: &JoinGroup<'_>, id: MemberId) {
        if let State::PreparingRebalance { initial: Some(initial), .. } = &mut self.state {
            initial.newcomer = true;
        }
        if self.members.is_empty() {
            self.protocol_type = Some(turn.texts.share(join.protocol_type));
        }
        self.leader.get_or_insert_with(|| id.clone());
        let mut member = Member::new(id.clone(), join, turn.now.monotonic, turn.texts);
        member.awaiting_join = Some(from);
        turn.step.events.push(Event::MemberAdded {
            group: self.id.clone(),
            state: self.state.name(),
            who: member.who(),
        });
        self.members.add(member);
        self.renew_session_by(turn, id.as_str(), turn.config.new_member_join_timeout_ms);
        let cause = Cause::MemberJoined {
            member: id,
            instance: join.instance.map(InstanceId::from),
            reason: join.reason.map(Arc::from),
        };
        self.rebalance_or_complete_join(turn, cause);
    }

    /// The generation as a member sees it.
    pub(super) fn joined(&self, with_members: bool, skip_assignment: bool) -> Joined {
        let protocol = self.protocol_name.as_deref();
        Joined {
            generation: self.generation,
            protocol_type: self.protocol_type.clone(),
            protocol_name: self.protocol_name.clone(),
            leader: self.leader.clone(),
            skip_assignment,
            members: if with_members {
                self.members.iter().map(|m| m.joined(protocol)).collect()
            } else {
                Vec::new()
            },
        }
    }
}

/// Answers a JoinGroup with an error.
pub(in super::super) fn refuse(
    turn: &mut Turn<'_>,
    from: ReplyTo,
    member: Option<MemberId>,
    error: GroupError,
) {
    turn.reply(from, Reply::JoinGroup(Box::new(JoinReply { member, outcome: Err(error) })));
}

/// `INSTANCE-UUID` or `CLIENT-UUID`, with a random UUID of version 4.
fn new_member_id(join: &JoinGroup<'_>) -> MemberId {
    let uuid = uuid::Builder::from_random_bytes(join.random.to_be_bytes()).into_uuid();
    MemberId::from(format!("{}-{uuid}", join.instance.unwrap_or(join.client_id)))
}

#[cfg(test)]
mod tests {
    use super::super::super::command::Command;
    use super::super::super::{Coordinator, GroupConfig, Step};
    use super::*;
    use crate::types::Now;

    fn outcome_with(protocols: usize) -> Option<GroupError> {
        let names: Vec<String> = (0..protocols).map(|n| format!("p{n}")).collect();
        let protocols: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        let join = JoinGroup {
            group: "g",
            member: None,
            instance: None,
            client_id: "c",
            client_host: "/10.0.0.1",
            session_timeout_ms: 45_000,
            rebalance_timeout_ms: 60_000,
            protocol_type: "consumer",
            protocols: &protocols,
            reason: None,
            member_id_required: false,
            may_skip_assignment: false,
            random: 1,
            assignment_interval_ms: 0,
        };
        let mut step = Step::default();
        let mut shard = Coordinator::new(GroupConfig::default(), Now::default());
        shard.submit(Now::default(), ReplyTo(1), Command::JoinGroup(join), &mut step);
        match step.replies.pop() {
            Some((_, Reply::JoinGroup(reply))) => reply.outcome.err(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_member_offers_protocols_up_to_a_bound() {
        assert_eq!(outcome_with(PROTOCOLS_PER_MEMBER_MAX), None);
        assert_eq!(outcome_with(PROTOCOLS_PER_MEMBER_MAX + 1), Some(GroupError::InconsistentGroupProtocol));
    }
}
