//! What a topic may be called (Kafka's `Topic`).

/// Holds the offsets and metadata of groups.
pub const CONSUMER_OFFSETS: &str = "__consumer_offsets";
/// Holds the state of transactions.
pub const TRANSACTION_STATE: &str = "__transaction_state";
/// Holds the state of share groups.
pub const SHARE_GROUP_STATE: &str = "__share_group_state";
/// Kafka's metadata log: no topic that a client could create or see.
pub const CLUSTER_METADATA: &str = "__cluster_metadata";

/// In UTF-16 units, as Java counts.
const NAME_LENGTH_MAX: usize = 249;

/// Whether the broker itself writes this topic.
#[must_use]
pub fn is_internal(name: &str) -> bool {
    matches!(name, CONSUMER_OFFSETS | TRANSACTION_STATE | SHARE_GROUP_STATE)
}

/// Whether a topic may have this name.
///
/// # Errors
/// Kafka's sentence on what is wrong with it.
pub fn validate(name: &str) -> Result<(), String> {
    let reason = match name {
        "" => "the empty string is not allowed".to_owned(),
        "." => "'.' is not allowed".to_owned(),
        ".." => "'..' is not allowed".to_owned(),
        _ if name.encode_utf16().count() > NAME_LENGTH_MAX => {
            format!("the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}")
        }
        _ if !name.bytes().all(is_legal) => format!(
            "'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
        ),
        _ => return Ok(()),
    };
    Err(format!("Topic name is invalid: {reason}"))
}

/// Names that are equal in this form would share the names of Kafka's metrics,
/// so that only one of them can be created. `None` when the name can collide with no other.
pub(super) fn collision_key(name: &str) -> Option<String> {
    name.contains(['.', '_']).then(|| name.replace('.', "_"))
}

const fn is_legal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_names() {
        for name in ["a", "...", "._-", "A9", CONSUMER_OFFSETS, &"x".repeat(249)] {
            assert_eq!(validate(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn refused_names_say_why() {
        let long = "x".repeat(250);
        for (name, reason) in [
            ("", "the empty string is not allowed".to_owned()),
            (".", "'.' is not allowed".to_owned()),
            ("..", "'..' is not allowed".to_owned()),
            (&long, format!("the length of '{long}' is longer than the max allowed length 249")),
            (
                "a/b",
                "'a/b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
                    .to_owned(),
            ),
        ] {
            assert_eq!(validate(name), Err(format!("Topic name is invalid: {reason}")));
        }
    }

    #[test]
    fn length_counts_utf16_units() {
        // 249 two-byte letters are not too long, only illegal.
        let reason = validate(&"é".repeat(249)).unwrap_err();
        assert!(reason.contains("contains one or more characters"), "{reason}");
        let reason = validate(&"😀".repeat(125)).unwrap_err();
        assert!(reason.contains("longer than the max"), "{reason}");
    }

    #[test]
    fn internal_topics() {
        assert!(is_internal("__consumer_offsets"));
        assert!(is_internal("__transaction_state"));
        assert!(is_internal("__share_group_state"));
        assert!(!is_internal("__cluster_metadata"));
        assert!(!is_internal("orders"));
    }
}
