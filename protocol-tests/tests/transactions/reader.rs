//! A consumer that reads what is committed, as Kafka's own does: it skips the batches of aborted transactions.

use std::collections::BTreeSet;

use rallypoint::log::{Isolation, Log, TopicIdPartition};

const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;

/// The offsets of the records that it hands out. It reads a few bytes at a time.
pub(crate) fn committed(log: &Log, place: TopicIdPartition) -> Vec<i64> {
    let (mut offset, mut seen) = (0, Vec::new());
    loop {
        let read = log.read(place, offset, 200, true, Isolation::ReadCommitted).expect("the offset is there");
        if read.records.is_empty() {
            return seen;
        }
        let mut aborted: Vec<(i64, i64)> =
            read.aborted.iter().map(|aborted| (aborted.first_offset, aborted.producer_id)).collect();
        aborted.sort_unstable();
        let mut aborted = aborted.into_iter().peekable();
        let mut skipped = BTreeSet::new();
        let mut rest = &read.records[..];
        while !rest.is_empty() {
            let at = |place: usize, len: usize| &rest[place..place + len];
            let base_offset = i64::from_be_bytes(at(0, 8).try_into().expect("8 bytes"));
            let len = i32::from_be_bytes(at(8, 4).try_into().expect("4 bytes"));
            let attributes = i16::from_be_bytes(at(21, 2).try_into().expect("2 bytes"));
            let last_delta = i32::from_be_bytes(at(23, 4).try_into().expect("4 bytes"));
            let producer_id = i64::from_be_bytes(at(43, 8).try_into().expect("8 bytes"));
            let last_offset = base_offset + i64::from(last_delta);
            while let Some((_, id)) = aborted.next_if(|(first, _)| *first <= last_offset) {
                skipped.insert(id);
            }
            if attributes & CONTROL != 0 {
                // The marker that ends it: an abort has type 0 in its key.
                if rest[61 + 8] == 0 {
                    skipped.remove(&producer_id);
                }
            } else if attributes & TRANSACTIONAL == 0 || !skipped.contains(&producer_id) {
                seen.push(base_offset);
            }
            offset = last_offset + 1;
            rest = &rest[12 + len as usize..];
        }
    }
}
