//! Topics and partitions without end.

use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::{CreateTopicsRequest, TopicName};
use protocol_tests::requests::{metadata, text};

use crate::frames::is_served;
use crate::{MIB, attack};

const POLICY_VIOLATION: i16 = 44;

#[test]
fn partitions_without_end_are_not_created() {
    let damage = attack("CreateTopics of 2^31-1 partitions", &[], |victim| {
        let mut peer = victim.connect();
        let mut create = |partitions: &[i32]| {
            let topics = partitions.iter().enumerate().map(|(n, partitions)| {
                let name = TopicName(text(&format!("t{n}")));
                CreatableTopic::default()
                    .with_name(name)
                    .with_num_partitions(*partitions)
                    .with_replication_factor(1)
            });
            let request = CreateTopicsRequest::default().with_topics(topics.collect()).with_timeout_ms(1_000);
            let topics = peer.call(5, &request).expect("an answer").topics;
            topics.iter().map(|topic| topic.error_code).collect::<Vec<_>>()
        };
        assert_eq!(create(&[i32::MAX]), [POLICY_VIOLATION]);
        assert_eq!(create(&[5_000, 5_001]), [POLICY_VIOLATION; 2]);
        assert_eq!(create(&[10_001]), [POLICY_VIOLATION]);
    });
    assert!(damage.growth_bytes <= 2 * MIB, "{damage:?}");
}

#[test]
fn topics_without_end_are_not_created_on_demand() {
    let damage = attack("Metadata of 300,000 names", &[], |victim| {
        let names: Vec<String> = (0..300_000).map(|n| format!("topic-{n}")).collect();
        let mut peer = victim.connect();
        let answer = peer.call(9, &metadata(names.iter().map(String::as_str))).expect("an answer");
        assert_eq!(answer.topics.len(), names.len());
        drop(answer);
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 128 * MIB, "{damage:?}");
    let damage = attack("Metadata of 300,000 names, 1,000 each", &[], |victim| {
        let names: Vec<String> = (0..300_000).map(|n| format!("topic-{n}")).collect();
        let mut peer = victim.connect();
        for some in names.chunks(1_000) {
            peer.call(9, &metadata(some.iter().map(String::as_str))).expect("an answer");
        }
    });
    // As many topics as there may be partitions, at about 1 KiB each.
    assert!(damage.growth_bytes <= 160 * MIB, "{damage:?}");
}
