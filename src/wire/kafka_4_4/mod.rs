//! The messages of Apache Kafka 4.4 that are newer than the `kafka-protocol` crate, against its
//! traits. They cover every version of their API, so nothing else of the crate is needed for it.

mod field;
mod message;

mod api_versions;
mod delete_groups;
mod describe_log_dirs;
mod list_offsets;
mod offset_commit;
mod offset_fetch;
mod txn_offset_commit;
mod write_txn_markers;

pub use api_versions::*;
pub use delete_groups::*;
pub use describe_log_dirs::*;
pub use list_offsets::*;
pub use offset_commit::*;
pub use offset_fetch::*;
pub use txn_offset_commit::*;
pub use write_txn_markers::*;

/// What a file of messages needs.
mod prelude {
    pub(super) use kafka_protocol::protocol::buf::{ByteBuf, ByteBufMut};
    pub(super) use kafka_protocol::protocol::{StrBytes, VersionRange};
    pub(super) use uuid::Uuid;

    pub(super) use super::field::{At, Field, Into, Sink, Size, read_varint, write_varint};
    pub(super) use super::message::{api, message, place};
}

#[cfg(test)]
mod tests;
