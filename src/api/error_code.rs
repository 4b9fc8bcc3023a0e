//! Every refusal of a core as Kafka's error: the only file of the rooms `api` and inward that names codes.

use kafka_protocol::ResponseError;

use crate::cluster::scram::ScramError;
use crate::coordinator::error::GroupError;
use crate::log::{LogError, SessionError};
use crate::txn::error::TxnError;

/// Kafka's error for what a group refused.
pub(super) const fn of_group(error: GroupError) -> ResponseError {
    match error {
        GroupError::CoordinatorNotAvailable => ResponseError::CoordinatorNotAvailable,
        GroupError::CoordinatorLoadInProgress => ResponseError::CoordinatorLoadInProgress,
        GroupError::NotCoordinator => ResponseError::NotCoordinator,
        GroupError::FencedInstanceId => ResponseError::FencedInstanceId,
        GroupError::FencedMemberEpoch => ResponseError::FencedMemberEpoch,
        GroupError::GroupIdNotFound => ResponseError::GroupIdNotFound,
        GroupError::GroupMaxSizeReached => ResponseError::GroupMaxSizeReached,
        GroupError::GroupSubscribedToTopic => ResponseError::GroupSubscribedToTopic,
        GroupError::IllegalGeneration => ResponseError::IllegalGeneration,
        GroupError::InconsistentGroupProtocol => ResponseError::InconsistentGroupProtocol,
        GroupError::InvalidGroupId => ResponseError::InvalidGroupId,
        GroupError::InvalidCommitOffsetSize => ResponseError::InvalidCommitOffsetSize,
        GroupError::InvalidRegularExpression => ResponseError::InvalidRegularExpression,
        GroupError::InvalidSessionTimeout => ResponseError::InvalidSessionTimeout,
        GroupError::MemberIdRequired => ResponseError::MemberIdRequired,
        GroupError::NonEmptyGroup => ResponseError::NonEmptyGroup,
        GroupError::OffsetMetadataTooLarge => ResponseError::OffsetMetadataTooLarge,
        GroupError::RebalanceInProgress => ResponseError::RebalanceInProgress,
        GroupError::StaleMemberEpoch => ResponseError::StaleMemberEpoch,
        GroupError::UnreleasedInstanceId => ResponseError::UnreleasedInstanceId,
        GroupError::UnknownMemberId => ResponseError::UnknownMemberId,
        GroupError::UnknownServerError => ResponseError::UnknownServerError,
        GroupError::UnsupportedVersion => ResponseError::UnsupportedVersion,
    }
}

/// The code on the wire: 0 for success.
pub(super) const fn of_result(result: Result<(), GroupError>) -> i16 {
    match result {
        Ok(()) => 0,
        Err(error) => code(error),
    }
}

/// The code on the wire.
pub(super) const fn code(error: GroupError) -> i16 {
    of_group(error).code()
}

/// Kafka's error for what a log refused.
pub(super) const fn of_log(error: &LogError) -> ResponseError {
    match error {
        LogError::UnknownTopicOrPartition => ResponseError::UnknownTopicOrPartition,
        LogError::OffsetOutOfRange => ResponseError::OffsetOutOfRange,
        LogError::FencedLeaderEpoch => ResponseError::FencedLeaderEpoch,
        LogError::UnknownLeaderEpoch => ResponseError::UnknownLeaderEpoch,
        LogError::CorruptMessage(_) => ResponseError::CorruptMessage,
        LogError::InvalidRecord | LogError::InvalidRecords(_) => ResponseError::InvalidRecord,
        LogError::InvalidTimestamp(_) => ResponseError::InvalidTimestamp,
        LogError::MessageTooLarge => ResponseError::MessageTooLarge,
        LogError::RecordListTooLarge => ResponseError::RecordListTooLarge,
        LogError::UnsupportedCompressionType => ResponseError::UnsupportedCompressionType,
        LogError::OutOfOrderSequenceNumber => ResponseError::OutOfOrderSequenceNumber,
        LogError::InvalidProducerEpoch => ResponseError::InvalidProducerEpoch,
        LogError::InvalidTxnState => ResponseError::InvalidTxnState,
        LogError::TransactionCoordinatorFenced => ResponseError::TransactionCoordinatorFenced,
        LogError::PolicyViolation(_) => ResponseError::PolicyViolation,
        LogError::UnknownServerError => ResponseError::UnknownServerError,
    }
}

/// Kafka's error for what the transaction coordinator refused.
pub(super) const fn of_txn(error: TxnError) -> ResponseError {
    match error {
        TxnError::CoordinatorNotAvailable => ResponseError::CoordinatorNotAvailable,
        TxnError::ConcurrentTransactions => ResponseError::ConcurrentTransactions,
        TxnError::InvalidProducerIdMapping => ResponseError::InvalidProducerIdMapping,
        TxnError::InvalidRequest => ResponseError::InvalidRequest,
        TxnError::InvalidTransactionTimeout => ResponseError::InvalidTransactionTimeout,
        TxnError::InvalidTxnState => ResponseError::InvalidTxnState,
        TxnError::PolicyViolation => ResponseError::PolicyViolation,
        TxnError::ProducerFenced => ResponseError::ProducerFenced,
        TxnError::TransactionAbortable => ResponseError::TransactionAbortable,
        TxnError::UnknownServerError => ResponseError::UnknownServerError,
    }
}

/// Kafka's error for a Fetch that does not fit its session.
pub(super) const fn of_session(error: SessionError) -> ResponseError {
    match error {
        SessionError::FetchSessionIdNotFound => ResponseError::FetchSessionIdNotFound,
        SessionError::InvalidFetchSessionEpoch => ResponseError::InvalidFetchSessionEpoch,
        SessionError::FetchSessionTopicIdError => ResponseError::FetchSessionTopicIdError,
    }
}

/// Kafka's error for a SCRAM credential that was refused.
pub(super) const fn of_scram(error: ScramError) -> ResponseError {
    match error {
        ScramError::DuplicateResource => ResponseError::DuplicateResource,
        ScramError::ResourceNotFound => ResponseError::ResourceNotFound,
        ScramError::UnacceptableCredential(_) => ResponseError::UnacceptableCredential,
        ScramError::UnsupportedSaslMechanism => ResponseError::UnsupportedSaslMechanism,
        ScramError::UnknownServerError => ResponseError::UnknownServerError,
    }
}
