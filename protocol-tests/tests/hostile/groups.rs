//! Groups, members, offsets and metadata without end.
#![expect(clippy::disallowed_methods, reason = "a test that waits for ever says nothing")]

use std::time::{Duration, Instant};

use bytes::Bytes;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::{DescribeGroupsRequest, GroupId, ListGroupsRequest};
use kafka_protocol::protocol::StrBytes;
use protocol_tests::peer::{Peer, frame};
use protocol_tests::requests::{commit, join, join_alone, metadata, text};
use protocol_tests::victim::Victim;

use crate::frames::is_served;
use crate::{MIB, alone, attack, judge, victim};

const MEMBER_ID_REQUIRED: i16 = 79;
const GROUP_MAX_SIZE_REACHED: i16 = 81;
const INVALID_COMMIT_OFFSET_SIZE: i16 = 28;

/// A sixteenth of what groups may take by default, so that it is reached soon.
const SMALL: [(&str, &str); 1] = [("rallypoint.groups.max.bytes", "67108864")];

/// How many groups there are, and how many members in `group`.
fn census(victim: &Victim, group: &str) -> (usize, usize) {
    let mut peer = victim.connect();
    let listed = peer.call(2, &ListGroupsRequest::default()).expect("an answer").groups.len();
    let describe = DescribeGroupsRequest::default().with_groups(vec![GroupId(text(group))]);
    let described = peer.call(2, &describe).expect("an answer").groups.remove(0);
    (listed, described.members.len())
}

/// Waits for the end of all members.
fn until_deserted(victim: &Victim, group: &str) {
    let start = Instant::now();
    while census(victim, group).1 > 0 {
        assert!(start.elapsed() < Duration::from_secs(30), "members outlive their sessions");
    }
}

#[test]
fn members_that_vanish_leave_nothing_when_their_sessions_are_over() {
    const MEMBERS: usize = 9_000;
    let settings = [
        ("group.min.session.timeout.ms", "1"),
        ("group.initial.rebalance.delay.ms", "1000"),
        ("socket.listen.backlog.size", "4096"),
    ];
    let damage = attack("9,000 joins that vanish", &settings, |victim| {
        let join = join("g", "", b"metadata").with_session_timeout_ms(1_000).with_rebalance_timeout_ms(1_000);
        let mut silent = Vec::new();
        for member in 0..MEMBERS {
            let mut peer = victim.connect();
            peer.send(3, &join).expect("the server reads");
            match member % 3 {
                0 => peer.reset().expect("it can be reset"),
                1 => drop(peer),
                _ => silent.push(peer),
            }
        }
        until_deserted(victim, "g");
    });
    assert!(damage.growth_bytes <= 128 * MIB, "{damage:?}");
}

#[test]
fn ids_that_are_handed_out_count_as_members() {
    let settings = [("group.max.size", "100")];
    attack("pending member ids without end", &settings, |victim| {
        let mut peer = victim.connect();
        let codes: Vec<i16> =
            (0..200).map(|_| peer.call(4, &join("g", "", b"")).expect("an answer").error_code).collect();
        assert_eq!(codes[..100], [MEMBER_ID_REQUIRED; 100]);
        assert_eq!(codes[100..], [GROUP_MAX_SIZE_REACHED; 100]);
    });
}

/// Sends requests in batches until one is refused with this code; how many were not.
fn until_refused(
    peer: &mut Peer,
    max: usize,
    refusal: i16,
    request: impl Fn(usize) -> Vec<u8>,
    code: impl Fn(Bytes) -> i16,
) -> usize {
    const BATCH: usize = 100;
    for start in (0..max).step_by(BATCH) {
        let bytes: Vec<u8> = (start..start + BATCH).flat_map(&request).collect();
        peer.send_bytes(&bytes).expect("the server reads");
        for index in start..start + BATCH {
            match code(peer.receive_frame().expect("an answer")) {
                0 | MEMBER_ID_REQUIRED => {}
                code if code == refusal => return index,
                code => panic!("request {index} was refused with {code}"),
            }
        }
    }
    max
}

/// The error code of a JoinGroup response of versions 3 and 4.
fn join_code(frame: Bytes) -> i16 {
    i16::from_be_bytes([frame[8], frame[9]])
}

/// The error code of an OffsetCommit response of version 2 with one partition.
fn commit_code(frame: Bytes) -> i16 {
    i16::from_be_bytes([frame[frame.len() - 2], frame[frame.len() - 1]])
}

#[test]
fn groups_without_end_are_refused_and_not_again_and_again() {
    let damage = attack("groups by join", &SMALL, |victim| {
        let mut peer = victim.connect();
        let request = |n| frame("test", 1, 4, &join(&format!("g{n}"), "", b""));
        let groups = until_refused(&mut peer, 200_000, GROUP_MAX_SIZE_REACHED, request, join_code);
        assert!((10_000..100_000).contains(&groups), "{groups}");
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 64 * MIB * 3 / 2, "{damage:?}");
}

#[test]
fn offsets_without_end_are_refused_and_not_again_and_again() {
    let _alone = alone();
    let mut victim = victim(&[SMALL[0], ("num.partitions", "100")]);
    victim.connect().call(9, &metadata(["t"].into_iter())).expect("an answer");
    let damage = judge(victim.suffer("offsets by commit", |victim| {
        let mut peer = victim.connect();
        let text = "m".repeat(4_096);
        let request = |n: usize| frame("test", 1, 2, &commit(&format!("g{n}"), "t", 0..100, &text));
        let groups = until_refused(&mut peer, 1_000, INVALID_COMMIT_OFFSET_SIZE, request, commit_code);
        assert!((100..1_000).contains(&groups), "{groups}");
        // What is there may still be committed again, as long as it is no larger.
        let mut peer = victim.connect();
        let again = peer.call(2, &commit("g0", "t", 0..100, &text)).expect("an answer");
        assert!(again.topics[0].partitions.iter().all(|partition| partition.error_code == 0));
        is_served(&mut victim.connect());
    }));
    assert!(damage.growth_bytes <= 64 * MIB * 3 / 2, "{damage:?}");
}

#[test]
fn the_metadata_of_a_group_is_bounded() {
    let damage = attack("1,000 members with 1 MiB of metadata", &[], |victim| {
        join_alone(&mut victim.connect(), "g").expect("the server is well");
        let heavy = frame("test", 1, 3, &join("g", "", &[0; MIB]));
        let mut peers: Vec<Peer> = (0..1_000).map(|_| victim.connect()).collect();
        for peer in &mut peers {
            peer.send_bytes(&heavy).expect("the server reads");
        }
        // Joins for which there is room are parked, all others are refused.
        let mut late = victim.connect();
        late.send_bytes(&heavy).expect("the server reads");
        assert_eq!(join_code(late.receive_frame().expect("an answer")), GROUP_MAX_SIZE_REACHED);
        let members = census(victim, "g").1;
        assert!((8..=16).contains(&members), "{members}");
    });
    // What is under way of 1,000 frames counts too, which has a bound for all connections together.
    assert!(damage.growth_bytes <= 768 * MIB, "{damage:?}");
}

#[test]
fn protocols_instance_ids_and_reasons_weigh_what_they_take() {
    let damage = attack("members with 1,000 protocols each", &[], |victim| {
        join_alone(&mut victim.connect(), "g").expect("the server is well");
        let name = "p".repeat(1_000);
        let own = |n| {
            JoinGroupRequestProtocol::default()
                .with_name(text(&format!("{n}{name}")))
                .with_metadata(Bytes::new())
        };
        let protocols = join("g", "", b"").protocols.into_iter().chain((0..1_000).map(own));
        let join = join("g", "", b"").with_protocols(protocols.collect());
        let mut peers: Vec<Peer> = (0..100).map(|_| victim.connect()).collect();
        for (n, peer) in peers.iter_mut().enumerate() {
            let instance = format!("{n}{}", "i".repeat(30_000));
            let join = join
                .clone()
                .with_group_instance_id(Some(text(&instance)))
                .with_reason(Some(text(&"r".repeat(30_000))));
            peer.send(8, &join).expect("the server reads");
        }
        is_served(&mut victim.connect());
        assert!(census(victim, "g").1 < 20);
    });
    assert!(damage.growth_bytes <= 128 * MIB, "{damage:?}");
}

#[test]
fn what_clients_say_cannot_forge_lines_of_the_log() {
    attack("ids with line breaks", &[], |victim| {
        let mut peer = victim.connect().named("evil\nFORGED \u{1b}[31m");
        let forged = "g\r\nFORGED\u{9b}31m\u{2028}FORGED";
        peer.call(3, &join(forged, "", b"")).expect("an answer");
        let again = join("g", "", b"").with_reason(Some(StrBytes::from_static_str("why\nFORGED")));
        peer.call(9, &again).expect("an answer");
        peer.call(9, &metadata(["a\nFORGED", "made"].into_iter())).expect("an answer");
        while !victim.log().contains("made") {
            std::thread::yield_now();
        }
        let log = victim.log();
        assert!(log.contains("FORGED"), "the log says what the clients said");
        assert!(!log.lines().any(|line| line.starts_with("FORGED")), "{log}");
        assert!(!log.contains(['\u{1b}', '\u{9b}', '\u{2028}']), "{log}");
    });
}

#[test]
fn a_flood_of_members_is_no_flood_of_lines() {
    const MEMBERS: usize = 20_000;
    attack("20,000 members come and go", &[], |victim| {
        let mut peer = victim.connect();
        let request = |n| frame("test", 1, 4, &join(&format!("g{n}"), "", b""));
        until_refused(&mut peer, MEMBERS, GROUP_MAX_SIZE_REACHED, request, join_code);
        let lines = victim.log().lines().count();
        assert!(lines < MEMBERS / 2, "{lines} lines");
    });
}

#[test]
fn very_many_groups_can_be_listed() {
    const GROUPS: usize = 100_000;
    let _alone = alone();
    let mut victim = victim(&[]);
    victim.connect().call(9, &metadata(["t"].into_iter())).expect("an answer");
    let mut peer = victim.connect();
    let request = |n: usize| frame("test", 1, 2, &commit(&format!("g{n}"), "t", 0..1, ""));
    assert_eq!(until_refused(&mut peer, GROUPS, INVALID_COMMIT_OFFSET_SIZE, request, commit_code), GROUPS);
    let damage = judge(victim.suffer("10 × ListGroups of 100,000", |victim| {
        for _ in 0..10 {
            assert!(census(victim, "g1").0 >= GROUPS);
        }
    }));
    assert!(damage.growth_bytes <= 128 * MIB, "{damage:?}");
}
