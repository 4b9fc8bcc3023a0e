//! Cases that users of consumer groups hit (CASES.md), where the wire matters: peers on raw sockets against a server
//! in this process. Nothing waits for a time to pass.

mod admin;
mod assignors;
mod groups;
mod offsets;
mod transactions;

use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::describe_groups_response::DescribedGroup;
use kafka_protocol::messages::join_group_response::JoinGroupResponse;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    CreateTopicsRequest, DescribeGroupsRequest, GroupId, HeartbeatRequest, JoinGroupRequest, MetadataRequest,
    SyncGroupRequest, TopicName,
};
use protocol_tests::peer::Peer;
use protocol_tests::requests::{heartbeat, join, metadata, text};
use rallypoint::config::Config;
use rallypoint::server::{self, Server};
use tokio::runtime::{Builder, Runtime};
use uuid::Uuid;

/// A version of JoinGroup that is not sent back for a member id.
const JOIN_VERSION: i16 = 3;

struct Broker {
    server: Server,
    _runtime: Runtime,
}

impl Broker {
    fn start() -> Self {
        Self::start_built(Server::builder(config()))
    }

    fn start_built(builder: server::Builder) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = runtime.block_on(async { builder.start() }).expect("a free port");
        Self { server, _runtime: runtime }
    }

    fn connect(&self) -> Peer {
        Peer::connect(self.server.address()).expect("the server accepts")
    }
}

fn start_server() -> Server {
    Server::start(config()).expect("a free port")
}

fn config() -> Config {
    Config::with(&[("listeners", "PLAINTEXT://127.0.0.1:0")]).expect("a valid configuration")
}

/// A member of a group, on a connection of its own.
struct Member {
    peer: Peer,
    group: &'static str,
    id: String,
}

impl Member {
    fn new(broker: &Broker, group: &'static str) -> Self {
        Self { peer: broker.connect(), group, id: String::new() }
    }

    /// No more than 50 connections may wait to be accepted (`socket.listen.backlog.size`), so many come one by one.
    fn new_and_served(broker: &Broker, group: &'static str) -> Self {
        let mut member = Self::new(broker, group);
        assert_ne!(member.heartbeat(0), 0);
        member
    }

    fn send_join(&mut self) {
        let request = join(self.group, &self.id, b"");
        self.peer.send(JOIN_VERSION, &request).expect("the server reads");
    }

    fn joined(&mut self) -> JoinGroupResponse {
        let joined = self.peer.receive::<JoinGroupRequest>(JOIN_VERSION).expect("the join is answered");
        assert_eq!(joined.error_code, 0);
        self.id = joined.member_id.to_string();
        joined
    }

    fn send_sync(&mut self, generation: i32, parts: Vec<SyncGroupRequestAssignment>) {
        let request = SyncGroupRequest::default()
            .with_group_id(GroupId(text(self.group)))
            .with_generation_id(generation)
            .with_member_id(text(&self.id))
            .with_assignments(parts);
        self.peer.send(3, &request).expect("the server reads");
    }

    fn synced(&mut self) -> Vec<u8> {
        let synced = self.peer.receive::<SyncGroupRequest>(3).expect("the sync is answered");
        assert_eq!(synced.error_code, 0);
        synced.assignment.to_vec()
    }

    fn heartbeat(&mut self, generation: i32) -> i16 {
        let request = heartbeat(self.group, &self.id, generation);
        self.peer.call::<HeartbeatRequest>(4, &request).expect("the heartbeat is answered").error_code
    }
}

fn part(member: &str, assignment: Vec<u8>) -> SyncGroupRequestAssignment {
    SyncGroupRequestAssignment::default().with_member_id(text(member)).with_assignment(assignment.into())
}

fn describe(peer: &mut Peer, group: &str) -> DescribedGroup {
    let request = DescribeGroupsRequest::default().with_groups(vec![GroupId(text(group))]);
    peer.call(5, &request).expect("groups are described").groups.remove(0)
}

/// Until so many have joined: requests on other connections are looked at in no certain order.
fn wait_for_members(peer: &mut Peer, group: &str, count: usize) {
    while describe(peer, group).members.len() != count {}
}

fn create_topic(peer: &mut Peer, name: &str, partitions: i32) {
    let topic = CreatableTopic::default()
        .with_name(TopicName(text(name)))
        .with_num_partitions(partitions)
        .with_replication_factor(1);
    let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(1_000);
    assert_eq!(peer.call(7, &request).expect("topics are created").topics[0].error_code, 0);
}

/// Error, id and number of partitions.
fn topic(peer: &mut Peer, name: &str) -> (i16, Uuid, usize) {
    let request = metadata([name].into_iter()).with_allow_auto_topic_creation(false);
    let response = peer.call::<MetadataRequest>(12, &request).expect("metadata");
    (response.topics[0].error_code, response.topics[0].topic_id, response.topics[0].partitions.len())
}
