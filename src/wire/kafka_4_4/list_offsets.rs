//! ListOffsets (key 2), versions 1–11. 2: isolation level. 4: leader epochs. 7: the offset of the
//! largest timestamp (−3). 8 and 9: tiered storage (−4, −5). 10: timeout. 11: −6 (KIP-1023).

use super::prelude::*;

message! {
    /// Asks for the offset of a timestamp, partition by partition.
    ListOffsetsRequest {
        /// −1 for a client.
        replica_id: i32 [0+],
        /// 0 reads uncommitted, 1 committed records.
        isolation_level: i8 [2+],
        topics: Vec<ListOffsetsTopic> [0+],
        timeout_ms: i32 [10+],
    }

    /// A topic asked for.
    ListOffsetsTopic {
        name: StrBytes [0+],
        partitions: Vec<ListOffsetsPartition> [0+],
    }

    /// A partition asked for.
    ListOffsetsPartition {
        partition_index: i32 [0+],
        /// −1 if not known.
        current_leader_epoch: i32 [4+] = -1,
        /// Milliseconds since 1970, or a negative sentinel.
        timestamp: i64 [0+],
    }

    /// The offsets found.
    ListOffsetsResponse {
        throttle_time_ms: i32 [2+],
        topics: Vec<ListOffsetsTopicResponse> [0+],
    }

    /// A topic of the answer.
    ListOffsetsTopicResponse {
        name: StrBytes [0+],
        partitions: Vec<ListOffsetsPartitionResponse> [0+],
    }

    /// A partition of the answer.
    ListOffsetsPartitionResponse {
        partition_index: i32 [0+],
        error_code: i16 [0+],
        timestamp: i64 [1+] = -1,
        offset: i64 [1+] = -1,
        leader_epoch: i32 [4+] = -1,
    }
}

api! {
    key 2, versions 1 to 11, flexible 6,
    ListOffsetsRequest, ListOffsetsResponse with header 0 or 1
}
