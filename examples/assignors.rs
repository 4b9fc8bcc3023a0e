//! Times the assignors as `AssignorBench.java` times Kafka's: the median of the last 30 of 60 rounds, one figure a line.
//!
//! `cargo run --release --no-default-features --example assignors [PART OF A NAME]`

use std::sync::Arc;
use std::time::Duration;

use rallypoint::assignor::client::{ClientAssignor, Subscription, Topic};
use rallypoint::assignor::{
    GroupSpec, MemberAssignment, MemberSpec, PartitionAssignor, RangeAssignor, SubscriptionType, TopicSpec,
    UniformAssignor,
};
use rallypoint::types::{TopicId, TopicName};

const ROUNDS: usize = 60;

fn main() {
    for assignor in [&UniformAssignor as &dyn PartitionAssignor, &RangeAssignor] {
        for (members, topics, partitions) in
            [(100, 10, 100), (1_000, 100, 100), (1_000, 100, 1_000), (10_000, 100, 1_000)]
        {
            broker(assignor, members, topics, partitions, SubscriptionType::Homogeneous);
        }
    }
    for (members, topics, partitions) in [(100, 10, 100), (1_000, 100, 100)] {
        broker(&UniformAssignor, members, topics, partitions, SubscriptionType::Heterogeneous);
    }
    ClientAssignor::ALL.into_iter().for_each(|assignor| client(assignor, 1_000, 100, 100));
}

/// An assignment from nothing, then one with a member more.
fn broker(
    assignor: &dyn PartitionAssignor,
    members: usize,
    topics: usize,
    partitions: usize,
    subscriptions: SubscriptionType,
) {
    let kind = if subscriptions == SubscriptionType::Heterogeneous { "_hetero" } else { "" };
    let name = format!("{}{kind}_{members}x{}", assignor.name(), topics * partitions);
    if !is_wanted(&name) {
        return;
    }
    let (mut full, mut add_one) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let group = group_spec(members, topics, partitions, subscriptions, &[]);
        let (took, assignments) = timed(|| assignor.assign(&group).expect("an assignment"));
        full.push(took);
        let group = group_spec(members + 1, topics, partitions, subscriptions, &assignments);
        add_one.push(timed(|| assignor.assign(&group).expect("an assignment")).0);
    }
    report(&format!("{name}_full"), full);
    report(&format!("{name}_add_one"), add_one);
}

/// What a leader computes when a group begins.
fn client(assignor: ClientAssignor, members: usize, topics: usize, partition_count: usize) {
    let figure = format!("client_{}_{members}x{}", assignor.name(), topics * partition_count);
    if !is_wanted(&figure) {
        return;
    }
    let name = |topic| TopicName::from(format!("topic{topic}"));
    let names: Arc<[TopicName]> = (0..topics).map(name).collect();
    let topic = |name: &TopicName| Topic { name: name.clone(), partition_count, partition_racks: Vec::new() };
    let topics: Vec<Topic> = names.iter().map(topic).collect();
    let subscription = |member| Subscription {
        member_id: format!("member{member}").into(),
        instance_id: None,
        rack_id: None,
        topics: names.clone(),
        owned_partitions: Vec::new(),
        generation: None,
        user_data: None,
    };
    let subscriptions: Vec<Subscription> = (0..members).map(subscription).collect();
    let rounds = (0..ROUNDS).map(|_| timed(|| assignor.assign(&topics, &subscriptions)).0).collect();
    report(&figure, rounds);
}

/// Of a heterogeneous group every other member subscribes to the first half of the topics only.
fn group_spec(
    members: usize,
    topics: usize,
    partitions: usize,
    subscription_type: SubscriptionType,
    assignments: &[MemberAssignment],
) -> GroupSpec {
    // Ids spread as random ones are.
    let mut ids: Vec<TopicId> = (1..=topics as u128)
        .map(|topic| TopicId(topic.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)))
        .collect();
    ids.sort();
    let all: Arc<[TopicId]> = ids.as_slice().into();
    let half: Arc<[TopicId]> = ids[..topics / 2].into();
    let some = subscription_type == SubscriptionType::Heterogeneous;
    let members = (0..members).map(|member| MemberSpec {
        member_id: format!("member{member:05}").into(),
        instance_id: None,
        rack_id: None,
        subscribed_topics: if some && member % 2 == 1 { half.clone() } else { all.clone() },
        assignment: assignments.get(member).cloned().unwrap_or_default(),
    });
    let topic = |&topic_id| TopicSpec { topic_id, partition_count: partitions, partition_racks: Vec::new() };
    GroupSpec { subscription_type, members: members.collect(), topics: ids.iter().map(topic).collect() }
}

fn is_wanted(name: &str) -> bool {
    std::env::args().nth(1).is_none_or(|part| name.contains(&part))
}

#[expect(clippy::disallowed_methods, reason = "what is measured here is time")]
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = std::time::Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn report(name: &str, mut rounds: Vec<Duration>) {
    let last = &mut rounds[ROUNDS / 2..];
    last.sort();
    println!("{name}\t{:.3}\tms", last[last.len() / 2].as_secs_f64() * 1e3);
}
