//! Groups whose members compute the assignment themselves: JoinGroup, SyncGroup, Heartbeat, LeaveGroup.
//!
//! The coordinator gathers the members, lets their votes choose a protocol, and carries opaque bytes from the
//! leader to the rest. Source: kafka ClassicGroup and the `classicGroup…` half of GroupMetadataManager.
//!
//! A rebalance in progress is soft state, as in Kafka: a GroupMetadata record is written when the leader has
//! synced or the group turns empty, and after a reload the members simply rejoin.

mod convert;
mod heartbeat;
mod join;
mod leave;
mod member;
mod members;
mod rebalance;
mod state;
mod static_member;
mod sync;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Turn;
use super::consumer_protocol::subscribed_topics;
use super::error::GroupError;
use super::event::Event;
use super::texts::Texts;
use super::timer::{Lease, TimerKey};
use super::vec_map::VecMap;
use super::weight::{GROUP_BYTES, MEMBER_BYTES};
use crate::types::{GroupId, InstanceId, MemberId, Millis};
pub(super) use convert::Joining;
use members::Members;
use state::State;
pub(super) use view::OffsetAge;

/// The protocol type of consumers, whose metadata the coordinator can read.
const CONSUMER: &str = "consumer";

/// A classic group.
#[derive(Clone, Debug)]
pub(super) struct ClassicGroup {
    id: GroupId,
    state: State,
    generation: i32,
    protocol_type: Option<Arc<str>>,
    protocol_name: Option<Arc<str>>,
    leader: Option<MemberId>,
    members: Members,
    /// Ids that were handed out and not used yet (KIP-394).
    pending: VecMap<MemberId, Lease>,
    /// What those take, in bytes.
    pending_bytes: usize,
    /// What the leader's last assignment takes, in bytes.
    assignment_bytes: usize,
    /// What the members read, in order, where that is known.
    subscribed: Option<Box<[Arc<str>]>>,
    /// Wall-clock milliseconds since which the group is in its state.
    state_timestamp_ms: i64,
    /// When the rebalance began that is in progress, or that led to this generation.
    rebalance_since: Millis,
    /// Where the entry of `TimerKey::Rebalance` stands in the deadline table.
    rebalance_timer: Option<Millis>,
}

impl ClassicGroup {
    pub(super) fn new(id: GroupId, wall_ms: i64) -> Self {
        Self {
            id,
            state: State::Empty,
            generation: 0,
            protocol_type: None,
            protocol_name: None,
            leader: None,
            members: Members::default(),
            pending: VecMap::default(),
            pending_bytes: 0,
            assignment_bytes: 0,
            subscribed: None,
            state_timestamp_ms: wall_ms,
            rebalance_since: Millis::default(),
            rebalance_timer: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state == State::Empty
    }

    /// What the group takes in memory, about; without its offsets.
    pub(super) fn bytes(&self) -> usize {
        GROUP_BYTES
            + self.id.as_str().len()
            + self.members.bytes()
            + self.pending_bytes
            + self.assignment_bytes
    }

    fn is_leader(&self, member: &str) -> bool {
        self.leader.as_ref().is_some_and(|leader| leader.as_str() == member)
    }

    /// Checks that the member exists and, if it gives an instance id, that it holds it.
    ///
    /// # Errors
    /// `UnknownMemberId`, `FencedInstanceId`. Source: ClassicGroup.validateMember.
    fn validate_member(
        &self,
        turn: &mut Turn<'_>,
        member: &str,
        instance: Option<&str>,
        operation: &'static str,
    ) -> Result<(), GroupError> {
        if let Some(instance) = instance {
            let holder = self.members.static_member(instance).ok_or(GroupError::UnknownMemberId)?;
            if holder.as_str() != member {
                turn.step.events.push(Event::MemberFenced {
                    group: self.id.clone(),
                    instance: InstanceId::from(instance),
                    member: Arc::from(member),
                    holder: holder.clone(),
                    operation,
                });
                return Err(GroupError::FencedInstanceId);
            }
        }
        match self.members.get(member) {
            Some(_) => Ok(()),
            None => Err(GroupError::UnknownMemberId),
        }
    }

    /// Gives a member its session timeout from now on.
    fn renew_session(&mut self, turn: &mut Turn<'_>, member: &str) {
        let timeout_ms = self.members.get(member).map_or(0, |m| i64::from(m.session_timeout_ms));
        self.renew_session_by(turn, member, timeout_ms);
    }

    fn renew_session_by(&mut self, turn: &mut Turn<'_>, member: &str, timeout_ms: i64) {
        let group = &self.id;
        if let Some(m) = self.members.get_mut(member) {
            m.last_heard = turn.now.monotonic;
            let id = m.id.clone();
            m.lease.renew(turn.timers, turn.now.after(timeout_ms), || {
                TimerKey::Session(group.clone(), id.clone())
            });
        }
    }

    /// Takes a member out, with its timers. The leader's place goes to the first of those that stay.
    fn remove_member(&mut self, turn: &mut Turn<'_>, member: &str) -> Option<member::Member> {
        let mut gone = self.members.remove(member)?;
        gone.lease.cancel(turn.timers, || TimerKey::Session(self.id.clone(), gone.id.clone()));
        self.replace_leader_if_gone();
        Some(gone)
    }

    fn remove_pending(&mut self, turn: &mut Turn<'_>, member: &str) {
        if let Some(mut lease) = self.pending.remove(member) {
            self.pending_bytes -= MEMBER_BYTES + member.len();
            lease.cancel(turn.timers, || TimerKey::Session(self.id.clone(), MemberId::from(member)));
        }
    }

    fn replace_leader_if_gone(&mut self) {
        let gone = self.leader.as_ref().is_some_and(|leader| self.members.get(leader.as_str()).is_none());
        if gone {
            self.leader = self.members.iter().next().map(|m| m.id.clone());
        }
    }

    /// Reads off the members' metadata what the group is subscribed to. Source: ClassicGroup.computeSubscribedTopics.
    fn compute_subscribed(&mut self, texts: &mut Texts) {
        self.subscribed = match (&self.protocol_type, &self.protocol_name) {
            (Some(kind), _) if **kind == *CONSUMER && self.members.is_empty() => Some(Box::default()),
            (Some(kind), Some(protocol)) if **kind == *CONSUMER => {
                let mut topics = BTreeSet::new();
                let readable = self.members.iter().all(|member| {
                    let metadata = member.metadata(Some(protocol));
                    let read = subscribed_topics(&metadata);
                    topics.extend(read.iter().flatten().map(|topic| texts.share(topic)));
                    read.is_some()
                });
                readable.then(|| topics.into_iter().collect())
            }
            _ => None,
        };
    }

    /// Whether a member reads the topic. Where Kafka cannot read the members' metadata, every topic counts.
    pub(super) fn is_subscribed(&self, topic: &str) -> bool {
        match &self.subscribed {
            Some(topics) => topics.binary_search_by(|known| (**known).cmp(topic)).is_ok(),
            None => self.protocol_type.as_deref() == Some(CONSUMER),
        }
    }
}
