//! Length prefix ↔ frame: four bytes of length, then that many bytes.
//!
//! Source: kafka `NetworkReceive`.

use bytes::{Buf, Bytes, BytesMut};

use super::WireError;

/// The bytes before a frame that say how long it is.
pub const LENGTH_BYTES: usize = 4;

/// Takes the next whole frame off `received`; `None` as long as it is incomplete.
///
/// Allocates nothing for a frame that is only announced: the caller's buffer grows with what arrives.
///
/// # Errors
/// `FrameLength` for a length that is negative, zero or above `bytes_max`.
pub fn next(received: &mut BytesMut, bytes_max: usize) -> Result<Option<Bytes>, WireError> {
    let Some(prefix) = received.first_chunk::<LENGTH_BYTES>() else {
        return Ok(None);
    };
    let length = i32::from_be_bytes(*prefix);
    let frame_bytes = usize::try_from(length).unwrap_or(0);
    if !(1..=bytes_max).contains(&frame_bytes) {
        let alien = alien(prefix);
        return Err(WireError::FrameLength { length, bytes_max, alien });
    }
    if received.len() - LENGTH_BYTES < frame_bytes {
        return Ok(None);
    }
    received.advance(LENGTH_BYTES);
    Ok(Some(received.split_to(frame_bytes).freeze()))
}

/// What a peer speaks that is known to open with these four bytes.
///
/// Read as a length they are larger than any frame, so they are always refused.
fn alien(prefix: &[u8; LENGTH_BYTES]) -> Option<&'static str> {
    match prefix {
        b"GET " | b"POST" | b"PUT " | b"HEAD" | b"DELE" | b"OPTI" | b"PATC" | b"CONN" | b"TRAC" => {
            Some("an HTTP request")
        }
        b"PRI " => Some("an HTTP/2 preface"),
        b"SSH-" => Some("an SSH banner"),
        // A handshake record of TLS 1.0 to 1.3; all of them say 3.x.
        [0x16, 0x03, ..] => Some("a TLS hello (is the client set to SSL?)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;

    use super::*;

    const BYTES_MAX: usize = 100 << 20;

    fn received(bytes: &[u8]) -> BytesMut {
        BytesMut::from(bytes)
    }

    #[test]
    fn a_frame_may_arrive_byte_by_byte() {
        let mut buffer = BytesMut::new();
        for byte in [0, 0, 0, 3, b'a', b'b'] {
            buffer.put_u8(byte);
            assert_eq!(next(&mut buffer, BYTES_MAX), Ok(None));
        }
        buffer.put_u8(b'c');
        assert_eq!(next(&mut buffer, BYTES_MAX), Ok(Some(Bytes::from_static(b"abc"))));
        assert_eq!(next(&mut buffer, BYTES_MAX), Ok(None));
    }

    #[test]
    fn frames_leave_in_order() {
        let mut buffer = received(&[0, 0, 0, 1, 7, 0, 0, 0, 2, 8, 9, 0, 0]);
        assert_eq!(next(&mut buffer, BYTES_MAX), Ok(Some(Bytes::from_static(&[7]))));
        assert_eq!(next(&mut buffer, BYTES_MAX), Ok(Some(Bytes::from_static(&[8, 9]))));
        assert_eq!(next(&mut buffer, BYTES_MAX), Ok(None));
        assert_eq!(&buffer[..], &[0, 0]);
    }

    #[test]
    fn a_length_out_of_range_is_refused_before_anything_is_allocated() {
        for length in [0, -1, i32::MIN, BYTES_MAX as i32 + 1, i32::MAX] {
            let refused = next(&mut received(&length.to_be_bytes()), BYTES_MAX);
            assert_eq!(refused, Err(WireError::FrameLength { length, bytes_max: BYTES_MAX, alien: None }));
        }
        let mut largest = received(&(BYTES_MAX as i32).to_be_bytes());
        assert_eq!(next(&mut largest, BYTES_MAX), Ok(None));
        assert!(largest.capacity() < 1024);
    }

    #[test]
    fn other_protocols_are_recognised() {
        for (hello, word) in [
            (&b"GET / HTTP/1.1\r\n"[..], "HTTP"),
            (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH"),
            (&[0x16, 0x03, 0x01, 0x02, 0x00, 0x01], "TLS"),
        ] {
            let error = next(&mut received(hello), BYTES_MAX).expect_err("no frame is that long");
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
