//! What the crate can write as well must come out the same, byte for byte; the versions it lacks are held against
//! frames of Kafka 4.4.

use std::fmt::Debug;

use bytes::BytesMut;
use kafka_protocol::messages as theirs;
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Message, Request, StrBytes};
use uuid::Uuid;

use super::*;

const TOPIC_ID: Uuid = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);

fn text(text: &'static str) -> StrBytes {
    StrBytes::from_static_str(text)
}

fn written<M: Encodable>(message: &M, version: i16) -> BytesMut {
    let mut bytes = BytesMut::new();
    message.encode(&mut bytes, version).expect("the message fits its version");
    assert_eq!(message.compute_size(version).expect("the message fits its version"), bytes.len());
    bytes
}

/// Reads what was written; what the version does not have is lost, so a second write must give the same bytes.
fn round_trip<M: Encodable + Decodable + PartialEq + Debug>(message: &M, version: i16) -> M {
    let bytes = written(message, version);
    let mut rest = bytes.clone().freeze();
    let read = M::decode(&mut rest, version).expect("what was written can be read");
    assert!(rest.is_empty(), "version {version} leaves {} bytes", rest.len());
    assert_eq!(written(&read, version), bytes, "version {version}");
    read
}

/// Every version of ours makes the round trip; `Theirs` reads it in every version it has, and writes it back the same.
fn check<Ours, Theirs>(message: impl Fn(i16) -> Ours)
where
    Ours: Encodable + Decodable + Message + HeaderVersion + PartialEq + Debug,
    Theirs: Encodable + Decodable + Message + HeaderVersion,
{
    for version in Ours::VERSIONS.min..=Ours::VERSIONS.max {
        let message = message(version);
        assert_eq!(round_trip(&message, version), message, "version {version}");
        if Theirs::VERSIONS.min <= version && version <= Theirs::VERSIONS.max {
            let bytes = written(&message, version);
            let theirs = Theirs::decode(&mut bytes.clone(), version).expect("the crate reads it");
            assert_eq!(written(&theirs, version), bytes, "version {version}");
            assert_eq!(Theirs::header_version(version), Ours::header_version(version), "version {version}");
        }
    }
    assert!(Ours::encode(&message(0), &mut BytesMut::new(), Ours::VERSIONS.max + 1).is_err());
}

/// A value that only some versions have.
fn when<T: Default>(has: bool, value: T) -> T {
    if has { value } else { T::default() }
}

fn or_minus_one(has: bool, value: i32) -> i32 {
    if has { value } else { -1 }
}

#[test]
fn offset_commit_request() {
    check::<_, theirs::OffsetCommitRequest>(|version| OffsetCommitRequest {
        group_id: text("g"),
        generation_id_or_member_epoch: 7,
        member_id: text("m"),
        group_instance_id: when(version >= 7, Some(text("i"))),
        retention_time_ms: if version <= 4 { 86_400_000 } else { -1 },
        topics: vec![OffsetCommitRequestTopic {
            name: when(version <= 9, text("orders")),
            topic_id: when(version >= 10, TOPIC_ID),
            partitions: vec![
                OffsetCommitRequestPartition {
                    partition_index: 3,
                    committed_offset: 1 << 40,
                    committed_leader_epoch: or_minus_one(version >= 6, 5),
                    committed_metadata: Some(text("note")),
                },
                OffsetCommitRequestPartition { committed_metadata: None, ..Default::default() },
            ],
        }],
    });
}

#[test]
fn offset_commit_response() {
    check::<_, theirs::OffsetCommitResponse>(|version| OffsetCommitResponse {
        throttle_time_ms: when(version >= 3, 11),
        topics: vec![OffsetCommitResponseTopic {
            name: when(version <= 9, text("orders")),
            topic_id: when(version >= 10, TOPIC_ID),
            partitions: vec![OffsetCommitResponsePartition { partition_index: 3, error_code: 25 }],
        }],
    });
}

#[test]
fn offset_fetch_request() {
    check::<_, theirs::OffsetFetchRequest>(|version| {
        let groups = vec![
            OffsetFetchRequestGroup {
                group_id: text("g"),
                member_id: when(version >= 9, Some(text("m"))),
                member_epoch: or_minus_one(version >= 9, 2),
                topics: Some(vec![OffsetFetchRequestTopics {
                    name: when(version <= 9, text("orders")),
                    topic_id: when(version >= 10, TOPIC_ID),
                    partition_indexes: vec![0, 1, 2],
                }]),
            },
            OffsetFetchRequestGroup { group_id: text("h"), topics: None, ..Default::default() },
        ];
        let topic = OffsetFetchRequestTopic { name: text("orders"), partition_indexes: vec![0, 1] };
        OffsetFetchRequest {
            group_id: when(version <= 7, text("g")),
            topics: Some(when(version <= 7, vec![topic])),
            groups: when(version >= 8, groups),
            require_stable: version >= 7,
        }
    });
    let all_topics = OffsetFetchRequest { topics: None, ..Default::default() };
    assert_eq!(round_trip(&all_topics, 2), all_topics);
}

#[test]
fn offset_fetch_response() {
    check::<_, theirs::OffsetFetchResponse>(|version| {
        let partition = OffsetFetchResponsePartition {
            partition_index: 1,
            committed_offset: 99,
            committed_leader_epoch: or_minus_one(version >= 5, 4),
            metadata: None,
            error_code: 3,
        };
        let partition_of_group = OffsetFetchResponsePartitions {
            partition_index: 1,
            committed_offset: 99,
            committed_leader_epoch: 4,
            metadata: Some(text("note")),
            error_code: 3,
        };
        let group = OffsetFetchResponseGroup {
            group_id: text("g"),
            topics: vec![OffsetFetchResponseTopics {
                name: when(version <= 9, text("orders")),
                topic_id: when(version >= 10, TOPIC_ID),
                partitions: vec![partition_of_group],
            }],
            error_code: 16,
        };
        let topic = OffsetFetchResponseTopic { name: text("orders"), partitions: vec![partition] };
        OffsetFetchResponse {
            throttle_time_ms: when(version >= 3, 11),
            topics: when(version <= 7, vec![topic]),
            error_code: when((2..=7).contains(&version), 14),
            groups: when(version >= 8, vec![group]),
        }
    });
}

#[test]
fn list_offsets() {
    check::<_, theirs::ListOffsetsRequest>(|version| ListOffsetsRequest {
        replica_id: -1,
        isolation_level: when(version >= 2, 1),
        topics: vec![ListOffsetsTopic {
            name: text("orders"),
            partitions: vec![ListOffsetsPartition {
                partition_index: 2,
                current_leader_epoch: or_minus_one(version >= 4, 6),
                timestamp: -2,
            }],
        }],
        timeout_ms: when(version >= 10, 30_000),
    });
    check::<_, theirs::ListOffsetsResponse>(|version| ListOffsetsResponse {
        throttle_time_ms: when(version >= 2, 11),
        topics: vec![ListOffsetsTopicResponse {
            name: text("orders"),
            partitions: vec![ListOffsetsPartitionResponse {
                partition_index: 2,
                error_code: 6,
                timestamp: 1_700_000_000_000,
                offset: 12,
                leader_epoch: or_minus_one(version >= 4, 6),
            }],
        }],
    });
}

#[test]
fn txn_offset_commit() {
    check::<_, theirs::TxnOffsetCommitRequest>(|version| TxnOffsetCommitRequest {
        transactional_id: text("x"),
        group_id: text("g"),
        producer_id: 1 << 40,
        producer_epoch: 3,
        generation_id_or_member_epoch: if version >= 3 { 7 } else { -1 },
        member_id: when(version >= 3, text("m")),
        group_instance_id: when(version >= 3, Some(text("i"))),
        topics: vec![TxnOffsetCommitRequestTopic {
            name: when(version <= 5, text("orders")),
            topic_id: when(version >= 6, TOPIC_ID),
            partitions: vec![
                TxnOffsetCommitRequestPartition {
                    partition_index: 3,
                    committed_offset: 1 << 40,
                    committed_leader_epoch: or_minus_one(version >= 2, 5),
                    committed_metadata: Some(text("note")),
                },
                TxnOffsetCommitRequestPartition { committed_metadata: None, ..Default::default() },
            ],
        }],
    });
    check::<_, theirs::TxnOffsetCommitResponse>(|version| TxnOffsetCommitResponse {
        throttle_time_ms: 11,
        topics: vec![TxnOffsetCommitResponseTopic {
            name: when(version <= 5, text("orders")),
            topic_id: when(version >= 6, TOPIC_ID),
            partitions: vec![TxnOffsetCommitResponsePartition { partition_index: 3, error_code: 25 }],
        }],
    });
}

#[test]
fn write_txn_markers() {
    check::<_, theirs::WriteTxnMarkersRequest>(|version| WriteTxnMarkersRequest {
        markers: vec![WritableTxnMarker {
            producer_id: 1 << 40,
            producer_epoch: 3,
            transaction_result: true,
            topics: vec![WritableTxnMarkerTopic { name: text("orders"), partition_indexes: vec![0, 7] }],
            coordinator_epoch: 5,
            transaction_version: when(version >= 2, 2),
        }],
    });
    check::<_, theirs::WriteTxnMarkersResponse>(|_| WriteTxnMarkersResponse {
        markers: vec![WritableTxnMarkerResult {
            producer_id: 1 << 40,
            topics: vec![WritableTxnMarkerTopicResult {
                name: text("orders"),
                partitions: vec![WritableTxnMarkerPartitionResult { partition_index: 7, error_code: 3 }],
            }],
        }],
    });
}

#[test]
fn api_versions() {
    check::<_, theirs::ApiVersionsRequest>(|version| ApiVersionsRequest {
        client_software_name: when(version >= 3, text("apache-kafka-java")),
        client_software_version: when(version >= 3, text("4.4.0")),
        cluster_id: when(version >= 5, Some(text("c"))),
        node_id: or_minus_one(version >= 5, 1),
    });
    check::<_, theirs::ApiVersionsResponse>(|version| ApiVersionsResponse {
        error_code: 35,
        api_keys: vec![ApiVersion { api_key: 18, min_version: 0, max_version: 5 }],
        throttle_time_ms: when(version >= 1, 11),
        supported_features: when(
            version >= 3,
            vec![SupportedFeatureKey { name: text("group.version"), min_version: 0, max_version: 1 }],
        ),
        finalized_features_epoch: if version >= 3 { 30 } else { -1 },
        finalized_features: when(
            version >= 3,
            vec![FinalizedFeatureKey {
                name: text("group.version"),
                max_version_level: 1,
                min_version_level: 1,
            }],
        ),
        zk_migration_ready: version >= 3,
    });
}

#[test]
fn delete_groups() {
    check::<_, theirs::DeleteGroupsRequest>(|_| DeleteGroupsRequest {
        groups_names: vec![text("g"), text("h")],
    });
    check::<_, theirs::DeleteGroupsResponse>(|version| DeleteGroupsResponse {
        throttle_time_ms: 11,
        results: vec![DeletableGroupResult {
            group_id: text("g"),
            error_code: 68,
            error_message: when(version >= 3, Some(text("The group is not empty."))),
        }],
    });
}

#[test]
fn describe_log_dirs() {
    check::<_, theirs::DescribeLogDirsRequest>(|_| DescribeLogDirsRequest {
        topics: Some(vec![DescribableLogDirTopic { topic: text("t"), partitions: vec![0, 7] }]),
    });
    check::<_, theirs::DescribeLogDirsResponse>(|version| DescribeLogDirsResponse {
        throttle_time_ms: 11,
        error_code: when(version >= 3, 31),
        results: vec![DescribeLogDirsResult {
            error_code: 57,
            log_dir: text("/d"),
            topics: vec![DescribeLogDirsTopic {
                name: text("t"),
                partitions: vec![DescribeLogDirsPartition {
                    partition_index: 1,
                    partition_size: 2,
                    offset_lag: 3,
                    is_future_key: true,
                }],
            }],
            total_bytes: if version >= 4 { 5 } else { -1 },
            usable_bytes: if version >= 4 { 6 } else { -1 },
            is_cordoned: version >= 5,
        }],
    });
}

#[test]
fn a_tagged_field_with_its_default_is_not_written() {
    let plain = ApiVersionsResponse::default();
    assert_eq!(written(&plain, 3)[..], [0, 0, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn unknown_tags_are_skipped() {
    // Two tags, 9 and 200, behind DeleteGroups v2 of one group, "g".
    let mut bytes = &[2, 2, b'g', 2, 9, 1, 0xff, 0xc8, 1, 0][..];
    let read = DeleteGroupsRequest::decode(&mut bytes, 2).expect("unknown tags do no harm");
    assert_eq!(read.groups_names, [text("g")]);
    assert!(bytes.is_empty());
}

#[test]
fn what_is_cut_short_is_an_error() {
    let request = OffsetCommitRequest {
        topics: vec![OffsetCommitRequestTopic {
            partitions: vec![OffsetCommitRequestPartition::default()],
            ..Default::default()
        }],
        ..Default::default()
    };
    for version in 2..=10 {
        let bytes = written(&request, version);
        for length in 0..bytes.len() {
            assert!(
                OffsetCommitRequest::decode(&mut &bytes[..length], version).is_err(),
                "{length} of v{version}"
            );
        }
    }
}

#[test]
fn keys_are_those_of_kafka() {
    assert_eq!(OffsetCommitRequest::KEY, theirs::OffsetCommitRequest::KEY);
    assert_eq!(OffsetFetchRequest::KEY, theirs::OffsetFetchRequest::KEY);
    assert_eq!(ListOffsetsRequest::KEY, theirs::ListOffsetsRequest::KEY);
    assert_eq!(ApiVersionsRequest::KEY, theirs::ApiVersionsRequest::KEY);
    assert_eq!(DeleteGroupsRequest::KEY, theirs::DeleteGroupsRequest::KEY);
    assert_eq!(DescribeLogDirsRequest::KEY, theirs::DescribeLogDirsRequest::KEY);
    assert_eq!(TxnOffsetCommitRequest::KEY, theirs::TxnOffsetCommitRequest::KEY);
    assert_eq!(WriteTxnMarkersRequest::KEY, theirs::WriteTxnMarkersRequest::KEY);
}
