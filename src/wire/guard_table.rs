//! The fields of every request of Kafka 4.4 as its schemas list them: what `guard` walks by.

use super::guard::{Element, Field, Fields, NEVER, Shape, Versions, decoded_bytes};

const ALL: Versions = from(0);

const fn from(since: i16) -> Versions {
    between(since, i16::MAX)
}

const fn between(since: i16, until: i16) -> Versions {
    Versions { since, until }
}

const fn field(name: &'static str, versions: Versions, shape: Shape) -> Field {
    Field { name, versions, shape, nullable_from: NEVER, tag: None }
}

/// A number, bool or uuid of so many bytes.
const fn number(name: &'static str, bytes: usize, versions: Versions) -> Field {
    field(name, versions, Shape::Fixed(bytes))
}

const fn numbers(name: &'static str, bytes: usize, versions: Versions) -> Field {
    field(name, versions, Shape::Array(Element::Fixed(bytes)))
}

const fn text(name: &'static str, versions: Versions) -> Field {
    field(name, versions, Shape::Text)
}

const fn texts(name: &'static str, versions: Versions) -> Field {
    field(name, versions, Shape::Array(Element::Text))
}

const fn bytes(name: &'static str, versions: Versions) -> Field {
    field(name, versions, Shape::Bytes)
}

const fn record(name: &'static str, versions: Versions, fields: Fields) -> Field {
    field(name, versions, Shape::Record(fields))
}

const fn array(name: &'static str, versions: Versions, fields: Fields) -> Field {
    let decoded_bytes = decoded_bytes(fields);
    field(name, versions, Shape::Array(Element::Record { fields, decoded_bytes }))
}

impl Field {
    const fn or_null(self) -> Self {
        self.or_null_from(0)
    }

    const fn or_null_from(mut self, since: i16) -> Self {
        self.nullable_from = since;
        self
    }

    const fn tag(mut self, tag: u32) -> Self {
        self.tag = Some(tag);
        self
    }
}

/// The fields of the request with this API key; `None` for a key that Kafka 4.4 does not list.
pub(super) const fn fields(key: i16) -> Option<Fields> {
    Some(match key {
        0 => PRODUCE,
        1 => FETCH,
        2 => LIST_OFFSETS,
        3 => METADATA,
        8 => OFFSET_COMMIT,
        9 => OFFSET_FETCH,
        10 => FIND_COORDINATOR,
        11 => JOIN_GROUP,
        12 => HEARTBEAT,
        13 => LEAVE_GROUP,
        14 => SYNC_GROUP,
        15 => DESCRIBE_GROUPS,
        16 => LIST_GROUPS,
        17 => SASL_HANDSHAKE,
        18 => API_VERSIONS,
        19 => CREATE_TOPICS,
        20 => DELETE_TOPICS,
        21 => DELETE_RECORDS,
        22 => INIT_PRODUCER_ID,
        23 => OFFSET_FOR_LEADER_EPOCH,
        24 => ADD_PARTITIONS_TO_TXN,
        25 => ADD_OFFSETS_TO_TXN,
        26 => END_TXN,
        27 => WRITE_TXN_MARKERS,
        28 => TXN_OFFSET_COMMIT,
        29 => DESCRIBE_ACLS,
        30 => CREATE_ACLS,
        31 => DELETE_ACLS,
        32 => DESCRIBE_CONFIGS,
        33 => ALTER_CONFIGS,
        34 => ALTER_REPLICA_LOG_DIRS,
        35 => DESCRIBE_LOG_DIRS,
        36 => SASL_AUTHENTICATE,
        37 => CREATE_PARTITIONS,
        38 => CREATE_DELEGATION_TOKEN,
        39 => RENEW_DELEGATION_TOKEN,
        40 => EXPIRE_DELEGATION_TOKEN,
        41 => DESCRIBE_DELEGATION_TOKEN,
        42 => DELETE_GROUPS,
        43 => ELECT_LEADERS,
        44 => INCREMENTAL_ALTER_CONFIGS,
        45 => ALTER_PARTITION_REASSIGNMENTS,
        46 => LIST_PARTITION_REASSIGNMENTS,
        47 => OFFSET_DELETE,
        48 => DESCRIBE_CLIENT_QUOTAS,
        49 => ALTER_CLIENT_QUOTAS,
        50 => DESCRIBE_USER_SCRAM_CREDENTIALS,
        51 => ALTER_USER_SCRAM_CREDENTIALS,
        55 => DESCRIBE_QUORUM,
        57 => UPDATE_FEATURES,
        60 => DESCRIBE_CLUSTER,
        61 => DESCRIBE_PRODUCERS,
        64 => UNREGISTER_BROKER,
        65 => DESCRIBE_TRANSACTIONS,
        66 => LIST_TRANSACTIONS,
        68 => CONSUMER_GROUP_HEARTBEAT,
        69 => CONSUMER_GROUP_DESCRIBE,
        74 => LIST_CONFIG_RESOURCES,
        75 => DESCRIBE_TOPIC_PARTITIONS,
        76 => SHARE_GROUP_HEARTBEAT,
        77 => SHARE_GROUP_DESCRIBE,
        78 => SHARE_FETCH,
        79 => SHARE_ACKNOWLEDGE,
        80 => ADD_RAFT_VOTER,
        81 => REMOVE_RAFT_VOTER,
        83 => INITIALIZE_SHARE_GROUP_STATE,
        84 => READ_SHARE_GROUP_STATE,
        85 => WRITE_SHARE_GROUP_STATE,
        86 => DELETE_SHARE_GROUP_STATE,
        87 => READ_SHARE_GROUP_STATE_SUMMARY,
        88 => STREAMS_GROUP_HEARTBEAT,
        89 => STREAMS_GROUP_DESCRIBE,
        90 => DESCRIBE_SHARE_GROUP_OFFSETS,
        91 => ALTER_SHARE_GROUP_OFFSETS,
        92 => DELETE_SHARE_GROUP_OFFSETS,
        93 => STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE,
        94 => UNREGISTER_CONTROLLER,
        _ => return None,
    })
}

const PRODUCE: Fields = &[
    text("TransactionalId", from(3)).or_null(),
    number("Acks", 2, ALL),
    number("TimeoutMs", 4, ALL),
    array(
        "TopicData",
        ALL,
        &[
            text("Name", between(0, 12)),
            number("TopicId", 16, from(13)),
            array("PartitionData", ALL, &[number("Index", 4, ALL), bytes("Records", ALL).or_null()]),
        ],
    ),
];
const FETCH: Fields = &[
    text("ClusterId", from(12)).or_null().tag(0),
    number("ReplicaId", 4, between(0, 14)),
    record(
        "ReplicaState",
        from(15),
        &[number("ReplicaId", 4, from(15)), number("ReplicaEpoch", 8, from(15))],
    )
    .tag(1),
    number("MaxWaitMs", 4, ALL),
    number("MinBytes", 4, ALL),
    number("MaxBytes", 4, from(3)),
    number("IsolationLevel", 1, from(4)),
    number("SessionId", 4, from(7)),
    number("SessionEpoch", 4, from(7)),
    array(
        "Topics",
        ALL,
        &[
            text("Topic", between(0, 12)),
            number("TopicId", 16, from(13)),
            array(
                "Partitions",
                ALL,
                &[
                    number("Partition", 4, ALL),
                    number("CurrentLeaderEpoch", 4, from(9)),
                    number("FetchOffset", 8, ALL),
                    number("LastFetchedEpoch", 4, from(12)),
                    number("LogStartOffset", 8, from(5)),
                    number("PartitionMaxBytes", 4, ALL),
                    number("ReplicaDirectoryId", 16, from(17)).tag(0),
                    number("HighWatermark", 8, from(18)).tag(1),
                ],
            ),
        ],
    ),
    array(
        "ForgottenTopicsData",
        from(7),
        &[text("Topic", between(7, 12)), number("TopicId", 16, from(13)), numbers("Partitions", 4, from(7))],
    ),
    text("RackId", from(11)),
];
const LIST_OFFSETS: Fields = &[
    number("ReplicaId", 4, ALL),
    number("IsolationLevel", 1, from(2)),
    array(
        "Topics",
        ALL,
        &[
            text("Name", ALL),
            array(
                "Partitions",
                ALL,
                &[
                    number("PartitionIndex", 4, ALL),
                    number("CurrentLeaderEpoch", 4, from(4)),
                    number("Timestamp", 8, ALL),
                ],
            ),
        ],
    ),
    number("TimeoutMs", 4, from(10)),
];
const METADATA: Fields = &[
    array("Topics", ALL, &[number("TopicId", 16, from(10)), text("Name", ALL).or_null_from(10)])
        .or_null_from(1),
    number("AllowAutoTopicCreation", 1, from(4)),
    number("IncludeClusterAuthorizedOperations", 1, between(8, 10)),
    number("IncludeTopicAuthorizedOperations", 1, from(8)),
];
const OFFSET_COMMIT: Fields = &[
    text("GroupId", ALL),
    number("GenerationIdOrMemberEpoch", 4, from(1)),
    text("MemberId", from(1)),
    text("GroupInstanceId", from(7)).or_null(),
    number("RetentionTimeMs", 8, between(2, 4)),
    array(
        "Topics",
        ALL,
        &[
            text("Name", between(0, 9)),
            number("TopicId", 16, from(10)),
            array(
                "Partitions",
                ALL,
                &[
                    number("PartitionIndex", 4, ALL),
                    number("CommittedOffset", 8, ALL),
                    number("CommittedLeaderEpoch", 4, from(6)),
                    text("CommittedMetadata", ALL).or_null(),
                ],
            ),
        ],
    ),
];
const OFFSET_FETCH: Fields = &[
    text("GroupId", between(0, 7)),
    array(
        "Topics",
        between(0, 7),
        &[text("Name", between(0, 7)), numbers("PartitionIndexes", 4, between(0, 7))],
    )
    .or_null_from(2),
    array(
        "Groups",
        from(8),
        &[
            text("GroupId", from(8)),
            text("MemberId", from(9)).or_null(),
            number("MemberEpoch", 4, from(9)),
            array(
                "Topics",
                from(8),
                &[
                    text("Name", between(8, 9)),
                    number("TopicId", 16, from(10)),
                    numbers("PartitionIndexes", 4, from(8)),
                ],
            )
            .or_null(),
        ],
    ),
    number("RequireStable", 1, from(7)),
];
const FIND_COORDINATOR: Fields =
    &[text("Key", between(0, 3)), number("KeyType", 1, from(1)), texts("CoordinatorKeys", from(4))];
const JOIN_GROUP: Fields = &[
    text("GroupId", ALL),
    number("SessionTimeoutMs", 4, ALL),
    number("RebalanceTimeoutMs", 4, from(1)),
    text("MemberId", ALL),
    text("GroupInstanceId", from(5)).or_null(),
    text("ProtocolType", ALL),
    array("Protocols", ALL, &[text("Name", ALL), bytes("Metadata", ALL)]),
    text("Reason", from(8)).or_null(),
];
const HEARTBEAT: Fields = &[
    text("GroupId", ALL),
    number("GenerationId", 4, ALL),
    text("MemberId", ALL),
    text("GroupInstanceId", from(3)).or_null(),
];
const LEAVE_GROUP: Fields = &[
    text("GroupId", ALL),
    text("MemberId", between(0, 2)),
    array(
        "Members",
        from(3),
        &[
            text("MemberId", from(3)),
            text("GroupInstanceId", from(3)).or_null(),
            text("Reason", from(5)).or_null(),
        ],
    ),
];
const SYNC_GROUP: Fields = &[
    text("GroupId", ALL),
    number("GenerationId", 4, ALL),
    text("MemberId", ALL),
    text("GroupInstanceId", from(3)).or_null(),
    text("ProtocolType", from(5)).or_null(),
    text("ProtocolName", from(5)).or_null(),
    array("Assignments", ALL, &[text("MemberId", ALL), bytes("Assignment", ALL)]),
];
const DESCRIBE_GROUPS: Fields = &[texts("Groups", ALL), number("IncludeAuthorizedOperations", 1, from(3))];
const LIST_GROUPS: Fields = &[texts("StatesFilter", from(4)), texts("TypesFilter", from(5))];
const SASL_HANDSHAKE: Fields = &[text("Mechanism", ALL)];
const API_VERSIONS: Fields = &[
    text("ClientSoftwareName", from(3)),
    text("ClientSoftwareVersion", from(3)),
    text("ClusterId", from(5)).or_null(),
    number("NodeId", 4, from(5)),
];
const CREATE_TOPICS: Fields = &[
    array(
        "Topics",
        ALL,
        &[
            text("Name", ALL),
            number("NumPartitions", 4, ALL),
            number("ReplicationFactor", 2, ALL),
            array("Assignments", ALL, &[number("PartitionIndex", 4, ALL), numbers("BrokerIds", 4, ALL)]),
            array("Configs", ALL, &[text("Name", ALL), text("Value", ALL).or_null()]),
        ],
    ),
    number("timeoutMs", 4, ALL),
    number("validateOnly", 1, from(1)),
];
const DELETE_TOPICS: Fields = &[
    array("Topics", from(6), &[text("Name", from(6)).or_null(), number("TopicId", 16, from(6))]),
    texts("TopicNames", between(0, 5)),
    number("TimeoutMs", 4, ALL),
];
const DELETE_RECORDS: Fields = &[
    array(
        "Topics",
        ALL,
        &[
            text("Name", ALL),
            array("Partitions", ALL, &[number("PartitionIndex", 4, ALL), number("Offset", 8, ALL)]),
        ],
    ),
    number("TimeoutMs", 4, ALL),
];
const INIT_PRODUCER_ID: Fields = &[
    text("TransactionalId", ALL).or_null(),
    number("TransactionTimeoutMs", 4, ALL),
    number("ProducerId", 8, from(3)),
    number("ProducerEpoch", 2, from(3)),
    number("Enable2Pc", 1, from(6)),
    number("KeepPreparedTxn", 1, from(6)),
];
const OFFSET_FOR_LEADER_EPOCH: Fields = &[
    number("ReplicaId", 4, from(3)),
    array(
        "Topics",
        ALL,
        &[
            text("Topic", ALL),
            array(
                "Partitions",
                ALL,
                &[
                    number("Partition", 4, ALL),
                    number("CurrentLeaderEpoch", 4, from(2)),
                    number("LeaderEpoch", 4, ALL),
                ],
            ),
        ],
    ),
];
const ADD_PARTITIONS_TO_TXN_ADD_PARTITIONS_TO_TXN_TOPIC: Fields =
    &[text("Name", ALL), numbers("Partitions", 4, ALL)];
const ADD_PARTITIONS_TO_TXN: Fields = &[
    array(
        "Transactions",
        from(4),
        &[
            text("TransactionalId", from(4)),
            number("ProducerId", 8, from(4)),
            number("ProducerEpoch", 2, from(4)),
            number("VerifyOnly", 1, from(4)),
            array("Topics", from(4), ADD_PARTITIONS_TO_TXN_ADD_PARTITIONS_TO_TXN_TOPIC),
        ],
    ),
    text("V3AndBelowTransactionalId", between(0, 3)),
    number("V3AndBelowProducerId", 8, between(0, 3)),
    number("V3AndBelowProducerEpoch", 2, between(0, 3)),
    array("V3AndBelowTopics", between(0, 3), ADD_PARTITIONS_TO_TXN_ADD_PARTITIONS_TO_TXN_TOPIC),
];
const ADD_OFFSETS_TO_TXN: Fields = &[
    text("TransactionalId", ALL),
    number("ProducerId", 8, ALL),
    number("ProducerEpoch", 2, ALL),
    text("GroupId", ALL),
];
const END_TXN: Fields = &[
    text("TransactionalId", ALL),
    number("ProducerId", 8, ALL),
    number("ProducerEpoch", 2, ALL),
    number("Committed", 1, ALL),
];
const WRITE_TXN_MARKERS: Fields = &[array(
    "Markers",
    ALL,
    &[
        number("ProducerId", 8, ALL),
        number("ProducerEpoch", 2, ALL),
        number("TransactionResult", 1, ALL),
        array("Topics", ALL, &[text("Name", ALL), numbers("PartitionIndexes", 4, ALL)]),
        number("CoordinatorEpoch", 4, ALL),
        number("TransactionVersion", 1, from(2)),
    ],
)];
const TXN_OFFSET_COMMIT: Fields = &[
    text("TransactionalId", ALL),
    text("GroupId", ALL),
    number("ProducerId", 8, ALL),
    number("ProducerEpoch", 2, ALL),
    number("GenerationIdOrMemberEpoch", 4, from(3)),
    text("MemberId", from(3)),
    text("GroupInstanceId", from(3)).or_null(),
    array(
        "Topics",
        ALL,
        &[
            text("Name", between(0, 5)),
            number("TopicId", 16, from(6)),
            array(
                "Partitions",
                ALL,
                &[
                    number("PartitionIndex", 4, ALL),
                    number("CommittedOffset", 8, ALL),
                    number("CommittedLeaderEpoch", 4, from(2)),
                    text("CommittedMetadata", ALL).or_null(),
                ],
            ),
        ],
    ),
];
const DESCRIBE_ACLS: Fields = &[
    number("ResourceTypeFilter", 1, ALL),
    text("ResourceNameFilter", ALL).or_null(),
    number("PatternTypeFilter", 1, from(1)),
    text("PrincipalFilter", ALL).or_null(),
    text("HostFilter", ALL).or_null(),
    number("Operation", 1, ALL),
    number("PermissionType", 1, ALL),
];
const CREATE_ACLS: Fields = &[array(
    "Creations",
    ALL,
    &[
        number("ResourceType", 1, ALL),
        text("ResourceName", ALL),
        number("ResourcePatternType", 1, from(1)),
        text("Principal", ALL),
        text("Host", ALL),
        number("Operation", 1, ALL),
        number("PermissionType", 1, ALL),
    ],
)];
const DELETE_ACLS: Fields = &[array(
    "Filters",
    ALL,
    &[
        number("ResourceTypeFilter", 1, ALL),
        text("ResourceNameFilter", ALL).or_null(),
        number("PatternTypeFilter", 1, from(1)),
        text("PrincipalFilter", ALL).or_null(),
        text("HostFilter", ALL).or_null(),
        number("Operation", 1, ALL),
        number("PermissionType", 1, ALL),
    ],
)];
const DESCRIBE_CONFIGS: Fields = &[
    array(
        "Resources",
        ALL,
        &[
            number("ResourceType", 1, ALL),
            text("ResourceName", ALL),
            texts("ConfigurationKeys", ALL).or_null(),
        ],
    ),
    number("IncludeSynonyms", 1, from(1)),
    number("IncludeDocumentation", 1, from(3)),
];
const ALTER_CONFIGS: Fields = &[
    array(
        "Resources",
        ALL,
        &[
            number("ResourceType", 1, ALL),
            text("ResourceName", ALL),
            array("Configs", ALL, &[text("Name", ALL), text("Value", ALL).or_null()]),
        ],
    ),
    number("ValidateOnly", 1, ALL),
];
const ALTER_REPLICA_LOG_DIRS: Fields = &[array(
    "Dirs",
    ALL,
    &[text("Path", ALL), array("Topics", ALL, &[text("Name", ALL), numbers("Partitions", 4, ALL)])],
)];
const DESCRIBE_LOG_DIRS: Fields =
    &[array("Topics", ALL, &[text("Topic", ALL), numbers("Partitions", 4, ALL)]).or_null()];
const SASL_AUTHENTICATE: Fields = &[bytes("AuthBytes", ALL)];
const CREATE_PARTITIONS: Fields = &[
    array(
        "Topics",
        ALL,
        &[
            text("Name", ALL),
            number("Count", 4, ALL),
            array("Assignments", ALL, &[numbers("BrokerIds", 4, ALL)]).or_null(),
        ],
    ),
    number("TimeoutMs", 4, ALL),
    number("ValidateOnly", 1, ALL),
];
const CREATE_DELEGATION_TOKEN: Fields = &[
    text("OwnerPrincipalType", from(3)).or_null(),
    text("OwnerPrincipalName", from(3)).or_null(),
    array("Renewers", ALL, &[text("PrincipalType", ALL), text("PrincipalName", ALL)]),
    number("MaxLifetimeMs", 8, ALL),
];
const RENEW_DELEGATION_TOKEN: Fields = &[bytes("Hmac", ALL), number("RenewPeriodMs", 8, ALL)];
const EXPIRE_DELEGATION_TOKEN: Fields = &[bytes("Hmac", ALL), number("ExpiryTimePeriodMs", 8, ALL)];
const DESCRIBE_DELEGATION_TOKEN: Fields =
    &[array("Owners", ALL, &[text("PrincipalType", ALL), text("PrincipalName", ALL)]).or_null()];
const DELETE_GROUPS: Fields = &[texts("GroupsNames", ALL)];
const ELECT_LEADERS: Fields = &[
    number("ElectionType", 1, from(1)),
    array("TopicPartitions", ALL, &[text("Topic", ALL), numbers("Partitions", 4, ALL)]).or_null(),
    number("TimeoutMs", 4, ALL),
];
const INCREMENTAL_ALTER_CONFIGS: Fields = &[
    array(
        "Resources",
        ALL,
        &[
            number("ResourceType", 1, ALL),
            text("ResourceName", ALL),
            array(
                "Configs",
                ALL,
                &[text("Name", ALL), number("ConfigOperation", 1, ALL), text("Value", ALL).or_null()],
            ),
        ],
    ),
    number("ValidateOnly", 1, ALL),
];
const ALTER_PARTITION_REASSIGNMENTS: Fields = &[
    number("TimeoutMs", 4, ALL),
    number("AllowReplicationFactorChange", 1, from(1)),
    array(
        "Topics",
        ALL,
        &[
            text("Name", ALL),
            array(
                "Partitions",
                ALL,
                &[number("PartitionIndex", 4, ALL), numbers("Replicas", 4, ALL).or_null()],
            ),
        ],
    ),
];
const LIST_PARTITION_REASSIGNMENTS: Fields = &[
    number("TimeoutMs", 4, ALL),
    array("Topics", ALL, &[text("Name", ALL), numbers("PartitionIndexes", 4, ALL)]).or_null(),
];
const OFFSET_DELETE: Fields = &[
    text("GroupId", ALL),
    array("Topics", ALL, &[text("Name", ALL), array("Partitions", ALL, &[number("PartitionIndex", 4, ALL)])]),
];
const DESCRIBE_CLIENT_QUOTAS: Fields = &[
    array(
        "Components",
        ALL,
        &[text("EntityType", ALL), number("MatchType", 1, ALL), text("Match", ALL).or_null()],
    ),
    number("Strict", 1, ALL),
];
const ALTER_CLIENT_QUOTAS: Fields = &[
    array(
        "Entries",
        ALL,
        &[
            array("Entity", ALL, &[text("EntityType", ALL), text("EntityName", ALL).or_null()]),
            array("Ops", ALL, &[text("Key", ALL), number("Value", 8, ALL), number("Remove", 1, ALL)]),
        ],
    ),
    number("ValidateOnly", 1, ALL),
];
const DESCRIBE_USER_SCRAM_CREDENTIALS: Fields = &[array("Users", ALL, &[text("Name", ALL)]).or_null()];
const ALTER_USER_SCRAM_CREDENTIALS: Fields = &[
    array("Deletions", ALL, &[text("Name", ALL), number("Mechanism", 1, ALL)]),
    array(
        "Upsertions",
        ALL,
        &[
            text("Name", ALL),
            number("Mechanism", 1, ALL),
            number("Iterations", 4, ALL),
            bytes("Salt", ALL),
            bytes("SaltedPassword", ALL),
        ],
    ),
];
const DESCRIBE_QUORUM: Fields = &[array(
    "Topics",
    ALL,
    &[text("TopicName", ALL), array("Partitions", ALL, &[number("PartitionIndex", 4, ALL)])],
)];
const UPDATE_FEATURES: Fields = &[
    number("timeoutMs", 4, ALL),
    array(
        "FeatureUpdates",
        ALL,
        &[
            text("Feature", ALL),
            number("MaxVersionLevel", 2, ALL),
            number("AllowDowngrade", 1, between(0, 0)),
            number("UpgradeType", 1, from(1)),
        ],
    ),
    number("ValidateOnly", 1, from(1)),
];
const DESCRIBE_CLUSTER: Fields = &[
    number("IncludeClusterAuthorizedOperations", 1, ALL),
    number("EndpointType", 1, from(1)),
    number("IncludeFencedBrokers", 1, from(2)),
];
const DESCRIBE_PRODUCERS: Fields =
    &[array("Topics", ALL, &[text("Name", ALL), numbers("PartitionIndexes", 4, ALL)])];
const UNREGISTER_BROKER: Fields = &[number("BrokerId", 4, ALL)];
const DESCRIBE_TRANSACTIONS: Fields = &[texts("TransactionalIds", ALL)];
const LIST_TRANSACTIONS: Fields = &[
    texts("StateFilters", ALL),
    numbers("ProducerIdFilters", 8, ALL),
    number("DurationFilter", 8, from(1)),
    text("TransactionalIdPattern", from(2)).or_null(),
];
const CONSUMER_GROUP_HEARTBEAT: Fields = &[
    text("GroupId", ALL),
    text("MemberId", ALL),
    number("MemberEpoch", 4, ALL),
    text("InstanceId", ALL).or_null(),
    text("RackId", ALL).or_null(),
    number("RebalanceTimeoutMs", 4, ALL),
    texts("SubscribedTopicNames", ALL).or_null(),
    text("SubscribedTopicRegex", from(1)).or_null(),
    text("ServerAssignor", ALL).or_null(),
    array("TopicPartitions", ALL, &[number("TopicId", 16, ALL), numbers("Partitions", 4, ALL)]).or_null(),
];
const CONSUMER_GROUP_DESCRIBE: Fields =
    &[texts("GroupIds", ALL), number("IncludeAuthorizedOperations", 1, ALL)];
const LIST_CONFIG_RESOURCES: Fields = &[numbers("ResourceTypes", 1, from(1))];
const DESCRIBE_TOPIC_PARTITIONS: Fields = &[
    array("Topics", ALL, &[text("Name", ALL)]),
    number("ResponsePartitionLimit", 4, ALL),
    record("Cursor", ALL, &[text("TopicName", ALL), number("PartitionIndex", 4, ALL)]).or_null(),
];
const SHARE_GROUP_HEARTBEAT: Fields = &[
    text("GroupId", ALL),
    text("MemberId", ALL),
    number("MemberEpoch", 4, ALL),
    text("RackId", ALL).or_null(),
    texts("SubscribedTopicNames", ALL).or_null(),
];
const SHARE_GROUP_DESCRIBE: Fields = &[texts("GroupIds", ALL), number("IncludeAuthorizedOperations", 1, ALL)];
const SHARE_FETCH: Fields = &[
    text("GroupId", ALL).or_null(),
    text("MemberId", ALL).or_null(),
    number("ShareSessionEpoch", 4, ALL),
    number("MaxWaitMs", 4, ALL),
    number("MinBytes", 4, ALL),
    number("MaxBytes", 4, ALL),
    number("MaxRecords", 4, from(1)),
    number("BatchSize", 4, from(1)),
    number("ShareAcquireMode", 1, from(2)),
    number("IsRenewAck", 1, from(2)),
    array(
        "Topics",
        ALL,
        &[
            number("TopicId", 16, ALL),
            array(
                "Partitions",
                ALL,
                &[
                    number("PartitionIndex", 4, ALL),
                    number("PartitionMaxBytes", 4, between(0, 0)),
                    array(
                        "AcknowledgementBatches",
                        ALL,
                        &[
                            number("FirstOffset", 8, ALL),
                            number("LastOffset", 8, ALL),
                            numbers("AcknowledgeTypes", 1, ALL),
                        ],
                    ),
                ],
            ),
        ],
    ),
    array("ForgottenTopicsData", ALL, &[number("TopicId", 16, ALL), numbers("Partitions", 4, ALL)]),
];
const SHARE_ACKNOWLEDGE: Fields = &[
    text("GroupId", ALL).or_null(),
    text("MemberId", ALL).or_null(),
    number("ShareSessionEpoch", 4, ALL),
    number("IsRenewAck", 1, from(2)),
    array(
        "Topics",
        ALL,
        &[
            number("TopicId", 16, ALL),
            array(
                "Partitions",
                ALL,
                &[
                    number("PartitionIndex", 4, ALL),
                    array(
                        "AcknowledgementBatches",
                        ALL,
                        &[
                            number("FirstOffset", 8, ALL),
                            number("LastOffset", 8, ALL),
                            numbers("AcknowledgeTypes", 1, ALL),
                        ],
                    ),
                ],
            ),
        ],
    ),
];
const ADD_RAFT_VOTER: Fields = &[
    text("ClusterId", ALL).or_null(),
    number("TimeoutMs", 4, ALL),
    number("VoterId", 4, ALL),
    number("VoterDirectoryId", 16, ALL),
    array("Listeners", ALL, &[text("Name", ALL), text("Host", ALL), number("Port", 2, ALL)]),
    number("AckWhenCommitted", 1, from(1)),
];
const REMOVE_RAFT_VOTER: Fields =
    &[text("ClusterId", ALL).or_null(), number("VoterId", 4, ALL), number("VoterDirectoryId", 16, ALL)];
const INITIALIZE_SHARE_GROUP_STATE: Fields = &[
    text("GroupId", ALL),
    array(
        "Topics",
        ALL,
        &[
            number("TopicId", 16, ALL),
            array(
                "Partitions",
                ALL,
                &[number("Partition", 4, ALL), number("StateEpoch", 4, ALL), number("StartOffset", 8, ALL)],
            ),
        ],
    ),
];
const READ_SHARE_GROUP_STATE: Fields = &[
    text("GroupId", ALL),
    array(
        "Topics",
        ALL,
        &[
            number("TopicId", 16, ALL),
            array("Partitions", ALL, &[number("Partition", 4, ALL), number("LeaderEpoch", 4, ALL)]),
        ],
    ),
];
const WRITE_SHARE_GROUP_STATE: Fields = &[
    text("GroupId", ALL),
    array(
        "Topics",
        ALL,
        &[
            number("TopicId", 16, ALL),
            array(
                "Partitions",
                ALL,
                &[
                    number("Partition", 4, ALL),
                    number("StateEpoch", 4, ALL),
                    number("LeaderEpoch", 4, ALL),
                    number("StartOffset", 8, ALL),
                    number("DeliveryCompleteCount", 4, from(1)),
                    array(
                        "StateBatches",
                        ALL,
                        &[
                            number("FirstOffset", 8, ALL),
                            number("LastOffset", 8, ALL),
                            number("DeliveryState", 1, ALL),
                            number("DeliveryCount", 2, ALL),
                        ],
                    ),
                ],
            ),
        ],
    ),
];
const DELETE_SHARE_GROUP_STATE: Fields = &[
    text("GroupId", ALL),
    array(
        "Topics",
        ALL,
        &[number("TopicId", 16, ALL), array("Partitions", ALL, &[number("Partition", 4, ALL)])],
    ),
];
const READ_SHARE_GROUP_STATE_SUMMARY: Fields = &[
    text("GroupId", ALL),
    array(
        "Topics",
        ALL,
        &[
            number("TopicId", 16, ALL),
            array("Partitions", ALL, &[number("Partition", 4, ALL), number("LeaderEpoch", 4, ALL)]),
        ],
    ),
];
const STREAMS_GROUP_HEARTBEAT_KEY_VALUE: Fields = &[text("Key", ALL), text("Value", ALL)];
const STREAMS_GROUP_HEARTBEAT_TOPIC_INFO: Fields = &[
    text("Name", ALL),
    number("Partitions", 4, ALL),
    number("ReplicationFactor", 2, ALL),
    array("TopicConfigs", ALL, STREAMS_GROUP_HEARTBEAT_KEY_VALUE),
];
const STREAMS_GROUP_HEARTBEAT_ENDPOINT: Fields = &[text("Host", ALL), number("Port", 2, ALL)];
const STREAMS_GROUP_HEARTBEAT_TASK_OFFSET: Fields =
    &[text("SubtopologyId", ALL), number("Partition", 4, ALL), number("Offset", 8, ALL)];
const STREAMS_GROUP_HEARTBEAT_TASK_IDS: Fields = &[text("SubtopologyId", ALL), numbers("Partitions", 4, ALL)];
const STREAMS_GROUP_HEARTBEAT: Fields = &[
    text("GroupId", ALL),
    text("MemberId", ALL),
    number("MemberEpoch", 4, ALL),
    number("EndpointInformationEpoch", 4, ALL),
    text("InstanceId", ALL).or_null(),
    text("RackId", ALL).or_null(),
    number("RebalanceTimeoutMs", 4, ALL),
    record(
        "Topology",
        ALL,
        &[
            number("Epoch", 4, ALL),
            array(
                "Subtopologies",
                ALL,
                &[
                    text("SubtopologyId", ALL),
                    texts("SourceTopics", ALL),
                    texts("SourceTopicRegex", ALL),
                    array("StateChangelogTopics", ALL, STREAMS_GROUP_HEARTBEAT_TOPIC_INFO),
                    texts("RepartitionSinkTopics", ALL),
                    array("RepartitionSourceTopics", ALL, STREAMS_GROUP_HEARTBEAT_TOPIC_INFO),
                    array(
                        "CopartitionGroups",
                        ALL,
                        &[
                            numbers("SourceTopics", 2, ALL),
                            numbers("SourceTopicRegex", 2, ALL),
                            numbers("RepartitionSourceTopics", 2, ALL),
                        ],
                    ),
                ],
            ),
        ],
    )
    .or_null(),
    array("ActiveTasks", ALL, STREAMS_GROUP_HEARTBEAT_TASK_IDS).or_null(),
    array("StandbyTasks", ALL, STREAMS_GROUP_HEARTBEAT_TASK_IDS).or_null(),
    array("WarmupTasks", ALL, STREAMS_GROUP_HEARTBEAT_TASK_IDS).or_null(),
    text("ProcessId", ALL).or_null(),
    record("UserEndpoint", ALL, STREAMS_GROUP_HEARTBEAT_ENDPOINT).or_null(),
    array("ClientTags", ALL, STREAMS_GROUP_HEARTBEAT_KEY_VALUE).or_null(),
    array("TaskOffsets", ALL, STREAMS_GROUP_HEARTBEAT_TASK_OFFSET).or_null(),
    array("TaskEndOffsets", ALL, STREAMS_GROUP_HEARTBEAT_TASK_OFFSET).or_null(),
    number("ShutdownApplication", 1, ALL),
];
const STREAMS_GROUP_DESCRIBE: Fields = &[
    texts("GroupIds", ALL),
    number("IncludeAuthorizedOperations", 1, ALL),
    number("IncludeTopologyDescription", 1, from(1)),
];
const DESCRIBE_SHARE_GROUP_OFFSETS: Fields = &[array(
    "Groups",
    ALL,
    &[
        text("GroupId", ALL),
        array("Topics", ALL, &[text("TopicName", ALL), numbers("Partitions", 4, ALL)]).or_null(),
    ],
)];
const ALTER_SHARE_GROUP_OFFSETS: Fields = &[
    text("GroupId", ALL),
    array(
        "Topics",
        ALL,
        &[
            text("TopicName", ALL),
            array("Partitions", ALL, &[number("PartitionIndex", 4, ALL), number("StartOffset", 8, ALL)]),
        ],
    ),
];
const DELETE_SHARE_GROUP_OFFSETS: Fields =
    &[text("GroupId", ALL), array("Topics", ALL, &[text("TopicName", ALL)])];
const STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION: Fields = &[
    array("Subtopologies", ALL, STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION_SUBTOPOLOGY),
    array("GlobalStores", ALL, STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION_GLOBAL_STORE),
];
const STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION_SUBTOPOLOGY: Fields = &[
    text("SubtopologyId", ALL),
    array("Nodes", ALL, STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION_NODE),
];
const STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION_NODE: Fields = &[
    text("Name", ALL),
    number("NodeType", 1, ALL),
    texts("SourceTopics", ALL),
    text("SinkTopic", ALL).or_null(),
    texts("Stores", ALL),
    texts("Successors", ALL),
];
const STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION_GLOBAL_STORE: Fields = &[
    record("Source", ALL, STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION_NODE),
    record("Processor", ALL, STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION_NODE),
];
const STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: Fields = &[
    text("GroupId", ALL),
    text("MemberId", ALL),
    number("TopologyEpoch", 4, ALL),
    record("TopologyDescription", ALL, STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_TOPOLOGY_DESCRIPTION),
];
const UNREGISTER_CONTROLLER: Fields = &[number("ControllerId", 4, ALL)];
