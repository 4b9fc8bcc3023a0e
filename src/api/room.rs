//! How large an answer may get while it is made.
//!
//! A request may name the same large thing again and again, at a few bytes a time.

use std::cell::Cell;

use crate::limits::RESPONSE_BYTES_MAX;

/// Why a connection is closed whose answer would be too large.
pub(super) const TOO_LARGE: &str = "the answer would be larger than any that is sent";

/// What is left for the rest of an answer, in bytes; nothing once too much was asked for.
pub(super) struct Room(Cell<Option<usize>>);

impl Room {
    /// Differs from Kafka: an answer has at most 128 MiB. Kafka's may have 2 GiB, if there is memory for it.
    pub(super) const fn for_an_answer() -> Self {
        Self(Cell::new(Some(RESPONSE_BYTES_MAX)))
    }

    /// Whether there is room for this many bytes more, which are then taken.
    pub(super) fn admits(&self, bytes: usize) -> bool {
        let left = self.0.get().and_then(|left| left.checked_sub(bytes));
        self.0.set(left);
        left.is_some()
    }

    /// Whether there is room for so many texts that each name a topic, which are then taken.
    pub(super) fn admits_texts(&self, count: usize, topic: &str) -> bool {
        /// The words around the name, and the rest of what is said about a partition, in bytes.
        const WORDS_BYTES: usize = 160;
        self.admits(count.saturating_mul(topic.len() + WORDS_BYTES))
    }

    pub(super) fn is_exceeded(&self) -> bool {
        self.0.get().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_take_what_the_name_takes_each_time() {
        let name = "t".repeat(30_000);
        let room = Room::for_an_answer();
        assert!(room.admits_texts(4_000, &name) && !room.admits_texts(4_000, &name));
        assert!(!Room::for_an_answer().admits_texts(usize::MAX, "t"));
    }

    #[test]
    fn what_was_too_much_once_is_not_made_good() {
        let room = Room::for_an_answer();
        assert!(room.admits(RESPONSE_BYTES_MAX) && !room.is_exceeded());
        assert!(!room.admits(1) && room.is_exceeded());
        assert!(!room.admits(0));
    }
}
