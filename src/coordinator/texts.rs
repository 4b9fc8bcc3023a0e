//! Texts that many members say alike: client ids, hosts, names of protocols.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::limits::{SHARED_TEXT_BYTES_MAX, SHARED_TEXTS_MAX};

/// Texts of a shard that were said lately, so that those who say the same share one piece of memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    known: BTreeSet<Arc<str>>,
}

impl Texts {
    /// The text, in the memory of whoever said it before.
    pub(super) fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.known.get(text) {
            return Arc::clone(known);
        }
        let shared = Arc::from(text);
        if text.len() <= SHARED_TEXT_BYTES_MAX {
            // What is said often is soon known again.
            if self.known.len() == SHARED_TEXTS_MAX {
                self.known.clear();
            }
            self.known.insert(Arc::clone(&shared));
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_one_piece_of_memory() {
        let mut texts = Texts::default();
        let first = texts.share("consumer");
        assert!(Arc::ptr_eq(&first, &texts.share("consumer")));
        assert_eq!(&*texts.share("connect"), "connect");
    }

    #[test]
    fn few_and_short_ones_are_remembered() {
        let mut texts = Texts::default();
        for number in 0..10 * SHARED_TEXTS_MAX {
            texts.share(&number.to_string());
        }
        texts.share(&"x".repeat(SHARED_TEXT_BYTES_MAX + 1));
        assert!(texts.known.len() <= SHARED_TEXTS_MAX);
        assert!(texts.known.iter().all(|text| text.len() <= SHARED_TEXT_BYTES_MAX));
    }
}
