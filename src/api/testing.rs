//! A broker without shell for the tests of handlers: a fixed clock, counted randomness, and groups that only remember.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::BytesMut;
use kafka_protocol::ResponseError;
use kafka_protocol::protocol::{Decodable, HeaderVersion, Request};

use super::{Context, Entropy, Groups, Outcome, Services, Submitted, Transactions, Wakeups};
use crate::catalog::{Overrides, Topic};
use crate::config::{Config, LiveConfig};
use crate::coordinator::Coordinator;
use crate::coordinator::command::{Command, EndTransaction};
use crate::coordinator::error::GroupError;
use crate::log::test_batch::{BatchSpec, parse};
use crate::log::{Log, LogSettings, TopicIdPartition};
use crate::topics::{NewTopic, Topics, log_settings};
use crate::txn::command::{AddPartitions, EndTxn, InitProducerId};
use crate::txn::error::TxnError;
use crate::txn::{Step, TransactionCoordinator, TxnConfig};
use crate::types::{Millis, Now, ProducerIdAndEpoch, ReplyTo, TopicId, TopicName};
use crate::wire::{request, response};

/// The time of every request.
pub(crate) const NOW: Now = Now { monotonic: Millis(1_000), wall: Millis(1_700_000_000_000) };

/// What handlers work on, and what they did to others.
pub(crate) struct Broker {
    pub(crate) services: Services,
    told: Arc<Told>,
}

/// What the groups and the shell were told.
struct Told {
    topics_deleted: Mutex<Vec<TopicName>>,
    shown: Mutex<Vec<i32>>,
    woken: Mutex<Vec<ReplyTo>>,
    transactions: Mutex<TransactionCoordinator>,
}

impl Broker {
    /// Node 1 of the default cluster, told `settings`.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let settings = [&[("node.id", "1")], settings].concat();
        let config = Arc::new(Config::with(&settings).expect("a valid configuration"));
        let log = LogSettings { bytes_max: 1 << 20, ..log_settings(&config, 1) };
        let told = Arc::new(Told {
            topics_deleted: Mutex::default(),
            shown: Mutex::default(),
            woken: Mutex::default(),
            transactions: Mutex::new(TransactionCoordinator::new(TxnConfig::default(), NOW)),
        });
        let services = Services {
            live_config: Arc::new(LiveConfig::new(Arc::clone(&config))),
            config,
            advertised: ("127.0.0.1".to_owned(), 9092),
            topics: Arc::new(Mutex::new(Topics::new(Log::new(NOW, log)))),
            cluster: Arc::default(),
            groups: told.clone(),
            transactions: told.clone(),
            entropy: Arc::new(Counter::default()),
            wakeups: told.clone(),
        };
        Self { services, told }
    }

    /// With these topics, and the default configuration.
    pub(crate) fn with_topics(topics: &[(&str, i32)]) -> Self {
        let broker = Self::with(&[]);
        for (name, partitions) in topics {
            broker.create(name, *partitions);
        }
        broker
    }

    pub(crate) fn create(&self, name: &str, partitions: i32) -> Arc<Topic> {
        let id = crate::catalog::random_topic_id(self.services.entropy.random());
        let new = NewTopic { name, id, partitions, overrides: Overrides::new() };
        super::lock(&self.services.topics)
            .create(&self.services.config, new)
            .expect("a topic that can be created")
    }

    /// Puts `count` records with the time of [`NOW`] into a partition, as one batch.
    pub(crate) fn append(&self, topic: &str, partition: i32, count: usize) {
        let place = TopicIdPartition { topic: self.topic_id(topic), partition };
        let batch = BatchSpec::new(count, NOW.wall.0).build();
        super::lock(&self.services.topics)
            .log
            .append(NOW, place, &parse(&batch))
            .expect("a batch that can be appended");
    }

    /// Moves the first offset of a partition up.
    pub(crate) fn delete_records(&self, topic: &str, partition: i32, offset: i64) {
        let place = TopicIdPartition { topic: self.topic_id(topic), partition };
        super::lock(&self.services.topics)
            .log
            .delete_records(place, Some(offset))
            .expect("an offset that exists");
    }

    /// What the catalog knows about a topic.
    pub(crate) fn topic(&self, name: &str) -> Option<Arc<Topic>> {
        super::lock(&self.services.topics).catalog().by_name(name).cloned()
    }

    pub(crate) fn topic_id(&self, name: &str) -> TopicId {
        self.topic(name).expect("a topic that exists").id
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            now: NOW,
            from: ReplyTo(1),
            client_id: "test",
            client_host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            services: &self.services,
        }
    }

    /// Sends a request through its bytes to a handler that answers at once, and the answer back through its bytes.
    pub(crate) fn call<R, H>(&self, version: i16, request: &R, handle: H) -> R::Response
    where
        R: Request,
        R::Response: HeaderVersion,
        H: Fn(&Context<'_>, i16, &R) -> Outcome<R::Response>,
    {
        let mut body = BytesMut::new();
        request.encode(&mut body, version).expect("a request of this version");
        let request: R = request::decode(version, body.freeze()).expect("what was encoded is decoded");
        let Outcome::Reply(answer) = handle(&self.context(), version, &request) else {
            panic!("no answer at once");
        };
        let mut frame = BytesMut::new();
        response::encode(&mut frame, 7, version, &answer).expect("an answer that fits the version");
        let header_bytes = if R::Response::header_version(version) >= 1 { 9 } else { 8 };
        let mut body = frame.freeze().slice(header_bytes..);
        let answer = R::Response::decode(&mut body, version).expect("what was encoded is decoded");
        assert!(body.is_empty(), "nothing follows the answer");
        answer
    }

    /// The topics whose deletion the groups were told of.
    pub(crate) fn topics_deleted(&self) -> Vec<TopicName> {
        std::mem::take(&mut *self.told.topics_deleted.lock().expect("no test panics while it holds this"))
    }

    /// The partitions of `__consumer_offsets` that were to show what their shards keep.
    pub(crate) fn shown(&self) -> Vec<i32> {
        std::mem::take(&mut *self.told.shown.lock().expect("no test panics while it holds this"))
    }

    /// The parked fetches that were woken.
    pub(crate) fn woken(&self) -> Vec<ReplyTo> {
        std::mem::take(&mut *self.told.woken.lock().expect("no test panics while it holds this"))
    }
}

impl Groups for Told {
    fn submit(&self, _now: Now, _group: &str, _from: ReplyTo, _command: Command<'_>) -> Submitted {
        Submitted::Unavailable(GroupError::CoordinatorNotAvailable)
    }

    fn submit_if(
        &self,
        _now: Now,
        _group: &str,
        _from: ReplyTo,
        _command: Command<'_>,
        admits: &mut dyn FnMut() -> Result<(), ResponseError>,
    ) -> Result<Submitted, ResponseError> {
        admits().map(|()| Submitted::Unavailable(GroupError::CoordinatorNotAvailable))
    }

    fn partition_of(&self, _group: &str) -> i32 {
        0
    }

    fn end_transaction(&self, _now: Now, _partition: i32, _end: EndTransaction) {}

    fn read(&self, _group: &str, _reader: &mut dyn FnMut(&Coordinator)) -> Result<(), GroupError> {
        Err(GroupError::CoordinatorNotAvailable)
    }

    fn read_all(&self, _reader: &mut dyn FnMut(&Coordinator)) {}

    fn show_records(&self, _now: Now, partition: i32) {
        self.shown.lock().expect("no test panics while it holds this").push(partition);
    }

    fn topics_deleted(&self, _now: Now, topics: &[TopicName]) {
        self.topics_deleted.lock().expect("no test panics while it holds this").extend_from_slice(topics);
    }
}

/// A coordinator that writes no markers: what was decided stays so.
impl Transactions for Told {
    fn init_producer_id(&self, now: Now, init: &InitProducerId<'_>) -> Result<ProducerIdAndEpoch, TxnError> {
        self.transactions().init_producer_id(now, init, &mut Step::default())
    }

    fn add_partitions(&self, now: Now, add: &AddPartitions<'_>) -> Result<(), TxnError> {
        self.transactions().add_partitions(now, add, &mut Step::default())
    }

    fn verify_partitions(
        &self,
        _now: Now,
        verify: &AddPartitions<'_>,
    ) -> Result<Vec<Result<(), TxnError>>, TxnError> {
        self.transactions().verify_partitions(verify)
    }

    fn end(&self, now: Now, end: &EndTxn<'_>) -> Result<ProducerIdAndEpoch, TxnError> {
        self.transactions().end(now, end, &mut Step::default())
    }

    fn read(&self, reader: &mut dyn FnMut(&TransactionCoordinator)) {
        reader(&self.transactions());
    }
}

impl Told {
    fn transactions(&self) -> MutexGuard<'_, TransactionCoordinator> {
        self.transactions.lock().expect("no test panics while it holds this")
    }
}

impl Wakeups for Told {
    fn wake(&self, ready: &[ReplyTo]) {
        self.woken.lock().expect("no test panics while it holds this").extend_from_slice(ready);
    }
}

/// Different numbers, the same in every run.
#[derive(Default)]
struct Counter(AtomicU64);

impl Entropy for Counter {
    fn random(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)) << 64
    }
}
