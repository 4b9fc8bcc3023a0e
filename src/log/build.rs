//! Writes batches: those that the broker makes itself, and those that compaction leaves.

use super::batch::{ATTRIBUTES_AT, BATCH_OVERHEAD, MAGIC_V2};

/// Where the fields of a batch begin that are known at its end.
const LENGTH_AT: usize = 8;
const CRC_AT: usize = 17;
/// Base offset and length are not counted by the length.
const LOG_OVERHEAD: usize = 12;

/// A batch of magic 2 without compression, producer and transaction, record by record.
#[derive(Debug)]
pub struct BatchBuilder {
    bytes: Vec<u8>,
    timestamp: i64,
    count: i32,
}

impl BatchBuilder {
    /// No records yet; all will bear `timestamp`.
    #[must_use]
    pub fn new(timestamp: i64) -> Self {
        Self { bytes: vec![0; BATCH_OVERHEAD], timestamp, count: 0 }
    }

    /// Adds a record; no value is a tombstone.
    pub fn push(&mut self, key: &[u8], value: Option<&[u8]>) {
        let mut rest = Vec::with_capacity(key.len() + value.map_or(0, <[u8]>::len) + 8);
        put_varint(&mut rest, key.len() as i64);
        rest.extend_from_slice(key);
        put_varint(&mut rest, value.map_or(-1, |value| value.len() as i64));
        rest.extend_from_slice(value.unwrap_or_default());
        put_varint(&mut rest, 0);
        put_record(&mut self.bytes, 0, 0, self.count, &rest);
        self.count += 1;
    }

    /// How many records it has.
    #[must_use]
    pub const fn count(&self) -> i32 {
        self.count
    }

    /// How many bytes it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has no records.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The batch as a producer sends it.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let Self { bytes: mut batch, timestamp, count } = self;
        // The epoch of the leader is stamped when the batch gets its place.
        batch[LOG_OVERHEAD..LOG_OVERHEAD + 4].copy_from_slice(&(-1_i32).to_be_bytes());
        batch[LOG_OVERHEAD + 4] = MAGIC_V2.to_be_bytes()[0];
        batch[23..27].copy_from_slice(&(count - 1).to_be_bytes());
        batch[27..35].copy_from_slice(&timestamp.to_be_bytes());
        batch[35..43].copy_from_slice(&timestamp.to_be_bytes());
        batch[43..51].copy_from_slice(&(-1_i64).to_be_bytes());
        batch[51..53].copy_from_slice(&(-1_i16).to_be_bytes());
        batch[53..57].copy_from_slice(&(-1_i32).to_be_bytes());
        batch[57..61].copy_from_slice(&count.to_be_bytes());
        seal(&mut batch);
        batch
    }
}

/// Puts length and CRC right.
pub(super) fn seal(batch: &mut [u8]) {
    let len = u32::try_from(batch.len() - LOG_OVERHEAD).expect("a batch is smaller than a frame");
    batch[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&len.to_be_bytes());
    let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..]);
    batch[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_be_bytes());
}

/// Writes a record; `rest` is its key, value and headers as they are written.
pub(super) fn put_record(
    batch: &mut Vec<u8>,
    attributes: u8,
    timestamp_delta: i64,
    offset_delta: i32,
    rest: &[u8],
) {
    let mut head = Vec::with_capacity(16);
    head.push(attributes);
    put_varint(&mut head, timestamp_delta);
    put_varint(&mut head, offset_delta.into());
    put_varint(batch, (head.len() + rest.len()) as i64);
    batch.extend_from_slice(&head);
    batch.extend_from_slice(rest);
}

/// Zigzag, seven bits a byte.
fn put_varint(out: &mut Vec<u8>, value: i64) {
    let mut left = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while left >= 0x80 {
        out.push((left & 0x7f) as u8 | 0x80);
        left >>= 7;
    }
    out.push(left as u8);
}

#[cfg(test)]
mod tests {
    use super::super::test_batch::{BatchSpec, parse};
    use super::*;

    #[test]
    fn what_is_built_is_a_batch_as_a_producer_sends_it() {
        let mut builder = BatchBuilder::new(1_000);
        builder.push(b"k", Some(b"value"));
        builder.push(b"k", None);
        assert_eq!((builder.count(), builder.is_empty()), (2, false));
        let batch = builder.finish();
        let incoming = parse(&batch);
        assert!(incoming.crc_matches);
        let records: Vec<_> = incoming.walk().map(|record| record.expect("a good record")).collect();
        let told: Vec<_> = records.iter().map(|r| (r.offset, r.timestamp, r.key_len, r.value_len)).collect();
        assert_eq!(told, [(0, 1_000, Some(1), Some(5)), (1, 1_000, Some(1), None)]);
        let theirs = BatchSpec::new(1, 1_000).build();
        let fixed = |batch: &[u8]| [&batch[12..17], &batch[21..23], &batch[43..57]].concat();
        assert_eq!(fixed(&batch), fixed(&theirs));
    }
}
