use super::*;
use crate::api::testing::Broker;
use kafka_protocol::messages::BrokerId;
use kafka_protocol::messages::create_partitions_request::CreatePartitionsAssignment;
use kafka_protocol::protocol::StrBytes;

fn topic(name: &str, count: i32) -> CreatePartitionsTopic {
    let name = TopicName(StrBytes::from_string(name.to_owned()));
    CreatePartitionsTopic::default().with_name(name).with_count(count).with_assignments(None)
}

fn assigned(name: &str, count: i32, assignments: &[&[i32]]) -> CreatePartitionsTopic {
    let assignments = assignments.iter().map(|replicas| {
        let replicas = replicas.iter().map(|&id| BrokerId(id)).collect();
        CreatePartitionsAssignment::default().with_broker_ids(replicas)
    });
    topic(name, count).with_assignments(Some(assignments.collect()))
}

fn request(topics: Vec<CreatePartitionsTopic>) -> CreatePartitionsRequest {
    CreatePartitionsRequest::default().with_topics(topics).with_timeout_ms(1000)
}

fn dry(topics: Vec<CreatePartitionsTopic>) -> CreatePartitionsRequest {
    request(topics).with_validate_only(true)
}

/// Name, code and text of each result.
fn ask(
    broker: &Broker,
    version: i16,
    request: &CreatePartitionsRequest,
) -> Vec<(String, i16, Option<String>)> {
    let results = broker.call(version, request, |ctx, _, request| handle(ctx, request)).results;
    let text = |text: Option<StrBytes>| text.map(|text| text.to_string());
    results
        .into_iter()
        .map(|result| (result.name.to_string(), result.error_code, text(result.error_message)))
        .collect()
}

fn result(name: &str, error: Option<ResponseError>, text: Option<&str>) -> (String, i16, Option<String>) {
    (name.to_owned(), error.map_or(0, |error| error.code()), text.map(str::to_owned))
}

#[test]
fn every_version_grows_a_topic() {
    for version in 0..=3 {
        let broker = Broker::with_topics(&[("a", 1)]);
        assert_eq!(ask(&broker, version, &dry(vec![topic("a", 3)])), [result("a", None, None)]);
        assert_eq!(broker.topic("a").unwrap().partitions, 1);
        assert_eq!(ask(&broker, version, &request(vec![topic("a", 3)])), [result("a", None, None)]);
        assert_eq!(broker.topic("a").unwrap().partitions, 3);
        let text = "Topic already has 3 partition(s).";
        assert_eq!(
            ask(&broker, version, &request(vec![topic("a", 3)])),
            [result("a", Some(ResponseError::InvalidPartitions), Some(text))]
        );
    }
}

#[test]
fn each_topic_is_checked_for_itself() {
    let broker = Broker::with_topics(&[("a", 2), ("b", 1)]);
    let less = "The topic a currently has 2 partition(s); -1 would not be an increase.";
    assert_eq!(
        ask(&broker, 3, &request(vec![topic("z", 4), topic("a", -1), topic("b", 2)])),
        [
            result("z", Some(ResponseError::UnknownTopicOrPartition), None),
            result("a", Some(ResponseError::InvalidPartitions), Some(less)),
            result("b", None, None)
        ]
    );
    assert_eq!(broker.topic("b").unwrap().partitions, 2);
}

#[test]
fn a_name_that_comes_twice_is_refused() {
    let broker = Broker::with_topics(&[("a", 2), ("b", 1)]);
    let topics = vec![topic("b", 2), topic("a", 3), topic("a", 4), topic("a", 5)];
    assert_eq!(
        ask(&broker, 3, &request(topics)),
        [
            result("a", Some(ResponseError::InvalidRequest), Some("Duplicate topic name.")),
            result("b", None, None)
        ]
    );
    assert_eq!(broker.topic("a").unwrap().partitions, 2);
}

#[test]
fn assignments_are_checked() {
    let broker = Broker::with_topics(&[("a", 2)]);
    let ask = |topic| ask(&broker, 3, &dry(vec![topic]));
    assert_eq!(ask(assigned("a", 3, &[&[1]])), [result("a", None, None)]);
    for (topic, text) in [
        (
            assigned("a", 4, &[&[1]]),
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            assigned("a", 3, &[]),
            "Attempted to add 1 additional partition(s), but only 0 assignment(s) were specified.",
        ),
        (
            assigned("a", 3, &[&[2]]),
            "The manual partition assignment includes broker 2, but no such broker is registered.",
        ),
    ] {
        assert_eq!(ask(topic), [result("a", Some(ResponseError::InvalidReplicaAssignment), Some(text))]);
    }
}

#[test]
fn the_partitions_of_a_request_are_bounded() {
    let broker = Broker::with_topics(&[("a", 2), ("b", 1)]);
    let text = Some("Excessively large number of additional partitions per request.");
    let excess = |name| result(name, Some(ResponseError::PolicyViolation), text);
    let ask = |topics| ask(&broker, 3, &dry(topics));
    assert_eq!(ask(vec![topic("a", 10_002)]), [result("a", None, None)]);
    assert_eq!(ask(vec![topic("a", 10_003)]), [excess("a")]);
    assert_eq!(ask(vec![assigned("a", i32::MAX, &[])]), [excess("a")]);
    assert_eq!(
        ask(vec![topic("a", 6_000), topic("z", 1), topic("b", 6_000)]),
        [excess("a"), excess("z"), excess("b")]
    );
    // What is no topic, or no increase, does not count.
    let codes: Vec<_> = ask(vec![topic("a", 9_000), topic("b", -5_000), topic("z", 4_000)]);
    assert_eq!(codes.iter().map(|(_, code, _)| *code).collect::<Vec<_>>(), [0, 37, 3]);
}

#[test]
fn the_partitions_of_all_topics_are_bounded() {
    let broker = Broker::with_topics(&[("a", 1), ("b", 99_990)]);
    for request in
        [dry(vec![topic("a", 7), topic("b", 99_995)]), request(vec![topic("a", 7), topic("b", 99_995)])]
    {
        let results = ask(&broker, 3, &request);
        assert_eq!(results[0], result("a", None, None));
        assert_eq!((results[1].0.as_str(), results[1].1), ("b", ResponseError::PolicyViolation.code()));
    }
    assert_eq!(broker.topic("b").unwrap().partitions, 99_990);
}

#[test]
fn without_time_nothing_is_done() {
    let broker = Broker::with_topics(&[("a", 1)]);
    for timeout_ms in [0, -1] {
        let request = request(vec![topic("a", 3), topic("z", 3)]).with_timeout_ms(timeout_ms);
        let timed_out = |name| result(name, Some(ResponseError::RequestTimedOut), None);
        assert_eq!(ask(&broker, 3, &request), [timed_out("a"), timed_out("z")]);
    }
    assert_eq!(broker.topic("a").unwrap().partitions, 1);
}
