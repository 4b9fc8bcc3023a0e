//! What all connections together hold of requests that are not whole and answers that are not read.
//!
//! A frame may have `socket.request.max.bytes` (100 MiB), and its sender may take its time: some hundred such senders
//! would take all memory there is. Kafka has `queued.max.request.bytes` for this, which is off by default.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::limits::{BUFFERED_BYTES_ALWAYS, BUFFERED_BYTES_MAX};

/// The sum over all connections, in bytes.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    bytes: AtomicUsize,
}

/// The share of one connection, which is given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    all: Arc<Buffers>,
    bytes: usize,
}

impl Share {
    pub(super) const fn of(all: Arc<Buffers>) -> Self {
        Self { all, bytes: 0 }
    }

    /// Says how many bytes the connection holds now. False if it holds much and all together hold too much: it is to be
    /// closed. Who holds little is served whatever others do.
    pub(super) fn holds(&mut self, bytes: usize) -> bool {
        if bytes <= self.bytes {
            self.all.bytes.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
            self.bytes = bytes;
            return true;
        }
        let added = bytes - self.bytes;
        let all = self.all.bytes.fetch_add(added, Ordering::Relaxed) + added;
        self.bytes = bytes;
        all <= BUFFERED_BYTES_MAX || bytes <= BUFFERED_BYTES_ALWAYS
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.all.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_much_is_closed_once_all_hold_too_much() {
        let all = Arc::new(Buffers::default());
        let [mut large, mut small] = [Share::of(Arc::clone(&all)), Share::of(Arc::clone(&all))];
        assert!(large.holds(BUFFERED_BYTES_MAX));
        assert!(!large.holds(BUFFERED_BYTES_MAX + 1));
        assert!(small.holds(BUFFERED_BYTES_ALWAYS));
        assert!(!small.holds(BUFFERED_BYTES_ALWAYS + 1));
        drop(large);
        assert!(small.holds(BUFFERED_BYTES_ALWAYS + 2));
        drop(small);
        assert_eq!(all.bytes.load(Ordering::Relaxed), 0);
    }
}
