//! The shell: sockets, time, randomness and locks around the cores, which have none of them. It knows no rule of
//! the protocol; what a request means is for [`crate::api`].
//!
//! A connection is one task, which reads, decides under the short lock of a shard, and writes. Only the answer to
//! a parked request crosses tasks. One more task fires everything that is due.

mod buffers;
mod builder;
mod clock;
mod complaints;
mod connection;
mod deadlines;
mod directory;
mod entropy;
mod error;
mod jobs;
mod listener;
mod offsets_topic;
mod quotas;
mod shard;
mod shutdown;
mod transactions;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;
use tokio::task::{self, JoinSet};

use crate::api::{Entropy, Groups, Services, Transactions, Wakeups};
use crate::cluster::Cluster;
use crate::config::listeners::format_host_port;
use crate::config::{Config, Listener, LiveConfig};
use crate::limits::LONG_REQUESTS_AT_ONCE_MAX;
use crate::log::Log;
use crate::topics::{Topics, log_settings};
use buffers::Buffers;
use clock::Clock;
use complaints::Complaints;
use connection::Shell;
use deadlines::Deadlines;
use directory::Directory;
use entropy::SystemEntropy;
use quotas::Quotas;
use shard::Shards;

pub use builder::Builder;
pub use error::StartError;
pub use shutdown::Signals;

/// A broker in this process. It stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    addresses: Vec<SocketAddr>,
    directory: Arc<Directory>,
    tasks: JoinSet<()>,
}

impl Server {
    /// Starts a broker, which accepts connections from now on. Port 0 in `listeners` takes a free one.
    ///
    /// To be called within a tokio runtime.
    ///
    /// # Errors
    /// An address cannot be had, a topic of [`Config::topics_at_start`] cannot be, or `group.consumer.assignors` lists
    /// one that there is not.
    pub fn start(config: Config) -> Result<Self, StartError> {
        Self::builder(config).start()
    }

    /// A broker to which something is added before it starts, such as an assignor.
    #[must_use]
    pub fn builder(config: Config) -> Builder {
        Builder::new(config)
    }

    fn start_built(
        builder: Builder,
        groups: impl FnOnce(Arc<dyn Groups>) -> Arc<dyn Groups>,
    ) -> Result<Self, StartError> {
        let assignors = builder.listed_assignors()?;
        let config = builder.config;
        let sockets = config.listeners.iter().map(|listener| {
            let backlog = u32::try_from(config.socket_listen_backlog_size).unwrap_or(1);
            listener::bind(&listener.host, listener.port, backlog)
        });
        let sockets: Vec<_> = sockets.collect::<Result<_, _>>()?;
        let config = Arc::new(config);
        let clock = Arc::new(Clock::start());
        let directory = Arc::new(Directory::default());
        let settings = log_settings(&config, SystemEntropy.random() as u64);
        let mut topics = Topics::new(Log::new(clock.now(), settings));
        topics.create_at_start(&config, || SystemEntropy.random()).map_err(StartError::Topic)?;
        let topics = Arc::new(Mutex::new(topics));
        let shards = Shards::new(&config, assignors, Arc::clone(&clock), Arc::clone(&directory), &topics);
        let cluster = Arc::new(Cluster::default());
        let quotas = Arc::new(Quotas::new(&config));
        let buffers = Arc::new(Buffers::default());
        let live_config = Arc::new(LiveConfig::new(Arc::clone(&config)));
        let followed = Arc::clone(&quotas);
        live_config.on_change(move |config| followed.configure(config));

        let groups = groups(Arc::clone(&shards) as Arc<dyn Groups>);
        let transactions = Arc::new(transactions::Coordinator::new(
            &config,
            clock.now(),
            Arc::clone(&topics),
            Arc::clone(&groups),
            Arc::clone(&directory) as Arc<dyn Wakeups>,
        ));

        let mut tasks = JoinSet::new();
        let mut addresses = Vec::new();
        for (listener, (address, socket)) in config.listeners.iter().zip(sockets) {
            let advertised = listener.advertised(address.port());
            tell(listener, address, &advertised);
            let services = Services {
                config: Arc::clone(&config),
                live_config: Arc::clone(&live_config),
                advertised,
                topics: Arc::clone(&topics),
                cluster: Arc::clone(&cluster),
                groups: Arc::clone(&groups),
                transactions: Arc::clone(&transactions) as Arc<dyn Transactions>,
                entropy: Arc::new(SystemEntropy) as Arc<dyn Entropy>,
                wakeups: Arc::clone(&directory) as Arc<dyn Wakeups>,
            };
            let shell = Shell {
                services,
                clock: Arc::clone(&clock),
                directory: Arc::clone(&directory),
                complaints: Complaints::new(),
                buffers: Arc::clone(&buffers),
                long_requests: Semaphore::new(LONG_REQUESTS_AT_ONCE_MAX),
                frame_bytes_max: usize::try_from(config.socket_request_max_bytes).unwrap_or(0),
            };
            tasks.spawn(listener::accept(socket, Arc::clone(&quotas), Arc::new(shell)));
            addresses.push(address);
        }
        let idle_ms = config.connections_max_idle_ms;
        let deadlines =
            Deadlines { shards, transactions, topics, directory: Arc::clone(&directory), idle_ms };
        tasks.spawn(async move { clock.run(|now| deadlines.advance(now)).await });
        Ok(Self { addresses, directory, tasks })
    }

    /// Where it accepts connections, by listener in the order of the configuration.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where the first listener accepts connections.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Closes everything. Requests that are parked are not answered.
    pub async fn shutdown(mut self) {
        self.tasks.shutdown().await;
        while !self.directory.is_empty() {
            task::yield_now().await;
        }
    }
}

fn tell(listener: &Listener, address: SocketAddr, (host, port): &(String, u16)) {
    let advertised = format_host_port(host, *port);
    tracing::info!("listener {} is on {address}; clients are told to connect to {advertised}", listener.name);
    if listener.is_on_every_interface() && listener.advertised.is_none() {
        tracing::info!("clients on other machines need --advertise HOST:PORT (advertised.listeners)");
    }
}

#[cfg(test)]
mod tests;
