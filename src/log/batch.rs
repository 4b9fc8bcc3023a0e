//! Record batches of magic 2: framing, header, CRC, and the records inside.
//!
//! Bytes of a peer become an [`Incoming`] batch, checked as far as it can be without knowing the partition,
//! so that nobody waits for a lock meanwhile. Nothing is decompressed.
//! Sources: KIP-98 (message format), Kafka's `DefaultRecordBatch`, `DefaultRecord`, `ByteBufferLogInputStream`
//! and `ProduceRequest.validateRecords`.

use super::error::LogError;
use super::record::{RecordFault, Records};
use crate::types::ProducerIdAndEpoch;

/// Header of a batch, up to the first record.
pub(crate) const BATCH_OVERHEAD: usize = 61;
/// Base offset and length, in front of what the length counts.
const LOG_OVERHEAD: usize = 12;
/// What is needed to know the magic of a batch.
const HEADER_UP_TO_MAGIC: usize = 17;
/// The smallest message of magic 0, without its offset and length.
const RECORD_OVERHEAD_V0: i32 = 14;
/// Where the bytes begin that the CRC covers.
pub(crate) const ATTRIBUTES_AT: usize = 21;
pub(crate) const MAGIC_V2: i8 = 2;

const CODEC_MASK: i16 = 0x07;
const LOG_APPEND_TIME: i16 = 0x08;
pub(crate) const TRANSACTIONAL: i16 = 0x10;
pub(crate) const CONTROL: i16 = 0x20;
pub(crate) const DELETE_HORIZON: i16 = 0x40;
const KNOWN_ATTRIBUTES: i16 = CODEC_MASK | LOG_APPEND_TIME | TRANSACTIONAL | CONTROL | DELETE_HORIZON;

const CODEC_ZSTD: i16 = 4;

/// The fixed part of a batch of magic 2. Fields and their order are the protocol's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) base_offset: i64,
    pub(crate) crc: u32,
    pub(crate) attributes: i16,
    pub(crate) last_offset_delta: i32,
    pub(crate) base_timestamp: i64,
    pub(crate) max_timestamp: i64,
    /// Negative if the producer is not idempotent.
    pub(crate) producer_id: i64,
    pub(crate) producer_epoch: i16,
    pub(crate) base_sequence: i32,
    pub(crate) records_count: i32,
}

impl Header {
    /// `None` if `batch` is shorter than a header.
    pub(crate) fn read(batch: &[u8]) -> Option<Self> {
        if batch.len() < BATCH_OVERHEAD {
            return None;
        }
        Some(Self {
            base_offset: i64::from_be_bytes(at(batch, 0)?),
            crc: u32::from_be_bytes(at(batch, 17)?),
            attributes: i16::from_be_bytes(at(batch, ATTRIBUTES_AT)?),
            last_offset_delta: i32::from_be_bytes(at(batch, 23)?),
            base_timestamp: i64::from_be_bytes(at(batch, 27)?),
            max_timestamp: i64::from_be_bytes(at(batch, 35)?),
            producer_id: i64::from_be_bytes(at(batch, 43)?),
            producer_epoch: i16::from_be_bytes(at(batch, 51)?),
            base_sequence: i32::from_be_bytes(at(batch, 53)?),
            records_count: i32::from_be_bytes(at(batch, 57)?),
        })
    }

    pub(crate) const fn has_producer_id(&self) -> bool {
        self.producer_id >= 0
    }

    pub(crate) const fn is_compressed(&self) -> bool {
        self.attributes & CODEC_MASK != 0
    }

    /// Codecs are 0 (none) to 4 (zstd).
    pub(crate) const fn has_known_codec(&self) -> bool {
        self.attributes & CODEC_MASK <= CODEC_ZSTD
    }

    pub(crate) const fn is_log_append_time(&self) -> bool {
        self.attributes & LOG_APPEND_TIME != 0
    }

    pub(crate) const fn is_transactional(&self) -> bool {
        self.attributes & TRANSACTIONAL != 0
    }

    pub(crate) const fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }

    /// The sequence number of the last record; after `i32::MAX` comes 0.
    pub(crate) const fn last_sequence(&self) -> i32 {
        self.base_sequence.wrapping_add(self.last_offset_delta) & i32::MAX
    }
}

/// One batch as a client sent it, with what was found out about it.
#[derive(Clone, Debug)]
pub struct Incoming<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) header: Header,
    pub(crate) crc_matches: bool,
    /// What the records say, or what is wrong with them.
    pub(crate) records: Result<Summary, RecordFault>,
}

/// What is known of the records of a batch without looking at them again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) min_timestamp: i64,
    pub(crate) max_timestamp: i64,
    pub(crate) all_have_keys: bool,
}

impl<'a> Incoming<'a> {
    /// Takes what a Produce request of `version` (3 or later) holds for one partition: exactly one batch of
    /// magic 2. Bytes behind it that are no whole batch are dropped, as Kafka does.
    ///
    /// # Errors
    /// `InvalidRecord`, `CorruptMessage`, `UnsupportedCompressionType` (zstd before version 7),
    /// `UnknownServerError` (a codec that does not exist).
    pub fn parse(version: i16, records: &'a [u8]) -> Result<Self, LogError> {
        let Some(frame) = next_frame(records)? else { return Err(LogError::InvalidRecord) };
        if frame.magic != MAGIC_V2 {
            return Err(LogError::InvalidRecord);
        }
        let (bytes, behind) = records.split_at(frame.len);
        // A shorter one cannot have the right CRC either.
        let header = Header::read(bytes).ok_or(LogError::CorruptMessage(None))?;
        if version < 7 && !header.has_known_codec() {
            return Err(LogError::UnknownServerError);
        }
        if version < 7 && header.attributes & CODEC_MASK == CODEC_ZSTD {
            return Err(LogError::UnsupportedCompressionType);
        }
        match next_frame(behind) {
            Ok(None) => {}
            Ok(Some(_)) => return Err(LogError::InvalidRecord),
            Err(_) => return Err(LogError::CorruptMessage(None)),
        }
        let crc_matches = crc32c::crc32c(&bytes[ATTRIBUTES_AT..]) == header.crc;
        let records = if header.is_compressed() {
            Ok(Summary::of_compressed(&header))
        } else {
            Summary::of_records(Records::new(&header, &bytes[BATCH_OVERHEAD..]))
        };
        Ok(Self { bytes, header, crc_matches, records })
    }

    /// The records of an uncompressed batch once more.
    pub(crate) fn walk(&self) -> Records<'a> {
        Records::new(&self.header, &self.bytes[BATCH_OVERHEAD..])
    }

    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Who sent it, and the sequence number of its first record, if it is part of a transaction.
    #[must_use]
    pub fn transaction(&self) -> Option<(ProducerIdAndEpoch, i32)> {
        let Header { producer_id: id, producer_epoch: epoch, base_sequence, .. } = self.header;
        let is_part = self.header.is_transactional() && self.header.has_producer_id();
        is_part.then_some((ProducerIdAndEpoch { id, epoch }, base_sequence))
    }
}

impl Summary {
    // Differs from Kafka: what is compressed is kept as sent. Kafka decompresses it to see that the records
    // are sound, as many as the header says, with keys if the topic is compacted, and takes the timestamps
    // from them; here the header is believed.
    const fn of_compressed(header: &Header) -> Self {
        Self {
            min_timestamp: header.base_timestamp,
            max_timestamp: header.max_timestamp,
            all_have_keys: true,
        }
    }

    fn of_records(records: Records<'_>) -> Result<Self, RecordFault> {
        let none = Self { min_timestamp: i64::MAX, max_timestamp: NO_TIMESTAMP, all_have_keys: true };
        records.into_iter().try_fold(none, |so_far, record| {
            let record = record?;
            Ok(Self {
                min_timestamp: so_far.min_timestamp.min(record.timestamp),
                max_timestamp: so_far.max_timestamp.max(record.timestamp),
                all_have_keys: so_far.all_have_keys && record.key_len.is_some(),
            })
        })
    }
}

/// What stands for "no timestamp" in a record.
pub(crate) const NO_TIMESTAMP: i64 = -1;

/// What is written into a batch when it gets its place in a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub(crate) base_offset: i64,
    pub(crate) leader_epoch: i32,
    pub(crate) log_append_time: bool,
    pub(crate) max_timestamp: i64,
}

impl Stamp {
    /// Writes into `batch`, which must be one whole batch whose header has been read as `header`.
    pub(crate) fn apply(self, header: &Header, batch: &mut [u8]) {
        put(batch, 0, self.base_offset.to_be_bytes());
        put(batch, 12, self.leader_epoch.to_be_bytes());
        if header.is_log_append_time() == self.log_append_time && header.max_timestamp == self.max_timestamp {
            return;
        }
        let kept = header.attributes & KNOWN_ATTRIBUTES & !LOG_APPEND_TIME;
        let attributes = if self.log_append_time { kept | LOG_APPEND_TIME } else { kept };
        put(batch, ATTRIBUTES_AT, attributes.to_be_bytes());
        put(batch, 35, self.max_timestamp.to_be_bytes());
        let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..]);
        put(batch, 17, crc.to_be_bytes());
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    magic: i8,
    /// In bytes, offset and length field included.
    len: usize,
}

/// The next whole batch or message in `bytes`, whatever its magic. `None` if there is no whole one.
///
/// # Errors
/// `CorruptMessage`, with Kafka's text, if the length or the magic cannot be.
fn next_frame(bytes: &[u8]) -> Result<Option<Frame>, LogError> {
    let Some(size) = at(bytes, 8).map(i32::from_be_bytes) else { return Ok(None) };
    if size < RECORD_OVERHEAD_V0 {
        let text =
            format!("Record size {size} is less than the minimum record overhead ({RECORD_OVERHEAD_V0})");
        return Err(LogError::CorruptMessage(Some(text)));
    }
    if bytes.len() < HEADER_UP_TO_MAGIC {
        return Ok(None);
    }
    let magic = i8::from_be_bytes([bytes[HEADER_UP_TO_MAGIC - 1]]);
    if !(0..=MAGIC_V2).contains(&magic) {
        let text = format!("Invalid magic found in record: {magic}");
        return Err(LogError::CorruptMessage(Some(text)));
    }
    let len = usize::try_from(size).unwrap_or(usize::MAX).saturating_add(LOG_OVERHEAD);
    Ok((bytes.len() >= len).then_some(Frame { magic, len }))
}

/// What Kafka finds before it looks at any partition, and then refuses the whole request for:
/// the first batch has a length or magic that cannot be.
///
/// # Errors
/// `CorruptMessage`, with Kafka's text.
pub fn check_first_frame(records: &[u8]) -> Result<(), LogError> {
    next_frame(records).map(|_| ())
}

/// Whether the first batch is part of a transaction, which Kafka asks before all else.
#[must_use]
pub fn is_transactional(records: &[u8]) -> bool {
    matches!(next_frame(records), Ok(Some(Frame { magic: MAGIC_V2, .. })))
        && at(records, ATTRIBUTES_AT).map(i16::from_be_bytes).is_some_and(|a| a & TRANSACTIONAL != 0)
}

fn at<const N: usize>(bytes: &[u8], position: usize) -> Option<[u8; N]> {
    bytes.get(position..position + N)?.try_into().ok()
}

fn put<const N: usize>(bytes: &mut [u8], position: usize, value: [u8; N]) {
    bytes[position..position + N].copy_from_slice(&value);
}

#[cfg(test)]
mod tests;
