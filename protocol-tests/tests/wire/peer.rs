//! A broker in this process, and raw sockets that speak to it.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use rallypoint::config::Config;
use rallypoint::server::Server;
use tokio::runtime::{Builder, Runtime};

use super::frames::{Response, describe, described, error, heartbeat};

/// How long a test waits for what must come before it fails. Nothing in a test happens because of it.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const UNKNOWN_MEMBER_ID: i16 = 25;

pub(crate) struct Broker {
    runtime: Runtime,
    server: Option<Server>,
    address: SocketAddr,
}

impl Broker {
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        let settings = [&[("listeners", "PLAINTEXT://127.0.0.1:0")], settings].concat();
        // One thread, so that a request which came before another was also looked at before it, or soon after.
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let server = {
            let _inside = runtime.enter();
            Server::start(Config::with(&settings).expect("a valid configuration")).expect("a free port")
        };
        let address = server.address();
        Self { runtime, server: Some(server), address }
    }

    pub(crate) fn connect(&self) -> Peer {
        let stream = TcpStream::connect(self.address).expect("the server accepts");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        Peer { stream }
    }

    pub(crate) fn shut_down(&mut self) {
        let server = self.server.take().expect("it runs");
        self.runtime.block_on(server.shutdown());
    }

    pub(crate) fn refuses(&self) -> bool {
        TcpStream::connect(self.address).is_err()
    }
}

pub(crate) struct Peer {
    stream: TcpStream,
}

impl Peer {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// The next response, which must be to this request.
    pub(crate) fn receive(&mut self, correlation_id: i32) -> Response {
        let mut head = [0; 8];
        self.stream.read_exact(&mut head).expect("a response");
        let length = i32::from_be_bytes(head[..4].try_into().expect("four bytes"));
        assert_eq!(i32::from_be_bytes(head[4..].try_into().expect("four bytes")), correlation_id);
        let mut body = vec![0; usize::try_from(length - 4).expect("a positive length")];
        self.stream.read_exact(&mut body).expect("a whole response");
        Response::new(body)
    }

    /// Sends a request whose correlation id is 1.
    pub(crate) fn call(&mut self, frame: &[u8]) -> Response {
        self.send(frame);
        self.receive(1)
    }

    pub(crate) fn is_served(&mut self) -> bool {
        error(self.call(&heartbeat(1, "nobody's", 1, "nobody"))) == UNKNOWN_MEMBER_ID
    }

    /// Asks until the group is as told: a state, and a number of members.
    pub(crate) fn wait_for(&mut self, group: &str, state: &str, members: usize) {
        while described(self.call(&describe(1, group))) != (state.to_owned(), members) {
            std::thread::yield_now();
        }
    }

    /// Says that nothing more will come.
    pub(crate) fn finish(&mut self) {
        self.stream.shutdown(Shutdown::Write).expect("it is open");
    }

    /// That the server closes, without another byte.
    pub(crate) fn closes(mut self) -> bool {
        match self.stream.read(&mut [0]) {
            Ok(read) => read == 0,
            Err(error) => matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe),
        }
    }
}
