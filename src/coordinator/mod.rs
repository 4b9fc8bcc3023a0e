//! The core: `(now, command) → records, replies, events`. No IO, no clock, no entropy, no thread.
//!
//! One [`Coordinator`] is one shard, a partition of `__consumer_offsets`. The shell hands it commands and the
//! time, appends the records, delivers the replies, and calls [`Coordinator::advance`] at
//! [`Coordinator::next_deadline`].
//!
//! Hard state is what the records say: it is changed by `apply` alone, live and on load. Soft state (who is
//! parked, timers, who has joined so far) may be lost on a reload; members rejoin. As in Kafka a classic group is
//! live as soft state, and its GroupMetadata record is a picture of it at the end of a rebalance; committed
//! offsets are hard.

pub mod command;
pub mod consumer_event;
pub mod error;
pub mod event;
pub mod job;
pub mod migrate;
pub mod partition_for;
pub mod record;
pub mod reply;

mod classic;
mod consumer;
mod consumer_protocol;
mod group;
mod offsets;
mod texts;
mod timer;
mod vec_map;
mod weight;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use classic::ClassicGroup;
use command::{Command, ConsumerSettings, Heartbeat, JoinGroup, LeaveGroup, SyncGroup};
use consumer::ConsumerGroup;
use error::{GroupError, Refusal};
use event::Event;
use group::{Group, Kind};
use job::Job;
use migrate::MigrationPolicy;
use record::Record;
use reply::{
    CommittedOffset, ConsumerGroupDescription, DescribedGroup, JoinReply, ListedGroup, Reply, TopicOffsets,
};
use texts::Texts;
use timer::{TimerKey, Timers};

use crate::assignor::{PartitionAssignor, UniformAssignor, broker_assignors};
use crate::types::{GroupId, MemberId, Millis, NoTopics, Now, ReplyTo, TopicImage, TopicName};

/// What a shard has to know of the configuration.
#[derive(Clone, Debug)]
pub struct GroupConfig {
    /// `group.min.session.timeout.ms`.
    pub session_timeout_min_ms: i32,
    /// `group.max.session.timeout.ms`.
    pub session_timeout_max_ms: i32,
    /// `group.initial.rebalance.delay.ms`.
    pub initial_rebalance_delay_ms: i64,
    /// How long a new member may wait for the end of its first join phase; fixed in Kafka.
    pub new_member_join_timeout_ms: i64,
    /// `group.max.size`.
    pub group_max_size: usize,
    /// `offset.metadata.max.bytes`; Kafka counts UTF-16 units.
    pub offset_metadata_max: usize,
    /// `offsets.retention.minutes`, in milliseconds.
    pub offsets_retention_ms: i64,
    /// `offsets.retention.check.interval.ms`.
    pub offsets_retention_check_interval_ms: i64,
    /// Bytes that a record of `__consumer_offsets` may have (`message.max.bytes`).
    pub record_bytes_max: usize,
    /// Bytes that the groups may take beyond those they do.
    pub bytes_left: usize,
    /// Consumer groups.
    pub consumer: ConsumerConfig,
}

/// What a shard has to know of the configuration of consumer groups.
#[derive(Clone, Debug)]
pub struct ConsumerConfig {
    /// `group.consumer.max.size`.
    pub members_max: usize,
    /// `group.consumer.assignors`, at least one; the first is the default.
    pub assignors: Arc<[Arc<dyn PartitionAssignor>]>,
    /// `group.consumer.migration.policy`.
    pub migration_policy: MigrationPolicy,
    /// `group.consumer.regex.refresh.interval.ms`.
    pub regex_refresh_interval_ms: i64,
    /// What holds for a group after a load, until a request says what its own configs are.
    pub settings: ConsumerSettings,
}

impl ConsumerConfig {
    /// The assignor with this name, or the default.
    fn assignor(&self, name: Option<&str>) -> Arc<dyn PartitionAssignor> {
        let named = name.and_then(|name| self.assignors.iter().find(|assignor| assignor.name() == name));
        named.or(self.assignors.first()).cloned().unwrap_or_else(|| Arc::new(UniformAssignor))
    }
}

impl Default for ConsumerConfig {
    /// Kafka's defaults.
    fn default() -> Self {
        Self {
            members_max: i32::MAX as usize,
            assignors: broker_assignors().into(),
            migration_policy: MigrationPolicy::Bidirectional,
            regex_refresh_interval_ms: 600_000,
            settings: ConsumerSettings::default(),
        }
    }
}

impl Default for GroupConfig {
    /// Kafka's defaults, but for the initial rebalance delay, which is that of Kafka's development configuration.
    fn default() -> Self {
        Self {
            session_timeout_min_ms: 6_000,
            session_timeout_max_ms: 1_800_000,
            initial_rebalance_delay_ms: 0,
            new_member_join_timeout_ms: 300_000,
            group_max_size: i32::MAX as usize,
            offset_metadata_max: 4_096,
            offsets_retention_ms: 7 * 24 * 3_600 * 1_000,
            offsets_retention_check_interval_ms: 600_000,
            record_bytes_max: 1_048_588,
            bytes_left: usize::MAX,
            consumer: ConsumerConfig::default(),
        }
    }
}

/// What one call brought about: a sink that the caller reuses.
#[derive(Debug, Default)]
pub struct Step {
    /// To append, in this order.
    pub records: Vec<Record>,
    /// To deliver, once the records before them are durable.
    pub replies: Vec<(ReplyTo, Reply)>,
    /// What happened and why.
    pub events: Vec<Event>,
    /// To do aside; what comes of it is submitted.
    pub jobs: Vec<Job>,
}

impl Step {
    /// Makes room for the next call and keeps the buffers.
    pub fn clear(&mut self) {
        self.records.clear();
        self.replies.clear();
        self.events.clear();
        self.jobs.clear();
    }
}

/// What the parts of the core share during one call.
#[derive(Debug)]
struct Turn<'a> {
    now: Now,
    config: &'a GroupConfig,
    timers: &'a mut Timers,
    texts: &'a mut Texts,
    step: &'a mut Step,
}

impl Turn<'_> {
    fn reply(&mut self, to: ReplyTo, reply: Reply) {
        self.step.replies.push((to, reply));
    }
}

/// One shard: the groups whose ids hash to one partition of `__consumer_offsets`.
#[derive(Clone, Debug)]
pub struct Coordinator {
    config: GroupConfig,
    groups: BTreeMap<GroupId, Box<Group>>,
    timers: Timers,
    texts: Texts,
    /// The sum of what the groups were last weighed with.
    bytes: usize,
    topics: Arc<dyn TopicImage>,
    /// Producer → the groups in which its open transaction has offsets.
    open_transactions: BTreeMap<i64, BTreeSet<GroupId>>,
}

impl Coordinator {
    /// An empty shard.
    #[must_use]
    pub fn new(config: GroupConfig, now: Now) -> Self {
        let mut timers = Timers::default();
        let first_check = now.after(config.offsets_retention_check_interval_ms.max(1));
        timers.insert(first_check, TimerKey::OffsetRetention);
        let groups = BTreeMap::new();
        Self {
            config,
            groups,
            timers,
            texts: Texts::default(),
            bytes: 0,
            topics: Arc::new(NoTopics),
            open_transactions: BTreeMap::new(),
        }
    }

    /// The shard that these records, in the order they were appended, give back. Sessions begin anew at `now`.
    #[must_use]
    pub fn load<'a>(config: GroupConfig, now: Now, records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut shard = Self::new(config, now);
        for record in records {
            shard.apply(now, record);
        }
        let mut step = Step::default();
        let Self { config, groups, timers, texts, .. } = &mut shard;
        let mut turn = Turn { now, config, timers, texts, step: &mut step };
        for group in groups.values_mut() {
            group.resume(&mut turn);
        }
        shard.weigh_all();
        shard
    }

    /// Decides one command. What it produces goes into `step`; exactly one reply for `from` is among it unless
    /// the command is parked. Timers that are due at `now` fire first.
    pub fn submit(&mut self, now: Now, from: ReplyTo, command: Command<'_>, step: &mut Step) {
        self.advance(now, step);
        let group = command.group();
        match command {
            Command::JoinGroup(join) => self.join(now, from, &join, step),
            Command::SyncGroup(sync) => self.sync(now, from, &sync, step),
            Command::Heartbeat(heartbeat) => {
                let outcome = self.heartbeat(now, &heartbeat, step);
                step.replies.push((from, Reply::Heartbeat(outcome)));
            }
            Command::LeaveGroup(leave) => {
                let outcomes = self.leave(now, &leave, step);
                step.replies.push((from, Reply::LeaveGroup(outcomes)));
            }
            Command::OffsetCommit(commit) => {
                let outcome = self.commit_offsets(now, &commit, step);
                step.replies.push((from, Reply::OffsetCommit(outcome)));
            }
            Command::OffsetDelete(delete) => {
                let outcome = self.delete_offsets(&delete, step);
                step.replies.push((from, Reply::OffsetDelete(outcome)));
            }
            Command::DeleteGroup(delete) => {
                let outcome = self.delete_group(now, delete.group, step);
                step.replies.push((from, Reply::DeleteGroup(outcome)));
            }
            Command::ConsumerGroupHeartbeat(heartbeat) => {
                let outcome = self.consumer_group_heartbeat(now, &heartbeat, step);
                step.replies.push((from, Reply::ConsumerGroupHeartbeat(outcome)));
            }
            Command::RegexesResolved(resolved) => {
                let group = resolved.group.clone();
                self.regexes_resolved(now, resolved, step);
                self.weigh(group.as_str());
                step.replies.push((from, Reply::RegexesResolved));
            }
            Command::TopicsChanged(topics) => {
                self.topics = topics;
                step.replies.push((from, Reply::TopicsChanged));
            }
            Command::EndTransaction(end) => {
                self.end_transaction(end.producer_id, end.committed, step);
                step.replies.push((from, Reply::EndTransaction));
            }
            Command::TopicsDeleted(topics) => {
                self.delete_topics(topics, step);
                step.replies.push((from, Reply::TopicsDeleted));
            }
        }
        if let Some(group) = group {
            self.weigh(group);
        }
        // An initial delay of 0, or a rebalance timeout of 0, is over at once.
        self.advance(now, step);
    }

    /// Fires every timer due at `now`, in deadline then key order.
    pub fn advance(&mut self, now: Now, step: &mut Step) {
        while let Some(key) = self.timers.pop_due(now.monotonic) {
            match key {
                TimerKey::Rebalance(group) => {
                    self.with_classic_group(now, group.as_str(), step, |group, turn| {
                        group.rebalance_timer_fired(turn);
                    });
                    self.weigh(group.as_str());
                }
                TimerKey::Session(group, member) => {
                    let is_classic = self.with_classic_group(now, group.as_str(), step, |group, turn| {
                        group.session_timer_fired(turn, &member);
                    });
                    if is_classic.is_none() {
                        self.consumer_session_fired(now, &group, &member, step);
                    }
                    self.weigh(group.as_str());
                }
                TimerKey::Member(group, member, timeout) => {
                    self.consumer_timeout_fired(now, &group, &member, timeout, step);
                    self.weigh(group.as_str());
                }
                TimerKey::OffsetRetention => self.expire_offsets(now, step),
            }
        }
    }

    /// When to call [`advance`](Self::advance) next. May change after each call.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        self.timers.next_deadline()
    }

    /// The records that give this state back, by group, the group's own before its offsets.
    pub fn snapshot(&self) -> impl Iterator<Item = Record> + '_ {
        let of_group = |id: &GroupId, group: &Group| {
            let offsets = group.offsets.snapshot(id);
            group.snapshot(id).into_iter().chain(offsets).collect::<Vec<_>>()
        };
        self.groups.iter().flat_map(move |(id, group)| of_group(id, group))
    }

    /// What to answer everybody who is parked, if the shard goes before their time comes.
    #[must_use]
    pub fn parked(&self, error: GroupError) -> Vec<(ReplyTo, Reply)> {
        self.groups.values().flat_map(|group| group.parked(error)).collect()
    }

    /// All groups, in the order of their ids.
    pub fn list(&self) -> impl Iterator<Item = ListedGroup<'_>> + '_ {
        self.groups.values().map(|group| group.listed())
    }

    /// A classic group as DescribeGroups shows it.
    ///
    /// # Errors
    /// `GroupIdNotFound`.
    pub fn describe(&self, group: &str) -> Result<DescribedGroup, Refusal> {
        match self.groups.get(group).map(|found| &found.kind) {
            Some(Kind::Classic(classic)) => Ok(classic.described()),
            Some(Kind::Consumer(_)) => {
                Err(migrate::not_found(format!("Group {group} is not a classic group.")))
            }
            None => Err(migrate::not_found(format!("Group {group} not found."))),
        }
    }

    /// A consumer group as ConsumerGroupDescribe shows it.
    ///
    /// # Errors
    /// `GroupIdNotFound`.
    pub fn describe_consumer_group(&self, group: &str) -> Result<ConsumerGroupDescription, Refusal> {
        let found = self.existing_consumer_group(group)?;
        Ok(found.described(self.config.consumer.assignor(None).name()))
    }

    /// The topics as the groups know them.
    #[must_use]
    pub fn topics(&self) -> &dyn TopicImage {
        &*self.topics
    }

    /// Whether the offsets of a group may be shown to a member at its epoch, or to an admin client (None, -1).
    ///
    /// # Errors
    /// `UnknownMemberId`, `StaleMemberEpoch`, `IllegalGeneration` from a consumer group.
    pub fn admit_offset_fetch(
        &self,
        group: &str,
        member: Option<&str>,
        epoch: i32,
    ) -> Result<(), GroupError> {
        match self.groups.get(group).map(|found| &found.kind) {
            Some(Kind::Consumer(consumer)) => consumer.admit_fetch(member, epoch),
            Some(Kind::Classic(_)) | None => Ok(()),
        }
    }

    /// What is committed for one partition.
    #[must_use]
    pub fn committed(&self, group: &str, topic: &str, partition: i32) -> Option<&CommittedOffset> {
        self.groups.get(group)?.offsets.get(topic, partition)
    }

    /// Whether an open transaction has an offset for the partition, so that what is committed may change at any time.
    #[must_use]
    pub fn is_unstable(&self, group: &str, topic: &str, partition: i32) -> bool {
        self.groups.get(group).is_some_and(|group| group.offsets.is_pending(topic, partition))
    }

    /// Everything that is committed in a group, by topic name and partition.
    pub fn all_committed(&self, group: &str) -> impl Iterator<Item = TopicOffsets<'_>> {
        self.groups.get(group).into_iter().flat_map(|group| group.offsets.iter())
    }

    /// When the join phase of a group times out; None outside of one.
    #[must_use]
    pub fn join_deadline(&self, group: &str) -> Option<Millis> {
        match &self.groups.get(group)?.kind {
            Kind::Classic(classic) => classic.join_deadline(),
            Kind::Consumer(_) => None,
        }
    }

    fn join(&mut self, now: Now, from: ReplyTo, join: &JoinGroup<'_>, step: &mut Step) {
        let member = join.member.map(MemberId::from);
        let refuse = |step: &mut Step, error| {
            let reply = JoinReply { member: member.clone(), outcome: Err(error) };
            step.replies.push((from, Reply::JoinGroup(Box::new(reply))));
        };
        let bounds = self.config.session_timeout_min_ms..=self.config.session_timeout_max_ms;
        if !bounds.contains(&join.session_timeout_ms) {
            return refuse(step, GroupError::InvalidSessionTimeout);
        }
        let is_new = !self.groups.contains_key(join.group);
        match self.groups.get(join.group).map(|found| &found.kind) {
            Some(Kind::Consumer(consumer)) if !consumer.is_empty() => {
                return self.join_consumer_group(now, from, join, step);
            }
            // Differs from Kafka, which forgets an empty consumer group when a member id is sent to it.
            Some(Kind::Consumer(_)) | None if member.is_some() => {
                return refuse(step, GroupError::UnknownMemberId);
            }
            Some(Kind::Consumer(_)) => self.make_classic(now, join.group, step),
            Some(Kind::Classic(_)) => {}
            None => {
                let id = GroupId::from(join.group);
                let group = Box::new(Group::classic(id.clone(), now));
                if group.bytes() + join.bytes() > self.config.bytes_left {
                    return refuse(step, GroupError::GroupMaxSizeReached);
                }
                self.groups.insert(id, group);
            }
        }
        self.with_classic_group(now, join.group, step, |group, turn| {
            if is_new {
                group.write(turn);
            }
            group.join(turn, from, join);
        });
    }

    fn sync(&mut self, now: Now, from: ReplyTo, sync: &SyncGroup<'_>, step: &mut Step) {
        let is_classic =
            self.with_classic_group(now, sync.group, step, |group, turn| group.sync(turn, from, sync));
        if is_classic.is_some() {
            return;
        }
        let topics = Arc::clone(&self.topics);
        let outcome =
            self.with_consumer_group(now, sync.group, step, |group, turn| group.sync(turn, &*topics, sync));
        let outcome = outcome.unwrap_or(Err(GroupError::UnknownMemberId));
        step.replies.push((from, Reply::SyncGroup(outcome)));
    }

    fn heartbeat(&mut self, now: Now, heartbeat: &Heartbeat<'_>, step: &mut Step) -> Result<(), GroupError> {
        let group = heartbeat.group;
        self.with_classic_group(now, group, step, |group, turn| group.heartbeat(turn, heartbeat))
            .or_else(|| {
                self.with_consumer_group(now, group, step, |group, turn| {
                    group.classic_heartbeat(turn, heartbeat)
                })
            })
            .unwrap_or(Err(GroupError::UnknownMemberId))
    }

    fn leave(
        &mut self,
        now: Now,
        leave: &LeaveGroup<'_>,
        step: &mut Step,
    ) -> Result<Vec<Result<(), GroupError>>, GroupError> {
        let found = self.groups.get(leave.group).ok_or(GroupError::UnknownMemberId)?;
        if matches!(found.kind, Kind::Consumer(_)) {
            return Ok(self.leave_consumer_group(now, leave, step));
        }
        self.with_classic_group(now, leave.group, step, |group, turn| group.leave(turn, leave))
            .ok_or(GroupError::UnknownMemberId)
    }

    fn with_classic_group<R>(
        &mut self,
        now: Now,
        group: &str,
        step: &mut Step,
        act: impl FnOnce(&mut ClassicGroup, &mut Turn<'_>) -> R,
    ) -> Option<R> {
        let Self { config, groups, timers, texts, .. } = self;
        let group = groups.get_mut(group)?.classic_mut()?;
        let mut turn = Turn { now, config, timers, texts, step };
        Some(act(group, &mut turn))
    }

    fn with_consumer_group<R>(
        &mut self,
        now: Now,
        group: &str,
        step: &mut Step,
        act: impl FnOnce(&mut ConsumerGroup, &mut Turn<'_>) -> R,
    ) -> Option<R> {
        let Self { config, groups, timers, texts, .. } = self;
        let group = groups.get_mut(group)?.consumer_mut()?;
        let mut turn = Turn { now, config, timers, texts, step };
        Some(act(group, &mut turn))
    }

    fn emit_all(&mut self, records: Vec<Record>, step: &mut Step) {
        for record in records {
            self.emit(record, step);
        }
    }

    /// Applies a record and hands it out to be appended.
    fn emit(&mut self, record: Record, step: &mut Step) {
        match &record {
            Record::OffsetCommit { group, topic, partition, value } => {
                self.apply_offset(group, topic, *partition, value.as_ref());
            }
            Record::TxnOffsetCommit { group, topic, partition, producer_id, value } => {
                self.apply_txn_offset(group, topic, *partition, *producer_id, value);
            }
            _ => {}
        }
        step.records.push(record);
    }

    /// Changes hard state as a record says.
    fn apply(&mut self, now: Now, record: &Record) {
        match record {
            Record::OffsetCommit { group, topic, partition, value } => {
                if value.is_some() && !self.groups.contains_key(group.as_str()) {
                    self.groups.insert(group.clone(), Box::new(Group::classic(group.clone(), now)));
                }
                self.apply_offset(group, topic, *partition, value.as_ref());
            }
            Record::TxnOffsetCommit { group, topic, partition, producer_id, value } => {
                self.place(now, group);
                self.apply_txn_offset(group, topic, *partition, *producer_id, value);
            }
            Record::EndTxnMarker { producer_id, committed } => {
                self.apply_transaction_end(*producer_id, *committed);
            }
            Record::GroupMetadata { group, value: None } => self.forget(now, group),
            Record::GroupMetadata { group, value: Some(value) } => {
                let kind = Kind::Classic(ClassicGroup::from_record(group, value, now, &mut self.texts));
                self.place(now, group).kind = kind;
            }
            Record::ConsumerGroupMetadata { group, .. }
            | Record::ConsumerGroupMemberMetadata { group, .. }
            | Record::ConsumerGroupTargetAssignmentMetadata { group, .. }
            | Record::ConsumerGroupTargetAssignmentMember { group, .. }
            | Record::ConsumerGroupCurrentMemberAssignment { group, .. }
            | Record::ConsumerGroupRegularExpression { group, .. } => {
                self.apply_to_consumer_group(now, group, record)
            }
        }
    }

    fn apply_to_consumer_group(&mut self, now: Now, group: &GroupId, record: &Record) {
        let place = self.place(now, group);
        if place.consumer_mut().is_none() {
            place.kind = Kind::Consumer(ConsumerGroup::new(group.clone()));
        }
        let is_there = place.consumer_mut().is_some_and(|consumer| consumer.apply(record));
        if !is_there {
            self.forget(now, group);
        }
    }

    fn place(&mut self, now: Now, group: &GroupId) -> &mut Group {
        self.groups.entry(group.clone()).or_insert_with(|| Box::new(Group::classic(group.clone(), now)))
    }

    /// Ends a group; offsets that were not ended with it stay, as in a group that only stores them.
    fn forget(&mut self, now: Now, group: &GroupId) {
        let Some(found) = self.groups.get_mut(group.as_str()) else { return };
        if found.offsets.is_empty() {
            self.groups.remove(group.as_str());
        } else {
            found.kind = Kind::Classic(ClassicGroup::new(group.clone(), now.wall.0));
        }
    }

    fn apply_offset(
        &mut self,
        group: &GroupId,
        topic: &TopicName,
        partition: i32,
        value: Option<&CommittedOffset>,
    ) {
        let Some(group) = self.groups.get_mut(group.as_str()) else { return };
        match value {
            Some(value) => group.offsets.put(topic, partition, value.clone()),
            None => group.offsets.remove(topic.as_str(), partition),
        }
    }

    fn apply_txn_offset(
        &mut self,
        group: &GroupId,
        topic: &TopicName,
        partition: i32,
        producer_id: i64,
        value: &CommittedOffset,
    ) {
        let Some(found) = self.groups.get_mut(group.as_str()) else { return };
        found.offsets.put_pending(topic, partition, producer_id, value.clone());
        self.open_transactions.entry(producer_id).or_default().insert(group.clone());
    }
}
