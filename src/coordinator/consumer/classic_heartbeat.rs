//! Heartbeat of a member of the classic protocol in a consumer group: that it has to join again is how it learns that
//! there is something to give up or to take.
//!
//! Source: GroupMetadataManager.classicGroupHeartbeatToConsumerGroup, ConsumerGroup.waitingOnUnreleasedPartition.

use super::super::Turn;
use super::super::command::Heartbeat;
use super::super::error::GroupError;
use super::super::record::MemberState;
use super::member::{Member, find};
use super::reconcile::partitions_of;
use super::{ConsumerGroup, Timeout};

impl ConsumerGroup {
    /// Renews the session.
    pub(in super::super) fn classic_heartbeat(
        &mut self,
        turn: &mut Turn<'_>,
        heartbeat: &Heartbeat<'_>,
    ) -> Result<(), GroupError> {
        let (member, classic) = self.classic_member(heartbeat.member, heartbeat.instance)?;
        if member.current.epoch != heartbeat.generation {
            return Err(GroupError::IllegalGeneration);
        }
        let session_ms = i64::from(classic.session_timeout_ms);
        let timeout_ms = member.metadata.rebalance_timeout_ms;
        let must_rejoin = member.current.epoch < self.target.epoch
            || match member.current.state {
                MemberState::Stable => false,
                MemberState::UnrevokedPartitions => true,
                MemberState::UnreleasedPartitions => !self.waits_for_others(member),
            };
        self.renew_session(turn, heartbeat.member, session_ms);
        if must_rejoin {
            self.schedule_if_absent(turn, heartbeat.member, Timeout::Join, timeout_ms);
            return Err(GroupError::RebalanceInProgress);
        }
        Ok(())
    }

    /// Whether others still have something that the member is to get.
    fn waits_for_others(&self, member: &Member) -> bool {
        member
            .target
            .iter()
            .flat_map(partitions_of)
            .any(|p| find(&member.current.assigned, p).is_none() && self.is_owned(p))
    }
}
