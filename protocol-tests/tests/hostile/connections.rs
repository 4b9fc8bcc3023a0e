//! Connections without end, and peers that do not read.
#![expect(clippy::disallowed_methods, reason = "a test that waits for ever says nothing")]

use std::time::{Duration, Instant};

use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::{FetchRequest, MetadataRequest, TopicName};
use kafka_protocol::protocol::StrBytes;
use protocol_tests::peer::{Peer, frame};
use protocol_tests::requests::{heartbeat, join, join_alone, metadata};
use protocol_tests::victim::Victim;

use crate::frames::is_served;
use crate::{KIB, MIB, alone, attack, judge, victim};

#[test]
fn a_flood_of_connections_leaves_room_for_others() {
    const CONNECTIONS: usize = 10_000;
    let damage = attack("10,000 connections", &[("socket.listen.backlog.size", "4096")], |victim| {
        let peers: Vec<Peer> = (0..CONNECTIONS).map(|_| victim.connect()).collect();
        is_served(&mut victim.connect());
        drop(peers);
    });
    assert!(damage.growth_bytes <= CONNECTIONS * 16 * KIB, "{damage:?}");
}

#[test]
fn connections_beyond_the_limit_of_files_wait_and_cost_no_time() {
    let _alone = alone();
    let program = env!("CARGO_BIN_EXE_rallypoint-under-test");
    let mut victim = Victim::start_with_files(program, 128, &[]);
    is_out_of_files(&mut victim, 100);
    // Here the files are gone before the limit of connections is reached: accepting fails.
    let mut victim = Victim::start_with_files_taken(program, 160, 110, &[]);
    is_out_of_files(&mut victim, 70);
    while !victim.log().contains("no connection can be accepted for now") {
        victim.assert_alive();
        std::thread::yield_now();
    }
}

fn is_out_of_files(victim: &mut Victim, connections: usize) {
    judge(victim.suffer("no files left", |victim| {
        let peers: Vec<Peer> = (0..connections).map(|_| victim.connect()).collect();
        let (start, cpu_ms) = (Instant::now(), victim.cpu_ms());
        // The bystander is served all the while; this is only to let some time go by.
        while start.elapsed() < Duration::from_millis(500) {
            std::thread::yield_now();
        }
        let used_ms = victim.cpu_ms() - cpu_ms;
        assert!(used_ms <= 250, "waiting for files took {used_ms} ms of processor time in 500 ms");
        drop(peers);
    }));
    // As soon as there are files again, there are connections.
    is_served(&mut victim.connect());
}

#[test]
fn a_peer_that_pipelines_and_does_not_read_is_not_read_from() {
    let damage = attack("100,000 requests unread × 10", &[], |victim| {
        let one = frame("test", 1, 4, &heartbeat("nobody", "nobody", 1));
        let many = one.repeat(100_000);
        let mut peers: Vec<Peer> = (0..10).map(|_| victim.connect()).collect();
        for peer in &mut peers {
            peer.stuff(&many).expect("it is not closed");
        }
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 10 * 2 * MIB + 4 * MIB, "{damage:?}");
}

#[test]
fn a_peer_that_asks_for_much_and_does_not_read_gets_one_answer() {
    let _alone = alone();
    let mut victim = victim(&[("num.partitions", "10000")]);
    let names: Vec<String> = (0..2).map(|topic| format!("t{topic}")).collect();
    for name in &names {
        victim.connect().call(9, &metadata([name.as_str()].into_iter())).expect("an answer");
    }
    let all = MetadataRequest::default().with_topics(None);
    let mut peer = victim.connect();
    peer.send(9, &all).expect("the server reads");
    let answer_bytes = peer.receive_frame().expect("an answer").len();
    drop(peer);
    let damage = judge(victim.suffer("1,000 × Metadata of everything unread × 10", |victim| {
        let many = frame("test", 1, 9, &all).repeat(1_000);
        let mut peers: Vec<Peer> = (0..10).map(|_| victim.connect()).collect();
        for peer in &mut peers {
            peer.stuff(&many).expect("it is not closed");
        }
        is_served(&mut victim.connect());
    }));
    // An answer is in two forms while it is made.
    assert!(damage.growth_bytes <= 10 * (2 * MIB + answer_bytes) + 32 * MIB, "{answer_bytes}: {damage:?}");
}

#[test]
fn idle_connections_end_whatever_they_wait_for() {
    attack("idle connections", &[("connections.max.idle.ms", "1000")], |victim| {
        join_alone(&mut victim.connect(), "g").expect("the server is well");
        let mut silent = victim.connect();
        let mut half = victim.connect();
        half.send_bytes(&[0, 0]).expect("the server reads");
        let mut parked = victim.connect();
        parked.send(3, &join("g", "", b"")).expect("the server reads");
        let mut stuffed = victim.connect();
        let one = frame("test", 1, 4, &heartbeat("nobody", "nobody", 1));
        // It may be closed before it has stopped.
        let _ = stuffed.stuff(&one.repeat(1_000_000));
        for peer in [&mut silent, &mut half, &mut parked, &mut stuffed] {
            peer.until_closed().expect("it is closed");
        }
    });
}

#[test]
fn long_polls_are_timers_and_nothing_else() {
    const POLLS: usize = 10_000;
    let _alone = alone();
    let mut victim = victim(&[("socket.listen.backlog.size", "4096")]);
    victim.connect().call(9, &metadata(["t"].into_iter())).expect("an answer");
    let damage = judge(victim.suffer("10,000 long polls", |victim| {
        let partition = FetchPartition::default().with_partition_max_bytes(1 << 20);
        let topic = FetchTopic::default()
            .with_topic(TopicName(StrBytes::from_static_str("t")))
            .with_partitions(vec![partition]);
        let fetch = FetchRequest::default()
            .with_max_wait_ms(i32::MAX)
            .with_min_bytes(1)
            .with_session_epoch(-1)
            .with_topics(vec![topic]);
        let mut peers: Vec<Peer> = (0..POLLS).map(|_| victim.connect()).collect();
        for peer in &mut peers {
            peer.send(11, &fetch).expect("the server reads");
        }
        is_served(&mut victim.connect());
    }));
    assert!(damage.growth_bytes <= POLLS * 16 * KIB, "{damage:?}");
}

#[test]
fn long_client_ids_are_kept_where_they_must_be_and_nowhere_else() {
    let damage = attack("1,000 members with client ids of 32 KB", &[], |victim| {
        let client_id = "c".repeat(32_000);
        for group in 0..1_000 {
            let mut peer = victim.connect().named(&client_id);
            let joined = peer.call(3, &join(&format!("g{group}"), "", b"")).expect("an answer");
            assert!(joined.member_id.starts_with("ccc"));
        }
        assert!(victim.log().lines().all(|line| line.len() < 8 * KIB));
    });
    assert!(damage.growth_bytes <= 128 * MIB, "{damage:?}");
}
