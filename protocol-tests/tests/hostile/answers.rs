//! Answers without end: the same large thing asked for again and again in one request, at a few bytes a time.

use kafka_protocol::messages::describe_configs_request::DescribeConfigsResource;
use kafka_protocol::messages::offset_fetch_request::OffsetFetchRequestGroup;
use kafka_protocol::messages::{
    ConsumerGroupDescribeRequest, DescribeConfigsRequest, DescribeGroupsRequest, GroupId, OffsetFetchRequest,
};
use kafka_protocol::protocol::{Request, StrBytes};
use protocol_tests::requests::{commit, join, metadata, subscribe, sync, text};
use protocol_tests::victim::Victim;

use crate::frames::is_served;
use crate::{MIB, attack};

const BROKER: i8 = 4;

/// Asks for what is too much for one answer: the connection is closed, and not much is made of it before.
fn asks_for_too_much<R: Request>(name: &str, prepare: impl FnOnce(&Victim), version: i16, request: &R) {
    let damage = attack(name, &[("node.id", "1")], |victim| {
        prepare(victim);
        let mut peer = victim.connect();
        peer.send(version, request).expect("the server reads");
        assert_eq!(peer.until_closed().expect("it is closed"), b"");
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 256 * MIB, "{damage:?}");
}

fn group() -> GroupId {
    GroupId(StrBytes::from_static_str("g"))
}

#[test]
fn a_large_group_is_not_described_without_end_in_one_answer() {
    let prepare = |victim: &Victim| {
        let mut member = victim.connect();
        let joined = member.call(3, &join("g", "", &[0; MIB * 8 / 10])).expect("an answer");
        assert_eq!(member.call(3, &sync("g", &joined)).expect("an answer").error_code, 0);
    };
    let describe = DescribeGroupsRequest::default().with_groups(vec![group(); 100_000]);
    asks_for_too_much("DescribeGroups of one large group 100,000 times", prepare, 2, &describe);
}

#[test]
fn a_large_consumer_group_is_not_described_without_end_in_one_answer() {
    let topics: Vec<String> = (0..1_000).map(|n| format!("topic-{n}")).collect();
    let prepare = |victim: &Victim| {
        let mut peer = victim.connect();
        for member in 0..100 {
            let joins = subscribe("g", &format!("m{member}"), topics.iter().map(String::as_str));
            assert_eq!(peer.call(1, &joins).expect("an answer").error_code, 0);
        }
    };
    let describe = ConsumerGroupDescribeRequest::default().with_group_ids(vec![group(); 100_000]);
    asks_for_too_much("ConsumerGroupDescribe of one large group 100,000 times", prepare, 1, &describe);
}

#[test]
fn the_offsets_of_a_group_are_not_fetched_without_end_in_one_answer() {
    let prepare = |victim: &Victim| {
        let mut peer = victim.connect();
        peer.call(9, &metadata(["t"].into_iter())).expect("an answer");
        let committed = peer.call(2, &commit("g", "t", 0..1, &"m".repeat(4_096))).expect("an answer");
        assert_eq!(committed.topics[0].partitions[0].error_code, 0);
    };
    let wanted = OffsetFetchRequestGroup::default().with_group_id(group()).with_topics(None);
    let fetch = OffsetFetchRequest::default().with_groups(vec![wanted; 100_000]);
    asks_for_too_much("OffsetFetch of one group 100,000 times", prepare, 8, &fetch);
}

#[test]
fn configs_are_not_described_without_end_in_one_answer() {
    let broker = DescribeConfigsResource::default().with_resource_type(BROKER).with_resource_name(text("1"));
    let describe = DescribeConfigsRequest::default()
        .with_resources(vec![broker; 10_000])
        .with_include_documentation(true)
        .with_include_synonyms(true);
    asks_for_too_much("DescribeConfigs of all brokers 10,000 times", |_| {}, 4, &describe);
}
