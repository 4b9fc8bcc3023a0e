//! Answers of IncrementalAlterConfigs, each asked of Kafka 4.4.0 as well, and what they leave behind.

use super::*;
use crate::api::convert::text;
use crate::api::testing::Broker;

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const BROKER_LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

/// A change: the operation, the key, and the value.
type Op<'a> = (i8, &'a str, Option<&'a str>);

fn resource(kind: i8, name: &str, ops: &[Op<'_>]) -> AlterConfigsResource {
    let config = |(operation, key, value): &Op<'_>| {
        AlterableConfig::default()
            .with_config_operation(*operation)
            .with_name(text(key))
            .with_value(value.map(text))
    };
    AlterConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configs(ops.iter().map(config).collect())
}

/// Code and message for each resource.
fn alter_all(
    broker: &Broker,
    validate_only: bool,
    resources: Vec<AlterConfigsResource>,
) -> Vec<(i16, Option<String>)> {
    let request =
        IncrementalAlterConfigsRequest::default().with_resources(resources).with_validate_only(validate_only);
    let response = broker.call(1, &request, |ctx, _, request| handle(ctx, request));
    let outcome = |response: AlterConfigsResourceResponse| {
        (response.error_code, response.error_message.map(|message| message.as_str().to_owned()))
    };
    response.responses.into_iter().map(outcome).collect()
}

/// Code and message; an empty one where there is none.
fn alter(broker: &Broker, kind: i8, name: &str, ops: &[Op<'_>]) -> (i16, String) {
    let (code, message) = alter_all(broker, false, vec![resource(kind, name, ops)]).remove(0);
    (code, message.unwrap_or_default())
}

fn own(broker: &Broker, topic: &str, key: &str) -> Option<String> {
    broker.topic(topic)?.overrides.get(key).map(|value| value.to_string())
}

#[test]
fn a_topic_takes_changes_and_forgets_them() {
    let broker = Broker::with_topics(&[("t", 1)]);
    assert_eq!(alter(&broker, TOPIC, "t", &[(SET, "retention.ms", Some("5"))]), (0, String::new()));
    assert_eq!(own(&broker, "t", "retention.ms").as_deref(), Some("5"));
    let ops = [(DELETE, "retention.ms", None), (APPEND, "cleanup.policy", Some("compact"))];
    assert_eq!(alter(&broker, TOPIC, "t", &ops), (0, String::new()));
    assert_eq!(own(&broker, "t", "retention.ms"), None);
    assert_eq!(own(&broker, "t", "cleanup.policy").as_deref(), Some("delete,compact"));
}

#[test]
fn one_bad_config_leaves_the_others_of_its_resource_alone() {
    let broker = Broker::with_topics(&[("t", 1), ("u", 1)]);
    let bad = resource(TOPIC, "t", &[(SET, "retention.ms", Some("5")), (SET, "segment.bytes", Some("1"))]);
    let good = resource(TOPIC, "u", &[(SET, "retention.ms", Some("5"))]);
    let codes: Vec<_> =
        alter_all(&broker, false, vec![bad, good]).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, [40, 0]);
    assert_eq!(
        (own(&broker, "t", "retention.ms"), own(&broker, "u", "retention.ms").is_some()),
        (None, true)
    );
}

#[test]
fn nothing_changes_when_it_is_only_validated() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let resources = vec![
        resource(TOPIC, "t", &[(SET, "retention.ms", Some("5"))]),
        resource(BROKER, "", &[(SET, "message.max.bytes", Some("5"))]),
        resource(GROUP, "g", &[(SET, "consumer.session.timeout.ms", Some("46000"))]),
        resource(CLIENT_METRICS, "s", &[(SET, "interval.ms", Some("1000"))]),
        resource(TOPIC, "nope", &[]),
    ];
    let codes: Vec<_> = alter_all(&broker, true, resources).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, [0, 0, 0, 0, 3]);
    let live = &broker.services.live_config;
    assert_eq!(own(&broker, "t", "retention.ms"), None);
    assert_eq!(live.broker().topic_defaults.max_message_bytes, 1_048_588);
    assert!(live.group("g").is_empty() && live.client_metrics("s").is_empty());
}

#[test]
fn topics_follow_the_broker() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let set = |name, value| alter(&broker, BROKER, name, &[(SET, "message.max.bytes", Some(value))]);
    assert_eq!(set("", "5"), (0, String::new()));
    assert_eq!(broker.services.live_config.broker().topic_defaults.max_message_bytes, 5);
    assert_eq!(set("1", "6"), (0, String::new()));
    assert_eq!(broker.services.live_config.broker().topic_defaults.max_message_bytes, 6);
    // What the process started with stays.
    assert_eq!(broker.services.config.topic_defaults.max_message_bytes, 1_048_588);
}

#[test]
fn groups_and_subscriptions_take_changes() {
    let broker = Broker::with(&[]);
    let session = [(SET, "consumer.session.timeout.ms", Some("46000"))];
    assert_eq!(alter(&broker, GROUP, "g", &session), (0, String::new()));
    assert!(broker.services.live_config.group("g").contains_key("consumer.session.timeout.ms"));
    let metrics = [(SET, "metrics", Some("a,b"))];
    assert_eq!(alter(&broker, CLIENT_METRICS, "s", &metrics), (0, String::new()));
    assert!(broker.services.live_config.client_metrics("s").contains_key("metrics"));
}

#[test]
fn what_cannot_be_is_refused_in_kafkas_words() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let set = |key, value| (SET, key, Some(value));
    let cases = [
        (TOPIC, "t", set("nope", "1"), 40, "Unknown topic config name: nope"),
        (TOPIC, "t", (SET, "retention.ms", None), 42, "Null value not supported for : retention.ms"),
        (
            TOPIC,
            "t",
            (APPEND, "retention.ms", Some("5")),
            40,
            "Can't APPEND to key retention.ms because its type is not LIST.",
        ),
        (TOPIC, "nope", set("retention.ms", "1"), 3, "The topic 'nope' does not exist."),
        (
            TOPIC,
            "nope",
            set("retention.ms", "x"),
            40,
            "Invalid value x for configuration retention.ms: Not a number of type LONG",
        ),
        (TOPIC, "", set("retention.ms", "1"), 42, "Default topic resources are not allowed."),
        (
            TOPIC,
            "a b",
            set("retention.ms", "1"),
            17,
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, \
             '.', '_' and '-'",
        ),
        (0, "x", set("a", "b"), 42, "Unknown resource type 0"),
        (99, "x", set("a", "b"), 42, "Unknown resource type 99"),
        (BROKER, "2", set("message.max.bytes", "1"), 42, "Unexpected broker id, expected 1, but received 2"),
        (BROKER, "x", set("message.max.bytes", "1"), 42, "Node id must be an integer, but it is: x"),
        (
            BROKER,
            "1",
            set("num.partitions", "3"),
            42,
            "Cannot update these configs dynamically: [num.partitions]",
        ),
        (BROKER, "1", (9, "log.cleanup.policy", Some("x")), 42, "Unknown operations type 9"),
        (GROUP, "", set("consumer.session.timeout.ms", "1"), 42, "Default group resources are not allowed."),
        (GROUP, "g", set("nope", "1"), 40, "Unknown group config name: nope"),
        (
            GROUP,
            "g",
            (APPEND, "streams.rack.aware.assignment.tags", Some("c")),
            40,
            "Can't APPEND to key streams.rack.aware.assignment.tags because its type is not LIST.",
        ),
        (CLIENT_METRICS, "", set("interval.ms", "1000"), 42, "Subscription name can't be empty"),
        (BROKER_LOGGER, "2", set("root", "INFO"), 42, "Unexpected node id. Expected 1, but received 2"),
        (BROKER_LOGGER, "", set("root", "INFO"), 42, "Node id must be an integer, but it is: "),
        (BROKER_LOGGER, "1", set("nope", "INFO"), 40, "Logger nope does not exist!"),
        (
            BROKER_LOGGER,
            "1",
            set("root", "FOO"),
            40,
            "Cannot set the log level of root to FOO as it is not a supported log level. \
             Valid log levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN",
        ),
        (
            BROKER_LOGGER,
            "1",
            (DELETE, "root", None),
            42,
            "Removing the log level of the root logger is not allowed",
        ),
        (
            BROKER_LOGGER,
            "1",
            (APPEND, "root", Some("INFO")),
            42,
            "APPEND operation is not allowed for the BROKER_LOGGER resource",
        ),
    ];
    for (kind, name, op, code, message) in cases {
        assert_eq!(alter(&broker, kind, name, &[op]), (code, message.to_owned()));
    }
}

#[test]
fn a_resource_and_a_key_come_once() {
    let broker = Broker::with_topics(&[("t", 1), ("u", 1)]);
    let set = |name| resource(TOPIC, name, &[(SET, "retention.ms", Some("5"))]);
    let outcomes = alter_all(&broker, false, vec![set("t"), set("u"), set("t")]);
    let twice = (42, Some("Each resource must appear at most once.".to_owned()));
    assert_eq!(outcomes, [twice.clone(), (0, None), twice]);
    let ops = [(SET, "retention.ms", Some("1")), (DELETE, "retention.ms", None)];
    assert_eq!(alter(&broker, TOPIC, "t", &ops), (42, "Error due to duplicate config keys".to_owned()));
}

#[test]
fn an_unknown_operation_spoils_what_the_controller_gets() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let resources = vec![
        resource(TOPIC, "t", &[(9, "retention.ms", Some("1"))]),
        resource(BROKER, "1", &[(SET, "message.max.bytes", Some("9"))]),
        resource(BROKER, "2", &[(SET, "message.max.bytes", Some("9"))]),
    ];
    let codes: Vec<_> = alter_all(&broker, false, resources).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, [-1, -1, 42]);
    assert_eq!(broker.services.live_config.broker().topic_defaults.max_message_bytes, 1_048_588);
}
