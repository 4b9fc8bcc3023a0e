//! WriteTxnMarkers (key 27), versions 1–2. 2: the version of the transaction (KIP-1228).

use super::prelude::*;

message! {
    /// Ends transactions in the partitions that they wrote to.
    WriteTxnMarkersRequest {
        markers: Vec<WritableTxnMarker> [0+],
    }

    /// The end of one transaction.
    WritableTxnMarker {
        producer_id: i64 [0+],
        producer_epoch: i16 [0+],
        /// Whether it was committed.
        transaction_result: bool [0+],
        topics: Vec<WritableTxnMarkerTopic> [0+],
        coordinator_epoch: i32 [0+],
        /// From 2 on the epoch is newer than that of the records (KIP-890).
        transaction_version: i8 [2+],
    }

    /// A topic that it wrote to.
    WritableTxnMarkerTopic {
        name: StrBytes [0+],
        partition_indexes: Vec<i32> [0+],
    }

    /// The outcome, transaction by transaction.
    WriteTxnMarkersResponse {
        markers: Vec<WritableTxnMarkerResult> [0+],
    }

    /// The outcome for one transaction.
    WritableTxnMarkerResult {
        producer_id: i64 [0+],
        topics: Vec<WritableTxnMarkerTopicResult> [0+],
    }

    /// A topic of the outcome.
    WritableTxnMarkerTopicResult {
        name: StrBytes [0+],
        partitions: Vec<WritableTxnMarkerPartitionResult> [0+],
    }

    /// A partition of the outcome.
    WritableTxnMarkerPartitionResult {
        partition_index: i32 [0+],
        error_code: i16 [0+],
    }
}

api! {
    key 27, versions 1 to 2, flexible 1,
    WriteTxnMarkersRequest, WriteTxnMarkersResponse with header 0 or 1
}
