//! One transactional id: its producer, and the transaction that is open or was the last.

use std::collections::BTreeSet;

use crate::types::{Millis, Now, ProducerIdAndEpoch, TopicName, TransactionalId};

use super::command::EndMarker;

/// A partition that a transaction writes to, by the name of its topic.
pub type TxnPartition = (TopicName, i32);

/// No producer.
pub const NO_PRODUCER_ID: i64 = -1;
/// The epoch of a producer that was never initialized.
pub const NO_PRODUCER_EPOCH: i16 = -1;
/// There is no later epoch that a producer may have; one more is left to fence it with.
pub const LAST_EPOCH: i16 = i16::MAX - 1;
/// No transaction has begun yet.
pub const NO_TIMESTAMP: i64 = -1;

/// A transactional id and what it is named in, with its place among the others.
const TRANSACTION_BYTES: usize = 384;
/// A partition in the set of a transaction.
const PARTITION_BYTES: usize = 64;

/// Where a transaction stands. Kafka's TransactionState, without `PrepareEpochFence` and `Dead`, in which nobody is here
/// for longer than a decision takes.
///
/// ```text
///  Empty ──AddPartitionsToTxn──▶ Ongoing ──EndTxn──▶ PrepareCommit ──markers──▶ CompleteCommit
///    │                             ▲  └─EndTxn, timeout, InitProducerId─▶ PrepareAbort ──markers──▶ CompleteAbort
///    └────────EndTxn v5, abort─────┼──────────────────────────────────────────▲                     │
///  Complete… ──AddPartitionsToTxn──┘      Complete… ──EndTxn v5, abort────────┘      Complete… ──InitProducerId──▶ Empty
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransactionState {
    /// The producer is initialized and has begun nothing.
    Empty,
    /// There are partitions that the producer may write to.
    Ongoing,
    /// It is decided that all will be seen.
    PrepareCommit,
    /// It is decided that nothing will be seen.
    PrepareAbort,
    /// All partitions know that it was committed.
    CompleteCommit,
    /// All partitions know that it was aborted.
    CompleteAbort,
}

impl TransactionState {
    /// As Kafka spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Ongoing => "Ongoing",
            Self::PrepareCommit => "PrepareCommit",
            Self::PrepareAbort => "PrepareAbort",
            Self::CompleteCommit => "CompleteCommit",
            Self::CompleteAbort => "CompleteAbort",
        }
    }

    /// Whether it is decided, but not everybody knows.
    #[must_use]
    pub const fn is_prepared(self) -> bool {
        matches!(self, Self::PrepareCommit | Self::PrepareAbort)
    }

    /// Whether nothing is open.
    #[must_use]
    pub const fn is_idle(self) -> bool {
        matches!(self, Self::Empty | Self::CompleteCommit | Self::CompleteAbort)
    }
}

/// How a client ends its transactions: Kafka's `transaction.version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientVersion {
    /// Its epoch stays the same, so that what comes late may end up in the next transaction.
    V1,
    /// Each end gives it a new epoch (KIP-890).
    V2,
}

impl ClientVersion {
    /// Whether each end of a transaction gives the producer a new epoch.
    #[must_use]
    pub const fn supports_epoch_bump(self) -> bool {
        matches!(self, Self::V2)
    }
}

/// What is known of a transactional id: Kafka's TransactionMetadata and TransactionLogValue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// Who the producer is.
    pub producer: ProducerIdAndEpoch,
    /// Its id before the last change of any kind; −1 if it had none.
    pub previous_producer_id: i64,
    /// The id it gets when the transaction is complete, for want of epochs; −1 if it keeps the one it has.
    pub next_producer_id: i64,
    /// The epoch before the last bump, with which that may be asked for once more; −1 if there is none.
    pub last_epoch: i16,
    /// `transaction.timeout.ms` of the producer.
    pub timeout_ms: i32,
    /// Where it stands.
    pub state: TransactionState,
    /// What the open transaction writes to.
    pub partitions: BTreeSet<TxnPartition>,
    /// Wall-clock milliseconds when the last transaction began; −1 if there was none.
    pub start_ms: i64,
    /// Wall-clock milliseconds of the last change.
    pub last_update_ms: i64,
    /// How the client ends its transactions.
    pub version: ClientVersion,
    /// When the open transaction has been open for too long.
    pub(super) deadline: Millis,
}

/// One record of `__transaction_state`; a value of None is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionRecord {
    /// The transactional id.
    pub transactional_id: TransactionalId,
    /// What is known of it.
    pub value: Option<Transaction>,
}

impl Transaction {
    /// A transactional id that was never used; it has to be initialized before anything else.
    pub(super) const fn new(producer_id: i64, timeout_ms: i32, now: Now) -> Self {
        Self {
            producer: ProducerIdAndEpoch { id: producer_id, epoch: NO_PRODUCER_EPOCH },
            previous_producer_id: NO_PRODUCER_ID,
            next_producer_id: NO_PRODUCER_ID,
            last_epoch: NO_PRODUCER_EPOCH,
            timeout_ms,
            state: TransactionState::Empty,
            partitions: BTreeSet::new(),
            start_ms: NO_TIMESTAMP,
            last_update_ms: now.wall.0,
            version: ClientVersion::V1,
            deadline: Millis::MAX,
        }
    }

    /// What it takes in memory, about.
    pub(super) fn bytes(&self, id: &TransactionalId) -> usize {
        TRANSACTION_BYTES + id.as_str().len() + self.partitions.len() * PARTITION_BYTES
    }

    /// What so many partitions more would take, in bytes.
    pub(super) const fn bytes_of(partitions: usize) -> usize {
        partitions * PARTITION_BYTES
    }

    /// What a new transactional id takes, in bytes.
    pub(super) const fn bytes_of_new(id: &str) -> usize {
        TRANSACTION_BYTES + id.len()
    }

    pub(super) const fn is_epoch_exhausted(&self) -> bool {
        self.producer.epoch >= LAST_EPOCH
    }

    /// Every change of state begins with this.
    pub(super) const fn go_to(&mut self, state: TransactionState, now: Now) {
        self.previous_producer_id = self.producer.id;
        self.last_update_ms = now.wall.0;
        self.state = state;
    }

    pub(super) fn begin_timeout(&mut self, now: Now) {
        self.deadline = now.after(self.timeout_ms.into());
    }

    /// The marker to write, if it is decided how the transaction ends.
    pub(super) fn marker(&self, id: &TransactionalId) -> Option<EndMarker> {
        self.state.is_prepared().then(|| EndMarker {
            transactional_id: id.clone(),
            producer: self.producer,
            committed: self.state == TransactionState::PrepareCommit,
            version: self.version,
            partitions: self.partitions.iter().cloned().collect(),
        })
    }
}
