//! One partition: its segments, its offsets, its producers. Source: Kafka's `UnifiedLog`.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::Place;
use super::batch::{Incoming, Stamp};
use super::config::LogConfig;
use super::error::LogError;
use super::producers::{PRODUCER_BYTES, Producers};
use super::record::Records;
use super::segment::{BatchView, Segment};
use super::validate;
use crate::types::{Millis, Now};

/// The epoch of the only leader that a partition has ever had.
pub const LEADER_EPOCH: i32 = 0;

/// Whether the epoch of the leader that a client knows of is the current one.
///
/// # Errors
/// `FencedLeaderEpoch`, `UnknownLeaderEpoch`.
pub const fn check_leader_epoch(known: i32) -> Result<(), LogError> {
    match known {
        LEADER_EPOCH => Ok(()),
        ..LEADER_EPOCH => Err(LogError::FencedLeaderEpoch),
        _ => Err(LogError::UnknownLeaderEpoch),
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The offset of its first record; of the earlier copy, if it is a duplicate.
    pub base_offset: i64,
    /// When it was appended, if the topic has `LogAppendTime`; the timestamp of a duplicate.
    pub log_append_time: Option<i64>,
    /// The first offset of the partition.
    pub log_start_offset: i64,
    /// Bytes that the partition has more now; 0 for a duplicate.
    pub(super) bytes: usize,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Whole batches behind each other, empty if there is nothing to read.
    pub records: Bytes,
    /// The offset behind the last record that consumers see. With one broker: the end of the log.
    pub high_watermark: i64,
    /// The offset behind the last record of a decided transaction.
    pub last_stable_offset: i64,
    /// The first offset of the partition.
    pub log_start_offset: i64,
}

/// The answer to a question for an offset by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampAndOffset {
    /// Of the record at the offset; -1 where none is told.
    pub timestamp: i64,
    pub offset: i64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Partition {
    log_start_offset: i64,
    log_end_offset: i64,
    /// In offset order, none empty; only the last one may be open.
    segments: VecDeque<Segment>,
    /// Memory of all segments but the last.
    sealed_memory: usize,
    producers: Producers,
}

impl Partition {
    pub(crate) const fn log_start_offset(&self) -> i64 {
        self.log_start_offset
    }

    pub(crate) const fn high_watermark(&self) -> i64 {
        self.log_end_offset
    }

    /// The memory it takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let last = self.segments.back().map_or(0, Segment::memory);
        self.sealed_memory + last + self.producers.len() * PRODUCER_BYTES
    }

    /// Appends a client's batch; `place` is for texts. It takes no more than `room` bytes.
    ///
    /// # Errors
    /// Those of [`validate::check`]; `InvalidTxnState`, `InvalidProducerEpoch`, `OutOfOrderSequenceNumber`;
    /// `PolicyViolation` if there is no room.
    pub(crate) fn append(
        &mut self,
        now: Now,
        batch: &Incoming<'_>,
        config: &LogConfig,
        place: Place<'_>,
        room: usize,
    ) -> Result<Appended, LogError> {
        let max_timestamp = validate::check(now.wall, batch, config, place)?;
        let header = &batch.header;
        if header.has_producer_id()
            && let Some(earlier) = self.producers.duplicate_of(header)
        {
            return Ok(Appended {
                base_offset: earlier.base_offset,
                log_append_time: Some(earlier.timestamp),
                log_start_offset: self.log_start_offset,
                bytes: 0,
            });
        }
        // Differs from Kafka: there are no transactions yet, so no batch can belong to one.
        if header.is_transactional() {
            return Err(LogError::InvalidTxnState);
        }
        if header.has_producer_id() {
            self.producers.check(header)?;
        }
        // Differs from Kafka: the memory of all logs together is bounded. Of all errors this one is right
        // because no client tries again at once.
        if batch.len() + PRODUCER_BYTES > room {
            return Err(LogError::PolicyViolation(
                "The broker holds as many bytes of records as rallypoint.log.max.bytes allows.".to_owned(),
            ));
        }
        let base_offset = self.store(now, batch, config, max_timestamp);
        if header.has_producer_id() {
            self.producers.appended(header, base_offset, max_timestamp);
        }
        Ok(Appended {
            base_offset,
            log_append_time: config.log_append_time.then_some(now.wall.0),
            log_start_offset: self.log_start_offset,
            bytes: batch.len(),
        })
    }

    /// Puts a batch that was found good at the end. Returns its base offset.
    fn store(&mut self, now: Now, batch: &Incoming<'_>, config: &LogConfig, max_timestamp: i64) -> i64 {
        let base_offset = self.log_end_offset;
        let count = batch.header.records_count.unsigned_abs();
        let stamp = Stamp {
            base_offset,
            leader_epoch: LEADER_EPOCH,
            log_append_time: config.log_append_time,
            max_timestamp,
        };
        if !self.segments.back().is_some_and(|last| last.has_room(batch.len(), count)) {
            if let Some(last) = self.segments.back_mut() {
                last.seal();
                self.sealed_memory += last.memory();
            }
            self.segments.push_back(Segment::new(base_offset, now.wall));
        }
        if let Some(last) = self.segments.back_mut() {
            last.append(now.wall, &batch.header, batch.bytes, count, stamp);
            self.log_end_offset = last.next_offset();
        }
        base_offset
    }

    /// Reads whole batches from the one that holds `offset` on, at most `bytes_max`; with `min_one` the first
    /// one even if it is larger. What is before `offset` in that batch comes with it.
    ///
    /// # Errors
    /// `OffsetOutOfRange`.
    // Differs from Kafka: a batch that does not fit is left out, not cut off.
    pub(crate) fn read(&self, offset: i64, bytes_max: usize, min_one: bool) -> Result<Read, LogError> {
        self.check_offset(offset)?;
        Ok(Read {
            records: self.read_records(offset, bytes_max, min_one),
            high_watermark: self.high_watermark(),
            last_stable_offset: self.high_watermark(),
            log_start_offset: self.log_start_offset,
        })
    }

    fn read_records(&self, offset: i64, bytes_max: usize, min_one: bool) -> Bytes {
        let first = self.segment_of(offset);
        let Some(segment) = self.segments.get(first) else { return Bytes::new() };
        let head = segment.read(offset, bytes_max, min_one);
        // Only what ended with its segment may go on in the next one.
        let is_cut = head.len() < segment.bytes_from(offset);
        if is_cut || head.len() >= bytes_max || first + 1 == self.segments.len() {
            return head;
        }
        let mut joined = BytesMut::from(&head[..]);
        for next in self.segments.range(first + 1..) {
            let piece = next.read(offset, bytes_max - joined.len(), false);
            joined.extend_from_slice(&piece);
            if piece.len() < next.bytes().len() {
                break;
            }
        }
        joined.freeze()
    }

    /// How many bytes a read from `offset` would find, without a bound.
    ///
    /// # Errors
    /// `OffsetOutOfRange`.
    pub(crate) fn bytes_from(&self, offset: i64) -> Result<usize, LogError> {
        self.check_offset(offset)?;
        let first = self.segment_of(offset);
        let Some(segment) = self.segments.get(first) else { return Ok(0) };
        let behind: usize = self.segments.range(first + 1..).map(|segment| segment.bytes().len()).sum();
        Ok(segment.bytes_from(offset) + behind)
    }

    fn check_offset(&self, offset: i64) -> Result<(), LogError> {
        if (self.log_start_offset..=self.log_end_offset).contains(&offset) {
            Ok(())
        } else {
            Err(LogError::OffsetOutOfRange)
        }
    }

    /// The place of the segment that holds `offset`.
    fn segment_of(&self, offset: i64) -> usize {
        self.segments.partition_point(|segment| segment.next_offset() <= offset)
    }

    /// The first record with this timestamp or a later one.
    pub(crate) fn offset_for_time(&self, timestamp: i64) -> Option<TimestampAndOffset> {
        self.segments
            .iter()
            .filter(|segment| segment.max_timestamp() >= timestamp)
            .flat_map(|segment| segment.batches_from(self.log_start_offset))
            .filter(|batch| batch.max_timestamp >= timestamp)
            .find_map(|batch| first_record(&batch, self.log_start_offset, timestamp))
    }

    /// The first record with the largest timestamp; in a compressed batch, the last one.
    // Differs from Kafka: what was deleted to the last record of its segment is not remembered here.
    pub(crate) fn offset_of_max_timestamp(&self) -> Option<TimestampAndOffset> {
        let timestamp = self.segments.iter().map(Segment::max_timestamp).max()?;
        let segment = self.segments.iter().find(|segment| segment.max_timestamp() == timestamp)?;
        segment.batches_from(i64::MIN).filter(|batch| batch.max_timestamp == timestamp).find_map(|batch| {
            match batch.header()? {
                // Most often the last record is the latest.
                header if header.is_compressed() => {
                    Some(TimestampAndOffset { timestamp, offset: batch.next_offset - 1 })
                }
                _ => first_record(&batch, i64::MIN, timestamp),
            }
        })
    }

    /// Moves the first offset up to `offset`; `None` is the high watermark. Returns the first offset.
    ///
    /// # Errors
    /// `OffsetOutOfRange`.
    pub(crate) fn delete_records(&mut self, offset: Option<i64>) -> Result<i64, LogError> {
        let offset = offset.unwrap_or(self.high_watermark());
        if !(0..=self.high_watermark()).contains(&offset) {
            return Err(LogError::OffsetOutOfRange);
        }
        self.log_start_offset = self.log_start_offset.max(offset);
        while self.segments.front().is_some_and(|first| first.next_offset() <= self.log_start_offset) {
            self.drop_first();
        }
        Ok(self.log_start_offset)
    }

    /// Drops the oldest segments whose records are all too old, and those without which there are still
    /// `retention.bytes`.
    // Differs from Kafka: a segment is at most 1 MiB, whatever `segment.bytes` and `segment.ms` say, so that
    // old records go sooner and give their memory back.
    pub(crate) fn retain(&mut self, wall: Millis, config: &LogConfig) {
        if !config.delete {
            return;
        }
        if let Some(retention_ms) = config.retention_ms {
            while self.segments.front().is_some_and(|first| wall.since(first.last_written()) > retention_ms) {
                self.drop_first();
            }
        }
        if let Some(retention_bytes) = config.retention_bytes.and_then(|bytes| usize::try_from(bytes).ok()) {
            let size: usize = self.segments.iter().map(|segment| segment.bytes().len()).sum();
            let mut excess = size.saturating_sub(retention_bytes);
            while let Some(first) = self.segments.front().map(|segment| segment.bytes().len())
                && first <= excess
            {
                excess -= first;
                self.drop_first();
            }
        }
    }

    fn drop_first(&mut self) {
        let Some(first) = self.segments.pop_front() else { return };
        self.log_start_offset = self.log_start_offset.max(first.next_offset());
        if !self.segments.is_empty() {
            self.sealed_memory -= first.memory();
        }
    }

    /// Forgets producers. Source: `producer.id.expiration.ms`.
    pub(crate) fn expire_producers(&mut self, wall: Millis, expiration_ms: i64) {
        self.producers.expire(wall, expiration_ms);
    }
}

/// The first record of a batch at `from_offset` or later with `timestamp` or a later one.
fn first_record(batch: &BatchView<'_>, from_offset: i64, timestamp: i64) -> Option<TimestampAndOffset> {
    let header = batch.header()?;
    if header.is_compressed() {
        return first_compressed(batch, header.base_timestamp, from_offset, timestamp);
    }
    Records::new(&header, batch.records_bytes())
        .map_while(Result::ok)
        .find(|record| record.timestamp >= timestamp && record.offset >= from_offset)
        .map(|record| TimestampAndOffset { timestamp: record.timestamp, offset: record.offset })
}

// Differs from Kafka: a compressed batch is not opened. A time within it finds its first offset, a little early;
// the largest timestamp its last.
fn first_compressed(
    batch: &BatchView<'_>,
    base_timestamp: i64,
    from_offset: i64,
    timestamp: i64,
) -> Option<TimestampAndOffset> {
    let offset = batch.base_offset.max(from_offset);
    let timestamp = if base_timestamp >= timestamp { base_timestamp } else { batch.max_timestamp };
    (offset < batch.next_offset).then_some(TimestampAndOffset { timestamp, offset })
}
