//! Who is connected: where an answer to a parked request goes, and which connections are idle.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::api::{Delivery, Wakeups, lock};
use crate::limits::IDLE_CHECK_INTERVAL_MIN_MS;
use crate::types::{Millis, Now, ReplyTo};

/// Every open connection, by its number.
///
/// A request does not come here: one lock serves those that come, go, or wait. The map, unlike a hash table, gives
/// its memory back when they go.
#[derive(Debug, Default)]
pub(super) struct Directory {
    connections: Mutex<BTreeMap<u64, Arc<Entry>>>,
    last: AtomicU64,
}

/// What others may know of a connection, and do to it.
#[derive(Debug)]
struct Entry {
    /// The request that is being answered.
    current: AtomicU64,
    /// Milliseconds of the monotonic clock.
    last_active: AtomicI64,
    /// The last thing delivered, and for which request.
    mailbox: Mutex<Option<(ReplyTo, Delivery)>>,
    arrived: Notify,
    task: OnceLock<AbortHandle>,
}

/// The connection's own end of its entry, which is gone with it.
#[derive(Debug)]
pub(super) struct Registration {
    directory: Arc<Directory>,
    number: u64,
    entry: Arc<Entry>,
    /// How many requests there were; its low bits tell the requests of a connection apart.
    requests: u64,
}

/// Waits for the task that serves a connection, which ends the connection when it is aborted.
#[derive(Debug)]
pub(super) struct Closer(Arc<Entry>);

impl Closer {
    pub(super) fn closes(self, task: AbortHandle) {
        let _ = self.0.task.set(task);
    }
}

/// The low bits of a [`ReplyTo`] are the request's, the rest is the connection's.
///
/// An answer that comes too late, to a request that was answered by something else, must not be taken for the
/// answer to a later one.
const REQUEST_BITS: u32 = 16;

impl Directory {
    pub(super) fn register(self: &Arc<Self>, now: Now) -> Registration {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let entry = Arc::new(Entry {
            current: AtomicU64::new(0),
            last_active: AtomicI64::new(now.monotonic.0),
            mailbox: Mutex::default(),
            arrived: Notify::new(),
            task: OnceLock::new(),
        });
        lock(&self.connections).insert(number, Arc::clone(&entry));
        Registration { directory: Arc::clone(self), number, entry, requests: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.connections).is_empty()
    }

    /// Puts the answer into the mailbox of the connection, unless it is gone or has had an answer to this request.
    pub(super) fn deliver(&self, to: ReplyTo, delivery: Delivery) {
        let Some(entry) = lock(&self.connections).get(&(to.0 >> REQUEST_BITS)).cloned() else { return };
        let mut mailbox = lock(&entry.mailbox);
        if entry.current.load(Ordering::Acquire) == to.0 {
            *mailbox = Some((to, delivery));
            entry.arrived.notify_one();
        }
    }

    /// Closes the connections that nothing was heard of for `idle_ms`, and says when to look again
    /// (`connections.max.idle.ms`).
    pub(super) fn close_idle(&self, now: Now, idle_ms: i64) -> Millis {
        let mut next = now.after(idle_ms);
        for (number, connection) in &*lock(&self.connections) {
            let last_active = Millis(connection.last_active.load(Ordering::Relaxed));
            if now.monotonic.since(last_active) < idle_ms {
                next = next.min(last_active.plus(idle_ms));
            } else if let Some(task) = connection.task.get() {
                tracing::debug!("connection {number} was idle for {idle_ms} ms and is closed");
                task.abort();
            }
        }
        next.max(now.after(IDLE_CHECK_INTERVAL_MIN_MS))
    }
}

impl Wakeups for Directory {
    fn wake(&self, ready: &[ReplyTo]) {
        for to in ready {
            self.deliver(*to, Delivery::Fetch);
        }
    }
}

impl Registration {
    /// What is to be told how the connection can be closed from outside.
    pub(super) fn closer(&self) -> Closer {
        Closer(Arc::clone(&self.entry))
    }

    pub(super) fn is_active(&self, now: Now) {
        self.entry.last_active.store(now.monotonic.0, Ordering::Relaxed);
    }

    /// A token for the next request. What is delivered for an earlier one is dropped from now on.
    pub(super) fn next_request(&mut self) -> ReplyTo {
        self.requests += 1;
        let request = self.requests & ((1 << REQUEST_BITS) - 1);
        let token = self.number << REQUEST_BITS | request;
        self.entry.current.store(token, Ordering::Release);
        ReplyTo(token)
    }

    /// The token of the request at hand.
    pub(super) fn current(&self) -> ReplyTo {
        ReplyTo(self.entry.current.load(Ordering::Relaxed))
    }

    /// Waits for what is delivered for the request at hand.
    pub(super) async fn delivery(&self) -> Delivery {
        loop {
            self.entry.arrived.notified().await;
            let delivered = lock(&self.entry.mailbox).take();
            if let Some((to, delivery)) = delivered
                && to == self.current()
            {
                return delivery;
            }
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        lock(&self.directory.connections).remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::clock;

    #[tokio::test(start_paused = true)]
    async fn an_answer_comes_to_the_request_it_is_for() {
        let directory = Arc::new(Directory::default());
        let mut connection = directory.register(Now::default());
        let mut other = directory.register(Now::default());
        let (first, elsewhere) = (connection.next_request(), other.next_request());
        assert_ne!(first, elsewhere);
        directory.deliver(first, Delivery::Fetch);
        assert!(matches!(connection.delivery().await, Delivery::Fetch));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_comes_too_late_is_dropped() {
        let directory = Arc::new(Directory::default());
        let mut connection = directory.register(Now::default());
        let first = connection.next_request();
        // Both come before the connection looks: one for the request that is over by then.
        directory.deliver(first, Delivery::Fetch);
        let second = connection.next_request();
        directory.deliver(first, Delivery::Fetch);
        tokio::select! {
            delivery = connection.delivery() => panic!("{delivery:?} was for the first request"),
            () = clock::pause(1_000) => {}
        }
        directory.deliver(second, Delivery::Fetch);
        assert!(matches!(connection.delivery().await, Delivery::Fetch));
    }

    #[test]
    fn nobody_is_told_once_a_connection_is_gone() {
        let directory = Arc::new(Directory::default());
        let token = directory.register(Now::default()).next_request();
        assert!(directory.is_empty());
        directory.wake(&[token, ReplyTo(0)]);
    }
}
