//! What a partition remembers of idempotent producers, so that a batch is appended once and in order.
//! Also which of them have a transaction open, and where it began.
//! Source: KIP-98, KIP-890, Kafka's `ProducerStateManager`, `ProducerStateEntry` and `ProducerAppendInfo`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::batch::Header;
use super::error::LogError;
use super::transaction::{ProducerState, TransactionMarker, Unverified, Verified};
use crate::types::{Millis, ProducerIdAndEpoch};

/// How many batches of a producer are remembered: as many as a client may have in flight.
const BATCHES_REMEMBERED: usize = 5;

/// What one producer costs at most, in bytes: its entry, and its five batches.
pub(crate) const PRODUCER_BYTES: usize = 320;

/// The producers of one partition.
#[derive(Debug, Default)]
pub(crate) struct Producers {
    by_id: BTreeMap<i64, Producer>,
    /// Most partitions never see a transaction.
    transactions: Option<Box<Transactions>>,
}

/// What is known of transactions beside their producers.
#[derive(Debug, Default)]
struct Transactions {
    /// The offset at which each open one began.
    open: BTreeSet<i64>,
    /// Whose transactions the coordinator was asked about, and nothing was appended since.
    verifications: BTreeMap<i64, Verification>,
}

/// What is known of the batches that wait for the coordinator's word, or did not get it: the first of them may come again,
/// and none behind it is appended before. Kafka's `VerificationStateEntry`.
#[derive(Debug)]
struct Verification {
    epoch: i16,
    lowest_sequence: i32,
    /// Whether the producer gets a new epoch with each transaction.
    bumps_epoch: bool,
    timestamp: Millis,
}

#[derive(Debug)]
struct Producer {
    epoch: i16,
    /// The epoch of the coordinator that wrote its last marker; -1 if there is none.
    coordinator_epoch: i32,
    /// The largest timestamp of its last batch, or that of its last marker.
    last_timestamp: i64,
    /// The last ones of this epoch, oldest first.
    batches: VecDeque<AppendedBatch>,
    /// Where its open transaction began.
    open_since: Option<i64>,
}

impl Producer {
    const fn new(epoch: i16, timestamp: i64) -> Self {
        Self {
            epoch,
            coordinator_epoch: -1,
            last_timestamp: timestamp,
            batches: VecDeque::new(),
            open_since: None,
        }
    }

    fn set_epoch(&mut self, epoch: i16) {
        if self.epoch != epoch {
            self.epoch = epoch;
            self.batches.clear();
        }
    }
}

/// A batch that is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AppendedBatch {
    first_sequence: i32,
    last_sequence: i32,
    pub(crate) base_offset: i64,
    pub(crate) timestamp: i64,
}

impl Producers {
    /// The batch with the same sequence numbers, if it is one of the last five of its producer's epoch.
    pub(crate) fn duplicate_of(&self, header: &Header) -> Option<AppendedBatch> {
        let producer = self.by_id.get(&header.producer_id)?;
        let same = |batch: &&AppendedBatch| {
            batch.first_sequence == header.base_sequence && batch.last_sequence == header.last_sequence()
        };
        (producer.epoch == header.producer_epoch).then(|| producer.batches.iter().find(same).copied())?
    }

    /// Whether the coordinator has to be asked before a batch of a transaction is appended: not if the transaction is
    /// known to be open here.
    ///
    /// # Errors
    /// `InvalidProducerEpoch`.
    pub(crate) fn needs_verification(&self, producer: ProducerIdAndEpoch) -> Result<bool, LogError> {
        let Some(known) = self.by_id.get(&producer.id) else { return Ok(true) };
        if producer.epoch < known.epoch {
            return Err(LogError::InvalidProducerEpoch);
        }
        Ok(known.open_since.is_none() || producer.epoch != known.epoch)
    }

    /// The coordinator is asked about a batch: until something is appended, nothing behind this batch is.
    pub(crate) fn begin_verification(&mut self, batch: &Unverified, wall: Millis) {
        let Unverified { producer, sequence, bumps_epoch } = *batch;
        let first =
            Verification { epoch: producer.epoch, lowest_sequence: sequence, bumps_epoch, timestamp: wall };
        let known = self.transactions().verifications.entry(producer.id).or_insert(first);
        if producer.epoch > known.epoch {
            known.epoch = producer.epoch;
            known.lowest_sequence = sequence;
        } else if producer.epoch == known.epoch {
            known.lowest_sequence = known.lowest_sequence.min(sequence);
        }
    }

    /// Whether the batch is the next one of its producer. One that is not known may begin anywhere: what was
    /// known of it may have expired. But if it gets an epoch for each transaction, it begins at 0.
    ///
    /// # Errors
    /// `InvalidProducerEpoch`, `OutOfOrderSequenceNumber`; `InvalidTxnState` for a batch of a transaction that is not
    /// open and was not verified, and for one outside of it while it is open.
    pub(crate) fn check(&self, header: &Header, verified: Verified) -> Result<(), LogError> {
        let identity = ProducerIdAndEpoch { id: header.producer_id, epoch: header.producer_epoch };
        let needs_verification = header.is_transactional() && self.needs_verification(identity)?;
        if needs_verification && verified == Verified::No {
            return Err(LogError::InvalidTxnState);
        }
        let known = self.by_id.get(&header.producer_id);
        if known.is_some_and(|known| header.producer_epoch < known.epoch) {
            return Err(LogError::InvalidProducerEpoch);
        }
        if let Some(verification) = self.verification(header.producer_id) {
            let has_batches = known.is_some_and(|known| !known.batches.is_empty());
            let must_begin = verification.bumps_epoch && !has_batches && header.base_sequence != 0;
            if must_begin || header.base_sequence > verification.lowest_sequence {
                return Err(LogError::OutOfOrderSequenceNumber);
            }
        }
        let Some(producer) = known else { return Ok(()) };
        let expected = match producer.batches.back() {
            _ if producer.epoch == NO_EPOCH => header.base_sequence,
            Some(last) if header.producer_epoch == producer.epoch => next_sequence(last.last_sequence),
            _ => 0,
        };
        if header.base_sequence != expected {
            return Err(LogError::OutOfOrderSequenceNumber);
        }
        if producer.open_since.is_some() && !header.is_transactional() {
            return Err(LogError::InvalidTxnState);
        }
        Ok(())
    }

    /// Remembers a batch that was appended.
    pub(crate) fn appended(&mut self, header: &Header, base_offset: i64, timestamp: i64) {
        let new = || Producer::new(header.producer_epoch, timestamp);
        let producer = self.by_id.entry(header.producer_id).or_insert_with(new);
        producer.set_epoch(header.producer_epoch);
        if producer.batches.len() == BATCHES_REMEMBERED {
            producer.batches.pop_front();
        }
        producer.batches.push_back(AppendedBatch {
            first_sequence: header.base_sequence,
            last_sequence: header.last_sequence(),
            base_offset,
            timestamp,
        });
        producer.last_timestamp = timestamp;
        if header.is_transactional() {
            let begins = producer.open_since.is_none();
            producer.open_since.get_or_insert(base_offset);
            let transactions = self.transactions();
            if begins {
                transactions.open.insert(base_offset);
            }
            transactions.verifications.remove(&header.producer_id);
        }
    }

    /// Whether the end of a transaction may be written.
    ///
    /// A producer that gets an epoch for each transaction ends one with the next epoch. The same end once more changes
    /// nothing.
    ///
    /// # Errors
    /// `InvalidProducerEpoch`, `TransactionCoordinatorFenced`.
    pub(crate) fn check_end(&self, marker: &TransactionMarker) -> Result<(), LogError> {
        let Some(known) = self.by_id.get(&marker.producer.id) else { return Ok(()) };
        let epoch = marker.producer.epoch;
        let is_again = epoch == known.epoch && (known.open_since.is_none() || epoch == i16::MAX);
        let is_valid =
            if marker.bumps_epoch { epoch > known.epoch || is_again } else { epoch >= known.epoch };
        if !is_valid {
            return Err(LogError::InvalidProducerEpoch);
        }
        if known.coordinator_epoch > marker.coordinator_epoch {
            return Err(LogError::TransactionCoordinatorFenced);
        }
        Ok(())
    }

    /// Whether the producer has a transaction open here.
    pub(crate) fn has_open(&self, producer_id: i64) -> bool {
        self.by_id.get(&producer_id).is_some_and(|producer| producer.open_since.is_some())
    }

    /// Ends the transaction of a producer. Gives the offset at which it began, if there was one.
    pub(crate) fn ended(&mut self, marker: &TransactionMarker, wall: Millis) -> Option<i64> {
        let new = || Producer::new(marker.producer.epoch, wall.0);
        let producer = self.by_id.entry(marker.producer.id).or_insert_with(new);
        producer.set_epoch(marker.producer.epoch);
        producer.coordinator_epoch = marker.coordinator_epoch;
        producer.last_timestamp = wall.0;
        let began = producer.open_since.take();
        if let Some(transactions) = &mut self.transactions {
            transactions.verifications.remove(&marker.producer.id);
            if let Some(began) = began {
                transactions.open.remove(&began);
            }
        }
        began
    }

    /// Where the oldest open transaction began.
    pub(crate) fn first_open(&self) -> Option<i64> {
        self.transactions.as_ref()?.open.first().copied()
    }

    /// What DescribeProducers shows, by id.
    pub(crate) fn states(&self) -> impl Iterator<Item = ProducerState> {
        self.by_id.iter().map(|(&id, producer)| ProducerState {
            producer: ProducerIdAndEpoch { id, epoch: producer.epoch },
            last_sequence: producer.batches.back().map(|last| last.last_sequence),
            last_timestamp: producer.last_timestamp,
            coordinator_epoch: producer.coordinator_epoch,
            open_since: producer.open_since,
        })
    }

    /// Forgets those whose last batch bears a timestamp `expiration_ms` ago or earlier, unless they have a transaction
    /// open.
    pub(crate) fn expire(&mut self, wall: Millis, expiration_ms: i64) {
        self.by_id.retain(|_, producer| {
            producer.open_since.is_some() || wall.0.saturating_sub(producer.last_timestamp) < expiration_ms
        });
        if let Some(transactions) = &mut self.transactions {
            transactions.verifications.retain(|_, asked| wall.since(asked.timestamp) < expiration_ms);
        }
    }

    /// How many are remembered.
    pub(crate) fn len(&self) -> usize {
        self.by_id.len() + self.transactions.as_ref().map_or(0, |all| all.verifications.len())
    }

    fn transactions(&mut self) -> &mut Transactions {
        self.transactions.get_or_insert_default()
    }

    fn verification(&self, producer_id: i64) -> Option<&Verification> {
        self.transactions.as_ref()?.verifications.get(&producer_id)
    }
}

const NO_EPOCH: i16 = -1;

/// After `i32::MAX` comes 0.
const fn next_sequence(sequence: i32) -> i32 {
    if sequence == i32::MAX { 0 } else { sequence + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::test_batch::BatchSpec;

    fn header(epoch: i16, sequence: i32, count: usize) -> Header {
        Header::read(&BatchSpec::new(count, 1000).producer(10, epoch, sequence).build()).unwrap()
    }

    /// What becomes of a batch, as a partition asks: a duplicate, appended at the next offset, or refused.
    fn offer(producers: &mut Producers, epoch: i16, sequence: i32, count: usize) -> String {
        let header = header(epoch, sequence, count);
        if let Some(earlier) = producers.duplicate_of(&header) {
            return format!("duplicate of {}", earlier.base_offset);
        }
        match producers.check(&header, Verified::No) {
            Err(error) => format!("{error:?}"),
            Ok(()) => {
                producers.appended(&header, i64::from(sequence), 1000);
                "appended".to_owned()
            }
        }
    }

    // Each line was seen on Kafka 4.4.0, in this order.
    #[test]
    fn batches_are_taken_once_and_in_order() {
        let mut producers = Producers::default();
        for (what, epoch, sequence, count, expected) in [
            ("an unknown producer begins anywhere", 0, 3, 1, "appended"),
            ("the next", 0, 4, 2, "appended"),
            ("the same again", 0, 4, 2, "duplicate of 4"),
            ("the one before again", 0, 3, 1, "duplicate of 3"),
            ("half of one again", 0, 4, 1, "OutOfOrderSequenceNumber"),
            ("a gap", 0, 7, 1, "OutOfOrderSequenceNumber"),
            ("long ago", 0, 1, 1, "OutOfOrderSequenceNumber"),
            ("the next", 0, 6, 1, "appended"),
            ("the next", 0, 7, 1, "appended"),
            ("the next", 0, 8, 1, "appended"),
            ("the next", 0, 9, 1, "appended"),
            ("the next", 0, 10, 1, "appended"),
            ("the next", 0, 11, 1, "appended"),
            ("the fifth last again", 0, 7, 1, "duplicate of 7"),
            ("the sixth last again", 0, 6, 1, "OutOfOrderSequenceNumber"),
            ("a new epoch begins at 0", 1, 5, 1, "OutOfOrderSequenceNumber"),
            ("a new epoch begins at 0", 1, 0, 1, "appended"),
            ("the old epoch", 0, 12, 1, "InvalidProducerEpoch"),
            ("the old epoch again", 0, 11, 1, "InvalidProducerEpoch"),
            ("the new epoch again", 1, 0, 1, "duplicate of 0"),
        ] {
            assert_eq!(offer(&mut producers, epoch, sequence, count), expected, "{what}: {epoch} {sequence}");
        }
    }

    #[test]
    fn sequence_numbers_go_on_at_0() {
        let mut producers = Producers::default();
        assert_eq!(offer(&mut producers, 0, i32::MAX - 2, 5), "appended");
        assert_eq!(offer(&mut producers, 0, 1, 1), "OutOfOrderSequenceNumber");
        assert_eq!(offer(&mut producers, 0, 2, 1), "appended");
        assert_eq!(offer(&mut producers, 0, i32::MAX - 2, 5), format!("duplicate of {}", i32::MAX - 2));
        let mut producers = Producers::default();
        assert_eq!(offer(&mut producers, 0, i32::MAX - 1, 2), "appended");
        assert_eq!(offer(&mut producers, 0, 0, 1), "appended");
    }

    #[test]
    fn an_idle_producer_is_forgotten() {
        let mut producers = Producers::default();
        offer(&mut producers, 0, 0, 1);
        producers.expire(Millis(1000 + 499), 500);
        assert_eq!(producers.len(), 1);
        producers.expire(Millis(1000 + 500), 500);
        assert_eq!(producers.len(), 0);
        assert_eq!(offer(&mut producers, 0, 44, 1), "appended");
    }
}
