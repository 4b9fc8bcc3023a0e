//! Events in the log, at `info`, in the words of Kafka's own log: whoever looks why a group is stuck finds it there.

use std::fmt::Write;

use tracing::{info, warn};

use crate::coordinator::event::Event;

use crate::limits::EVENT_LINE_CHARS_MAX;
use crate::txn;

/// What these lines go by in `RUST_LOG`.
const TARGET: &str = "rallypoint::group";
/// See [`TARGET`].
const TRANSACTION_TARGET: &str = "rallypoint::transaction";

/// Writes one event as one line.
pub fn log(event: &Event) {
    if !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
        return;
    }
    let line = one_line(&event.to_string());
    match event {
        Event::NobodyRejoined { .. } | Event::MemberFenced { .. } => warn!(target: TARGET, "{line}"),
        _ => info!(target: TARGET, "{line}"),
    }
}

/// Writes one event of a transaction as one line.
pub fn log_transaction(event: &txn::event::Event) {
    if !tracing::enabled!(target: TRANSACTION_TARGET, tracing::Level::INFO) {
        return;
    }
    let line = one_line(&event.to_string());
    match event {
        txn::event::Event::TimedOut { .. } => warn!(target: TRANSACTION_TARGET, "{line}"),
        _ => info!(target: TRANSACTION_TARGET, "{line}"),
    }
}

/// Clients choose ids and reasons: a line break or an escape sequence in one must not look like a line of ours, and a
/// long one must not fill the disk.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(EVENT_LINE_CHARS_MAX));
    for (index, c) in text.chars().enumerate() {
        if index == EVENT_LINE_CHARS_MAX {
            line.push('…');
            break;
        }
        if c.is_control() || is_layout(c) {
            // Writing to a String cannot fail.
            let _ = write!(line, "{}", c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// Separators of lines and paragraphs, and what turns the direction of text around.
const fn is_layout(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut() {
        assert_eq!(one_line(&"ä".repeat(EVENT_LINE_CHARS_MAX)).chars().count(), EVENT_LINE_CHARS_MAX);
        assert!(one_line(&"ä".repeat(EVENT_LINE_CHARS_MAX + 1)).ends_with("ä…"));
    }

    #[test]
    fn an_id_cannot_forge_a_line() {
        assert_eq!(one_line("a\nINFO \u{1b}[31mb"), "a\\nINFO \\u{1b}[31mb");
        assert_eq!(one_line("a\u{2028}b\u{202e}c\u{9b}d"), "a\\u{2028}b\\u{202e}c\\u{9b}d");
        assert_eq!(one_line("größe"), "größe");
    }
}
