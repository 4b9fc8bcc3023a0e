//! What must hold for any group: random ones, from one seed each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rallypoint::assignor::client::{ClientAssignor, Subscription, Topic, TopicPartition, UserData};
use rallypoint::assignor::{
    GroupSpec, MemberAssignment, MemberSpec, PartitionAssignor, RangeAssignor, SubscriptionType, TopicSpec,
    UniformAssignor, broker_assignors,
};
use rallypoint::types::{TopicId, TopicName};

const GROUPS: u64 = 500;

/// A sequence of random numbers that a seed determines (splitmix64).
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) % sides as u64) as usize
    }

    fn one_in(&mut self, sides: usize) -> bool {
        self.roll(sides) == 0
    }
}

/// Members that have, at random, partitions of topics that they may no longer subscribe to.
fn group_spec(seed: u64, subscription_type: SubscriptionType) -> GroupSpec {
    let dice = &mut Dice(seed);
    let topics: Vec<TopicSpec> = (1..=1 + dice.roll(6))
        .map(|topic| TopicSpec {
            topic_id: TopicId(topic as u128),
            partition_count: 1 + dice.roll(40),
            partition_racks: Vec::new(),
        })
        .collect();
    let all: Arc<[TopicId]> = topics.iter().map(|topic| topic.topic_id).collect();
    let members = 1 + dice.roll(12);
    let mut owned: Vec<Vec<(TopicId, i32)>> = vec![Vec::new(); members];
    for topic in &topics {
        for partition in 0..topic.partition_count {
            if let Some(owned) = owned.get_mut(dice.roll(2 * members)) {
                owned.push((topic.topic_id, partition as i32));
            }
        }
    }
    let member = |(member, owned): (usize, Vec<(TopicId, i32)>)| {
        let subscribed_topics = match subscription_type {
            SubscriptionType::Homogeneous => all.clone(),
            SubscriptionType::Heterogeneous => all.iter().copied().filter(|_| !dice.one_in(3)).collect(),
        };
        MemberSpec {
            member_id: format!("m{member:02}").into(),
            instance_id: dice.one_in(4).then(|| format!("i{}", dice.roll(1_000) * 100 + member).into()),
            rack_id: None,
            subscribed_topics,
            assignment: owned.into_iter().collect(),
        }
    };
    let members = owned.into_iter().enumerate().map(member).collect();
    GroupSpec { subscription_type, members, topics }
}

fn group_specs() -> impl Iterator<Item = GroupSpec> {
    let kinds = [SubscriptionType::Homogeneous, SubscriptionType::Heterogeneous];
    (0..GROUPS).flat_map(move |seed| kinds.map(|kind| group_spec(seed, kind)))
}

fn pairs(assignment: &MemberAssignment) -> BTreeSet<(TopicId, i32)> {
    assignment.iter().flat_map(|(topic, partitions)| partitions.iter().map(move |p| (topic, *p))).collect()
}

/// The group with this assignment.
fn after(group: &GroupSpec, assignments: &[MemberAssignment]) -> GroupSpec {
    let mut group = group.clone();
    for (member, assignment) in group.members.iter_mut().zip(assignments) {
        member.assignment = assignment.clone();
    }
    group
}

#[test]
fn each_partition_has_one_owner_that_subscribes_to_it() {
    for group in group_specs() {
        for assignor in broker_assignors() {
            let assignments = assignor.assign(&group).unwrap();
            assert_eq!(assignments, assignor.assign(&group).unwrap(), "the same once more");
            let mut owned = BTreeSet::new();
            for (member, assignment) in group.members.iter().zip(&assignments) {
                for (topic, partition) in pairs(assignment) {
                    assert!(member.subscribed_topics.contains(&topic), "{group:?}");
                    assert!(owned.insert((topic, partition)), "{topic:?} {partition} twice: {group:?}");
                }
            }
            let subscribed = |id| group.members.iter().any(|member| member.subscribed_topics.contains(id));
            let topics = group.topics.iter().filter(|topic| subscribed(&topic.topic_id));
            let expected: usize = topics.map(|topic| topic.partition_count).sum();
            assert_eq!(owned.len(), expected, "{} {group:?}", assignor.name());
        }
    }
}

#[test]
fn nothing_moves_when_nothing_changed() {
    for group in group_specs() {
        for assignor in broker_assignors() {
            let assignments = assignor.assign(&group).unwrap();
            let again = assignor.assign(&after(&group, &assignments)).unwrap();
            assert_eq!(assignments, again, "{} {group:?}", assignor.name());
        }
        let assignments = UniformAssignor.assign(&group).unwrap();
        let again = UniformAssignor.assign(&after(&group, &assignments)).unwrap();
        let shared = assignments.iter().zip(&again).all(|(before, after)| before.ptr_eq(after));
        assert!(shared, "what is kept is not copied");
    }
}

#[test]
fn uniform_is_balanced_and_takes_nothing_from_who_is_given_something() {
    for seed in 0..GROUPS {
        let group = group_spec(seed, SubscriptionType::Homogeneous);
        let assignments = UniformAssignor.assign(&group).unwrap();
        let loads = || assignments.iter().map(MemberAssignment::partition_count);
        assert!(loads().max() <= loads().min().map(|least| least + 1), "{assignments:?}");
        for (member, assignment) in group.members.iter().zip(&assignments) {
            let (before, now) = (pairs(&member.assignment), pairs(assignment));
            assert!(before.is_subset(&now) || now.is_subset(&before), "{before:?} → {now:?}");
        }
    }
}

#[test]
fn uniform_leaves_no_move_that_would_help_members_of_different_subscriptions() {
    for seed in 0..GROUPS {
        let group = group_spec(seed, SubscriptionType::Heterogeneous);
        let assignments = UniformAssignor.assign(&group).unwrap();
        for (heavy, from) in assignments.iter().enumerate() {
            for (light, to) in assignments.iter().enumerate() {
                let helps = from.partition_count() > to.partition_count() + 1;
                let movable = |topic| group.members[light].subscribed_topics.contains(&topic);
                let moves = from.iter().any(|(topic, _)| movable(topic));
                assert!(!(helps && moves), "{heavy} could give to {light}: {assignments:?} {group:?}");
            }
        }
    }
}

#[test]
fn range_gives_the_same_numbers_of_topics_of_the_same_size() {
    for seed in 0..GROUPS {
        let mut group = group_spec(seed, SubscriptionType::Homogeneous);
        group.topics.iter_mut().for_each(|topic| topic.partition_count = 7);
        for assignment in RangeAssignor.assign(&group).unwrap() {
            let mut topics = assignment.iter().map(|(_, partitions)| partitions);
            let first = topics.next().unwrap_or_default();
            assert!(topics.all(|partitions| partitions == first), "{assignment:?}");
        }
    }
}

/// Topics, and members that may claim what others claim, or what there is not.
fn subscriptions(seed: u64) -> (Vec<Topic>, Vec<Subscription>) {
    let dice = &mut Dice(seed);
    let (alike, racked) = (dice.one_in(2), dice.one_in(3));
    let rack = |dice: &mut Dice| -> Arc<str> { format!("r{}", dice.roll(3)).into() };
    let topics: Vec<Topic> = (0..1 + dice.roll(5))
        .map(|topic| {
            let partition_count = 1 + dice.roll(20);
            let mut racks = || (0..dice.roll(3)).map(|_| rack(dice)).collect();
            let partition_racks = (0..partition_count).filter(|_| racked).map(|_| racks()).collect();
            Topic { name: format!("t{topic}").into(), partition_count, partition_racks }
        })
        .collect();
    let all: Arc<[TopicName]> = topics.iter().map(|topic| topic.name.clone()).collect();
    let members = (0..1 + dice.roll(10)).map(|member| {
        let some: Arc<[TopicName]> = all.iter().filter(|_| !dice.one_in(3)).cloned().collect();
        // A member that subscribes to nothing is taken by Kafka for one that subscribes to what all others do.
        let names = if alike || some.is_empty() { all.clone() } else { some };
        let mut owned = Vec::new();
        // Kafka gives back to a member what it had long ago, whether it still subscribes to that or not.
        for topic in topics.iter().filter(|topic| names.contains(&topic.name)) {
            for partition in 0..=topic.partition_count as i32 {
                if dice.one_in(4) {
                    owned.push(TopicPartition { topic: topic.name.clone(), partition });
                }
            }
        }
        let generation = (!dice.one_in(4)).then(|| dice.roll(3) as i32);
        Subscription {
            member_id: format!("consumer-{}-{member}", dice.roll(1_000)).into(),
            instance_id: dice.one_in(4).then(|| format!("i{}", dice.roll(1_000) * 100 + member).into()),
            rack_id: racked.then(|| rack(dice)),
            topics: names,
            owned_partitions: owned.clone(),
            generation,
            user_data: Some(UserData { previous_assignment: owned, generation }),
        }
    });
    let members = members.collect();
    (topics, members)
}

fn owners(members: &[Subscription], assignment: &[Vec<TopicPartition>]) -> BTreeMap<TopicPartition, usize> {
    let mut owners = BTreeMap::new();
    for (place, (member, partitions)) in members.iter().zip(assignment).enumerate() {
        for partition in partitions {
            assert!(member.topics.contains(&partition.topic), "{partition:?} {member:?}");
            assert_eq!(owners.insert(partition.clone(), place), None, "{partition:?} twice");
        }
    }
    owners
}

fn is_complete(topics: &[Topic], members: &[Subscription], owned: usize) -> bool {
    let subscribed = |name| members.iter().any(|member| member.topics.contains(name));
    let topics = topics.iter().filter(|topic| subscribed(&topic.name));
    topics.map(|topic| topic.partition_count).sum::<usize>() == owned
}

/// The members after they heard of this assignment.
fn rejoined(
    members: &[Subscription],
    assignment: Vec<Vec<TopicPartition>>,
    generation: i32,
) -> Vec<Subscription> {
    let rejoin = |(member, assigned): (&Subscription, Vec<TopicPartition>)| Subscription {
        owned_partitions: assigned.clone(),
        generation: Some(generation),
        user_data: Some(UserData { previous_assignment: assigned, generation: Some(generation) }),
        ..member.clone()
    };
    members.iter().zip(assignment).map(rejoin).collect()
}

#[test]
fn leaders_give_each_partition_to_one_subscriber() {
    for seed in 0..GROUPS {
        let (topics, members) = subscriptions(seed);
        for assignor in [ClientAssignor::Range, ClientAssignor::RoundRobin, ClientAssignor::Sticky] {
            let assignment = assignor.assign(&topics, &members);
            let owned = owners(&members, &assignment).len();
            assert!(is_complete(&topics, &members, owned), "{} seed {seed}: {assignment:?}", assignor.name());
        }
    }
}

#[test]
fn cooperative_sticky_gives_nothing_that_another_holds_and_everything_in_the_end() {
    for seed in 0..GROUPS {
        let (topics, members) = subscriptions(seed);
        let mut members = rejoined(&members, vec![Vec::new(); members.len()], 1);
        let mut held = BTreeMap::new();
        // The beginning; then one in three leaves, and the others rejoin until nothing is left to be done.
        for generation in 2..6 {
            if generation == 3 {
                let left: BTreeSet<usize> = (0..members.len()).filter(|place| place % 3 == 1).collect();
                let mut place = 0..;
                members.retain(|_| !left.contains(&place.next().unwrap()));
            }
            held.clear();
            for (place, member) in members.iter().enumerate() {
                held.extend(member.owned_partitions.iter().map(|partition| (partition.clone(), place)));
            }
            let assignment = ClientAssignor::CooperativeSticky.assign(&topics, &members);
            for (partition, owner) in owners(&members, &assignment) {
                assert!(
                    held.get(&partition).is_none_or(|holder| *holder == owner),
                    "{partition:?} seed {seed}"
                );
            }
            members = rejoined(&members, assignment, generation);
        }
        // With racks it tries for ever to get nearer to them.
        if members.iter().any(|member| member.rack_id.is_some()) {
            continue;
        }
        let owned: usize = members.iter().map(|member| member.owned_partitions.len()).sum();
        assert!(is_complete(&topics, &members, owned), "seed {seed}: {members:?}");
    }
}

#[test]
fn sticky_leaders_balance_members_that_subscribe_alike() {
    for seed in 0..GROUPS {
        let (topics, mut members) = subscriptions(seed);
        let all: Arc<[TopicName]> = topics.iter().map(|topic| topic.name.clone()).collect();
        for member in &mut members {
            // With racks it tries for ever to get nearer to them.
            (member.topics, member.rack_id) = (all.clone(), None);
        }
        let assignment = ClientAssignor::Sticky.assign(&topics, &members);
        let loads = || assignment.iter().map(Vec::len);
        assert!(loads().max() <= loads().min().map(|least| least + 1), "seed {seed}: {assignment:?}");
        let again = ClientAssignor::Sticky.assign(&topics, &rejoined(&members, assignment.clone(), 9));
        let sorted = |assignment: &[Vec<TopicPartition>]| -> Vec<BTreeSet<TopicPartition>> {
            assignment.iter().map(|partitions| partitions.iter().cloned().collect()).collect()
        };
        assert_eq!(sorted(&assignment), sorted(&again), "nothing moves when nothing changed, seed {seed}");
    }
}
