use super::*;
use crate::api::testing::Broker;
use kafka_protocol::messages::BrokerId;
use kafka_protocol::messages::create_topics_request::{CreatableReplicaAssignment, CreatableTopicConfig};
use uuid::Uuid;

fn topic(name: &str, partitions: i32, replication_factor: i16) -> CreatableTopic {
    CreatableTopic::default()
        .with_name(TopicName(StrBytes::from_string(name.to_owned())))
        .with_num_partitions(partitions)
        .with_replication_factor(replication_factor)
}

fn configured(configs: &[(&'static str, Option<&'static str>)]) -> CreatableTopic {
    let configs = configs.iter().map(|&(name, value)| {
        CreatableTopicConfig::default()
            .with_name(StrBytes::from_static_str(name))
            .with_value(value.map(StrBytes::from_static_str))
    });
    topic("a", 1, 1).with_configs(configs.collect())
}

fn assigned(partitions: i32, replication_factor: i16, assignments: &[(i32, &[i32])]) -> CreatableTopic {
    let assignments = assignments.iter().map(|&(index, replicas)| {
        let replicas = replicas.iter().map(|&id| BrokerId(id)).collect();
        CreatableReplicaAssignment::default().with_partition_index(index).with_broker_ids(replicas)
    });
    topic("a", partitions, replication_factor).with_assignments(assignments.collect())
}

fn request(topics: Vec<CreatableTopic>) -> CreateTopicsRequest {
    CreateTopicsRequest::default().with_topics(topics).with_timeout_ms(1000)
}

fn dry(topics: Vec<CreatableTopic>) -> CreateTopicsRequest {
    request(topics).with_validate_only(true)
}

fn ask(broker: &Broker, version: i16, request: &CreateTopicsRequest) -> Vec<CreatableTopicResult> {
    broker.call(version, request, handle).topics
}

/// Name, code and text of each result.
fn summary(results: &[CreatableTopicResult]) -> Vec<(&str, i16, Option<&str>)> {
    results
        .iter()
        .map(|result| (result.name.as_str(), result.error_code, result.error_message.as_deref()))
        .collect()
}

/// The refusal of the only topic of a request.
fn refusal(broker: &Broker, topic: CreatableTopic) -> (i16, String) {
    let results = ask(broker, 7, &dry(vec![topic]));
    let [result] = &*results else { panic!("one result") };
    assert_eq!((result.topic_id, result.num_partitions, result.replication_factor), (Uuid::nil(), -1, -1));
    assert_eq!(result.configs, Some(Vec::new()));
    (result.error_code, result.error_message.as_ref().map(ToString::to_string).unwrap_or_default())
}

#[test]
fn every_version_creates_a_topic() {
    for version in 2..=7 {
        let broker = Broker::with(&[]);
        assert_eq!(summary(&ask(&broker, version, &dry(vec![topic("a", 2, 1)]))), [("a", 0, None)]);
        assert_eq!(broker.topic("a"), None);

        let results = ask(&broker, version, &request(vec![topic("a", 2, 1)]));
        assert_eq!(summary(&results), [("a", 0, None)], "version {version}");
        let created = broker.topic("a").unwrap();
        assert_eq!(created.partitions, 2);
        let result = &results[0];
        assert_eq!(result.topic_id, if version >= 7 { created.id.into() } else { Uuid::nil() });
        let counts = (result.num_partitions, result.replication_factor);
        assert_eq!(counts, if version >= 5 { (2, 1) } else { (-1, -1) });
        assert_eq!(result.topic_config_error_code, 0);
        let configs = result.configs.as_ref().map_or(0, Vec::len);
        assert_eq!(configs, if version >= 5 { 37 } else { 0 });

        let exists = ("a", ResponseError::TopicAlreadyExists.code(), Some("Topic 'a' already exists."));
        assert_eq!(summary(&ask(&broker, version, &request(vec![topic("a", 0, 0)]))), [exists]);
    }
}

#[test]
fn counts_may_be_left_to_the_broker() {
    let broker = Broker::with(&[("num.partitions", "4")]);
    let result = &ask(&broker, 7, &request(vec![topic("a", -1, -1)]))[0];
    assert_eq!((result.error_code, result.num_partitions, result.replication_factor), (0, 4, 1));
    assert_eq!(broker.topic("a").unwrap().partitions, 4);
}

#[test]
fn counts_are_checked() {
    let broker = Broker::with(&[]);
    let (factor, partitions) =
        (ResponseError::InvalidReplicationFactor.code(), ResponseError::InvalidPartitions.code());
    let not_positive = "Replication factor must be larger than 0, or -1 to use the default value.";
    let too_many = "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be \
                    reached because only 1 broker(s) are registered or some brokers have all their log \
                    directories cordoned.";
    let no_partitions = "Number of partitions was set to an invalid non-positive value.";
    for (topic, code, text) in [
        (topic("a", 2, 0), factor, not_positive),
        (topic("a", 0, -2), factor, not_positive),
        (topic("a", 0, 1), partitions, no_partitions),
        (topic("a", -2, 3), partitions, no_partitions),
        (topic("a", 2, 3), factor, too_many),
    ] {
        assert_eq!(refusal(&broker, topic), (code, text.to_owned()));
    }
    let broker = Broker::with(&[("default.replication.factor", "3")]);
    assert_eq!(refusal(&broker, topic("a", 1, -1)), (factor, too_many.to_owned()));
}

#[test]
fn names_are_checked() {
    let broker = Broker::with_topics(&[("p.x", 1)]);
    let invalid = ResponseError::InvalidTopicException.code();
    for (name, text) in [
        ("", "Topic name is invalid: the empty string is not allowed"),
        ("..", "Topic name is invalid: '..' is not allowed"),
        ("p_x", "Topic 'p_x' collides with existing topic: p.x"),
    ] {
        assert_eq!(refusal(&broker, topic(name, 0, 0)), (invalid, text.to_owned()));
    }
    let text = "Creation of internal topic __cluster_metadata is prohibited.";
    let reserved = (ResponseError::InvalidRequest.code(), text.to_owned());
    assert_eq!(refusal(&broker, topic("__cluster_metadata", 1, 1)), reserved);
}

#[test]
fn colliding_names_of_one_request_are_both_created() {
    let broker = Broker::with(&[]);
    let results = ask(&broker, 7, &request(vec![topic("p.x", 1, 1), topic("p_x", 1, 1)]));
    assert_eq!(summary(&results), [("p.x", 0, None), ("p_x", 0, None)]);
    assert!(broker.topic("p.x").is_some() && broker.topic("p_x").is_some());
}

#[test]
fn a_name_that_comes_twice_is_refused_at_the_end() {
    let broker = Broker::with(&[]);
    let topics = vec![
        topic("b", 1, 1),
        topic("b", 2, 1),
        topic("__cluster_metadata", 1, 1),
        topic("b", 1, 1),
        topic("a", 1, 1),
    ];
    let results = ask(&broker, 7, &request(topics));
    let invalid = ResponseError::InvalidRequest.code();
    let prohibited = "Creation of internal topic __cluster_metadata is prohibited.";
    assert_eq!(
        summary(&results),
        [
            ("a", 0, None),
            ("b", invalid, Some("Duplicate topic name.")),
            ("__cluster_metadata", invalid, Some(prohibited))
        ]
    );
    assert_eq!(broker.topic("b"), None);
}

#[test]
fn replicas_may_be_assigned_by_hand() {
    let broker = Broker::with(&[]);
    let result = &ask(&broker, 7, &request(vec![assigned(-1, -1, &[(1, &[1]), (0, &[1])])]))[0];
    assert_eq!((result.error_code, result.num_partitions, result.replication_factor), (0, 2, 1));
    assert_eq!(broker.topic("a").unwrap().partitions, 2);
}

#[test]
fn assignments_are_checked() {
    let broker = Broker::with(&[]);
    let (request, assignment) =
        (ResponseError::InvalidRequest.code(), ResponseError::InvalidReplicaAssignment.code());
    let factor = "A manual partition assignment was specified, but replication factor was not set to -1.";
    let partitions = "A manual partition assignment was specified, but numPartitions was not set to -1.";
    let consecutive = "partitions should be a consecutive 0-based integer sequence";
    for (topic, code, text) in [
        (assigned(2, 1, &[(0, &[1])]), request, factor),
        (assigned(2, -1, &[(0, &[1])]), request, partitions),
        (
            assigned(-1, -1, &[(0, &[1]), (0, &[1])]),
            assignment,
            "Found multiple manual partition assignments for partition 0",
        ),
        (
            assigned(-1, -1, &[(0, &[])]),
            assignment,
            "The manual partition assignment includes an empty replica list.",
        ),
        (assigned(-1, -1, &[(0, &[1]), (2, &[1])]), assignment, consecutive),
        (assigned(-1, -1, &[(-1, &[1])]), assignment, consecutive),
    ] {
        assert_eq!(refusal(&broker, topic), (code, text.to_owned()));
    }
}

#[test]
fn configs_are_kept_and_told() {
    let broker = Broker::with(&[]);
    let topic = configured(&[
        ("retention.ms", Some("1")),
        ("cleanup.policy", Some("compact")),
        ("retention.ms", Some("2")),
    ]);
    let results = ask(&broker, 7, &request(vec![topic]));
    let configs = results[0].configs.as_ref().unwrap();
    assert!(configs.is_sorted_by(|a, b| a.name < b.name));
    let told = |key: &str| {
        let config = configs.iter().find(|config| config.name.as_str() == key).unwrap();
        assert!(!config.read_only && !config.is_sensitive);
        (config.value.as_deref().unwrap(), config.config_source)
    };
    assert_eq!(told("retention.ms"), ("2", 1));
    assert_eq!(told("cleanup.policy"), ("compact", 1));
    assert_eq!(told("retention.bytes"), ("-1", 5));
    let overrides = &broker.topic("a").unwrap().overrides;
    assert_eq!(overrides["retention.ms"].as_ref(), "2");
    assert_eq!(overrides.len(), 2);
}

#[test]
fn configs_are_checked() {
    let broker = Broker::with(&[]);
    for (configs, text) in [
        (
            &[("retention.ms", None), ("cleanup.policy", None)][..],
            "Null value not supported for topic configs: retention.ms,cleanup.policy",
        ),
        (&[("nope", Some("1"))], "Unknown topic config name: nope"),
        (&[("", Some("1"))], "Unknown topic config name: "),
        (
            &[("retention.ms", Some("abc"))],
            "Invalid value abc for configuration retention.ms: Not a number of type LONG",
        ),
        (
            &[("segment.bytes", Some("1"))],
            "Invalid value 1 for configuration segment.bytes: Value must be at least 1048576",
        ),
    ] {
        let topic = configured(configs).with_replication_factor(0);
        assert_eq!(refusal(&broker, topic), (ResponseError::InvalidConfig.code(), text.to_owned()));
    }
}

#[test]
fn the_partitions_of_a_request_are_bounded() {
    let broker = Broker::with_topics(&[("old", 1)]);
    let policy = ResponseError::PolicyViolation.code();
    let excess = "Excessively large number of partitions per request.";
    assert_eq!(refusal(&broker, topic("a", 10_001, 1)), (policy, excess.to_owned()));
    assert_eq!(refusal(&broker, topic("a", i32::MAX, 1)), (policy, excess.to_owned()));
    // Existing and impossible topics count as well, negative numbers do not.
    let topics = vec![topic("a", 9_000, 1), topic("b", -5_000, 1), topic("old", 1_001, 3)];
    assert_eq!(
        summary(&ask(&broker, 7, &dry(topics))),
        [("a", policy, Some(excess)), ("b", policy, Some(excess)), ("old", policy, Some(excess))]
    );
    // A topic is a record too.
    let batch = "Unable to perform excessively large batch operation.";
    assert_eq!(refusal(&broker, topic("a", 10_000, 1)), (policy, batch.to_owned()));
    assert_eq!(summary(&ask(&broker, 7, &dry(vec![topic("a", 9_999, 1)]))), [("a", 0, None)]);
}

#[test]
fn the_partitions_of_all_topics_are_bounded() {
    let broker = Broker::with_topics(&[("old", 99_990)]);
    let results = ask(&broker, 7, &request(vec![topic("a", 6, 1), topic("b", 6, 1), topic("c", 4, 1)]));
    assert_eq!(
        results.iter().map(|result| result.error_code).collect::<Vec<_>>(),
        [0, ResponseError::PolicyViolation.code(), 0]
    );
    assert_eq!(broker.topic("b"), None);
}

#[test]
fn without_time_nothing_is_done() {
    let broker = Broker::with(&[]);
    let timed_out = ResponseError::RequestTimedOut.code();
    for timeout_ms in [0, -1] {
        let topics = vec![topic("a", 1, 1), topic("b", 1, 1), topic("b", 1, 1)];
        let results = ask(&broker, 7, &request(topics).with_timeout_ms(timeout_ms));
        assert_eq!(
            summary(&results),
            [("a", timed_out, None), ("b", timed_out, None), ("b", timed_out, None)]
        );
    }
    assert_eq!(broker.topic("a"), None);
    assert!(ask(&broker, 7, &request(Vec::new())).is_empty());
}
