//! Why a connection is closed without an answer.

use std::fmt;

/// What a peer sent cannot be read. Kafka closes the connection, and so does the shell, with this as the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireError {
    /// The length before a frame is not in 1 … `bytes_max`.
    FrameLength {
        /// As sent.
        length: i32,
        /// `socket.request.max.bytes`.
        bytes_max: usize,
        /// What these bytes look like, if they are no Kafka frame at all.
        alien: Option<&'static str>,
    },
    /// The request header ends early or cannot be read.
    Header,
    /// No API that is served has this key.
    UnknownKey {
        /// From the request header.
        key: i16,
    },
    /// The API has no such version.
    UnsupportedVersion {
        /// The API's name.
        api: &'static str,
        /// From the request header.
        version: i16,
    },
    /// The body of a request does not follow its schema.
    Malformed {
        /// The API's name.
        api: &'static str,
        /// From the request header.
        version: i16,
        /// What is wrong, in words.
        reason: String,
    },
    /// A response of ours does not fit its schema at this version.
    Unencodable {
        /// The version of the request.
        version: i16,
        /// What is wrong, in words.
        reason: String,
    },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FrameLength { alien: Some(alien), .. } => {
                write!(f, "not the Kafka protocol: this is {alien}")
            }
            Self::FrameLength { length, bytes_max, alien: None } => {
                write!(f, "a frame of {length} bytes is announced, 1 to {bytes_max} are accepted")
            }
            Self::Header => f.write_str("the request header cannot be read"),
            Self::UnknownKey { key } => write!(f, "no API with key {key} is served"),
            Self::UnsupportedVersion { api, version } => write!(f, "{api} has no version {version} here"),
            Self::Malformed { api, version, reason } => write!(f, "malformed {api} v{version}: {reason}"),
            Self::Unencodable { version, reason } => {
                write!(f, "a response does not fit version {version}: {reason}")
            }
        }
    }
}

impl std::error::Error for WireError {}
