//! The records inside an uncompressed batch of magic 2, one by one.
//!
//! Every length is checked against the bytes left; keys, values and headers are stepped over, not looked at.
//! Source: Kafka's `DefaultRecord.readFrom`, `ByteUtils`.

use super::batch::Header;

/// What is wrong with the records of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordFault {
    /// The records do not fit the batch or themselves.
    Invalid,
    /// The length of a record takes more than five bytes: Kafka fails there with an error of no name.
    LengthTooLong,
}

/// What is of interest in one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) offset: i64,
    pub(crate) timestamp: i64,
    /// `None` is a null key.
    pub(crate) key_len: Option<usize>,
    pub(crate) value_len: Option<usize>,
}

/// Walks the records; ends after the first fault.
#[derive(Clone, Debug)]
pub(crate) struct Records<'a> {
    rest: Cursor<'a>,
    left: i32,
    base_offset: i64,
    base_timestamp: i64,
    /// What all records bear if the batch says so (LogAppendTime).
    log_append_time: Option<i64>,
}

impl<'a> Records<'a> {
    /// `body` is what follows the header.
    pub(crate) fn new(header: &Header, body: &'a [u8]) -> Self {
        Self {
            rest: Cursor(body),
            left: header.records_count,
            base_offset: header.base_offset,
            base_timestamp: header.base_timestamp,
            log_append_time: header.is_log_append_time().then_some(header.max_timestamp),
        }
    }

    fn read_next(&mut self) -> Result<Record, RecordFault> {
        let size = self.rest.varint().map_err(|fault| match fault {
            VarintFault::TooLong => RecordFault::LengthTooLong,
            VarintFault::Underflow => RecordFault::Invalid,
        })?;
        let mut body = Cursor(self.rest.take(size).ok_or(RecordFault::Invalid)?);
        let record = self.read_body(&mut body).ok_or(RecordFault::Invalid)?;
        let is_last = self.left == 1;
        if !body.0.is_empty() || (is_last && !self.rest.0.is_empty()) {
            return Err(RecordFault::Invalid);
        }
        Ok(record)
    }

    fn read_body(&self, body: &mut Cursor<'_>) -> Option<Record> {
        let _attributes = body.take(1)?;
        let timestamp_delta = body.varlong().ok()?;
        let offset_delta = body.varint().ok()?;
        let key_len = body.skip_nullable()?;
        let value_len = body.skip_nullable()?;
        let headers = usize::try_from(body.varint().ok()?).ok()?;
        if headers > body.0.len() {
            return None;
        }
        for _ in 0..headers {
            let key_len = body.varint().ok()?;
            body.take(key_len)?;
            body.skip_nullable()?;
        }
        Some(Record {
            offset: self.base_offset.wrapping_add(i64::from(offset_delta)),
            timestamp: self
                .log_append_time
                .unwrap_or_else(|| self.base_timestamp.wrapping_add(timestamp_delta)),
            key_len,
            value_len,
        })
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, RecordFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left <= 0 {
            return None;
        }
        let record = self.read_next();
        self.left = if record.is_ok() { self.left - 1 } else { 0 };
        Some(record)
    }
}

/// A record as it is written, for whoever writes it anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawRecord<'a> {
    pub(crate) attributes: u8,
    pub(crate) timestamp_delta: i64,
    pub(crate) offset_delta: i32,
    /// `None` is a null key.
    pub(crate) key: Option<&'a [u8]>,
    /// Whether its value is null.
    pub(crate) is_tombstone: bool,
    /// Key, value and headers.
    pub(crate) rest: &'a [u8],
}

/// Walks the records of a batch that was found good; ends where it is not.
#[derive(Clone, Debug)]
pub(crate) struct RawRecords<'a> {
    rest: Cursor<'a>,
    left: i32,
}

impl<'a> RawRecords<'a> {
    /// `body` is what follows the header.
    pub(crate) const fn new(header: &Header, body: &'a [u8]) -> Self {
        Self { rest: Cursor(body), left: header.records_count }
    }
}

impl<'a> Iterator for RawRecords<'a> {
    type Item = RawRecord<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left <= 0 {
            return None;
        }
        self.left -= 1;
        let size = self.rest.varint().ok()?;
        let mut body = Cursor(self.rest.take(size)?);
        let &attributes = body.take(1)?.first()?;
        let timestamp_delta = body.varlong().ok()?;
        let offset_delta = body.varint().ok()?;
        let rest = body.0;
        let key_len = body.varint().ok()?;
        let key = if key_len < 0 { None } else { Some(body.take(key_len)?) };
        let is_tombstone = body.skip_nullable()?.is_none();
        Some(RawRecord { attributes, timestamp_delta, offset_delta, key, is_tombstone, rest })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VarintFault {
    Underflow,
    TooLong,
}

/// The bytes not read yet.
#[derive(Clone, Debug)]
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    /// `None` if `len` is negative or more than what is left.
    fn take(&mut self, len: i32) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    /// Steps over a length and as many bytes. `Some(None)` is null, `None` an overrun.
    fn skip_nullable(&mut self) -> Option<Option<usize>> {
        let len = self.varint().ok()?;
        if len < 0 {
            return Some(None);
        }
        self.take(len).map(|bytes| Some(bytes.len()))
    }

    /// Zigzag, at most five bytes; what does not fit into 32 bits falls off, as in Kafka.
    fn varint(&mut self) -> Result<i32, VarintFault> {
        let raw = self.unsigned(5)? as u32;
        Ok((raw >> 1) as i32 ^ -((raw & 1) as i32))
    }

    /// Zigzag, at most ten bytes.
    fn varlong(&mut self) -> Result<i64, VarintFault> {
        let raw = self.unsigned(10)?;
        Ok((raw >> 1) as i64 ^ -((raw & 1) as i64))
    }

    fn unsigned(&mut self, bytes_max: u32) -> Result<u64, VarintFault> {
        let mut value = 0;
        for group in 0..bytes_max {
            let (&byte, rest) = self.0.split_first().ok_or(VarintFault::Underflow)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << (7 * group);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(VarintFault::TooLong)
    }
}
