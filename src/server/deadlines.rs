//! Everything that happens because time passes, in one place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use super::directory::Directory;
use super::shard::Shards;
use super::transactions::Coordinator;
use crate::api::{Wakeups, lock};
use crate::limits::AFTER_PANIC_MS;
use crate::topics::Topics;
use crate::types::{Millis, Now};

/// What has deadlines: groups, transactions, the log with its waiting fetches, and connections.
pub(super) struct Deadlines {
    pub(super) shards: Arc<Shards>,
    pub(super) transactions: Arc<Coordinator>,
    pub(super) topics: Arc<Mutex<Topics>>,
    pub(super) directory: Arc<Directory>,
    /// `connections.max.idle.ms`; negative for no limit.
    pub(super) idle_ms: i64,
}

impl Deadlines {
    /// Does what is due at `now`, and says when something will be next.
    pub(super) fn advance(&self, now: Now) -> Millis {
        let parts: [&dyn Fn() -> Millis; 4] = [
            &|| self.shards.advance(now),
            &|| self.transactions.advance(now),
            &|| self.advance_log(now),
            &|| self.close_idle(now),
        ];
        parts.into_iter().map(|part| guarded(now, part)).min().unwrap_or(Millis::MAX)
    }

    fn advance_log(&self, now: Now) -> Millis {
        let mut topics = lock(&self.topics);
        topics.log.advance(now);
        let ready = topics.log.take_ready();
        let next = topics.log.next_deadline();
        drop(topics);
        self.directory.wake(&ready);
        next
    }

    fn close_idle(&self, now: Now) -> Millis {
        if self.idle_ms < 0 { Millis::MAX } else { self.directory.close_idle(now, self.idle_ms) }
    }
}

/// One part's bug must not end the only loop that fires timers.
fn guarded(now: Now, part: &dyn Fn() -> Millis) -> Millis {
    catch_unwind(AssertUnwindSafe(part)).unwrap_or_else(|_| {
        tracing::error!("what was due met a bug");
        now.after(AFTER_PANIC_MS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_in_what_is_due_does_not_end_the_loop() {
        assert_eq!(guarded(Now::default(), &|| Millis(7)), Millis(7));
        assert_eq!(guarded(Now::default(), &|| panic!("a bug")), Millis(AFTER_PANIC_MS));
    }
}
