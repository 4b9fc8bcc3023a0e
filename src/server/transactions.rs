//! The transaction coordinator behind its lock, and the markers that carry its decisions to the log and the groups.
//!
//! Locks are taken in one order: that of whoever decides about an end, then a shard or the log, then the coordinator
//! itself. Produce and TxnOffsetCommit ask the coordinator while they hold the log or a shard; a marker is written
//! without the coordinator's lock. So a batch is either refused, or before the marker that ends its transaction.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use super::complaints::Chronicle;
use crate::api::{Groups, Transactions, Wakeups, lock};
use crate::catalog::name::CONSUMER_OFFSETS;
use crate::config::Config;
use crate::coordinator::command::EndTransaction;
use crate::log::{LogError, TopicIdPartition, TransactionMarker};
use crate::topics::Topics;
use crate::txn::command::{AddPartitions, EndMarker, EndTxn, InitProducerId};
use crate::txn::error::TxnError;
use crate::txn::{COORDINATOR_EPOCH, Step, TransactionCoordinator, TxnConfig};
use crate::types::{Millis, Now, ProducerIdAndEpoch};

/// The one coordinator. Memory has nothing to load, so it is active from the start.
pub(super) struct Coordinator {
    state: Mutex<State>,
    /// Held from a decision until all know of it: two ends of one transaction must not overtake each other.
    ending: Mutex<()>,
    topics: Arc<Mutex<Topics>>,
    groups: Arc<dyn Groups>,
    wakeups: Arc<dyn Wakeups>,
    chronicle: Chronicle,
}

struct State {
    config: TxnConfig,
    coordinator: TransactionCoordinator,
    step: Step,
}

impl Coordinator {
    /// One that nobody has asked for anything.
    pub(super) fn new(
        config: &Config,
        now: Now,
        topics: Arc<Mutex<Topics>>,
        groups: Arc<dyn Groups>,
        wakeups: Arc<dyn Wakeups>,
    ) -> Self {
        let config = txn_config(config);
        let coordinator = TransactionCoordinator::new(config, now);
        let state = Mutex::new(State { config, coordinator, step: Step::default() });
        Self { state, ending: Mutex::default(), topics, groups, wakeups, chronicle: Chronicle::default() }
    }

    /// Does what is due, and says when to call this next. What a bug has left undone is done again.
    pub(super) fn advance(&self, now: Now) -> Millis {
        let next = lock(&self.state).coordinator.next_deadline();
        if next > now.monotonic {
            return next;
        }
        // There is nobody to tell of a bug; the next look comes soon enough.
        let _ = self.decide(now, |coordinator, step| {
            step.markers.extend(coordinator.unwritten());
            coordinator.advance(now, step);
            Ok(())
        });
        lock(&self.state).coordinator.next_deadline()
    }

    /// Lets the coordinator decide, and carries out what it has decided before anything else is.
    fn decide<R>(
        &self,
        now: Now,
        work: impl FnOnce(&mut TransactionCoordinator, &mut Step) -> Result<R, TxnError>,
    ) -> Result<R, TxnError> {
        let _ending = lock(&self.ending);
        let mut markers = Vec::new();
        let outcome = self.work(now, |coordinator, step| {
            let outcome = work(coordinator, step);
            markers.append(&mut step.markers);
            outcome
        });
        for marker in markers {
            if catch_unwind(AssertUnwindSafe(|| self.write(now, &marker))).is_err() {
                tracing::error!("the end of a transaction met a bug and will be written again");
                continue;
            }
            self.work(now, |coordinator, step| {
                coordinator.markers_written(now, marker.transactional_id.as_str(), marker.producer, step);
                Ok(())
            })?;
        }
        outcome
    }

    /// Lets the coordinator work, which brings about no end of a transaction.
    fn work<R>(
        &self,
        now: Now,
        work: impl FnOnce(&mut TransactionCoordinator, &mut Step) -> Result<R, TxnError>,
    ) -> Result<R, TxnError> {
        let mut state = lock(&self.state);
        let State { config, coordinator, step } = &mut *state;
        let Ok(outcome) = catch_unwind(AssertUnwindSafe(|| work(coordinator, step))) else {
            // Nothing of it can be trusted but its records.
            let (next_producer_id, records) =
                (coordinator.next_producer_id(), coordinator.snapshot().collect::<Vec<_>>());
            *coordinator = TransactionCoordinator::load(*config, now, next_producer_id, records);
            *step = Step::default();
            tracing::error!("the transaction coordinator met a bug and was loaded anew");
            return Err(TxnError::CoordinatorNotAvailable);
        };
        // The records are in memory already, which is where the store of this broker is.
        step.changed.clear();
        let events = std::mem::take(&mut step.events);
        drop(state);
        for event in events {
            self.chronicle.log_transaction(now, &event);
        }
        outcome
    }

    /// Tells every partition of a transaction how it ended.
    fn write(&self, now: Now, marker: &EndMarker) {
        let EndMarker { producer, committed, .. } = *marker;
        let (offsets, logs): (Vec<_>, Vec<_>) =
            marker.partitions.iter().partition(|(topic, _)| topic.as_str() == CONSUMER_OFFSETS);
        for (_, partition) in offsets {
            self.groups.end_transaction(
                now,
                *partition,
                EndTransaction { producer_id: producer.id, committed },
            );
        }
        let in_log = TransactionMarker {
            producer,
            committed,
            bumps_epoch: marker.version.supports_epoch_bump(),
            coordinator_epoch: COORDINATOR_EPOCH,
        };
        let mut topics = lock(&self.topics);
        let (catalog, log) = topics.split();
        for (topic, partition) in logs {
            // A topic that is gone needs no end.
            let Some(topic) = catalog.by_name(topic.as_str()) else { continue };
            let place = TopicIdPartition { topic: topic.id, partition: *partition };
            match log.end_transaction(now, place, &in_log) {
                Ok(()) | Err(LogError::UnknownTopicOrPartition) => {}
                // Somebody else has ended it there by hand.
                Err(error) => tracing::warn!("the end of a transaction was not written: {error}"),
            }
        }
        let ready = log.take_ready();
        drop(topics);
        if !ready.is_empty() {
            self.wakeups.wake(&ready);
        }
    }
}

impl Transactions for Coordinator {
    fn init_producer_id(&self, now: Now, init: &InitProducerId<'_>) -> Result<ProducerIdAndEpoch, TxnError> {
        self.decide(now, |coordinator, step| coordinator.init_producer_id(now, init, step))
    }

    fn add_partitions(&self, now: Now, add: &AddPartitions<'_>) -> Result<(), TxnError> {
        self.work(now, |coordinator, step| coordinator.add_partitions(now, add, step))
    }

    fn verify_partitions(
        &self,
        now: Now,
        verify: &AddPartitions<'_>,
    ) -> Result<Vec<Result<(), TxnError>>, TxnError> {
        self.work(now, |coordinator, _| coordinator.verify_partitions(verify))
    }

    fn end(&self, now: Now, end: &EndTxn<'_>) -> Result<ProducerIdAndEpoch, TxnError> {
        self.decide(now, |coordinator, step| coordinator.end(now, end, step))
    }

    fn read(&self, reader: &mut dyn FnMut(&TransactionCoordinator)) {
        reader(&lock(&self.state).coordinator);
    }
}

fn txn_config(config: &Config) -> TxnConfig {
    TxnConfig {
        timeout_max_ms: config.transaction_max_timeout_ms,
        abort_check_interval_ms: config.transaction_abort_timed_out_transaction_cleanup_interval_ms.into(),
        id_expiration_ms: config.transactional_id_expiration_ms.into(),
        id_check_interval_ms: config.transaction_remove_expired_transaction_cleanup_interval_ms.into(),
        ..TxnConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use kafka_protocol::ResponseError;

    use super::*;
    use crate::api::Submitted;
    use crate::coordinator;
    use crate::coordinator::command::Command;
    use crate::coordinator::error::GroupError;
    use crate::log::{Log, LogSettings};
    use crate::txn::transaction::{ClientVersion, TransactionState};
    use crate::types::{ReplyTo, TopicName};

    /// Groups that meet a bug at their first end of a transaction.
    #[derive(Default)]
    struct Buggy {
        has_failed: AtomicBool,
        ended: AtomicUsize,
    }

    impl Groups for Buggy {
        fn submit(&self, _: Now, _: &str, _: ReplyTo, _: Command<'_>) -> Submitted {
            Submitted::Parked
        }

        fn submit_if(
            &self,
            _: Now,
            _: &str,
            _: ReplyTo,
            _: Command<'_>,
            _: &mut dyn FnMut() -> Result<(), ResponseError>,
        ) -> Result<Submitted, ResponseError> {
            Ok(Submitted::Parked)
        }

        fn partition_of(&self, _: &str) -> i32 {
            0
        }

        fn show_records(&self, _: Now, _: i32) {}

        fn end_transaction(&self, _: Now, partition: i32, _: EndTransaction) {
            assert!(self.has_failed.swap(true, Ordering::Relaxed), "a bug");
            assert_eq!(partition, 7);
            self.ended.fetch_add(1, Ordering::Relaxed);
        }

        fn read(&self, _: &str, _: &mut dyn FnMut(&coordinator::Coordinator)) -> Result<(), GroupError> {
            Ok(())
        }

        fn read_all(&self, _: &mut dyn FnMut(&coordinator::Coordinator)) {}

        fn topics_deleted(&self, _: Now, _: &[TopicName]) {}
    }

    impl Wakeups for Buggy {
        fn wake(&self, _: &[ReplyTo]) {}
    }

    fn state(coordinator: &Coordinator) -> Option<TransactionState> {
        let mut state = None;
        coordinator.read(&mut |transactions| state = transactions.transaction("x").map(|found| found.state));
        state
    }

    #[test]
    fn the_end_of_a_transaction_that_meets_a_bug_is_written_again() {
        let start = Now::default();
        let topics = Arc::new(Mutex::new(Topics::new(Log::new(start, LogSettings::default()))));
        let buggy = Arc::new(Buggy::default());
        let config = Config::with(&[]).expect("the default configuration");
        let coordinator = Coordinator::new(&config, start, topics, buggy.clone(), buggy.clone());
        let init = InitProducerId { transactional_id: Some("x"), timeout_ms: 1_000, expected: None };
        let producer = coordinator.init_producer_id(start, &init).expect("an id");
        let partitions = [(TopicName::from(CONSUMER_OFFSETS), 7), (TopicName::from("gone"), 0)];
        let version = ClientVersion::V1;
        let add = AddPartitions { transactional_id: "x", producer, partitions: &partitions, version };
        coordinator.add_partitions(start, &add).expect("it is begun");
        let end = EndTxn { transactional_id: "x", producer, committed: true, version };
        assert_eq!(coordinator.end(start, &end), Ok(producer));
        assert_eq!(state(&coordinator), Some(TransactionState::PrepareCommit));
        assert_eq!(coordinator.end(start, &end), Err(TxnError::ConcurrentTransactions));
        let later = Now { monotonic: coordinator.advance(start), ..start };
        coordinator.advance(later);
        assert_eq!(state(&coordinator), Some(TransactionState::CompleteCommit));
        assert_eq!(buggy.ended.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_coordinator_that_meets_a_bug_is_loaded_anew() {
        let start = Now::default();
        let topics = Arc::new(Mutex::new(Topics::new(Log::new(start, LogSettings::default()))));
        let buggy = Arc::new(Buggy::default());
        let config = Config::with(&[]).expect("the default configuration");
        let coordinator = Coordinator::new(&config, start, topics, buggy.clone(), buggy);
        let init = InitProducerId { transactional_id: Some("x"), timeout_ms: 1_000, expected: None };
        coordinator.init_producer_id(start, &init).expect("an id");
        let worked = coordinator.work::<()>(start, |_, _| panic!("a bug"));
        assert_eq!(worked, Err(TxnError::CoordinatorNotAvailable));
        assert_eq!(state(&coordinator), Some(TransactionState::Empty));
        let idempotent = InitProducerId { transactional_id: None, ..init };
        assert_eq!(coordinator.init_producer_id(start, &idempotent).map(|producer| producer.id), Ok(1));
    }
}
