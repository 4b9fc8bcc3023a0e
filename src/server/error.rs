//! Why a broker does not start.

use std::fmt;
use std::io;

/// A line for whoever started it.
#[derive(Debug)]
pub enum StartError {
    /// The address cannot be listened on.
    Address {
        /// Host and port.
        address: String,
        /// What the system says.
        error: io::Error,
    },
    /// An assignor is missing, or there twice; why, in one line.
    Assignor(String),
    /// A topic that is to be there from the start cannot be; why, in one line.
    Topic(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { address, error } if error.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "{address} is in use by another process; choose another port, or 0 for a free one")
            }
            Self::Assignor(reason) | Self::Topic(reason) => f.write_str(reason),
            Self::Address { address, error } => write!(f, "cannot listen on {address}: {error}"),
        }
    }
}

impl std::error::Error for StartError {}
