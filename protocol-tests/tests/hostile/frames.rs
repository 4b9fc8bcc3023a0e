//! Bytes that are no request.

use std::io::Write;
use std::time::Duration;

use kafka_protocol::messages::{LeaveGroupRequest, MetadataRequest};
use kafka_protocol::protocol::Request;
use protocol_tests::peer::Peer;
use protocol_tests::requests::heartbeat;

use crate::{KIB, MIB, alone, attack, victim};

#[test]
fn what_is_no_request_closes_its_connection_and_the_log_says_what_came() {
    let _alone = alone();
    let cases: [(&[u8], &str); 9] = [
        (b"GET / HTTP/1.1\r\n\r\n", "HTTP"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "TLS"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH"),
        (&[0xff; 4], "a frame of -1 bytes"),
        (&[0; 4], "a frame of 0 bytes"),
        (&[0x7f, 0xff, 0xff, 0xff], "a frame of 2147483647 bytes"),
        (&[0, 0, 0, 2, 0, 12], "header"),
        (&[0, 0, 0, 10, 0x03, 0xe7, 0, 0, 0, 0, 0, 1, 0xff, 0xff], "key 999"),
        (&[0, 0, 0, 10, 0, 12, 0, 99, 0, 0, 0, 1, 0xff, 0xff], "version 99"),
    ];
    for (bytes, said) in cases {
        let mut victim = victim(&[]);
        let mut peer = victim.connect();
        peer.send_bytes(bytes).expect("the server reads");
        assert_eq!(peer.until_closed().expect("it is closed"), b"", "{said}");
        // The line is written before the connection is closed, and read here soon after.
        while !victim.log().contains(said) {
            victim.assert_alive();
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_claim_costs_nothing_until_its_bytes_come() {
    let damage = attack("200 claims of 100 MiB", &[], |victim| {
        let mut peers: Vec<Peer> = (0..200).map(|_| victim.connect()).collect();
        for peer in &mut peers {
            peer.send_bytes(&(100_u32 << 20).to_be_bytes()).expect("the server reads");
        }
        // All of it has been read when a later connection is served.
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 200 * 64 * KIB, "{damage:?}");
}

#[test]
fn large_frames_that_never_end_share_a_bound() {
    let damage = attack("100 × 64 MiB of a frame of 100 MiB", &[], |victim| {
        let chunk = vec![0; MIB];
        let mut peers: Vec<Peer> = (0..100).map(|_| victim.connect()).collect();
        for peer in &mut peers {
            peer.send_bytes(&(100_u32 << 20).to_be_bytes()).expect("the server reads");
        }
        for _ in 0..64 {
            for peer in &mut peers {
                // Those that are too many are closed.
                let _ = peer.socket().write_all(&chunk);
            }
        }
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 768 * MIB, "{damage:?}");
}

#[test]
fn slow_frames_cost_little() {
    let damage = attack("1,000 frames byte by byte", &[], |victim| {
        let mut peers: Vec<Peer> = (0..1_000).map(|_| victim.connect()).collect();
        for byte in [0, 0, 0, 100, 0, 12, 0, 4, 0, 0] {
            for peer in &mut peers {
                peer.send_bytes(&[byte]).expect("the server reads");
            }
            is_served(&mut victim.connect());
        }
    });
    assert!(damage.growth_bytes <= 32 * MIB, "{damage:?}");
}

/// A frame of this many bytes: header, then whatever comes after the count of the first array.
fn frame_of_elements<R: Request>(version: i16, before: &[u8], count: usize, element: &[u8]) -> Vec<u8> {
    let mut body =
        [&R::KEY.to_be_bytes()[..], &version.to_be_bytes(), &[0, 0, 0, 1, 0xff, 0xff], before].concat();
    body.extend(u32::try_from(count).expect("a count").to_be_bytes());
    for _ in 0..count {
        body.extend(element);
    }
    let mut frame = u32::try_from(body.len()).expect("a frame").to_be_bytes().to_vec();
    frame.extend(body);
    frame
}

#[test]
fn empty_elements_are_charged_before_they_are_decoded() {
    let metadata = frame_of_elements::<MetadataRequest>(0, &[], 49 << 20, &[0, 0]);
    let leave = frame_of_elements::<LeaveGroupRequest>(3, &[0, 1, b'g'], 24 << 20, &[0, 0, 0xff, 0xff]);
    for (name, frame) in [("Metadata", metadata), ("LeaveGroup", leave)] {
        let damage = attack(&format!("100 MiB of empty {name} elements"), &[], |victim| {
            let mut peer = victim.connect();
            peer.socket().set_write_timeout(Some(Duration::from_secs(60))).expect("it can be set");
            peer.send_bytes(&frame).expect("the server reads");
            assert_eq!(peer.until_closed().expect("it is closed"), b"");
        });
        assert!(damage.growth_bytes <= 256 * MIB, "{damage:?}");
    }
}

pub(crate) fn is_served(peer: &mut Peer) {
    let answer = peer.call(4, &heartbeat("nobody", "nobody", 1)).expect("others are served");
    assert_eq!(answer.error_code, 25);
}
