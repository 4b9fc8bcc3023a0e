//! OffsetFetch (key 9), versions 1–10. 2: all topics by null. 7: require stable (KIP-447).
//! 8: several groups (KIP-709). 9: member id and epoch. 10: topics by id (KIP-848).

use super::prelude::*;

message! {
    /// Reads committed offsets: of one group up to version 7, of several from 8.
    OffsetFetchRequest {
        group_id: StrBytes [0-7],
        /// `None` for every topic of the group.
        topics: Option<Vec<OffsetFetchRequestTopic>> [0-7] = Some(Vec::new()),
        groups: Vec<OffsetFetchRequestGroup> [8+],
        /// Whether offsets of open transactions are an error.
        require_stable: bool [7+],
    }

    /// A topic asked for (up to version 7).
    OffsetFetchRequestTopic {
        name: StrBytes [0-7],
        partition_indexes: Vec<i32> [0-7],
    }

    /// A group asked for (from version 8).
    OffsetFetchRequestGroup {
        group_id: StrBytes [8+],
        member_id: Option<StrBytes> [9+],
        /// −1 if the member is not to be checked.
        member_epoch: i32 [9+] = -1,
        /// `None` for every topic of the group.
        topics: Option<Vec<OffsetFetchRequestTopics>> [8+] = Some(Vec::new()),
    }

    /// A topic of a group asked for (from version 8).
    OffsetFetchRequestTopics {
        name: StrBytes [8-9],
        topic_id: Uuid [10+],
        partition_indexes: Vec<i32> [8+],
    }

    /// Committed offsets.
    OffsetFetchResponse {
        throttle_time_ms: i32 [3+],
        topics: Vec<OffsetFetchResponseTopic> [0-7],
        error_code: i16 [2-7],
        groups: Vec<OffsetFetchResponseGroup> [8+],
    }

    /// A topic of the answer (up to version 7).
    OffsetFetchResponseTopic {
        name: StrBytes [0-7],
        partitions: Vec<OffsetFetchResponsePartition> [0-7],
    }

    /// A partition of the answer (up to version 7).
    OffsetFetchResponsePartition {
        partition_index: i32 [0-7],
        /// −1 if there is none.
        committed_offset: i64 [0-7],
        committed_leader_epoch: i32 [5-7] = -1,
        metadata: Option<StrBytes> [0-7] = Some(StrBytes::new()),
        error_code: i16 [0-7],
    }

    /// A group of the answer (from version 8).
    OffsetFetchResponseGroup {
        group_id: StrBytes [8+],
        topics: Vec<OffsetFetchResponseTopics> [8+],
        error_code: i16 [8+],
    }

    /// A topic of a group of the answer (from version 8).
    OffsetFetchResponseTopics {
        name: StrBytes [8-9],
        topic_id: Uuid [10+],
        partitions: Vec<OffsetFetchResponsePartitions> [8+],
    }

    /// A partition of a group of the answer (from version 8).
    OffsetFetchResponsePartitions {
        partition_index: i32 [8+],
        /// −1 if there is none.
        committed_offset: i64 [8+],
        committed_leader_epoch: i32 [8+] = -1,
        metadata: Option<StrBytes> [8+] = Some(StrBytes::new()),
        error_code: i16 [8+],
    }
}

api! {
    key 9, versions 1 to 10, flexible 6,
    OffsetFetchRequest, OffsetFetchResponse with header 0 or 1
}
