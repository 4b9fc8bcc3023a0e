//! Regular expressions over topic names, as Kafka's broker reads them: RE2 in RE2/J's spelling, and the whole name has
//! to match (KIP-848 §Regular expressions).
//!
//! The `regex` crate matches in linear time as RE2 does; where the two read a text differently, it is rewritten first.

mod translate;

use regex::{Regex, RegexBuilder};

use crate::limits::{REGEX_BYTES_MAX, REGEX_CHARS_MAX};

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct TopicRegex {
    regex: Regex,
}

impl TopicRegex {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Why RE2/J does not take it, in a few words.
    // Differs from Kafka: an expression has at most 1,000 characters and 8 classes beyond ASCII, and takes 1 MiB.
    pub fn new(pattern: &str) -> Result<Self, String> {
        if pattern.chars().nth(REGEX_CHARS_MAX).is_some() {
            return Err(format!("expression has more than {REGEX_CHARS_MAX} characters"));
        }
        let translated = translate::translate(pattern)?;
        RegexBuilder::new(&format!("^(?:{translated})$"))
            .octal(true)
            .size_limit(REGEX_BYTES_MAX)
            .build()
            .map(|regex| Self { regex })
            .map_err(|error| reason(&error))
    }

    /// Whether the whole name matches.
    #[must_use]
    pub fn matches(&self, topic: &str) -> bool {
        self.regex.is_match(topic)
    }
}

/// The last line of the crate's picture of the error says what it is.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests;
