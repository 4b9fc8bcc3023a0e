//! The keys of a group (`GroupConfig`), in the order of their definition, and the broker keys that give their defaults.

use super::{Key, Kind, Valid, boolean, int, list, long, null, string};

/// Every group key of Kafka 4.4: consumer, share and streams groups.
pub static GROUP_KEYS: &[Key] = &[
    int("consumer.session.timeout.ms", "45000").at_least(1),
    int("consumer.heartbeat.interval.ms", "5000").at_least(1),
    int("consumer.assignment.interval.ms", "1000").at_least(0),
    boolean("consumer.assignor.offload.enable", "true").internal(),
    int("share.session.timeout.ms", "45000").at_least(1),
    int("share.heartbeat.interval.ms", "5000").at_least(1),
    int("share.record.lock.duration.ms", "30000").at_least(1000),
    int("share.delivery.count.limit", "5").at_least(2),
    int("share.partition.max.record.locks", "2000").at_least(100),
    string("share.auto.offset.reset", "latest").valid(Valid::AutoOffsetReset),
    string("share.isolation.level", "read_uncommitted").one_of(&["read_committed", "read_uncommitted"]),
    boolean("share.renew.acknowledge.enable", "true"),
    int("share.assignment.interval.ms", "1000").at_least(0),
    boolean("share.assignor.offload.enable", "true").internal(),
    int("streams.session.timeout.ms", "45000").at_least(1),
    int("streams.heartbeat.interval.ms", "5000").at_least(1),
    int("streams.num.standby.replicas", "0").at_least(0),
    int("streams.initial.rebalance.delay.ms", "3000").at_least(0),
    int("streams.assignment.interval.ms", "1000").at_least(0),
    boolean("streams.assignor.offload.enable", "true").internal(),
    int("streams.task.offset.interval.ms", "60000").at_least(1).internal(),
    int("streams.num.warmup.replicas", "2").at_least(0).internal(),
    list("streams.rack.aware.assignment.tags", ""),
    long("streams.acceptable.recovery.lag", "10000").at_least(0).internal(),
    null(Kind::String, "streams.assignor.name"),
    string("errors.deadletterqueue.topic.name", ""),
    boolean("errors.deadletterqueue.copy.record.enable", "false"),
];

/// The broker key that gives the default of group key `name` (`GroupConfig.brokerSynonym`).
#[must_use]
pub fn group_key_broker_synonym(name: &str) -> Option<&'static str> {
    GROUP_SYNONYMS.binary_search_by(|(key, _)| (*key).cmp(name)).ok().map(|at| GROUP_SYNONYMS[at].1)
}

const GROUP_SYNONYMS: &[(&str, &str)] = &[
    ("consumer.assignment.interval.ms", "group.consumer.assignment.interval.ms"),
    ("consumer.assignor.offload.enable", "group.consumer.assignor.offload.enable"),
    ("consumer.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms"),
    ("consumer.session.timeout.ms", "group.consumer.session.timeout.ms"),
    ("share.assignment.interval.ms", "group.share.assignment.interval.ms"),
    ("share.assignor.offload.enable", "group.share.assignor.offload.enable"),
    ("share.delivery.count.limit", "group.share.delivery.count.limit"),
    ("share.heartbeat.interval.ms", "group.share.heartbeat.interval.ms"),
    ("share.partition.max.record.locks", "group.share.partition.max.record.locks"),
    ("share.record.lock.duration.ms", "group.share.record.lock.duration.ms"),
    ("share.session.timeout.ms", "group.share.session.timeout.ms"),
    ("streams.acceptable.recovery.lag", "group.streams.acceptable.recovery.lag"),
    ("streams.assignment.interval.ms", "group.streams.assignment.interval.ms"),
    ("streams.assignor.name", "group.streams.assignors"),
    ("streams.assignor.offload.enable", "group.streams.assignor.offload.enable"),
    ("streams.heartbeat.interval.ms", "group.streams.heartbeat.interval.ms"),
    ("streams.initial.rebalance.delay.ms", "group.streams.initial.rebalance.delay.ms"),
    ("streams.num.standby.replicas", "group.streams.num.standby.replicas"),
    ("streams.num.warmup.replicas", "group.streams.num.warmup.replicas"),
    ("streams.rack.aware.assignment.tags", "group.streams.rack.aware.assignment.tags"),
    ("streams.session.timeout.ms", "group.streams.session.timeout.ms"),
    ("streams.task.offset.interval.ms", "group.streams.task.offset.interval.ms"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::{broker_key, group_key};

    #[test]
    fn synonyms_are_found_and_name_keys_that_exist() {
        assert!(GROUP_SYNONYMS.is_sorted_by(|a, b| a.0 < b.0));
        for (group, broker) in GROUP_SYNONYMS {
            assert!(group_key(group).is_some(), "{group}");
            assert!(broker_key(broker).is_some(), "{broker}");
            assert_eq!(group_key_broker_synonym(group), Some(*broker));
        }
        assert_eq!(group_key_broker_synonym("share.isolation.level"), None);
    }
}
