//! The bare server: how fast any server of this shape can be. It answers each whole frame in its buffer with the same
//! Heartbeat response (version 4, no error) under the frame's correlation id, and knows nothing else.
//!
//! `bare HOST:PORT` prints `listening HOST:PORT` once it accepts connections. scripts/bench compares rallypoint with it.
#![expect(clippy::disallowed_methods, reason = "one task a connection, and nobody else to own it")]

use std::{env, io};

use bytes::{Buf, BufMut, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const BUFFER_BYTES: usize = 64 << 10;
const LENGTH_BYTES: usize = 4;
/// Where the correlation id stands in a frame: behind the API's key and its version.
const CORRELATION_ID_AT: usize = LENGTH_BYTES + 4;

fn main() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_io().build()?;
    runtime.block_on(async {
        let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
        let listener = TcpListener::bind(address).await?;
        println!("listening {}", listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(answer(stream));
        }
    })
}

/// Answers until the peer is gone.
async fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut received = BytesMut::with_capacity(BUFFER_BYTES);
    let mut unsent = BytesMut::with_capacity(BUFFER_BYTES);
    while stream.read_buf(&mut received).await? > 0 {
        while let Some(correlation_id) = next(&mut received) {
            unsent.put_u32(12); // the length of what follows
            unsent.put_u32(correlation_id);
            unsent.put_u8(0); // no tags in the header
            unsent.put_u32(0); // throttle_time_ms
            unsent.put_u16(0); // error_code
            unsent.put_u8(0); // no tags
        }
        stream.write_all(&unsent).await?;
        unsent.clear();
    }
    Ok(())
}

/// The correlation id of the next whole frame, which is taken off the buffer.
fn next(received: &mut BytesMut) -> Option<u32> {
    let frame_bytes = LENGTH_BYTES + u32::from_be_bytes(*received.first_chunk()?) as usize;
    if received.len() < frame_bytes {
        return None;
    }
    let correlation_id = received.get(CORRELATION_ID_AT..)?.first_chunk().copied().map(u32::from_be_bytes)?;
    received.advance(frame_bytes);
    Some(correlation_id)
}
