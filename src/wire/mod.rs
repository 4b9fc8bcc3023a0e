//! Bytes ↔ typed messages: frame, header, guard, message. Nothing here knows what a group is.
//!
//! The messages are those of the `kafka-protocol` crate, and of [`kafka_4_4`] where Kafka 4.4 is newer.

pub mod api_table;
mod error;
pub mod frame;
pub mod guard;
mod guard_table;
pub mod kafka_4_4;
pub mod request;
pub mod response;

pub use error::WireError;

#[cfg(test)]
mod tests;
