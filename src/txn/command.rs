//! What comes in, borrowed from the request, and the markers that go out.

use crate::types::{ProducerIdAndEpoch, TopicName, TransactionalId};

use super::transaction::{ClientVersion, TxnPartition};

/// InitProducerId, versions 0 to 5.
#[derive(Clone, Copy, Debug)]
pub struct InitProducerId<'a> {
    /// None for a producer that is idempotent and no more.
    pub transactional_id: Option<&'a str>,
    /// `transaction.timeout.ms`.
    pub timeout_ms: i32,
    /// What the producer was before, if it is to go on (KIP-360).
    pub expected: Option<ProducerIdAndEpoch>,
}

/// AddPartitionsToTxn, AddOffsetsToTxn, and what Produce and TxnOffsetCommit imply of them.
#[derive(Clone, Copy, Debug)]
pub struct AddPartitions<'a> {
    /// The transaction.
    pub transactional_id: &'a str,
    /// Who writes.
    pub producer: ProducerIdAndEpoch,
    /// What it is about to write to.
    pub partitions: &'a [TxnPartition],
    /// How the client ends its transactions.
    pub version: ClientVersion,
}

/// EndTxn, versions 0 to 5.
#[derive(Clone, Copy, Debug)]
pub struct EndTxn<'a> {
    /// The transaction.
    pub transactional_id: &'a str,
    /// Who ends it.
    pub producer: ProducerIdAndEpoch,
    /// Whether what it wrote is to be seen.
    pub committed: bool,
    /// Version 5 gives the producer a new epoch for each transaction (KIP-890).
    pub version: ClientVersion,
}

/// The end of a transaction, to be written to all partitions that it wrote to: Kafka's WritableTxnMarker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndMarker {
    /// The transaction.
    pub transactional_id: TransactionalId,
    /// The id it wrote with, at the epoch that ends it.
    pub producer: ProducerIdAndEpoch,
    /// Whether what it wrote is to be seen.
    pub committed: bool,
    /// Whether the epoch must be newer than that of the records.
    pub version: ClientVersion,
    /// Where it wrote.
    pub partitions: Vec<(TopicName, i32)>,
}
