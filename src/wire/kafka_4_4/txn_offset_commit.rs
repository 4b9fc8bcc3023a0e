//! TxnOffsetCommit (key 28), versions 0–6. 6: topics by id (KIP-1319).

use super::prelude::*;

message! {
    /// Stores offsets of a group as part of a transaction.
    TxnOffsetCommitRequest {
        transactional_id: StrBytes [0+],
        group_id: StrBytes [0+],
        producer_id: i64 [0+],
        producer_epoch: i16 [0+],
        /// −1 for a client that does not say which member it is.
        generation_id_or_member_epoch: i32 [3+] = -1,
        member_id: StrBytes [3+],
        group_instance_id: Option<StrBytes> [3+],
        topics: Vec<TxnOffsetCommitRequestTopic> [0+],
    }

    /// A topic of a commit.
    TxnOffsetCommitRequestTopic {
        name: StrBytes [0-5],
        topic_id: Uuid [6+],
        partitions: Vec<TxnOffsetCommitRequestPartition> [0+],
    }

    /// A partition of a commit.
    TxnOffsetCommitRequestPartition {
        partition_index: i32 [0+],
        committed_offset: i64 [0+],
        /// −1 if not known.
        committed_leader_epoch: i32 [2+] = -1,
        committed_metadata: Option<StrBytes> [0+] = Some(StrBytes::new()),
    }

    /// The outcome of a commit, partition by partition.
    TxnOffsetCommitResponse {
        throttle_time_ms: i32 [0+],
        topics: Vec<TxnOffsetCommitResponseTopic> [0+],
    }

    /// A topic of the outcome.
    TxnOffsetCommitResponseTopic {
        name: StrBytes [0-5],
        topic_id: Uuid [6+],
        partitions: Vec<TxnOffsetCommitResponsePartition> [0+],
    }

    /// A partition of the outcome.
    TxnOffsetCommitResponsePartition {
        partition_index: i32 [0+],
        error_code: i16 [0+],
    }
}

api! {
    key 28, versions 0 to 6, flexible 3,
    TxnOffsetCommitRequest, TxnOffsetCommitResponse with header 0 or 1
}
