//! Offsets, and the records behind them.

use bytes::BytesMut;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{FetchRequest, ListOffsetsRequest, OffsetCommitRequest, ProduceRequest};
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Record,
    RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use protocol_tests::requests::commit;
use rallypoint::wire::kafka_4_4 as newer;

use super::*;

const UNKNOWN_TOPIC_ID: i16 = 100;

/// Topic, partition and offset of all that a group has committed.
pub(crate) fn committed(peer: &mut Peer, group: &str) -> Vec<(String, i32, i64)> {
    let asked = newer::OffsetFetchRequestGroup { group_id: text(group), topics: None, ..Default::default() };
    let request = newer::OffsetFetchRequest { groups: vec![asked], ..Default::default() };
    let group = peer.call(8, &request).expect("an answer").groups.remove(0);
    assert_eq!(group.error_code, 0);
    let offsets = group.topics.iter().flat_map(|topic| {
        let of = |partition: &newer::OffsetFetchResponsePartitions| {
            (topic.name.to_string(), partition.partition_index, partition.committed_offset)
        };
        topic.partitions.iter().map(of)
    });
    let mut offsets: Vec<_> = offsets.collect();
    offsets.sort();
    offsets
}

/// OF-06: from version 10 on topics go by id, in answers too, and an unknown one spoils nothing else.
#[test]
fn commits_by_topic_id_are_told_apart() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    create_topic(&mut peer, "t", 1);
    let (known, unknown) = (topic(&mut peer, "t").1, Uuid::from_u128(7));
    let topics = [unknown, known].map(|topic_id| newer::OffsetCommitRequestTopic {
        topic_id,
        partitions: vec![newer::OffsetCommitRequestPartition { committed_offset: 5, ..Default::default() }],
        ..Default::default()
    });
    let request =
        newer::OffsetCommitRequest { group_id: text("g"), topics: topics.into(), ..Default::default() };
    let mut answer: Vec<_> = peer.call(10, &request).expect("an answer").topics;
    answer.sort_by_key(|topic| topic.topic_id != unknown);
    let answer: Vec<_> =
        answer.iter().map(|topic| (topic.topic_id, topic.partitions[0].error_code)).collect();
    assert_eq!(answer, [(unknown, UNKNOWN_TOPIC_ID), (known, 0)]);

    let topics = [unknown, known].map(|topic_id| newer::OffsetFetchRequestTopics {
        topic_id,
        partition_indexes: vec![0],
        ..Default::default()
    });
    let asked = newer::OffsetFetchRequestGroup {
        group_id: text("g"),
        topics: Some(topics.into()),
        ..Default::default()
    };
    let request = newer::OffsetFetchRequest { groups: vec![asked], ..Default::default() };
    let mut answer = peer.call(10, &request).expect("an answer").groups.remove(0).topics;
    answer.sort_by_key(|topic| topic.topic_id != unknown);
    let answer: Vec<_> = answer
        .iter()
        .map(|topic| (topic.topic_id, topic.partitions[0].error_code, topic.partitions[0].committed_offset))
        .collect();
    assert_eq!(answer, [(unknown, UNKNOWN_TOPIC_ID, -1), (known, 0, 5)]);
}

fn batch(timestamp: i64) -> bytes::Bytes {
    let record = Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
        producer_id: NO_PRODUCER_ID,
        producer_epoch: NO_PRODUCER_EPOCH,
        timestamp_type: TimestampType::Creation,
        offset: 0,
        sequence: NO_SEQUENCE,
        timestamp,
        key: None,
        value: Some(bytes::Bytes::from_static(b"value")),
        headers: Default::default(),
    };
    let mut batch = BytesMut::new();
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    RecordBatchEncoder::encode(&mut batch, [&record], &options).expect("a batch");
    batch.freeze()
}

fn produce(peer: &mut Peer, timestamp: i64) {
    let data = PartitionProduceData::default().with_records(Some(batch(timestamp)));
    let topic = TopicProduceData::default().with_name(TopicName(text("t"))).with_partition_data(vec![data]);
    let request = ProduceRequest::default().with_acks(-1).with_timeout_ms(1_000).with_topic_data(vec![topic]);
    let produced = peer.call(9, &request).expect("an answer");
    assert_eq!(produced.responses[0].partition_responses[0].error_code, 0);
}

fn fetch(peer: &mut Peer, offset: i64) -> bytes::Bytes {
    let partition = FetchPartition::default().with_fetch_offset(offset).with_partition_max_bytes(1 << 20);
    let topic = FetchTopic::default().with_topic(TopicName(text("t"))).with_partitions(vec![partition]);
    let request = FetchRequest::default()
        .with_topics(vec![topic])
        .with_session_epoch(-1)
        .with_max_wait_ms(0)
        .with_max_bytes(1 << 20);
    let mut answer = peer.call(12, &request).expect("an answer").responses.remove(0).partitions.remove(0);
    assert_eq!(answer.error_code, 0);
    answer.records.take().expect("records are of length 0 where there are none, not null")
}

/// OF-10: what is committed is there for the next consumer, and nothing is answered in part.
#[test]
fn a_consumer_resumes_where_the_one_before_has_committed() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    create_topic(&mut peer, "t", 1);
    for timestamp in [1_000, 2_000, 3_000] {
        produce(&mut peer, timestamp);
    }
    peer.call::<OffsetCommitRequest>(8, &commit("g", "t", 0..1, "")).expect("an answer");
    drop(peer);
    let mut next = broker.connect();
    assert_eq!(committed(&mut next, "g"), [("t".to_owned(), 0, 1)]);
    assert!(!fetch(&mut next, 1).is_empty());
    assert!(fetch(&mut next, 3).is_empty());

    let first_at_or_after = |timestamp| ListOffsetsPartition::default().with_timestamp(timestamp);
    for (timestamp, expected) in
        [(0, (0, 1_000)), (1_001, (1, 2_000)), (3_000, (2, 3_000)), (3_001, (-1, -1))]
    {
        let topic = ListOffsetsTopic::default()
            .with_name(TopicName(text("t")))
            .with_partitions(vec![first_at_or_after(timestamp)]);
        let request = ListOffsetsRequest::default().with_replica_id((-1).into()).with_topics(vec![topic]);
        let answer = next.call(7, &request).expect("an answer");
        let found = &answer.topics[0].partitions[0];
        assert_eq!((found.error_code, (found.offset, found.timestamp)), (0, expected), "at {timestamp}");
    }
}
