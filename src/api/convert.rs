//! Small conversions between plain values and the wire's.

use std::fmt::Write;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use kafka_protocol::protocol::StrBytes;

use crate::log::Isolation;

/// A text of ours as a message carries it.
pub(super) fn text(text: &str) -> StrBytes {
    StrBytes::from_string(text.to_owned())
}

/// Bytes that a core keeps, as a message carries them, without a copy.
pub(super) fn shared_bytes(bytes: Arc<[u8]>) -> Bytes {
    Bytes::from_owner(bytes)
}

/// Which records a client wants to see; None for what Kafka fails at.
pub(super) const fn isolation_from_wire(level: i8) -> Option<Isolation> {
    match level {
        0 => Some(Isolation::ReadUncommitted),
        1 => Some(Isolation::ReadCommitted),
        _ => None,
    }
}

/// Empty is how the wire says that there is none.
pub(super) fn non_empty(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// The first `chars` characters: KIP-800 keeps no more than 255 of a reason.
pub(super) fn truncated(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

/// An address as Java's `InetAddress.toString` spells it: a slash, and no short form of IPv6.
pub(super) fn java_host(address: IpAddr) -> String {
    match address.to_canonical() {
        IpAddr::V4(v4) => format!("/{v4}"),
        IpAddr::V6(v6) => {
            let mut host = String::from("/");
            for (i, segment) in v6.segments().iter().enumerate() {
                let colon = if i == 0 { "" } else { ":" };
                // Writing to a String cannot fail.
                let _ = write!(host, "{colon}{segment:x}");
            }
            host
        }
    }
}

/// The first names and how many more there are: one line of the log, however long the list.
pub(super) fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let (shown, more) = names.split_at(names.len().min(SHOWN));
    let shown = shown.join(", ");
    if more.is_empty() { shown } else { format!("{shown} and {} more", more.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_hosts_as_java_does() {
        for (address, host) in [
            ("127.0.0.1", "/127.0.0.1"),
            ("::ffff:10.0.0.7", "/10.0.0.7"),
            ("::1", "/0:0:0:0:0:0:0:1"),
            ("fe80::a:0", "/fe80:0:0:0:0:0:a:0"),
        ] {
            assert_eq!(java_host(address.parse().expect(address)), host);
        }
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(some_of(&["a", "b"]), "a, b");
        assert_eq!(some_of(&["a"; 7]), "a, a, a, a, a and 2 more");
    }

    #[test]
    fn cuts_between_characters() {
        assert_eq!(truncated("äöü", 2), "äö");
        assert_eq!(truncated("äöü", 3), "äöü");
        assert_eq!(truncated("", 255), "");
    }
}
