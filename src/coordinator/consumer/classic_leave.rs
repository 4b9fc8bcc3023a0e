//! LeaveGroup for members of a consumer group, of either protocol: tools send members away so.
//!
//! Source: GroupMetadataManager.classicGroupLeaveToConsumerGroup.

use super::super::command::{LeaveGroup, Leaver};
use super::super::consumer_event::Departure;
use super::super::error::GroupError;
use super::super::{Coordinator, Step};
use super::ConsumerGroup;
use crate::types::{MemberId, Now};

impl Coordinator {
    /// Takes the leavers out together.
    pub(in super::super) fn leave_consumer_group(
        &mut self,
        now: Now,
        leave: &LeaveGroup<'_>,
        step: &mut Step,
    ) -> Vec<Result<(), GroupError>> {
        let Ok(group) = self.consumer_group(leave.group) else { return Vec::new() };
        let found: Vec<_> = leave.members.iter().map(|leaver| group.find_leaver(leaver)).collect();
        let gone = found.iter().flatten().map(|id| (id.clone(), Departure::Left)).collect();
        self.fence(now, leave.group, gone, step);
        found.into_iter().map(|found| found.map(drop)).collect()
    }
}

impl ConsumerGroup {
    fn find_leaver(&self, leaver: &Leaver<'_>) -> Result<MemberId, GroupError> {
        let id = leaver.member;
        let member = match leaver.instance {
            None => id.and_then(|id| self.member(id)),
            Some(instance) => self.static_member(instance),
        };
        let member = member.ok_or(GroupError::UnknownMemberId)?;
        if leaver.instance.is_some() && id.is_some_and(|id| id != member.id.as_str()) {
            return Err(GroupError::FencedInstanceId);
        }
        Ok(member.id.clone())
    }
}
