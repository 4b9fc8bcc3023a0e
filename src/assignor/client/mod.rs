//! The assignors that the leader of a classic group runs, with the results of Kafka's Java client.
//!
//! What `range`, `roundrobin`, `sticky` and `cooperative-sticky` of the Java client give depends in places on the order
//! in which its hash maps hold member ids and topics. That order follows from the texts, so it is reproduced here, and
//! each list of partitions has Java's order too.
//!
//! Differs from Kafka: a bucket of a hash map that holds eight keys or more becomes a tree in Java, which may put
//! another of them first.

mod cooperative;
mod group;
mod racks;
mod range;
mod roundrobin;
mod sticky;

use std::sync::Arc;

use crate::types::{InstanceId, MemberId, TopicName};
use group::Group;

/// One of the assignors of the Java client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAssignor {
    /// Of each topic a stretch for each subscriber.
    Range,
    /// One partition after another, one member after another.
    RoundRobin,
    /// Balanced, with as few moves as possible; everything is revoked before (eager).
    Sticky,
    /// As sticky, but what moves is first taken away, and given in the next rebalance (KIP-429).
    CooperativeSticky,
}

/// A topic that the leader has metadata of.
#[derive(Clone, Debug)]
pub struct Topic {
    /// Its name.
    pub name: TopicName,
    /// How many partitions it has: 0 to this, exclusive.
    pub partition_count: usize,
    /// The racks that hold a replica of each partition; nothing behind the last partition of which they are known.
    pub partition_racks: Vec<Vec<Arc<str>>>,
}

/// What a member sent when it joined. Source: Kafka's ConsumerPartitionAssignor.Subscription.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// Its id.
    pub member_id: MemberId,
    /// Its name, if it is a static member.
    pub instance_id: Option<InstanceId>,
    /// Where it runs (`client.rack`).
    pub rack_id: Option<Arc<str>>,
    /// The topics that it subscribes to, each once. Members may share the list.
    pub topics: Arc<[TopicName]>,
    /// What it holds while it rejoins.
    pub owned_partitions: Vec<TopicPartition>,
    /// The generation in which it was given that.
    pub generation: Option<i32>,
    /// What its assignor remembers.
    pub user_data: Option<UserData>,
}

/// What the sticky assignors send along: both the generation, and `sticky` what the member had in it.
#[derive(Clone, Debug)]
pub struct UserData {
    /// The member's last assignment. Only `sticky` sends it.
    pub previous_assignment: Vec<TopicPartition>,
    /// The generation of that. Very old clients do not send it.
    pub generation: Option<i32>,
}

/// A partition of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopicPartition {
    /// The name of the topic.
    pub topic: TopicName,
    /// The number of the partition.
    pub partition: i32,
}

impl ClientAssignor {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Range, Self::RoundRobin, Self::Sticky, Self::CooperativeSticky];

    /// The name by which members of a group agree on it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::RoundRobin => "roundrobin",
            Self::Sticky => "sticky",
            Self::CooperativeSticky => "cooperative-sticky",
        }
    }

    /// What each member is given, in the order of `subscriptions`, which is that of the members in the JoinGroup response.
    #[must_use]
    pub fn assign(self, topics: &[Topic], subscriptions: &[Subscription]) -> Vec<Vec<TopicPartition>> {
        let group = Group::new(topics, subscriptions);
        let slots = match self {
            Self::Range => range::assign(&group),
            Self::RoundRobin => roundrobin::assign(&group),
            Self::Sticky => sticky::assign(&group, sticky::MemberData::of_sticky).assignment,
            Self::CooperativeSticky => cooperative::assign(&group),
        };
        group.assignment(&slots)
    }
}
