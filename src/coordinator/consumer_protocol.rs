//! The bytes that members of type `consumer` exchange in the classic protocol, as far as a coordinator reads and
//! writes them: the Subscription is their metadata, the Assignment what the leader hands out.
//!
//! Source: ConsumerProtocolSubscription, ConsumerProtocolAssignment, versions 0 to 3, ConsumerProtocol.

/// The highest version of both; what claims a higher one is read as this.
const VERSION_MAX: i16 = 3;

/// A Subscription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subscription<'a> {
    /// The version that the bytes claim.
    pub(super) version: i16,
    /// The topics.
    pub(super) topics: Vec<&'a str>,
    /// Topic → partitions that the member has (version 1).
    pub(super) owned: Vec<(&'a str, Vec<i32>)>,
    /// Where the member runs (version 3).
    pub(super) rack: Option<&'a str>,
}

/// Reads a Subscription, or None where the bytes are not one.
pub(super) fn subscription(metadata: &[u8]) -> Option<Subscription<'_>> {
    let mut rest = metadata;
    let (version, topics) = prefix(&mut rest)?;
    let owned = if version >= 1 { topic_partitions(&mut rest)? } else { Vec::new() };
    if version >= 2 {
        take::<4>(&mut rest)?;
    }
    let rack = if version >= 3 { nullable_text(&mut rest)? } else { None };
    Some(Subscription { version, topics, owned, rack })
}

/// An Assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assignment<'a> {
    /// Topic → partitions.
    pub(super) partitions: Vec<(&'a str, Vec<i32>)>,
    /// Whether an assignor of the client's own put more into it.
    pub(super) has_user_data: bool,
}

/// Reads an Assignment, or None where the bytes are not one.
pub(super) fn assignment(bytes: &[u8]) -> Option<Assignment<'_>> {
    let mut rest = bytes;
    let version = i16::from_be_bytes(take(&mut rest)?);
    if version < 0 {
        return None;
    }
    let partitions = topic_partitions(&mut rest)?;
    let has_user_data = nullable_bytes(&mut rest)?.is_some_and(|data| !data.is_empty());
    Some(Assignment { partitions, has_user_data })
}

/// Writes an Assignment without user data, at the version of the member's Subscription.
pub(super) fn encode_assignment(version: i16, topics: &[(&str, &[i32])]) -> Vec<u8> {
    let mut bytes = version.clamp(0, VERSION_MAX).to_be_bytes().to_vec();
    bytes.extend(count(topics.len()));
    for &(topic, partitions) in topics {
        // Names of topics have at most 249 bytes.
        bytes.extend(i16::try_from(topic.len()).unwrap_or(i16::MAX).to_be_bytes());
        bytes.extend(topic.as_bytes());
        bytes.extend(count(partitions.len()));
        partitions.iter().for_each(|partition| bytes.extend(partition.to_be_bytes()));
    }
    bytes.extend((-1i32).to_be_bytes());
    bytes
}

fn count(len: usize) -> [u8; 4] {
    i32::try_from(len).unwrap_or(i32::MAX).to_be_bytes()
}

/// The topics that a Subscription names, or None where the bytes are not one.
pub(super) fn subscribed_topics(metadata: &[u8]) -> Option<Vec<&str>> {
    let mut rest = metadata;
    prefix(&mut rest).map(|(_, topics)| topics)
}

/// What every version begins with: topics and user data.
fn prefix<'a>(rest: &mut &'a [u8]) -> Option<(i16, Vec<&'a str>)> {
    let version = i16::from_be_bytes(take(rest)?);
    if version < 0 {
        return None;
    }
    // Each topic takes two bytes at least, so a lying count cannot make us allocate.
    let topics = array(rest, 2, text)?;
    nullable_bytes(rest)?;
    Some((version, topics))
}

fn topic_partitions<'a>(rest: &mut &'a [u8]) -> Option<Vec<(&'a str, Vec<i32>)>> {
    array(rest, 6, |rest| {
        let topic = text(rest)?;
        Some((topic, array(rest, 4, |rest| Some(i32::from_be_bytes(take(rest)?)))?))
    })
}

/// An array whose elements take `bytes_min` bytes at least.
fn array<'a, T>(
    rest: &mut &'a [u8],
    bytes_min: usize,
    element: impl Fn(&mut &'a [u8]) -> Option<T>,
) -> Option<Vec<T>> {
    let count = usize::try_from(i32::from_be_bytes(take(rest)?)).ok()?;
    if count > rest.len() / bytes_min {
        return None;
    }
    (0..count).map(|_| element(rest)).collect()
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    nullable_text(rest)?
}

#[allow(clippy::option_option, reason = "outside: whether it can be read; inside: whether it is null")]
fn nullable_text<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a str>> {
    let len = i16::from_be_bytes(take(rest)?);
    if len < 0 {
        return Some(None);
    }
    Some(Some(std::str::from_utf8(take_slice(rest, usize::try_from(len).ok()?)?).ok()?))
}

#[allow(clippy::option_option, reason = "outside: whether it can be read; inside: whether it is null")]
fn nullable_bytes<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let len = i32::from_be_bytes(take(rest)?);
    if len < 0 {
        return Some(None);
    }
    Some(Some(take_slice(rest, usize::try_from(len).ok()?)?))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

fn take_slice<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_topics_of_any_version_by_its_oldest_prefix() {
        let v1 = b"\0\x01\0\0\0\x02\0\x01a\0\x02bc\0\0\0\x01u\0\0\0\0";
        assert_eq!(subscribed_topics(v1), Some(vec!["a", "bc"]));
        assert_eq!(subscribed_topics(b"\0\0\0\0\0\0\xff\xff\xff\xff"), Some(vec![]));
    }

    #[test]
    fn reads_what_later_versions_add() {
        let v3 =
            b"\0\x03\0\0\0\x01\0\x01a\xff\xff\xff\xff\0\0\0\x01\0\x01a\0\0\0\x01\0\0\0\x07\0\0\0\x09\0\x01r";
        let read =
            Subscription { version: 3, topics: vec!["a"], owned: vec![("a", vec![7])], rack: Some("r") };
        assert_eq!(subscription(v3), Some(read));
        assert_eq!(subscription(&v3[..v3.len() - 1]), None);
    }

    #[test]
    fn assignments_come_back() {
        let bytes = encode_assignment(9, &[("a", &[1, 2]), ("b", &[])]);
        assert_eq!(&bytes[..2], [0, 3]);
        let partitions = vec![("a", vec![1, 2]), ("b", vec![])];
        assert_eq!(assignment(&bytes), Some(Assignment { partitions, has_user_data: false }));
        assert_eq!(assignment(&bytes[..bytes.len() - 1]), None);
        let with_user_data = [&bytes[..bytes.len() - 4], b"\0\0\0\x01u"].concat();
        assert!(assignment(&with_user_data).is_some_and(|read| read.has_user_data));
    }

    #[test]
    fn refuses_what_is_no_subscription() {
        for bytes in [
            &b""[..],
            b"\0",
            b"meta-m1",
            b"\xff\xff\0\0\0\0\0\0\0\0",
            b"\0\0\x7f\xff\xff\xff\0\x01a",
            b"\0\0\0\0\0\x01\0\x05a",
            b"\0\0\0\0\0\0",
            b"\0\0\0\0\0\0\0\0\0\x09x",
        ] {
            assert_eq!(subscribed_topics(bytes), None, "{bytes:?}");
        }
    }
}
