//! The server as a peer on a raw socket meets it. Frames are made by hand (`frames`), and nothing waits for a time to
//! pass: whatever a test looks for is brought about by another request.

mod frames;
mod peer;

use std::fs;

use frames::{
    API_VERSIONS, HEARTBEAT, JOIN, Request, api_ranges, api_versions, error, heartbeat, join, joined, sync,
    synced,
};
use peer::{Broker, Peer, UNKNOWN_MEMBER_ID};

const NO_DELAY: &[(&str, &str)] = &[("group.initial.rebalance.delay.ms", "0")];
const ILLEGAL_GENERATION: i16 = 22;
const UNSUPPORTED_VERSION: i16 = 35;

/// A group of two, Stable in generation 2; the first leads.
fn group_of_two(broker: &Broker) -> [(Peer, String); 2] {
    let (mut first, mut second) = (broker.connect(), broker.connect());
    let leader = joined(first.call(&join(1, "g", ""))).member;
    second.send(&join(1, "g", ""));
    first.wait_for("g", "PreparingRebalance", 2);
    assert_eq!(joined(first.call(&join(1, "g", &leader))).members.len(), 2);
    let follower = joined(second.receive(1)).member;
    let parts: [(&str, &[u8]); 2] = [(&leader, b"first half"), (&follower, b"second half")];
    assert_eq!(synced(first.call(&sync(1, "g", 2, &leader, &parts))), (0, b"first half".to_vec()));
    assert_eq!(synced(second.call(&sync(1, "g", 2, &follower, &[]))), (0, b"second half".to_vec()));
    [(first, leader), (second, follower)]
}

#[test]
fn requests_in_one_segment_are_answered_in_their_order() {
    let broker = Broker::start(NO_DELAY);
    let mut peer = broker.connect();
    let frames = |id: i32| if id % 2 == 0 { api_versions(id) } else { heartbeat(id, "g", 1, "nobody") };
    peer.send(&(1..=500).flat_map(frames).collect::<Vec<u8>>());
    for id in 1..=500 {
        let response = peer.receive(id);
        if id % 2 == 0 {
            assert_eq!(api_ranges(response).0, 0);
        } else {
            assert_eq!(error(response), UNKNOWN_MEMBER_ID);
        }
    }
}

#[test]
fn a_held_join_holds_up_what_is_behind_it() {
    let broker = Broker::start(NO_DELAY);
    let [(mut first, leader), (mut second, follower)] = group_of_two(&broker);
    // Generation 3 is what the join will give. If the heartbeat were looked at earlier it would be the wrong one.
    first.send(
        &[join(7, "g", &leader), heartbeat(8, "g", 3, &leader), heartbeat(9, "g", 2, &leader)].concat(),
    );
    second.wait_for("g", "PreparingRebalance", 2);
    assert_eq!(joined(second.call(&join(1, "g", &follower))).generation, 3);
    assert_eq!(joined(first.receive(7)).generation, 3);
    assert_eq!(error(first.receive(8)), 0);
    assert_eq!(error(first.receive(9)), ILLEGAL_GENERATION);
}

#[test]
fn a_held_sync_holds_up_what_is_behind_it() {
    let broker = Broker::start(NO_DELAY);
    let [(mut first, leader), (mut second, follower)] = group_of_two(&broker);
    first.send(&join(1, "g", &leader));
    second.wait_for("g", "PreparingRebalance", 2);
    assert_eq!(joined(second.call(&join(1, "g", &follower))).generation, 3);
    assert_eq!(joined(first.receive(1)).generation, 3);
    // Were the group described before the leader has synced, it would not be Stable.
    second.send(&[sync(7, "g", 3, &follower, &[]), frames::describe(8, "g")].concat());
    let parts: [(&str, &[u8]); 1] = [(&follower, b"all")];
    assert_eq!(synced(first.call(&sync(1, "g", 3, &leader, &parts))), (0, Vec::new()));
    assert_eq!(synced(second.receive(7)), (0, b"all".to_vec()));
    assert_eq!(frames::described(second.receive(8)).0, "Stable");
}

#[test]
fn a_member_that_reconnects_takes_the_place_of_its_parked_join() {
    let mut broker = Broker::start(NO_DELAY);
    let [(mut first, leader), (mut second, follower)] = group_of_two(&broker);
    let mut again = broker.connect();
    assert!(again.is_served());
    first.send(&join(1, "g", &leader));
    second.wait_for("g", "PreparingRebalance", 2);
    // Nothing shows that the server has seen a join that it parks. But what is before it in the same segment is
    // answered together with what can be answered behind it, and then there is the time of some requests.
    again.send(&[frames::describe(1, "g"), join(2, "g", &leader)].concat());
    assert_eq!(frames::described(again.receive(1)).0, "PreparingRebalance");
    assert!((0..50).all(|_| second.is_served()));
    assert_eq!(joined(second.call(&join(1, "g", &follower))).generation, 3);
    assert_eq!(joined(again.receive(2)).generation, 3);
    broker.shut_down();
    assert!(first.closes(), "the join that was replaced is answered");
}

#[test]
fn what_is_no_request_closes_its_connection_and_no_other() {
    let broker = Broker::start(NO_DELAY);
    let mut good = broker.connect();
    let long_text = Request::new(HEARTBEAT, 2, 1).int16(i16::MAX).frame();
    let negative_text = Request::new(HEARTBEAT, 2, 1).int16(-7).frame();
    let many_protocols = Request::new(JOIN, 3, 1).text("g").int32(1).int32(1).text("").text("consumer");
    for (what, bytes) in [
        ("HTTP", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
        ("TLS", vec![0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
        ("SSH", b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
        ("Redis", b"*1\r\n$4\r\nPING\r\n".to_vec()),
        ("a size of 0", vec![0; 4]),
        ("a negative size", vec![0xff; 4]),
        ("a size beyond the limit", (100 * 1024 * 1024 + 1i32).to_be_bytes().to_vec()),
        ("a frame shorter than a header", vec![0, 0, 0, 1, 0]),
        (
            "a header that ends within the client id",
            [&[0, 0, 0, 12], &Request::new(HEARTBEAT, 2, 1).frame()[4..16]].concat(),
        ),
        ("an unknown key", Request::new(9_999, 0, 1).frame()),
        ("a negative key", Request::new(-1, 0, 1).frame()),
        ("a version above", Request::new(JOIN, 99, 1).frame()),
        ("a negative version", Request::new(HEARTBEAT, -1, 1).frame()),
        ("a text that is longer than its frame", long_text),
        ("a text of negative length", negative_text),
        ("an array of two thousand million", many_protocols.int32(i32::MAX).frame()),
        ("a frame that ends within a field", Request::new(HEARTBEAT, 2, 1).text("g").int16(0).frame()),
        (
            "text that is no UTF-8",
            Request::new(HEARTBEAT, 2, 1).int16(2).int16(-1).int32(1).text("m").frame(),
        ),
    ] {
        let mut bad = broker.connect();
        bad.send(&bytes);
        assert!(bad.closes(), "{what}");
        assert!(good.is_served(), "after {what}");
    }
}

#[test]
fn what_was_asked_before_the_nonsense_is_answered() {
    let broker = Broker::start(NO_DELAY);
    let mut peer = broker.connect();
    peer.send(&[heartbeat(1, "g", 1, "nobody"), b"GET / HTTP/1.1\r\n\r\n".to_vec()].concat());
    assert_eq!(error(peer.receive(1)), UNKNOWN_MEMBER_ID);
    assert!(peer.closes());
}

#[test]
fn half_a_request_waits_for_the_rest_of_it() {
    let broker = Broker::start(NO_DELAY);
    let frame = heartbeat(1, "g", 1, "nobody");
    for cut in 1..frame.len() {
        let (mut half, mut other) = (broker.connect(), broker.connect());
        half.send(&frame[..cut]);
        assert!(other.is_served());
        half.send(&frame[cut..]);
        assert_eq!(error(half.receive(1)), UNKNOWN_MEMBER_ID, "cut at {cut}");
        half.send(&frame[..cut]);
        half.finish();
        assert!(half.closes(), "cut at {cut}");
    }
}

#[test]
fn a_peer_that_hangs_up_within_a_join_leaves_no_trace_but_its_member() {
    let broker = Broker::start(NO_DELAY);
    let [(mut first, leader), (second, _)] = group_of_two(&broker);
    first.send(&join(1, "g", &leader));
    let mut observer = broker.connect();
    observer.wait_for("g", "PreparingRebalance", 2);
    // As with Kafka, a connection that is cut removes nobody (CJ-02).
    drop((first, second));
    observer.wait_for("g", "PreparingRebalance", 2);
    assert!(observer.is_served());
}

#[test]
fn versions_that_are_too_new_are_told_which_ones_are_not() {
    let broker = Broker::start(NO_DELAY);
    let mut peer = broker.connect();
    // Whatever the version, the answer is one of version 0, and names ApiVersions alone (fact 30, KIP-511).
    for version in [6, 99, i16::MAX] {
        let (code, ranges) = api_ranges(peer.call(&Request::new(API_VERSIONS, version, 1).no_tags().frame()));
        assert_eq!((code, ranges), (UNSUPPORTED_VERSION, vec![(API_VERSIONS, 0, 5)]));
    }
    let (code, ranges) = api_ranges(peer.call(&api_versions(1)));
    assert_eq!(code, 0);
    assert!(ranges.contains(&(JOIN, 0, 9)) && ranges.contains(&(API_VERSIONS, 0, 5)), "{ranges:?}");
}

#[test]
fn every_version_that_is_offered_is_served_or_closed_but_never_crashes() {
    let broker = Broker::start(NO_DELAY);
    let mut good = broker.connect();
    let (_, ranges) = api_ranges(good.call(&api_versions(1)));
    for (key, min, max) in ranges {
        for version in min..=max {
            // A body of zeros is a request of some kind for many, and nonsense for the rest.
            let mut frame = Request::new(key, version, 1).frame();
            frame.extend([0; 64]);
            let length = i32::try_from(frame.len() - 4).expect("a small frame");
            frame[..4].copy_from_slice(&length.to_be_bytes());
            let mut peer = broker.connect();
            peer.send(&frame);
            peer.finish();
            let _ = peer.closes();
            assert!(good.is_served(), "after key {key}, version {version}");
        }
    }
}

#[test]
fn a_shutdown_closes_what_is_parked_without_an_answer() {
    let mut broker = Broker::start(&[("group.initial.rebalance.delay.ms", "600000")]);
    let (mut parked, mut idle) = (broker.connect(), broker.connect());
    parked.send(&join(1, "g", ""));
    idle.wait_for("g", "PreparingRebalance", 1);
    broker.shut_down();
    assert!(parked.closes() && idle.closes());
    assert!(broker.refuses());
}

/// Connections that this process may have open: both ends of each are in it.
fn connections_max() -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().next()).and_then(|n| n.parse().ok());
    soft.map_or(100, |files: usize| files.saturating_sub(200) / 2)
}

#[test]
fn a_thousand_idle_connections_are_in_nobodys_way() {
    let mut broker = Broker::start(NO_DELAY);
    let mut idle = Vec::new();
    for _ in 0..connections_max().min(1_000) {
        // One after the other: as with Kafka no more than 50 may wait to be accepted.
        let mut peer = broker.connect();
        assert!(peer.is_served());
        idle.push(peer);
    }
    let [(mut first, leader), _] = group_of_two(&broker);
    assert_eq!(error(first.call(&heartbeat(1, "g", 2, &leader))), 0);
    for peer in idle.iter_mut().rev() {
        assert!(peer.is_served());
    }
    broker.shut_down();
    assert!(idle.into_iter().all(Peer::closes));
}
