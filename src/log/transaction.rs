//! Transactions as a partition sees them: what begins one, the marker that ends it, and what was aborted.
//! Source: KIP-98, KIP-890, Kafka's `EndTransactionMarker`, `AbortedTxn`, `TransactionIndex`.

use std::collections::VecDeque;

use super::batch::{ATTRIBUTES_AT, BATCH_OVERHEAD, CONTROL, TRANSACTIONAL};
use crate::types::{Millis, ProducerIdAndEpoch};

/// Which records a reader is to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// All of them.
    #[default]
    ReadUncommitted,
    /// Those before the first open transaction, and which of them were aborted.
    ReadCommitted,
}

/// Whether the coordinator has said that a batch belongs to an open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// It was not asked.
    No,
    /// It has.
    Yes,
}

/// A batch of a transaction that the coordinator is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unverified {
    /// Who sent it.
    pub producer: ProducerIdAndEpoch,
    /// The sequence number of its first record.
    pub sequence: i32,
    /// Whether the producer gets a new epoch with each transaction.
    pub bumps_epoch: bool,
}

/// The end of a transaction, to be written to one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionMarker {
    /// Whose transaction, and the epoch that ends it.
    pub producer: ProducerIdAndEpoch,
    /// Whether its records are to be seen.
    pub committed: bool,
    /// Whether the epoch must be newer than that of the records (KIP-890).
    pub bumps_epoch: bool,
    /// The epoch of the coordinator that decided.
    pub coordinator_epoch: i32,
}

/// A transaction of which readers are to skip the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// Its producer.
    pub producer_id: i64,
    /// Where it began.
    pub first_offset: i64,
}

/// What is known of a producer in one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerState {
    /// Who it is, at the last epoch that was seen here.
    pub producer: ProducerIdAndEpoch,
    /// Of its last batch in this epoch.
    pub last_sequence: Option<i32>,
    /// Of its last batch or marker.
    pub last_timestamp: i64,
    /// Of the coordinator that wrote its last marker; -1 if there is none.
    pub coordinator_epoch: i32,
    /// Where its open transaction began.
    pub open_since: Option<i64>,
}

/// Bytes of the batch that holds a marker.
pub(crate) const MARKER_BYTES: usize = BATCH_OVERHEAD + 17;

impl TransactionMarker {
    /// The control batch, with everything but its place in the log.
    pub(crate) fn to_batch(self, wall: Millis) -> [u8; MARKER_BYTES] {
        let mut batch = [0; MARKER_BYTES];
        let mut rest = &mut batch[..];
        let mut put = |bytes: &[u8]| {
            let (place, behind) = std::mem::take(&mut rest).split_at_mut(bytes.len());
            place.copy_from_slice(bytes);
            rest = behind;
        };
        put(&0_i64.to_be_bytes());
        put(&(MARKER_BYTES as i32 - 12).to_be_bytes());
        put(&(-1_i32).to_be_bytes());
        put(&[2]);
        put(&0_u32.to_be_bytes());
        put(&(TRANSACTIONAL | CONTROL).to_be_bytes());
        put(&0_i32.to_be_bytes());
        put(&wall.0.to_be_bytes());
        put(&wall.0.to_be_bytes());
        put(&self.producer.id.to_be_bytes());
        put(&self.producer.epoch.to_be_bytes());
        put(&(-1_i32).to_be_bytes());
        put(&1_i32.to_be_bytes());
        // The record: length, attributes, two deltas; a key of version and type, a value of version and coordinator.
        put(&[2 * 16, 0, 0, 0, 2 * 4]);
        put(&0_i16.to_be_bytes());
        put(&i16::from(self.committed).to_be_bytes());
        put(&[2 * 6]);
        put(&0_i16.to_be_bytes());
        put(&self.coordinator_epoch.to_be_bytes());
        put(&[0]);
        let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..]);
        batch[17..21].copy_from_slice(&crc.to_be_bytes());
        batch
    }
}

/// The aborted transactions of a partition, in the order in which they ended.
#[derive(Debug, Default)]
pub(crate) struct AbortedIndex {
    entries: VecDeque<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    transaction: AbortedTransaction,
    /// Of its marker.
    last_offset: i64,
    /// What the last stable offset was once it had ended: no transaction that ends later began before.
    last_stable_offset: i64,
}

impl AbortedIndex {
    pub(crate) fn push(
        &mut self,
        transaction: AbortedTransaction,
        last_offset: i64,
        last_stable_offset: i64,
    ) {
        self.entries.push_back(Entry { transaction, last_offset, last_stable_offset });
    }

    /// Those that have records between `from` and `until`.
    pub(crate) fn between(&self, from: i64, until: i64) -> Vec<AbortedTransaction> {
        let first = self.entries.partition_point(|entry| entry.last_offset < from);
        let mut found = Vec::new();
        for entry in self.entries.range(first..) {
            if entry.transaction.first_offset < until {
                found.push(entry.transaction);
            }
            if entry.last_stable_offset >= until {
                break;
            }
        }
        found
    }

    /// Forgets those of which no record is left.
    pub(crate) fn truncate_to(&mut self, log_start_offset: i64) {
        while self.entries.front().is_some_and(|entry| entry.last_offset < log_start_offset) {
            self.entries.pop_front();
        }
    }

    /// What it takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }
}
