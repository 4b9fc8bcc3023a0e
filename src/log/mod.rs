//! The records of all topics, in memory.
//!
//! Turns produced batches into offsets and fetches into batches; keeps producer state, the fetches that wait,
//! and fetch sessions. Without IO, clock, locks and randomness: time comes in as [`Now`], and whoever waits is
//! a [`ReplyTo`] that comes out of [`Log::take_ready`]. Knows nothing of groups, messages or error codes.
//! Source: Kafka's `UnifiedLog`, `ReplicaManager` and `DelayedFetch`.

mod batch;
mod build;
mod compact;
mod config;
mod error;
mod fetch_session;
mod partition;
mod producers;
mod record;
mod segment;
#[cfg(test)]
pub(crate) mod test_batch;
#[cfg(test)]
mod tests;
mod transaction;
mod validate;
mod waits;

use std::collections::BTreeMap;
use std::fmt;

pub use self::batch::{Incoming, check_first_frame, is_transactional};
pub use self::build::BatchBuilder;
pub use self::config::LogConfig;
pub use self::error::{LogError, RecordError, Rejection};
pub use self::fetch_session::{
    Answered, FetchContext, FetchParams, FetchPartition, FetchSessions, FetchTopic, Finished, SessionError,
    SessionRequest,
};
use self::partition::Partition;
pub use self::partition::{Appended, LEADER_EPOCH, Read, TimestampAndOffset, check_leader_epoch};
pub use self::transaction::{
    AbortedTransaction, Isolation, ProducerState, TransactionMarker, Unverified, Verified,
};
pub use self::waits::WaitPartition;
use self::waits::{Grown, Waits};
use crate::limits::{COMPACTED_BYTES_PER_TURN, FETCH_SESSION_PARTITIONS_MAX, LOG_BYTES_MAX};
use crate::types::{Millis, Now, ProducerIdAndEpoch, ReplyTo, TopicId, TopicName};

/// A partition of one topic; a topic that is created again under its name is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicIdPartition {
    pub topic: TopicId,
    /// From 0.
    pub partition: i32,
}

impl fmt::Display for TopicIdPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", uuid::Uuid::from(self.topic), self.partition)
    }
}

/// What the broker's configuration says to the log as a whole.
///
/// The default is that of a broker which is told nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// `log.retention.check.interval.ms`: how often old segments are looked for.
    pub retention_check_interval_ms: i64,
    /// `producer.id.expiration.ms`: how long an idle producer is remembered.
    pub producer_id_expiration_ms: i64,
    /// `producer.id.expiration.check.interval.ms`: how often idle producers are looked for.
    pub producer_check_interval_ms: i64,
    /// The memory that all partitions may take together, in bytes.
    pub bytes_max: usize,
    /// `max.incremental.fetch.session.cache.slots`: how many fetch sessions there may be.
    pub fetch_sessions_max: usize,
    /// Makes the ids of fetch sessions, so that they differ from those before a restart.
    pub seed: u64,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            retention_check_interval_ms: 300_000,
            producer_id_expiration_ms: 86_400_000,
            producer_check_interval_ms: 600_000,
            bytes_max: LOG_BYTES_MAX,
            fetch_sessions_max: 1000,
            seed: 0,
        }
    }
}

/// All partitions. See the module.
#[derive(Debug)]
pub struct Log {
    settings: LogSettings,
    /// What consumers said they read.
    pub sessions: FetchSessions,
    topics: BTreeMap<TopicId, TopicLog>,
    /// The memory that the partitions take.
    bytes: usize,
    waits: Waits,
    ready: Vec<ReplyTo>,
    next_retention_check: Millis,
    next_producer_check: Millis,
    /// Where compaction goes on, if it is not done, and since when it could have.
    compaction: Option<(TopicIdPartition, Millis)>,
}

#[derive(Debug)]
struct TopicLog {
    name: TopicName,
    config: LogConfig,
    partitions: Vec<Partition>,
}

impl Log {
    /// No topics yet.
    #[must_use]
    pub fn new(now: Now, settings: LogSettings) -> Self {
        Self {
            settings,
            sessions: FetchSessions::new(
                settings.fetch_sessions_max,
                FETCH_SESSION_PARTITIONS_MAX,
                settings.seed,
            ),
            topics: BTreeMap::new(),
            bytes: 0,
            waits: Waits::default(),
            ready: Vec::new(),
            next_retention_check: now.after(settings.retention_check_interval_ms),
            next_producer_check: now.after(settings.producer_check_interval_ms),
            compaction: None,
        }
    }

    /// Adds a topic with empty partitions 0 to `partitions` - 1. The id must be new.
    pub fn create_topic(&mut self, id: TopicId, name: TopicName, partitions: i32, config: LogConfig) {
        let topic = TopicLog { name, config, partitions: Vec::new() };
        let earlier = self.topics.insert(id, topic);
        assert!(earlier.is_none(), "topic ids are random, so this one cannot be taken");
        self.grow_topic(id, partitions);
    }

    /// Adds empty partitions until there are `partitions`.
    pub fn grow_topic(&mut self, id: TopicId, partitions: i32) {
        let Some(topic) = self.topics.get_mut(&id) else { return };
        let count = usize::try_from(partitions).unwrap_or(0).max(topic.partitions.len());
        topic.partitions.resize_with(count, Partition::default);
    }

    /// Takes a new configuration for what comes in from now on, and for the next retention check.
    pub fn configure_topic(&mut self, id: TopicId, config: LogConfig) {
        if let Some(topic) = self.topics.get_mut(&id) {
            topic.config = config;
        }
    }

    /// Forgets a topic and all its records. Whoever waits for one of its partitions is ready.
    pub fn delete_topic(&mut self, id: TopicId) {
        let Some(topic) = self.topics.remove(&id) else { return };
        for (partition, log) in (0..).zip(&topic.partitions) {
            self.bytes -= log.memory();
            self.waits.disturbed(TopicIdPartition { topic: id, partition }, &mut self.ready);
        }
    }

    /// Appends a client's batch that is not part of a transaction, or of one that is known to be open here.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`, and all that a batch can be refused for.
    pub fn append(
        &mut self,
        now: Now,
        partition: TopicIdPartition,
        batch: &Incoming<'_>,
    ) -> Result<Appended, LogError> {
        self.append_verified(now, partition, batch, Verified::No)
    }

    /// Appends a client's batch. The coordinator's word must be given without letting go of the log in between:
    /// otherwise the transaction may end before the batch is there, which would then be open for ever.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`, and all that a batch can be refused for.
    pub fn append_verified(
        &mut self,
        now: Now,
        partition: TopicIdPartition,
        batch: &Incoming<'_>,
        verified: Verified,
    ) -> Result<Appended, LogError> {
        let room = self.room();
        self.change(partition, |log, config, place| log.append(now, batch, config, place, room, verified))
    }

    /// Whether the coordinator has to be asked about a batch of a transaction before it is appended.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`, `InvalidProducerEpoch`.
    pub fn needs_verification(
        &self,
        partition: TopicIdPartition,
        producer: ProducerIdAndEpoch,
    ) -> Result<bool, LogError> {
        self.partition(partition)?.needs_verification(producer)
    }

    /// The coordinator is asked about a batch: until something is appended, nothing behind this batch is.
    pub fn begin_verification(&mut self, now: Now, partition: TopicIdPartition, batch: &Unverified) {
        let room = self.room();
        let noted = self.change(partition, |log, _, _| {
            log.begin_verification(batch, now.wall, room);
            Ok(())
        });
        // A partition that is gone has nothing to wait for.
        drop(noted);
    }

    /// Ends the transaction of a producer in one partition. May be done again.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`, `InvalidProducerEpoch`, `TransactionCoordinatorFenced`.
    pub fn end_transaction(
        &mut self,
        now: Now,
        partition: TopicIdPartition,
        marker: &TransactionMarker,
    ) -> Result<(), LogError> {
        let room = self.room();
        self.change(partition, |log, config, _| log.end_transaction(now, marker, config, room))
    }

    /// Changes a partition, counts the memory it takes then, and wakes those who wait for what has come.
    fn change<R>(
        &mut self,
        partition: TopicIdPartition,
        change: impl FnOnce(&mut Partition, &LogConfig, Place<'_>) -> Result<R, LogError>,
    ) -> Result<R, LogError> {
        let topic = self.topics.get_mut(&partition.topic).ok_or(LogError::UnknownTopicOrPartition)?;
        let TopicLog { name, config, partitions } = topic;
        let log = at_mut(partitions, partition.partition)?;
        let place = Place { topic: name, partition: partition.partition };
        let (memory, end, stable) = (log.memory(), log.high_watermark(), log.last_stable_offset());
        let changed = change(log, config, place)?;
        self.bytes = self.bytes - memory + log.memory();
        let grown = Grown {
            bytes: log.bytes_from(end, Isolation::ReadUncommitted)?,
            stable_bytes: log.bytes_from(stable, Isolation::ReadCommitted)?,
        };
        if grown.bytes > 0 {
            self.waits.appended(partition, grown, &mut self.ready);
        }
        Ok(changed)
    }

    /// Reads whole batches from the one that holds `offset` on, at most `bytes_max`; with `min_one` the first
    /// one even if it is larger. What is before `offset` in that batch comes with it.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`, `OffsetOutOfRange`.
    pub fn read(
        &self,
        partition: TopicIdPartition,
        offset: i64,
        bytes_max: usize,
        min_one: bool,
        isolation: Isolation,
    ) -> Result<Read, LogError> {
        self.partition(partition)?.read(offset, bytes_max, min_one, isolation)
    }

    /// How many bytes there are to read from `offset` on.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`, `OffsetOutOfRange`.
    pub fn bytes_from(
        &self,
        partition: TopicIdPartition,
        offset: i64,
        isolation: Isolation,
    ) -> Result<usize, LogError> {
        self.partition(partition)?.bytes_from(offset, isolation)
    }

    /// What is known of the producers of a partition, by id.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`.
    pub fn producers(
        &self,
        partition: TopicIdPartition,
    ) -> Result<impl Iterator<Item = ProducerState>, LogError> {
        Ok(self.partition(partition)?.producers())
    }

    /// The memory that may still be taken, in bytes.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.settings.bytes_max.saturating_sub(self.bytes)
    }

    /// The memory that all partitions may take together, in bytes.
    #[must_use]
    pub const fn bytes_max(&self) -> usize {
        self.settings.bytes_max
    }

    /// The offset of the first record there is, or will be.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`.
    pub fn log_start_offset(&self, partition: TopicIdPartition) -> Result<i64, LogError> {
        Ok(self.partition(partition)?.log_start_offset())
    }

    /// Where a reader has to stop: at the high watermark, or before the first open transaction.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`.
    pub fn end_for(&self, partition: TopicIdPartition, isolation: Isolation) -> Result<i64, LogError> {
        Ok(self.partition(partition)?.end_for(isolation))
    }

    /// The offset of the next record, which is also what consumers see as the end: there is one broker.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`.
    pub fn high_watermark(&self, partition: TopicIdPartition) -> Result<i64, LogError> {
        Ok(self.partition(partition)?.high_watermark())
    }

    /// The first record with `timestamp` or a later one.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`.
    pub fn offset_for_time(
        &self,
        partition: TopicIdPartition,
        timestamp: i64,
    ) -> Result<Option<TimestampAndOffset>, LogError> {
        Ok(self.partition(partition)?.offset_for_time(timestamp))
    }

    /// The first record with the largest timestamp.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`.
    pub fn offset_of_max_timestamp(
        &self,
        partition: TopicIdPartition,
    ) -> Result<Option<TimestampAndOffset>, LogError> {
        Ok(self.partition(partition)?.offset_of_max_timestamp())
    }

    /// Moves the first offset up to `offset`; `None` is the high watermark. Returns the first offset
    /// (DeleteRecords). Whoever waits for the partition is ready.
    ///
    /// # Errors
    /// `UnknownTopicOrPartition`, `OffsetOutOfRange`, `PolicyViolation` unless the topic's policy is `delete`.
    pub fn delete_records(
        &mut self,
        partition: TopicIdPartition,
        offset: Option<i64>,
    ) -> Result<i64, LogError> {
        let topic = self.topics.get_mut(&partition.topic).ok_or(LogError::UnknownTopicOrPartition)?;
        let log = at_mut(&mut topic.partitions, partition.partition)?;
        if !topic.config.delete {
            return Err(LogError::PolicyViolation(
                "The topic's cleanup.policy keeps all records.".to_owned(),
            ));
        }
        let before = log.memory();
        let log_start_offset = log.delete_records(offset)?;
        self.bytes = self.bytes - before + log.memory();
        self.waits.disturbed(partition, &mut self.ready);
        Ok(log_start_offset)
    }

    /// Lets `from` wait until there are `min_bytes` for it, something happens to one of the partitions, or
    /// `deadline` comes. One token waits once.
    pub fn park(
        &mut self,
        from: ReplyTo,
        deadline: Millis,
        min_bytes: usize,
        partitions: impl IntoIterator<Item = WaitPartition>,
    ) {
        self.waits.park(from, deadline, min_bytes, partitions);
    }

    /// Forgets that `from` waits, if it does: its connection is gone.
    pub fn cancel(&mut self, from: ReplyTo) {
        self.waits.cancel(from);
        self.ready.retain(|ready| *ready != from);
    }

    /// Those whose wait is over since the last call. To be called after each call that changes the log.
    #[must_use]
    pub fn take_ready(&mut self) -> Vec<ReplyTo> {
        std::mem::take(&mut self.ready)
    }

    /// Remembers idle producers for so many milliseconds from now on (`producer.id.expiration.ms`).
    pub fn expire_producers_after(&mut self, expiration_ms: i64) {
        self.settings.producer_id_expiration_ms = expiration_ms;
    }

    /// Ends the waits that are due, and drops old segments, idle producers and what compaction leaves out if it is time to
    /// look for them. Compaction stops after [`COMPACTED_BYTES_PER_TURN`] and goes on at the next call.
    pub fn advance(&mut self, now: Now) {
        self.waits.advance(now.monotonic, &mut self.ready);
        if self.next_retention_check <= now.monotonic {
            self.next_retention_check = now.after(self.settings.retention_check_interval_ms);
            self.retain(now.wall);
            let first = TopicIdPartition { topic: TopicId(0), partition: 0 };
            self.compaction = Some((first, now.monotonic));
        }
        self.compact(now);
        if self.next_producer_check <= now.monotonic {
            self.next_producer_check = now.after(self.settings.producer_check_interval_ms);
            let expiration_ms = self.settings.producer_id_expiration_ms;
            self.for_each_partition(|log, _| log.expire_producers(now.wall, expiration_ms));
        }
    }

    /// When to call [`advance`](Self::advance) next. May change after each call that changes the log.
    #[must_use]
    pub fn next_deadline(&self) -> Millis {
        let check = self.next_retention_check.min(self.next_producer_check);
        let check = self.compaction.map_or(check, |(_, since)| since.min(check));
        self.waits.next_deadline().map_or(check, |deadline| deadline.min(check))
    }

    /// Goes on compacting.
    fn compact(&mut self, now: Now) {
        let mut bytes_left = COMPACTED_BYTES_PER_TURN;
        while let Some((from, _)) = self.compaction {
            let Some((&id, topic)) = self.topics.range_mut(from.topic..).next() else {
                self.compaction = None;
                return;
            };
            let first = if id == from.topic { usize::try_from(from.partition).unwrap_or(0) } else { 0 };
            for (partition, log) in (0..).zip(&mut topic.partitions).skip(first) {
                if bytes_left == 0 {
                    self.compaction = Some((TopicIdPartition { topic: id, partition }, now.monotonic));
                    return;
                }
                self.bytes -= log.memory();
                bytes_left = bytes_left.saturating_sub(log.compact(now.wall, &topic.config));
                self.bytes += log.memory();
            }
            let next = id.0.checked_add(1).map(|id| TopicIdPartition { topic: TopicId(id), partition: 0 });
            self.compaction = next.map(|next| (next, now.monotonic));
        }
    }

    /// Compacts a partition of the broker's own as soon as it pays, so that its memory follows what it says.
    pub fn compact_early(&mut self, now: Now, partition: TopicIdPartition) {
        let Some(topic) = self.topics.get_mut(&partition.topic) else { return };
        let Ok(log) = at_mut(&mut topic.partitions, partition.partition) else { return };
        self.bytes -= log.memory();
        log.compact_early(now.wall, &topic.config);
        self.bytes += log.memory();
    }

    /// Drops all records of a partition of the broker's own; offsets go on. Whoever waits for it is ready.
    pub fn clear(&mut self, partition: TopicIdPartition) {
        let Some(topic) = self.topics.get_mut(&partition.topic) else { return };
        let Ok(log) = at_mut(&mut topic.partitions, partition.partition) else { return };
        self.bytes -= log.memory();
        log.delete_records(None).expect("the end of the log is one of its offsets");
        self.bytes += log.memory();
        self.waits.disturbed(partition, &mut self.ready);
    }

    fn retain(&mut self, wall: Millis) {
        self.for_each_partition(|log, config| log.retain(wall, config));
    }

    /// Visits all partitions and keeps count of the memory they take.
    fn for_each_partition(&mut self, mut change: impl FnMut(&mut Partition, &LogConfig)) {
        for topic in self.topics.values_mut() {
            for log in &mut topic.partitions {
                self.bytes -= log.memory();
                change(log, &topic.config);
                self.bytes += log.memory();
            }
        }
    }

    fn partition(&self, partition: TopicIdPartition) -> Result<&Partition, LogError> {
        let topic = self.topics.get(&partition.topic).ok_or(LogError::UnknownTopicOrPartition)?;
        let index = usize::try_from(partition.partition).map_err(|_| LogError::UnknownTopicOrPartition)?;
        topic.partitions.get(index).ok_or(LogError::UnknownTopicOrPartition)
    }
}

fn at_mut(partitions: &mut [Partition], index: i32) -> Result<&mut Partition, LogError> {
    let index = usize::try_from(index).map_err(|_| LogError::UnknownTopicOrPartition)?;
    partitions.get_mut(index).ok_or(LogError::UnknownTopicOrPartition)
}

/// A partition as Kafka's texts name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    topic: &'a TopicName,
    partition: i32,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}
