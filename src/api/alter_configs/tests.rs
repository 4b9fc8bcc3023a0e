//! Answers of AlterConfigs, each asked of Kafka 4.4.0 as well, and what they leave behind.

use super::*;
use crate::api::convert::text;
use crate::api::testing::Broker;

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const BROKER_LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

fn resource(kind: i8, name: &str, configs: &[(&str, Option<&str>)]) -> AlterConfigsResource {
    let config = |(key, value): &(&str, Option<&str>)| {
        AlterableConfig::default().with_name(text(key)).with_value(value.map(text))
    };
    AlterConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configs(configs.iter().map(config).collect())
}

fn alter_all(
    broker: &Broker,
    validate_only: bool,
    resources: Vec<AlterConfigsResource>,
) -> Vec<(i16, Option<String>)> {
    let request = AlterConfigsRequest::default().with_resources(resources).with_validate_only(validate_only);
    let response = broker.call(2, &request, |ctx, _, request| handle(ctx, request));
    let outcome = |response: AlterConfigsResourceResponse| {
        (response.error_code, response.error_message.map(|message| message.as_str().to_owned()))
    };
    response.responses.into_iter().map(outcome).collect()
}

fn alter(broker: &Broker, kind: i8, name: &str, configs: &[(&str, &str)]) -> (i16, Option<String>) {
    let configs: Vec<_> = configs.iter().map(|&(key, value)| (key, Some(value))).collect();
    alter_all(broker, false, vec![resource(kind, name, &configs)]).remove(0)
}

fn own(broker: &Broker, topic: &str) -> Vec<(String, String)> {
    let topic = broker.topic(topic).expect("a topic that exists");
    topic.overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

#[test]
fn what_is_not_in_the_request_gets_its_default() {
    let broker = Broker::with_topics(&[("t", 1)]);
    assert_eq!(alter(&broker, TOPIC, "t", &[("retention.ms", "5"), ("flush.ms", "7")]), (0, None));
    assert_eq!(alter(&broker, TOPIC, "t", &[("cleanup.policy", "compact")]), (0, None));
    assert_eq!(own(&broker, "t"), [("cleanup.policy".to_owned(), "compact".to_owned())]);
    assert_eq!(alter(&broker, TOPIC, "t", &[]), (0, None));
    assert!(own(&broker, "t").is_empty());

    let live = &broker.services.live_config;
    assert_eq!(alter(&broker, GROUP, "g", &[("consumer.session.timeout.ms", "46000")]), (0, None));
    assert_eq!(alter(&broker, GROUP, "g", &[("consumer.heartbeat.interval.ms", "6000")]), (0, None));
    assert_eq!(
        live.group("g").keys().map(AsRef::as_ref).collect::<Vec<_>>(),
        ["consumer.heartbeat.interval.ms"]
    );
    assert_eq!(alter(&broker, CLIENT_METRICS, "m", &[("interval.ms", "1000")]), (0, None));
    assert_eq!(alter(&broker, CLIENT_METRICS, "m", &[]), (0, None));
    assert!(live.client_metrics("m").is_empty());
}

#[test]
fn a_broker_gets_its_defaults_back() {
    let broker = Broker::with(&[]);
    let bytes = || broker.services.live_config.broker().topic_defaults.max_message_bytes;
    assert_eq!(alter(&broker, BROKER, "1", &[("message.max.bytes", "2000000")]), (0, None));
    assert_eq!(bytes(), 2_000_000);
    // The cluster must keep saying what it needs.
    let removed = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled.";
    let every = [("message.max.bytes", "3000000")];
    assert_eq!(alter(&broker, BROKER, "", &every), (40, Some(removed.to_owned())));
    assert_eq!(alter(&broker, BROKER, "", &[every[0], ("min.insync.replicas", "1")]), (0, None));
    assert_eq!(bytes(), 2_000_000);
    assert_eq!(alter(&broker, BROKER, "1", &[]), (0, None));
    assert_eq!(bytes(), 3_000_000);
}

#[test]
fn nothing_changes_when_it_is_only_validated() {
    let broker = Broker::with_topics(&[("t", 1)]);
    alter(&broker, TOPIC, "t", &[("flush.ms", "7")]);
    let resources = vec![
        resource(TOPIC, "t", &[("retention.ms", Some("5"))]),
        resource(BROKER, "1", &[("message.max.bytes", Some("5"))]),
        resource(GROUP, "g", &[("consumer.session.timeout.ms", Some("46000"))]),
    ];
    assert_eq!(alter_all(&broker, true, resources), [(0, None), (0, None), (0, None)]);
    assert_eq!(own(&broker, "t"), [("flush.ms".to_owned(), "7".to_owned())]);
    assert_eq!(broker.services.live_config.broker().topic_defaults.max_message_bytes, 1_048_588);
    assert!(broker.services.live_config.group("g").is_empty());
}

#[test]
fn what_cannot_be_is_refused_in_kafkas_words() {
    let broker = Broker::with_topics(&[("t", 1)]);
    let cases = [
        (TOPIC, "t", ("nope", "1"), 40, "Unknown topic config name: nope"),
        (
            TOPIC,
            "nope",
            ("retention.ms", "x"),
            40,
            "Invalid value x for configuration retention.ms: Not a number of type LONG",
        ),
        (TOPIC, "nope", ("retention.ms", "1"), 3, "The topic 'nope' does not exist."),
        (TOPIC, "", ("retention.ms", "1"), 42, "Default topic resources are not allowed."),
        (0, "x", ("a", "b"), 42, "Unknown resource type 0"),
        (99, "x", ("a", "b"), 42, "Unknown resource type 99"),
        (BROKER_LOGGER, "1", ("root", "INFO"), 42, "Unknown resource type 8"),
        (BROKER, "2", ("message.max.bytes", "1"), 42, "Unexpected broker id, expected 1, but received 2"),
        (BROKER, "x", ("message.max.bytes", "1"), 42, "Node id must be an integer, but it is: x"),
        (
            BROKER,
            "1",
            ("num.partitions", "3"),
            42,
            "Cannot update these configs dynamically: [num.partitions]",
        ),
        (GROUP, "", ("consumer.session.timeout.ms", "46000"), 42, "Default group resources are not allowed."),
        (GROUP, "g", ("nope", "1"), 40, "Unknown group config name: nope"),
        (CLIENT_METRICS, "", ("interval.ms", "1000"), 42, "Subscription name can't be empty"),
        (CLIENT_METRICS, "m", ("nope", "1"), 42, "Unknown client metrics configuration: nope"),
    ];
    for (kind, name, config, code, message) in cases {
        assert_eq!(alter(&broker, kind, name, &[config]), (code, Some(message.to_owned())));
    }
}

#[test]
fn a_resource_and_a_key_come_once_and_with_a_value() {
    let broker = Broker::with_topics(&[("t", 1), ("u", 1)]);
    let invalid = |message: &str| (42, Some(message.to_owned()));
    let set = |name| resource(TOPIC, name, &[("retention.ms", Some("5"))]);
    let twice = invalid("Each resource must appear at most once.");
    let outcomes = alter_all(&broker, false, vec![set("t"), set("u"), set("t")]);
    assert_eq!(outcomes, [twice.clone(), (0, None), twice]);
    let repeated = alter(&broker, TOPIC, "t", &[("retention.ms", "1"), ("retention.ms", "2")]);
    assert_eq!(repeated, invalid("Error due to duplicate config keys"));
    let nulls = resource(TOPIC, "t", &[("retention.ms", None), ("flush.ms", None)]);
    let outcome = alter_all(&broker, false, vec![nulls]).remove(0);
    assert_eq!(outcome, invalid("Null value not supported for : retention.ms, flush.ms"));
}
