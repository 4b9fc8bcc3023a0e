//! What others see of a classic group: lists, descriptions, and its way back from a record.

use std::sync::Arc;

use super::super::Turn;
use super::super::error::GroupError;
use super::super::event::Cause;
use super::super::record::GroupMetadata;
use super::super::reply::{DescribedGroup, JoinReply, ListedGroup, Reply};
use super::super::texts::Texts;
use super::ClassicGroup;
use super::member::Member;
use super::state::State;
use crate::types::{GroupId, Now, ReplyTo};

impl ClassicGroup {
    /// One line of ListGroups.
    pub(in super::super) fn listed(&self) -> ListedGroup<'_> {
        ListedGroup {
            group: &self.id,
            protocol_type: self.protocol_type.as_deref().unwrap_or_default(),
            state: self.state.name(),
            group_type: "classic",
        }
    }

    /// DescribeGroups: protocol and metadata in Stable only, since else they are about to change.
    pub(in super::super) fn described(&self) -> DescribedGroup {
        let protocol = match self.state {
            State::Stable => self.protocol_name.clone(),
            State::Empty | State::PreparingRebalance { .. } | State::CompletingRebalance => None,
        };
        DescribedGroup {
            state: self.state.name(),
            protocol_type: self.protocol_type.clone().unwrap_or_default(),
            members: self.members.iter().map(|m| m.described(protocol.as_deref())).collect(),
            protocol_name: protocol.unwrap_or_default(),
        }
    }

    /// What to answer the members that are parked, if the group goes with its shard.
    pub(in super::super) fn parked(&self, error: GroupError) -> impl Iterator<Item = (ReplyTo, Reply)> {
        self.members.iter().flat_map(move |member| {
            let refused = JoinReply { member: Some(member.id.clone()), outcome: Err(error) };
            let join = member.awaiting_join.map(|from| (from, Reply::JoinGroup(Box::new(refused))));
            let sync = member.awaiting_sync.map(|from| (from, Reply::SyncGroup(Err(error))));
            join.into_iter().chain(sync)
        })
    }

    /// Whether DeleteGroups may drop the group.
    pub(in super::super) fn admit_delete(&self) -> Result<(), GroupError> {
        if self.is_empty() { Ok(()) } else { Err(GroupError::NonEmptyGroup) }
    }

    /// Whether OffsetDelete may look at the group: of other types than `consumer` it cannot tell who reads what.
    pub(in super::super) fn admit_offset_delete(&self) -> Result<(), GroupError> {
        if self.is_empty() || self.protocol_type.as_deref() == Some(super::CONSUMER) {
            Ok(())
        } else {
            Err(GroupError::NonEmptyGroup)
        }
    }

    /// Since when the offsets of the group age, in wall-clock milliseconds. Source: KIP-211,
    /// ClassicGroup.offsetExpirationCondition.
    pub(in super::super) fn offset_age(&self) -> OffsetAge {
        match (&self.protocol_type, self.state) {
            (None, _) => OffsetAge::SinceCommit,
            (Some(_), State::Empty) => OffsetAge::Since(self.state_timestamp_ms),
            (Some(kind), State::Stable) if **kind == *super::CONSUMER && self.subscribed.is_some() => {
                OffsetAge::SinceCommit
            }
            _ => OffsetAge::Never,
        }
    }

    /// Ends all timers of a group that is to be dropped.
    pub(in super::super) fn cancel_timers(&mut self, turn: &mut Turn<'_>) {
        self.cancel_timer(turn);
        let pending: Vec<_> = self.pending.keys().cloned().collect();
        for member in pending {
            self.remove_pending(turn, member.as_str());
        }
    }

    /// The group as its last record gives it back, with nobody parked: Stable or Empty.
    pub(in super::super) fn from_record(
        group: &GroupId,
        value: &GroupMetadata,
        now: Now,
        texts: &mut Texts,
    ) -> Self {
        let mut loaded = Self::new(group.clone(), value.state_timestamp_ms);
        loaded.generation = value.generation;
        loaded.protocol_type.clone_from(&value.protocol_type);
        loaded.protocol_name.clone_from(&value.protocol_name);
        let protocol: Arc<str> = value.protocol_name.clone().unwrap_or_default();
        for member in &value.members {
            loaded.assignment_bytes += member.assignment.len();
            loaded.members.add(Member::from_record(member, protocol.clone(), now.monotonic));
        }
        loaded.leader.clone_from(&value.leader);
        loaded.state = if loaded.members.is_empty() { State::Empty } else { State::Stable };
        loaded.compute_subscribed(texts);
        loaded
    }

    /// The group as a reload should find it. In a rebalance it has no leader, so that [`resume`](Self::resume) begins
    /// it anew; a member that was not told of any generation yet is left out.
    pub(in super::super) fn snapshot(&self) -> GroupMetadata {
        let mut picture = self.to_record();
        if matches!(self.state, State::PreparingRebalance { .. } | State::CompletingRebalance) {
            picture.leader = None;
            picture.members.retain(|m| self.members.get(m.member.as_str()).is_some_and(|m| !m.is_new));
        }
        picture
    }

    /// After a load: everybody has its session timeout to be heard again, and a rebalance that was cut off, or that
    /// is due since `group.max.size` was lowered, begins.
    pub(in super::super) fn resume(&mut self, turn: &mut Turn<'_>) {
        let ids: Vec<_> = self.members.iter().map(|m| m.id.clone()).collect();
        for id in &ids {
            self.renew_session(turn, id.as_str());
        }
        let since_ms = self.state_timestamp_ms;
        let (members, members_max) = (ids.len(), turn.config.group_max_size);
        if self.leader.is_none() && !ids.is_empty() {
            self.leader = ids.into_iter().next();
            self.prepare_rebalance(turn, Cause::CutOff);
        } else if members > members_max {
            self.prepare_rebalance(turn, Cause::OverCapacity { members, members_max });
        }
        self.state_timestamp_ms = since_ms;
    }
}

/// From when on the retention of a group's offsets runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum OffsetAge {
    /// Each offset from its own commit on.
    SinceCommit,
    /// All from this time on, in wall-clock milliseconds.
    Since(i64),
    /// Not while the group is as it is.
    Never,
}
