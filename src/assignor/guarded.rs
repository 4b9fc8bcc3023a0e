//! An assignor that is not ours: whatever it does, the coordinator gets an assignment that can be, or none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::slots::Slots;
use super::{GroupSpec, MemberAssignment, PartitionAssignor, PartitionAssignorError, TopicFinder};
use crate::limits::ASSIGNOR_ERROR_CHARS_MAX;

/// Keeps to the contract of [`PartitionAssignor`] for another, which may panic or give what there is not.
///
/// Kafka answers any exception of an assignor with UNKNOWN_SERVER_ERROR, and the group keeps what it has.
#[derive(Debug)]
pub(crate) struct Guarded {
    assignor: Arc<dyn PartitionAssignor>,
    /// What it was called when it was handed over: every request that names an assignor compares this.
    name: String,
}

impl PartitionAssignor for Guarded {
    fn name(&self) -> &str {
        &self.name
    }

    fn assign(&self, group: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
        // What it was told is not changed by a panic; what it keeps for itself is its own affair.
        let assigned = catch_unwind(AssertUnwindSafe(|| self.assignor.assign(group)));
        let assigned = assigned.unwrap_or_else(|_| Err(self.error("panicked"))).map_err(shortened)?;
        self.check(group, &assigned)?;
        Ok(assigned)
    }
}

impl Guarded {
    pub(crate) fn new(assignor: Arc<dyn PartitionAssignor>) -> Self {
        let name = assignor.name().to_owned();
        Self { assignor, name }
    }

    // Differs from Kafka: the result of an assignor is checked. There it may give one partition to several members, of
    // which all but one wait for ever.
    fn check(&self, group: &GroupSpec, assigned: &[MemberAssignment]) -> Result<(), PartitionAssignorError> {
        if assigned.len() != group.members.len() {
            let (given, members) = (assigned.len(), group.members.len());
            return Err(self.error(&format!("gave {given} assignments to {members} members")));
        }
        let slots = Slots::new(group.topics.iter().map(|topic| topic.partition_count));
        let mut is_given = vec![false; slots.len()];
        for (member, assignment) in group.members.iter().zip(assigned) {
            let mut topics = TopicFinder::new(&group.topics, |topic| topic.topic_id);
            for (topic_id, partitions) in assignment.iter() {
                let is_subscribed = member.subscribed_topics.binary_search(&topic_id).is_ok();
                let Some(topic) = topics.find(topic_id).filter(|_| is_subscribed) else {
                    let member = &member.member_id;
                    return Err(self.error(&format!("gave {member} a topic that it does not subscribe to")));
                };
                for &partition in partitions {
                    let Some(slot) = slots.slot(topic, partition) else {
                        return Err(
                            self.error(&format!("gave away partition {partition}, which there is not"))
                        );
                    };
                    if std::mem::replace(&mut is_given[slot], true) {
                        return Err(self.error(&format!("gave partition {partition} to two members")));
                    }
                }
            }
        }
        Ok(())
    }

    fn error(&self, what: &str) -> PartitionAssignorError {
        PartitionAssignorError(format!("the assignor {} {what}", self.name))
    }
}

/// The reason is part of an answer, whose texts have no more than 32,767 bytes.
fn shortened(PartitionAssignorError(mut reason): PartitionAssignorError) -> PartitionAssignorError {
    if let Some((end, _)) = reason.char_indices().nth(ASSIGNOR_ERROR_CHARS_MAX) {
        reason.truncate(end);
    }
    PartitionAssignorError(reason)
}

#[cfg(test)]
mod tests {
    use super::super::{MemberSpec, SubscriptionType, TopicSpec};
    use super::*;
    use crate::types::TopicId;

    type Pairs = &'static [(u128, i32)];

    /// Gives what it is told to.
    #[derive(Debug)]
    struct Gives(&'static [Pairs]);

    impl PartitionAssignor for Gives {
        fn name(&self) -> &str {
            "gives"
        }

        fn assign(&self, _: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
            let of = |pairs: &Pairs| pairs.iter().map(|&(topic, p)| (TopicId(topic), p)).collect();
            Ok(self.0.iter().map(of).collect())
        }
    }

    #[derive(Debug)]
    struct Panics;

    impl PartitionAssignor for Panics {
        fn name(&self) -> &str {
            "panics"
        }

        fn assign(&self, _: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
            panic!("a bug")
        }
    }

    /// Two members: both subscribe to topic 1 of two partitions, the first also to topic 2 of one.
    fn outcome(assignor: impl PartitionAssignor + 'static) -> Result<Vec<usize>, String> {
        let member = |id: &str, topics: &[u128]| MemberSpec {
            member_id: id.into(),
            instance_id: None,
            rack_id: None,
            subscribed_topics: topics.iter().copied().map(TopicId).collect(),
            assignment: MemberAssignment::default(),
        };
        let topic = |id, partition_count| TopicSpec {
            topic_id: TopicId(id),
            partition_count,
            partition_racks: Vec::new(),
        };
        let group = GroupSpec {
            subscription_type: SubscriptionType::Heterogeneous,
            members: vec![member("a", &[1, 2]), member("b", &[1])],
            topics: vec![topic(1, 2), topic(2, 1)],
        };
        let counts = |assigned: Vec<MemberAssignment>| {
            assigned.iter().map(MemberAssignment::partition_count).collect()
        };
        Guarded::new(Arc::new(assignor)).assign(&group).map(counts).map_err(|error| error.0)
    }

    #[test]
    fn what_can_be_is_passed_on() {
        assert_eq!(outcome(Gives(&[&[(1, 0), (2, 0)], &[(1, 1)]])), Ok(vec![2, 1]));
        assert_eq!(outcome(Gives(&[&[], &[(1, 1)]])), Ok(vec![0, 1]), "nobody has to get everything");
    }

    #[test]
    fn what_cannot_be_is_an_error_that_says_so() {
        let wrong: [(&'static [Pairs], &str); 7] = [
            (&[&[]], "gave 1 assignments to 2 members"),
            (&[&[], &[], &[]], "gave 3 assignments to 2 members"),
            (&[&[(3, 0)], &[]], "gave a a topic that it does not subscribe to"),
            (&[&[], &[(2, 0)]], "gave b a topic that it does not subscribe to"),
            (&[&[(1, 2)], &[]], "gave away partition 2, which there is not"),
            (&[&[(1, -1)], &[]], "gave away partition -1, which there is not"),
            (&[&[(1, 1)], &[(1, 1)]], "gave partition 1 to two members"),
        ];
        for (given, message) in wrong {
            assert_eq!(outcome(Gives(given)), Err(format!("the assignor gives {message}")));
        }
        assert_eq!(outcome(Panics), Err("the assignor panics panicked".to_owned()));
    }

    /// Refuses at length.
    #[derive(Debug)]
    struct Laments;

    impl PartitionAssignor for Laments {
        fn name(&self) -> &str {
            "laments"
        }

        fn assign(&self, _: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
            Err(PartitionAssignorError("é".repeat(100_000)))
        }
    }

    #[test]
    fn a_reason_is_cut_to_what_an_answer_can_say() {
        assert_eq!(outcome(Laments), Err("é".repeat(ASSIGNOR_ERROR_CHARS_MAX)));
    }
}
