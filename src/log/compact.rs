//! Compaction: of records with the same key the last one stays (`cleanup.policy=compact`).
//!
//! Offsets stay as they are, so that there are gaps. A tombstone stays until `delete.retention.ms` after the compaction
//! that first met it; as in Kafka its batch remembers until when (KIP-534).
//! Source: Kafka's `Cleaner`, `MemoryRecords.filterTo`.

use std::collections::HashMap;

use super::batch::{BATCH_OVERHEAD, DELETE_HORIZON, Header, NO_TIMESTAMP};
use super::build::{put_record, seal};
use super::record::RawRecords;
use super::segment::BatchView;
use crate::types::Millis;

/// Key → the offset of its last record.
pub(crate) type LastOffsets<'a> = HashMap<&'a [u8], i64>;

/// What compaction makes of a batch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cleaned {
    /// It stays as it is.
    Kept,
    /// None of its records stays.
    Dropped,
    /// Some of its records stay, or its tombstones got their time.
    Rewritten {
        bytes: Vec<u8>,
        max_timestamp: i64,
        /// Until when its tombstones stay, if it has any.
        tombstones_until: Option<i64>,
    },
}

/// Notes which records are the last of their keys; later batches come later.
pub(crate) fn note<'a>(batch: &BatchView<'a>, last: &mut LastOffsets<'a>) {
    let Some(header) = batch.header().filter(|header| !is_opaque(header)) else { return };
    for record in RawRecords::new(&header, batch.records_bytes()) {
        if let Some(key) = record.key {
            last.insert(key, header.base_offset + i64::from(record.offset_delta));
        }
    }
}

// Differs from Kafka: batches that are compressed or belong to a transaction are not opened by compaction. All of their
// records stay, and they do not replace earlier ones.
const fn is_opaque(header: &Header) -> bool {
    header.is_compressed() || header.is_transactional() || header.is_control()
}

/// Until when the tombstones of a batch stay, if it was compacted before and has any.
pub(crate) fn tombstones_until(batch: &BatchView<'_>) -> Option<i64> {
    let header = batch.header()?;
    (header.attributes & DELETE_HORIZON != 0).then_some(header.base_timestamp)
}

/// Leaves of a batch what `last` has not replaced.
pub(crate) fn clean(
    batch: &BatchView<'_>,
    last: &LastOffsets<'_>,
    wall: Millis,
    delete_retention_ms: i64,
) -> Cleaned {
    let Some(header) = batch.header().filter(|header| !is_opaque(header)) else { return Cleaned::Kept };
    let known_until = tombstones_until(batch);
    let tombstones_stay = known_until.is_none_or(|until| wall.0 < until);
    let mut kept = Vec::new();
    let mut count = 0;
    for record in RawRecords::new(&header, batch.records_bytes()) {
        count += 1;
        let offset = header.base_offset + i64::from(record.offset_delta);
        // A record without a key does not belong into a topic that is compacted.
        let is_last = record.key.is_some_and(|key| last.get(key).is_none_or(|&last| offset >= last));
        if is_last && (!record.is_tombstone || tombstones_stay) {
            kept.push(record);
        }
    }
    let has_tombstones = kept.iter().any(|record| record.is_tombstone);
    let until = known_until.or_else(|| has_tombstones.then(|| wall.0.saturating_add(delete_retention_ms)));
    if kept.is_empty() {
        return Cleaned::Dropped;
    }
    if kept.len() == count && until == known_until {
        return Cleaned::Kept;
    }
    let base_timestamp = until.unwrap_or(header.base_timestamp);
    let mut bytes = batch.bytes[..BATCH_OVERHEAD].to_vec();
    let mut max_timestamp = NO_TIMESTAMP;
    for record in &kept {
        let timestamp = header.base_timestamp.wrapping_add(record.timestamp_delta);
        max_timestamp = max_timestamp.max(timestamp);
        let delta = timestamp.wrapping_sub(base_timestamp);
        put_record(&mut bytes, record.attributes, delta, record.offset_delta, record.rest);
    }
    if header.is_log_append_time() {
        max_timestamp = header.max_timestamp;
    }
    let attributes = header.attributes | if until.is_some() { DELETE_HORIZON } else { 0 };
    let kept_count = i32::try_from(kept.len()).expect("no more records than there were");
    bytes[21..23].copy_from_slice(&attributes.to_be_bytes());
    bytes[27..35].copy_from_slice(&base_timestamp.to_be_bytes());
    bytes[35..43].copy_from_slice(&max_timestamp.to_be_bytes());
    bytes[57..61].copy_from_slice(&kept_count.to_be_bytes());
    seal(&mut bytes);
    Cleaned::Rewritten { bytes, max_timestamp, tombstones_until: until }
}

#[cfg(test)]
mod tests;
