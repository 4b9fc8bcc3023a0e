//! Whether a batch may be appended to a partition. Source: Kafka's `LogValidator` and
//! `UnifiedLog.analyzeAndValidateRecords`; the checks come in their order.

use super::Place;
use super::batch::{Header, Incoming, NO_TIMESTAMP};
use super::config::LogConfig;
use super::error::{LogError, RecordError, Rejection};
use super::record::{Record, RecordFault};
use crate::limits::RECORD_ERRORS_MAX;
use crate::types::Millis;

/// Checks a client's batch against the configuration of its topic; `place` is for texts.
/// Returns the largest timestamp of its records.
///
/// # Errors
/// `InvalidRecord`, `InvalidRecords`, `InvalidTimestamp`, `MessageTooLarge`, `CorruptMessage`,
/// `RecordListTooLarge`, `UnknownServerError`.
pub(crate) fn check(
    wall: Millis,
    batch: &Incoming<'_>,
    config: &LogConfig,
    place: Place<'_>,
) -> Result<i64, LogError> {
    let header = &batch.header;
    if header.base_offset != 0 {
        return Err(LogError::InvalidRecord);
    }
    if batch.len() > config.max_message_bytes {
        return Err(LogError::MessageTooLarge);
    }
    if !batch.crc_matches {
        return Err(LogError::CorruptMessage(None));
    }
    if !header.has_known_codec() {
        return Err(LogError::UnknownServerError);
    }
    check_header(header)?;
    let summary = batch.records.map_err(|fault| match fault {
        RecordFault::Invalid => LogError::InvalidRecord,
        RecordFault::LengthTooLong => LogError::UnknownServerError,
    })?;
    let bounds = Bounds { now: wall.0, config };
    let doubtful = bounds.out_of_range(summary.min_timestamp)
        || bounds.out_of_range(summary.max_timestamp)
        || header.is_log_append_time()
        || (config.compact && !summary.all_have_keys);
    if doubtful {
        check_records(batch, bounds, place)?;
    }
    if batch.len() > config.segment_bytes {
        return Err(LogError::RecordListTooLarge);
    }
    Ok(if config.log_append_time { wall.0 } else { summary.max_timestamp })
}

/// Kafka's `LogValidator.validateBatch` for a client.
fn check_header(header: &Header) -> Result<(), LogError> {
    let count_from_offsets = i64::from(header.last_offset_delta) + 1;
    let counts_agree = header.records_count > 0 && i64::from(header.records_count) == count_from_offsets;
    let sequence_missing = header.has_producer_id() && header.base_sequence < 0;
    if !counts_agree || header.is_control() || sequence_missing {
        return Err(LogError::InvalidRecord);
    }
    Ok(())
}

/// The timestamps that a topic takes.
#[derive(Clone, Copy)]
struct Bounds<'a> {
    now: i64,
    config: &'a LogConfig,
}

impl Bounds<'_> {
    fn out_of_range(self, timestamp: i64) -> bool {
        if self.config.log_append_time || timestamp == NO_TIMESTAMP {
            return false;
        }
        // Wrapping as in Java, so that the bound of i64::MAX never refuses.
        let age = self.now.wrapping_sub(timestamp);
        age > self.config.timestamp_before_max_ms || age.wrapping_neg() > self.config.timestamp_after_max_ms
    }

    fn range_text(self, record: &Record) -> String {
        let Record { timestamp, offset, .. } = record;
        let first = self.now.wrapping_sub(self.config.timestamp_before_max_ms);
        let last = self.now.wrapping_add(self.config.timestamp_after_max_ms);
        format!(
            "Timestamp {timestamp} of message with offset {offset} is out of range. \
             The timestamp should be within [{first}, {last}]"
        )
    }
}

enum RecordRefusal {
    Key(String),
    Timestamp(String),
}

/// Finds out which records are refused: the long way, gone only if there is reason to.
fn check_records(batch: &Incoming<'_>, bounds: Bounds<'_>, place: Place<'_>) -> Result<(), LogError> {
    if batch.header.is_compressed() {
        return check_compressed(&batch.header, bounds);
    }
    let mut errors = Vec::new();
    let mut count = 0_usize;
    let mut any_timestamp = false;
    for (index, record) in (0..).zip(batch.walk().flatten()) {
        let message = match check_record(&batch.header, &record, bounds, place) {
            None => continue,
            Some(RecordRefusal::Key(text)) => text,
            Some(RecordRefusal::Timestamp(text)) => {
                any_timestamp = true;
                text
            }
        };
        count += 1;
        // Differs from Kafka: a large batch is not answered with a text for each of its records.
        if errors.len() < RECORD_ERRORS_MAX {
            errors.push(RecordError { index, message });
        }
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(if any_timestamp { invalid_timestamp(errors) } else { invalid_records(errors, count) })
}

fn check_record(
    header: &Header,
    record: &Record,
    bounds: Bounds<'_>,
    place: Place<'_>,
) -> Option<RecordRefusal> {
    if bounds.config.compact && record.key_len.is_none() {
        let text = format!("Compacted topic cannot accept message without key in topic partition {place}");
        return Some(RecordRefusal::Key(text));
    }
    if bounds.out_of_range(record.timestamp) {
        return Some(RecordRefusal::Timestamp(bounds.range_text(record)));
    }
    // A batch that says LogAppendTime passes where its timestamps are looked at, as in Kafka.
    let looked_at = !bounds.config.log_append_time && record.timestamp != NO_TIMESTAMP;
    (header.is_log_append_time() && !looked_at).then(|| RecordRefusal::Timestamp(type_text(record)))
}

fn type_text(record: &Record) -> String {
    format!(
        "Invalid timestamp type in message DefaultRecord(offset={}, timestamp={}, key={} bytes, value={} bytes). \
         Producer should not set timestamp type to LogAppendTime.",
        record.offset,
        record.timestamp,
        record.key_len.unwrap_or(0),
        record.value_len.unwrap_or(0)
    )
}

/// Only the header can be looked at, so no record is named.
fn check_compressed(header: &Header, bounds: Bounds<'_>) -> Result<(), LogError> {
    let looked_at = !bounds.config.log_append_time && header.max_timestamp != NO_TIMESTAMP;
    let wrong_type = header.is_log_append_time() && !looked_at;
    if wrong_type || bounds.out_of_range(header.base_timestamp) || bounds.out_of_range(header.max_timestamp) {
        return Err(invalid_timestamp(Vec::new()));
    }
    Ok(())
}

fn invalid_timestamp(records: Vec<RecordError>) -> LogError {
    let message = "One or more records have been rejected due to invalid timestamp".to_owned();
    LogError::InvalidTimestamp(Rejection { records, message })
}

fn invalid_records(records: Vec<RecordError>, count: usize) -> LogError {
    let shown: Vec<String> = records
        .iter()
        .take(3)
        .map(|error| format!("RecordError(batchIndex={}, message='{}')", error.index, error.message))
        .collect();
    let message = format!(
        "One or more records have been rejected due to {count} record errors in total, \
         and only showing the first three errors at most: [{}]",
        shown.join(", ")
    );
    LogError::InvalidRecords(Rejection { records, message })
}
