//! A member as a KIP-848 client keeps it: what it reads, what it was told, and what it has not said yet.
//! Source: kafka AbstractMembershipManager, ConsumerHeartbeatRequestManager.

use std::collections::BTreeSet;

use rallypoint::coordinator::error::GroupError;
use rallypoint::coordinator::reply::ConsumerHeartbeat;

use super::judge::{Outcome, ensure};

/// Partitions of the one topic.
pub(crate) type Partitions = BTreeSet<i32>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    /// Its member epoch; None while it is not in the group, as far as it knows.
    pub(crate) epoch: Option<i32>,
    /// What it reads.
    pub(crate) held: Partitions,
    /// What it was told to read and does not yet: first its application has to let go of the rest.
    pub(crate) told: Option<Partitions>,
    /// Whether the next heartbeat says what it has.
    pub(crate) reports: bool,
}

impl Client {
    /// Takes the answer to a heartbeat.
    pub(crate) fn take(&mut self, answer: Result<ConsumerHeartbeat, GroupError>) -> Outcome {
        let answer = match answer {
            Ok(answer) => answer,
            Err(GroupError::FencedMemberEpoch | GroupError::UnknownMemberId) => {
                *self = Self::default();
                return Ok(());
            }
            Err(error) => return Err(format!("a client that behaves is told {error}")),
        };
        let before = self.epoch.unwrap_or_default();
        ensure(answer.epoch >= before, || format!("a member goes from epoch {before} to {}", answer.epoch))?;
        self.epoch = Some(answer.epoch);
        self.reports = false;
        if let Some(assignment) = answer.assignment {
            let told = assignment.into_iter().map(|partition| partition.partition).collect();
            // What was asked for and taken back before it was done still wants to be acknowledged.
            self.reports = self.told.is_some() && told == self.held;
            self.told = (told != self.held).then_some(told);
        }
        Ok(())
    }

    /// The answer did not come: the next heartbeat says everything again. With what it says it has, it gives up what it
    /// was told and has not begun to read: the coordinator may have given that to others.
    pub(crate) fn hears_nothing(&mut self) {
        self.reports = true;
        self.told = None;
    }

    /// The application has let go of what it must and reads what it may.
    pub(crate) fn reconcile(&mut self) {
        if let Some(told) = self.told.take() {
            self.held = told;
            self.reports = true;
        }
    }

    /// Whether it was told to give something up and has not.
    pub(crate) fn has_to_revoke(&self) -> bool {
        self.told.as_ref().is_some_and(|told| !self.held.is_subset(told))
    }
}
