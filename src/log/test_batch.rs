//! Batches for tests.

use super::batch::{ATTRIBUTES_AT, BATCH_OVERHEAD, Incoming};

/// What goes into a batch; what is not set is as a plain producer sends it.
#[derive(Clone, Debug)]
pub(crate) struct BatchSpec {
    pub(crate) base_timestamp: i64,
    /// Key, value and timestamp delta of each record.
    pub(crate) records: Vec<(Option<&'static str>, String, i64)>,
    pub(crate) attributes: i16,
    /// Id, epoch, first sequence number.
    pub(crate) producer: (i64, i16, i32),
}

impl BatchSpec {
    /// `count` small records, all at `timestamp`.
    pub(crate) fn new(count: usize, timestamp: i64) -> Self {
        Self {
            base_timestamp: timestamp,
            records: (0..count).map(|at| (Some("key"), format!("value {at}"), 0)).collect(),
            attributes: 0,
            producer: (-1, -1, -1),
        }
    }

    pub(crate) fn timestamps(mut self, deltas: &[i64]) -> Self {
        self.records = deltas.iter().map(|delta| (Some("key"), "value".to_owned(), *delta)).collect();
        self
    }

    pub(crate) fn value_len(mut self, len: usize) -> Self {
        for (_, value, _) in &mut self.records {
            *value = "x".repeat(len);
        }
        self
    }

    pub(crate) fn without_keys(mut self) -> Self {
        for (key, ..) in &mut self.records {
            *key = None;
        }
        self
    }

    pub(crate) fn attributes(mut self, attributes: i16) -> Self {
        self.attributes = attributes;
        self
    }

    pub(crate) fn producer(mut self, id: i64, epoch: i16, sequence: i32) -> Self {
        self.producer = (id, epoch, sequence);
        self
    }

    /// As a producer sends it.
    pub(crate) fn build(&self) -> Vec<u8> {
        let count = i32::try_from(self.records.len()).unwrap();
        let max = self.records.iter().map(|(.., delta)| self.base_timestamp + delta).max().unwrap_or(-1);
        let mut batch = Vec::new();
        batch.extend(0_i64.to_be_bytes());
        batch.extend(0_i32.to_be_bytes());
        batch.extend((-1_i32).to_be_bytes());
        batch.push(2);
        batch.extend([0; 4]);
        batch.extend(self.attributes.to_be_bytes());
        batch.extend((count - 1).to_be_bytes());
        batch.extend(self.base_timestamp.to_be_bytes());
        batch.extend(max.to_be_bytes());
        batch.extend(self.producer.0.to_be_bytes());
        batch.extend(self.producer.1.to_be_bytes());
        batch.extend(self.producer.2.to_be_bytes());
        batch.extend(count.to_be_bytes());
        for (index, (key, value, delta)) in (0..).zip(&self.records) {
            let mut body = vec![0];
            body.extend(varint(*delta));
            body.extend(varint(index));
            body.extend(varint(key.map_or(-1, |key| key.len() as i64)));
            body.extend(key.unwrap_or_default().bytes());
            body.extend(varint(value.len() as i64));
            body.extend(value.bytes());
            body.extend(varint(1));
            body.extend(varint(1));
            body.push(b'h');
            body.extend(varint(-1));
            batch.extend(varint(body.len() as i64));
            batch.extend(body);
        }
        seal(&mut batch);
        batch
    }
}

/// Puts length and CRC right.
pub(crate) fn seal(batch: &mut [u8]) {
    let len = i32::try_from(batch.len() - 12).unwrap();
    batch[8..12].copy_from_slice(&len.to_be_bytes());
    let crc = crc32c::crc32c(&batch[ATTRIBUTES_AT..]);
    batch[17..21].copy_from_slice(&crc.to_be_bytes());
}

/// As the newest Produce takes it.
pub(crate) fn parse(batch: &[u8]) -> Incoming<'_> {
    Incoming::parse(13, batch).expect("a good batch")
}

pub(crate) fn varint(value: i64) -> Vec<u8> {
    let mut rest = ((value << 1) ^ (value >> 63)) as u64;
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// xorshift64*: enough to vary inputs, the same for each run.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    /// A good batch with up to four bytes changed, cut off or added; every other one with a right CRC.
    pub(crate) fn mutated_batch(&mut self) -> Vec<u8> {
        let mut batch = match self.below(3) {
            0 => BatchSpec::new(3, 1000).build(),
            1 => BatchSpec::new(20, 1000).producer(5, 0, i32::MAX).build(),
            _ => BatchSpec::new(1, i64::MAX).attributes(0x0b).build(),
        };
        for _ in 0..=self.below(4) {
            match self.below(3) {
                0 => {
                    let at = self.below(batch.len());
                    batch[at] = self.below(256) as u8;
                }
                1 => batch.truncate(self.below(batch.len()).max(1)),
                _ => batch.push(self.below(256) as u8),
            }
        }
        if self.below(2) == 0 && batch.len() > BATCH_OVERHEAD {
            seal(&mut batch);
        }
        batch
    }
}
