//! What happened to a transactional id, in the words of Kafka's log.

use std::fmt;

use crate::types::{ProducerIdAndEpoch, TransactionalId};

/// Something that happened to a transactional id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A producer has begun to use it.
    Initialized {
        /// The transactional id.
        transactional_id: TransactionalId,
        /// Who the producer is.
        producer: ProducerIdAndEpoch,
    },
    /// A producer comes while the transaction of an earlier one is open, which is aborted.
    Fenced {
        /// The transactional id.
        transactional_id: TransactionalId,
        /// What the earlier producer was.
        producer: ProducerIdAndEpoch,
    },
    /// The transaction was open for longer than its producer allowed, and is aborted.
    TimedOut {
        /// The transactional id.
        transactional_id: TransactionalId,
        /// `transaction.timeout.ms` of the producer.
        timeout_ms: i32,
    },
    /// Nobody used it for `transactional.id.expiration.ms`.
    Expired {
        /// The transactional id.
        transactional_id: TransactionalId,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Initialized { transactional_id: id, producer } => {
                write!(f, "Initialized transactionalId {id} with {producer}")
            }
            Self::Fenced { transactional_id: id, producer } => {
                write!(
                    f,
                    "Rolling back the ongoing transaction of transactionalId {id}: it is initialized anew, which fences {producer}"
                )
            }
            Self::TimedOut { transactional_id: id, timeout_ms } => {
                write!(
                    f,
                    "Rolling back the ongoing transaction of transactionalId {id} due to its timeout of {timeout_ms} ms"
                )
            }
            Self::Expired { transactional_id: id } => {
                write!(f, "Removed transactionalId {id}, which nobody has used for too long")
            }
        }
    }
}
