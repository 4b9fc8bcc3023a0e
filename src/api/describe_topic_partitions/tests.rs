use super::*;
use crate::api::testing::Broker;
use crate::types::TopicId;
use kafka_protocol::messages::describe_topic_partitions_request::{Cursor as From, TopicRequest};

fn broker() -> Broker {
    Broker::with_topics(&[("a", 3), ("b", 3), ("c", 2)])
}

fn request(limit: i32, names: &[&str]) -> DescribeTopicPartitionsRequest {
    let topics = names.iter().map(|name| TopicRequest::default().with_name(to_wire(name)));
    DescribeTopicPartitionsRequest::default()
        .with_response_partition_limit(limit)
        .with_topics(topics.collect())
}

fn from(
    request: DescribeTopicPartitionsRequest,
    topic: &str,
    partition: i32,
) -> DescribeTopicPartitionsRequest {
    let cursor = From::default().with_topic_name(to_wire(topic)).with_partition_index(partition);
    request.with_cursor(Some(cursor))
}

/// Topics with their error or partitions, and the cursor.
fn ask(broker: &Broker, request: &DescribeTopicPartitionsRequest) -> String {
    let answer = broker.call(0, request, |ctx, _, request| handle(ctx, request));
    let mut words: Vec<String> = Vec::new();
    for topic in &answer.topics {
        let name = topic.name.as_ref().unwrap().as_str();
        let partitions: Vec<_> = topic.partitions.iter().map(|partition| partition.partition_index).collect();
        words.push(match topic.error_code {
            0 => format!("{name}{partitions:?}"),
            code => format!("{name}!{code}"),
        });
    }
    words.extend(
        answer.next_cursor.map(|next| format!("next={}-{}", next.topic_name.as_str(), next.partition_index)),
    );
    words.join(" ")
}

#[test]
fn topics_are_told_in_name_order() {
    let broker = broker();
    let all = "a[0, 1, 2] b[0, 1, 2] c[0, 1]";
    assert_eq!(ask(&broker, &request(2000, &["c", "a", "b", "a"])), all);
    assert_eq!(ask(&broker, &request(2000, &[])), all);

    let answer = broker.call(0, &request(1, &["b"]), |ctx, _, request| handle(ctx, request));
    let topic = &answer.topics[0];
    assert_eq!(TopicId::from(topic.topic_id), broker.topic_id("b"));
    assert_eq!((topic.is_internal, topic.topic_authorized_operations), (false, 3576));
    let partition = &topic.partitions[0];
    assert_eq!((partition.leader_id, partition.leader_epoch), (BrokerId(1), 0));
    assert_eq!((&partition.replica_nodes, &partition.isr_nodes), (&vec![BrokerId(1)], &vec![BrokerId(1)]));
    assert_eq!(
        (&partition.eligible_leader_replicas, &partition.last_known_elr),
        (&Some(vec![]), &Some(vec![]))
    );
}

#[test]
fn a_page_ends_at_the_limit() {
    let broker = broker();
    for (limit, answer) in [
        (i32::MIN, "a[0] next=a-1"),
        (0, "a[0] next=a-1"),
        (3, "a[0, 1, 2] next=b-0"),
        (4, "a[0, 1, 2] b[0] next=b-1"),
        (7, "a[0, 1, 2] b[0, 1, 2] c[0] next=c-1"),
        (8, "a[0, 1, 2] b[0, 1, 2] c[0, 1]"),
    ] {
        assert_eq!(ask(&broker, &request(limit, &["a", "b", "c"])), answer);
        assert_eq!(ask(&broker, &request(limit, &[])), answer);
    }
    let broker = Broker::with(&[("max.request.partition.size.limit", "1")]);
    broker.create("a", 3);
    assert_eq!(ask(&broker, &request(2000, &[])), "a[0] next=a-1");
}

#[test]
fn a_cursor_says_where_to_go_on() {
    let broker = broker();
    for names in [&["a", "b", "c"][..], &[]] {
        let ask = |limit, topic, partition| ask(&broker, &from(request(limit, names), topic, partition));
        assert_eq!(ask(4, "b", 1), "b[1, 2] c[0, 1]");
        assert_eq!(ask(1, "b", 1), "b[1] next=b-2");
        assert_eq!(ask(2, "b", 1), "b[1, 2] next=c-0");
        assert_eq!(ask(4, "b", 3), "b[] c[0, 1]");
        assert_eq!(ask(4, "b", i32::MAX), "b[] c[0, 1]");
    }
    // Without a list the topic of the cursor need not exist.
    assert_eq!(ask(&broker, &from(request(4, &[]), "bb", 1)), "c[0, 1]");
    assert_eq!(ask(&broker, &from(request(4, &[]), "z", 1)), "");
}

#[test]
fn a_cursor_must_fit_the_request() {
    let broker = broker();
    let invalid = "c!42 a!42";
    assert_eq!(ask(&broker, &from(request(4, &["c", "a"]), "a", -1)), invalid);
    assert_eq!(ask(&broker, &from(request(4, &["c", "a"]), "b", 0)), invalid);
    assert_eq!(ask(&broker, &from(request(4, &[]), "a", -1)), "");
}

#[test]
fn unknown_topics_take_no_room() {
    let broker = broker();
    assert_eq!(ask(&broker, &request(3, &["a/b", "a", "Z", "Z"])), "Z!3 a[0, 1, 2] next=a/b-0");
    assert_eq!(
        ask(&broker, &request(4, &["a/b", "a", "__transaction_state"])),
        "__transaction_state!3 a[0, 1, 2] a/b!17"
    );
}
