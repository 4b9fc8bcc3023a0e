//! A program that embeds the server brings along an assignor of its own, which may also be a bad one.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse, GroupId,
};
use protocol_tests::peer::Peer;
use protocol_tests::requests::{consume, subscribe, text};
use rallypoint::assignor::{
    GroupSpec, MemberAssignment, PartitionAssignor, PartitionAssignorError, TopicSpec,
};
use rallypoint::config::Config;
use rallypoint::server::{self, Server};

use super::{Broker, create_topic};

/// Each heartbeat that calls for an assignment computes it.
const SETTINGS: [(&str, &str); 4] = [
    ("listeners", "PLAINTEXT://127.0.0.1:0"),
    ("group.consumer.assignors", "uniform,standby"),
    ("group.consumer.assignment.interval.ms", "0"),
    ("group.consumer.assignor.offload.enable", "false"),
];

/// The member that comes first has all partitions and the others nothing, which no assignor of Kafka's does. The rack of a
/// member says how it is to fail instead.
#[derive(Debug)]
struct Standby;

impl PartitionAssignor for Standby {
    fn name(&self) -> &str {
        "standby"
    }

    fn assign(&self, group: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
        let is_in = |wanted: &str| group.members.iter().any(|m| m.rack_id.as_deref() == Some(wanted));
        assert!(!is_in("panic"), "an assignor of which a test wants a panic");
        if is_in("refuse") {
            return Err(PartitionAssignorError("not with those".to_owned()));
        }
        let beyond = i32::from(is_in("beyond"));
        let of_topic = |topic: &TopicSpec| (topic.topic_id, topic.partition_count as i32 + beyond);
        let all = group.topics.iter().map(of_topic).flat_map(|(id, count)| (0..count).map(move |p| (id, p)));
        let all: MemberAssignment = all.collect();
        let of = |place| if place == 0 || is_in("twice") { all.clone() } else { MemberAssignment::default() };
        let members = if is_in("few") { 1 } else { group.members.len() };
        Ok((0..members).map(of).collect())
    }
}

fn broker() -> Broker {
    Broker::start_built(builder(&SETTINGS).assignor(Standby))
}

fn builder(settings: &[(&str, &str)]) -> server::Builder {
    Server::builder(Config::with(settings).expect("a valid configuration"))
}

fn join(group: &str, member: &str, assignor: &str) -> ConsumerGroupHeartbeatRequest {
    subscribe(group, member, ["orders"].into_iter()).with_server_assignor(Some(text(assignor)))
}

fn beat(peer: &mut Peer, request: &ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse {
    peer.call(1, request).expect("the heartbeat is answered")
}

/// Error, member epoch, and the partitions that the member is told to have.
fn outcome(response: &ConsumerGroupHeartbeatResponse) -> (i16, i32, Option<Vec<i32>>) {
    let assigned = response.assignment.as_ref().map(|assignment| {
        assignment.topic_partitions.iter().flat_map(|topic| topic.partitions.clone()).collect()
    });
    (response.error_code, response.member_epoch, assigned)
}

/// Group epoch, assignment epoch, assignor, members.
fn described(peer: &mut Peer, group: &str) -> (i32, i32, String, usize) {
    let request = ConsumerGroupDescribeRequest::default().with_group_ids(vec![GroupId(text(group))]);
    let found = peer.call(1, &request).expect("the group is described").groups.remove(0);
    (found.group_epoch, found.assignment_epoch, found.assignor_name.to_string(), found.members.len())
}

#[test]
fn members_get_what_an_assignor_of_the_program_gives_them() {
    let broker = broker();
    let mut peer = broker.connect();
    create_topic(&mut peer, "orders", 4);
    assert_eq!(outcome(&beat(&mut peer, &join("g", "a", "standby"))), (0, 2, Some(vec![0, 1, 2, 3])));
    assert_eq!(outcome(&beat(&mut peer, &join("g", "b", "standby"))), (0, 3, Some(vec![])));
    assert_eq!(described(&mut peer, "g"), (3, 3, "standby".to_owned(), 2));
    // The first leaves, and the one that stood by takes over.
    let gone = beat(&mut peer, &consume("g", "a", -1));
    assert_eq!(outcome(&gone), (0, -1, None));
    assert_eq!(outcome(&beat(&mut peer, &consume("g", "b", 3))), (0, 4, Some(vec![0, 1, 2, 3])));
    // Who asks for another of those that are listed gets that.
    assert_eq!(outcome(&beat(&mut peer, &join("other", "a", "uniform"))), (0, 2, Some(vec![0, 1, 2, 3])));
    assert_eq!(outcome(&beat(&mut peer, &join("other", "b", "uniform"))), (0, 3, Some(vec![])));
    assert_eq!(described(&mut peer, "other"), (3, 3, "uniform".to_owned(), 2));
    let share = outcome(&beat(&mut peer, &consume("other", "a", 2))).2;
    assert_eq!(share.map(|partitions| partitions.len()), Some(2));
}

#[test]
fn an_assignor_that_is_not_listed_is_not_to_be_had() {
    let settings = [SETTINGS[0]];
    let broker = Broker::start_built(builder(&settings).assignor(Standby));
    let mut peer = broker.connect();
    create_topic(&mut peer, "orders", 4);
    let response = beat(&mut peer, &join("g", "a", "standby"));
    assert_eq!(response.error_code, ResponseError::UnsupportedAssignor.code());
    let message = "ServerAssignor standby is not supported. Supported assignors: uniform, range.";
    assert_eq!(response.error_message.as_deref(), Some(message));
}

#[test]
fn an_assignor_that_panics_or_lies_changes_nothing_and_can_be_asked_again() {
    let broker = broker();
    let mut peer = broker.connect();
    create_topic(&mut peer, "orders", 4);
    assert_eq!(outcome(&beat(&mut peer, &join("g", "a", "standby"))), (0, 2, Some(vec![0, 1, 2, 3])));
    assert_eq!(outcome(&beat(&mut peer, &join("g", "b", "standby"))), (0, 3, Some(vec![])));
    let reasons = [
        ("panic", "the assignor standby panicked"),
        ("refuse", "not with those"),
        ("twice", "the assignor standby gave partition 0 to two members"),
        ("beyond", "the assignor standby gave away partition 4, which there is not"),
        ("few", "the assignor standby gave 1 assignments to 3 members"),
    ];
    for (rack, reason) in reasons {
        let failed = beat(&mut peer, &join("g", "c", "standby").with_rack_id(Some(text(rack))));
        assert_eq!(failed.error_code, ResponseError::UnknownServerError.code());
        let message = format!("Failed to compute a new target assignment for epoch 4: {reason}");
        assert_eq!(failed.error_message.as_deref(), Some(&*message));
        assert_eq!(described(&mut peer, "g"), (3, 3, "standby".to_owned(), 2));
        assert_eq!(outcome(&beat(&mut peer, &consume("g", "b", 3))), (0, 3, None));
    }
    assert_eq!(outcome(&beat(&mut peer, &join("g", "c", "standby"))), (0, 4, Some(vec![])));
}
