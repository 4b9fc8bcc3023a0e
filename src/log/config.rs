//! What a topic's configuration says to its log.

/// The topic configs that the log looks at; names and defaults are Kafka's.
// Differs from Kafka: `compression.type` is not among them, batches stay as their producer compressed them.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// `cleanup.policy` holds `compact`: records need keys.
    // Differs from Kafka: nothing is compacted yet.
    pub compact: bool,
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
        }
    }
}
