use kafka_protocol::protocol::StrBytes;

use kafka_protocol::messages::metadata_request::MetadataRequestTopic;

use super::*;
use crate::api::testing::Broker;

fn named(names: &[&str]) -> MetadataRequest {
    let topics = names.iter().map(|name| {
        MetadataRequestTopic::default().with_name(Some(TopicName(StrBytes::from_string((*name).to_owned()))))
    });
    MetadataRequest::default().with_topics(Some(topics.collect()))
}

fn with_ids(ids: &[TopicId]) -> MetadataRequest {
    let topics =
        ids.iter().map(|&id| MetadataRequestTopic::default().with_name(None).with_topic_id(id.into()));
    MetadataRequest::default().with_topics(Some(topics.collect()))
}

fn ask(broker: &Broker, version: i16, request: &MetadataRequest) -> MetadataResponse {
    broker.call(version, request, handle)
}

/// Error code, name and number of partitions of each topic.
fn summary(response: &MetadataResponse) -> Vec<(i16, Option<&str>, usize)> {
    let mut summary = Vec::new();
    for topic in &response.topics {
        let name = topic.name.as_ref().map(|name| name.as_str());
        summary.push((topic.error_code, name, topic.partitions.len()));
    }
    summary
}

#[test]
fn every_version_tells_of_a_topic_what_it_has_room_for() {
    let broker = Broker::with(&[("broker.rack", "r1")]);
    let id = broker.create("orders", 2).id;
    for version in 0..=13 {
        let response = ask(&broker, version, &named(&["orders"]));
        assert_eq!(summary(&response), [(0, Some("orders"), 2)], "version {version}");
        let topic = &response.topics[0];
        assert_eq!(topic.topic_id, if version >= 10 { id.into() } else { uuid::Uuid::nil() });
        assert_eq!(topic.topic_authorized_operations, i32::MIN);
        for (index, partition) in (0..).zip(&topic.partitions) {
            assert_eq!((partition.error_code, partition.partition_index), (0, index));
            assert_eq!(partition.leader_id, 1);
            assert_eq!(partition.leader_epoch, if version >= 7 { 0 } else { -1 });
            assert_eq!(
                (&*partition.replica_nodes, &*partition.isr_nodes),
                (&[BrokerId(1)][..], &[BrokerId(1)][..])
            );
            assert!(partition.offline_replicas.is_empty());
        }
        let node = &response.brokers[0];
        assert_eq!((node.node_id, node.host.as_str(), node.port), (BrokerId(1), "127.0.0.1", 9092));
        assert_eq!(node.rack.as_deref(), (version >= 1).then_some("r1"));
        assert_eq!(response.controller_id, if version >= 1 { 1 } else { -1 });
        let cluster_id = broker.services.config.cluster_id.as_str();
        assert_eq!(response.cluster_id.as_deref(), (version >= 2).then_some(cluster_id));
        assert_eq!(response.cluster_authorized_operations, i32::MIN);
    }
}

#[test]
fn all_topics_are_null_or_in_version_0_an_empty_list() {
    let broker = Broker::with_topics(&[("b", 1), ("a", 2)]);
    let all = [(0, Some("a"), 2), (0, Some("b"), 1)];
    let none = named(&[]);
    let null = MetadataRequest::default().with_topics(None);
    assert_eq!(summary(&ask(&broker, 0, &none)), all);
    for version in 1..=13 {
        assert_eq!(summary(&ask(&broker, version, &null)), all, "version {version}");
        assert!(ask(&broker, version, &none).topics.is_empty(), "version {version}");
    }
}

#[test]
fn a_topic_that_is_not_there_is_created_behind_the_answer() {
    for version in 0..=13 {
        let broker = Broker::with(&[("num.partitions", "4")]);
        let unknown = (ResponseError::UnknownTopicOrPartition.code(), Some("new"), 0);
        assert_eq!(summary(&ask(&broker, version, &named(&["new"]))), [unknown], "version {version}");
        assert_eq!(
            summary(&ask(&broker, version, &named(&["new"]))),
            [(0, Some("new"), 4)],
            "version {version}"
        );
    }
}

#[test]
fn topics_are_not_created_unless_both_sides_want_it() {
    let unknown = [(ResponseError::UnknownTopicOrPartition.code(), Some("new"), 0)];
    let broker = Broker::with(&[]);
    let unwilling = named(&["new"]).with_allow_auto_topic_creation(false);
    for version in 4..=13 {
        assert_eq!(summary(&ask(&broker, version, &unwilling)), unknown);
        assert_eq!(summary(&ask(&broker, version, &unwilling)), unknown, "version {version}");
    }
    let broker = Broker::with(&[("auto.create.topics.enable", "false")]);
    for version in 0..=13 {
        assert_eq!(summary(&ask(&broker, version, &named(&["new"]))), unknown);
        assert_eq!(summary(&ask(&broker, version, &named(&["new"]))), unknown, "version {version}");
    }
}

#[test]
fn more_than_one_request_may_create_is_not_created_at_all() {
    let broker = Broker::with(&[("num.partitions", "5000")]);
    ask(&broker, 9, &named(&["a", "b", "c"]));
    assert_eq!(broker.topic("a"), None);
    ask(&broker, 9, &named(&["a", "b"]));
    assert!(broker.topic("a").is_some() && broker.topic("b").is_some());
}

#[test]
fn what_cannot_be_created_stays_unknown() {
    let broker = Broker::with_topics(&[("a.b", 1)]);
    for name in ["a_b", "__cluster_metadata", "__share_group_state"] {
        for _ in 0..2 {
            let answer = ask(&broker, 12, &named(&[name]));
            assert_eq!(summary(&answer), [(ResponseError::UnknownTopicOrPartition.code(), Some(name), 0)]);
        }
        assert_eq!(broker.topic(name), None);
    }
    let broker = Broker::with(&[("default.replication.factor", "3")]);
    ask(&broker, 12, &named(&["new"]));
    assert_eq!(broker.topic("new"), None);
}

#[test]
fn consumer_offsets_is_created_with_its_own_settings() {
    let broker = Broker::with(&[("num.partitions", "4"), ("default.replication.factor", "3")]);
    let answer = ask(&broker, 12, &named(&["__consumer_offsets"]));
    assert_eq!(
        summary(&answer),
        [(ResponseError::UnknownTopicOrPartition.code(), Some("__consumer_offsets"), 0)]
    );
    assert!(answer.topics[0].is_internal);
    let answer = ask(&broker, 12, &named(&["__consumer_offsets"]));
    assert_eq!(summary(&answer), [(0, Some("__consumer_offsets"), 50)]);
    assert!(answer.topics[0].is_internal);
    let overrides = &broker.topic("__consumer_offsets").unwrap().overrides;
    assert_eq!(overrides["cleanup.policy"].as_ref(), "compact");
    assert_eq!(overrides["segment.bytes"].as_ref(), "104857600");
}

#[test]
fn existing_topics_come_first_and_each_once() {
    let broker = Broker::with_topics(&[("b", 1), ("d", 1)]);
    let request = named(&["e", "d", "a/b", "b", "e", "", "d"]).with_allow_auto_topic_creation(false);
    let (unknown, invalid) =
        (ResponseError::UnknownTopicOrPartition.code(), ResponseError::InvalidTopicException.code());
    assert_eq!(
        summary(&ask(&broker, 9, &request)),
        [
            (0, Some("b"), 1),
            (0, Some("d"), 1),
            (invalid, Some(""), 0),
            (invalid, Some("a/b"), 0),
            (unknown, Some("e"), 0)
        ]
    );
}

#[test]
fn topics_are_found_by_id_from_version_12_on() {
    let broker = Broker::with_topics(&[("b", 1), ("a", 2)]);
    let (a, b, unknown) = (broker.topic_id("a"), broker.topic_id("b"), TopicId(7));
    for version in [12, 13] {
        let answer = ask(&broker, version, &with_ids(&[b, unknown, a, unknown, b]));
        let code = ResponseError::UnknownTopicId.code();
        assert_eq!(summary(&answer), [(0, Some("a"), 2), (0, Some("b"), 1), (code, None, 0)]);
        assert_eq!(TopicId::from(answer.topics[2].topic_id), unknown);
    }
    for version in [10, 11] {
        let answer = ask(&broker, version, &with_ids(&[a]));
        assert_eq!(summary(&answer), [(ResponseError::InvalidRequest.code(), Some(""), 0)]);
        assert_eq!((answer.topics[0].topic_id, answer.controller_id), (a.into(), BrokerId(-1)));
        assert!(answer.brokers.is_empty() && answer.cluster_id.is_none());
    }
}

#[test]
fn names_beside_an_id_are_passed_over() {
    let broker = Broker::with_topics(&[("a", 1), ("b", 1)]);
    let mut request = named(&["a", "new"]);
    request.topics.as_mut().unwrap().extend(with_ids(&[broker.topic_id("b")]).topics.unwrap());
    assert_eq!(summary(&ask(&broker, 13, &request)), [(0, Some("b"), 1)]);
    assert_eq!(broker.topic("new"), None);
}

#[test]
fn neither_name_nor_id_is_an_error() {
    let broker = Broker::with_topics(&[("a", 1)]);
    let nothing = with_ids(&[TopicId::ZERO]);
    for (version, error, whole) in [
        (10, ResponseError::InvalidRequest, 0),
        (11, ResponseError::InvalidRequest, 0),
        (12, ResponseError::UnknownServerError, 0),
        (13, ResponseError::UnknownServerError, -1),
    ] {
        let answer = ask(&broker, version, &nothing);
        assert_eq!(summary(&answer), [(error.code(), Some(""), 0)], "version {version}");
        assert_eq!(answer.error_code, whole);
        assert!(answer.brokers.is_empty());
    }
}

#[test]
fn authorized_operations_are_told_when_asked_for() {
    let broker = Broker::with_topics(&[("a", 1)]);
    for version in 8..=13 {
        let mut request = named(&["a", "a/b"]).with_include_topic_authorized_operations(true);
        request.include_cluster_authorized_operations = version <= 10;
        let answer = ask(&broker, version, &request);
        assert!(answer.topics.iter().all(|topic| topic.topic_authorized_operations == 3576));
        assert_eq!(answer.cluster_authorized_operations, if version <= 10 { 8096 } else { i32::MIN });
    }
    let by_id = with_ids(&[TopicId(7)]).with_include_topic_authorized_operations(true);
    assert_eq!(ask(&broker, 13, &by_id).topics[0].topic_authorized_operations, i32::MIN);
}
