//! The rebalance: how a join phase begins, what it waits for, and how a generation comes out of it.
//!
//! Source: GroupMetadataManager.prepareRebalance, completeClassicGroupJoin, expirePendingSync and around them.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::Turn;
use super::super::error::GroupError;
use super::super::event::{Awaited, Cause, Event, Removal, Who};
use super::super::record::{GroupMetadata, Record};
use super::super::reply::{JoinReply, Reply};
use super::super::timer::TimerKey;
use super::ClassicGroup;
use super::join::refuse;
use super::member::{Member, no_bytes};
use super::state::{InitialDelay, State};
use crate::java;
use crate::types::{MemberId, Millis};

impl ClassicGroup {
    /// Begins a rebalance, or, where one is in its join phase, looks whether that is over.
    pub(super) fn rebalance_or_complete_join(&mut self, turn: &mut Turn<'_>, cause: Cause) {
        match self.state {
            State::Empty | State::CompletingRebalance | State::Stable => self.prepare_rebalance(turn, cause),
            State::PreparingRebalance { .. } => self.complete_join_if_all_joined(turn),
        }
    }

    /// Begins the join phase.
    pub(super) fn prepare_rebalance(&mut self, turn: &mut Turn<'_>, cause: Cause) {
        if self.state == State::CompletingRebalance {
            self.fail_parked_syncs(turn, GroupError::RebalanceInProgress);
        }
        self.members.take_unsynced();
        let timeout_ms = self.members.rebalance_timeout_ms();
        let (delay_ms, initial) = if self.is_empty() {
            let delay_ms = turn.config.initial_rebalance_delay_ms;
            let remaining_ms = (timeout_ms - delay_ms).max(0);
            (delay_ms, Some(InitialDelay { delay_ms, remaining_ms, newcomer: false }))
        } else {
            (timeout_ms, None)
        };
        self.rebalance_since = turn.now.monotonic;
        self.schedule(turn, delay_ms);
        self.enter(turn, State::PreparingRebalance { deadline: turn.now.after(delay_ms), initial });
        turn.step.events.push(Event::PreparingRebalance {
            group: self.id.clone(),
            generation: self.generation,
            cause,
            awaited: self.awaited_joins(),
            timeout_ms: delay_ms,
        });
        if initial.is_none() && self.all_joined() {
            self.complete_join(turn);
        }
    }

    /// Ends the join phase if everybody is there. The first one since the group was empty waits for its delay.
    pub(super) fn complete_join_if_all_joined(&mut self, turn: &mut Turn<'_>) {
        let joining = matches!(self.state, State::PreparingRebalance { initial: None, .. });
        if joining && self.all_joined() {
            self.complete_join(turn);
        }
    }

    /// As above, but also out of the initial delay: when somebody went, Kafka looks at the count alone.
    pub(super) fn complete_join_after_removal(&mut self, turn: &mut Turn<'_>) {
        if matches!(self.state, State::PreparingRebalance { .. }) && self.all_joined() {
            self.complete_join(turn);
        }
    }

    fn all_joined(&self) -> bool {
        self.members.awaiting_join_len() == self.members.len() && self.pending.is_empty()
    }

    /// The timer of the join phase or of the sync phase has fired.
    pub(in super::super) fn rebalance_timer_fired(&mut self, turn: &mut Turn<'_>) {
        self.rebalance_timer = None;
        match self.state {
            State::PreparingRebalance { initial: Some(initial), .. }
                if initial.newcomer && initial.remaining_ms != 0 =>
            {
                let delay_ms = turn.config.initial_rebalance_delay_ms.min(initial.remaining_ms);
                let remaining_ms = (initial.remaining_ms - initial.delay_ms).max(0);
                self.state = State::PreparingRebalance {
                    deadline: turn.now.after(delay_ms),
                    initial: Some(InitialDelay { delay_ms, remaining_ms, newcomer: false }),
                };
                self.schedule(turn, delay_ms);
            }
            State::PreparingRebalance { .. } => self.complete_join(turn),
            State::CompletingRebalance | State::Stable => self.expire_unsynced(turn),
            State::Empty => {}
        }
    }

    /// Ends the join phase with those that are there. Dynamic members that did not rejoin are removed; static
    /// ones stay, and learn later that the generation is not theirs.
    fn complete_join(&mut self, turn: &mut Turn<'_>) {
        self.cancel_timer(turn);
        self.remove_those_who_did_not_rejoin(turn);
        if !self.elect_leader(turn) && !self.members.is_empty() {
            turn.step.events.push(Event::NobodyRejoined { group: self.id.clone() });
            let timeout_ms = self.members.rebalance_timeout_ms();
            if let State::PreparingRebalance { deadline, .. } = &mut self.state {
                *deadline = turn.now.after(timeout_ms);
            }
            return self.schedule(turn, timeout_ms);
        }
        // Kafka lets it run over; a group that rebalances once a millisecond gets there after 24 days.
        self.generation = self.generation.wrapping_add(1);
        if self.members.is_empty() {
            self.become_empty(turn);
        } else {
            self.begin_generation(turn);
        }
    }

    fn remove_those_who_did_not_rejoin(&mut self, turn: &mut Turn<'_>) {
        // Who joined since may have a longer timeout; what ran out is the one of the beginning.
        let timeout_ms = turn.now.monotonic.since(self.rebalance_since);
        let gone = self.members.remove_where(|m| m.awaiting_join.is_none() && m.instance.is_none());
        for mut member in gone {
            let silent_ms = turn.now.monotonic.since(member.last_heard);
            let removal = Removal::RebalanceTimeout { rebalance_timeout_ms: timeout_ms, silent_ms };
            self.forget(turn, &mut member, removal);
        }
        self.replace_leader_if_gone();
    }

    /// Ends a removed member's timer and tells why it went.
    fn forget(&self, turn: &mut Turn<'_>, member: &mut Member, removal: Removal) {
        member.lease.cancel(turn.timers, || TimerKey::Session(self.id.clone(), member.id.clone()));
        let event = Event::MemberRemoved { group: self.id.clone(), who: member.who(), removal };
        turn.step.events.push(event);
    }

    /// Makes sure that the leader is somebody who rejoined; false if nobody did.
    fn elect_leader(&mut self, turn: &mut Turn<'_>) -> bool {
        let Some(leader) = self.leader.as_ref().and_then(|id| self.members.get(id.as_str())) else {
            return false;
        };
        if leader.awaiting_join.is_some() {
            return true;
        }
        let Some(new) = self.members.iter().find(|m| m.awaiting_join.is_some()) else { return false };
        turn.step.events.push(Event::LeaderReplaced {
            group: self.id.clone(),
            old: leader.id.clone(),
            new: new.id.clone(),
        });
        self.leader = Some(new.id.clone());
        true
    }

    fn become_empty(&mut self, turn: &mut Turn<'_>) {
        self.protocol_name = None;
        self.compute_subscribed(turn.texts);
        self.enter(turn, State::Empty);
        turn.step.events.push(Event::GroupEmpty { group: self.id.clone(), generation: self.generation });
        self.write(turn);
    }

    /// Answers every parked JoinGroup and waits for the leader's SyncGroup.
    fn begin_generation(&mut self, turn: &mut Turn<'_>) {
        self.protocol_name = self.select_protocol();
        self.compute_subscribed(turn.texts);
        self.enter(turn, State::CompletingRebalance);
        turn.step.events.push(Event::Stabilized {
            group: self.id.clone(),
            generation: self.generation,
            members: self.members.len(),
            took_ms: turn.now.monotonic.since(self.rebalance_since),
        });
        let ids: Vec<MemberId> = self.members.iter().map(|m| m.id.clone()).collect();
        for id in &ids {
            if let Some(from) = self.members.take_join(id.as_str()) {
                let outcome = Ok(self.joined(self.is_leader(id.as_str()), false));
                let reply = JoinReply { member: Some(id.clone()), outcome };
                turn.reply(from, Reply::JoinGroup(Box::new(reply)));
            }
            self.renew_session(turn, id.as_str());
            if let Some(member) = self.members.get_mut(id.as_str()) {
                member.is_new = false;
            }
        }
        self.members.await_syncs();
        self.schedule(turn, self.members.rebalance_timeout_ms());
    }

    /// Removes the members that joined and never synced; if one of them leads, nobody has an assignment yet.
    fn expire_unsynced(&mut self, turn: &mut Turn<'_>) {
        let late = self.members.take_unsynced();
        if late.is_empty() {
            return;
        }
        let timeout_ms = self.members.rebalance_timeout_ms();
        for mut member in self.members.remove_where(|m| late.get(&m.id).is_some()) {
            let silent_ms = turn.now.monotonic.since(member.last_heard);
            let removal = Removal::SyncTimeout { rebalance_timeout_ms: timeout_ms, silent_ms };
            self.forget(turn, &mut member, removal);
        }
        self.replace_leader_if_gone();
        self.prepare_rebalance(turn, Cause::SyncTimedOut { members: late.keys().cloned().collect() });
    }

    /// The session timer of a member, or of an id that was handed out, has fired.
    pub(in super::super) fn session_timer_fired(&mut self, turn: &mut Turn<'_>, member: &MemberId) {
        let key = || TimerKey::Session(self.id.clone(), member.clone());
        if let Some(lease) = self.pending.get_mut(member.as_str()) {
            if lease.fired(turn.timers, turn.now.monotonic, key) {
                self.expire_pending(turn, member);
            }
            return;
        }
        let Some(m) = self.members.get_mut(member.as_str()) else { return };
        if m.lease.fired(turn.timers, turn.now.monotonic, key) && !m.is_excused() {
            self.expire_member(turn, member);
        }
    }

    fn expire_pending(&mut self, turn: &mut Turn<'_>, member: &MemberId) {
        self.remove_pending(turn, member.as_str());
        let who = Who {
            member: member.clone(),
            instance: None,
            client_id: Arc::default(),
            client_host: Arc::default(),
        };
        let removal = Removal::PendingExpired;
        turn.step.events.push(Event::MemberRemoved { group: self.id.clone(), who, removal });
        self.complete_join_after_removal(turn);
    }

    fn expire_member(&mut self, turn: &mut Turn<'_>, member: &MemberId) {
        if let Some(from) = self.members.take_join(member.as_str()) {
            refuse(turn, from, None, GroupError::UnknownMemberId);
        }
        let Some(gone) = self.remove_member(turn, member.as_str()) else { return };
        turn.step.events.push(Event::MemberRemoved {
            group: self.id.clone(),
            who: gone.who(),
            removal: Removal::SessionExpired {
                session_timeout_ms: i64::from(gone.session_timeout_ms),
                silent_ms: turn.now.monotonic.since(gone.last_heard),
            },
        });
        match self.state {
            State::CompletingRebalance | State::Stable => {
                self.prepare_rebalance(turn, Cause::SessionExpired { member: member.clone() });
            }
            State::Empty | State::PreparingRebalance { .. } => self.complete_join_after_removal(turn),
        }
    }

    /// Lets each member vote for the first of its protocols that all offer; the most votes win.
    ///
    /// Kafka counts votes in a HashMap, so of equals the one wins that comes first in that map's order.
    pub(super) fn select_protocol(&self) -> Option<Arc<str>> {
        let mut votes: BTreeMap<&Arc<str>, usize> = BTreeMap::new();
        for member in self.members.iter() {
            if let Some(choice) = member.vote(|name| self.members.all_offer(name)) {
                *votes.entry(choice).or_default() += 1;
            }
        }
        let mut votes: Vec<_> = votes.into_iter().collect();
        let kinds = votes.len();
        java::sort_as_hash_map(&mut votes, kinds, |(name, _)| java::string_hash(name));
        votes.into_iter().min_by_key(|(_, count)| Reverse(*count)).map(|(name, _)| name.clone())
    }

    /// Answers every parked SyncGroup with an error; what was assigned before is void.
    pub(super) fn fail_parked_syncs(&mut self, turn: &mut Turn<'_>, error: GroupError) {
        let mut answered = Vec::new();
        for member in self.members.iter_mut() {
            member.assignment = no_bytes();
            if let Some(from) = member.awaiting_sync.take() {
                turn.reply(from, Reply::SyncGroup(Err(error)));
                answered.push(member.id.clone());
            }
        }
        for id in answered {
            self.renew_session(turn, id.as_str());
        }
    }

    /// The group as it is written.
    pub(super) fn to_record(&self) -> GroupMetadata {
        let protocol = self.protocol_name.as_deref();
        GroupMetadata {
            protocol_type: self.protocol_type.clone(),
            generation: self.generation,
            protocol_name: self.protocol_name.clone(),
            leader: self.leader.clone(),
            state_timestamp_ms: self.state_timestamp_ms,
            members: self.members.iter().map(|m| m.to_record(protocol)).collect(),
        }
    }

    /// Writes the group.
    pub(in super::super) fn write(&self, turn: &mut Turn<'_>) {
        let value = Some(Box::new(self.to_record()));
        turn.step.records.push(Record::GroupMetadata { group: self.id.clone(), value });
    }

    pub(super) fn enter(&mut self, turn: &Turn<'_>, state: State) {
        self.state = state;
        self.state_timestamp_ms = turn.now.wall.0;
    }

    pub(super) fn schedule(&mut self, turn: &mut Turn<'_>, delay_ms: i64) {
        self.cancel_timer(turn);
        let at = turn.now.after(delay_ms);
        turn.timers.insert(at, TimerKey::Rebalance(self.id.clone()));
        self.rebalance_timer = Some(at);
    }

    pub(super) fn cancel_timer(&mut self, turn: &mut Turn<'_>) {
        if let Some(at) = self.rebalance_timer.take() {
            turn.timers.remove(at, TimerKey::Rebalance(self.id.clone()));
        }
    }

    fn awaited_joins(&self) -> Awaited {
        let late = || self.members.iter().filter(|m| m.awaiting_join.is_none()).map(|m| &m.id);
        Awaited {
            named: late().chain(self.pending.keys()).take(Awaited::NAMED_MAX).cloned().collect(),
            total: self.members.len() - self.members.awaiting_join_len() + self.pending.len(),
        }
    }

    /// When the join phase times out, for views.
    pub(in super::super) fn join_deadline(&self) -> Option<Millis> {
        match self.state {
            State::PreparingRebalance { deadline, .. } => Some(deadline),
            State::Empty | State::CompletingRebalance | State::Stable => None,
        }
    }
}
