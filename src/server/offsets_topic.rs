//! `__consumer_offsets` as consumers read it: made from what the shards keep, for as long as somebody reads it.
//!
//! A partition of the topic is empty until it is read. The first read writes the snapshot of its shard into the log, and
//! from then on the shard's records are appended as they come, so that a reader at the end sees each commit at an offset
//! of its own. Records that newer ones have replaced are compacted away once they are more than what is left
//! ([`Log::compact_early`](crate::log::Log::compact_early)), so that memory follows the state and not the number of
//! commits. A partition that nobody has read for [`OFFSETS_TOPIC_IDLE_MS`] is emptied at the next record. Offsets never
//! go back: a reader that returns finds its offset out of range or a new snapshot at higher ones.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::api;
use crate::catalog::name::CONSUMER_OFFSETS;
use crate::coordinator::record::Record;
use crate::limits::{OFFSETS_TOPIC_BATCH_BYTES, OFFSETS_TOPIC_IDLE_MS};
use crate::log::{BatchBuilder, Incoming, LogError, TopicIdPartition};
use crate::store::{self, Encoded, Written};
use crate::topics::Topics;
use crate::types::{Millis, Now, ReplyTo};

/// The newest version of Produce: the strictest.
const PRODUCE_VERSION: i16 = 13;

/// Where the records of the shards are shown.
#[derive(Debug)]
pub(super) struct OffsetsTopic {
    topics: Arc<Mutex<Topics>>,
}

/// A partition that shows what its shard keeps.
#[derive(Debug)]
pub(super) struct Shown {
    place: TopicIdPartition,
    last_read: Millis,
    transactions: Transactions,
}

/// Key → when it came, and the value.
type Pending = BTreeMap<Vec<u8>, (u64, Option<Vec<u8>>)>;

/// The offsets of open transactions, by producer.
///
/// As in the groups, the newest record of a key counts and not the transaction that ends last.
// Differs from Kafka: the offsets of a transaction are shown when it is committed, and there are no control batches.
#[derive(Debug, Default)]
struct Transactions {
    open: BTreeMap<i64, Pending>,
    came: u64,
}

impl Transactions {
    /// What is to be shown once `written` has come.
    fn take(&mut self, written: Written) -> Vec<Encoded> {
        match written {
            Written::Record(record) => {
                self.replaced(&record.key, u64::MAX);
                vec![record]
            }
            Written::Pending { producer_id, record: Encoded { key, value } } => {
                self.came += 1;
                self.open.entry(producer_id).or_default().insert(key, (self.came, value));
                Vec::new()
            }
            Written::End { producer_id, committed } => {
                let ended = self.open.remove(&producer_id).filter(|_| committed).unwrap_or_default();
                ended.iter().for_each(|(key, (came, _))| self.replaced(key, *came));
                ended.into_iter().map(|(key, (_, value))| Encoded { key, value }).collect()
            }
        }
    }

    /// What has come for this key before then does not count any more.
    fn replaced(&mut self, key: &[u8], then: u64) {
        self.open.retain(|_, keys| {
            if keys.get(key).is_some_and(|(came, _)| *came < then) {
                keys.remove(key);
            }
            !keys.is_empty()
        });
    }
}

impl OffsetsTopic {
    pub(super) const fn new(topics: Arc<Mutex<Topics>>) -> Self {
        Self { topics }
    }

    /// Somebody reads a partition: it shows what `snapshot` says unless it does already. Returns whose fetch may be
    /// answered now.
    pub(super) fn show(
        &self,
        now: Now,
        partition: i32,
        shown: &mut Option<Shown>,
        snapshot: impl Iterator<Item = Record>,
    ) -> Vec<ReplyTo> {
        let topic = api::lock(&self.topics).catalog().by_name(CONSUMER_OFFSETS).map(|topic| topic.id);
        let Some(topic) = topic else { return Vec::new() };
        let place = TopicIdPartition { topic, partition };
        if let Some(already) = shown.as_mut().filter(|shown| shown.place == place) {
            already.last_read = now.monotonic;
            return Vec::new();
        }
        let mut transactions = Transactions::default();
        let batches = batches(now, snapshot, &mut transactions);
        *shown = Some(Shown { place, last_read: now.monotonic, transactions });
        api::lock(&self.topics).log.clear(place);
        self.write(now, shown, &batches)
    }

    /// Appends what a shard recorded, if its partition is shown. Returns whose fetch may be answered now.
    pub(super) fn append(&self, now: Now, shown: &mut Option<Shown>, records: &[Record]) -> Vec<ReplyTo> {
        let Some(Shown { place, last_read, transactions }) = shown else { return Vec::new() };
        if records.is_empty() {
            return Vec::new();
        }
        if now.monotonic.since(*last_read) > OFFSETS_TOPIC_IDLE_MS {
            let mut topics = api::lock(&self.topics);
            topics.log.clear(*place);
            *shown = None;
            return topics.log.take_ready();
        }
        let batches = batches(now, records.iter(), transactions);
        self.write(now, shown, &batches)
    }

    /// A partition that cannot take its records (no memory is left for logs, or it was deleted) is shown no longer.
    fn write(&self, now: Now, shown: &mut Option<Shown>, batches: &[Vec<u8>]) -> Vec<ReplyTo> {
        let Some(&Shown { place, .. }) = shown.as_ref() else { return Vec::new() };
        let mut topics = api::lock(&self.topics);
        let written = batches.iter().try_for_each(|batch| {
            let batch = Incoming::parse(PRODUCE_VERSION, batch)?;
            topics.log.append(now, place, &batch)?;
            Ok::<_, LogError>(())
        });
        match written {
            Ok(()) => topics.log.compact_early(now, place),
            Err(error) => {
                tracing::debug!("partition {place} of {CONSUMER_OFFSETS} cannot be shown: {error:?}");
                topics.log.clear(place);
                *shown = None;
            }
        }
        topics.log.take_ready()
    }
}

/// Records as batches that are not large.
fn batches<R: Borrow<Record>>(
    now: Now,
    records: impl Iterator<Item = R>,
    transactions: &mut Transactions,
) -> Vec<Vec<u8>> {
    let mut batches = Vec::new();
    let mut batch = BatchBuilder::new(now.wall.0);
    for Encoded { key, value } in records.flat_map(|record| transactions.take(store::encode(record.borrow())))
    {
        batch.push(&key, value.as_deref());
        if batch.len() >= OFFSETS_TOPIC_BATCH_BYTES {
            batches.push(std::mem::replace(&mut batch, BatchBuilder::new(now.wall.0)).finish());
        }
    }
    if !batch.is_empty() {
        batches.push(batch.finish());
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Overrides;
    use crate::config::Config;
    use crate::coordinator::reply::CommittedOffset;
    use crate::log::{Isolation, Log, LogSettings, WaitPartition};
    use crate::topics::NewTopic;
    use crate::types::{GroupId, TopicId, TopicName};

    const TOPIC: TopicId = TopicId(7);
    const P0: TopicIdPartition = TopicIdPartition { topic: TOPIC, partition: 0 };

    fn at(millis: i64) -> Now {
        Now { monotonic: Millis(millis), wall: Millis(millis) }
    }

    fn with_memory(bytes_max: usize) -> OffsetsTopic {
        let settings = LogSettings { bytes_max, ..LogSettings::default() };
        let mut topics = Topics::new(Log::new(at(0), settings));
        let overrides = Overrides::from([("cleanup.policy".into(), "compact".into())]);
        let new = NewTopic { name: CONSUMER_OFFSETS, id: TOPIC, partitions: 2, overrides };
        topics.create(&Config::with(&[]).unwrap(), new).unwrap();
        OffsetsTopic::new(Arc::new(Mutex::new(topics)))
    }

    fn topic() -> OffsetsTopic {
        with_memory(1 << 30)
    }

    fn commit(group: &str, offset: i64) -> Record {
        let value = CommittedOffset {
            offset,
            leader_epoch: None,
            metadata: "".into(),
            commit_timestamp_ms: 0,
            expire_timestamp_ms: None,
            topic_id: TopicId(0),
        };
        let topic = TopicName::from("t");
        Record::OffsetCommit { group: GroupId::from(group), topic, partition: 0, value: Some(value) }
    }

    /// The first and the next offset.
    fn bounds(topic: &OffsetsTopic) -> (i64, i64) {
        let topics = api::lock(&topic.topics);
        (topics.log.log_start_offset(P0).unwrap(), topics.log.high_watermark(P0).unwrap())
    }

    #[test]
    fn the_first_reader_gets_the_snapshot_and_then_what_comes() {
        let (topic, mut shown) = (topic(), None);
        // Nobody reads, so nothing is written.
        assert!(topic.append(at(0), &mut shown, &[commit("a", 1)]).is_empty());
        assert_eq!(bounds(&topic), (0, 0));
        topic.show(at(0), 0, &mut shown, [commit("a", 1), commit("b", 1)].into_iter());
        assert_eq!(bounds(&topic), (0, 2));
        // Another read changes nothing.
        topic.show(at(1), 0, &mut shown, [commit("a", 1), commit("b", 1)].into_iter());
        assert_eq!(bounds(&topic), (0, 2));
        let reader = ReplyTo(9);
        let wait = WaitPartition {
            partition: P0,
            available: 0,
            bytes_max: 1,
            isolation: Isolation::ReadUncommitted,
        };
        api::lock(&topic.topics).log.park(reader, Millis(1_000), 1, [wait]);
        assert_eq!(topic.append(at(2), &mut shown, &[commit("a", 2)]), [reader]);
        assert_eq!(bounds(&topic), (0, 3));
        let read = api::lock(&topic.topics).log.read(P0, 2, 1_000, true, Isolation::ReadUncommitted).unwrap();
        let Written::Record(Encoded { key, .. }) = store::encode(&commit("a", 2)) else { panic!("a record") };
        assert!(read.records.windows(key.len()).any(|window| window == key));
    }

    #[test]
    fn offsets_of_a_transaction_are_shown_when_it_is_committed_unless_newer_ones_are() {
        let pending = |producer_id, group: &str, offset| match commit(group, offset) {
            Record::OffsetCommit { group, topic, partition, value: Some(value) } => {
                Record::TxnOffsetCommit { group, topic, partition, producer_id, value }
            }
            other => other,
        };
        let end = |producer_id, committed| Record::EndTxnMarker { producer_id, committed };
        let (topic, mut shown) = (topic(), None);
        // One is open when the first reader comes.
        topic.show(at(0), 0, &mut shown, [pending(1, "a", 1)].into_iter());
        assert_eq!(bounds(&topic).1, 0);
        topic.append(at(0), &mut shown, &[end(1, true)]);
        assert_eq!(bounds(&topic).1, 1);
        topic.append(at(0), &mut shown, &[pending(1, "a", 2), end(1, false), end(7, true)]);
        assert_eq!(bounds(&topic).1, 1);
        // A plain commit is newer than what was pending.
        topic.append(at(0), &mut shown, &[pending(1, "a", 3), commit("a", 4), end(1, true)]);
        assert_eq!(bounds(&topic).1, 2);
        // So is what came later, though its transaction ends first.
        topic.append(at(0), &mut shown, &[pending(1, "a", 5), pending(1, "b", 5), pending(2, "a", 6)]);
        topic.append(at(0), &mut shown, &[end(2, true), end(1, true)]);
        assert_eq!(bounds(&topic).1, 4);
    }

    #[test]
    fn what_nobody_reads_is_emptied_and_offsets_go_on() {
        let (topic, mut shown) = (topic(), None);
        topic.show(at(0), 0, &mut shown, [commit("a", 1)].into_iter());
        topic.append(at(OFFSETS_TOPIC_IDLE_MS), &mut shown, &[commit("a", 2)]);
        assert_eq!(bounds(&topic), (0, 2));
        topic.append(at(OFFSETS_TOPIC_IDLE_MS + 1), &mut shown, &[commit("a", 3)]);
        assert_eq!((bounds(&topic), shown.is_none()), ((2, 2), true));
        topic.append(at(OFFSETS_TOPIC_IDLE_MS + 2), &mut shown, &[commit("a", 4)]);
        topic.show(at(OFFSETS_TOPIC_IDLE_MS + 3), 0, &mut shown, [commit("a", 4)].into_iter());
        assert_eq!(bounds(&topic), (2, 3));
    }

    #[test]
    fn memory_does_not_grow_with_commits() {
        let (topic, mut shown) = (topic(), None);
        topic.show(at(0), 0, &mut shown, std::iter::empty());
        let room = api::lock(&topic.topics).log.room();
        for offset in 0..60_000 {
            topic.append(at(0), &mut shown, &[commit("a", offset)]);
        }
        assert!(room - api::lock(&topic.topics).log.room() < 5 << 20);
        assert_eq!(bounds(&topic).1, 60_000);
    }

    #[test]
    fn a_partition_that_cannot_be_written_is_not_shown() {
        let (topic, mut shown) = (with_memory(1_000), None);
        let many = |count| (0..count).map(|n| commit(&n.to_string(), n));
        topic.show(at(0), 0, &mut shown, many(100));
        assert_eq!((bounds(&topic), shown.is_none()), ((0, 0), true));
        // As many partitions as there are shards may not be there.
        topic.show(at(0), 5, &mut shown, many(1));
        assert!(shown.is_none());
        let deleted = api::lock(&topic.topics).delete(TOPIC);
        assert!(deleted.is_ok() && topic.show(at(0), 0, &mut shown, many(1)).is_empty());
        assert!(shown.is_none());
    }
}
