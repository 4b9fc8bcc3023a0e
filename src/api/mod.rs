//! One file per Kafka API: a message becomes a command, a reply becomes a message.
//!
//! Everything that differs between versions of an API lives here, and so do Kafka's sentinels: what goes
//! further in is plain. No file here decides about the state of a group, and none knows a socket.
//!
//! A handler is a plain function `handle(ctx, version, request) -> Outcome<Response>`; [`dispatch`] is the one
//! place that knows them all.

mod acls;
mod add_offsets_to_txn;
mod add_partitions_to_txn;
mod alter_client_quotas;
mod alter_configs;
mod alter_partition_reassignments;
mod alter_replica_log_dirs;
mod alter_resource;
mod alter_user_scram_credentials;
mod api_error;
mod api_versions;
mod authorized_operations;
mod config_resource;
mod consumer_group_describe;
mod consumer_group_heartbeat;
mod convert;
mod create_acls;
mod create_delegation_token;
mod create_partitions;
mod create_topics;
mod delete_acls;
mod delete_groups;
mod delete_records;
mod delete_topics;
mod describe_acls;
mod describe_client_quotas;
mod describe_cluster;
mod describe_configs;
mod describe_delegation_token;
mod describe_groups;
mod describe_log_dirs;
mod describe_producers;
mod describe_quorum;
mod describe_topic_partitions;
mod describe_transactions;
mod describe_user_scram_credentials;
mod dispatch;
mod elect_leaders;
mod end_txn;
mod error_code;
mod expire_delegation_token;
mod feature;
mod fetch;
mod find_coordinator;
mod group_settings;
mod heartbeat;
mod incremental_alter_configs;
mod init_producer_id;
mod join_group;
mod leave_group;
mod list_config_resources;
mod list_groups;
mod list_offsets;
mod list_partition_reassignments;
mod list_transactions;
mod log_dir;
mod metadata;
mod offset_commit;
mod offset_delete;
mod offset_fetch;
mod offset_for_leader_epoch;
mod produce;
mod renew_delegation_token;
mod replica_assignment;
mod room;
mod sasl_authenticate;
mod sasl_handshake;
mod sync_group;
#[cfg(test)]
mod testing;
mod transactional;
mod txn_offset_commit;
mod unregister_broker;
mod update_features;
mod write_txn_markers;

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kafka_protocol::ResponseError;

use crate::cluster::Cluster;
use crate::config::{Config, LiveConfig};
use crate::coordinator::Coordinator;
use crate::coordinator::command::{Command, EndTransaction};
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::Reply;
use crate::topics::Topics;
use crate::txn::TransactionCoordinator;
use crate::txn::command::{AddPartitions, EndTxn, InitProducerId};
use crate::txn::error::TxnError;
use crate::types::{Now, ProducerIdAndEpoch, ReplyTo};

pub use dispatch::{Dispatched, Pending, dispatch, may_take_long, resume};

/// What a handler may use, besides the request.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The time of this request.
    pub now: Now,
    /// Where the answer goes if the request is parked.
    pub from: ReplyTo,
    /// From the request header; empty if null.
    pub client_id: &'a str,
    /// The address of the peer.
    pub client_host: IpAddr,
    /// What is shared by all requests.
    pub services: &'a Services,
}

/// What all requests share.
pub struct Services {
    /// The configuration the process started with: right for every key that cannot change while it runs.
    pub config: Arc<Config>,
    /// The configuration as it is now: right for every key that can change while the process runs.
    pub live_config: Arc<LiveConfig>,
    /// Host and port that clients are told to connect to.
    pub advertised: (String, u16),
    /// Topics and their logs.
    pub topics: Arc<Mutex<Topics>>,
    /// What the cluster knows of its clients.
    pub cluster: Arc<Cluster>,
    /// The coordinators of all groups.
    pub groups: Arc<dyn Groups>,
    /// The coordinator of all transactions.
    pub transactions: Arc<dyn Transactions>,
    /// The only source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Told of fetches that may be answered now.
    pub wakeups: Arc<dyn Wakeups>,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").field("advertised", &self.advertised).finish_non_exhaustive()
    }
}

/// The coordinators, sharded as `__consumer_offsets` is partitioned.
pub trait Groups: Send + Sync {
    /// Hands `command` to the shard that owns `group`.
    fn submit(&self, now: Now, group: &str, from: ReplyTo, command: Command<'_>) -> Submitted;

    /// The same, if `admits` says so while the shard waits: nothing comes to it in between.
    ///
    /// # Errors
    /// What `admits` says.
    fn submit_if(
        &self,
        now: Now,
        group: &str,
        from: ReplyTo,
        command: Command<'_>,
        admits: &mut dyn FnMut() -> Result<(), ResponseError>,
    ) -> Result<Submitted, ResponseError>;

    /// Which partition of `__consumer_offsets` holds the offsets of `group`.
    fn partition_of(&self, group: &str) -> i32;

    /// Tells the shard that is this partition of `__consumer_offsets` that the transaction of a producer has ended.
    fn end_transaction(&self, now: Now, partition: i32, end: EndTransaction);

    /// Reads the shard that owns `group`.
    ///
    /// # Errors
    /// The shard cannot serve now: `NotCoordinator`, `CoordinatorLoadInProgress`, `CoordinatorNotAvailable`.
    fn read(&self, group: &str, reader: &mut dyn FnMut(&Coordinator)) -> Result<(), GroupError>;

    /// Reads every shard that can serve, in the order of the partitions of `__consumer_offsets`.
    fn read_all(&self, reader: &mut dyn FnMut(&Coordinator));

    /// Lets a partition of `__consumer_offsets` show what its shard keeps, from now on for as long as it is read.
    fn show_records(&self, now: Now, partition: i32);

    /// Tells every shard that topics are gone.
    fn topics_deleted(&self, now: Now, topics: &[crate::types::TopicName]);
}

/// The transaction coordinator.
///
/// May be asked while the log or a shard is locked, but for what decides about a transaction
/// ([`init_producer_id`](Self::init_producer_id) and [`end`](Self::end)): that writes markers to them.
pub trait Transactions: Send + Sync {
    /// Gives a producer its id and epoch.
    ///
    /// # Errors
    /// Those of [`TransactionCoordinator::init_producer_id`]; `CoordinatorNotAvailable`.
    fn init_producer_id(&self, now: Now, init: &InitProducerId<'_>) -> Result<ProducerIdAndEpoch, TxnError>;

    /// Adds partitions to a transaction.
    ///
    /// # Errors
    /// Those of [`TransactionCoordinator::add_partitions`]; `CoordinatorNotAvailable`.
    fn add_partitions(&self, now: Now, add: &AddPartitions<'_>) -> Result<(), TxnError>;

    /// Says of each partition whether it is part of the transaction.
    ///
    /// # Errors
    /// Those of [`TransactionCoordinator::verify_partitions`]; `CoordinatorNotAvailable`.
    fn verify_partitions(
        &self,
        now: Now,
        verify: &AddPartitions<'_>,
    ) -> Result<Vec<Result<(), TxnError>>, TxnError>;

    /// Ends a transaction: all partitions know of it when this returns.
    ///
    /// # Errors
    /// Those of [`TransactionCoordinator::end`]; `CoordinatorNotAvailable`.
    fn end(&self, now: Now, end: &EndTxn<'_>) -> Result<ProducerIdAndEpoch, TxnError>;

    /// Shows the coordinator.
    fn read(&self, reader: &mut dyn FnMut(&TransactionCoordinator));
}

/// What became of a command.
#[derive(Debug)]
pub enum Submitted {
    /// Answered at once.
    Replied(Reply),
    /// The answer will come to the caller's mailbox, or never.
    Parked,
    /// The shard cannot serve now.
    Unavailable(GroupError),
}

/// The only source of randomness: a deterministic one in tests, the system's in the server.
pub trait Entropy: Send + Sync {
    /// 128 random bits.
    fn random(&self) -> u128;
}

/// Takes the long polls that may be answered now (something was appended, or their time is over).
pub trait Wakeups: Send + Sync {
    /// Wakes the connections that wait under these tokens.
    fn wake(&self, ready: &[ReplyTo]);
}

/// What a handler made of a request.
#[derive(Debug)]
pub enum Outcome<R> {
    /// Answered.
    Reply(R),
    /// Answered later, when something comes to the caller's mailbox.
    Parked(Parked),
    /// Done, and nothing is to be sent (Produce with `acks=0`).
    Silent,
    /// The connection is to be closed, as Kafka does; the reason is for the log.
    Close(&'static str),
}

/// What to remember of a parked request, so that it can be answered later.
#[derive(Debug)]
pub enum Parked {
    /// A JoinGroup in the join phase.
    JoinGroup,
    /// A SyncGroup before the leader's.
    SyncGroup,
    /// A Fetch before there are records.
    Fetch(Box<fetch::Waiting>),
}

/// What comes to the mailbox of a connection with a parked request.
#[derive(Debug)]
pub enum Delivery {
    /// The answer of a group.
    Group(Reply),
    /// Records came in, or the time is over: read once more and answer with what is there.
    Fetch,
}

/// Wakes those whose fetch may be answered now that the log has changed; to be called without the lock.
fn wake(services: &Services, ready: &[ReplyTo]) {
    if !ready.is_empty() {
        services.wakeups.wake(ready);
    }
}

/// The lock, also after a panic of a request that held it: each handler leaves what it guards whole, and a broker
/// that answers is better than one that panics on every request from then on.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
