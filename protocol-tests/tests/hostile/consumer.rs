//! Consumer groups (KIP-848): the broker computes for them, so that members may try to have it compute without end.

use std::iter;

use kafka_protocol::messages::consumer_group_heartbeat_request::TopicPartitions;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::sync_group_request::SyncGroupRequestAssignment;
use kafka_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupHeartbeatRequest, CreateTopicsRequest, GroupId, TopicName,
};
use protocol_tests::peer::{Peer, frame};
use protocol_tests::requests::{consume, join, subscribe, subscribe_to_pattern, sync, text};
use protocol_tests::victim::Victim;
use rallypoint::limits::{PARTITIONS_MAX, REGEX_CHARS_MAX, REGEXES_PER_GROUP_MAX, SUBSCRIBED_TOPICS_MAX};

use crate::frames::is_served;
use crate::{MIB, alone, attack, judge, victim};

const INVALID_REQUEST: i16 = 42;
const GROUP_MAX_SIZE_REACHED: i16 = 81;
const FENCED_MEMBER_EPOCH: i16 = 110;
const INVALID_REGULAR_EXPRESSION: i16 = 128;

/// A sixteenth of what groups may take by default, so that it is reached soon.
const SMALL: [(&str, &str); 1] = [("rallypoint.groups.max.bytes", "67108864")];

fn beat(peer: &mut Peer, request: &ConsumerGroupHeartbeatRequest) -> i16 {
    peer.call(1, request).expect("an answer").error_code
}

/// Makes topics, as many in a request as Kafka takes.
fn create(victim: &Victim, names: &[String], partitions: i32) {
    let mut peer = victim.connect();
    let per_request = 9_000 / (usize::try_from(partitions).expect("some partitions") + 1);
    for some in names.chunks(per_request.max(1)) {
        let topics = some.iter().map(|name| {
            CreatableTopic::default()
                .with_name(TopicName(text(name)))
                .with_num_partitions(partitions)
                .with_replication_factor(1)
        });
        let request = CreateTopicsRequest::default().with_topics(topics.collect()).with_timeout_ms(60_000);
        let created = peer.call(7, &request).expect("an answer");
        assert!(created.topics.iter().all(|topic| topic.error_code == 0), "{:?}", created.topics[0]);
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("topic-{n}")).collect()
}

/// Joins one member after the other, many in one go, until one is refused; how many were not.
fn until_refused(
    victim: &Victim,
    max: usize,
    request: impl Fn(usize) -> ConsumerGroupHeartbeatRequest,
) -> usize {
    const BATCH: usize = 100;
    let mut peer = victim.connect();
    for start in (0..max).step_by(BATCH) {
        let bytes: Vec<u8> = (start..start + BATCH).flat_map(|n| frame("test", 1, 1, &request(n))).collect();
        peer.send_bytes(&bytes).expect("the server reads");
        for index in start..start + BATCH {
            let frame = peer.receive_frame().expect("an answer");
            // Behind the correlation id, the tags of the header and the throttle time.
            match i16::from_be_bytes([frame[9], frame[10]]) {
                0 => {}
                GROUP_MAX_SIZE_REACHED => return index,
                code => panic!("member {index} was refused with {code}"),
            }
        }
    }
    max
}

#[test]
fn members_of_a_consumer_group_without_end_are_refused() {
    let settings = [SMALL[0], ("group.consumer.assignment.interval.ms", "1000")];
    let damage = attack("members of one consumer group without end", &settings, |victim| {
        create(victim, &names(1), 1_000);
        let request = |n: usize| subscribe("g", &format!("m{n}"), iter::once("topic-0"));
        let members = until_refused(victim, 200_000, request);
        assert!((10_000..=100_000).contains(&members), "{members}");
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 64 * MIB * 3 / 2 + 16 * MIB, "{damage:?}");
}

#[test]
fn consumer_groups_without_end_are_refused() {
    let damage = attack("consumer groups without end", &SMALL, |victim| {
        create(victim, &names(1), 1);
        let request = |n: usize| subscribe(&format!("g{n}"), "m", iter::once("topic-0"));
        let groups = until_refused(victim, 200_000, request);
        assert!((10_000..100_000).contains(&groups), "{groups}");
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 64 * MIB * 3 / 2, "{damage:?}");
}

#[test]
fn a_subscription_has_so_many_topics_and_weighs_what_it_takes() {
    let damage = attack("subscriptions to very many topics", &SMALL, |victim| {
        let many = names(SUBSCRIBED_TOPICS_MAX + 1);
        let names = |count: usize| many[..count].iter().map(String::as_str);
        let mut peer = victim.connect();
        assert_eq!(beat(&mut peer, &subscribe("g", "m", names(many.len()))), INVALID_REQUEST);
        let request =
            |n: usize| subscribe(&format!("g{}", n % 7), &format!("m{n}"), names(SUBSCRIBED_TOPICS_MAX));
        let members = until_refused(victim, 1_000, request);
        assert!((20..500).contains(&members), "{members}");
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 64 * MIB * 3 / 2 + 16 * MIB, "{damage:?}");
}

#[test]
fn new_subscriptions_all_the_time_hold_nobody_up() {
    const MEMBERS: usize = 1_000;
    let _alone = alone();
    let mut victim = victim(&[]);
    let topics = names(10_000);
    create(&victim, &topics, 5);
    judge(victim.suffer("1,000 members, new subscriptions to 10,000 topics", |victim| {
        let mut peer = victim.connect();
        let member = |n: usize| format!("m{n}");
        for n in 0..MEMBERS {
            let joins = subscribe("g", &member(n), topics.iter().map(String::as_str).take(10));
            assert_eq!(beat(&mut peer, &joins), 0);
        }
        for n in 0..50 {
            let other = topics.iter().map(String::as_str).skip(n % 2 * 100);
            assert_eq!(beat(&mut peer, &subscribe("g", &member(n), other)), 0);
        }
        is_served(&mut victim.connect());
    }));
}

#[test]
fn regular_expressions_are_bounded_in_length_size_and_number() {
    let damage = attack("costly and very many regular expressions", &[], |victim| {
        let mut peer = victim.connect();
        let long = "a".repeat(REGEX_CHARS_MAX + 1);
        let folded = r"(?i)\pL".repeat(REGEX_CHARS_MAX / 7);
        let nested = "(".repeat(REGEX_CHARS_MAX / 2) + &")".repeat(REGEX_CHARS_MAX / 2);
        for costly in ["a{1000}{1000}", r"(?i)\pL{1000}", &long, &folded, &nested, "(", "(a"] {
            let code = beat(&mut peer, &subscribe_to_pattern("g", "m", costly));
            assert_eq!(code, INVALID_REGULAR_EXPRESSION, "{costly}");
        }
        // It matches in linear time whatever it is.
        assert_eq!(beat(&mut peer, &subscribe_to_pattern("slow", "m", "(a*)*b")), 0);
        for n in 0..REGEXES_PER_GROUP_MAX {
            assert_eq!(beat(&mut peer, &subscribe_to_pattern("g", &format!("m{n}"), &format!("t{n}.*"))), 0);
        }
        assert_eq!(beat(&mut peer, &subscribe_to_pattern("g", "late", "other.*")), GROUP_MAX_SIZE_REACHED);
        // One that is there already costs nothing.
        assert_eq!(beat(&mut peer, &subscribe_to_pattern("g", "late", "t1.*")), 0);
        is_served(&mut victim.connect());
    });
    assert!(damage.growth_bytes <= 32 * MIB, "{damage:?}");
}

#[test]
fn what_regular_expressions_match_is_bounded() {
    const GROUPS: usize = 50;
    let _alone = alone();
    let mut victim = victim(&SMALL);
    create(&victim, &names(20_000), 1);
    let damage = judge(victim.suffer("50 groups with 10 expressions that match 20,000 topics", |victim| {
        let mut peer = victim.connect();
        for n in 0..GROUPS * 10 {
            let (group, regex) =
                (format!("g{}", n % GROUPS), format!("topic-.*{}", "[0-9]*".repeat(n / GROUPS)));
            let code = beat(&mut peer, &subscribe_to_pattern(&group, &format!("m{n}"), &regex));
            assert!([0, GROUP_MAX_SIZE_REACHED].contains(&code), "{code}");
        }
        while !victim.log().contains("matches more topics than there is memory for") {
            is_served(&mut peer);
        }
    }));
    assert!(damage.growth_bytes <= 64 * MIB * 3 / 2 + 32 * MIB, "{damage:?}");
}

#[test]
fn what_a_member_says_it_owns_is_not_believed() {
    let damage =
        attack("partitions that are not the member's, and epochs that are not either", &[], |victim| {
            create(victim, &names(1), 10);
            let mut peer = victim.connect();
            let joined = peer.call(1, &subscribe("g", "m", iter::once("topic-0"))).expect("an answer");
            let topics = joined.assignment.expect("an assignment").topic_partitions;
            assert_eq!(topics[0].partitions.len(), 10);
            let lie = |id, partitions: Vec<i32>| {
                TopicPartitions::default().with_topic_id(id).with_partitions(partitions)
            };
            let mut lies = vec![
                lie(topics[0].topic_id, (0..98_000).rev().collect()),
                lie(topics[0].topic_id, vec![-1, i32::MIN, i32::MAX, 3, 3]),
            ];
            lies.extend((0..1_000).map(|n| lie(uuid::Uuid::from_u128(n), vec![0])));
            let owned = consume("g", "m", joined.member_epoch).with_topic_partitions(Some(lies));
            assert_eq!(beat(&mut peer, &owned), 0);
            assert_eq!(beat(&mut peer, &subscribe("g", "other", iter::once("topic-0"))), 0);
            for epoch in [i32::MAX, joined.member_epoch + 1_000] {
                assert_eq!(beat(&mut peer, &consume("g", "m", epoch)), FENCED_MEMBER_EPOCH);
            }
            assert_eq!(beat(&mut peer, &consume("g", "m", i32::MIN)), INVALID_REQUEST);
            let more = consume("g", "m", joined.member_epoch)
                .with_topic_partitions(Some(vec![lie(topics[0].topic_id, vec![0; PARTITIONS_MAX + 1])]));
            assert_eq!(beat(&mut peer, &more), INVALID_REQUEST);
        });
    assert!(damage.growth_bytes <= 64 * MIB, "{damage:?}");
}

#[test]
fn what_members_are_assigned_is_bounded() {
    let _alone = alone();
    let mut victim = victim(&SMALL);
    create(&victim, &names(10), 9_000);
    let damage = judge(victim.suffer("groups that are assigned 90,000 partitions each", |victim| {
        let topics = names(10);
        let request = |n: usize| subscribe(&format!("g{n}"), "m", topics.iter().map(String::as_str));
        let groups = until_refused(victim, 1_000, request);
        assert!((2..100).contains(&groups), "{groups}");
        is_served(&mut victim.connect());
    }));
    assert!(damage.growth_bytes <= 64 * MIB * 3 / 2 + 32 * MIB, "{damage:?}");
}

#[test]
fn targets_of_very_many_members_hold_nobody_up() {
    const MEMBERS: usize = 10_000;
    let _alone = alone();
    let mut victim = victim(&[]);
    let topics = names(9);
    create(&victim, &topics, 10_000 - 1_000);
    judge(victim.suffer("10,000 members, 81,000 partitions", |victim| {
        let request = |n: usize| subscribe("g", &format!("m{n}"), topics.iter().map(String::as_str));
        assert_eq!(until_refused(victim, MEMBERS, request), MEMBERS);
        is_served(&mut victim.connect());
    }));
}

#[test]
fn partitions_that_there_are_not_are_not_taken_over_from_a_classic_group() {
    let damage = attack("an assignment of partition 2^31-1, and the upgrade of its group", &[], |victim| {
        create(victim, &names(1), 2);
        let mut classic = victim.connect();
        let name = [&[0, 7][..], b"topic-0"].concat();
        let subscription = [&[0, 0, 0, 0, 0, 1][..], &name, &[0xff; 4]].concat();
        let joined = classic.call(3, &join("g", "", &subscription)).expect("an answer");
        let partitions = [0, i32::MAX, -1, i32::MIN].map(i32::to_be_bytes).concat();
        let assignment = [&[0, 0, 0, 0, 0, 1][..], &name, &[0, 0, 0, 4], &partitions, &[0xff; 4]].concat();
        let own = SyncGroupRequestAssignment::default()
            .with_member_id(joined.member_id.clone())
            .with_assignment(assignment.into());
        let assigned = classic.call(3, &sync("g", &joined).with_assignments(vec![own])).expect("an answer");
        assert_eq!(assigned.error_code, 0);
        // The group becomes a consumer group, in which the classic member keeps what there is.
        let mut peer = victim.connect();
        assert_eq!(beat(&mut peer, &subscribe("g", "m", iter::once("topic-0"))), 0);
        let describe = ConsumerGroupDescribeRequest::default().with_group_ids(vec![GroupId(text("g"))]);
        let described = peer.call(1, &describe).expect("an answer").groups.remove(0);
        let held = described.members.iter().flat_map(|member| &member.assignment.topic_partitions);
        let mut held: Vec<i32> = held.flat_map(|topic| topic.partitions.clone()).collect();
        held.sort_unstable();
        assert_eq!(held, [0, 1]);
    });
    assert!(damage.growth_bytes <= 16 * MIB, "{damage:?}");
}
