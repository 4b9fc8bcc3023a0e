//! SyncGroup of a member of the classic protocol in a consumer group: it gets what it may have at its epoch, as the
//! Assignment that a leader would have sent.
//!
//! Source: GroupMetadataManager.classicGroupSyncToConsumerGroup.

use std::sync::Arc;

use super::super::Turn;
use super::super::command::SyncGroup;
use super::super::consumer_protocol::{encode_assignment, subscription};
use super::super::error::GroupError;
use super::super::record::{ClassicMemberMetadata, MemberState};
use super::super::reply::Synced;
use super::member::Member;
use super::{CONSUMER, ConsumerGroup, Timeout};
use crate::assignor::MemberAssignment;
use crate::types::TopicImage;

impl ConsumerGroup {
    /// Answers a SyncGroup.
    pub(in super::super) fn sync(
        &mut self,
        turn: &mut Turn<'_>,
        topics: &dyn TopicImage,
        sync: &SyncGroup<'_>,
    ) -> Result<Synced, GroupError> {
        if self.is_empty() {
            return Err(GroupError::UnknownMemberId);
        }
        let (member, classic) = self.classic_member(sync.member, sync.instance)?;
        if member.current.epoch != sync.generation {
            return Err(GroupError::IllegalGeneration);
        }
        let protocol = classic.protocols.first().map(|(name, _)| &**name);
        if sync.protocol_type.is_some_and(|given| given != CONSUMER)
            || sync.protocol_name.is_some_and(|given| Some(given) != protocol)
        {
            return Err(GroupError::InconsistentGroupProtocol);
        }
        if self.target.epoch > member.current.epoch
            && member.current.state != MemberState::UnrevokedPartitions
        {
            let timeout_ms = member.metadata.rebalance_timeout_ms;
            self.schedule_if_absent(turn, sync.member, Timeout::Join, timeout_ms);
            return Err(GroupError::RebalanceInProgress);
        }
        let synced = Synced {
            protocol_type: sync.protocol_type.map(Arc::from),
            protocol_name: sync.protocol_name.map(Arc::from),
            assignment: assignment(member, classic, topics).into(),
        };
        let session_ms = i64::from(classic.session_timeout_ms);
        self.cancel(turn, sync.member, Timeout::Sync);
        self.renew_session(turn, sync.member, session_ms);
        Ok(synced)
    }

    /// A member that speaks the classic protocol.
    pub(super) fn classic_member(
        &self,
        id: &str,
        instance: Option<&str>,
    ) -> Result<(&Member, &ClassicMemberMetadata), GroupError> {
        let member = match instance {
            None => self.member(id).ok_or(GroupError::UnknownMemberId)?,
            Some(instance) => {
                let holder = self.static_member(instance).ok_or(GroupError::UnknownMemberId)?;
                if holder.id.as_str() != id {
                    return Err(GroupError::FencedInstanceId);
                }
                holder
            }
        };
        let classic = member.metadata.classic.as_ref().ok_or(GroupError::UnknownMemberId)?;
        Ok((member, classic))
    }
}

fn assignment(member: &Member, classic: &ClassicMemberMetadata, topics: &dyn TopicImage) -> Vec<u8> {
    let partitions = member.current.assigned.iter().map(|o| (o.partition.topic, o.partition.partition));
    encode_partitions(&partitions.collect(), classic, topics)
}

/// Partitions as an Assignment at the version of the member's first protocol.
pub(in super::super) fn encode_partitions(
    partitions: &MemberAssignment,
    classic: &ClassicMemberMetadata,
    topics: &dyn TopicImage,
) -> Vec<u8> {
    let version = classic
        .protocols
        .first()
        .and_then(|(_, metadata)| subscription(metadata))
        .map_or(0, |subscription| subscription.version);
    let by_topic: Vec<(&str, &[i32])> = partitions
        .iter()
        .filter_map(|(topic, partitions)| Some((topics.topic_by_id(topic)?.name.as_str(), partitions)))
        .collect();
    encode_assignment(version, &by_topic)
}
