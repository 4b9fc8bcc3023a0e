use kafka_protocol::protocol::StrBytes;

use super::*;
use crate::api::testing::Broker;
use crate::log::{Isolation, TopicIdPartition, WaitPartition};
use crate::types::{Millis, ReplyTo};
use kafka_protocol::messages::delete_topics_request::DeleteTopicState;

const UNKNOWN_NAME: &str = "This server does not host this topic-partition.";
const UNKNOWN_ID: &str = "This server does not host this topic ID.";

fn wire(name: &str) -> kafka_protocol::messages::TopicName {
    StrBytes::from_string(name.to_owned()).into()
}

fn state(name: Option<&str>, id: TopicId) -> DeleteTopicState {
    DeleteTopicState::default().with_name(name.map(wire)).with_topic_id(id.into())
}

fn named(version: i16, names: &[&str]) -> DeleteTopicsRequest {
    let request = DeleteTopicsRequest::default().with_timeout_ms(1000);
    if version >= 6 {
        request.with_topics(names.iter().map(|name| state(Some(name), TopicId::ZERO)).collect())
    } else {
        request.with_topic_names(names.iter().copied().map(wire).collect())
    }
}

fn with_states(topics: Vec<DeleteTopicState>) -> DeleteTopicsRequest {
    DeleteTopicsRequest::default().with_timeout_ms(1000).with_topics(topics)
}

type Result = (Option<String>, TopicId, i16, Option<String>);

fn ask(broker: &Broker, version: i16, request: &DeleteTopicsRequest) -> Vec<Result> {
    let results = broker.call(version, request, handle).responses;
    let text = |text: &StrBytes| text.to_string();
    results
        .into_iter()
        .map(|result| {
            let name = result.name.as_ref().map(|name| text(name));
            (name, result.topic_id.into(), result.error_code, result.error_message.as_ref().map(text))
        })
        .collect()
}

fn outcome(name: Option<&str>, id: TopicId, error: Option<ResponseError>, text: Option<&str>) -> Result {
    (name.map(str::to_owned), id, error.map_or(0, |error| error.code()), text.map(str::to_owned))
}

fn invalid(name: Option<&str>, id: TopicId, text: &str) -> Result {
    outcome(name, id, Some(ResponseError::InvalidRequest), Some(text))
}

#[test]
fn every_version_deletes_by_name() {
    for version in 1..=6 {
        let broker = Broker::with_topics(&[("a", 1), ("b", 1)]);
        let id = if version >= 6 { broker.topic_id("a") } else { TopicId::ZERO };
        let results = ask(&broker, version, &named(version, &["a", "z", "b", "b"]));
        let text = |text| (version >= 5).then_some(text);
        let zero = TopicId::ZERO;
        assert_eq!(
            results,
            [
                outcome(Some("b"), zero, Some(ResponseError::InvalidRequest), text("Duplicate topic name.")),
                outcome(Some("z"), zero, Some(ResponseError::UnknownTopicOrPartition), text(UNKNOWN_NAME)),
                outcome(Some("a"), id, None, None),
            ],
            "version {version}"
        );
        assert_eq!((broker.topic("a"), broker.topic("b").is_some()), (None, true));
        assert_eq!(broker.topics_deleted(), [TopicName::from("a")]);
        assert!(ask(&broker, version, &named(version, &[])).is_empty());
        assert!(broker.topics_deleted().is_empty());
    }
}

#[test]
fn topics_are_deleted_by_id() {
    let broker = Broker::with_topics(&[("a", 1)]);
    let id = broker.topic_id("a");
    let request = with_states(vec![
        state(None, id),
        state(None, TopicId(7)),
        state(None, TopicId(8)),
        state(None, TopicId(8)),
    ]);
    assert_eq!(
        ask(&broker, 6, &request),
        [
            invalid(None, TopicId(8), "Duplicate topic id."),
            outcome(None, TopicId(7), Some(ResponseError::UnknownTopicId), Some(UNKNOWN_ID)),
            outcome(Some("a"), id, None, None),
        ]
    );
    assert_eq!(broker.topic("a"), None);
    assert_ne!(broker.create("a", 1).id, id);
}

#[test]
fn a_topic_is_meant_by_name_or_by_id() {
    let broker = Broker::with_topics(&[("a", 1)]);
    let (id, zero) = (broker.topic_id("a"), TopicId::ZERO);
    let neither = invalid(None, zero, "Neither topic name nor id were specified.");
    let both = invalid(Some("a"), id, "You may not specify both topic name and topic id.");
    let twice = invalid(Some("a"), id, "The provided topic name maps to an ID that was already supplied.");
    let duplicate_id = invalid(None, id, "Duplicate topic id.");
    for (topics, results) in [
        (vec![state(None, zero), state(None, zero)], vec![neither.clone(), neither]),
        (vec![state(Some("a"), id)], vec![both]),
        (vec![state(None, id), state(Some("a"), zero)], vec![twice.clone()]),
        (vec![state(None, id), state(Some("a"), zero), state(None, id)], vec![duplicate_id, twice]),
    ] {
        assert_eq!(ask(&broker, 6, &with_states(topics)), results);
        assert!(broker.topic("a").is_some());
    }
    let name_twice = with_states(vec![state(Some("a"), zero), state(None, id), state(Some("a"), zero)]);
    assert_eq!(
        ask(&broker, 6, &name_twice),
        [invalid(Some("a"), zero, "Duplicate topic name."), outcome(Some("a"), id, None, None)]
    );
}

#[test]
fn deletion_can_be_disabled() {
    let broker = Broker::with(&[("delete.topic.enable", "false")]);
    broker.create("a", 1);
    for version in 1..=6 {
        let error =
            if version < 3 { ResponseError::InvalidRequest } else { ResponseError::TopicDeletionDisabled };
        let refusal = |name| outcome(Some(name), TopicId::ZERO, Some(error), None);
        assert_eq!(ask(&broker, version, &named(version, &["a", "z"])), [refusal("a"), refusal("z")]);
    }
    let by_id = with_states(vec![state(None, TopicId(7)), state(None, TopicId::ZERO)]);
    let disabled = |id| outcome(None, id, Some(ResponseError::TopicDeletionDisabled), None);
    assert_eq!(ask(&broker, 6, &by_id), [disabled(TopicId(7)), disabled(TopicId::ZERO)]);
    assert!(broker.topic("a").is_some());
}

#[test]
fn without_time_nothing_is_done() {
    let broker = Broker::with_topics(&[("a", 1)]);
    for version in 1..=6 {
        for timeout_ms in [0, -1] {
            let request = named(version, &["a"]).with_timeout_ms(timeout_ms);
            let timed_out = outcome(Some("a"), TopicId::ZERO, Some(ResponseError::RequestTimedOut), None);
            assert_eq!(ask(&broker, version, &request), [timed_out]);
        }
    }
    assert!(broker.topic("a").is_some());
    assert!(broker.topics_deleted().is_empty() && broker.woken().is_empty());
}

#[test]
fn a_fetch_that_waits_for_a_deleted_topic_is_woken() {
    let broker = Broker::with_topics(&[("a", 2), ("b", 1)]);
    let wait = |name, partition| WaitPartition {
        partition: TopicIdPartition { topic: broker.topic_id(name), partition },
        available: 0,
        bytes_max: 1,
        isolation: Isolation::ReadUncommitted,
    };
    for (from, partition) in [(ReplyTo(7), wait("a", 1)), (ReplyTo(8), wait("b", 0))] {
        crate::api::lock(&broker.services.topics).log.park(from, Millis::MAX, 1, [partition]);
    }
    ask(&broker, 6, &named(6, &["a"]));
    assert_eq!(broker.woken(), [ReplyTo(7)]);
}
