use kafka_protocol::messages::fetch_request::{FetchTopic as AskedTopic, ForgottenTopic, ReplicaState};
use kafka_protocol::protocol::StrBytes;

use super::*;
use crate::api::testing::{Broker, NOW};
use crate::types::{Now, ReplyTo};

const FOREVER_MS: i32 = 1_000_000;

fn name(name: &'static str) -> WireName {
    WireName(StrBytes::from_static_str(name))
}

fn partition(index: i32, offset: i64) -> WirePartition {
    WirePartition::default()
        .with_partition(index)
        .with_current_leader_epoch(-1)
        .with_fetch_offset(offset)
        .with_partition_max_bytes(1 << 20)
}

fn topic(topic: &'static str, partitions: &[WirePartition]) -> AskedTopic {
    AskedTopic::default().with_topic(name(topic)).with_partitions(partitions.to_vec())
}

/// A request that waits for nothing and asks for no session.
fn request(topics: &[AskedTopic]) -> FetchRequest {
    FetchRequest::default()
        .with_min_bytes(1)
        .with_max_bytes(1 << 20)
        .with_session_epoch(-1)
        .with_topics(topics.to_vec())
}

fn by_id(broker: &Broker, topic_name: &'static str, partitions: &[WirePartition]) -> AskedTopic {
    topic("", partitions).with_topic_id(broker.topic_id(topic_name).into())
}

/// Topic, partition, error, high watermark and bytes of records, as they come.
fn answers(response: &FetchResponse) -> Vec<(String, i32, i16, i64, usize)> {
    let topics = response.responses.iter();
    topics
        .flat_map(|topic| {
            topic.partitions.iter().map(|p| {
                let bytes = p.records.as_ref().expect("empty records are not null").len();
                (topic.topic.to_string(), p.partition_index, p.error_code, p.high_watermark, bytes)
            })
        })
        .collect()
}

fn fetch(broker: &Broker, version: i16, request: &FetchRequest) -> FetchResponse {
    broker.call(version, request, handle)
}

fn row(topic: &str, partition: i32, error: i16, end: i64, bytes: usize) -> (String, i32, i16, i64, usize) {
    (topic.to_owned(), partition, error, end, bytes)
}

/// One partition's answer to a version 12 request about partition 0 of `t`.
fn fetch_one(broker: &Broker, asked: WirePartition) -> PartitionData {
    fetch(broker, 12, &request(&[topic("t", &[asked])])).responses[0].partitions[0].clone()
}

/// How long the batch of `append(…, count)` is.
fn batch_len(count: usize) -> usize {
    crate::log::test_batch::BatchSpec::new(count, NOW.wall.0).build().len()
}

#[test]
fn every_version_reads() {
    let broker = Broker::with_topics(&[("t", 1)]);
    broker.append("t", 0, 5);
    for version in 4..=18 {
        let asked = match version {
            4..13 => topic("t", &[partition(0, 3)]),
            _ => by_id(&broker, "t", &[partition(0, 3)]),
        };
        let response = fetch(&broker, version, &request(&[asked]));
        let (id, shown) = match version {
            4..13 => (Uuid::nil(), "t"),
            _ => (broker.topic_id("t").into(), ""),
        };
        assert_eq!(answers(&response), [row(shown, 0, 0, 5, batch_len(5))], "{version}");
        assert_eq!(response.responses[0].topic_id, id);
        let data = &response.responses[0].partitions[0];
        assert_eq!((data.last_stable_offset, data.preferred_read_replica.0), (5, -1));
        assert_eq!(data.log_start_offset, if version >= 5 { 0 } else { -1 });
        assert_eq!(data.aborted_transactions, None);
    }
}

// Seen on Kafka 4.4.0, as all that follows.
#[test]
fn what_cannot_be_read_is_refused() {
    let broker = Broker::with_topics(&[("t", 1)]);
    broker.append("t", 0, 5);
    let error = |asked| fetch_one(&broker, asked).error_code;
    assert_eq!(error(partition(0, 6)), 1);
    assert_eq!(error(partition(0, -1)), 1);
    assert_eq!(error(partition(9, 0)), 3);
    assert_eq!(error(partition(0, 0).with_current_leader_epoch(0)), 0);
    assert_eq!(error(partition(0, 0).with_current_leader_epoch(5)), 75);
    assert_eq!(error(partition(0, 0).with_current_leader_epoch(-2)), 0);
    assert_eq!(error(partition(0, 0).with_partition_max_bytes(-1)), -1);
    assert_eq!(error(partition(0, 5).with_partition_max_bytes(-1)), 0);

    let refused = fetch_one(&broker, partition(0, 6));
    assert_eq!((refused.high_watermark, refused.last_stable_offset, refused.log_start_offset), (-1, -1, -1));
    assert_eq!(refused.aborted_transactions, None);
    assert_eq!(refused.records, Some(Bytes::new()));
    assert_eq!(fetch_one(&broker, partition(9, 0)).aborted_transactions, Some(vec![]));

    let unknown = topic("", &[partition(0, 0)]).with_topic_id(Uuid::from_u128(1));
    let beyond = by_id(&broker, "t", &[partition(9, 0)]);
    let response = fetch(&broker, 13, &request(&[unknown, beyond]));
    assert_eq!(answers(&response), [row("", 0, 100, -1, 0), row("", 9, 3, -1, 0)]);
}

#[test]
fn a_client_that_has_what_never_was_here_is_told_where_to_cut() {
    let broker = Broker::with_topics(&[("t", 1)]);
    broker.append("t", 0, 5);
    let asked = |offset, epoch| fetch_one(&broker, partition(0, offset).with_last_fetched_epoch(epoch));
    assert_eq!(asked(0, 0).records.unwrap().len(), batch_len(5));
    assert_eq!(asked(0, -2).error_code, 0);
    assert_eq!(asked(0, 5).error_code, 1);
    let diverging = asked(999, 0);
    assert_eq!((diverging.error_code, diverging.high_watermark), (0, 5));
    assert_eq!((diverging.diverging_epoch.epoch, diverging.diverging_epoch.end_offset), (0, 5));
    assert_eq!(diverging.records, Some(Bytes::new()));
}

#[test]
fn committed_reads_list_no_aborted_transactions() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let mut asked = request(&[topic("t", &[partition(0, 0)])]);
    asked.isolation_level = 1;
    let response = fetch(&broker, 11, &asked);
    assert_eq!(response.responses[0].partitions[0].aborted_transactions, Some(vec![]));

    asked.isolation_level = 7;
    let response = fetch(&broker, 11, &asked);
    assert_eq!((response.error_code, answers(&response)), (-1, vec![row("t", 0, -1, -1, 0)]));
    asked.topics = vec![by_id(&broker, "t", &[partition(0, 0)])];
    let response = fetch(&broker, 17, &asked);
    assert_eq!((response.error_code, answers(&response)), (-1, vec![]));
}

#[test]
fn bytes_are_bounded_but_for_the_first_batch() {
    let broker = Broker::with_topics(&[("t", 2)]);
    for _ in 0..3 {
        broker.append("t", 0, 1);
        broker.append("t", 1, 1);
    }
    let len = batch_len(1);
    let bytes = |max_bytes: i32, partition_max: usize| {
        let partition_max = i32::try_from(partition_max).unwrap();
        let asked = |index| partition(index, 0).with_partition_max_bytes(partition_max);
        let asked = request(&[topic("t", &[asked(0), asked(1)])]).with_max_bytes(max_bytes);
        answers(&fetch(&broker, 11, &asked)).iter().map(|answer| answer.4 / len).collect::<Vec<_>>()
    };
    assert_eq!(bytes(1 << 20, 1 << 20), [3, 3]);
    assert_eq!(bytes(1 << 20, 2 * len), [2, 2]);
    assert_eq!(bytes(1 << 20, 0), [1, 0]);
    assert_eq!(bytes(0, 1 << 20), [1, 0]);
    assert_eq!(bytes(i32::try_from(4 * len).unwrap(), 1 << 20), [3, 1]);
}

#[test]
fn what_is_unknown_comes_last_and_twice_is_once() {
    let broker = Broker::with_topics(&[("t", 2), ("u", 1)]);
    broker.append("t", 0, 1);
    let asked = [
        topic("t", &[partition(1, 0)]),
        topic("nope", &[partition(0, 0)]),
        topic("t", &[partition(0, 5), partition(0, 0)]),
        topic("u", &[partition(0, 0)]),
    ];
    let response = fetch(&broker, 11, &request(&asked));
    let expected = [
        row("t", 1, 0, 0, 0),
        row("t", 0, 0, 1, batch_len(1)),
        row("u", 0, 0, 0, 0),
        row("nope", 0, 3, -1, 0),
    ];
    assert_eq!(answers(&response), expected);
    assert_eq!(response.responses.len(), 3, "neighbours of one topic are together");
}

#[test]
fn other_brokers_are_refused() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let asked = request(&[topic("t", &[partition(0, 0)])]).with_replica_id(BrokerId(1));
    assert_eq!(answers(&fetch(&broker, 11, &asked)), [row("t", 0, 6, -1, 0)]);
    let state = ReplicaState::default().with_replica_id(BrokerId(1));
    let asked = request(&[by_id(&broker, "t", &[partition(0, 0)])]).with_replica_state(state);
    assert_eq!(answers(&fetch(&broker, 17, &asked))[0].2, 6);
}

/// Sends a request that is to be parked.
fn park(broker: &Broker, version: i16, request: &FetchRequest) -> Waiting {
    match handle(&broker.context(), version, request) {
        Outcome::Parked(Parked::Fetch(waiting)) => *waiting,
        outcome => panic!("not parked: {outcome:?}"),
    }
}

fn answered_after(broker: &Broker, waiting: Waiting, millis: i64) -> Outcome<FetchResponse> {
    let monotonic = NOW.monotonic.plus(millis);
    resume(&Context { now: Now { monotonic, ..NOW }, ..broker.context() }, waiting)
}

#[test]
fn a_fetch_waits_for_min_bytes() {
    let broker = Broker::with_topics(&[("t", 2)]);
    let two = i32::try_from(batch_len(1) + 1).unwrap();
    let asked = request(&[topic("t", &[partition(0, 0), partition(1, 0)])]);
    let waiting = park(&broker, 11, &asked.with_max_wait_ms(500).with_min_bytes(two));
    broker.append("t", 0, 1);
    assert!(lock(&broker.services.topics).log.take_ready().is_empty());
    let Outcome::Parked(Parked::Fetch(waiting)) = answered_after(&broker, waiting, 499) else {
        panic!("too early");
    };
    broker.append("t", 1, 1);
    assert_eq!(lock(&broker.services.topics).log.take_ready(), [ReplyTo(1)]);
    let Outcome::Reply(response) = answered_after(&broker, *waiting, 499) else { panic!("no answer") };
    assert_eq!(answers(&response), [row("t", 0, 0, 1, batch_len(1)), row("t", 1, 0, 1, batch_len(1))]);
}

#[test]
fn a_fetch_ends_in_time_with_what_there_is() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let asked = request(&[topic("t", &[partition(0, 0)])]).with_max_wait_ms(500);
    let waiting = park(&broker, 11, &asked);
    assert_eq!(lock(&broker.services.topics).log.next_deadline(), NOW.after(500));
    let Outcome::Reply(response) = answered_after(&broker, waiting, 500) else { panic!("no answer") };
    assert_eq!(answers(&response), [row("t", 0, 0, 0, 0)]);
}

#[test]
fn nothing_to_wait_for_is_answered_at_once() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let at_once = |asked: FetchRequest| fetch(&broker, 11, &asked.with_max_wait_ms(FOREVER_MS));
    at_once(request(&[]));
    at_once(request(&[topic("nope", &[partition(0, 0)])]));
    at_once(request(&[topic("t", &[partition(0, 99)])]));
    at_once(request(&[topic("t", &[partition(0, 0)])]).with_min_bytes(0));
    // An unknown partition does not hurry the others.
    let asked = request(&[topic("nope", &[partition(0, 0)]), topic("t", &[partition(0, 0)])]);
    park(&broker, 11, &asked.with_max_wait_ms(FOREVER_MS));
}

#[test]
fn a_topic_deleted_under_a_fetch_ends_it() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let asked = request(&[by_id(&broker, "t", &[partition(0, 0)])]).with_max_wait_ms(FOREVER_MS);
    let waiting = park(&broker, 17, &asked);
    let id = broker.topic_id("t");
    lock(&broker.services.topics).delete(id).unwrap();
    assert_eq!(lock(&broker.services.topics).log.take_ready(), [ReplyTo(1)]);
    let Outcome::Reply(response) = answered_after(&broker, waiting, 1) else { panic!("no answer") };
    assert_eq!(answers(&response), [row("", 0, 3, -1, 0)]);
}

#[test]
fn a_session_answers_only_news() {
    let broker = Broker::with_topics(&[("t", 2), ("u", 1)]);
    broker.append("t", 0, 1);
    let full = [topic("t", &[partition(0, 1), partition(1, 0)]), topic("u", &[partition(0, 0)])];
    let response = fetch(&broker, 11, &request(&full).with_session_epoch(0));
    assert_eq!(answers(&response).len(), 3);
    let id = response.session_id;
    assert!(id > 0);

    let in_session =
        |epoch, topics: &[AskedTopic]| request(topics).with_session_id(id).with_session_epoch(epoch);
    let response = fetch(&broker, 11, &in_session(1, &[]));
    assert_eq!((response.session_id, answers(&response)), (id, vec![]));
    broker.append("t", 1, 1);
    let response = fetch(&broker, 11, &in_session(2, &[]));
    assert_eq!(answers(&response), [row("t", 1, 0, 1, batch_len(1))]);
    let forgotten = ForgottenTopic::default().with_topic(name("t")).with_partitions(vec![1]);
    let asked = in_session(3, &[topic("t", &[partition(0, 99)])]).with_forgotten_topics_data(vec![forgotten]);
    assert_eq!(answers(&fetch(&broker, 11, &asked)), [row("t", 0, 1, -1, 0)]);

    let error = |asked: &FetchRequest, version| {
        let response = fetch(&broker, version, asked);
        (response.error_code, response.session_id, response.responses.len())
    };
    assert_eq!(error(&in_session(3, &[]), 11), (71, 0, 0));
    assert_eq!(error(&in_session(4, &[]), 13), (106, 0, 0));
    assert_eq!(error(&in_session(4, &[]).with_session_id(id - 1), 11), (70, 0, 0));
}

#[test]
fn a_fetch_may_wait_within_a_session() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let asked = request(&[topic("t", &[partition(0, 0)])]).with_session_epoch(0);
    let id = fetch(&broker, 11, &asked).session_id;
    let asked = request(&[]).with_session_id(id).with_session_epoch(1).with_max_wait_ms(FOREVER_MS);
    let waiting = park(&broker, 11, &asked);
    broker.append("t", 0, 1);
    let Outcome::Reply(response) = answered_after(&broker, waiting, 1) else { panic!("no answer") };
    assert_eq!((response.session_id, answers(&response)), (id, vec![row("t", 0, 0, 1, batch_len(1))]));
}

#[test]
fn consumer_offsets_shows_what_the_groups_keep() {
    let broker = Broker::with_topics(&[("__consumer_offsets", 3), ("t", 1)]);
    let asked =
        [topic("t", &[partition(0, 0)]), topic("__consumer_offsets", &[partition(2, 0), partition(0, 0)])];
    fetch(&broker, 12, &request(&asked));
    assert_eq!(broker.shown(), [2, 0]);
    fetch(
        &broker,
        18,
        &request(&[by_id(&broker, "__consumer_offsets", &[partition(1, 0), partition(9, 0)])]),
    );
    assert_eq!(broker.shown(), [1]);
    fetch(&broker, 12, &request(&[topic("t", &[partition(0, 0)])]));
    assert!(broker.shown().is_empty());
}
