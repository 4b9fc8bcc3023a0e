//! Transactions over the wire, with the codes that Kafka 4.4.0 answers. What producers do with them is played in
//! `protocol-tests/tests/transactions/`.

use kafka_protocol::messages::describe_producers_request::TopicRequest;
use kafka_protocol::messages::{
    AddOffsetsToTxnRequest, DescribeProducersRequest, DescribeTransactionsRequest, EndTxnRequest,
    FindCoordinatorRequest, InitProducerIdRequest, ProducerId, TransactionalId,
};
use rallypoint::wire::kafka_4_4 as newer;

use super::*;

const UNKNOWN_TOPIC_OR_PARTITION: i16 = 3;
const INVALID_GROUP_ID: i16 = 24;
const UNKNOWN_TOPIC_ID: i16 = 100;
const INVALID_PRODUCER_EPOCH: i16 = 47;
const INVALID_TXN_STATE: i16 = 48;
const INVALID_PRODUCER_ID_MAPPING: i16 = 49;
const UNSTABLE_OFFSET_COMMIT: i16 = 88;
const PRODUCER_FENCED: i16 = 90;
const TRANSACTIONAL_ID_NOT_FOUND: i16 = 105;
const TRANSACTION_ABORTABLE: i16 = 120;

fn id() -> TransactionalId {
    TransactionalId(text("x"))
}

/// A producer with the transactional id `x`.
fn initialized(peer: &mut Peer) -> (i64, i16) {
    let find = FindCoordinatorRequest::default().with_key_type(1).with_coordinator_keys(vec![text("x")]);
    assert_eq!(peer.call(4, &find).expect("an answer").coordinators[0].error_code, 0);
    let init = InitProducerIdRequest::default()
        .with_transactional_id(Some(id()))
        .with_transaction_timeout_ms(60_000)
        .with_producer_id(ProducerId(-1))
        .with_producer_epoch(-1);
    let answer = peer.call(4, &init).expect("an answer");
    assert_eq!(answer.error_code, 0);
    (answer.producer_id.0, answer.producer_epoch)
}

fn commit(producer: (i64, i16), topics: &[(&str, Uuid, &[i32])]) -> newer::TxnOffsetCommitRequest {
    let partition = |partition: &i32| newer::TxnOffsetCommitRequestPartition {
        partition_index: *partition,
        committed_offset: 5,
        ..Default::default()
    };
    let topic = |(name, topic_id, partitions): &(&str, Uuid, &[i32])| newer::TxnOffsetCommitRequestTopic {
        name: text(name),
        topic_id: *topic_id,
        partitions: partitions.iter().map(partition).collect(),
    };
    newer::TxnOffsetCommitRequest {
        transactional_id: text("x"),
        group_id: text("g"),
        producer_id: producer.0,
        producer_epoch: producer.1,
        topics: topics.iter().map(topic).collect(),
        ..Default::default()
    }
}

/// Partition and code of each partition in the answer.
fn codes(peer: &mut Peer, version: i16, request: &newer::TxnOffsetCommitRequest) -> Vec<(i32, i16)> {
    let topics = peer.call(version, request).expect("an answer").topics;
    topics
        .iter()
        .flat_map(|topic| topic.partitions.iter().map(|p| (p.partition_index, p.error_code)))
        .collect()
}

fn end(peer: &mut Peer, version: i16, producer: (i64, i16), committed: bool) -> (i16, i64, i16) {
    let request = EndTxnRequest::default()
        .with_transactional_id(id())
        .with_producer_id(ProducerId(producer.0))
        .with_producer_epoch(producer.1)
        .with_committed(committed);
    let answer = peer.call(version, &request).expect("an answer");
    (answer.error_code, answer.producer_id.0, answer.producer_epoch)
}

/// The code and offset of partition 0 that a member is told before it reads.
fn stable(peer: &mut Peer) -> (i16, i64) {
    let topic = newer::OffsetFetchRequestTopic { name: text("t"), partition_indexes: vec![0] };
    let request = newer::OffsetFetchRequest {
        group_id: text("g"),
        topics: Some(vec![topic]),
        require_stable: true,
        ..Default::default()
    };
    let partition = peer.call(7, &request).expect("an answer").topics.remove(0).partitions.remove(0);
    (partition.error_code, partition.committed_offset)
}

/// OF-03: an offset that a transaction is about to change is not handed out as if it were the last word.
#[test]
fn an_offset_in_a_transaction_is_unstable_until_it_ends() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    create_topic(&mut peer, "t", 1);
    let producer = initialized(&mut peer);
    let request = commit(producer, &[("t", Uuid::nil(), &[0])]);
    // Before version 5 the client adds the group itself.
    assert_eq!(codes(&mut peer, 3, &request), [(0, INVALID_TXN_STATE)]);
    assert_eq!(codes(&mut peer, 4, &request), [(0, TRANSACTION_ABORTABLE)]);
    assert_eq!(stable(&mut peer), (0, -1));
    assert_eq!(codes(&mut peer, 5, &request), [(0, 0)]);
    assert_eq!(stable(&mut peer), (UNSTABLE_OFFSET_COMMIT, -1));
    assert_eq!(end(&mut peer, 5, producer, true), (0, producer.0, producer.1 + 1));
    assert_eq!(stable(&mut peer), (0, 5));
    // What comes late has an old epoch.
    for version in 0..=5 {
        assert_eq!(codes(&mut peer, version, &request), [(0, INVALID_PRODUCER_EPOCH)], "v{version}");
    }
    let add = AddOffsetsToTxnRequest::default()
        .with_transactional_id(id())
        .with_producer_id(ProducerId(producer.0))
        .with_producer_epoch(producer.1)
        .with_group_id(GroupId(text("g")));
    for version in 0..=4 {
        let fenced = if version < 2 { INVALID_PRODUCER_EPOCH } else { PRODUCER_FENCED };
        assert_eq!(peer.call(version, &add).expect("an answer").error_code, fenced, "v{version}");
        assert_eq!(end(&mut peer, version, producer, true).0, fenced, "v{version}");
    }
    assert_eq!(end(&mut peer, 5, (producer.0 + 1, 0), true), (INVALID_PRODUCER_ID_MAPPING, -1, -1));
}

/// OF-05: topics and partitions that the broker does not have are refused, first and by themselves.
#[test]
fn unknown_topics_do_not_spoil_the_offsets_of_others() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    create_topic(&mut peer, "t", 1);
    let known = topic(&mut peer, "t").1;
    let producer = initialized(&mut peer);
    let by_name = commit(producer, &[("t", Uuid::nil(), &[0, 7]), ("nope", Uuid::nil(), &[1])]);
    assert_eq!(
        codes(&mut peer, 5, &by_name),
        [(7, UNKNOWN_TOPIC_OR_PARTITION), (0, 0), (1, UNKNOWN_TOPIC_OR_PARTITION)]
    );
    let by_id = commit(producer, &[("", Uuid::from_u128(7), &[1]), ("", known, &[0])]);
    assert_eq!(codes(&mut peer, 6, &by_id), [(1, UNKNOWN_TOPIC_ID), (0, 0)]);
    let nobody =
        newer::TxnOffsetCommitRequest { group_id: text(""), ..commit(producer, &[("t", Uuid::nil(), &[0])]) };
    assert_eq!(codes(&mut peer, 5, &nobody), [(0, INVALID_GROUP_ID)]);
}

/// What `kafka-transactions.sh` asks, and how it ends a transaction by hand.
#[test]
fn transactions_can_be_looked_at_and_ended_by_hand() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    create_topic(&mut peer, "t", 1);
    let producer = initialized(&mut peer);
    codes(&mut peer, 5, &commit(producer, &[("t", Uuid::nil(), &[0])]));
    let ids = vec![id(), TransactionalId(text("nobody"))];
    let request = DescribeTransactionsRequest::default().with_transactional_ids(ids);
    let states = peer.call(0, &request).expect("an answer").transaction_states;
    assert_eq!((states[0].error_code, states[0].transaction_state.as_str()), (0, "Ongoing"));
    assert_eq!(states[0].topics[0].topic.as_str(), "__consumer_offsets");
    assert_eq!(states[1].error_code, TRANSACTIONAL_ID_NOT_FOUND);

    let marker = |epoch, partitions: &[i32]| {
        let topic = newer::WritableTxnMarkerTopic { name: text("t"), partition_indexes: partitions.to_vec() };
        let marker = newer::WritableTxnMarker {
            producer_id: 4_711,
            producer_epoch: epoch,
            topics: vec![topic],
            ..Default::default()
        };
        newer::WriteTxnMarkersRequest { markers: vec![marker] }
    };
    let mut write = |request: newer::WriteTxnMarkersRequest| {
        let markers = peer.call(1, &request).expect("an answer").markers;
        let partitions = markers[0].topics[0].partitions.iter();
        partitions.map(|p| (p.partition_index, p.error_code)).collect::<Vec<_>>()
    };
    assert_eq!(write(marker(3, &[0, 9])), [(0, 0), (9, UNKNOWN_TOPIC_OR_PARTITION)]);
    assert_eq!(write(marker(2, &[0])), [(0, INVALID_PRODUCER_EPOCH)]);

    let asked = TopicRequest::default().with_name(TopicName(text("t"))).with_partition_indexes(vec![0, 9]);
    let request = DescribeProducersRequest::default().with_topics(vec![asked]);
    let partitions = peer.call(0, &request).expect("an answer").topics.remove(0).partitions;
    let known = &partitions[0].active_producers[0];
    assert_eq!((known.producer_id.0, known.producer_epoch, known.coordinator_epoch), (4_711, 3, 0));
    assert_eq!((known.last_sequence, known.current_txn_start_offset), (-1, -1));
    assert_eq!(partitions[1].error_code, UNKNOWN_TOPIC_OR_PARTITION);
}
