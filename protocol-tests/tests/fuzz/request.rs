//! Requests of every API and version: header, guard, decoder and handler, on a broker without a shell.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{
    AddPartitionsToTxnRequest, CreateTopicsRequest, DescribeTransactionsRequest, EndTxnRequest, FetchRequest,
    FindCoordinatorRequest, HeartbeatRequest, InitProducerIdRequest, LeaveGroupRequest,
    ListTransactionsRequest, ProduceRequest, ProducerId, TopicName, TransactionalId,
};
use kafka_protocol::protocol::StrBytes;
use protocol_tests::peer::frame;
use protocol_tests::requests::{commit, heartbeat, join, metadata, text};
use rallypoint::api::{self, Context, Entropy, Groups, Services, Submitted, Transactions, Wakeups};
use rallypoint::config::{Config, LiveConfig};
use rallypoint::coordinator::command::{Command, EndTransaction};
use rallypoint::coordinator::error::GroupError;
use rallypoint::coordinator::{Coordinator, GroupConfig, Step};
use rallypoint::log::{Log, LogSettings};
use rallypoint::topics::Topics;
use rallypoint::txn::command::{AddPartitions, EndTxn, InitProducerId};
use rallypoint::txn::error::TxnError;
use rallypoint::txn::{Step as TxnStep, TransactionCoordinator, TxnConfig};
use rallypoint::types::{Millis, Now, ProducerIdAndEpoch, ReplyTo, TopicName as Name};
use rallypoint::wire::kafka_4_4::{
    TxnOffsetCommitRequest, TxnOffsetCommitRequestPartition, TxnOffsetCommitRequestTopic,
};
use rallypoint::wire::{api_table, request};

/// A batch of one record, as a producer sends it: value `v`, no key.
pub(crate) const BATCH: [u8; 69] = {
    let mut batch = [0; 69];
    batch[11] = 57; // length
    batch[15] = 0xff; // leader epoch
    batch[16] = 2; // magic
    batch[60] = 1; // records
    batch[61] = 14; // length of the record: 7
    batch[65] = 1; // no key
    batch[66] = 2; // one byte of value
    batch[67] = b'v';
    batch
};

const NOW: Now = Now { monotonic: Millis(1_000), wall: Millis(1_700_000_000_000) };

/// One shard, and everything else that a handler may ask for.
struct Fake {
    shard: Mutex<Coordinator>,
    transactions: Mutex<TransactionCoordinator>,
    drawn: AtomicU64,
}

impl Fake {
    fn shard(&self) -> MutexGuard<'_, Coordinator> {
        self.shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Groups for Fake {
    fn submit(&self, now: Now, _: &str, from: ReplyTo, command: Command<'_>) -> Submitted {
        let mut step = Step::default();
        self.shard().submit(now, from, command, &mut step);
        let own = step.replies.into_iter().rev().find(|(to, _)| *to == from);
        own.map_or(Submitted::Parked, |(_, reply)| Submitted::Replied(reply))
    }

    fn submit_if(
        &self,
        now: Now,
        group: &str,
        from: ReplyTo,
        command: Command<'_>,
        admits: &mut dyn FnMut() -> Result<(), ResponseError>,
    ) -> Result<Submitted, ResponseError> {
        admits().map(|()| self.submit(now, group, from, command))
    }

    fn partition_of(&self, _: &str) -> i32 {
        0
    }

    fn end_transaction(&self, now: Now, _: i32, end: EndTransaction) {
        self.shard().submit(now, ReplyTo(0), Command::EndTransaction(end), &mut Step::default());
    }

    fn read(&self, _: &str, reader: &mut dyn FnMut(&Coordinator)) -> Result<(), GroupError> {
        reader(&self.shard());
        Ok(())
    }

    fn read_all(&self, reader: &mut dyn FnMut(&Coordinator)) {
        reader(&self.shard());
    }

    fn show_records(&self, _: Now, _: i32) {}

    fn topics_deleted(&self, now: Now, topics: &[Name]) {
        self.shard().submit(now, ReplyTo(0), Command::TopicsDeleted(topics), &mut Step::default());
    }
}

impl Fake {
    fn transactions(&self) -> MutexGuard<'_, TransactionCoordinator> {
        self.transactions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all markers for written.
    fn decide<R>(&self, now: Now, work: impl FnOnce(&mut TransactionCoordinator, &mut TxnStep) -> R) -> R {
        let mut step = TxnStep::default();
        let mut transactions = self.transactions();
        let outcome = work(&mut transactions, &mut step);
        for marker in std::mem::take(&mut step.markers) {
            let id = marker.transactional_id.as_str();
            transactions.markers_written(now, id, marker.producer, &mut step);
        }
        outcome
    }
}

impl Transactions for Fake {
    fn init_producer_id(&self, now: Now, init: &InitProducerId<'_>) -> Result<ProducerIdAndEpoch, TxnError> {
        self.decide(now, |transactions, step| transactions.init_producer_id(now, init, step))
    }

    fn add_partitions(&self, now: Now, add: &AddPartitions<'_>) -> Result<(), TxnError> {
        self.transactions().add_partitions(now, add, &mut TxnStep::default())
    }

    fn verify_partitions(
        &self,
        _: Now,
        verify: &AddPartitions<'_>,
    ) -> Result<Vec<Result<(), TxnError>>, TxnError> {
        self.transactions().verify_partitions(verify)
    }

    fn end(&self, now: Now, end: &EndTxn<'_>) -> Result<ProducerIdAndEpoch, TxnError> {
        self.decide(now, |transactions, step| transactions.end(now, end, step))
    }

    fn read(&self, reader: &mut dyn FnMut(&TransactionCoordinator)) {
        reader(&self.transactions());
    }
}

impl Entropy for Fake {
    fn random(&self) -> u128 {
        u128::from(self.drawn.fetch_add(1, Ordering::Relaxed)) << 64 | 1
    }
}

impl Wakeups for Fake {
    fn wake(&self, _: &[ReplyTo]) {}
}

fn services() -> Services {
    let config = Arc::new(Config::with(&[]).expect("a valid configuration"));
    let log = LogSettings { bytes_max: 1 << 20, ..LogSettings::default() };
    let shard = Mutex::new(Coordinator::new(GroupConfig::default(), NOW));
    let transactions = Mutex::new(TransactionCoordinator::new(TxnConfig::default(), NOW));
    let fake = Arc::new(Fake { shard, transactions, drawn: AtomicU64::new(1) });
    Services {
        live_config: Arc::new(LiveConfig::new(Arc::clone(&config))),
        config,
        advertised: ("127.0.0.1".to_owned(), 9092),
        topics: Arc::new(Mutex::new(Topics::new(Log::new(NOW, log)))),
        cluster: Arc::default(),
        groups: fake.clone(),
        transactions: fake.clone(),
        entropy: fake.clone(),
        wakeups: fake,
    }
}

/// Takes a frame without its length all the way; its answer, if there is one at once.
fn serve(services: &Services, mut frame: Bytes, number: u64) -> BytesMut {
    let mut out = BytesMut::new();
    let Ok(header) = request::header(&mut frame) else { return out };
    let context = Context {
        now: NOW,
        from: ReplyTo(number),
        client_id: &header.client_id,
        client_host: IpAddr::V4(Ipv4Addr::LOCALHOST),
        services,
    };
    let _ = api::dispatch(&context, &header, frame, &mut out);
    out
}

/// Whole requests, without their lengths: what the fuzzer changes.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let topic = || TopicName(StrBytes::from_static_str("t"));
    let partition = PartitionProduceData::default().with_records(Some(Bytes::from_static(&BATCH)));
    let data = TopicProduceData::default().with_name(topic()).with_partition_data(vec![partition]);
    let new = CreatableTopic::default().with_name(topic()).with_num_partitions(3).with_replication_factor(1);
    let frames = [
        frame("c", 1, 5, &CreateTopicsRequest::default().with_topics(vec![new])),
        frame("c", 1, 9, &metadata(["t"].into_iter())),
        frame("c", 1, 3, &join("g", "", b"\0\x01\0\0\0\x01\0\x01t\xff\xff\xff\xff")),
        frame("c", 1, 9, &join("g", "", b"")),
        frame("c", 1, 4, &heartbeat("g", "m", 1)),
        frame("c", 1, 8, &commit("g", "t", 0..3, "m")),
        frame("c", 1, 9, &ProduceRequest::default().with_acks(1).with_topic_data(vec![data])),
        frame("c", 1, 11, &FetchRequest::default()),
        frame("c", 1, 4, &HeartbeatRequest::default()),
        frame("c", 1, 2, &LeaveGroupRequest::default().with_member_id(text("m"))),
    ];
    let frames = frames.into_iter().chain(of_transactions());
    let empty = api_table::served().flat_map(|api| {
        (api.version_min..=api.version_max).map(|version| {
            let mut frame =
                [&api.key.to_be_bytes()[..], &version.to_be_bytes(), &[0, 0, 0, 1, 0xff, 0xff]].concat();
            // A body of zeroes is one of empty texts and arrays, in old versions.
            frame.extend([0; 40]);
            frame
        })
    });
    frames.map(|frame| frame[4..].to_vec()).chain(empty).collect()
}

/// The requests of one transaction, from its id to its end.
fn of_transactions() -> Vec<Vec<u8>> {
    let id = || TransactionalId(StrBytes::from_static_str("x"));
    let find = FindCoordinatorRequest::default().with_key_type(1).with_coordinator_keys(vec![text("x")]);
    let init = InitProducerIdRequest::default()
        .with_transactional_id(Some(id()))
        .with_transaction_timeout_ms(1_000)
        .with_producer_id(ProducerId(-1))
        .with_producer_epoch(-1);
    let topic = AddPartitionsToTxnTopic::default()
        .with_name(TopicName(StrBytes::from_static_str("t")))
        .with_partitions(vec![0]);
    let add = AddPartitionsToTxnRequest::default()
        .with_v3_and_below_transactional_id(id())
        .with_v3_and_below_topics(vec![topic.clone()]);
    let transaction = AddPartitionsToTxnTransaction::default()
        .with_transactional_id(id())
        .with_topics(vec![topic])
        .with_verify_only(true);
    let verify = AddPartitionsToTxnRequest::default().with_transactions(vec![transaction]);
    let offset = TxnOffsetCommitRequestPartition { committed_offset: 5, ..Default::default() };
    let topic =
        TxnOffsetCommitRequestTopic { name: text("t"), partitions: vec![offset], ..Default::default() };
    let commit = TxnOffsetCommitRequest {
        transactional_id: text("x"),
        group_id: text("g"),
        topics: vec![topic],
        ..Default::default()
    };
    let end = EndTxnRequest::default().with_transactional_id(id()).with_committed(true);
    vec![
        frame("c", 1, 4, &find),
        frame("c", 1, 4, &init),
        frame("c", 1, 3, &add),
        frame("c", 1, 5, &verify),
        frame("c", 1, 5, &commit),
        frame("c", 1, 3, &end),
        frame("c", 1, 5, &end),
        frame("c", 1, 0, &DescribeTransactionsRequest::default().with_transactional_ids(vec![id()])),
        frame("c", 1, 2, &ListTransactionsRequest::default().with_duration_filter(-1)),
    ]
}

/// Which seed, which version and key instead of its own, what to change, and what to put behind it.
type Input = (u16, Option<u8>, Vec<(u8, u8)>, Vec<u8>);

pub(crate) fn fuzz() {
    let (seeds, services) = (seeds(), services());
    let number = AtomicU64::new(1);
    super::fuzz("requests", |(seed, version, edits, tail): Input, outcomes| {
        let mut frame = seeds[usize::from(seed) % seeds.len()].clone();
        if let Some(version) = version {
            frame[3] = version % 20;
        }
        // Key and version stay, so that most requests get beyond the header.
        for (place, byte) in edits {
            let place = 4 + usize::from(place) % (frame.len() - 4);
            frame[place] = byte;
        }
        frame.extend(tail);
        let key = frame[1];
        let answer = serve(&services, Bytes::from(frame), number.fetch_add(1, Ordering::Relaxed));
        outcomes.note(|| format!("{key} {}", answer.len().checked_ilog2().map_or(0, |bits| bits + 1)));
    });
}

#[test]
fn seeds_are_answered() {
    let services = services();
    let answered = seeds()
        .into_iter()
        .zip(1..)
        .filter(|(seed, number)| !serve(&services, Bytes::from(seed.clone()), *number).is_empty());
    // Joins may be parked, and zeroes are not always a request.
    assert!(answered.count() > seeds().len() / 2);
}
