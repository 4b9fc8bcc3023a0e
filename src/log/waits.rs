//! Fetches that wait for more bytes (long polls). Source: Kafka's `DelayedFetch`.
//!
//! A wait is over when the bytes behind its offsets, each partition counted up to what it may send, reach
//! `min_bytes`; when something happens to one of its partitions that is worth an answer; or at its deadline.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Isolation, TopicIdPartition};
use crate::types::{Millis, ReplyTo};

/// One partition of a fetch that is to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitPartition {
    pub partition: TopicIdPartition,
    /// Bytes there are to read now.
    pub available: usize,
    /// Bytes that may be sent.
    pub bytes_max: usize,
    /// Which bytes count.
    pub isolation: Isolation,
}

/// What there is more to read of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grown {
    pub(crate) bytes: usize,
    /// For those who read what is committed.
    pub(crate) stable_bytes: usize,
}

/// Everyone who waits, found by token, by partition and by deadline.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    waiting: HashMap<ReplyTo, Wait>,
    /// Look-up only; whoever waits for a partition is visited in token order.
    by_partition: HashMap<TopicIdPartition, BTreeMap<ReplyTo, Counted>>,
    deadlines: BTreeSet<(Millis, ReplyTo)>,
}

#[derive(Debug)]
struct Wait {
    deadline: Millis,
    min_bytes: usize,
    /// What counts towards `min_bytes` so far.
    bytes: usize,
    partitions: Vec<TopicIdPartition>,
}

#[derive(Debug)]
struct Counted {
    available: usize,
    bytes_max: usize,
    isolation: Isolation,
}

impl Waits {
    /// Waits until `deadline` for `min_bytes`. One token waits once: an earlier wait of it is forgotten.
    pub(crate) fn park(
        &mut self,
        from: ReplyTo,
        deadline: Millis,
        min_bytes: usize,
        partitions: impl IntoIterator<Item = WaitPartition>,
    ) {
        self.cancel(from);
        let mut wait = Wait { deadline, min_bytes, bytes: 0, partitions: Vec::new() };
        for WaitPartition { partition, available, bytes_max, isolation } in partitions {
            wait.bytes += available.min(bytes_max);
            wait.partitions.push(partition);
            let counted = Counted { available, bytes_max, isolation };
            self.by_partition.entry(partition).or_default().insert(from, counted);
        }
        self.deadlines.insert((deadline, from));
        self.waiting.insert(from, wait);
    }

    /// Forgets a wait, if there is one.
    pub(crate) fn cancel(&mut self, from: ReplyTo) {
        let Some(wait) = self.waiting.remove(&from) else { return };
        self.deadlines.remove(&(wait.deadline, from));
        for partition in wait.partitions {
            if let Some(tokens) = self.by_partition.get_mut(&partition) {
                tokens.remove(&from);
                if tokens.is_empty() {
                    self.by_partition.remove(&partition);
                }
            }
        }
    }

    /// There is more to read from `partition`. Whoever has enough now goes to `ready`.
    pub(crate) fn appended(&mut self, partition: TopicIdPartition, grown: Grown, ready: &mut Vec<ReplyTo>) {
        let Some(tokens) = self.by_partition.get_mut(&partition) else { return };
        let first_ready = ready.len();
        for (&from, counted) in tokens {
            let bytes = match counted.isolation {
                Isolation::ReadUncommitted => grown.bytes,
                Isolation::ReadCommitted => grown.stable_bytes,
            };
            if bytes == 0 {
                continue;
            }
            let before = counted.available.min(counted.bytes_max);
            counted.available += bytes;
            let added = counted.available.min(counted.bytes_max) - before;
            if let Some(wait) = self.waiting.get_mut(&from) {
                wait.bytes += added;
                if wait.bytes >= wait.min_bytes {
                    ready.push(from);
                }
            }
        }
        self.cancel_all(first_ready, ready);
    }

    /// The partition is gone, or its offsets are: whoever waits for it goes to `ready`.
    pub(crate) fn disturbed(&mut self, partition: TopicIdPartition, ready: &mut Vec<ReplyTo>) {
        let first_ready = ready.len();
        ready.extend(self.by_partition.get(&partition).into_iter().flat_map(BTreeMap::keys));
        self.cancel_all(first_ready, ready);
    }

    /// Whose deadline has come goes to `ready`, in the order of the deadlines.
    pub(crate) fn advance(&mut self, monotonic: Millis, ready: &mut Vec<ReplyTo>) {
        while let Some(&(deadline, from)) = self.deadlines.first()
            && deadline <= monotonic
        {
            self.cancel(from);
            ready.push(from);
        }
    }

    /// The first deadline.
    pub(crate) fn next_deadline(&self) -> Option<Millis> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    fn cancel_all(&mut self, first: usize, ready: &[ReplyTo]) {
        for from in &ready[first..] {
            self.cancel(*from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::TopicId;

    const P0: TopicIdPartition = TopicIdPartition { topic: TopicId(1), partition: 0 };
    const P1: TopicIdPartition = TopicIdPartition { topic: TopicId(1), partition: 1 };

    fn on(partition: TopicIdPartition, bytes_max: usize) -> WaitPartition {
        WaitPartition { partition, available: 0, bytes_max, isolation: Isolation::ReadUncommitted }
    }

    fn appended(waits: &mut Waits, partition: TopicIdPartition, bytes: usize) -> Vec<ReplyTo> {
        let mut ready = Vec::new();
        waits.appended(partition, Grown { bytes, stable_bytes: 0 }, &mut ready);
        ready
    }

    #[test]
    fn an_append_ends_the_waits_for_its_partition_only() {
        let mut waits = Waits::default();
        waits.park(ReplyTo(1), Millis(500), 1, [on(P0, 100)]);
        waits.park(ReplyTo(2), Millis(500), 1, [on(P1, 100)]);
        assert_eq!(appended(&mut waits, P0, 10), [ReplyTo(1)]);
        assert_eq!(appended(&mut waits, P0, 10), [], "a wait ends once");
        assert_eq!(waits.next_deadline(), Some(Millis(500)));
    }

    #[test]
    fn bytes_of_all_partitions_count_each_up_to_its_bound() {
        let mut waits = Waits::default();
        waits.park(ReplyTo(1), Millis(500), 150, [on(P0, 100), on(P1, 100)]);
        assert_eq!(appended(&mut waits, P0, 1000), []);
        assert_eq!(appended(&mut waits, P1, 49), []);
        assert_eq!(appended(&mut waits, P1, 1), [ReplyTo(1)]);
    }

    #[test]
    fn bytes_of_open_transactions_do_not_count_for_those_who_read_what_is_committed() {
        let mut waits = Waits::default();
        let committed = WaitPartition { isolation: Isolation::ReadCommitted, ..on(P0, 100) };
        waits.park(ReplyTo(1), Millis(500), 1, [committed]);
        waits.park(ReplyTo(2), Millis(500), 1, [on(P0, 100)]);
        let mut ready = Vec::new();
        waits.appended(P0, Grown { bytes: 10, stable_bytes: 0 }, &mut ready);
        assert_eq!(ready, [ReplyTo(2)]);
        waits.appended(P0, Grown { bytes: 5, stable_bytes: 15 }, &mut ready);
        assert_eq!(ready, [ReplyTo(2), ReplyTo(1)]);
    }

    #[test]
    fn what_was_there_already_counts() {
        let mut waits = Waits::default();
        let partition = WaitPartition { available: 90, ..on(P0, 1000) };
        waits.park(ReplyTo(1), Millis(500), 100, [partition]);
        assert_eq!(appended(&mut waits, P0, 10), [ReplyTo(1)]);
    }

    #[test]
    fn deadlines_come_in_order_and_leave_nothing_behind() {
        let mut waits = Waits::default();
        for (token, deadline) in [(1, 30), (2, 10), (3, 20)] {
            waits.park(ReplyTo(token), Millis(deadline), 1, [on(P0, 1), on(P1, 1)]);
        }
        let mut ready = Vec::new();
        waits.advance(Millis(20), &mut ready);
        assert_eq!(ready, [ReplyTo(2), ReplyTo(3)]);
        assert_eq!(waits.next_deadline(), Some(Millis(30)));
        waits.cancel(ReplyTo(1));
        assert_eq!(waits.next_deadline(), None);
        assert!(waits.waiting.is_empty() && waits.by_partition.is_empty());
    }

    #[test]
    fn a_lost_partition_ends_its_waits() {
        let mut waits = Waits::default();
        waits.park(ReplyTo(1), Millis(500), 1_000_000, [on(P0, 100), on(P1, 100)]);
        let mut ready = Vec::new();
        waits.disturbed(P1, &mut ready);
        assert_eq!(ready, [ReplyTo(1)]);
        assert!(waits.by_partition.is_empty());
    }

    #[test]
    fn a_token_that_parks_again_waits_once() {
        let mut waits = Waits::default();
        waits.park(ReplyTo(1), Millis(500), 1, [on(P0, 100)]);
        waits.park(ReplyTo(1), Millis(700), 1, [on(P1, 100)]);
        assert_eq!(waits.next_deadline(), Some(Millis(700)));
        assert_eq!(appended(&mut waits, P0, 10), []);
        assert_eq!(appended(&mut waits, P1, 10), [ReplyTo(1)]);
    }
}
