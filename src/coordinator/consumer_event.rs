//! What happens to consumer groups, in the words of Kafka's log.

use std::fmt;
use std::sync::Arc;

use super::event::Event;
use crate::types::{GroupId, InstanceId, MemberId};

/// Something that happened to a consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsumerEvent {
    /// A member joined, or joined again.
    MemberJoined {
        /// Its id.
        member: MemberId,
        /// Its instance id, if it is static.
        instance: Option<InstanceId>,
        /// The protocol that it speaks: `consumer` or `classic`.
        protocol: &'static str,
    },
    /// A member is gone.
    MemberGone {
        /// Its id.
        member: MemberId,
        /// Its instance id, if it is static.
        instance: Option<InstanceId>,
        /// The epoch that it was in.
        epoch: i32,
        /// Why.
        why: Departure,
    },
    /// A new assignment is due.
    EpochBumped {
        /// The epoch that it is for.
        epoch: i32,
    },
    /// There is a new assignment.
    TargetComputed {
        /// The epoch that it is for.
        epoch: i32,
        /// Who computed it.
        assignor: String,
    },
    /// A regular expression matches more topics than there is room for, and is taken to match none.
    RegexExcessive {
        /// As the member wrote it.
        regex: Arc<str>,
    },
    /// The group was a classic one until now.
    Upgraded,
    /// The group is a classic one from now on.
    Downgraded,
}

/// Why a member of a consumer group is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// It said so.
    Left,
    /// It said so, and that it comes back.
    LeftForNow,
    /// Nothing was heard of it.
    SessionExpired,
    /// It did not give up what it was told to.
    RevocationTimedOut,
    /// It speaks the classic protocol, and did not join again.
    JoinTimedOut,
    /// It speaks the classic protocol, and did not sync.
    SyncTimedOut,
}

impl ConsumerEvent {
    pub(super) fn joined(member: &MemberId, instance: Option<&str>, protocol: &'static str) -> Self {
        Self::MemberJoined { member: member.clone(), instance: instance.map(InstanceId::from), protocol }
    }

    pub(super) fn of(self, group: &GroupId) -> Event {
        Event::Consumer { group: group.clone(), event: self }
    }
}

impl fmt::Display for ConsumerEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemberJoined { member, instance: None, protocol } => {
                write!(f, "Member {member} joins the consumer group using the {protocol} protocol.")
            }
            Self::MemberJoined { member, instance: Some(instance), protocol } => write!(
                f,
                "Static member {member} with instance id {instance} joins the consumer group using the {protocol} \
                 protocol."
            ),
            Self::MemberGone { member, instance, epoch, why } => {
                match instance {
                    Some(instance) => write!(f, "Static member {member} with instance id {instance} ")?,
                    None => write!(f, "Member {member} ")?,
                }
                match why {
                    Departure::Left => f.write_str("left the consumer group."),
                    Departure::LeftForNow => f.write_str("temporarily left the consumer group."),
                    Departure::SessionExpired => {
                        f.write_str("fenced from the group because the member session expired.")
                    }
                    Departure::RevocationTimedOut => write!(
                        f,
                        "fenced from the group because it failed to transition from epoch {epoch} within its rebalance \
                         timeout."
                    ),
                    Departure::JoinTimedOut => f.write_str(
                        "fenced from the group because the classic member failed to join within the rebalance timeout.",
                    ),
                    Departure::SyncTimedOut => {
                        f.write_str("fenced from the group because the member failed to sync within timeout.")
                    }
                }
            }
            Self::EpochBumped { epoch } => write!(f, "Bumped group epoch to {epoch}."),
            Self::TargetComputed { epoch, assignor } => {
                write!(f, "Computed a new target assignment for epoch {epoch} with '{assignor}' assignor.")
            }
            Self::RegexExcessive { regex } => {
                write!(
                    f,
                    "Regular expression `{regex}` matches more topics than there is memory for, and so none."
                )
            }
            Self::Upgraded => f.write_str("Converted the classic group to a consumer group."),
            Self::Downgraded => f.write_str("Converted the consumer group to a classic group."),
        }
    }
}
