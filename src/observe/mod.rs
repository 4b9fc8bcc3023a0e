//! What is made of the events of the cores: today the log. Reads only, and never sees the state of a group.

mod log;

pub use log::{log, log_transaction};
