//! Heartbeat, and the checks of OffsetCommit, which counts as one.
//!
//! Source: GroupMetadataManager.classicGroupHeartbeatToClassicGroup, ClassicGroup.validateOffsetCommit.

use super::super::Turn;
use super::super::command::{Heartbeat, OffsetCommit};
use super::super::error::GroupError;
use super::ClassicGroup;
use super::state::State;

impl ClassicGroup {
    /// Renews the session. In the join phase the answer tells the member to rejoin.
    pub(in super::super) fn heartbeat(
        &mut self,
        turn: &mut Turn<'_>,
        heartbeat: &Heartbeat<'_>,
    ) -> Result<(), GroupError> {
        self.validate_member(turn, heartbeat.member, heartbeat.instance, "heartbeat")?;
        if heartbeat.generation != self.generation {
            return Err(GroupError::IllegalGeneration);
        }
        match self.state {
            State::Empty => Err(GroupError::UnknownMemberId),
            State::PreparingRebalance { .. } => {
                self.renew_session(turn, heartbeat.member);
                Err(GroupError::RebalanceInProgress)
            }
            State::CompletingRebalance | State::Stable => {
                self.renew_session(turn, heartbeat.member);
                Ok(())
            }
        }
    }

    /// Whether a commit may be stored; renews the member's session if so.
    ///
    /// A negative generation is a simple consumer's: it may commit while nobody is in the group.
    pub(in super::super) fn admit_commit(
        &mut self,
        turn: &mut Turn<'_>,
        commit: &OffsetCommit<'_>,
    ) -> Result<(), GroupError> {
        if commit.generation < 0 && self.is_empty() {
            return Ok(());
        }
        let is_transactional = commit.producer_id.is_some();
        if commit.generation < 0 && commit.member.is_empty() && commit.instance.is_none() {
            // Before version 3 a TxnOffsetCommit cannot say who it comes from.
            return if is_transactional { Ok(()) } else { Err(GroupError::UnknownMemberId) };
        }
        let operation = if is_transactional { "txn-offset-commit" } else { "offset-commit" };
        self.validate_member(turn, commit.member, commit.instance, operation)?;
        if commit.generation != self.generation {
            return Err(GroupError::IllegalGeneration);
        }
        if is_transactional {
            return Ok(());
        }
        if self.state == State::CompletingRebalance {
            return Err(GroupError::RebalanceInProgress);
        }
        self.renew_session(turn, commit.member);
        Ok(())
    }
}
