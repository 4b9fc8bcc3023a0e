//! One connection: reads, takes whole frames, answers them one at a time, and writes once for what it has read.
//!
//! A parked request holds up what is behind it, as Kafka mutes the channel meanwhile.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{self, Poll};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::{block_in_place, yield_now};

use super::buffers::{Buffers, Share};
use super::clock::Clock;
use super::complaints::Complaints;
use super::directory::{Closer, Directory, Registration};
use super::quotas::Place;
use crate::api::{self, Context, Dispatched, Pending, Services, lock};
use crate::limits::{READ_BYTES_MAX, READ_BYTES_MIN, TURN_MS_MAX, UNSENT_BYTES_MAX, UNSENT_BYTES_MIN};
use crate::types::{Millis, Now, ReplyTo};
use crate::wire::request::Header;
use crate::wire::{WireError, frame, request};

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shell {
    pub(super) services: Services,
    pub(super) clock: Arc<Clock>,
    pub(super) directory: Arc<Directory>,
    pub(super) complaints: Complaints,
    pub(super) buffers: Arc<Buffers>,
    /// Taken by a request that may take long while it is answered.
    pub(super) long_requests: Semaphore,
    /// `socket.request.max.bytes`.
    pub(super) frame_bytes_max: usize,
}

impl Shell {
    fn context<'a>(&'a self, now: Now, from: ReplyTo, client_id: &'a str, peer: SocketAddr) -> Context<'a> {
        Context { now, from, client_id, client_host: peer.ip().to_canonical(), services: &self.services }
    }

    /// Warns of what a peer does, but not as often as it does it.
    pub(super) fn complain(&self, what: fmt::Arguments<'_>) {
        self.complaints.warn(self.clock.now(), what);
    }
}

/// A peer and what is on its way to and from it.
#[derive(Debug)]
pub(super) struct Connection {
    shell: Arc<Shell>,
    stream: TcpStream,
    peer: SocketAddr,
    registration: Registration,
    received: BytesMut,
    unsent: BytesMut,
    /// How much room to make for the next read.
    read_bytes: usize,
    parked: Option<Pending>,
    /// When it began to work without a pause; `None` after one.
    turn_began: Option<Millis>,
    share: Share,
    _place: Place,
}

/// Why no more frames are answered for now.
#[derive(Debug)]
enum Progress {
    /// The next one is not here yet.
    Incomplete,
    /// The last one waits for something.
    Parked,
    /// The peer is to read its answers first.
    Unsent,
    /// Others are to have their turn.
    TurnOver,
    /// The next one may take long.
    Long(Box<(Header, Bytes)>),
}

/// Why a connection ends.
#[derive(Debug)]
enum End {
    /// The peer closed it, or it broke.
    Gone,
    /// What came in cannot be answered.
    Refused(WireError),
    /// It holds much, and all together hold too much.
    Crowded,
    /// A bug of ours.
    Panicked,
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl From<WireError> for End {
    fn from(error: WireError) -> Self {
        Self::Refused(error)
    }
}

impl Connection {
    pub(super) fn new(shell: Arc<Shell>, stream: TcpStream, peer: SocketAddr, place: Place) -> Self {
        let registration = shell.directory.register(shell.clock.now());
        let share = Share::of(Arc::clone(&shell.buffers));
        Self {
            shell,
            stream,
            peer,
            registration,
            received: BytesMut::new(),
            unsent: BytesMut::new(),
            read_bytes: READ_BYTES_MIN,
            parked: None,
            turn_began: None,
            share,
            _place: place,
        }
    }

    pub(super) fn closer(&self) -> Closer {
        self.registration.closer()
    }

    /// Serves the peer until one of the two ends it.
    #[expect(clippy::manual_async_fn, reason = "the future of an async fn has room for each argument twice")]
    pub(super) fn run(mut self) -> impl Future<Output = ()> + Send {
        async move {
            let Err(end) = self.serve().await;
            self.tell(end);
        }
    }

    fn tell(&self, end: End) {
        let peer = self.peer;
        match end {
            End::Gone => tracing::debug!("{peer} is gone"),
            End::Refused(error) => self.shell.complain(format_args!("{peer} is disconnected: {error}")),
            End::Crowded => self.shell.complain(format_args!(
                "{peer} is disconnected: all connections together hold too much that is not read or not whole"
            )),
            End::Panicked => tracing::error!("{peer} is disconnected: its request met a bug"),
        }
    }

    async fn serve(&mut self) -> Result<Infallible, End> {
        loop {
            let now = self.shell.clock.now();
            self.registration.is_active(now);
            let turn_began = *self.turn_began.get_or_insert(now.monotonic);
            let progress = self.answer(now, turn_began);
            self.weigh(0)?;
            // What was answered before the end goes out all the same.
            self.flush().await?;
            match progress? {
                Progress::Unsent => {}
                Progress::TurnOver => {
                    yield_now().await;
                    self.turn_began = None;
                }
                // Boxed: few connections need the room for it.
                Progress::Long(request) => Box::pin(self.answer_long(*request)).await?,
                Progress::Parked => self.resume().await?,
                Progress::Incomplete => self.read().await?,
            }
        }
    }

    /// Answers the frames that have come in.
    fn answer(&mut self, now: Now, turn_began: Millis) -> Result<Progress, End> {
        if !self.received.is_empty() {
            self.unsent.reserve(UNSENT_BYTES_MIN);
        }
        while self.parked.is_none() {
            if self.unsent.len() > UNSENT_BYTES_MAX {
                return Ok(Progress::Unsent);
            }
            if self.shell.clock.since(turn_began) > TURN_MS_MAX {
                return Ok(Progress::TurnOver);
            }
            let Some(mut frame) = frame::next(&mut self.received, self.shell.frame_bytes_max)? else {
                return Ok(Progress::Incomplete);
            };
            let header = request::header(&mut frame)?;
            if api::may_take_long(header.api.key, frame.len()) {
                return Ok(Progress::Long(Box::new((header, frame))));
            }
            self.answer_frame(now, &header, frame)?;
        }
        Ok(Progress::Parked)
    }

    fn answer_frame(&mut self, now: Now, header: &Header, frame: Bytes) -> Result<(), End> {
        let from = self.registration.next_request();
        let context = self.shell.context(now, from, &header.client_id, self.peer);
        let unsent = &mut self.unsent;
        let dispatched = catch_unwind(AssertUnwindSafe(|| api::dispatch(&context, header, frame, unsent)));
        self.accept(dispatched.map_err(|_| End::Panicked)??);
        Ok(())
    }

    /// Answers a request that may take long, while the other connections of this thread go on in another one. There are
    /// few at a time, for what they take in memory as well.
    async fn answer_long(&mut self, (header, frame): (Header, Bytes)) -> Result<(), End> {
        let shell = Arc::clone(&self.shell);
        self.weigh(frame.len())?;
        let _permit = shell.long_requests.acquire().await;
        let now = shell.clock.now();
        self.turn_began = None;
        let answer = || self.answer_frame(now, &header, frame);
        match Handle::current().runtime_flavor() {
            RuntimeFlavor::MultiThread => block_in_place(answer),
            _ => answer(),
        }
    }

    /// Waits for what the parked request waits for, and answers it.
    async fn resume(&mut self) -> Result<(), End> {
        self.rest();
        let delivery = self.registration.delivery().await;
        self.turn_began = None;
        let Some(pending) = self.parked.take() else { return Ok(()) };
        let from = self.registration.current();
        let context = self.shell.context(self.shell.clock.now(), from, "", self.peer);
        let unsent = &mut self.unsent;
        let resumed = catch_unwind(AssertUnwindSafe(|| api::resume(&context, pending, delivery, unsent)));
        self.accept(resumed.map_err(|_| End::Panicked)??);
        Ok(())
    }

    fn accept(&mut self, dispatched: Dispatched) {
        if let Dispatched::Parked(pending) = dispatched {
            self.parked = Some(pending);
            // It may be a fetch that gives up earlier than all others.
            self.shell.clock.wake_by(lock(&self.shell.services.topics).log.next_deadline());
        }
    }

    /// Sends everything, however long the peer takes to read it: nothing more is read from it meanwhile.
    async fn flush(&mut self) -> Result<(), End> {
        if !self.unsent.is_empty() {
            self.stream.write_all(&self.unsent).await?;
            self.unsent.clear();
        }
        Ok(())
    }

    /// Waits for bytes. The buffer grows with what comes in, whatever is announced.
    async fn read(&mut self) -> Result<(), End> {
        self.weigh(0)?;
        if poll_fn(|cx| self.poll_read(cx)).await? == 0 {
            return Err(End::Gone);
        }
        // There is more where this came from, and it takes a while to take in: others first.
        if self.received.len() == self.received.capacity() {
            yield_now().await;
        }
        Ok(())
    }

    /// Asks the socket once per wake-up: the stream remembers that a read which left room has emptied it. While there is
    /// nothing to read, no buffer is held.
    fn poll_read(&mut self, cx: &mut task::Context<'_>) -> Poll<io::Result<usize>> {
        loop {
            let ready = self.stream.poll_read_ready(cx)?;
            if ready.is_pending() {
                self.rest();
                self.turn_began = None;
                return Poll::Pending;
            }
            self.received.reserve(self.read_bytes);
            let room = self.received.capacity() - self.received.len();
            match pin!(self.stream.read_buf(&mut self.received)).poll(cx)? {
                Poll::Ready(read) => {
                    if read == room {
                        self.read_bytes = (self.read_bytes * 2).min(READ_BYTES_MAX);
                    }
                    return Poll::Ready(Ok(read));
                }
                // It was emptied by a read that left no room, and now that is known.
                Poll::Pending => {}
            }
        }
    }

    /// Counts what the connection holds, besides a request that waits for its turn, and ends it if that is too much.
    fn weigh(&mut self, request_bytes: usize) -> Result<(), End> {
        let held = self.received.len() + self.unsent.len() + request_bytes;
        if self.share.holds(held) { Ok(()) } else { Err(End::Crowded) }
    }

    /// Gives back what a silent peer does not need: most connections are silent most of the time.
    fn rest(&mut self) {
        self.read_bytes = READ_BYTES_MIN;
        if self.received.is_empty() {
            self.received = BytesMut::new();
        }
        self.unsent = BytesMut::new();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.parked.is_some() {
            lock(&self.shell.services.topics).log.cancel(self.registration.current());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_not_in_memory_twice() {
        fn future_bytes<F: Future>(_: fn(Connection) -> F) -> usize {
            size_of::<F>()
        }
        assert!(future_bytes(Connection::run) < 2 * size_of::<Connection>());
    }
}
