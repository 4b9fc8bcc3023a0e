//! `range`: of each topic, a stretch of partitions for each subscriber; the same stretch in topics of the same size.

use std::ops::Range;

use super::member_assignment::Builder;
use super::subscriptions::Subscriptions;
use super::{GroupSpec, MemberAssignment, PartitionAssignor, PartitionAssignorError, compare_members};

/// Divides each topic by itself, so that topics with equal partitions and subscribers are co-partitioned. Source: Kafka's
/// server-side RangeAssignor.
///
/// It looks at nobody's present assignment: what makes it sticky is that the order of the members is. Static members
/// come first, by their names, which outlive their processes; then the others, by their ids.
#[derive(Clone, Copy, Debug, Default)]
pub struct RangeAssignor;

impl PartitionAssignor for RangeAssignor {
    fn name(&self) -> &str {
        "range"
    }

    fn assign(&self, group: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
        let mut order: Vec<usize> = (0..group.members.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&group.members[a], &group.members[b]);
            compare_members((&a.instance_id, &a.member_id), (&b.instance_id, &b.member_id))
        });

        let subscriptions = Subscriptions::resolve(group)?;
        let subscribers = subscriptions.subscriber_counts(group.topics.len());
        let mut topics: Vec<Stretches> = group
            .topics
            .iter()
            .zip(subscribers)
            .map(|(topic, subscribers)| Stretches { start: 0, end: topic.partition_count, subscribers })
            .collect();

        let mut left: usize =
            topics.iter().filter(|topic| topic.subscribers > 0).map(|topic| topic.end).sum();
        let mut assignments = vec![MemberAssignment::default(); group.members.len()];
        let mut builder = Builder::default();
        for member in order {
            // With more members than partitions most of them go away empty-handed.
            if left == 0 {
                break;
            }
            for &topic in subscriptions.topics(member) {
                let stretch = topics[topic].next();
                left -= stretch.len();
                builder.push(group.topics[topic].topic_id, stretch.map(|partition| partition as i32));
            }
            assignments[member] = builder.build();
        }
        Ok(assignments)
    }
}

/// The partitions of a topic, cut into stretches whose lengths differ by one at most, longer ones first.
struct Stretches {
    start: usize,
    end: usize,
    subscribers: usize,
}

impl Stretches {
    /// The stretch of the next of the subscribers.
    fn next(&mut self) -> Range<usize> {
        let length = (self.end - self.start).div_ceil(self.subscribers);
        self.subscribers -= 1;
        let stretch = self.start..self.start + length;
        self.start = stretch.end;
        stretch
    }
}
