//! What a partition remembers of idempotent producers, so that a batch is appended once and in order.
//! Source: KIP-98, Kafka's `ProducerStateManager`, `ProducerStateEntry` and `ProducerAppendInfo`.

use std::collections::{BTreeMap, VecDeque};

use super::batch::Header;
use super::error::LogError;
use crate::types::Millis;

/// How many batches of a producer are remembered: as many as a client may have in flight.
const BATCHES_REMEMBERED: usize = 5;

/// What one producer costs at most, in bytes: its entry, and its five batches.
pub(crate) const PRODUCER_BYTES: usize = 256;

/// The producers of one partition.
#[derive(Debug, Default)]
pub(crate) struct Producers {
    by_id: BTreeMap<i64, Producer>,
}

#[derive(Debug)]
struct Producer {
    epoch: i16,
    /// The largest timestamp of its last batch.
    last_timestamp: i64,
    /// The last ones, oldest first; never empty.
    batches: VecDeque<AppendedBatch>,
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

    /// Whether the batch is the next one of its producer. One that is not known may begin anywhere: what was
    /// known of it may have expired.
    ///
    /// # Errors
    /// `InvalidProducerEpoch`, `OutOfOrderSequenceNumber`.
    pub(crate) fn check(&self, header: &Header) -> Result<(), LogError> {
        let Some(producer) = self.by_id.get(&header.producer_id) else { return Ok(()) };
        if header.producer_epoch < producer.epoch {
            return Err(LogError::InvalidProducerEpoch);
        }
        let expected = match producer.batches.back() {
            _ if producer.epoch == NO_EPOCH => return Ok(()),
            Some(last) if header.producer_epoch == producer.epoch => next_sequence(last.last_sequence),
            _ => 0,
        };
        if header.base_sequence == expected { Ok(()) } else { Err(LogError::OutOfOrderSequenceNumber) }
    }

    /// Remembers a batch that was appended. Returns whether its producer is a new one.
    pub(crate) fn appended(&mut self, header: &Header, base_offset: i64, timestamp: i64) -> bool {
        let known = self.by_id.len();
        let producer = self.by_id.entry(header.producer_id).or_insert_with(|| Producer {
            epoch: header.producer_epoch,
            last_timestamp: timestamp,
            batches: VecDeque::new(),
        });
        if producer.epoch != header.producer_epoch {
            producer.epoch = header.producer_epoch;
            producer.batches.clear();
        }
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
        self.by_id.len() > known
    }

    /// Forgets those whose last batch bears a timestamp `expiration_ms` ago or earlier. Returns how many.
    pub(crate) fn expire(&mut self, wall: Millis, expiration_ms: i64) -> usize {
        let known = self.by_id.len();
        self.by_id.retain(|_, producer| wall.0.saturating_sub(producer.last_timestamp) < expiration_ms);
        known - self.by_id.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
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
        match producers.check(&header) {
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
