//! What a group refuses, by Kafka's names. `api::error_code` knows the numbers.

use std::fmt;

/// Why a request to a group was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupError {
    /// The shard of the group cannot serve now; ask again.
    CoordinatorNotAvailable,
    /// The shard of the group is being loaded; ask again.
    CoordinatorLoadInProgress,
    /// The shard of the group lives elsewhere; find it again.
    NotCoordinator,
    /// Another member now holds the instance id (KIP-345).
    FencedInstanceId,
    /// Not the epoch of the member: it has to give up everything and join again (KIP-848).
    FencedMemberEpoch,
    /// No such group.
    GroupIdNotFound,
    /// `group.max.size` members are there already (KIP-389).
    GroupMaxSizeReached,
    /// A member reads the topic, so its offsets stay.
    GroupSubscribedToTopic,
    /// Not the current generation.
    IllegalGeneration,
    /// No protocol in common with the members, or another protocol type.
    InconsistentGroupProtocol,
    /// The group id is empty where it must not be.
    InvalidGroupId,
    /// There is no memory for more offsets.
    InvalidCommitOffsetSize,
    /// RE2 does not take the expression.
    InvalidRegularExpression,
    /// Below `group.min.session.timeout.ms` or above `group.max.session.timeout.ms`.
    InvalidSessionTimeout,
    /// Come back with the id given in the same answer (KIP-394).
    MemberIdRequired,
    /// The group has members.
    NonEmptyGroup,
    /// More than `offset.metadata.max.bytes`.
    OffsetMetadataTooLarge,
    /// Join again.
    RebalanceInProgress,
    /// Not the epoch of the member (KIP-848); retry with a newer one.
    StaleMemberEpoch,
    /// A member that is still there holds the instance id (KIP-848).
    UnreleasedInstanceId,
    /// No such member.
    UnknownMemberId,
    /// What the group has to store is larger than a record may be.
    UnknownServerError,
    /// The request is older than what a member of this kind may send.
    UnsupportedVersion,
}

impl GroupError {
    /// The name as Kafka spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CoordinatorNotAvailable => "COORDINATOR_NOT_AVAILABLE",
            Self::CoordinatorLoadInProgress => "COORDINATOR_LOAD_IN_PROGRESS",
            Self::NotCoordinator => "NOT_COORDINATOR",
            Self::FencedInstanceId => "FENCED_INSTANCE_ID",
            Self::FencedMemberEpoch => "FENCED_MEMBER_EPOCH",
            Self::GroupIdNotFound => "GROUP_ID_NOT_FOUND",
            Self::GroupMaxSizeReached => "GROUP_MAX_SIZE_REACHED",
            Self::GroupSubscribedToTopic => "GROUP_SUBSCRIBED_TO_TOPIC",
            Self::IllegalGeneration => "ILLEGAL_GENERATION",
            Self::InconsistentGroupProtocol => "INCONSISTENT_GROUP_PROTOCOL",
            Self::InvalidGroupId => "INVALID_GROUP_ID",
            Self::InvalidCommitOffsetSize => "INVALID_COMMIT_OFFSET_SIZE",
            Self::InvalidRegularExpression => "INVALID_REGULAR_EXPRESSION",
            Self::InvalidSessionTimeout => "INVALID_SESSION_TIMEOUT",
            Self::MemberIdRequired => "MEMBER_ID_REQUIRED",
            Self::NonEmptyGroup => "NON_EMPTY_GROUP",
            Self::OffsetMetadataTooLarge => "OFFSET_METADATA_TOO_LARGE",
            Self::RebalanceInProgress => "REBALANCE_IN_PROGRESS",
            Self::StaleMemberEpoch => "STALE_MEMBER_EPOCH",
            Self::UnreleasedInstanceId => "UNRELEASED_INSTANCE_ID",
            Self::UnknownMemberId => "UNKNOWN_MEMBER_ID",
            Self::UnknownServerError => "UNKNOWN_SERVER_ERROR",
            Self::UnsupportedVersion => "UNSUPPORTED_VERSION",
        }
    }
}

impl fmt::Display for GroupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for GroupError {}

/// A refusal with the words that go with it, for answers that have room for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub error: GroupError,
    /// Kafka's text on this case.
    pub message: String,
}

impl Refusal {
    pub(super) fn new(error: GroupError, message: impl Into<String>) -> Self {
        Self { error, message: message.into() }
    }
}
