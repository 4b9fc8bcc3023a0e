//! Why the log refuses: variants bear the names of Kafka's errors.

use std::fmt;

/// A refusal of an append, a read or a look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogError {
    /// There is no such partition.
    UnknownTopicOrPartition,
    /// The offset is before the start or behind the end of the log.
    OffsetOutOfRange,
    /// The client knows of an earlier leader than the last.
    FencedLeaderEpoch,
    /// The client knows of a leader that has not been yet.
    UnknownLeaderEpoch,
    /// Length, magic or CRC are wrong; with Kafka's text where it has one.
    CorruptMessage(Option<String>),
    /// A batch that no client may send.
    InvalidRecord,
    /// Single records are refused (INVALID_RECORD).
    InvalidRecords(Rejection),
    /// Timestamps are out of range, or of the wrong type.
    InvalidTimestamp(Rejection),
    /// Larger than `max.message.bytes`.
    MessageTooLarge,
    /// Larger than `segment.bytes`.
    RecordListTooLarge,
    /// zstd in a Produce before version 7.
    UnsupportedCompressionType,
    /// Neither a new batch nor one of the last five of this producer.
    OutOfOrderSequenceNumber,
    /// A newer epoch of this producer has written already.
    InvalidProducerEpoch,
    /// Transactional, but there is no such transaction, or not transactional while there is one.
    InvalidTxnState,
    /// A newer coordinator has written for this producer already.
    TransactionCoordinatorFenced,
    /// The log holds as many bytes as it may.
    PolicyViolation(String),
    /// What Kafka itself fails at without a name for it.
    UnknownServerError,
}

/// Which records are refused, and Kafka's text about them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// In the order of the batch; at most [`RECORD_ERRORS_MAX`](crate::limits::RECORD_ERRORS_MAX).
    pub records: Vec<RecordError>,
    /// About all of them.
    pub message: String,
}

/// Why one record is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// Counted from 0 in its batch.
    pub index: i32,
    /// Kafka's text.
    pub message: String,
}

impl LogError {
    /// What Kafka tells the client about it beyond the code.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::CorruptMessage(text) => text.as_deref(),
            Self::InvalidRecords(rejection) | Self::InvalidTimestamp(rejection) => Some(&rejection.message),
            Self::PolicyViolation(text) => Some(text),
            _ => None,
        }
    }

    /// The single records refused.
    #[must_use]
    pub fn record_errors(&self) -> &[RecordError] {
        match self {
            Self::InvalidRecords(rejection) | Self::InvalidTimestamp(rejection) => &rejection.records,
            _ => &[],
        }
    }
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message() {
            Some(text) => f.write_str(text),
            None => fmt::Debug::fmt(self, f),
        }
    }
}

impl std::error::Error for LogError {}
