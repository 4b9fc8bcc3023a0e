//! SIGINT and SIGTERM.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end the process.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on: neither signal ends the process by itself any more.
    ///
    /// # Errors
    /// The system refuses to install a handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for one of them; its name.
    pub async fn received(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
        }
    }
}
