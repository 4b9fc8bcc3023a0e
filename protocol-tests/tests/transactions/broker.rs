//! The three cores that a transaction passes through, joined as the shell and the handlers join them, and what ought to
//! have come of the transactions.

use std::collections::{BTreeMap, BTreeSet};

use bytes::BytesMut;
use kafka_protocol::records::{Compression, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType};
use rallypoint::coordinator::command::{Command, CommitPartition, EndTransaction, OffsetCommit};
use rallypoint::coordinator::reply::Reply;
use rallypoint::coordinator::{Coordinator, GroupConfig, Step};
use rallypoint::log::{
    Incoming, Isolation, Log, LogConfig, LogError, LogSettings, TopicIdPartition, TransactionMarker,
    Unverified, Verified,
};
use rallypoint::txn::command::{AddPartitions, EndMarker, EndTxn, InitProducerId};
use rallypoint::txn::error::TxnError;
use rallypoint::txn::transaction::{ClientVersion, TxnPartition};
use rallypoint::txn::{COORDINATOR_EPOCH, Step as TxnStep, TransactionCoordinator, TxnConfig};
use rallypoint::types::{Millis, Now, ProducerIdAndEpoch, ReplyTo, TopicId, TopicName};

use super::prng::Prng;
use super::producer::{Producer, Protocol, Request, RequestKind};
use super::reader;

const TOPIC: TopicId = TopicId(7);
/// Of the topic that is written to.
pub(crate) const PARTITIONS: i32 = 2;
const GROUP: &str = "g";
const OFFSETS_TOPIC: &str = "__consumer_offsets";
/// Requests that may come once more.
const REMEMBERED: usize = 40;

/// One transaction of one client, as it counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Transaction(pub(crate) u64);

/// Why a request came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Ask again.
    NotNow,
    /// The client is not what it was, or has lost its way.
    ForGood,
}

/// See the module.
pub(crate) struct Broker {
    now_ms: i64,
    log: Log,
    group: Coordinator,
    transactions: TransactionCoordinator,
    /// What is decided, and where it has to be written still.
    markers: Vec<(EndMarker, Vec<TxnPartition>)>,
    requests: Vec<Request>,
    /// Partition and offset → the transaction that wrote there.
    written: BTreeMap<(i32, i64), Transaction>,
    /// Partition, offset, transaction: in the order in which they were taken.
    offsets: Vec<(i32, i64, Transaction)>,
    committed: BTreeSet<Transaction>,
    next_transaction: u64,
}

impl Broker {
    pub(crate) fn new() -> Self {
        let now = Now { monotonic: Millis(0), wall: Millis(1_000_000_000_000) };
        let mut log = Log::new(now, LogSettings::default());
        log.create_topic(TOPIC, TopicName::from("t"), PARTITIONS, LogConfig::default());
        Self {
            now_ms: 0,
            log,
            group: Coordinator::new(GroupConfig::default(), now),
            transactions: TransactionCoordinator::new(TxnConfig::default(), now),
            markers: Vec::new(),
            requests: Vec::new(),
            written: BTreeMap::new(),
            offsets: Vec::new(),
            committed: BTreeSet::new(),
            next_transaction: 0,
        }
    }

    fn now(&self) -> Now {
        Now { monotonic: Millis(self.now_ms), wall: Millis(1_000_000_000_000 + self.now_ms) }
    }

    pub(crate) fn new_transaction(&mut self) -> Transaction {
        self.next_transaction += 1;
        Transaction(self.next_transaction)
    }

    /// Lets the coordinator decide; markers are written later.
    fn decide<R>(&mut self, work: impl FnOnce(&mut TransactionCoordinator, Now, &mut TxnStep) -> R) -> R {
        let (now, mut step) = (self.now(), TxnStep::default());
        let outcome = work(&mut self.transactions, now, &mut step);
        self.markers.extend(step.markers.into_iter().map(|marker| {
            let partitions = marker.partitions.clone();
            (marker, partitions)
        }));
        outcome
    }

    pub(crate) fn init(&mut self, id: &str, timeout_ms: i32) -> Result<ProducerIdAndEpoch, Refused> {
        let init = InitProducerId { transactional_id: Some(id), timeout_ms, expected: None };
        self.decide(|transactions, now, step| transactions.init_producer_id(now, &init, step))
            .map_err(refusal)
    }

    /// Handles a request, and keeps it so that it can come once more.
    pub(crate) fn handle(&mut self, request: &Request) -> Result<ProducerIdAndEpoch, Refused> {
        if self.requests.len() == REMEMBERED {
            self.requests.remove(0);
        }
        self.requests.push(request.clone());
        self.serve(request)
    }

    fn serve(&mut self, request: &Request) -> Result<ProducerIdAndEpoch, Refused> {
        match request.kind {
            RequestKind::AddPartition(partition) => self.add(request, (TopicName::from("t"), partition)),
            RequestKind::AddOffsets => self.add(request, (TopicName::from(OFFSETS_TOPIC), 0)),
            RequestKind::Produce { partition, sequence } => self.produce(request, partition, sequence),
            RequestKind::CommitOffset { partition, offset } => self.commit_offset(request, partition, offset),
            RequestKind::End { committed } => self.end(request, committed),
        }?;
        // What EndTxn gives is the only thing that changes the client.
        let of_id = self.transactions.transaction(&request.id);
        Ok(match (request.kind, of_id) {
            (RequestKind::End { .. }, Some(known)) if request.protocol == Protocol::V2 => known.producer,
            _ => request.producer,
        })
    }

    fn add(&mut self, request: &Request, partition: TxnPartition) -> Result<(), Refused> {
        let partitions = [partition];
        let add = AddPartitions {
            transactional_id: &request.id,
            producer: request.producer,
            partitions: &partitions,
            version: request.protocol.version(),
        };
        self.decide(|transactions, now, step| transactions.add_partitions(now, &add, step)).map_err(refusal)
    }

    /// What Produce and TxnOffsetCommit ask: a client of version 2 has added nothing itself.
    fn ask(&mut self, request: &Request, partition: TxnPartition) -> Result<(), Refused> {
        if request.protocol == Protocol::V2 {
            return self.add(request, partition);
        }
        let partitions = [partition];
        let verify = AddPartitions {
            transactional_id: &request.id,
            producer: request.producer,
            partitions: &partitions,
            version: ClientVersion::V1,
        };
        let outcomes = self.transactions.verify_partitions(&verify).map_err(refusal)?;
        outcomes.into_iter().try_for_each(|outcome| outcome.map_err(refusal))
    }

    fn produce(&mut self, request: &Request, partition: i32, sequence: i32) -> Result<(), Refused> {
        let place = TopicIdPartition { topic: TOPIC, partition };
        let producer = request.producer;
        let mut verified = Verified::No;
        if self.log.needs_verification(place, producer).map_err(log_refusal)? {
            let bumps_epoch = request.protocol == Protocol::V2;
            let asked = Unverified { producer, sequence, bumps_epoch };
            self.log.begin_verification(self.now(), place, &asked);
            self.ask(request, (TopicName::from("t"), partition))?;
            verified = Verified::Yes;
        }
        let bytes = batch(producer, sequence);
        let incoming = Incoming::parse(12, &bytes).expect("a good batch");
        let appended =
            self.log.append_verified(self.now(), place, &incoming, verified).map_err(log_refusal)?;
        self.written.entry((partition, appended.base_offset)).or_insert(request.transaction);
        Ok(())
    }

    fn commit_offset(&mut self, request: &Request, partition: i32, offset: i64) -> Result<(), Refused> {
        self.ask(request, (TopicName::from(OFFSETS_TOPIC), 0))?;
        let topic = TopicName::from("t");
        let offsets = [CommitPartition {
            topic: &topic,
            topic_id: TOPIC,
            partition,
            offset,
            leader_epoch: None,
            metadata: "",
        }];
        let command = Command::OffsetCommit(OffsetCommit {
            group: GROUP,
            member: "",
            instance: None,
            generation: -1,
            retention_ms: None,
            has_member_epoch: false,
            producer_id: Some(request.producer.id),
            offsets: &offsets,
        });
        let (now, mut step) = (self.now(), Step::default());
        self.group.submit(now, ReplyTo(1), command, &mut step);
        assert!(matches!(step.replies[..], [(_, Reply::OffsetCommit(Ok(_)))]), "{:?}", step.replies);
        self.offsets.push((partition, offset, request.transaction));
        Ok(())
    }

    fn end(&mut self, request: &Request, committed: bool) -> Result<(), Refused> {
        let end = EndTxn {
            transactional_id: &request.id,
            producer: request.producer,
            committed,
            version: request.protocol.version(),
        };
        self.decide(|transactions, now, step| transactions.end(now, &end, step)).map_err(refusal)?;
        if committed {
            self.committed.insert(request.transaction);
        }
        Ok(())
    }

    /// A request of some time ago comes once more, or late. One of a client of version 1 would do harm, as in Kafka.
    pub(crate) fn repeat_some_request(&mut self, prng: &mut Prng) {
        let safe: Vec<Request> =
            self.requests.iter().filter(|request| request.protocol == Protocol::V2).cloned().collect();
        if !safe.is_empty() {
            let _ = self.serve(&safe[prng.below(safe.len())]);
        }
    }

    /// Writes what has to be written to one partition of one transaction.
    pub(crate) fn write_some_marker(&mut self, prng: &mut Prng) {
        if self.markers.is_empty() {
            return;
        }
        let place = prng.below(self.markers.len());
        let now = self.now();
        let (marker, left) = &mut self.markers[place];
        if !left.is_empty() {
            let (topic, partition) = left.swap_remove(prng.below(left.len()));
            write(now, &mut self.log, &mut self.group, marker, topic.as_str(), partition);
        }
        if left.is_empty() {
            let (marker, _) = self.markers.remove(place);
            let id = marker.transactional_id.as_str();
            self.decide(|transactions, now, step| {
                transactions.markers_written(now, id, marker.producer, step);
            });
        }
    }

    pub(crate) fn write_all_markers(&mut self) {
        let mut prng = Prng::new(0);
        while !self.markers.is_empty() {
            self.write_some_marker(&mut prng);
        }
    }

    /// The coordinators are loaded anew; what was decided is written once more.
    pub(crate) fn reload(&mut self) {
        let now = self.now();
        let records: Vec<_> = self.transactions.snapshot().collect();
        let next = self.transactions.next_producer_id();
        self.transactions = TransactionCoordinator::load(TxnConfig::default(), now, next, records);
        let unwritten = self.transactions.unwritten().into_iter();
        self.markers = unwritten.map(|marker| (marker.clone(), marker.partitions)).collect();
        let records: Vec<_> = self.group.snapshot().collect();
        self.group = Coordinator::load(GroupConfig::default(), now, &records);
    }

    pub(crate) fn pass(&mut self, millis: i64) {
        self.now_ms += millis;
        self.decide(|transactions, now, step| transactions.advance(now, step));
    }

    /// Compares what is seen with what ought to be.
    pub(crate) fn check(&self) {
        for partition in 0..PARTITIONS {
            let place = TopicIdPartition { topic: TOPIC, partition };
            let end = self.log.high_watermark(place).expect("the partition is there");
            let stable = self.log.end_for(place, Isolation::ReadCommitted).expect("the partition is there");
            assert_eq!(stable, end, "a transaction is open for ever in partition {partition}");
            let seen = reader::committed(&self.log, place);
            let expected: Vec<i64> = self
                .written
                .iter()
                .filter(|((of, _), transaction)| *of == partition && self.committed.contains(transaction))
                .map(|((_, offset), _)| *offset)
                .collect();
            assert_eq!(seen, expected, "partition {partition}");
            assert!(!self.group.is_unstable(GROUP, "t", partition), "an offset is pending for ever");
            let newest = self
                .offsets
                .iter()
                .rev()
                .find(|(of, _, transaction)| *of == partition && self.committed.contains(transaction));
            let committed = self.group.committed(GROUP, "t", partition).map(|offset| offset.offset);
            assert_eq!(committed, newest.map(|(_, offset, _)| *offset), "offset of partition {partition}");
        }
    }

    /// A client aborts; an offset that it sent before comes late, and then it commits another transaction. Gives the
    /// offset that is committed, and whether the late one was taken.
    pub(crate) fn late_commit_of_offsets(&mut self, id: &str, protocol: Protocol) -> (Option<i64>, bool) {
        let mut client = Producer::new(id, protocol);
        client.initialize(self);
        let late = client.request(self, RequestKind::CommitOffset { partition: 0, offset: 7 });
        let add_late = client.request(self, RequestKind::AddOffsets);
        client.send(self, RequestKind::AddPartition(0));
        client.send(self, RequestKind::End { committed: false });
        self.write_all_markers();
        let is_taken = match protocol {
            Protocol::V1 => self.handle(&add_late).and_then(|_| self.handle(&late)),
            Protocol::V2 => self.handle(&late),
        }
        .is_ok();
        client.send(self, RequestKind::AddPartition(0));
        client.send(self, RequestKind::End { committed: true });
        self.write_all_markers();
        (self.group.committed(GROUP, "t", 0).map(|offset| offset.offset), is_taken)
    }
}

fn write(now: Now, log: &mut Log, group: &mut Coordinator, marker: &EndMarker, topic: &str, partition: i32) {
    let EndMarker { producer, committed, version, .. } = *marker;
    if topic == OFFSETS_TOPIC {
        let end = EndTransaction { producer_id: producer.id, committed };
        return group.submit(now, ReplyTo(1), Command::EndTransaction(end), &mut Step::default());
    }
    let marker = TransactionMarker {
        producer,
        committed,
        bumps_epoch: version.supports_epoch_bump(),
        coordinator_epoch: COORDINATOR_EPOCH,
    };
    let place = TopicIdPartition { topic: TOPIC, partition };
    log.end_transaction(now, place, &marker).expect("nobody else ends transactions");
}

fn batch(producer: ProducerIdAndEpoch, sequence: i32) -> BytesMut {
    let record = Record {
        transactional: true,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: -1,
        producer_id: producer.id,
        producer_epoch: producer.epoch,
        timestamp_type: TimestampType::Creation,
        offset: 0,
        sequence,
        timestamp: 1_000_000_000_000,
        key: None,
        value: Some("v".into()),
        headers: Default::default(),
    };
    let mut batch = BytesMut::new();
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    RecordBatchEncoder::encode(&mut batch, [&record], &options).expect("a batch");
    batch
}

fn refusal(error: TxnError) -> Refused {
    match error {
        TxnError::ConcurrentTransactions => Refused::NotNow,
        TxnError::ProducerFenced
        | TxnError::InvalidProducerIdMapping
        | TxnError::InvalidTxnState
        | TxnError::TransactionAbortable => Refused::ForGood,
        error => panic!("nobody asks for {error}"),
    }
}

fn log_refusal(error: LogError) -> Refused {
    match error {
        LogError::InvalidProducerEpoch | LogError::InvalidTxnState | LogError::OutOfOrderSequenceNumber => {
            Refused::ForGood
        }
        error => panic!("nobody asks for {error}"),
    }
}
