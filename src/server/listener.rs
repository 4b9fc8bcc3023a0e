//! Binds addresses and accepts connections. Source: kafka `SocketServer.Acceptor`.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::StartError;
use super::clock;
use super::connection::{Connection, Shell};
use super::quotas::{Place, Quotas};
use crate::config::listeners::format_host_port;
use crate::limits::ACCEPT_PAUSE_MS;

/// Listens on `host`, the empty one being every interface, and says on which address that is.
pub(super) fn bind(host: &str, port: u16, backlog: u32) -> Result<(SocketAddr, TcpListener), StartError> {
    let bound = candidates(host, port).and_then(|candidates| {
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in candidates {
            match listen(address, backlog) {
                Ok(listener) => return Ok((listener.local_addr()?, listener)),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    });
    bound.map_err(|error| StartError::Address { address: format_host_port(host, port), error })
}

fn candidates(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if host.is_empty() {
        // The first takes connections of both kinds, where the machine knows both.
        return Ok(vec![(Ipv6Addr::UNSPECIFIED, port).into(), (Ipv4Addr::UNSPECIFIED, port).into()]);
    }
    Ok((host, port).to_socket_addrs()?.collect())
}

fn listen(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // A broker that is started again must not wait for the connections of the last one.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}

/// Accepts for ever. When this is dropped, its connections are closed.
pub(super) async fn accept(listener: TcpListener, quotas: Arc<Quotas>, shell: Arc<Shell>) {
    let mut connections = JoinSet::new();
    loop {
        // Those that are too many wait in the backlog, as with Kafka.
        let place = quotas.free_place().await;
        let (stream, peer) = match accept_one(&listener, &mut connections).await {
            Ok(accepted) => accepted,
            Err(error) => {
                wait_out(&shell, &error).await;
                continue;
            }
        };
        match quotas.admit(peer.ip().to_canonical(), place) {
            Some(place) => serve(&mut connections, &shell, stream, peer, place),
            None => shell
                .complain(format_args!("{peer} is refused: its address has as many connections as it may")),
        }
        if let Some(millis) = quotas.pause_after_one_more(shell.clock.now()) {
            clock::pause(millis).await;
        }
    }
}

/// Waits for a connection. Those that have ended are forgotten meanwhile: the set keeps the memory of their tasks.
async fn accept_one(
    listener: &TcpListener,
    connections: &mut JoinSet<()>,
) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        tokio::select! {
            accepted = listener.accept() => return accepted,
            Some(_) = connections.join_next() => {}
        }
    }
}

fn serve(
    connections: &mut JoinSet<()>,
    shell: &Arc<Shell>,
    stream: TcpStream,
    peer: SocketAddr,
    place: Place,
) {
    // Answers are small and waited for. A socket that refuses is closing already.
    let _ = stream.set_nodelay(true);
    let connection = Connection::new(Arc::clone(shell), stream, peer, place);
    let closer = connection.closer();
    closer.closes(connections.spawn(connection.run()));
}

/// A connection that was gone before it was accepted is no trouble. Anything else, above all a lack of files, would come
/// back at once.
async fn wait_out(shell: &Shell, error: &io::Error) {
    if error.kind() != io::ErrorKind::ConnectionAborted {
        shell.complain(format_args!("no connection can be accepted for now: {error}"));
        clock::pause(ACCEPT_PAUSE_MS).await;
    }
}
