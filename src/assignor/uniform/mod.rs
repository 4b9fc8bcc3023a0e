//! `uniform`: the same number of partitions for everybody, and as few moves as possible.

mod balancer;
mod heterogeneous;
mod homogeneous;

use super::{GroupSpec, MemberAssignment, PartitionAssignor, PartitionAssignorError, SubscriptionType};

/// Balances over all topics within one partition and moves no more than that takes. Source: Kafka's UniformAssignor.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformAssignor;

impl PartitionAssignor for UniformAssignor {
    fn name(&self) -> &str {
        "uniform"
    }

    fn assign(&self, group: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
        match group.subscription_type {
            SubscriptionType::Homogeneous => homogeneous::assign(group),
            SubscriptionType::Heterogeneous => heterogeneous::assign(group),
        }
    }
}
