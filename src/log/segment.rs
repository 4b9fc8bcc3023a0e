//! A run of batches in one piece of memory.
//!
//! Batches lie behind each other as they are sent to consumers, so that a read of many small ones is one
//! slice. A segment is written until it is full, then sealed; from a sealed one, reads take slices, from an
//! open one copies.

use bytes::Bytes;

use super::batch::{BATCH_OVERHEAD, Header, NO_TIMESTAMP, Stamp};
use crate::types::Millis;

/// How many bytes a segment has before the next one is begun.
///
/// It is also what retention throws away at a time.
pub(crate) const SEGMENT_BYTES_MAX: usize = 1 << 20;

/// See the module.
#[derive(Debug)]
pub(crate) struct Segment {
    base_offset: i64,
    data: Data,
    /// One entry a batch, in offset order.
    index: Vec<Entry>,
    max_timestamp: i64,
    last_modified: Millis,
}

#[derive(Debug)]
enum Data {
    Open(Vec<u8>),
    Sealed(Bytes),
}

/// Where a batch ends.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The offset behind its last record, counted from the segment's first.
    next_delta: u32,
    /// The position behind its last byte.
    end: u32,
    max_timestamp: i64,
}

/// A batch within a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchView<'a> {
    /// Of its first record, or less where compaction has left a gap.
    pub(crate) base_offset: i64,
    /// Behind its last record.
    pub(crate) next_offset: i64,
    pub(crate) max_timestamp: i64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> BatchView<'a> {
    /// `None` never happens to a batch that was appended.
    pub(crate) fn header(&self) -> Option<Header> {
        Header::read(self.bytes)
    }

    pub(crate) fn records_bytes(&self) -> &'a [u8] {
        self.bytes.get(BATCH_OVERHEAD..).unwrap_or_default()
    }
}

impl Segment {
    pub(crate) const fn new(base_offset: i64, wall: Millis) -> Self {
        let data = Data::Open(Vec::new());
        Self { base_offset, data, index: Vec::new(), max_timestamp: NO_TIMESTAMP, last_modified: wall }
    }

    /// Whether a batch of `len` bytes with `count` offsets still belongs here.
    pub(crate) fn has_room(&self, len: usize, count: u32) -> bool {
        let offsets = self.index.last().map_or(0, |last| last.next_delta);
        let fits = self.index.is_empty() || self.bytes().len() + len <= SEGMENT_BYTES_MAX;
        matches!(self.data, Data::Open(_)) && fits && offsets.checked_add(count).is_some()
    }

    /// Copies `batch`, stamped, to the end. There must be room for it.
    pub(crate) fn append(&mut self, wall: Millis, header: &Header, batch: &[u8], count: u32, stamp: Stamp) {
        let Data::Open(data) = &mut self.data else { unreachable!("a sealed segment has no room") };
        let start = data.len();
        data.extend_from_slice(batch);
        stamp.apply(header, &mut data[start..]);
        let end = u32::try_from(data.len()).expect("a segment is one batch or at most SEGMENT_BYTES_MAX");
        let offsets = self.index.last().map_or(0, |last| last.next_delta);
        self.index.push(Entry { next_delta: offsets + count, end, max_timestamp: stamp.max_timestamp });
        self.max_timestamp = self.max_timestamp.max(stamp.max_timestamp);
        self.last_modified = wall;
    }

    /// Copies a batch that had its place before to the end, and leaves the offsets before it empty. There must be room.
    pub(crate) fn push(&mut self, batch: &[u8], next_offset: i64, max_timestamp: i64) {
        let Data::Open(data) = &mut self.data else { unreachable!("a sealed segment has no room") };
        data.extend_from_slice(batch);
        let end = u32::try_from(data.len()).expect("a segment is one batch or at most SEGMENT_BYTES_MAX");
        let next_delta = u32::try_from(next_offset - self.base_offset).expect("there is room");
        self.index.push(Entry { next_delta, end, max_timestamp });
        self.max_timestamp = self.max_timestamp.max(max_timestamp);
    }

    /// Whether a batch of `len` bytes that ends before `next_offset` still belongs here.
    pub(crate) fn has_room_until(&self, len: usize, next_offset: i64) -> bool {
        let fits = self.index.is_empty() || self.bytes().len() + len <= SEGMENT_BYTES_MAX;
        matches!(self.data, Data::Open(_)) && fits && u32::try_from(next_offset - self.base_offset).is_ok()
    }

    /// When the last batch was appended.
    pub(crate) const fn last_modified(&self) -> Millis {
        self.last_modified
    }

    /// Nothing will be appended any more.
    pub(crate) fn seal(&mut self) {
        if let Data::Open(data) = &mut self.data {
            // Into a box first: spare capacity would be kept as long as the segment is.
            let data = std::mem::take(data).into_boxed_slice();
            self.data = Data::Sealed(Bytes::from(data));
            self.index.shrink_to_fit();
        }
    }

    /// The offset of the first record, or less where compaction has left a gap.
    pub(crate) const fn base_offset(&self) -> i64 {
        self.base_offset
    }

    /// The offset behind the last record.
    pub(crate) fn next_offset(&self) -> i64 {
        self.base_offset + self.index.last().map_or(0, |last| i64::from(last.next_delta))
    }

    /// Of all records; -1 if none has a timestamp.
    pub(crate) const fn max_timestamp(&self) -> i64 {
        self.max_timestamp
    }

    /// The age of the segment counts from here: its largest timestamp, or else the last append.
    pub(crate) const fn last_written(&self) -> Millis {
        if self.max_timestamp >= 0 { Millis(self.max_timestamp) } else { self.last_modified }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.data {
            Data::Open(data) => data,
            Data::Sealed(data) => data,
        }
    }

    /// What the segment takes of the machine's memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let data = match &self.data {
            Data::Open(data) => data.capacity(),
            Data::Sealed(data) => data.len(),
        };
        data + self.index.capacity() * size_of::<Entry>()
    }

    /// The batches from the one that holds `offset` on.
    pub(crate) fn batches_from(&self, offset: i64) -> impl Iterator<Item = BatchView<'_>> {
        (self.position_of(offset)..self.index.len()).map(|at| BatchView {
            base_offset: self.base_offset
                + at.checked_sub(1).map_or(0, |at| i64::from(self.index[at].next_delta)),
            next_offset: self.base_offset + i64::from(self.index[at].next_delta),
            max_timestamp: self.index[at].max_timestamp,
            bytes: &self.bytes()[self.start_of(at)..self.index[at].end as usize],
        })
    }

    /// Whole batches from the one that holds `offset` on and before the one that holds `until`, at most `bytes_max`; with
    /// `min_one` the first one even if it is larger.
    pub(crate) fn read(&self, offset: i64, until: i64, bytes_max: usize, min_one: bool) -> Bytes {
        let first = self.position_of(offset);
        let start = self.start_of(first);
        let wanted = &self.index[first..self.position_of(until).max(first)];
        let fitting = wanted.partition_point(|entry| entry.end as usize - start <= bytes_max);
        let batches = if min_one { fitting.max(1) } else { fitting };
        let end = match batches {
            0 => start,
            _ => wanted.get(batches - 1).map_or(start, |entry| entry.end as usize),
        };
        match &self.data {
            Data::Open(data) => Bytes::copy_from_slice(&data[start..end]),
            Data::Sealed(data) => data.slice(start..end),
        }
    }

    /// How many bytes there are from the batch that holds `offset` on and before the one that holds `until`.
    pub(crate) fn bytes_between(&self, offset: i64, until: i64) -> usize {
        self.start_of(self.position_of(until)).saturating_sub(self.start_of(self.position_of(offset)))
    }

    /// The offset behind the batch that ends so many bytes behind the beginning of the one that holds `offset`.
    pub(crate) fn offset_behind(&self, offset: i64, bytes: usize) -> i64 {
        let end = self.start_of(self.position_of(offset)) + bytes;
        let batches = self.index.partition_point(|entry| entry.end as usize <= end);
        self.base_offset + batches.checked_sub(1).map_or(0, |last| i64::from(self.index[last].next_delta))
    }

    /// The place in the index of the batch that holds `offset`.
    fn position_of(&self, offset: i64) -> usize {
        self.index.partition_point(|entry| self.base_offset + i64::from(entry.next_delta) <= offset)
    }

    fn start_of(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.index[before].end as usize)
    }
}
