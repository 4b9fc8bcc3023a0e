//! One partition: its segments, its offsets, its producers. Source: Kafka's `UnifiedLog`.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use super::Place;
use super::batch::{Header, Incoming, Stamp};
use super::compact::{self, Cleaned, LastOffsets};
use super::config::LogConfig;
use super::error::LogError;
use super::producers::{PRODUCER_BYTES, Producers};
use super::record::Records;
use super::segment::{BatchView, SEGMENT_BYTES_MAX, Segment};
use super::transaction::{
    AbortedIndex, AbortedTransaction, Isolation, MARKER_BYTES, ProducerState, TransactionMarker, Unverified,
    Verified,
};
use super::validate;
use crate::types::{Millis, Now, ProducerIdAndEpoch};

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
    /// The first offset of the oldest open transaction, or the high watermark.
    pub last_stable_offset: i64,
    /// Transactions with records among these that are to be skipped; for those who read what is committed.
    pub aborted: Vec<AbortedTransaction>,
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
    /// Segments from here on have come since the last compaction.
    compacted_until: i64,
    /// When the first of the tombstones that compaction met have stayed long enough.
    tombstones_until: Option<i64>,
    producers: Producers,
    /// Most partitions never see an aborted transaction.
    aborted: Option<Box<AbortedIndex>>,
}

impl Partition {
    pub(crate) const fn log_start_offset(&self) -> i64 {
        self.log_start_offset
    }

    pub(crate) const fn high_watermark(&self) -> i64 {
        self.log_end_offset
    }

    /// The first offset of the oldest open transaction, or the high watermark.
    pub(crate) fn last_stable_offset(&self) -> i64 {
        let first_open = self.producers.first_open();
        first_open.map_or(self.high_watermark(), |first| first.max(self.log_start_offset))
    }

    /// Where a reader has to stop.
    pub(crate) fn end_for(&self, isolation: Isolation) -> i64 {
        match isolation {
            Isolation::ReadUncommitted => self.high_watermark(),
            Isolation::ReadCommitted => self.last_stable_offset(),
        }
    }

    /// The memory it takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let last = self.segments.back().map_or(0, Segment::memory);
        self.sealed_memory
            + last
            + self.producers.len() * PRODUCER_BYTES
            + self.aborted.as_ref().map_or(0, |aborted| aborted.memory())
    }

    /// Appends a client's batch; `place` is for texts. It takes no more than `room` bytes.
    ///
    /// # Errors
    /// Those of [`validate::check`] and [`Producers::check`]; `PolicyViolation` if there is no room.
    pub(crate) fn append(
        &mut self,
        now: Now,
        batch: &Incoming<'_>,
        config: &LogConfig,
        place: Place<'_>,
        room: usize,
        verified: Verified,
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
        if header.has_producer_id() {
            self.producers.check(header, verified)?;
        }
        // Differs from Kafka: the memory of all logs together is bounded. Of all errors this one is right
        // because no client tries again at once.
        if batch.len() + PRODUCER_BYTES + MARKER_BYTES > room {
            return Err(LogError::PolicyViolation(
                "The broker holds as many bytes of records as rallypoint.log.max.bytes allows.".to_owned(),
            ));
        }
        let base_offset = self.store(now, header, batch.bytes, config, max_timestamp);
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
    fn store(
        &mut self,
        now: Now,
        header: &Header,
        batch: &[u8],
        config: &LogConfig,
        max_timestamp: i64,
    ) -> i64 {
        let base_offset = self.log_end_offset;
        let count = header.records_count.unsigned_abs();
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
            last.append(now.wall, header, batch, count, stamp);
            self.log_end_offset = last.next_offset();
        }
        base_offset
    }

    /// Whether the coordinator has to be asked about a batch of a transaction before it is appended.
    ///
    /// # Errors
    /// `InvalidProducerEpoch`.
    pub(crate) fn needs_verification(&self, producer: ProducerIdAndEpoch) -> Result<bool, LogError> {
        self.producers.needs_verification(producer)
    }

    /// See [`Producers::begin_verification`]. Where memory is short, the batch is only compared with what is there.
    pub(crate) fn begin_verification(&mut self, batch: &Unverified, wall: Millis, room: usize) {
        if PRODUCER_BYTES <= room {
            self.producers.begin_verification(batch, wall);
        }
    }

    /// Ends a transaction with a control batch.
    ///
    /// # Errors
    /// `InvalidProducerEpoch`, `TransactionCoordinatorFenced`.
    pub(crate) fn end_transaction(
        &mut self,
        now: Now,
        marker: &TransactionMarker,
        config: &LogConfig,
        room: usize,
    ) -> Result<(), LogError> {
        self.producers.check_end(marker)?;
        // Differs from Kafka: where nothing was written, nothing is when memory is short. Each batch of a transaction
        // leaves room for its end.
        if !self.producers.has_open(marker.producer.id) && MARKER_BYTES + PRODUCER_BYTES > room {
            return Ok(());
        }
        let batch = marker.to_batch(now.wall);
        let header = Header::read(&batch).expect("a marker has a header");
        let offset = self.store(now, &header, &batch, config, now.wall.0);
        let first_offset = self.producers.ended(marker, now.wall);
        if let Some(first_offset) = first_offset
            && !marker.committed
        {
            let aborted = AbortedTransaction { producer_id: marker.producer.id, first_offset };
            let last_stable_offset = self.last_stable_offset();
            self.aborted.get_or_insert_default().push(aborted, offset, last_stable_offset);
        }
        Ok(())
    }

    /// What is known of the producers, by id.
    pub(crate) fn producers(&self) -> impl Iterator<Item = ProducerState> {
        self.producers.states()
    }

    /// Reads whole batches from the one that holds `offset` on, at most `bytes_max`; with `min_one` the first
    /// one even if it is larger. What is before `offset` in that batch comes with it.
    ///
    /// # Errors
    /// `OffsetOutOfRange`.
    // Differs from Kafka: a batch that does not fit is left out, not cut off.
    pub(crate) fn read(
        &self,
        offset: i64,
        bytes_max: usize,
        min_one: bool,
        isolation: Isolation,
    ) -> Result<Read, LogError> {
        self.check_offset(offset)?;
        let until = self.end_for(isolation);
        let records =
            if offset < until { self.read_records(offset, until, bytes_max, min_one) } else { Bytes::new() };
        let aborted = match isolation {
            Isolation::ReadCommitted if !records.is_empty() => {
                let aborted = self.aborted.as_ref();
                let between =
                    |all: &AbortedIndex| all.between(offset, self.upper_bound(offset, until, records.len()));
                aborted.map_or_else(Vec::new, |all| between(all))
            }
            _ => Vec::new(),
        };
        Ok(Read {
            records,
            high_watermark: self.high_watermark(),
            last_stable_offset: self.last_stable_offset(),
            aborted,
            log_start_offset: self.log_start_offset,
        })
    }

    /// Up to which offset aborted transactions are told to whoever has read so many bytes. As in Kafka, whose index has no
    /// entry for the last ones, that is the end of the log once nothing stable is left to read.
    fn upper_bound(&self, offset: i64, until: i64, bytes: usize) -> i64 {
        let mut left = bytes;
        for segment in self.segments.range(self.segment_of(offset)..) {
            let there = segment.bytes_between(offset, until);
            if left < there {
                return segment.offset_behind(offset, left);
            }
            left -= there;
        }
        self.log_end_offset
    }

    fn read_records(&self, offset: i64, until: i64, bytes_max: usize, min_one: bool) -> Bytes {
        let first = self.segment_of(offset);
        let Some(segment) = self.segments.get(first) else { return Bytes::new() };
        let head = segment.read(offset, until, bytes_max, min_one);
        // Only what ended with its segment may go on in the next one.
        let is_cut = head.len() < segment.bytes_between(offset, until);
        let is_last = first + 1 == self.segments.len() || until <= segment.next_offset();
        if is_cut || head.len() >= bytes_max || is_last {
            return head;
        }
        let mut joined = BytesMut::from(&head[..]);
        for next in self.segments.range(first + 1..) {
            let piece = next.read(offset, until, bytes_max - joined.len(), false);
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
    pub(crate) fn bytes_from(&self, offset: i64, isolation: Isolation) -> Result<usize, LogError> {
        self.check_offset(offset)?;
        let until = self.end_for(isolation);
        let segments = self.segments.range(self.segment_of(offset)..);
        let segments = segments.take_while(|segment| segment.base_offset() < until);
        Ok(segments.map(|segment| segment.bytes_between(offset, until)).sum())
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
        self.truncate_aborted();
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

    /// Leaves the last record of each key, if enough has come since that was done or tombstones have stayed long enough.
    /// Returns how many bytes were looked at.
    // Differs from Kafka: the open segment is compacted like the others, but for its last batch.
    pub(crate) fn compact(&mut self, wall: Millis, config: &LogConfig) -> usize {
        if !config.compact {
            return 0;
        }
        let cleanable = self.cleanable(wall, config);
        let bytes = |segments: &mut dyn Iterator<Item = &Segment>| -> usize {
            segments.map(|segment| segment.bytes().len()).sum()
        };
        let total = bytes(&mut self.segments.iter().take(cleanable));
        let is_new = |segment: &&Segment| segment.base_offset() >= self.compacted_until;
        let dirty = bytes(&mut self.segments.iter().take(cleanable).filter(is_new));
        let oldest = self.segments.iter().take(cleanable).find(is_new).map(Segment::last_written);
        let is_late = oldest.is_some_and(|oldest| wall.since(oldest) > config.max_compaction_lag_ms);
        let is_dirty =
            dirty > 0 && (is_late || dirty as f64 / total as f64 >= config.min_cleanable_dirty_ratio);
        if is_dirty || self.tombstones_until.is_some_and(|until| until <= wall.0) {
            self.compact_segments(cleanable, wall, config.delete_retention_ms);
        }
        total
    }

    /// Compacts as soon as what has come since the last compaction is more than a segment and than what that left.
    pub(crate) fn compact_early(&mut self, wall: Millis, config: &LogConfig) {
        let is_new = |segment: &&Segment| segment.base_offset() >= self.compacted_until;
        let dirty: usize = self.segments.iter().filter(is_new).map(|segment| segment.bytes().len()).sum();
        let total: usize = self.segments.iter().map(|segment| segment.bytes().len()).sum();
        if dirty > SEGMENT_BYTES_MAX && dirty > total / 2 {
            self.compact_segments(self.segments.len(), wall, config.delete_retention_ms);
        }
    }

    /// How many of the first segments hold nothing that is too young to be compacted.
    fn cleanable(&self, wall: Millis, config: &LogConfig) -> usize {
        let is_young = |segment: &Segment| wall.since(segment.last_written()) < config.min_compaction_lag_ms;
        self.segments.iter().position(is_young).unwrap_or(self.segments.len())
    }

    /// Compacts the first `count` segments.
    fn compact_segments(&mut self, count: usize, wall: Millis, delete_retention_ms: i64) {
        if let Some(last) = self.segments.back_mut() {
            last.seal();
        }
        let before = std::mem::take(&mut self.segments);
        let batches = || before.iter().take(count).flat_map(|segment| segment.batches_from(i64::MIN));
        let mut last = LastOffsets::new();
        batches().for_each(|batch| compact::note(&batch, &mut last));
        self.tombstones_until = None;
        for segment in before.iter().take(count) {
            for batch in segment.batches_from(i64::MIN) {
                // A reader at the end of the log must get there: the last batch stays.
                let cleaned = if batch.next_offset == self.log_end_offset {
                    Cleaned::Kept
                } else {
                    compact::clean(&batch, &last, wall, delete_retention_ms)
                };
                let until = match cleaned {
                    Cleaned::Dropped => None,
                    Cleaned::Kept => {
                        self.put_back(segment, batch.bytes, &batch, batch.max_timestamp);
                        compact::tombstones_until(&batch).filter(|until| wall.0 < *until)
                    }
                    Cleaned::Rewritten { bytes, max_timestamp, tombstones_until } => {
                        self.put_back(segment, &bytes, &batch, max_timestamp);
                        tombstones_until
                    }
                };
                self.tombstones_until = [self.tombstones_until, until].into_iter().flatten().min();
            }
        }
        drop(last);
        self.compacted_until = match before.get(count) {
            Some(next) => next.base_offset(),
            None => self.log_end_offset,
        };
        self.segments.extend(before.into_iter().skip(count));
        if let Some(last) = self.segments.back_mut() {
            last.seal();
        }
        self.sealed_memory = self.segments.iter().rev().skip(1).map(Segment::memory).sum();
    }

    /// Puts a batch of `from` into the last segment, or a new one.
    fn put_back(&mut self, from: &Segment, bytes: &[u8], batch: &BatchView<'_>, max_timestamp: i64) {
        if !self.segments.back().is_some_and(|last| last.has_room_until(bytes.len(), batch.next_offset)) {
            if let Some(last) = self.segments.back_mut() {
                last.seal();
            }
            self.segments.push_back(Segment::new(batch.base_offset, from.last_modified()));
        }
        if let Some(last) = self.segments.back_mut() {
            last.push(bytes, batch.next_offset, max_timestamp);
        }
    }

    fn drop_first(&mut self) {
        let Some(first) = self.segments.pop_front() else { return };
        self.log_start_offset = self.log_start_offset.max(first.next_offset());
        self.truncate_aborted();
        if !self.segments.is_empty() {
            self.sealed_memory -= first.memory();
        }
    }

    fn truncate_aborted(&mut self) {
        if let Some(aborted) = &mut self.aborted {
            aborted.truncate_to(self.log_start_offset);
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
