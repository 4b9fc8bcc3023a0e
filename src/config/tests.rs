//! Tests of the layers and of the typed configuration.

use super::*;

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn refused(settings: &[(&str, &str)]) -> String {
    Config::with(settings).expect_err("an invalid configuration").to_string()
}

#[test]
fn defaults_are_kafkas_but_for_the_initial_delay() {
    let config = Config::default();
    assert_eq!(config.group_initial_rebalance_delay_ms, 0);
    assert_eq!((config.group_min_session_timeout_ms, config.group_max_session_timeout_ms), (6000, 1_800_000));
    assert_eq!((config.num_partitions, config.offsets_topic_num_partitions), (1, 50));
    assert_eq!((config.node_id, config.cluster_id.as_str()), (1, DEFAULT_CLUSTER_ID));
    assert_eq!(config.topic_defaults.max_message_bytes, 1_048_588);
    assert!(config.auto_create_topics_enable && config.broker_rack.is_none());
}

#[test]
fn flags_beat_the_environment_which_beats_the_file() {
    let file = pairs(&[("num.partitions", "1"), ("group.max.size", "1"), ("fetch.max.bytes", "1111")]);
    let environment = Environment {
        settings: pairs(&[("num.partitions", "2"), ("group.max.size", "2")]),
        unknown: vec!["KAFKA_NOTHING".to_owned()],
        cluster_id: Some("abc".to_owned()),
        topics: vec![TopicAtStart::parse("a:2").unwrap()],
    };
    let flags = pairs(&[("num.partitions", "3")]);
    let config = Config::from_layers(&file, &environment, &flags).unwrap();
    assert_eq!((config.num_partitions, config.group_max_size, config.fetch_max_bytes), (3, 2, 1111));
    assert_eq!((config.cluster_id.as_str(), config.topics_at_start.len()), ("abc", 1));
}

#[test]
fn the_last_of_two_equal_keys_holds() {
    assert_eq!(Config::with(&[("num.partitions", "1"), ("num.partitions", "2")]).unwrap().num_partitions, 2);
}

#[test]
fn an_unknown_key_is_refused_and_every_known_one_accepted() {
    let message = "Unknown configuration group.max.sise: the nearest known one is group.max.size";
    assert_eq!(refused(&[("group.max.sise", "1")]), message);
    for key in keys::BROKER_KEYS {
        if let Some(default) = key.default {
            assert!(Config::with(&[(key.name, default)]).is_ok() || key.name == "broker.id", "{}", key.name);
        }
    }
}

#[test]
fn node_id_and_broker_id_are_one() {
    assert_eq!(Config::with(&[("node.id", "7")]).unwrap().node_id, 7);
    assert_eq!(Config::with(&[("broker.id", "8")]).unwrap().node_id, 8);
    assert_eq!(Config::with(&[("broker.id", "8"), ("node.id", "8")]).unwrap().node_id, 8);
    assert!(refused(&[("broker.id", "8"), ("node.id", "7")]).contains("must be set to the same value"));
    let negative = "Invalid value -1 for configuration node.id: Value must be at least 0";
    assert_eq!(refused(&[("broker.id", "-1")]), negative);
    assert_eq!(refused(&[("node.id", "-1")]), negative);
}

#[test]
fn keys_that_contradict_each_other_are_refused_in_kafkas_words() {
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[("log.retention.ms", "0")],
            "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        ),
        (
            &[("log.retention.minutes", "0")],
            "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        ),
        (&[("log.roll.ms", "0")], "requirement failed: log.roll.ms must be greater than or equal to 1"),
        (
            &[("max.connections.per.ip", "0")],
            "requirement failed: max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set.",
        ),
        (
            &[("connections.max.idle.ms", "50")],
            "requirement failed: connection.failed.authentication.delay.ms=100 should always be less than connections.max.idle.ms=50 \
             to prevent failed authentication responses from timing out",
        ),
        (
            &[("group.consumer.session.timeout.ms", "10")],
            "group.consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms",
        ),
        (
            &[("group.streams.num.standby.replicas", "3")],
            "group.streams.num.standby.replicas must be less than or equal to group.streams.max.standby.replicas",
        ),
    ];
    for (settings, message) in cases {
        assert_eq!(refused(settings), *message);
    }
}

#[test]
fn keys_have_an_effect_when_something_reads_them() {
    for key in ["num.partitions", "log.retention.hours", "listeners", "node.id", "message.max.bytes"] {
        assert!(has_effect(key), "{key}");
    }
    for key in ["log.dirs", "ssl.keystore.type", "log.index.size.max.bytes"] {
        assert!(!has_effect(key), "{key}");
    }
}

#[test]
fn dynamic_sources_lie_over_the_static_ones() {
    let config = Config::with(&[("message.max.bytes", "1"), ("log.retention.ms", "5")]).unwrap();
    let mut sources = config.sources.clone();
    sources.dynamic_default.insert("message.max.bytes".to_owned(), "2".to_owned());
    assert_eq!(config.with_sources(sources.clone()).unwrap().topic_defaults.max_message_bytes, 2);
    sources.dynamic_broker.insert("message.max.bytes".to_owned(), "3".to_owned());
    let changed = config.with_sources(sources).unwrap();
    assert_eq!((changed.topic_defaults.max_message_bytes, changed.topic_defaults.retention_ms), (3, 5));
}
