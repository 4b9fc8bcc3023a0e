//! The state of a classic group. Source: kafka ClassicGroupState.
//!
//! ```text
//!                 join                     all joined, or timeout
//!     ┌───────┐ ───────► ┌────────────────────┐ ───────► ┌─────────────────────┐
//!     │ Empty │          │ PreparingRebalance │          │ CompletingRebalance │
//!     └───────┘ ◄─────── └────────────────────┘ ◄─────── └─────────────────────┘
//!               none joined     ▲                join, leave,       │ leader synced
//!                               │ join, leave,   expiry             ▼
//!                               │ expiry                       ┌────────┐
//!                               └───────────────────────────── │ Stable │
//!                                                              └────────┘
//! ```
//!
//! Dead is what an unknown group looks like to DescribeGroups; a group that exists is never in it.

use crate::types::Millis;

/// The state, with what is valid in it only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No members. The group stays while it has offsets.
    Empty,
    /// Members (re)join; their JoinGroups are parked.
    PreparingRebalance {
        /// When those that have not rejoined are left behind; in the initial delay, when it is over.
        deadline: Millis,
        /// Set while the group comes out of Empty: then it waits for time, not for members.
        initial: Option<InitialDelay>,
    },
    /// All know the generation; their SyncGroups are parked until the leader's comes.
    CompletingRebalance,
    /// Everybody may know its assignment.
    Stable,
}

/// How `group.initial.rebalance.delay.ms` goes on. It is renewed when it ends if somebody came meanwhile; the
/// renewals, unlike the first delay, never go beyond the rebalance timeout.
///
/// Differs from Kafka: that somebody came during the initial delay is forgotten when the delay is over. Where Kafka has
/// not looked at it by then, it renews the group's next initial delay for nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InitialDelay {
    /// Milliseconds of the delay that runs now.
    pub(super) delay_ms: i64,
    /// Milliseconds that renewals may still take.
    pub(super) remaining_ms: i64,
    /// Whether somebody came since the delay began.
    pub(super) newcomer: bool,
}

impl State {
    /// The name that clients read.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::PreparingRebalance { .. } => "PreparingRebalance",
            Self::CompletingRebalance => "CompletingRebalance",
            Self::Stable => "Stable",
        }
    }
}
