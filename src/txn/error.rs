//! What the coordinator refuses, by Kafka's names. `api::error_code` knows the numbers.

use std::fmt;

/// Why a request of a producer was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxnError {
    /// It met a bug; ask again.
    CoordinatorNotAvailable,
    /// The last transaction of the producer is not over yet; ask again.
    ConcurrentTransactions,
    /// The transactional id stands for another producer id, or for none.
    InvalidProducerIdMapping,
    /// The transactional id is empty.
    InvalidRequest,
    /// Not positive, or above `transaction.max.timeout.ms`.
    InvalidTransactionTimeout,
    /// There is nothing to end, or it was ended the other way.
    InvalidTxnState,
    /// There is no memory for more transactions.
    PolicyViolation,
    /// Somebody else has initialized the transactional id since.
    ProducerFenced,
    /// The partition is not part of the transaction: abort it and begin anew.
    TransactionAbortable,
    /// What Kafka itself fails at without a name for it.
    UnknownServerError,
}

impl TxnError {
    /// As Kafka spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CoordinatorNotAvailable => "COORDINATOR_NOT_AVAILABLE",
            Self::ConcurrentTransactions => "CONCURRENT_TRANSACTIONS",
            Self::InvalidProducerIdMapping => "INVALID_PRODUCER_ID_MAPPING",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::InvalidTransactionTimeout => "INVALID_TRANSACTION_TIMEOUT",
            Self::InvalidTxnState => "INVALID_TXN_STATE",
            Self::PolicyViolation => "POLICY_VIOLATION",
            Self::ProducerFenced => "PRODUCER_FENCED",
            Self::TransactionAbortable => "TRANSACTION_ABORTABLE",
            Self::UnknownServerError => "UNKNOWN_SERVER_ERROR",
        }
    }
}

impl fmt::Display for TxnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl std::error::Error for TxnError {}
