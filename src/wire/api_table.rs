//! The one table of APIs: key, name, versions, and which of them are served.
//!
//! ApiVersions is printed from it, and requests are admitted by it. Source: what a broker of Apache Kafka 4.4 lists.

/// One API of Kafka 4.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// The API key of the request header.
    pub key: i16,
    /// As Kafka spells it.
    pub name: &'static str,
    /// The lowest version that is answered.
    pub version_min: i16,
    /// The highest version that is answered.
    pub version_max: i16,
    /// The first version with compact lengths and tags (KIP-482).
    pub flexible_from: i16,
    /// Whether `api::dispatch` handles it.
    pub served: bool,
}

impl Api {
    /// Whether requests of this version are answered.
    #[must_use]
    pub const fn has(&self, version: i16) -> bool {
        self.version_min <= version && version <= self.version_max
    }

    /// Whether this version has compact lengths and tags.
    #[must_use]
    pub const fn is_flexible(&self, version: i16) -> bool {
        version >= self.flexible_from
    }

    /// The lowest version that ApiVersions lists.
    ///
    /// Produce 0–2 are listed though not answered: librdkafka judges compression by them (KAFKA-18659).
    #[must_use]
    pub const fn version_listed_min(&self) -> i16 {
        if self.key == PRODUCE { 0 } else { self.version_min }
    }

    const fn served(mut self) -> Self {
        self.served = true;
        self
    }
}

/// The key of Produce.
pub const PRODUCE: i16 = 0;
/// The key of ApiVersions.
pub const API_VERSIONS: i16 = 18;

/// The API with this key, served or not.
#[must_use]
pub fn find(key: i16) -> Option<&'static Api> {
    let row = *ROWS.get(usize::try_from(key).ok()?)?;
    TABLE.get(usize::from(row))
}

/// What is served, in the order of keys.
pub fn served() -> impl Iterator<Item = &'static Api> {
    TABLE.iter().filter(|api| api.served)
}

const fn api(key: i16, name: &'static str, version_min: i16, version_max: i16, flexible_from: i16) -> Api {
    Api { key, name, version_min, version_max, flexible_from, served: false }
}

/// No version is flexible.
const NEVER: i16 = i16::MAX;

/// Every API, by key.
pub const TABLE: &[Api] = &[
    api(0, "Produce", 3, 13, 9).served(),
    api(1, "Fetch", 4, 18, 12).served(),
    api(2, "ListOffsets", 1, 11, 6).served(),
    api(3, "Metadata", 0, 13, 9).served(),
    api(8, "OffsetCommit", 2, 10, 8).served(),
    api(9, "OffsetFetch", 1, 10, 6).served(),
    api(10, "FindCoordinator", 0, 6, 3).served(),
    api(11, "JoinGroup", 0, 9, 6).served(),
    api(12, "Heartbeat", 0, 4, 4).served(),
    api(13, "LeaveGroup", 0, 5, 4).served(),
    api(14, "SyncGroup", 0, 5, 4).served(),
    api(15, "DescribeGroups", 0, 6, 5).served(),
    api(16, "ListGroups", 0, 5, 3).served(),
    api(17, "SaslHandshake", 0, 1, NEVER).served(),
    api(18, "ApiVersions", 0, 5, 3).served(),
    api(19, "CreateTopics", 2, 7, 5).served(),
    api(20, "DeleteTopics", 1, 6, 4).served(),
    api(21, "DeleteRecords", 0, 2, 2).served(),
    api(22, "InitProducerId", 0, 5, 2).served(),
    api(23, "OffsetForLeaderEpoch", 2, 4, 4).served(),
    api(24, "AddPartitionsToTxn", 0, 5, 3).served(),
    api(25, "AddOffsetsToTxn", 0, 4, 3).served(),
    api(26, "EndTxn", 0, 5, 3).served(),
    api(27, "WriteTxnMarkers", 1, 2, 1).served(),
    api(28, "TxnOffsetCommit", 0, 6, 3).served(),
    api(29, "DescribeAcls", 1, 3, 2).served(),
    api(30, "CreateAcls", 1, 3, 2).served(),
    api(31, "DeleteAcls", 1, 3, 2).served(),
    api(32, "DescribeConfigs", 1, 4, 4).served(),
    api(33, "AlterConfigs", 0, 2, 2).served(),
    api(34, "AlterReplicaLogDirs", 1, 2, 2).served(),
    api(35, "DescribeLogDirs", 1, 5, 2).served(),
    api(36, "SaslAuthenticate", 0, 2, 2).served(),
    api(37, "CreatePartitions", 0, 3, 2).served(),
    api(38, "CreateDelegationToken", 1, 3, 2).served(),
    api(39, "RenewDelegationToken", 1, 2, 2).served(),
    api(40, "ExpireDelegationToken", 1, 2, 2).served(),
    api(41, "DescribeDelegationToken", 1, 3, 2).served(),
    api(42, "DeleteGroups", 0, 3, 2).served(),
    api(43, "ElectLeaders", 0, 2, 2).served(),
    api(44, "IncrementalAlterConfigs", 0, 1, 1).served(),
    api(45, "AlterPartitionReassignments", 0, 1, 0).served(),
    api(46, "ListPartitionReassignments", 0, 0, 0).served(),
    api(47, "OffsetDelete", 0, 0, NEVER).served(),
    api(48, "DescribeClientQuotas", 0, 1, 1).served(),
    api(49, "AlterClientQuotas", 0, 1, 1).served(),
    api(50, "DescribeUserScramCredentials", 0, 0, 0).served(),
    api(51, "AlterUserScramCredentials", 0, 0, 0).served(),
    api(55, "DescribeQuorum", 0, 2, 0).served(),
    api(57, "UpdateFeatures", 0, 2, 0).served(),
    api(60, "DescribeCluster", 0, 2, 0).served(),
    api(61, "DescribeProducers", 0, 0, 0).served(),
    api(64, "UnregisterBroker", 0, 0, 0).served(),
    api(65, "DescribeTransactions", 0, 0, 0).served(),
    api(66, "ListTransactions", 0, 2, 0).served(),
    api(68, "ConsumerGroupHeartbeat", 0, 1, 0).served(),
    api(69, "ConsumerGroupDescribe", 0, 1, 0).served(),
    api(74, "ListConfigResources", 0, 1, 0).served(),
    api(75, "DescribeTopicPartitions", 0, 0, 0).served(),
    api(76, "ShareGroupHeartbeat", 1, 1, 0),
    api(77, "ShareGroupDescribe", 1, 1, 0),
    api(78, "ShareFetch", 1, 2, 0),
    api(79, "ShareAcknowledge", 1, 2, 0),
    api(80, "AddRaftVoter", 0, 1, 0),
    api(81, "RemoveRaftVoter", 0, 0, 0),
    api(83, "InitializeShareGroupState", 0, 0, 0),
    api(84, "ReadShareGroupState", 0, 0, 0),
    api(85, "WriteShareGroupState", 0, 1, 0),
    api(86, "DeleteShareGroupState", 0, 0, 0),
    api(87, "ReadShareGroupStateSummary", 0, 1, 0),
    api(88, "StreamsGroupHeartbeat", 0, 1, 0),
    api(89, "StreamsGroupDescribe", 0, 1, 0),
    api(90, "DescribeShareGroupOffsets", 0, 1, 0),
    api(91, "AlterShareGroupOffsets", 0, 0, 0),
    api(92, "DeleteShareGroupOffsets", 0, 0, 0),
    api(93, "StreamsGroupTopologyDescriptionUpdate", 0, 0, 0),
    api(94, "UnregisterController", 0, 0, 0),
];

/// Key → row of [`TABLE`]; a row past the end for a key that is not there.
const ROWS: [u8; 95] = {
    let mut rows = [u8::MAX; 95];
    let mut row = 0;
    while row < TABLE.len() {
        rows[TABLE[row].key as usize] = row as u8;
        row += 1;
    }
    rows
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_api_is_found_by_its_key_and_nothing_else_is() {
        let found: Vec<_> = (i16::MIN..=i16::MAX).filter_map(find).collect();
        assert_eq!(found, TABLE.iter().collect::<Vec<_>>());
    }

    #[test]
    fn only_produce_lists_versions_that_are_not_answered() {
        let wider: Vec<_> = TABLE.iter().filter(|api| api.version_listed_min() < api.version_min).collect();
        assert_eq!(wider, [find(PRODUCE).expect("Produce is in the table")]);
    }
}
