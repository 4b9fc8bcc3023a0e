//! Who gets which partitions: a view of a group → an assignment for each of its members.
//!
//! [`UniformAssignor`] and [`RangeAssignor`] are the two that the broker runs for a consumer group (KIP-848). A program
//! that embeds the server adds its own by implementing [`PartitionAssignor`] and handing it to the server's `Builder`.
//!
//! [`client`] has the four that the leader of a classic group runs in its own process.
//!
//! Everything here is a function of its arguments. For members and topics in ascending order the results are those of
//! Kafka's classes, partition by partition.
//!
//! Differs from Kafka: `uniform` visits members and topics in ascending order of their ids. Kafka does so in the order of
//! its hash maps, which random ids make a random one.

pub mod client;

mod guarded;
mod member_assignment;
mod partition_space;
mod range;
mod slots;
mod subscriptions;
mod uniform;

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::java;
use crate::types::{InstanceId, MemberId, TopicId};

pub(crate) use guarded::Guarded;
pub use member_assignment::MemberAssignment;
pub use range::RangeAssignor;
pub use uniform::UniformAssignor;

/// Computes the target assignment of a group. Source: Kafka's ConsumerGroupPartitionAssignor.
pub trait PartitionAssignor: fmt::Debug + Send + Sync {
    /// The name by which members ask for it and `group.consumer.assignors` lists it.
    fn name(&self) -> &str;

    /// One assignment for each of `group.members`, in their order.
    ///
    /// Every partition of a subscribed topic is to be given to one of its subscribers, and never to two: what nobody gets
    /// nobody reads.
    ///
    /// # Errors
    /// Says why there is none. The group keeps the assignment that it has.
    fn assign(&self, group: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError>;
}

/// The assignors that Kafka brings along; the first is the default.
#[must_use]
pub fn broker_assignors() -> [Arc<dyn PartitionAssignor>; 2] {
    [Arc::new(UniformAssignor), Arc::new(RangeAssignor)]
}

/// What an assignor sees of a group. Source: Kafka's GroupSpec and SubscribedTopicDescriber.
#[derive(Clone, Debug)]
pub struct GroupSpec {
    /// Whether all members subscribe to the same topics.
    pub subscription_type: SubscriptionType,
    /// In ascending order of their ids.
    pub members: Vec<MemberSpec>,
    /// Every topic that a member subscribes to, in ascending order of their ids.
    pub topics: Vec<TopicSpec>,
}

/// A member of a group. Source: Kafka's MemberSubscription and MemberAssignment.
#[derive(Clone, Debug)]
pub struct MemberSpec {
    /// Its id.
    pub member_id: MemberId,
    /// Its name, if it is a static member.
    pub instance_id: Option<InstanceId>,
    /// Where it runs (`client.rack`).
    pub rack_id: Option<Arc<str>>,
    /// The topics that it subscribes to and that exist, in ascending order. Members may share the list.
    pub subscribed_topics: Arc<[TopicId]>,
    /// What it is to have according to the present target assignment. No partition is another's as well.
    pub assignment: MemberAssignment,
}

/// A topic that a group subscribes to.
#[derive(Clone, Debug)]
pub struct TopicSpec {
    /// Its id.
    pub topic_id: TopicId,
    /// How many partitions it has: 0 to this, exclusive.
    pub partition_count: usize,
    /// The racks that hold a replica of each partition; nothing behind the last partition of which they are known.
    pub partition_racks: Vec<Vec<Arc<str>>>,
}

/// Whether all members of a group subscribe to the same topics. Source: Kafka's SubscriptionType.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriptionType {
    /// They do.
    Homogeneous,
    /// They do not.
    Heterogeneous,
}

impl SubscriptionType {
    /// What the subscriptions of these members are, by the topics that exist.
    #[must_use]
    pub fn of(members: &[MemberSpec]) -> Self {
        let same = |pair: &[MemberSpec]| {
            let (a, b) = (&pair[0].subscribed_topics, &pair[1].subscribed_topics);
            Arc::ptr_eq(a, b) || a == b
        };
        if members.windows(2).all(same) { Self::Homogeneous } else { Self::Heterogeneous }
    }
}

/// Why an assignor gives no assignment. Source: Kafka's PartitionAssignorException.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionAssignorError(pub String);

impl PartitionAssignorError {
    fn unknown_topic(topic_id: TopicId) -> Self {
        Self(format!("Members are subscribed to {topic_id:?}, which is not among the topics of the group"))
    }
}

impl fmt::Display for PartitionAssignorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PartitionAssignorError {}

impl GroupSpec {
    /// The places in `topics` of these topics, which are in ascending order.
    fn topic_indices(&self, topic_ids: &[TopicId]) -> Result<Vec<usize>, PartitionAssignorError> {
        let mut finder = TopicFinder::new(&self.topics, |topic| topic.topic_id);
        let index = |&id: &TopicId| finder.find(id).ok_or_else(|| PartitionAssignorError::unknown_topic(id));
        topic_ids.iter().map(index).collect()
    }
}

/// Static members by their names, then the others by their ids: the order in which `range` serves them.
fn compare_members(a: (&Option<InstanceId>, &MemberId), b: (&Option<InstanceId>, &MemberId)) -> Ordering {
    match (a.0, b.0) {
        (Some(a), Some(b)) => java::compare(a.as_str(), b.as_str()),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => java::compare(a.1.as_str(), b.1.as_str()),
    }
}

/// Finds ascending ids in an ascending list, quickly where the next is the next.
struct TopicFinder<'a, T> {
    list: &'a [T],
    id: fn(&T) -> TopicId,
    next: usize,
}

impl<'a, T> TopicFinder<'a, T> {
    fn new(list: &'a [T], id: fn(&T) -> TopicId) -> Self {
        Self { list, id, next: 0 }
    }

    /// The place of `topic_id`, which is greater than all that were asked for before.
    fn find(&mut self, topic_id: TopicId) -> Option<usize> {
        let rest = &self.list[self.next..];
        let skipped = match rest.first() {
            Some(topic) if (self.id)(topic) == topic_id => 0,
            _ => rest.binary_search_by_key(&topic_id, self.id).ok()?,
        };
        self.next += skipped + 1;
        Some(self.next - 1)
    }
}
