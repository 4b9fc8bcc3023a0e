//! What admin tools and user interfaces are told.

use std::collections::BTreeSet;

use kafka_protocol::messages::delete_topics_request::DeleteTopicState;
use kafka_protocol::messages::{
    DeleteGroupsRequest, DeleteTopicsRequest, LeaveGroupRequest, ListGroupsRequest, OffsetCommitRequest,
};
use protocol_tests::requests::commit;

use super::*;
use crate::offsets::committed;

fn leave(member: &mut Member) {
    let group = GroupId(text(member.group));
    let request = LeaveGroupRequest::default().with_group_id(group).with_member_id(text(&member.id));
    assert_eq!(member.peer.call(2, &request).expect("an answer").error_code, 0);
}

/// AD-04: groups that only store offsets are listed, without a type; those that had members keep theirs.
#[test]
fn groups_without_members_are_listed_with_the_type_they_had() {
    let broker = Broker::start();
    let mut member = Member::new(&broker, "had-members");
    member.send_join();
    member.joined();
    leave(&mut member);
    let mut peer = broker.connect();
    create_topic(&mut peer, "t", 1);
    peer.call::<OffsetCommitRequest>(8, &commit("simple", "t", 0..1, "")).expect("an answer");
    let mut groups = peer.call(5, &ListGroupsRequest::default()).expect("a list").groups;
    groups.sort_by_key(|group| group.group_id.to_string());
    let groups: Vec<_> = groups
        .iter()
        .map(|group| (group.group_id.as_str(), group.protocol_type.as_str(), group.group_state.as_str()))
        .collect();
    assert_eq!(groups, [("had-members", "consumer", "Empty"), ("simple", "", "Empty")]);
}

const NON_EMPTY_GROUP: i16 = 68;
const GROUP_ID_NOT_FOUND: i16 = 69;

/// AD-07: a group without offsets can be read and deleted like any other.
#[test]
fn a_group_without_offsets_is_read_and_deleted() {
    let broker = Broker::start();
    let mut member = Member::new(&broker, "g");
    member.send_join();
    member.joined();
    let mut peer = broker.connect();
    let delete = DeleteGroupsRequest::default().with_groups_names(vec![GroupId(text("g"))]);
    let mut deleted = || peer.call(2, &delete).expect("an answer").results[0].error_code;
    assert_eq!(deleted(), NON_EMPTY_GROUP);
    leave(&mut member);
    assert_eq!(committed(&mut member.peer, "g"), []);
    assert_eq!(deleted(), 0);
    assert_eq!(deleted(), GROUP_ID_NOT_FOUND);
}

/// MD-06: what was committed for a topic goes with the topic.
#[test]
fn offsets_of_a_deleted_topic_are_not_listed() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    for name in ["t1", "t2"] {
        create_topic(&mut peer, name, 1);
        peer.call::<OffsetCommitRequest>(8, &commit("g", name, 0..1, "")).expect("an answer");
    }
    assert_eq!(committed(&mut peer, "g"), [("t1".to_owned(), 0, 1), ("t2".to_owned(), 0, 1)]);
    let topic = DeleteTopicState::default().with_name(Some(TopicName(text("t1"))));
    let delete = DeleteTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(1_000);
    assert_eq!(peer.call(6, &delete).expect("an answer").responses[0].error_code, 0);
    assert_eq!(committed(&mut peer, "g"), [("t2".to_owned(), 0, 1)]);
}

/// AD-09: whoever looks at a group in a rebalance sees no partition twice, and one generation at a time.
#[test]
fn a_description_never_mixes_two_generations() {
    const MEMBERS: usize = 5;
    let broker = Broker::start();
    let mut members: Vec<_> = (0..MEMBERS).map(|_| Member::new(&broker, "g")).collect();
    let mut observer = broker.connect();
    members[0].send_join();
    members[0].joined();
    for member in &mut members[1..] {
        member.send_join();
    }
    wait_for_members(&mut observer, "g", MEMBERS);
    for round in 0..50_u8 {
        let mut look = || check_description(&describe(&mut observer, "g"), round);
        members[0].send_join();
        // A round later they are members already, and come one by one.
        for member in members[1..].iter_mut().filter(|_| round > 0) {
            look();
            while member.heartbeat(i32::from(round) + 1) == 0 {}
            member.send_join();
        }
        let generations: BTreeSet<_> =
            members.iter_mut().map(|member| member.joined().generation_id).collect();
        assert_eq!(generations, BTreeSet::from([i32::from(round) + 2]));
        look();
        let first = usize::from(round);
        let parts = (0..MEMBERS).map(|at| {
            let partition = u8::try_from((first + at) % MEMBERS).expect("few members");
            part(&members[at].id, vec![round + 1, partition])
        });
        let parts = parts.collect();
        let generation = i32::from(round) + 2;
        for member in &mut members[1..] {
            member.send_sync(generation, Vec::new());
            look();
        }
        members[0].send_sync(generation, parts);
        for member in &mut members {
            assert_eq!(member.synced()[0], round + 1);
        }
        let stable = describe(&mut observer, "g");
        assert_eq!(stable.group_state.as_str(), "Stable");
        check_description(&stable, round + 1);
    }
}

/// Assignments are of this generation, or there are none; each is a number of the generation and a partition.
fn check_description(group: &DescribedGroup, generation: u8) {
    let stable = group.group_state.as_str() == "Stable";
    assert_eq!(group.protocol_data.as_str(), if stable { "range" } else { "" });
    let assignments: Vec<_> = group.members.iter().map(|member| member.member_assignment.to_vec()).collect();
    let partitions: BTreeSet<_> = assignments.iter().filter_map(|assignment| assignment.get(1)).collect();
    let assigned = assignments.iter().filter(|assignment| !assignment.is_empty()).count();
    assert_eq!(partitions.len(), assigned, "a partition twice: {group:?}");
    assert!(assignments.iter().all(|a| a.first().is_none_or(|of| *of == generation)), "{group:?}");
    assert!(generation == 0 || assigned == group.members.len(), "{group:?}");
}
