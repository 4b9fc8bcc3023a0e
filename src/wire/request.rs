//! Frame → header and typed message. Source: kafka `RequestHeader.parse`, `RequestContext`.

use bytes::{Buf, Bytes, TryGetError};
use kafka_protocol::protocol::{Request, StrBytes};

use super::api_table::{self, API_VERSIONS, Api};
use super::{WireError, guard};

/// The header of a request that is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The API asked for.
    pub api: &'static Api,
    /// One of the API's versions, except for ApiVersions: see [`Header::is_supported`].
    pub version: i16,
    /// Goes back with the answer.
    pub correlation_id: i32,
    /// Empty if null, as in Kafka. A slice of the frame.
    pub client_id: StrBytes,
}

impl Header {
    /// False only for an ApiVersions request of an unknown version, whose body is not to be read and which is answered
    /// at version 0 with UNSUPPORTED_VERSION.
    #[must_use]
    pub const fn is_supported(&self) -> bool {
        self.api.has(self.version)
    }
}

/// Reads the header and leaves the body in `frame`.
///
/// # Errors
/// `UnknownKey`, `UnsupportedVersion` (not for ApiVersions), or `Header` for one that ends early.
pub fn header(frame: &mut Bytes) -> Result<Header, WireError> {
    let key = short(frame)?;
    let version = short(frame)?;
    let correlation_id = frame.try_get_i32().map_err(ends_early)?;
    let api = api_table::find(key).filter(|api| api.served).ok_or(WireError::UnknownKey { key })?;
    if !api.has(version) && key != API_VERSIONS {
        return Err(WireError::UnsupportedVersion { api: api.name, version });
    }
    let client_id = client_id(frame)?;
    if api.is_flexible(version) {
        skip_tags(frame)?;
    }
    Ok(Header { api, version, correlation_id, client_id })
}

/// Reads the body of a request whose header had `R`'s key and this version. Bytes behind it are ignored, as in Kafka.
///
/// Strings and bytes of the message are slices of `body`: what is kept longer than the request is to be copied.
///
/// # Errors
/// `Malformed`, `UnsupportedVersion` or `UnknownKey`.
pub fn decode<R: Request>(version: i16, mut body: Bytes) -> Result<R, WireError> {
    let api = api_table::find(R::KEY).ok_or(WireError::UnknownKey { key: R::KEY })?;
    if !api.has(version) {
        return Err(WireError::UnsupportedVersion { api: api.name, version });
    }
    let malformed = |reason| WireError::Malformed { api: api.name, version, reason };
    guard::check(api, version, &body).map_err(|refusal| malformed(refusal.to_string()))?;
    // Differs from Kafka: it reads bad UTF-8 as U+FFFD, the decoders refuse it.
    R::decode(&mut body, version).map_err(|error| malformed(error.to_string()))
}

/// Never compact, whatever the header version.
fn client_id(frame: &mut Bytes) -> Result<StrBytes, WireError> {
    let Ok(length) = usize::try_from(short(frame)?) else {
        return Ok(StrBytes::new());
    };
    if frame.len() < length {
        return Err(WireError::Header);
    }
    let text = frame.split_to(length);
    // Java reads bad UTF-8 as U+FFFD.
    Ok(StrBytes::from_utf8(text.clone())
        .unwrap_or_else(|_| String::from_utf8_lossy(&text).into_owned().into()))
}

fn skip_tags(frame: &mut Bytes) -> Result<(), WireError> {
    let mut rest = guard::Rest::of(frame);
    rest.skip_unknown_tags().map_err(|_| WireError::Header)?;
    let skipped = frame.len() - rest.len();
    frame.advance(skipped);
    Ok(())
}

fn short(frame: &mut Bytes) -> Result<i16, WireError> {
    frame.try_get_i16().map_err(ends_early)
}

fn ends_early(_: TryGetError) -> WireError {
    WireError::Header
}
