//! What is over leaves nothing behind.
#![expect(clippy::disallowed_methods, reason = "a test that waits for ever says nothing")]

use std::time::{Duration, Instant};

use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::leave_group_request::MemberIdentity;
use kafka_protocol::messages::{
    DeleteGroupsRequest, DeleteTopicsRequest, FetchRequest, GroupId, LeaveGroupRequest, MetadataRequest,
    TopicName,
};
use protocol_tests::peer::{Peer, frame};
use protocol_tests::requests::{commit, heartbeat, join, metadata, subscribe_to_pattern, text};
use protocol_tests::victim::Victim;

use crate::frames::is_served;
use crate::{attack, is_strict};

/// Everything that a peer can have the broker keep for a while, and then the end of it.
fn come_and_go(victim: &Victim) {
    connections(victim);
    topics(victim);
    classic_groups(victim);
    consumer_groups(victim);
    is_served(&mut victim.connect());
}

/// Silent ones, whole and half frames, requests unread, long polls.
fn connections(victim: &Victim) {
    let mut peers: Vec<Peer> = (0..2_000).map(|_| victim.connect()).collect();
    let unread = frame("test", 1, 4, &heartbeat("nobody", "nobody", 1)).repeat(10_000);
    let topic = FetchTopic::default()
        .with_topic(TopicName(text("t")))
        .with_partitions(vec![FetchPartition::default()]);
    let fetch = FetchRequest::default()
        .with_max_wait_ms(100)
        .with_min_bytes(1)
        .with_session_epoch(-1)
        .with_topics(vec![topic]);
    for (n, peer) in peers.iter_mut().enumerate() {
        match n % 4 {
            0 => {}
            1 => peer
                .send_bytes(&[&(1_u32 << 20).to_be_bytes()[..], &[0; 4_000]].concat())
                .expect("the server reads"),
            2 => peer.send(11, &fetch).expect("the server reads"),
            _ => {
                let part = if n % 100 == 3 { unread.len() } else { unread.len() / 10_000 };
                peer.send_bytes(&unread[..part]).expect("the server reads");
            }
        }
    }
    is_served(&mut victim.connect());
}

fn topics(victim: &Victim) {
    let mut peer = victim.connect();
    let names: Vec<String> = (0..2_000).map(|n| format!("topic-{n}")).collect();
    peer.call(9, &metadata(names.iter().map(String::as_str))).expect("an answer");
    peer.call(9, &MetadataRequest::default().with_topics(None)).expect("an answer");
    let delete = DeleteTopicsRequest::default()
        .with_topic_names(names.iter().map(|name| TopicName(text(name))).collect())
        .with_timeout_ms(10_000);
    let deleted = peer.call(5, &delete).expect("an answer");
    assert!(deleted.responses.iter().all(|topic| topic.error_code == 0));
}

fn classic_groups(victim: &Victim) {
    let mut peer = victim.connect();
    let group = |n: usize| GroupId(text(&format!("classic-{n}")));
    for n in 0..200 {
        let name = format!("classic-{n}");
        let member = peer.call(3, &join(&name, "", &[0; 4_096])).expect("an answer").member_id;
        peer.call(2, &commit(&name, "t", 0..1, &"m".repeat(1_000))).expect("an answer");
        let leaver = MemberIdentity::default().with_member_id(member);
        let leave = LeaveGroupRequest::default().with_group_id(group(n)).with_members(vec![leaver]);
        assert_eq!(peer.call(3, &leave).expect("an answer").members[0].error_code, 0);
    }
    delete_groups(&mut peer, (0..200).map(group).collect());
}

fn consumer_groups(victim: &Victim) {
    let mut peer = victim.connect();
    let group = |n: usize| GroupId(text(&format!("consumer-{n}")));
    for n in 0..400 {
        let (name, member) = (format!("consumer-{}", n / 2), format!("m{n}"));
        let joins = subscribe_to_pattern(&name, &member, &format!("t|{n}.*"));
        assert_eq!(peer.call(1, &joins).expect("an answer").error_code, 0);
    }
    for n in 0..400 {
        let leaves = protocol_tests::requests::consume(&format!("consumer-{}", n / 2), &format!("m{n}"), -1);
        assert_eq!(peer.call(1, &leaves).expect("an answer").error_code, 0);
    }
    delete_groups(&mut peer, (0..200).map(group).collect());
}

fn delete_groups(peer: &mut Peer, groups: Vec<GroupId>) {
    let delete = DeleteGroupsRequest::default().with_groups_names(groups);
    let deleted = peer.call(1, &delete).expect("an answer");
    assert!(deleted.results.iter().all(|group| group.error_code == 0), "{:?}", deleted.results[0]);
}

/// The allocator keeps what it has got for the next time, and has enough after a few times.
#[test]
fn what_is_over_leaves_nothing_behind() {
    attack(
        "everything comes and goes, and comes again",
        &[("socket.listen.backlog.size", "4096")],
        |victim| {
            victim.connect().call(9, &metadata(["t"].into_iter())).expect("an answer");
            (0..6).for_each(|_| come_and_go(victim));
            let before = victim.resident_bytes();
            (0..6).for_each(|_| come_and_go(victim));
            let patience = Duration::from_secs(if is_strict() { 10 } else { 60 });
            let start = Instant::now();
            while victim.resident_bytes() > before * 3 / 2 {
                assert!(
                    start.elapsed() < patience,
                    "{} KiB became {}",
                    before >> 10,
                    victim.resident_bytes() >> 10
                );
                is_served(&mut victim.connect());
            }
        },
    );
}
