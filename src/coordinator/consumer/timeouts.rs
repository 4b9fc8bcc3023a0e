//! How long members may stay silent, may keep what they are to give up, and, in the classic protocol, may take to join
//! and to sync. Source: the `scheduleConsumerGroup…Timeout` of GroupMetadataManager.

use super::super::consumer_event::Departure;
use super::super::record::MemberState;
use super::super::timer::TimerKey;
use super::super::{Coordinator, Step, Turn};
use super::ConsumerGroup;
use super::member::Member;
use crate::types::{GroupId, MemberId, Now};

/// What a member may be late with, besides its heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Timeout {
    /// To give partitions up.
    Revocation,
    /// To join again, in the classic protocol.
    Join,
    /// To sync, in the classic protocol.
    Sync,
}

impl Timeout {
    const ALL: [Self; 3] = [Self::Revocation, Self::Join, Self::Sync];
}

impl ConsumerGroup {
    /// Gives a member so much time to be heard again.
    pub(super) fn renew_session(&mut self, turn: &mut Turn<'_>, member: &str, timeout_ms: i64) {
        let group = &self.id;
        if let Some(member) = self.members.get_mut(member) {
            let Member { id, soft, .. } = &mut **member;
            soft.lease.renew(turn.timers, turn.now.after(timeout_ms), || session_key(group, id));
        }
    }

    /// Gives a member its rebalance timeout to give up what it was told to.
    pub(super) fn begin_revocation(&mut self, turn: &mut Turn<'_>, member: &str) {
        let Some(found) = self.members.get_mut(member) else { return };
        found.soft.revocation_epoch = found.current.epoch;
        let timeout_ms = found.metadata.rebalance_timeout_ms;
        self.schedule(turn, member, Timeout::Revocation, timeout_ms);
    }

    pub(super) fn end_revocation(&mut self, turn: &mut Turn<'_>, member: &str) {
        self.cancel(turn, member, Timeout::Revocation);
    }

    pub(super) fn schedule(&mut self, turn: &mut Turn<'_>, member: &str, timeout: Timeout, timeout_ms: i32) {
        self.cancel(turn, member, timeout);
        let at = turn.now.after(timeout_ms.into());
        if let Some(member) = self.members.get_mut(member) {
            turn.timers.insert(at, timeout_key(&self.id, &member.id, timeout));
            member.soft.timeouts[timeout as usize] = Some(at);
        }
    }

    pub(super) fn schedule_if_absent(
        &mut self,
        turn: &mut Turn<'_>,
        member: &str,
        timeout: Timeout,
        timeout_ms: i32,
    ) {
        let is_absent = self.member(member).is_some_and(|m| m.soft.timeouts[timeout as usize].is_none());
        if is_absent {
            self.schedule(turn, member, timeout, timeout_ms);
        }
    }

    pub(super) fn cancel(&mut self, turn: &mut Turn<'_>, member: &str, timeout: Timeout) {
        if let Some(member) = self.members.get_mut(member)
            && let Some(at) = member.soft.timeouts[timeout as usize].take()
        {
            turn.timers.remove(at, timeout_key(&self.id, &member.id, timeout));
        }
    }

    /// Ends everything that runs for a member.
    pub(super) fn cancel_timers(&mut self, turn: &mut Turn<'_>, member: &str) {
        for timeout in Timeout::ALL {
            self.cancel(turn, member, timeout);
        }
        let group = &self.id;
        if let Some(member) = self.members.get_mut(member) {
            let Member { id, soft, .. } = &mut **member;
            soft.lease.cancel(turn.timers, || session_key(group, id));
        }
    }

    /// Ends everything that runs for the group, which is to be dropped.
    pub(in super::super) fn cancel_all_timers(&mut self, turn: &mut Turn<'_>) {
        let members: Vec<MemberId> = self.members.keys().cloned().collect();
        for member in members {
            self.cancel_timers(turn, member.as_str());
        }
    }

    /// After a load: everybody has time to be heard again.
    pub(in super::super) fn resume(&mut self, turn: &mut Turn<'_>) {
        let members: Vec<MemberId> = self.members.keys().cloned().collect();
        let configured_ms = turn.config.consumer.settings.session_timeout_ms;
        for id in members {
            let Some(member) = self.member(id.as_str()) else { continue };
            let session_ms = member.classic_session_timeout_ms().unwrap_or(configured_ms);
            let is_revoking = member.current.state == MemberState::UnrevokedPartitions;
            self.renew_session(turn, id.as_str(), session_ms.into());
            if is_revoking {
                self.begin_revocation(turn, id.as_str());
            }
        }
    }

    /// The entry of a session has fired; tells whether the session is over.
    fn session_fired(&mut self, turn: &mut Turn<'_>, member: &str) -> bool {
        let group = &self.id;
        self.members.get_mut(member).is_some_and(|member| {
            let Member { id, soft, .. } = &mut **member;
            soft.lease.fired(turn.timers, turn.now.monotonic, || session_key(group, id))
        })
    }

    /// A timeout is over; tells whether the member was late.
    fn timeout_fired(&mut self, member: &str, timeout: Timeout) -> bool {
        let Some(member) = self.members.get_mut(member) else { return false };
        member.soft.timeouts[timeout as usize] = None;
        timeout != Timeout::Revocation || member.current.epoch == member.soft.revocation_epoch
    }
}

impl Coordinator {
    /// A member may have been silent for too long.
    pub(in super::super) fn consumer_session_fired(
        &mut self,
        now: Now,
        group: &GroupId,
        member: &MemberId,
        step: &mut Step,
    ) {
        let is_over = self.with_consumer_group(now, group.as_str(), step, |group, turn| {
            group.session_fired(turn, member.as_str())
        });
        if is_over == Some(true) {
            self.fence(now, group.as_str(), vec![(member.clone(), Departure::SessionExpired)], step);
        }
    }

    /// A member may be late with something.
    pub(in super::super) fn consumer_timeout_fired(
        &mut self,
        now: Now,
        group: &GroupId,
        member: &MemberId,
        timeout: Timeout,
        step: &mut Step,
    ) {
        let is_late = self.with_consumer_group(now, group.as_str(), step, |group, _| {
            group.timeout_fired(member.as_str(), timeout)
        });
        if is_late == Some(true) {
            let why = match timeout {
                Timeout::Revocation => Departure::RevocationTimedOut,
                Timeout::Join => Departure::JoinTimedOut,
                Timeout::Sync => Departure::SyncTimedOut,
            };
            self.fence(now, group.as_str(), vec![(member.clone(), why)], step);
        }
    }
}

fn session_key(group: &GroupId, member: &MemberId) -> TimerKey {
    TimerKey::Session(group.clone(), member.clone())
}

fn timeout_key(group: &GroupId, member: &MemberId, timeout: Timeout) -> TimerKey {
    TimerKey::Member(group.clone(), member.clone(), timeout)
}
