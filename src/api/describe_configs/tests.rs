//! Answers of DescribeConfigs, each asked of Kafka 4.4.0 as well.

use super::*;
use crate::api::testing::Broker;

const TOPIC: i8 = 2;
const BROKER: i8 = 4;
const BROKER_LOGGER: i8 = 8;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

fn resource(kind: i8, name: &str, keys: &[&str]) -> DescribeConfigsResource {
    DescribeConfigsResource::default()
        .with_resource_type(kind)
        .with_resource_name(text(name))
        .with_configuration_keys(Some(keys.iter().map(|key| text(key)).collect()))
}

fn ask(broker: &Broker, version: i16, request: &DescribeConfigsRequest) -> Vec<DescribeConfigsResult> {
    broker.call(version, request, |ctx, _, request| handle(ctx, request)).results
}

fn describe(broker: &Broker, kind: i8, name: &str, keys: &[&str]) -> DescribeConfigsResult {
    let request = DescribeConfigsRequest::default()
        .with_resources(vec![resource(kind, name, keys)])
        .with_include_synonyms(true);
    ask(broker, 4, &request).remove(0)
}

/// Code and message.
fn error(result: &DescribeConfigsResult) -> (i16, &str) {
    (result.error_code, result.error_message.as_ref().map_or("null", |message| message.as_str()))
}

#[test]
fn a_config_comes_with_its_type_and_where_it_comes_from() {
    let broker = Broker::with(&[("log.retention.ms", "5")]);
    broker.create("t", 1);
    let result = describe(&broker, TOPIC, "t", &["retention.ms", "nope"]);
    assert_eq!((error(&result), result.configs.len()), ((0, ""), 1));
    let config = &result.configs[0];
    assert_eq!(config.value, Some(text("5")));
    assert_eq!((config.config_source, config.config_type, config.read_only), (4, 5, false));
    let synonyms: Vec<_> =
        config.synonyms.iter().map(|synonym| (synonym.name.as_str(), synonym.source)).collect();
    assert_eq!(synonyms, [("log.retention.ms", 4), ("log.retention.hours", 5)]);
    assert_eq!(config.documentation, None);
}

#[test]
fn without_names_everything_is_told() {
    let broker = Broker::with_topics(&[("t", 1)]);
    for (kind, name, count) in
        [(TOPIC, "t", 37), (BROKER, "1", 350), (GROUP, "g", 21), (CLIENT_METRICS, "s", 3)]
    {
        let result = describe(&broker, kind, name, &[]);
        assert_eq!((error(&result), result.configs.len()), ((0, ""), count), "{kind}");
        let all = resource(kind, name, &[]).with_configuration_keys(None);
        let request = DescribeConfigsRequest::default().with_resources(vec![all]);
        assert_eq!(ask(&broker, 4, &request)[0].configs.len(), count);
    }
}

#[test]
fn synonyms_and_documentation_are_told_when_asked_for() {
    let broker = Broker::with(&[]);
    let resource = resource(BROKER, "1", &["group.max.size"]);
    let request = DescribeConfigsRequest::default().with_resources(vec![resource]);
    let bare = &ask(&broker, 4, &request)[0].configs[0];
    assert_eq!((bare.synonyms.len(), &bare.documentation), (0, &None));
    let request = request.with_include_documentation(true).with_include_synonyms(true);
    let full = &ask(&broker, 3, &request)[0].configs[0];
    assert_eq!((full.synonyms.len(), full.documentation.is_some()), (1, true));
    // Before version 3 there is neither a type nor documentation.
    let request = request.with_include_documentation(false);
    let old = &ask(&broker, 2, &request)[0].configs[0];
    assert_eq!((old.config_type, old.value.as_deref()), (0, Some("2147483647")));
}

#[test]
fn the_logger_has_the_level_of_the_process() {
    let result = describe(&Broker::with(&[]), BROKER_LOGGER, "1", &[]);
    assert_eq!((error(&result), result.configs.len()), ((0, ""), 1));
    assert_eq!((result.configs[0].name.as_str(), result.configs[0].config_source), ("root", 6));
}

#[test]
fn what_does_not_exist_is_refused_in_kafkas_words() {
    let broker = Broker::with(&[]);
    let cases = [
        (TOPIC, "nope", 3, ""),
        (
            TOPIC,
            "a b",
            17,
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, \
             '.', '_' and '-'",
        ),
        (TOPIC, "", 17, "Topic name is invalid: the empty string is not allowed"),
        (BROKER, "2", 42, "Unexpected broker id, expected 1 or empty string, but received 2"),
        (BROKER, "x", 42, "Broker id must be an integer, but it is: x"),
        (BROKER_LOGGER, "2", 42, "Unexpected broker id, expected 1 but received 2"),
        (BROKER_LOGGER, "", 42, "Broker id must not be empty"),
        (CLIENT_METRICS, "", 42, "Client metrics subscription name must not be empty"),
        (GROUP, "", 42, "Group name must not be empty"),
    ];
    for (kind, name, code, message) in cases {
        assert_eq!(error(&describe(&broker, kind, name, &[])), (code, message));
    }
}

#[test]
fn an_unknown_type_spoils_the_request() {
    let resources = vec![resource(99, "x", &[]), resource(BROKER, "1", &[])];
    let results = ask(&Broker::with(&[]), 4, &DescribeConfigsRequest::default().with_resources(resources));
    assert_eq!(results.iter().map(|result| result.error_code).collect::<Vec<_>>(), [42, 42]);
}
