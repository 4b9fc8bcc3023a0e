//! DescribeLogDirs (key 35), versions 1–5. 3: an error for all. 4: the volume (KIP-827). 5: cordoned (KIP-1066).

use super::prelude::*;

message! {
    /// Describes log directories; null topics are all topics.
    DescribeLogDirsRequest {
        topics: Option<Vec<DescribableLogDirTopic>> [0+],
    }

    /// A topic whose partitions are asked for.
    DescribableLogDirTopic {
        topic: StrBytes [0+],
        partitions: Vec<i32> [0+],
    }

    /// What the log directories hold.
    DescribeLogDirsResponse {
        throttle_time_ms: i32 [0+],
        error_code: i16 [3+],
        results: Vec<DescribeLogDirsResult> [0+],
    }

    /// One log directory.
    DescribeLogDirsResult {
        error_code: i16 [0+],
        log_dir: StrBytes [0+],
        topics: Vec<DescribeLogDirsTopic> [0+],
        total_bytes: i64 [4+] = -1,
        usable_bytes: i64 [4+] = -1,
        is_cordoned: bool [5+],
    }

    /// One topic in a log directory.
    DescribeLogDirsTopic {
        name: StrBytes [0+],
        partitions: Vec<DescribeLogDirsPartition> [0+],
    }

    /// One partition in a log directory.
    DescribeLogDirsPartition {
        partition_index: i32 [0+],
        partition_size: i64 [0+],
        offset_lag: i64 [0+],
        is_future_key: bool [0+],
    }
}

api! {
    key 35, versions 1 to 5, flexible 2,
    DescribeLogDirsRequest, DescribeLogDirsResponse with header 0 or 1
}
