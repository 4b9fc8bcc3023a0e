//! Where Kafka's answer depends on how Java hashes, compares or keeps things.

use std::cmp::Ordering;

/// Buckets of a Java HashMap at first.
const CAPACITY_MIN: usize = 16;

/// Java's `String.hashCode`: over UTF-16 units, wrapping.
#[must_use]
pub fn string_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

/// `TopicPartition.hashCode` of Kafka's Java client.
#[must_use]
pub fn topic_partition_hash(topic: &str, partition: i32) -> i32 {
    partition.wrapping_add(31).wrapping_mul(31).wrapping_add(string_hash(topic))
}

/// Java's `String.compareTo`: by UTF-16 units.
///
/// That is the order of the bytes, but for U+E000 to U+FFFF: Java has them after all that need two units.
#[must_use]
pub fn compare(a: &str, b: &str) -> Ordering {
    if a.is_ascii() || b.is_ascii() {
        return a.cmp(b);
    }
    let rank = |byte: u8| if matches!(byte, 0xEE | 0xEF) { byte | 0xF0 } else { byte };
    a.bytes().map(rank).cmp(b.bytes().map(rank))
}

/// The buckets of a Java HashMap to which `len` keys were added one by one.
#[must_use]
pub fn hash_map_capacity(len: usize) -> usize {
    // It doubles once it is filled to more than three quarters.
    (len * 4).div_ceil(3).next_power_of_two().max(CAPACITY_MIN)
}

/// The bucket into which a Java HashMap of so many puts a hash code: its place in the order of iteration.
#[must_use]
pub fn bucket(hash: i32, capacity: usize) -> usize {
    let hash = hash.cast_unsigned();
    (hash ^ (hash >> 16)) as usize & (capacity - 1)
}

/// Puts `items`, which are in the order of insertion, into the order in which a Java HashMap of `len` keys holds them.
pub fn sort_as_hash_map<T>(items: &mut [T], len: usize, hash: impl Fn(&T) -> i32) {
    let capacity = hash_map_capacity(len);
    items.sort_by_cached_key(|item| bucket(hash(item), capacity));
}

/// Puts `items`, which are in the order of insertion, into the order in which a `new HashMap<>(0)` holds them.
pub fn sort_as_small_hash_map<T>(items: &mut [T], hash: impl Fn(&T) -> i32) {
    let capacity = (items.len() * 4).div_ceil(3).next_power_of_two();
    items.sort_by_cached_key(|item| bucket(hash(item), capacity));
}

/// Puts ascending integers into the order in which a `new HashSet<>(Collection)` of them holds them.
pub fn sort_as_set_of_integers(integers: &mut [i32]) {
    let capacity = (integers.len() * 4 / 3 + 1).next_power_of_two().max(CAPACITY_MIN);
    integers.sort_by_key(|&integer| bucket(integer, capacity));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_java_does() {
        assert_eq!(string_hash(""), 0);
        assert_eq!(string_hash("polygenelubricants"), i32::MIN);
        assert_eq!(string_hash("ü😀"), 2_015_071);
        assert_eq!(string_hash("consumer"), -567_770_122);
    }

    #[test]
    fn orders_as_a_java_map_does() {
        // jshell: new HashMap<>(Map.of("range", 1, "roundrobin", 1, "sticky", 1)).keySet()
        let mut names = ["roundrobin", "sticky", "range"];
        sort_as_hash_map(&mut names, 3, |name| string_hash(name));
        assert_eq!(names, ["sticky", "range", "roundrobin"]);
    }

    #[test]
    fn orders_as_a_small_java_map_does() {
        // jshell: new HashMap<>(0), then put("a", 1), put("e", 1), put("b", 1)
        let mut names = ["a", "e", "b"];
        sort_as_small_hash_map(&mut names, |name| string_hash(name));
        assert_eq!(names, ["a", "e", "b"]);
        let mut names = ["e", "b", "d", "a"];
        sort_as_small_hash_map(&mut names, |name| string_hash(name));
        assert_eq!(names, ["a", "b", "d", "e"]);
    }

    #[test]
    fn orders_integers_as_a_java_set_does() {
        // jshell: new HashSet<>(List.of(1, 15, 16, 31, 32, 65536))
        let mut integers = [1, 15, 16, 31, 32, 65536];
        sort_as_set_of_integers(&mut integers);
        assert_eq!(integers, [16, 32, 1, 65536, 15, 31]);
    }

    #[test]
    fn a_map_grows_when_three_quarters_are_used() {
        assert_eq!([0, 12, 13, 24, 25].map(hash_map_capacity), [16, 16, 32, 32, 64]);
    }

    #[test]
    fn compares_as_java_does() {
        let texts = ["", "a", "a!", "aa", "b", "ü", "\u{d7ff}", "😀", "\u{10ffff}", "\u{e000}", "\u{ffff}"];
        for (i, a) in texts.iter().enumerate() {
            for (j, b) in texts.iter().enumerate() {
                assert_eq!(compare(a, b), i.cmp(&j), "{a:?} {b:?}");
                assert_eq!(compare(a, b), a.encode_utf16().cmp(b.encode_utf16()), "{a:?} {b:?}");
            }
        }
    }
}
