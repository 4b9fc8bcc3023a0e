//! The coordinators, sharded as `__consumer_offsets` is partitioned, each behind a lock that is held for one decision.
//!
//! The task of a connection takes the lock itself: another task would cost two wake-ups a request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use kafka_protocol::ResponseError;
use tokio::task;

use super::clock::Clock;
use super::complaints::Chronicle;
use super::directory::Directory;
use super::jobs::{self, Jobs};
use super::offsets_topic::{OffsetsTopic, Shown};
use crate::api::{self, Delivery, Groups, Submitted, Wakeups};
use crate::assignor::PartitionAssignor;
use crate::config::Config;
use crate::coordinator::command::{Command, ConsumerSettings, EndTransaction};
use crate::coordinator::error::GroupError;
use crate::coordinator::event::Event;
use crate::coordinator::job::Job;
use crate::coordinator::migrate::MigrationPolicy;
use crate::coordinator::partition_for::partition_for;
use crate::coordinator::reply::Reply;
use crate::coordinator::{ConsumerConfig, Coordinator, GroupConfig, Step};
use crate::limits::{GROUP_MEMBERS_MAX, STEP_RECORDS_KEPT};
use crate::topics::{LatestImage, Topics};
use crate::types::{Millis, Now, ReplyTo, TopicName};

/// All shards. Each is active from the start: memory has nothing to load.
#[derive(Debug)]
pub(super) struct Shards {
    shards: Box<[Shard]>,
    clock: Arc<Clock>,
    directory: Arc<Directory>,
    chronicle: Chronicle,
    /// What the groups of all shards take, in bytes.
    bytes: AtomicUsize,
    /// `rallypoint.groups.max.bytes`.
    bytes_max: usize,
    topics: Arc<LatestImage>,
    jobs: Jobs,
    offsets_topic: OffsetsTopic,
    /// Where the result of what is done aside goes.
    own: Weak<Self>,
}

#[derive(Debug)]
struct Shard {
    state: Mutex<State>,
    /// The deadline that the clock was told of.
    announced: AtomicI64,
}

#[derive(Debug)]
struct State {
    config: GroupConfig,
    coordinator: Coordinator,
    step: Step,
    /// What `__consumer_offsets` shows of it, if somebody reads that.
    shown: Option<Shown>,
}

/// What is left to do of a step once the lock is released.
#[derive(Debug)]
struct Aftermath {
    replies: Vec<(ReplyTo, Reply)>,
    events: Vec<Event>,
    jobs: Vec<Job>,
    /// Whose fetch of `__consumer_offsets` may be answered now.
    readers: Vec<ReplyTo>,
}

/// Nobody: connections are counted from 1.
const NOBODY: ReplyTo = ReplyTo(0);

impl Shards {
    /// Empty ones, as many as `offsets.topic.num.partitions`.
    pub(super) fn new(
        config: &Config,
        assignors: Arc<[Arc<dyn PartitionAssignor>]>,
        clock: Arc<Clock>,
        directory: Arc<Directory>,
        topics: &Arc<Mutex<Topics>>,
    ) -> Arc<Self> {
        let now = clock.now();
        let count = config.offsets_topic_num_partitions.max(1);
        let bytes_max = usize::try_from(config.rallypoint_groups_max_bytes).unwrap_or(usize::MAX);
        let config = group_config(config, assignors);
        let shard =
            |_| Shard { state: Mutex::new(State::new(config.clone(), now)), announced: AtomicI64::new(0) };
        let shards = (0..count).map(shard).collect();
        Arc::new_cyclic(|own| Self {
            shards,
            clock,
            directory,
            chronicle: Chronicle::default(),
            bytes: AtomicUsize::new(0),
            bytes_max,
            topics: api::lock(topics).latest(),
            offsets_topic: OffsetsTopic::new(Arc::clone(topics)),
            jobs: Jobs::default(),
            own: Weak::clone(own),
        })
    }

    /// Fires what is due in every shard, and says when to call this next.
    pub(super) fn advance(&self, now: Now) -> Millis {
        self.shards.iter().map(|shard| self.advance_shard(shard, now)).min().unwrap_or(Millis::MAX)
    }

    fn advance_shard(&self, shard: &Shard, now: Now) -> Millis {
        let announced = Millis(shard.announced.load(Ordering::Acquire));
        if announced > now.monotonic {
            return announced;
        }
        let mut state = shard.lock();
        // Whoever waited for something has an answer; there is nobody else to tell.
        let _ = self.work(&mut state, now, |coordinator, step| {
            self.show_topics(coordinator, now, step);
            coordinator.advance(now, step);
        });
        let next = state.coordinator.next_deadline().unwrap_or(Millis::MAX);
        shard.announced.store(next.0, Ordering::Release);
        let aftermath = self.take(&mut state, now);
        drop(state);
        self.conclude(now, aftermath);
        next
    }

    fn submit_to(&self, shard: &Shard, now: Now, from: ReplyTo, command: Command<'_>) -> Submitted {
        self.submit_locked(shard, shard.lock(), now, from, command)
    }

    fn submit_locked(
        &self,
        shard: &Shard,
        mut state: MutexGuard<'_, State>,
        now: Now,
        from: ReplyTo,
        command: Command<'_>,
    ) -> Submitted {
        let worked = self.work(&mut state, now, |coordinator, step| {
            self.show_topics(coordinator, now, step);
            coordinator.submit(now, from, command, step);
        });
        let next = state.coordinator.next_deadline().unwrap_or(Millis::MAX);
        if next.0 < shard.announced.load(Ordering::Acquire) {
            shard.announced.store(next.0, Ordering::Release);
            self.clock.wake_by(next);
        }
        let replies = &mut state.step.replies;
        let own = replies.iter().rposition(|(to, _)| *to == from).map(|place| replies.remove(place).1);
        let aftermath = self.take(&mut state, now);
        drop(state);
        self.conclude(now, aftermath);
        match worked {
            Ok(()) => own.map_or(Submitted::Parked, Submitted::Replied),
            Err(error) => Submitted::Unavailable(error),
        }
    }

    /// Lets a shard work with what memory the others leave it.
    fn work(
        &self,
        state: &mut State,
        now: Now,
        work: impl FnOnce(&mut Coordinator, &mut Step),
    ) -> Result<(), GroupError> {
        let before = state.coordinator.bytes();
        state.coordinator.set_bytes_left(self.bytes_max.saturating_sub(self.bytes.load(Ordering::Relaxed)));
        let worked = state.work(now, work);
        match state.coordinator.bytes() {
            after if after > before => drop(self.bytes.fetch_add(after - before, Ordering::Relaxed)),
            after if after < before => drop(self.bytes.fetch_sub(before - after, Ordering::Relaxed)),
            // A heartbeat does not touch what all connections share.
            _ => {}
        }
        worked
    }

    /// A newer picture of the topics comes before anything else.
    fn show_topics(&self, coordinator: &mut Coordinator, now: Now, step: &mut Step) {
        if coordinator.topics().number() != self.topics.number() {
            coordinator.submit(now, NOBODY, Command::TopicsChanged(self.topics.get()), step);
        }
    }

    /// Does what takes long without a lock, and hands in what came of it.
    fn do_aside(&self, job: Job) {
        if !self.jobs.add(job) {
            return;
        }
        let shards = Weak::clone(&self.own);
        task::spawn_blocking(move || {
            while let Some(shards) = shards.upgrade()
                && let Some(job) = shards.jobs.next()
            {
                let resolved = jobs::run(job);
                let group = resolved.group.clone();
                let now = shards.clock.now();
                shards.submit(now, group.as_str(), NOBODY, Command::RegexesResolved(resolved));
            }
        });
    }

    /// Takes what leaves the shard. Its records are shown to those who read `__consumer_offsets`.
    fn take(&self, state: &mut State, now: Now) -> Aftermath {
        let State { step, shown, .. } = state;
        let readers = self.offsets_topic.append(now, shown, &step.records);
        Aftermath { readers, ..step.take() }
    }

    /// Answers those who were parked, and tells the log what happened: a reader of stderr that is slow must not hold
    /// up a shard.
    fn conclude(&self, now: Now, aftermath: Aftermath) {
        for (to, reply) in aftermath.replies {
            self.directory.deliver(to, Delivery::Group(reply));
        }
        self.directory.wake(&aftermath.readers);
        for event in aftermath.events {
            self.chronicle.log(now, &event);
        }
        for job in aftermath.jobs {
            self.do_aside(job);
        }
    }

    fn shard_of(&self, group: &str) -> &Shard {
        &self.shards[partition_for(group, self.shards.len())]
    }
}

impl Groups for Shards {
    fn submit(&self, now: Now, group: &str, from: ReplyTo, command: Command<'_>) -> Submitted {
        self.submit_to(self.shard_of(group), now, from, command)
    }

    fn submit_if(
        &self,
        now: Now,
        group: &str,
        from: ReplyTo,
        command: Command<'_>,
        admits: &mut dyn FnMut() -> Result<(), ResponseError>,
    ) -> Result<Submitted, ResponseError> {
        let shard = self.shard_of(group);
        let state = shard.lock();
        admits()?;
        Ok(self.submit_locked(shard, state, now, from, command))
    }

    fn partition_of(&self, group: &str) -> i32 {
        // There are no more shards than an i32 of the configuration says.
        partition_for(group, self.shards.len()) as i32
    }

    fn end_transaction(&self, now: Now, partition: i32, end: EndTransaction) {
        if let Some(shard) = usize::try_from(partition).ok().and_then(|shard| self.shards.get(shard)) {
            self.submit_to(shard, now, NOBODY, Command::EndTransaction(end));
        }
    }

    fn read(&self, group: &str, reader: &mut dyn FnMut(&Coordinator)) -> Result<(), GroupError> {
        reader(&self.shard_of(group).lock().coordinator);
        Ok(())
    }

    fn read_all(&self, reader: &mut dyn FnMut(&Coordinator)) {
        for shard in &self.shards {
            reader(&shard.lock().coordinator);
        }
    }

    fn show_records(&self, now: Now, partition: i32) {
        let shard = usize::try_from(partition).ok().and_then(|partition| self.shards.get(partition));
        let Some(shard) = shard else { return };
        let mut state = shard.lock();
        let State { coordinator, shown, .. } = &mut *state;
        let readers = self.offsets_topic.show(now, partition, shown, coordinator.snapshot());
        drop(state);
        self.directory.wake(&readers);
    }

    fn topics_deleted(&self, now: Now, topics: &[TopicName]) {
        for shard in &self.shards {
            self.submit_to(shard, now, NOBODY, Command::TopicsDeleted(topics));
        }
    }
}

impl Shard {
    fn lock(&self) -> MutexGuard<'_, State> {
        api::lock(&self.state)
    }
}

impl State {
    fn new(config: GroupConfig, now: Now) -> Self {
        let coordinator = Coordinator::new(config.clone(), now);
        Self { config, coordinator, step: Step::default(), shown: None }
    }

    /// Lets the coordinator work.
    ///
    /// # Errors
    /// `CoordinatorNotAvailable` if it met a bug. Then nothing of it can be trusted but its records, so it is loaded from
    /// those, and whoever was parked is told to ask again.
    fn work(&mut self, now: Now, work: impl FnOnce(&mut Coordinator, &mut Step)) -> Result<(), GroupError> {
        let Self { coordinator, step, .. } = self;
        if attempt(|| work(coordinator, step)).is_some() {
            return Ok(());
        }
        let error = GroupError::CoordinatorNotAvailable;
        // Answers that were decided before the bug are sent: those they are for wait for nothing else.
        self.step.replies.extend(attempt(|| self.coordinator.parked(error)).unwrap_or_default());
        let loaded = attempt(|| {
            let records: Vec<_> = self.coordinator.snapshot().collect();
            Coordinator::load(self.config.clone(), now, &records)
        });
        tracing::error!(
            "a shard met a bug and {}",
            if loaded.is_some() { "was loaded anew" } else { "has lost its groups" }
        );
        // Its records may not have been whole: the next reader gets a new snapshot.
        self.shown = None;
        self.coordinator = loaded.unwrap_or_else(|| Coordinator::new(self.config.clone(), now));
        Err(error)
    }
}

/// `None` if it panics, which the panic hook has told.
fn attempt<R>(work: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn group_config(config: &Config, assignors: Arc<[Arc<dyn PartitionAssignor>]>) -> GroupConfig {
    let count = |count: i32| usize::try_from(count).unwrap_or(0);
    GroupConfig {
        session_timeout_min_ms: config.group_min_session_timeout_ms,
        session_timeout_max_ms: config.group_max_session_timeout_ms,
        initial_rebalance_delay_ms: config.group_initial_rebalance_delay_ms.into(),
        // Differs from Kafka: `group.max.size` (2,147,483,647) is at most 100,000.
        group_max_size: count(config.group_max_size).min(GROUP_MEMBERS_MAX),
        offset_metadata_max: count(config.offset_metadata_max_bytes),
        offsets_retention_ms: i64::from(config.offsets_retention_minutes) * 60_000,
        offsets_retention_check_interval_ms: config.offsets_retention_check_interval_ms,
        record_bytes_max: usize::try_from(config.topic_defaults.max_message_bytes).unwrap_or(0),
        consumer: consumer_config(config, assignors),
        ..GroupConfig::default()
    }
}

fn consumer_config(config: &Config, assignors: Arc<[Arc<dyn PartitionAssignor>]>) -> ConsumerConfig {
    ConsumerConfig {
        // Differs from Kafka: `group.consumer.max.size` (2,147,483,647) is at most 100,000.
        members_max: usize::try_from(config.group_consumer_max_size).unwrap_or(0).min(GROUP_MEMBERS_MAX),
        assignors,
        migration_policy: match config.group_consumer_migration_policy.to_ascii_lowercase().as_str() {
            "disabled" => MigrationPolicy::Disabled,
            "upgrade" => MigrationPolicy::Upgrade,
            "downgrade" => MigrationPolicy::Downgrade,
            _ => MigrationPolicy::Bidirectional,
        },
        regex_refresh_interval_ms: config.group_consumer_regex_refresh_interval_ms.into(),
        settings: ConsumerSettings {
            session_timeout_ms: config.group_consumer_session_timeout_ms,
            heartbeat_interval_ms: config.group_consumer_heartbeat_interval_ms,
            assignment_interval_ms: config.group_consumer_assignment_interval_ms,
        },
    }
}

impl Step {
    /// Takes what leaves the shard. The records are in memory already, which is where the store of this broker is.
    ///
    /// The lists keep their room where nothing is to be taken, which is so with every heartbeat.
    fn take(&mut self) -> Aftermath {
        self.records.clear();
        self.records.shrink_to(STEP_RECORDS_KEPT);
        Aftermath {
            replies: take_all(&mut self.replies),
            events: take_all(&mut self.events),
            jobs: take_all(&mut self.jobs),
            readers: Vec::new(),
        }
    }
}

fn take_all<T>(list: &mut Vec<T>) -> Vec<T> {
    if list.is_empty() { Vec::new() } else { std::mem::take(list) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::command::{CommitPartition, Heartbeat, JoinGroup, OffsetCommit};
    use crate::types::TopicId;

    fn join<'a>(group: &'a str, protocols: &'a [(&'a str, &'a [u8])]) -> Command<'a> {
        Command::JoinGroup(JoinGroup {
            group,
            member: None,
            instance: None,
            client_id: "c",
            client_host: "/127.0.0.1",
            session_timeout_ms: 10_000,
            rebalance_timeout_ms: 10_000,
            protocol_type: "consumer",
            protocols,
            reason: None,
            member_id_required: false,
            may_skip_assignment: false,
            random: 1,
            assignment_interval_ms: 0,
        })
    }

    fn commit<'a>(group: &'a str, offsets: &'a [CommitPartition<'a>]) -> Command<'a> {
        Command::OffsetCommit(OffsetCommit {
            group,
            member: "",
            instance: None,
            generation: -1,
            retention_ms: None,
            has_member_epoch: false,
            producer_id: None,
            offsets,
        })
    }

    fn state() -> State {
        let config = GroupConfig { initial_rebalance_delay_ms: 3_000, ..GroupConfig::default() };
        let mut state = State::new(config, Now::default());
        let topic = TopicName::from("t");
        let offset = CommitPartition {
            topic: &topic,
            topic_id: TopicId(1),
            partition: 0,
            offset: 7,
            leader_epoch: None,
            metadata: "",
        };
        let worked = state.work(Now::default(), |coordinator, step| {
            coordinator.submit(Now::default(), ReplyTo(1), commit("offsets", &[offset]), step);
            coordinator.submit(Now::default(), ReplyTo(2), join("members", &[("range", b"")]), step);
        });
        assert!(worked.is_ok());
        state.step.clear();
        state
    }

    fn committed(state: &State) -> Option<i64> {
        state.coordinator.committed("offsets", "t", 0).map(|offset| offset.offset)
    }

    #[test]
    fn a_shard_that_meets_a_bug_is_loaded_anew_and_tells_those_who_wait() {
        let mut state = state();
        let worked = state.work(Now::default(), |_, _| panic!("a bug"));
        assert_eq!(worked, Err(GroupError::CoordinatorNotAvailable));
        let [(ReplyTo(2), Reply::JoinGroup(reply))] = &state.step.replies[..] else {
            panic!("{:?}", state.step.replies)
        };
        assert_eq!(reply.outcome.as_ref().err(), Some(&GroupError::CoordinatorNotAvailable));
        assert_eq!(committed(&state), Some(7));
        let heartbeat = Heartbeat { group: "offsets", member: "m", instance: None, generation: 1 };
        let worked = state.work(Now::default(), |coordinator, step| {
            coordinator.submit(Now::default(), ReplyTo(3), Command::Heartbeat(heartbeat), step);
        });
        assert_eq!(worked, Ok(()));
    }

    #[test]
    fn a_list_keeps_its_room_unless_something_is_taken_from_it() {
        let mut step = Step::default();
        step.replies.push((ReplyTo(1), Reply::Heartbeat(Ok(()))));
        let own = step.replies.pop();
        assert!(own.is_some() && step.take().replies.is_empty());
        assert!(step.replies.capacity() > 0);
        step.replies.extend(own);
        assert_eq!(step.take().replies.len(), 1);
        assert_eq!(step.replies.capacity(), 0);
    }

    #[test]
    fn a_lock_that_a_panic_has_poisoned_is_no_obstacle() {
        let shard = Shard { state: Mutex::new(state()), announced: AtomicI64::new(0) };
        let panicked = attempt(|| {
            let _state = shard.lock();
            panic!("a bug of a reader")
        });
        assert!(panicked.is_none() && shard.state.is_poisoned());
        assert_eq!(committed(&shard.lock()), Some(7));
    }
}
