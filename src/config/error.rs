//! Why a configuration is refused, in one line for the user.

use std::fmt;

use super::keys::BROKER_KEYS;
use super::value::InvalidValue;

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// Kafka 4.4 has no such key.
    UnknownKey {
        /// As the user wrote it.
        key: String,
        /// The known key that is spelled most like it.
        nearest: &'static str,
    },
    /// A value, or several together, that cannot be; the whole message, in Kafka's words where it has some.
    Invalid(String),
}

impl ConfigError {
    /// No broker key is called `key`.
    #[must_use]
    pub fn unknown_key(key: &str) -> Self {
        Self::UnknownKey { key: key.to_owned(), nearest: nearest_key(key) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKey { key, nearest } => {
                write!(f, "Unknown configuration {key}: the nearest known one is {nearest}")
            }
            Self::Invalid(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ConfigError {}

impl From<InvalidValue> for ConfigError {
    fn from(error: InvalidValue) -> Self {
        Self::Invalid(error.0)
    }
}

/// The broker key that takes the fewest edits to get to from `name`; the first in Kafka's order of several.
fn nearest_key(name: &str) -> &'static str {
    BROKER_KEYS.iter().map(|key| key.name).min_by_key(|key| edit_distance(name, key)).unwrap_or_default()
}

/// How many bytes must be inserted, removed or replaced to turn `a` into `b` (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_the_one_with_the_fewest_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(nearest_key("group.initial.rebalance.dely.ms"), "group.initial.rebalance.delay.ms");
        assert_eq!(nearest_key("num.partition"), "num.partitions");
        assert_eq!(nearest_key("retention.ms"), "log.retention.ms");
    }

    #[test]
    fn an_unknown_key_names_the_nearest_one() {
        let text = ConfigError::unknown_key("listener").to_string();
        assert_eq!(text, "Unknown configuration listener: the nearest known one is listeners");
    }
}
