//! The features of the cluster (KIP-584), as ApiVersions lists them and UpdateFeatures judges them.

use crate::wire::api_table;

/// A feature of the cluster (Kafka's `Feature`).
pub(super) struct Feature {
    pub(super) name: &'static str,
    pub(super) min_version: i16,
    pub(super) max_version: i16,
    /// The level in force; 0 is not listed.
    pub(super) level: i16,
    /// The API that the feature is about: clients take a feature as a promise that its APIs are there.
    key: Option<i16>,
}

const fn feature(
    name: &'static str,
    min_version: i16,
    max_version: i16,
    level: i16,
    key: Option<i16>,
) -> Feature {
    Feature { name, min_version, max_version, level, key }
}

/// ConsumerGroupHeartbeat.
const CONSUMER_GROUP_HEARTBEAT: i16 = 68;
/// ShareGroupHeartbeat.
const SHARE_GROUP_HEARTBEAT: i16 = 76;
/// StreamsGroupHeartbeat.
const STREAMS_GROUP_HEARTBEAT: i16 = 88;
/// AddPartitionsToTxn.
const ADD_PARTITIONS_TO_TXN: i16 = 24;

/// As a broker of Kafka 4.4 lists them.
const FEATURES: &[Feature] = &[
    feature("group.version", 0, 1, 1, Some(CONSUMER_GROUP_HEARTBEAT)),
    feature("kraft.version", 0, 1, 0, None),
    feature("metadata.version", 7, 33, 33, None),
    feature("share.version", 0, 2, 2, Some(SHARE_GROUP_HEARTBEAT)),
    feature("streams.version", 0, 1, 1, Some(STREAMS_GROUP_HEARTBEAT)),
    feature("transaction.version", 0, 2, 2, Some(ADD_PARTITIONS_TO_TXN)),
    feature("eligible.leader.replicas.version", 0, 1, 1, None),
];

// Differs from Kafka: a feature whose APIs are not served is not listed.
pub(super) fn features() -> impl Iterator<Item = &'static Feature> {
    FEATURES.iter().filter(|feature| match feature.key {
        Some(key) => api_table::find(key).is_some_and(|api| api.served),
        None => true,
    })
}
