//! Message → frame.

use bytes::{BufMut, BytesMut};
use kafka_protocol::protocol::{Encodable, HeaderVersion};

use super::WireError;
use super::frame::LENGTH_BYTES;

/// Appends a whole response frame to `out`: length, correlation id, tags of the header, body.
///
/// # Errors
/// `Unencodable` if the message does not fit `version`; `out` is then as before.
pub fn encode<M>(out: &mut BytesMut, correlation_id: i32, version: i16, message: &M) -> Result<(), WireError>
where
    M: Encodable + HeaderVersion,
{
    let start = out.len();
    out.put_i32(0);
    out.put_i32(correlation_id);
    if M::header_version(version) >= 1 {
        out.put_u8(0);
    }
    let written = message.encode(out, version).map_err(|error| error.to_string()).and_then(|()| {
        let length = i32::try_from(out.len() - start - LENGTH_BYTES).map_err(|error| error.to_string())?;
        out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
        Ok(())
    });
    written.map_err(|reason| {
        out.truncate(start);
        WireError::Unencodable { version, reason }
    })
}
