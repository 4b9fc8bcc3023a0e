//! What a topic's configuration says to its log.

/// The topic configs that the log looks at; names and defaults are Kafka's.
// Differs from Kafka: `compression.type` is not among them, batches stay as their producer compressed them.
#[derive(Clone, Debug, PartialEq)]
pub struct LogConfig {
    /// `retention.ms`, in milliseconds; `None` keeps for ever (-1).
    pub retention_ms: Option<i64>,
    /// `retention.bytes` of one partition; `None` is no bound (-1).
    pub retention_bytes: Option<i64>,
    /// `max.message.bytes` of one batch, header included.
    pub max_message_bytes: usize,
    /// `segment.bytes`: no batch is larger. Segments in memory may be smaller.
    pub segment_bytes: usize,
    /// `message.timestamp.type` is `LogAppendTime`.
    pub log_append_time: bool,
    /// `message.timestamp.before.max.ms`: how much older than the broker's clock a record may be.
    pub timestamp_before_max_ms: i64,
    /// `message.timestamp.after.max.ms`: how much newer than the broker's clock a record may be.
    pub timestamp_after_max_ms: i64,
    /// `cleanup.policy` holds `delete`: retention applies.
    pub delete: bool,
    /// `cleanup.policy` holds `compact`: records need keys, and the last one of each key stays.
    pub compact: bool,
    /// `delete.retention.ms`: how long a tombstone stays after the compaction that first met it.
    pub delete_retention_ms: i64,
    /// `min.compaction.lag.ms`: how old a record is before it is compacted.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`: how old a record is when it is compacted whatever the ratio says.
    pub max_compaction_lag_ms: i64,
    /// `min.cleanable.dirty.ratio`: how much of a partition has to be new before it is compacted.
    pub min_cleanable_dirty_ratio: f64,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self {
            retention_ms: Some(604_800_000),
            retention_bytes: None,
            max_message_bytes: 1_048_588,
            segment_bytes: 1 << 30,
            log_append_time: false,
            timestamp_before_max_ms: i64::MAX,
            timestamp_after_max_ms: 3_600_000,
            delete: true,
            compact: false,
            delete_retention_ms: 86_400_000,
            min_compaction_lag_ms: 0,
            max_compaction_lag_ms: i64::MAX,
            min_cleanable_dirty_ratio: 0.5,
        }
    }
}
