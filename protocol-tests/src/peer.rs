//! A peer as a bare socket: it can send what no client library would.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::{Buf, Bytes};
use kafka_protocol::protocol::{Decodable, HeaderVersion, Request};
use socket2::SockRef;

/// How long any answer may take, so that a test that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that has taken nothing for so long will take nothing more.
const STUFFED_AFTER: Duration = Duration::from_millis(500);

/// One connection. It blocks.
#[derive(Debug)]
pub struct Peer {
    stream: TcpStream,
    client_id: String,
    correlation_id: i32,
}

impl Peer {
    /// Connects.
    ///
    /// # Errors
    /// As the socket.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { stream, client_id: "test".to_owned(), correlation_id: 0 })
    }

    /// The same with another client id in its requests.
    #[must_use]
    pub fn named(self, client_id: &str) -> Self {
        Self { client_id: client_id.to_owned(), ..self }
    }

    /// The socket itself.
    pub fn socket(&mut self) -> &mut TcpStream {
        &mut self.stream
    }

    /// Sends these bytes, whatever they are.
    ///
    /// # Errors
    /// As the socket: the server may have closed it.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// As the socket.
    pub fn send<R: Request>(&mut self, version: i16, request: &R) -> io::Result<()> {
        self.correlation_id += 1;
        let frame = frame(&self.client_id, self.correlation_id, version, request);
        self.send_bytes(&frame)
    }

    /// The response to the last request that was sent.
    ///
    /// # Errors
    /// As the socket: above all `UnexpectedEof` if the server closed it.
    pub fn receive<R: Request>(&mut self, version: i16) -> io::Result<R::Response> {
        let mut body = self.receive_frame()?;
        assert_eq!(body.get_i32(), self.correlation_id, "another response was expected");
        if R::Response::header_version(version) >= 1 {
            body.advance(1);
        }
        Ok(R::Response::decode(&mut body, version).expect("a response of that version"))
    }

    /// The next response, unread.
    ///
    /// # Errors
    /// As the socket.
    pub fn receive_frame(&mut self) -> io::Result<Bytes> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut body)?;
        Ok(Bytes::from(body))
    }

    /// Sends a request and waits for its response.
    ///
    /// # Errors
    /// As the socket.
    pub fn call<R: Request>(&mut self, version: i16, request: &R) -> io::Result<R::Response> {
        self.send(version, request)?;
        self.receive::<R>(version)
    }

    /// Waits until the server closes it; the bytes that came before.
    ///
    /// # Errors
    /// It was not closed in time.
    pub fn until_closed(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Err(error) if error.kind() != io::ErrorKind::ConnectionReset => Err(error),
            _ => Ok(bytes),
        }
    }

    /// Closes it by RST instead of FIN.
    ///
    /// # Errors
    /// As the socket.
    pub fn reset(self) -> io::Result<()> {
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO))
    }

    /// Writes as much of this as the server takes without a response being read; how many bytes that was.
    ///
    /// # Errors
    /// The server closed the connection.
    pub fn stuff(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(STUFFED_AFTER))?;
        let mut sent = 0;
        while sent < bytes.len() {
            match self.stream.write(&bytes[sent..]) {
                Ok(written) => sent += written,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        self.stream.set_write_timeout(Some(PATIENCE))?;
        Ok(sent)
    }
}

/// A request as it goes over the wire.
#[must_use]
pub fn frame<R: Request>(client_id: &str, correlation_id: i32, version: i16, request: &R) -> Vec<u8> {
    let mut frame = vec![0; 4];
    frame.extend(R::KEY.to_be_bytes());
    frame.extend(version.to_be_bytes());
    frame.extend(correlation_id.to_be_bytes());
    frame.extend(i16::try_from(client_id.len()).expect("a client id has at most 32 KB").to_be_bytes());
    frame.extend(client_id.as_bytes());
    if R::header_version(version) >= 2 {
        frame.push(0);
    }
    request.encode(&mut frame, version).expect("the request fits its version");
    let length = u32::try_from(frame.len() - 4).expect("a frame is smaller than 4 GiB");
    frame[..4].copy_from_slice(&length.to_be_bytes());
    frame
}
