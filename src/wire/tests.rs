//! Whole frames: what Kafka 4.4.0 was asked and what it answered, read and written back byte for byte.

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::HeartbeatRequest;
use kafka_protocol::protocol::{Decodable, HeaderVersion, Request, StrBytes};

use super::api_table::{self, API_VERSIONS};
use super::kafka_4_4::*;
use super::{WireError, frame, request, response};

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits"))
        .collect()
}

/// `asked` is a frame without its length, `answered` is with it. Both were taken from a connection to Kafka 4.4.0.
fn golden<R: Request>(asked: &str, answered: &str)
where
    R::Response: HeaderVersion,
{
    let mut body = Bytes::from(bytes(asked));
    let header = request::header(&mut body).expect("a header");
    assert_eq!(header.api.key, R::KEY);
    assert_eq!((header.correlation_id, header.client_id.as_str()), (7, "x"));
    let request: R = request::decode(header.version, body.clone()).expect("a request");
    let mut written = BytesMut::new();
    request.encode(&mut written, header.version).expect("what was read can be written");
    assert_eq!(written, body);

    let answered = bytes(answered);
    let tags = if R::Response::header_version(header.version) >= 1 { 1 } else { 0 };
    let mut body = &answered[frame::LENGTH_BYTES + 4 + tags..];
    let message = R::Response::decode(&mut body, header.version).expect("a response");
    assert!(body.is_empty());
    let mut written = BytesMut::new();
    response::encode(&mut written, 7, header.version, &message).expect("what was read can be written");
    assert_eq!(written, answered[..]);
}

#[test]
fn frames_of_kafka_are_read_and_written_byte_for_byte() {
    golden::<OffsetCommitRequest>(
        "0008000a000000070001780007676f6c64656effffffff010002000102030405060708090a0b0c0d0e0f02000000\
         000000000000000005ffffffff0278000000",
        "0000002400000007000000000002000102030405060708090a0b0c0d0e0f02000000000064000000",
    );
    golden::<OffsetFetchRequest>(
        "0009000a00000007000178000207676f6c64656e00ffffffff02000102030405060708090a0b0c0d0e0f03000000\
         000000000100000100",
        "000000500000000700000000000207676f6c64656e02000102030405060708090a0b0c0d0e0f0300000000ffffff\
         ffffffffffffffffff0100640000000001ffffffffffffffffffffffff010064000000000000",
    );
    golden::<ListOffsetsRequest>(
        "0002000b0000000700017800ffffffff00020e6e6f2d737563682d746f7069630200000000ffffffffffffffffff\
         ffffff0000000003e800",
        "00000036000000070000000000020e6e6f2d737563682d746f70696302000000000003ffffffffffffffffffffff\
         ffffffffffffffffff000000",
    );
    golden::<DeleteGroupsRequest>(
        "002a00030000000700017800030c676f6c64656e2d6e6f6e650100",
        "000000200000000700000000000301004500000c676f6c64656e2d6e6f6e650045000000",
    );
    golden::<ApiVersionsRequest>(
        "00120005000000070001780007676f6c64656e023100ffffffff00",
        "0000036c0000000700004e00000000000d000001000400120000020001000b0000030000000d0000080002000a00\
         00090001000a00000a0000000600000b0000000900000c0000000400000d0000000500000e0000000500000f0000\
         00060000100000000500001100000001000012000000050000130002000700001400010006000015000000020000\
         160000000500001700020004000018000000050000190000000400001a0000000500001b0001000200001c000000\
         0600001d0001000300001e0001000300001f00010003000020000100040000210000000200002200010002000023\
         00010005000024000000020000250000000300002600010003000027000100020000280001000200002900010003\
         00002a0000000300002b0000000200002c0000000100002d0000000100002e0000000000002f0000000000003000\
         000001000031000000010000320000000000003300000000000037000000020000390000000200003c0000000200\
         003d00000000000040000000000000410000000000004200000002000044000000010000450000000100004a0000\
         000100004b0000000000004c0001000100004d0001000100004e0001000200004f00010002000050000000010000\
         51000000000000530000000000005400000000000055000000010000560000000000005700000001000058000000\
         010000590000000100005a0000000100005b0000000000005c0000000000005d0000000000005e00000000000000\
         00000300a401080e67726f75702e76657273696f6e00000001000e6b726166742e76657273696f6e000000010011\
         6d657461646174612e76657273696f6e00070021000e73686172652e76657273696f6e0000000200107374726561\
         6d732e76657273696f6e0000000100147472616e73616374696f6e2e76657273696f6e000000020021656c696769\
         626c652e6c65616465722e7265706c696361732e76657273696f6e000000010001080000000000000cef02910107\
         0e67726f75702e76657273696f6e00010001001073747265616d732e76657273696f6e0001000100147472616e73\
         616374696f6e2e76657273696f6e000200020021656c696769626c652e6c65616465722e7265706c696361732e76\
         657273696f6e00010001000e73686172652e76657273696f6e0002000200116d657461646174612e76657273696f\
         6e0021002100",
    );
    golden::<HeartbeatRequest>(
        "000c0004000000070001780007676f6c64656e00000001026d0000",
        "0000000c000000070000000000001900",
    );
}

fn header(frame: &[u8]) -> Result<request::Header, WireError> {
    request::header(&mut Bytes::copy_from_slice(frame))
}

/// Key and version, correlation id 7, and what follows.
fn frame_of(key: i16, version: i16, rest: &[u8]) -> Vec<u8> {
    [&key.to_be_bytes()[..], &version.to_be_bytes(), &7_i32.to_be_bytes(), rest].concat()
}

#[test]
fn the_client_id_is_empty_if_null_and_mended_if_it_is_no_utf8() {
    for (sent, read) in [
        (&[0xff, 0xff][..], ""),
        (&[0xff, 0xfe], ""),
        (&[0, 0], ""),
        (&[0, 2, b'h', b'i'], "hi"),
        (&[0, 1, 0xff], "\u{fffd}"),
    ] {
        let header = header(&frame_of(12, 0, sent)).expect("a header");
        assert_eq!(header.client_id, StrBytes::from(read.to_string()));
    }
}

#[test]
fn tags_of_the_header_are_skipped() {
    let mut frame = Bytes::from(frame_of(12, 4, &[0, 0, 2, 1, 2, 8, 8, 5, 0, b'b', b'o', b'd', b'y']));
    request::header(&mut frame).expect("a header");
    assert_eq!(frame, "body");
}

#[test]
fn a_header_that_is_cut_short_or_overruns_is_refused() {
    let whole = frame_of(12, 4, &[0, 1, b'x', 1, 9, 1, 0]);
    assert!(header(&whole).is_ok());
    for length in 0..whole.len() {
        assert_eq!(header(&whole[..length]), Err(WireError::Header), "{length} bytes");
    }
    for rest in [
        &[0x7f, 0xff, b'x'][..],
        &[0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
    ] {
        assert_eq!(header(&frame_of(12, 4, rest)), Err(WireError::Header), "{rest:?}");
    }
}

#[test]
fn only_served_keys_and_their_versions_are_read() {
    for key in i16::MIN..=i16::MAX {
        if !api_table::find(key).is_some_and(|api| api.served) {
            assert_eq!(header(&frame_of(key, 0, &[0, 0])), Err(WireError::UnknownKey { key }));
        }
    }
    for api in api_table::served().filter(|api| api.key != API_VERSIONS) {
        for version in [i16::MIN, api.version_min - 1, api.version_max + 1, i16::MAX] {
            let refused = Err(WireError::UnsupportedVersion { api: api.name, version });
            assert_eq!(header(&frame_of(api.key, version, &[0, 0, 0])), refused);
        }
    }
}

#[test]
fn api_versions_of_an_unknown_version_is_answered_at_version_0() {
    for version in [-1, 6, i16::MAX] {
        let header = header(&frame_of(API_VERSIONS, version, &[0, 0, 0])).expect("a header");
        assert!(!header.is_supported());
        assert!(request::decode::<ApiVersionsRequest>(version, Bytes::new()).is_err());
    }
    // As Kafka 4.4.0 answers version 99.
    let answer = ApiVersionsResponse {
        error_code: 35,
        api_keys: vec![ApiVersion { api_key: 18, min_version: 0, max_version: 5 }],
        ..Default::default()
    };
    let mut written = BytesMut::new();
    response::encode(&mut written, 7, 0, &answer).expect("it fits version 0");
    assert_eq!(written, bytes("0000001000000007002300000001001200000005")[..]);
}

#[test]
fn a_response_that_does_not_fit_leaves_nothing_behind() {
    let mut out = BytesMut::from("before");
    let group_id = StrBytes::from("g".repeat(40_000));
    let results = vec![DeletableGroupResult { group_id, ..Default::default() }];
    let refused = response::encode(&mut out, 7, 0, &DeleteGroupsResponse { results, ..Default::default() });
    assert!(matches!(refused, Err(WireError::Unencodable { version: 0, .. })));
    assert_eq!(out, "before");
}
