//! Which shard a group belongs to.

use crate::java;

/// The partition of `__consumer_offsets` that a group's records go to. Source: kafka GroupCoordinatorService.partitionFor.
///
/// `partitions` is positive. Kafka's `Utils.abs` is 0 for the least integer, which has no absolute value.
#[must_use]
pub fn partition_for(group: &str, partitions: usize) -> usize {
    java::string_hash(group).checked_abs().unwrap_or(0).unsigned_abs() as usize % partitions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_where_kafka_has_them() {
        assert_eq!(partition_for("polygenelubricants", 50), 0);
        assert_eq!(partition_for("a", 50), 97 % 50);
        assert_eq!(partition_for("consumer", 50), 22);
    }
}
