//! SyncGroup: the leader hands in the assignment, everybody gets its part of it.
//!
//! Source: GroupMetadataManager.classicGroupSyncToClassicGroup.

use std::sync::Arc;

use super::super::Turn;
use super::super::command::SyncGroup;
use super::super::error::GroupError;
use super::super::event::{Cause, Event};
use super::super::record::Record;
use super::super::reply::{Reply, Synced};
use super::ClassicGroup;
use super::member::no_bytes;
use super::state::State;
use crate::types::{MemberId, ReplyTo};

impl ClassicGroup {
    /// Takes a SyncGroup; a follower's answer goes to `step` when the leader has synced.
    pub(in super::super) fn sync(&mut self, turn: &mut Turn<'_>, from: ReplyTo, sync: &SyncGroup<'_>) {
        if let Err(error) = self.validate_sync(turn, sync) {
            return turn.reply(from, Reply::SyncGroup(Err(error)));
        }
        match self.state {
            State::Empty => turn.reply(from, Reply::SyncGroup(Err(GroupError::UnknownMemberId))),
            State::PreparingRebalance { .. } => {
                turn.reply(from, Reply::SyncGroup(Err(GroupError::RebalanceInProgress)));
            }
            State::CompletingRebalance => {
                if let Some(member) = self.members.get_mut(sync.member) {
                    member.awaiting_sync = Some(from);
                }
                self.has_synced(turn, sync.member);
                if self.is_leader(sync.member) {
                    self.take_assignment(turn, sync);
                }
            }
            State::Stable => {
                self.has_synced(turn, sync.member);
                let assignment =
                    self.members.get(sync.member).map_or_else(no_bytes, |m| m.assignment.clone());
                turn.reply(from, Reply::SyncGroup(Ok(self.synced(assignment))));
            }
        }
    }

    fn validate_sync(&self, turn: &mut Turn<'_>, sync: &SyncGroup<'_>) -> Result<(), GroupError> {
        if self.is_empty() {
            return Err(GroupError::UnknownMemberId);
        }
        self.validate_member(turn, sync.member, sync.instance, "sync-group")?;
        if sync.generation != self.generation {
            return Err(GroupError::IllegalGeneration);
        }
        let differs = |given: Option<&str>, ours: &Option<Arc<str>>| matches!((given, ours.as_deref()), (Some(given), Some(ours)) if given != ours);
        if differs(sync.protocol_type, &self.protocol_type)
            || differs(sync.protocol_name, &self.protocol_name)
        {
            return Err(GroupError::InconsistentGroupProtocol);
        }
        Ok(())
    }

    /// Once all have synced, nobody can be late any more.
    fn has_synced(&mut self, turn: &mut Turn<'_>, member: &str) {
        if !self.members.has_synced(member) {
            self.cancel_timer(turn);
        }
    }

    /// Stores what the leader hands in and answers everybody who waits for it. A member that it leaves out gets
    /// an empty assignment; one that it names and nobody knows is passed over.
    fn take_assignment(&mut self, turn: &mut Turn<'_>, sync: &SyncGroup<'_>) {
        let left_out = self.set_assignments(sync);
        let record = self.to_record();
        let bytes = record.encoded_len();
        // Differs from Kafka: what all groups take together is bounded.
        if bytes > turn.config.record_bytes_max || self.assignment_bytes > turn.config.bytes_left {
            self.fail_parked_syncs(turn, GroupError::UnknownServerError);
            let leader = MemberId::from(sync.member);
            return self.rebalance_or_complete_join(turn, Cause::AssignmentTooLarge { leader, bytes });
        }
        turn.step.events.push(Event::AssignmentReceived {
            group: self.id.clone(),
            generation: self.generation,
            leader: MemberId::from(sync.member),
            members: self.members.len(),
            statics: self.members.statics_len(),
            left_out,
            took_ms: turn.now.monotonic.since(self.rebalance_since),
        });
        turn.step
            .records
            .push(Record::GroupMetadata { group: self.id.clone(), value: Some(Box::new(record)) });
        self.answer_parked_syncs(turn);
        self.enter(turn, State::Stable);
    }

    /// Gives each member its part; says how many have none.
    fn set_assignments(&mut self, sync: &SyncGroup<'_>) -> usize {
        for member in self.members.iter_mut() {
            member.assignment = no_bytes();
        }
        let mut named = 0;
        self.assignment_bytes = 0;
        for (member, assignment) in sync.assignments {
            if let Some(member) = self.members.get_mut(member) {
                member.assignment = Arc::from(*assignment);
                self.assignment_bytes += assignment.len();
                named += 1;
            }
        }
        self.members.len().saturating_sub(named)
    }

    fn answer_parked_syncs(&mut self, turn: &mut Turn<'_>) {
        let mut parked = Vec::with_capacity(self.members.len());
        for member in self.members.iter_mut() {
            if let Some(from) = member.awaiting_sync.take() {
                parked.push((from, member.id.clone(), member.assignment.clone()));
            }
        }
        for (from, id, assignment) in parked {
            turn.reply(from, Reply::SyncGroup(Ok(self.synced(assignment))));
            self.renew_session(turn, id.as_str());
        }
    }

    fn synced(&self, assignment: Arc<[u8]>) -> Synced {
        Synced {
            protocol_type: self.protocol_type.clone(),
            protocol_name: self.protocol_name.clone(),
            assignment,
        }
    }
}
