//! OffsetCommit (key 8), versions 2–10. 10: topics by id (KIP-848).

use super::prelude::*;

message! {
    /// Stores offsets of a group.
    OffsetCommitRequest {
        group_id: StrBytes [0+],
        /// −1 for a group that is not managed by the coordinator.
        generation_id_or_member_epoch: i32 [1+] = -1,
        member_id: StrBytes [1+],
        group_instance_id: Option<StrBytes> [7+],
        /// −1 for the broker's own retention.
        retention_time_ms: i64 [2-4] = -1,
        topics: Vec<OffsetCommitRequestTopic> [0+],
    }

    /// A topic of a commit.
    OffsetCommitRequestTopic {
        name: StrBytes [0-9],
        topic_id: Uuid [10+],
        partitions: Vec<OffsetCommitRequestPartition> [0+],
    }

    /// A partition of a commit.
    OffsetCommitRequestPartition {
        partition_index: i32 [0+],
        committed_offset: i64 [0+],
        /// −1 if not known.
        committed_leader_epoch: i32 [6+] = -1,
        committed_metadata: Option<StrBytes> [0+] = Some(StrBytes::new()),
    }

    /// The outcome of a commit, partition by partition.
    OffsetCommitResponse {
        throttle_time_ms: i32 [3+],
        topics: Vec<OffsetCommitResponseTopic> [0+],
    }

    /// A topic of the outcome.
    OffsetCommitResponseTopic {
        name: StrBytes [0-9],
        topic_id: Uuid [10+],
        partitions: Vec<OffsetCommitResponsePartition> [0+],
    }

    /// A partition of the outcome.
    OffsetCommitResponsePartition {
        partition_index: i32 [0+],
        error_code: i16 [0+],
    }
}

api! {
    key 8, versions 2 to 10, flexible 8,
    OffsetCommitRequest, OffsetCommitResponse with header 0 or 1
}
