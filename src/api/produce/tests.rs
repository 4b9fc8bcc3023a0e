use kafka_protocol::messages::{TopicName, TransactionalId};
use kafka_protocol::protocol::StrBytes;
use uuid::Uuid;

use super::*;
use crate::api::testing::{Broker, NOW};
use crate::log::test_batch::{BatchSpec, seal};
use crate::log::{Isolation, WaitPartition};
use crate::types::{Millis, ReplyTo};

fn batch() -> BatchSpec {
    BatchSpec::new(1, NOW.wall.0)
}

fn good() -> Vec<u8> {
    batch().build()
}

/// One whose magic is 3, which Kafka finds before all else.
fn corrupt() -> Vec<u8> {
    let mut corrupt = good();
    corrupt[16] = 3;
    corrupt
}

fn topic(name: &'static str, partitions: &[(i32, Vec<u8>)]) -> TopicProduceData {
    let data = partitions.iter().map(|(index, records)| {
        PartitionProduceData::default().with_index(*index).with_records(Some(records.clone().into()))
    });
    TopicProduceData::default()
        .with_name(TopicName(StrBytes::from_static_str(name)))
        .with_partition_data(data.collect())
}

fn request(topics: &[TopicProduceData]) -> ProduceRequest {
    ProduceRequest::default().with_transactional_id(None).with_acks(1).with_topic_data(topics.to_vec())
}

/// Topic, partition, error, base offset and log start offset of each partition, as they come.
fn answers(response: &ProduceResponse) -> Vec<(String, i32, i16, i64, i64)> {
    let topics = response.responses.iter();
    topics
        .flat_map(|topic| {
            topic
                .partition_responses
                .iter()
                .map(|p| (topic.name.to_string(), p.index, p.error_code, p.base_offset, p.log_start_offset))
        })
        .collect()
}

fn produce(broker: &Broker, version: i16, request: &ProduceRequest) -> ProduceResponse {
    broker.call(version, request, handle)
}

fn row(topic: &str, partition: i32, error: i16, base: i64, start: i64) -> (String, i32, i16, i64, i64) {
    (topic.to_owned(), partition, error, base, start)
}

// Seen on Kafka 4.4.0, as all that follows.
#[test]
fn every_version_appends() {
    let broker = Broker::with_topics(&[("t", 1)]);
    for version in 3..=12 {
        let response = produce(&broker, version, &request(&[topic("t", &[(0, good())])]));
        let start = if version >= 5 { 0 } else { -1 };
        assert_eq!(answers(&response), [row("t", 0, 0, i64::from(version) - 3, start)]);
        assert_eq!(response.responses[0].partition_responses[0].log_append_time_ms, -1);
    }
    for version in 0..3 {
        let outcome = handle(&broker.context(), version, &request(&[topic("t", &[(0, good())])]));
        assert!(matches!(outcome, Outcome::Close(_)), "{version}");
    }
}

#[test]
fn topics_have_ids_from_version_13_on() {
    let broker = Broker::with_topics(&[("t", 2)]);
    let by_id = |id: Uuid, partitions: &[(i32, Vec<u8>)]| topic("", partitions).with_topic_id(id);
    let id = broker.topic_id("t").into();
    let unknown = Uuid::from_u128(1);
    let topics = [by_id(unknown, &[(0, good())]), by_id(id, &[(0, good()), (7, good())])];
    let response = produce(&broker, 13, &request(&topics));
    let expected = [row("", 0, 0, 0, 0), row("", 7, 3, -1, -1), row("", 0, 100, -1, -1)];
    assert_eq!(answers(&response), expected);
    assert_eq!(response.responses.iter().map(|topic| topic.topic_id).collect::<Vec<_>>(), [id, unknown]);
}

#[test]
fn each_partition_has_its_own_answer() {
    let broker = Broker::with_topics(&[("t", 2), ("__consumer_offsets", 2)]);
    let topics = [topic("nope", &[(0, good())]), topic("t", &[(0, good()), (7, good()), (1, vec![])])];
    let response = produce(&broker, 12, &request(&topics));
    let expected =
        [row("t", 0, 0, 0, 0), row("t", 7, 3, -1, -1), row("t", 1, 87, -1, -1), row("nope", 0, 3, -1, -1)];
    assert_eq!(answers(&response).len(), 4);
    for answer in answers(&response) {
        assert!(expected.contains(&answer), "{answer:?}");
    }
    assert_eq!(answers(&response)[0], expected[0], "what was appended comes first");

    let internal = topic("__consumer_offsets", &[(0, good()), (1, vec![]), (99, good())]);
    let mut response = answers(&produce(&broker, 12, &request(&[internal])));
    response.sort();
    let refused = |partition, error| row("__consumer_offsets", partition, error, -1, -1);
    assert_eq!(response, [refused(0, 17), refused(1, 87), refused(99, 3)]);
}

#[test]
fn refusals_say_as_much_as_kafka_does() {
    let broker = Broker::with(&[("message.max.bytes", "200")]);
    broker.create("t", 1);
    let late = BatchSpec::new(2, NOW.wall.0 + 7_200_000);
    let mut wrong_crc = good();
    wrong_crc[70] ^= 1;
    let mut control = batch().attributes(0x20).build();
    seal(&mut control);
    // Error, log start offset, text, texts about single records.
    for (records, error, start, has_text, texts) in [
        (batch().value_len(300).build(), 10, -1, false, 0),
        (wrong_crc, 2, -1, false, 0),
        (control, 87, 0, false, 0),
        (late.build(), 32, 0, true, 2),
        (batch().producer(5, 0, 0).build(), 0, 0, false, 0),
        (batch().producer(5, 0, 2).build(), 45, 0, false, 0),
        (batch().producer(5, -1, 2).build(), 47, 0, false, 0),
        (batch().attributes(5).build(), -1, 0, false, 0),
    ] {
        let response = produce(&broker, 8, &request(&[topic("t", &[(0, records)])]));
        let answer = &response.responses[0].partition_responses[0];
        assert_eq!((answer.error_code, answer.log_start_offset), (error, start));
        assert_eq!(answer.error_message.is_some(), has_text, "{error}");
        assert_eq!(answer.record_errors.len(), texts, "{error}");
    }
}

#[test]
fn a_frame_that_cannot_be_refuses_the_whole_request() {
    let broker = Broker::with_topics(&[("t", 2)]);
    let response = produce(
        &broker,
        12,
        &request(&[topic("t", &[(0, good()), (1, corrupt())]), topic("nope", &[(0, good())])]),
    );
    let expected = [row("t", 0, 2, -1, -1), row("t", 1, 2, -1, -1), row("nope", 0, 2, -1, -1)];
    assert_eq!(answers(&response), expected);
    let text = response.responses[0].partition_responses[0].error_message.as_deref();
    assert_eq!(text, Some("Invalid magic found in record: 3"));
}

#[test]
fn a_transaction_needs_its_id_and_one_that_is_known() {
    let broker = Broker::with_topics(&[("t", 2)]);
    let transactional = batch().attributes(0x10).producer(5, 0, 0).build();
    let asked = request(&[topic("t", &[(0, good()), (1, transactional.clone())])]);
    assert_eq!(answers(&produce(&broker, 12, &asked)), [row("t", 0, 53, -1, -1), row("t", 1, 53, -1, -1)]);
    let id = Some(TransactionalId(StrBytes::from_static_str("id")));
    let asked = request(&[topic("t", &[(1, transactional)])]).with_transactional_id(id);
    assert_eq!(answers(&produce(&broker, 12, &asked)), [row("t", 1, 49, -1, -1)]);
}

#[test]
fn acks_are_0_1_or_all() {
    let broker = Broker::with_topics(&[("t", 2)]);
    let all = request(&[topic("t", &[(0, good())])]).with_acks(-1);
    assert_eq!(answers(&produce(&broker, 12, &all)), [row("t", 0, 0, 0, 0)]);
    let five =
        request(&[topic("nope", &[(0, good())]), topic("t", &[(0, good()), (1, vec![])])]).with_acks(5);
    let expected = [row("t", 0, 21, -1, -1), row("t", 1, 87, -1, -1), row("nope", 0, 3, -1, -1)];
    let response = answers(&produce(&broker, 12, &five));
    assert!(expected.iter().all(|answer| response.contains(answer)), "{response:?}");

    let handled = |request: &ProduceRequest| handle(&broker.context(), 12, &request.clone().with_acks(0));
    assert!(matches!(handled(&all), Outcome::Silent));
    assert!(matches!(handled(&five), Outcome::Close(_)), "only so can an error be told");
    assert!(matches!(handled(&request(&[topic("t", &[(0, corrupt())])])), Outcome::Close(_)));
}

#[test]
fn of_a_partition_that_comes_twice_the_last_counts() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let two = BatchSpec::new(2, NOW.wall.0).build();
    let response = produce(&broker, 12, &request(&[topic("t", &[(0, good()), (0, two)])]));
    assert_eq!(answers(&response), [row("t", 0, 0, 0, 0)]);
    let response = produce(&broker, 12, &request(&[topic("t", &[(0, good())])]));
    assert_eq!(answers(&response), [row("t", 0, 0, 2, 0)]);
}

#[test]
fn no_records_at_all_close_the_connection() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let null = |name| {
        let partition = PartitionProduceData::default().with_index(0).with_records(None);
        request(&[topic(name, &[]).with_partition_data(vec![partition])])
    };
    assert!(matches!(handle(&broker.context(), 12, &null("t")), Outcome::Close(_)));
    assert_eq!(answers(&produce(&broker, 12, &null("nope"))), [row("nope", 0, 3, -1, -1)]);
}

#[test]
fn who_waits_for_records_is_woken() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let partition = TopicIdPartition { topic: broker.topic_id("t"), partition: 0 };
    let wait =
        WaitPartition { partition, available: 0, bytes_max: 1000, isolation: Isolation::ReadUncommitted };
    lock(&broker.services.topics).log.park(ReplyTo(9), Millis(99_999), 1, [wait]);
    produce(&broker, 12, &request(&[topic("t", &[(0, good())])]));
    assert_eq!(broker.woken(), [ReplyTo(9)]);
}
