//! The deadline table: which timer fires when. Nothing here reads a clock.

use std::collections::BTreeSet;

use super::consumer::Timeout;
use crate::types::{GroupId, MemberId, Millis};

/// What a timer is about. The order of the variants and of their fields is the order in which timers of one
/// deadline fire.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TimerKey {
    /// The end of a group's join phase, or of its sync phase: never both, so one timer serves.
    Rebalance(GroupId),
    /// A member, or a member id that was handed out, was not heard of for its session timeout.
    Session(GroupId, MemberId),
    /// A member of a consumer group is late with something.
    Member(GroupId, MemberId, Timeout),
    /// Look for offsets past their retention (`offsets.retention.check.interval.ms`).
    OffsetRetention,
}

/// All timers of one shard, each at most once.
///
/// A heartbeat does not come here: it moves the member's own deadline, and the timer looks at that when it
/// fires (see [`Lease`]).
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    due: BTreeSet<(Millis, TimerKey)>,
}

impl Timers {
    pub(super) fn insert(&mut self, at: Millis, key: TimerKey) {
        self.due.insert((at, key));
    }

    pub(super) fn remove(&mut self, at: Millis, key: TimerKey) {
        self.due.remove(&(at, key));
    }

    /// Takes the first timer that is due.
    pub(super) fn pop_due(&mut self, now: Millis) -> Option<TimerKey> {
        if self.due.first()?.0 > now {
            return None;
        }
        self.due.pop_first().map(|(_, key)| key)
    }

    pub(super) fn next_deadline(&self) -> Option<Millis> {
        self.due.first().map(|(at, _)| *at)
    }
}

/// How long a member may stay silent, and where its entry in the deadline table stands.
///
/// The entry is never later than the deadline. Renewing only moves the deadline; the entry follows when it
/// fires early, so that a heartbeat costs one store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lease {
    /// The end of time if there is none.
    deadline: Millis,
    /// Likewise.
    entry: Millis,
}

impl Default for Lease {
    fn default() -> Self {
        Self { deadline: Millis::MAX, entry: Millis::MAX }
    }
}

impl Lease {
    /// Moves the deadline.
    pub(super) fn renew(&mut self, timers: &mut Timers, deadline: Millis, key: impl Fn() -> TimerKey) {
        self.deadline = deadline;
        if self.entry > deadline {
            self.clear_entry(timers, &key);
            timers.insert(deadline, key());
            self.entry = deadline;
        }
    }

    /// Ends the lease; no timer will fire for it.
    pub(super) fn cancel(&mut self, timers: &mut Timers, key: impl Fn() -> TimerKey) {
        self.deadline = Millis::MAX;
        self.clear_entry(timers, &key);
    }

    /// The entry has fired: says whether the time is really over, and follows the deadline if not.
    pub(super) fn fired(&mut self, timers: &mut Timers, now: Millis, key: impl Fn() -> TimerKey) -> bool {
        self.entry = Millis::MAX;
        if self.deadline <= now {
            self.deadline = Millis::MAX;
            return true;
        }
        if self.deadline < Millis::MAX {
            timers.insert(self.deadline, key());
            self.entry = self.deadline;
        }
        false
    }

    fn clear_entry(&mut self, timers: &mut Timers, key: &impl Fn() -> TimerKey) {
        if self.entry < Millis::MAX {
            timers.remove(self.entry, key());
            self.entry = Millis::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> TimerKey {
        TimerKey::Session("g".into(), "m".into())
    }

    #[test]
    fn renewing_a_lease_leaves_its_entry_until_it_fires() {
        let (mut timers, mut lease) = (Timers::default(), Lease::default());
        lease.renew(&mut timers, Millis(10), key);
        lease.renew(&mut timers, Millis(15), key);
        assert_eq!(timers.next_deadline(), Some(Millis(10)));
        assert_eq!(timers.pop_due(Millis(9)), None);
        assert_eq!(timers.pop_due(Millis(10)), Some(key()));
        assert!(!lease.fired(&mut timers, Millis(10), key));
        assert_eq!(timers.pop_due(Millis(15)), Some(key()));
        assert!(lease.fired(&mut timers, Millis(15), key));
        assert_eq!(timers.next_deadline(), None);
    }

    #[test]
    fn a_shorter_lease_moves_its_entry() {
        let (mut timers, mut lease) = (Timers::default(), Lease::default());
        lease.renew(&mut timers, Millis(300), key);
        lease.renew(&mut timers, Millis(45), key);
        assert_eq!(timers.next_deadline(), Some(Millis(45)));
        lease.cancel(&mut timers, key);
        assert_eq!(timers.next_deadline(), None);
    }

    #[test]
    fn timers_of_one_deadline_fire_in_the_order_of_their_keys() {
        let mut timers = Timers::default();
        timers.insert(Millis(5), TimerKey::OffsetRetention);
        timers.insert(Millis(5), key());
        timers.insert(Millis(5), TimerKey::Rebalance("g".into()));
        assert_eq!(timers.pop_due(Millis(5)), Some(TimerKey::Rebalance("g".into())));
        assert_eq!(timers.pop_due(Millis(5)), Some(key()));
        assert_eq!(timers.pop_due(Millis(5)), Some(TimerKey::OffsetRetention));
    }
}
