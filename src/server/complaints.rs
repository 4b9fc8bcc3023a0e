//! Lines of the log that peers bring about: whoever floods the server must not flood its log.

use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use crate::coordinator::event::Event;
use crate::limits::{COMPLAINT_INTERVAL_MS, EVENT_LINES_PER_SECOND};
use crate::observe;
use crate::txn;
use crate::types::Now;

/// Warnings about peers: when the last one was logged, and how many were not since.
#[derive(Debug)]
pub(super) struct Complaints {
    next_at: AtomicI64,
    withheld: AtomicU64,
}

impl Complaints {
    pub(super) const fn new() -> Self {
        Self { next_at: AtomicI64::new(i64::MIN), withheld: AtomicU64::new(0) }
    }

    /// Logs a warning, or counts it until the next one is due.
    pub(super) fn warn(&self, now: Now, what: fmt::Arguments<'_>) {
        let next_at = self.next_at.load(Ordering::Relaxed);
        let is_due = now.monotonic.0 >= next_at
            && self
                .next_at
                .compare_exchange(
                    next_at,
                    now.after(COMPLAINT_INTERVAL_MS).0,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                )
                .is_ok();
        if !is_due {
            self.withheld.fetch_add(1, Ordering::Relaxed);
            return;
        }
        match self.withheld.swap(0, Ordering::Relaxed) {
            0 => tracing::warn!("{what}"),
            withheld => tracing::warn!("{what} (and {withheld} more like it)"),
        }
    }
}

/// What happens in groups, or in transactions, as long as it is not too much in one second.
#[derive(Debug, Default)]
pub(super) struct Chronicle {
    /// Which second of the monotonic clock it is.
    second: AtomicI64,
    /// How many events there were in it.
    events: AtomicUsize,
}

impl Chronicle {
    /// Logs an event of a group, or counts it for the first line of another second.
    pub(super) fn log(&self, now: Now, event: &Event) {
        self.log_with(now, || observe::log(event));
    }

    /// Logs an event of a transaction in the same way.
    pub(super) fn log_transaction(&self, now: Now, event: &txn::event::Event) {
        self.log_with(now, || observe::log_transaction(event));
    }

    fn log_with(&self, now: Now, log: impl FnOnce()) {
        let second = now.monotonic.0 / 1_000;
        if self.second.swap(second, Ordering::Relaxed) != second {
            let before = self.events.swap(0, Ordering::Relaxed);
            if let Some(withheld) = before.checked_sub(EVENT_LINES_PER_SECOND + 1) {
                tracing::warn!("{} lines about groups or transactions were withheld", withheld + 1);
            }
        }
        if self.events.fetch_add(1, Ordering::Relaxed) < EVENT_LINES_PER_SECOND {
            log();
        }
    }
}
