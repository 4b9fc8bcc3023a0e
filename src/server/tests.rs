//! A real server on a free port, and peers that are raw sockets. Time is paused: it jumps to the next deadline when
//! everybody waits.
#![expect(clippy::disallowed_methods, reason = "a sleep moves the time on that the tests have paused")]

use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{
    AddPartitionsToTxnRequest, EndTxnRequest, FetchRequest, FetchResponse, FindCoordinatorRequest, GroupId,
    HeartbeatRequest, InitProducerIdRequest, JoinGroupRequest, LeaveGroupRequest, ListGroupsRequest,
    ProduceRequest, ProducerId, TransactionalId,
};
use kafka_protocol::protocol::{Decodable, HeaderVersion, Request, StrBytes};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::api::Submitted;
use crate::config::TopicAtStart;
use crate::coordinator::Coordinator;
use crate::coordinator::command::{Command, EndTransaction};
use crate::coordinator::error::GroupError;
use crate::log::test_batch::BatchSpec;
use crate::types::{Now, ReplyTo, TopicName};

const UNKNOWN_MEMBER_ID: i16 = 25;

fn server(settings: &[(&str, &str)]) -> Server {
    Server::start(config(settings)).expect("a free port")
}

fn config(settings: &[(&str, &str)]) -> Config {
    let settings = [&[("listeners", "PLAINTEXT://127.0.0.1:0")], settings].concat();
    Config::with(&settings).expect("a valid configuration")
}

/// A frame with this correlation id.
fn frame<R: Request>(correlation_id: i32, version: i16, request: &R) -> Vec<u8> {
    let mut frame = vec![0; 4];
    frame.extend(R::KEY.to_be_bytes());
    frame.extend(version.to_be_bytes());
    frame.extend(correlation_id.to_be_bytes());
    frame.extend([0, 4]);
    frame.extend(b"test");
    if R::header_version(version) >= 2 {
        frame.push(0);
    }
    request.encode(&mut frame, version).expect("the request fits its version");
    let length = (frame.len() - 4) as u32;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    frame
}

struct Peer {
    stream: TcpStream,
    correlation_id: i32,
}

impl Peer {
    async fn connect(server: &Server) -> Self {
        Self {
            stream: TcpStream::connect(server.address()).await.expect("the server accepts"),
            correlation_id: 0,
        }
    }

    async fn send<R: Request>(&mut self, version: i16, request: &R) {
        self.correlation_id += 1;
        self.send_bytes(&frame(self.correlation_id, version, request)).await;
    }

    async fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("the server reads");
    }

    /// The next response, which must be to this request.
    async fn receive<R: Request>(&mut self, correlation_id: i32, version: i16) -> R::Response {
        let length = self.stream.read_i32().await.expect("a response");
        let mut body = vec![0; length as usize];
        self.stream.read_exact(&mut body).await.expect("a whole response");
        let mut body = Bytes::from(body);
        assert_eq!(body.get_i32(), correlation_id);
        body.advance(if R::Response::header_version(version) >= 1 { 1 } else { 0 });
        R::Response::decode(&mut body, version).expect("a response of that version")
    }

    async fn call<R: Request>(&mut self, version: i16, request: &R) -> R::Response {
        self.send(version, request).await;
        self.receive::<R>(self.correlation_id, version).await
    }

    /// The server closes without another byte.
    async fn ends(mut self) -> bool {
        match self.stream.read(&mut [0]).await {
            Ok(read) => read == 0,
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
        }
    }

    /// Whether the server answers instead of closing.
    async fn has_a_place(mut self) -> bool {
        let _ = self.stream.write_all(&frame(1, 4, &heartbeat("nobody"))).await;
        self.stream.read_i32().await.is_ok()
    }

    async fn is_served(&mut self) -> bool {
        self.call(4, &heartbeat("nobody")).await.error_code == UNKNOWN_MEMBER_ID
    }
}

fn heartbeat(member: &str) -> HeartbeatRequest {
    HeartbeatRequest::default()
        .with_group_id(group())
        .with_generation_id(1)
        .with_member_id(StrBytes::from(member.to_string()))
}

fn group() -> GroupId {
    GroupId(StrBytes::from_static_str("g"))
}

/// A join that is not sent back for a member id (before version 4).
fn join(member: &str) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(StrBytes::from_static_str("range"))
        .with_metadata(Bytes::from_static(b"metadata"));
    JoinGroupRequest::default()
        .with_group_id(group())
        .with_member_id(StrBytes::from(member.to_string()))
        .with_session_timeout_ms(10_000)
        .with_rebalance_timeout_ms(60_000)
        .with_protocol_type(StrBytes::from_static_str("consumer"))
        .with_protocols(vec![protocol])
}

const JOIN_VERSION: i16 = 3;

#[tokio::test(start_paused = true)]
async fn requests_are_answered_in_their_order_however_they_are_cut() {
    let server = server(&[]);
    let mut peer = Peer::connect(&server).await;
    let mut bytes = Vec::new();
    for correlation_id in 1..=1_000 {
        let version = (correlation_id % 5) as i16;
        bytes.extend(frame(correlation_id, version, &heartbeat("nobody")));
    }
    for chunk in bytes.chunks(1_013) {
        peer.send_bytes(chunk).await;
    }
    for correlation_id in 1..=1_000 {
        let version = (correlation_id % 5) as i16;
        let response = peer.receive::<HeartbeatRequest>(correlation_id, version).await;
        assert_eq!(response.error_code, UNKNOWN_MEMBER_ID);
    }
}

#[tokio::test(start_paused = true)]
async fn a_frame_may_come_byte_by_byte() {
    let server = server(&[]);
    let mut peer = Peer::connect(&server).await;
    for byte in frame(1, 4, &heartbeat("nobody")) {
        peer.send_bytes(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(peer.receive::<HeartbeatRequest>(1, 4).await.error_code, UNKNOWN_MEMBER_ID);
}

#[tokio::test(start_paused = true)]
async fn a_parked_request_holds_up_those_behind_it_and_no_other_connection() {
    let server = server(&[("group.initial.rebalance.delay.ms", "3000")]);
    let mut first = Peer::connect(&server).await;
    first.send(JOIN_VERSION, &join("")).await;
    first.send(4, &heartbeat("nobody")).await;
    let mut second = Peer::connect(&server).await;
    assert!(second.is_served().await);
    let joined = first.receive::<JoinGroupRequest>(1, JOIN_VERSION).await;
    assert_eq!((joined.error_code, joined.generation_id), (0, 1));
    assert_eq!(first.receive::<HeartbeatRequest>(2, 4).await.error_code, UNKNOWN_MEMBER_ID);
}

#[tokio::test(start_paused = true)]
async fn a_parked_join_is_answered_by_what_another_connection_does() {
    let server = server(&[("group.initial.rebalance.delay.ms", "0")]);
    let (mut first, mut second) = (Peer::connect(&server).await, Peer::connect(&server).await);
    let leader = first.call(JOIN_VERSION, &join("")).await;
    assert_eq!(leader.member_id, leader.leader);
    second.send(JOIN_VERSION, &join("")).await;
    // The rebalance that the second began is over once the first has joined again.
    let again = first.call(JOIN_VERSION, &join(&leader.member_id)).await;
    let joined = second.receive::<JoinGroupRequest>(1, JOIN_VERSION).await;
    assert_eq!((again.generation_id, joined.generation_id), (2, 2));
    assert_eq!(again.members.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_waits_as_long_as_it_may_or_until_something_is_produced() {
    let mut config = config(&[]);
    config.topics_at_start.push(TopicAtStart::parse("orders:1").expect("a legal name"));
    let server = Server::start(config).expect("a free port");
    let (mut peer, mut patient) = (Peer::connect(&server).await, Peer::connect(&server).await);
    let start = tokio::time::Instant::now();
    patient.send(FETCH_VERSION, &fetch(60_000)).await;
    let fetched = peer.call(FETCH_VERSION, &fetch(500)).await;
    assert_eq!(fetched.responses[0].partitions[0].error_code, 0);
    assert!((500..=510).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());

    assert_eq!(
        peer.call(PRODUCE_VERSION, &produce()).await.responses[0].partition_responses[0].error_code,
        0
    );
    let fetched = patient.receive::<FetchRequest>(1, FETCH_VERSION).await;
    assert!(fetched.responses[0].partitions[0].records.as_ref().is_some_and(|records| !records.is_empty()));
    assert!(start.elapsed().as_millis() < 1_000, "{:?}", start.elapsed());
}

const FETCH_VERSION: i16 = 4;
const PRODUCE_VERSION: i16 = 3;

fn orders() -> kafka_protocol::messages::TopicName {
    StrBytes::from_static_str("orders").into()
}

/// One record for `orders`.
fn produce() -> ProduceRequest {
    let batch = Bytes::from(BatchSpec::new(1, 0).build());
    let partition = PartitionProduceData::default().with_records(Some(batch));
    let topic = TopicProduceData::default().with_name(orders()).with_partition_data(vec![partition]);
    ProduceRequest::default().with_acks(1).with_timeout_ms(1_000).with_topic_data(vec![topic])
}

/// Waits for one byte of `orders`.
fn fetch(max_wait_ms: i32) -> FetchRequest {
    let partition = FetchPartition::default().with_partition_max_bytes(1 << 20);
    let topic = FetchTopic::default().with_topic(orders()).with_partitions(vec![partition]);
    FetchRequest::default().with_max_wait_ms(max_wait_ms).with_min_bytes(1).with_topics(vec![topic])
}

#[tokio::test(start_paused = true)]
async fn a_member_that_is_silent_is_evicted_when_its_session_is_over() {
    let server = server(&[("group.initial.rebalance.delay.ms", "0")]);
    let mut peer = Peer::connect(&server).await;
    let member = peer.call(JOIN_VERSION, &join("")).await.member_id;
    let leave = LeaveGroupRequest::default().with_group_id(group()).with_member_id(member);
    tokio::time::sleep(Duration::from_millis(70_001)).await;
    assert_eq!(peer.call(2, &leave).await.error_code, UNKNOWN_MEMBER_ID);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_closes_its_connection_and_no_other() {
    let server = server(&[]);
    let mut good = Peer::connect(&server).await;
    let mut unknown_version = frame(1, 4, &heartbeat("nobody"));
    unknown_version[7] = 5;
    let mut unknown_key = unknown_version.clone();
    unknown_key[5] = 99;
    let huge_array =
        [&[0, 0, 0, 14, 0, 13, 0, 3, 0, 0, 0, 1, 0xff, 0xff, 0, 0][..], &i32::MAX.to_be_bytes()].concat();
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0x16, 0x03, 0x01, 0x02, 0x00],
        &[0, 0, 0, 0],
        &[0xff; 4],
        &[0, 0, 0, 2, 0, 12],
        &unknown_version,
        &unknown_key,
        &huge_array,
    ] {
        let mut bad = Peer::connect(&server).await;
        bad.send_bytes(bytes).await;
        assert!(bad.ends().await, "{bytes:?}");
        assert!(good.is_served().await);
    }
}

#[tokio::test(start_paused = true)]
async fn a_length_that_lies_closes_its_connection_and_no_other() {
    let server = server(&[]);
    let mut good = Peer::connect(&server).await;
    let mut lies = 0;
    for frame in crate::wire::guard::tests::lying_frames() {
        let mut bad = Peer::connect(&server).await;
        bad.send_bytes(&(frame.len() as u32).to_be_bytes()).await;
        bad.send_bytes(&frame).await;
        assert!(bad.ends().await, "{frame:?}");
        lies += 1;
    }
    assert!(lies > 1_000, "only {lies} were tried");
    assert!(good.is_served().await);
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_before_the_end_is_answered() {
    let server = server(&[]);
    let mut peer = Peer::connect(&server).await;
    peer.send_bytes(&[frame(1, 4, &heartbeat("nobody")), vec![0xff; 4]].concat()).await;
    assert_eq!(peer.receive::<HeartbeatRequest>(1, 4).await.error_code, UNKNOWN_MEMBER_ID);
    assert!(peer.ends().await);
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let server = server(&[("connections.max.idle.ms", "10000")]);
    let idle = Peer::connect(&server).await;
    let mut busy = Peer::connect(&server).await;
    for _ in 0..3 {
        assert!(busy.is_served().await);
        tokio::time::sleep(Duration::from_millis(6_000)).await;
    }
    assert!(idle.ends().await);
    assert!(busy.is_served().await);
    assert!(busy.ends().await);
}

/// TM-04: as in Kafka, a request that is parked keeps no connection open.
#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_also_while_its_join_is_parked() {
    let server = server(&[("connections.max.idle.ms", "1000"), ("group.initial.rebalance.delay.ms", "5000")]);
    let mut parked = Peer::connect(&server).await;
    parked.send(JOIN_VERSION, &join("")).await;
    assert!(parked.ends().await);
    // Its member stays, as with any connection that is cut.
    let list = ListGroupsRequest::default();
    let mut other = Peer::connect(&server).await;
    assert_eq!(other.call(4, &list).await.groups[0].group_state.as_str(), "PreparingRebalance");
}

/// CJ-06: in version 0 the session timeout is the rebalance timeout as well.
#[tokio::test(start_paused = true)]
async fn a_member_of_version_0_has_its_session_timeout_to_rejoin() {
    let server = server(&[("group.initial.rebalance.delay.ms", "0")]);
    let (mut first, mut second) = (Peer::connect(&server).await, Peer::connect(&server).await);
    let member = first.call(0, &join("")).await.member_id;
    let start = tokio::time::Instant::now();
    second.send(0, &join("")).await;
    // It is alive, but does not rejoin.
    tokio::time::sleep(Duration::from_millis(6_000)).await;
    assert_eq!(first.call(4, &heartbeat(&member)).await.error_code, 27);
    let alone = second.receive::<JoinGroupRequest>(1, 0).await;
    assert_eq!((alone.error_code, alone.members.len()), (0, 1));
    let elapsed = start.elapsed().as_millis();
    assert!((10_000..10_100).contains(&elapsed), "{elapsed} ms");
    assert_eq!(first.call(4, &heartbeat(&member)).await.error_code, UNKNOWN_MEMBER_ID);
}

#[tokio::test]
async fn an_address_has_as_many_connections_as_it_may() {
    let server = server(&[("max.connections.per.ip", "2")]);
    let mut first = Peer::connect(&server).await;
    let mut second = Peer::connect(&server).await;
    assert!(first.is_served().await && second.is_served().await);
    assert!(Peer::connect(&server).await.ends().await);
    drop(first);
    // Its place is free as soon as the server has noticed.
    while !Peer::connect(&server).await.has_a_place().await {}
}

#[tokio::test]
async fn connections_beyond_the_maximum_wait_for_a_place() {
    let server = server(&[("max.connections", "1")]);
    let mut first = Peer::connect(&server).await;
    assert!(first.is_served().await);
    let mut second = Peer::connect(&server).await;
    second.send(4, &heartbeat("nobody")).await;
    drop(first);
    assert_eq!(second.receive::<HeartbeatRequest>(1, 4).await.error_code, UNKNOWN_MEMBER_ID);
}

#[tokio::test(start_paused = true)]
async fn connections_beyond_the_rate_wait_for_their_turn() {
    let server = server(&[("max.connection.creation.rate", "2")]);
    let start = tokio::time::Instant::now();
    for _ in 0..6 {
        assert!(Peer::connect(&server).await.is_served().await);
    }
    // Two at once, then one each half a second.
    assert!((1_500..=2_500).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_closes_what_is_parked_without_an_answer() {
    let server = server(&[("group.initial.rebalance.delay.ms", "3000")]);
    let mut parked = Peer::connect(&server).await;
    parked.send(JOIN_VERSION, &join("")).await;
    let mut other = Peer::connect(&server).await;
    assert!(other.is_served().await);
    let address = server.address();
    server.shutdown().await;
    assert!(parked.ends().await);
    assert!(other.ends().await);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_port_in_use_is_told_in_one_line() {
    let server = server(&[]);
    let listener = format!("PLAINTEXT://{}", server.address());
    let config = Config::with(&[("listeners", &listener)]).expect("a valid configuration");
    let error = Server::start(config).expect_err("the port is taken").to_string();
    assert!(error.contains("is in use") && !error.contains('\n'), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_is_not_read_from_either() {
    let server = server(&[]);
    let mut peer = Peer::connect(&server).await;
    let batch: BytesMut = (0..1_000).flat_map(|id| frame(id, 4, &heartbeat("nobody"))).collect();
    // Both directions of the socket fill up; then the peer cannot write on.
    let mut sent = 0;
    while sent < 64 << 20 {
        match tokio::time::timeout(Duration::from_millis(100), peer.stream.write_all(&batch)).await {
            Ok(written) => written.expect("the connection is open"),
            Err(_) => return,
        }
        sent += batch.len();
    }
    panic!("the server took {sent} bytes of requests that nobody reads the answers of");
}

/// A producer with transactions, which speaks the newest versions or those before KIP-890.
struct Transactional {
    peer: Peer,
    id: TransactionalId,
    producer: (ProducerId, i16),
    is_new: bool,
}

impl Transactional {
    async fn begin(server: &Server, is_new: bool, timeout_ms: i32) -> Self {
        let mut peer = Peer::connect(server).await;
        let id = TransactionalId(StrBytes::from_static_str("x"));
        let find = FindCoordinatorRequest::default()
            .with_key_type(1)
            .with_coordinator_keys(vec![StrBytes::from_static_str("x")]);
        assert_eq!(peer.call(4, &find).await.coordinators[0].error_code, 0);
        let init = InitProducerIdRequest::default()
            .with_transactional_id(Some(id.clone()))
            .with_transaction_timeout_ms(timeout_ms)
            .with_producer_id(ProducerId(-1))
            .with_producer_epoch(-1);
        let answer = peer.call(4, &init).await;
        assert_eq!(answer.error_code, 0);
        let producer = (answer.producer_id, answer.producer_epoch);
        let mut begun = Self { peer, id, producer, is_new };
        if !is_new {
            let topic = AddPartitionsToTxnTopic::default().with_name(orders()).with_partitions(vec![0]);
            let add = AddPartitionsToTxnRequest::default()
                .with_v3_and_below_transactional_id(begun.id.clone())
                .with_v3_and_below_producer_id(producer.0)
                .with_v3_and_below_producer_epoch(producer.1)
                .with_v3_and_below_topics(vec![topic]);
            let added = begun.peer.call(3, &add).await.results_by_topic_v3_and_below;
            assert_eq!(added[0].results_by_partition[0].partition_error_code, 0);
        }
        begun
    }

    async fn produce(&mut self) -> i16 {
        let batch = BatchSpec::new(1, 0).attributes(0x10).producer(self.producer.0.0, self.producer.1, 0);
        let data = PartitionProduceData::default().with_records(Some(batch.build().into()));
        let topic = TopicProduceData::default().with_name(orders()).with_partition_data(vec![data]);
        let request = ProduceRequest::default()
            .with_transactional_id(Some(self.id.clone()))
            .with_acks(-1)
            .with_topic_data(vec![topic]);
        let version = if self.is_new { 12 } else { 9 };
        self.peer.call(version, &request).await.responses[0].partition_responses[0].error_code
    }

    async fn end(&mut self, committed: bool) -> i16 {
        let request = EndTxnRequest::default()
            .with_transactional_id(self.id.clone())
            .with_producer_id(self.producer.0)
            .with_producer_epoch(self.producer.1)
            .with_committed(committed);
        self.peer.call(if self.is_new { 5 } else { 3 }, &request).await.error_code
    }
}

/// How many bytes there are, and from where on they are to be skipped.
fn records_and_aborted(answer: &FetchResponse) -> (usize, Vec<i64>) {
    let partition = &answer.responses[0].partitions[0];
    let aborted = partition.aborted_transactions.iter().flatten().map(|aborted| aborted.first_offset);
    (partition.records.as_ref().map_or(0, Bytes::len), aborted.collect())
}

#[tokio::test(start_paused = true)]
async fn whoever_reads_what_is_committed_waits_for_the_end_of_a_transaction() {
    for (is_new, committed) in [(false, true), (false, false), (true, true), (true, false)] {
        let mut config = config(&[]);
        config.topics_at_start = vec![TopicAtStart::parse("orders:1").expect("a topic")];
        let server = Server::start(config).expect("a free port");
        let mut producer = Transactional::begin(&server, is_new, 60_000).await;
        assert_eq!(producer.produce().await, 0);
        let mut reader = Peer::connect(&server).await;
        reader.send(11, &fetch(30_000).with_isolation_level(1)).await;
        let mut other = Peer::connect(&server).await;
        let (seen, _) = records_and_aborted(&other.call(11, &fetch(0).with_isolation_level(1)).await);
        assert_eq!(seen, 0, "what is open is not read");
        assert_eq!(producer.end(committed).await, 0);
        let answer = reader.receive::<FetchRequest>(1, 11).await;
        let (seen, aborted) = records_and_aborted(&answer);
        assert!(seen > 0);
        assert_eq!(aborted, if committed { vec![] } else { vec![0] });
        assert_eq!(answer.responses[0].partitions[0].last_stable_offset, 2, "the record and the marker");
    }
}

#[tokio::test(start_paused = true)]
async fn a_transaction_that_is_open_for_too_long_is_aborted() {
    for (is_new, refusal) in [(false, ResponseError::ProducerFenced), (true, ResponseError::InvalidTxnState)]
    {
        let mut config = config(&[]);
        config.topics_at_start = vec![TopicAtStart::parse("orders:1").expect("a topic")];
        let server = Server::start(config).expect("a free port");
        let mut producer = Transactional::begin(&server, is_new, 1_000).await;
        assert_eq!(producer.produce().await, 0);
        let mut reader = Peer::connect(&server).await;
        let answer = reader.call(11, &fetch(30_000).with_isolation_level(1)).await;
        assert_eq!(records_and_aborted(&answer).1, [0]);
        assert_eq!(producer.end(true).await, refusal.code());
        assert_eq!(producer.produce().await, ResponseError::InvalidProducerEpoch.code());
    }
}

/// Coordinators with a bug in each request.
#[derive(Debug)]
struct Buggy;

impl Groups for Buggy {
    fn submit(&self, _: Now, _: &str, _: ReplyTo, _: Command<'_>) -> Submitted {
        panic!("a bug")
    }

    fn submit_if(
        &self,
        _: Now,
        _: &str,
        _: ReplyTo,
        _: Command<'_>,
        _: &mut dyn FnMut() -> Result<(), ResponseError>,
    ) -> Result<Submitted, ResponseError> {
        panic!("a bug")
    }

    fn partition_of(&self, _: &str) -> i32 {
        0
    }

    fn end_transaction(&self, _: Now, _: i32, _: EndTransaction) {
        panic!("a bug")
    }

    fn read(&self, _: &str, _: &mut dyn FnMut(&Coordinator)) -> Result<(), GroupError> {
        Err(GroupError::CoordinatorNotAvailable)
    }

    fn read_all(&self, _: &mut dyn FnMut(&Coordinator)) {}

    fn show_records(&self, _: Now, _: i32) {}

    fn topics_deleted(&self, _: Now, _: &[TopicName]) {}
}

#[tokio::test(start_paused = true)]
async fn a_bug_in_a_handler_closes_its_connection_and_no_other() {
    let server = Server::builder(config(&[])).start_with(|_| Arc::new(Buggy)).expect("a free port");
    let mut good = Peer::connect(&server).await;
    let list = ListGroupsRequest::default();
    for _ in 0..2 {
        let mut unlucky = Peer::connect(&server).await;
        unlucky.send(4, &heartbeat("nobody")).await;
        assert!(unlucky.ends().await);
        assert_eq!(good.call(0, &list).await.error_code, 0);
    }
}
