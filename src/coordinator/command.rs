//! What comes in: one command per request that a group answers, borrowed from the request's own bytes.
//!
//! Sentinels of the wire (`-1`, `""`, null) have already become enums and options in `api`.

use std::sync::Arc;

use super::record::ResolvedRegex;
use crate::types::{GroupId, TopicId, TopicImage, TopicName, TopicPartition};

/// A request to one group. Answered by the [`Reply`](super::reply::Reply) of the same name.
#[derive(Debug)]
pub enum Command<'a> {
    /// Enter or re-enter the group; parked until the join phase ends.
    JoinGroup(JoinGroup<'a>),
    /// Hand in (leader) and get (everybody) the assignment; parked until the leader has synced.
    SyncGroup(SyncGroup<'a>),
    /// Still here.
    Heartbeat(Heartbeat<'a>),
    /// Some members go, by member id or instance id.
    LeaveGroup(LeaveGroup<'a>),
    /// Store offsets.
    OffsetCommit(OffsetCommit<'a>),
    /// Drop offsets of topics that nobody in the group reads.
    OffsetDelete(OffsetDelete<'a>),
    /// Drop an empty group with its offsets.
    DeleteGroup(DeleteGroup<'a>),
    /// Join a consumer group, stay in it, or leave it (KIP-848).
    ConsumerGroupHeartbeat(ConsumerGroupHeartbeat<'a>),
    /// What regular expressions of a group match: the result of [`Job::ResolveRegexes`](super::job::Job).
    RegexesResolved(RegexesResolved),
    /// The topics are not what they were; no group is asked for an answer.
    TopicsChanged(Arc<dyn TopicImage>),
    /// The transaction of a producer has ended; may come again. No group is asked for an answer.
    EndTransaction(EndTransaction),
    /// These topics are gone: so are the offsets committed for them, in all groups of the shard.
    TopicsDeleted(&'a [TopicName]),
}

/// JoinGroup, versions 0 to 9.
#[derive(Debug)]
pub struct JoinGroup<'a> {
    /// The group; never empty.
    pub group: &'a str,
    /// None for the first call of a new member.
    pub member: Option<&'a str>,
    /// `group.instance.id` of a static member (KIP-345).
    pub instance: Option<&'a str>,
    /// From the request header; the first part of a new dynamic member's id.
    pub client_id: &'a str,
    /// The peer's address in Java's spelling, `/127.0.0.1`.
    pub client_host: &'a str,
    /// Milliseconds, as sent.
    pub session_timeout_ms: i32,
    /// Milliseconds, as sent; the session timeout where the version has no such field.
    pub rebalance_timeout_ms: i32,
    /// `consumer`, `connect`, `sr` …
    pub protocol_type: &'a str,
    /// Name and opaque metadata, in the order of preference.
    pub protocols: &'a [(&'a str, &'a [u8])],
    /// Why the client joins (KIP-800).
    pub reason: Option<&'a str>,
    /// Whether a new dynamic member must come back with the id it is given (KIP-394, version 4).
    pub member_id_required: bool,
    /// Whether a returning static leader may be told to skip its assignor (KIP-814, version 9).
    pub may_skip_assignment: bool,
    /// 128 random bits, of which a new member id is made.
    pub random: u128,
    /// Milliseconds between two assignments, should the group be a consumer group.
    pub assignment_interval_ms: i32,
}

/// SyncGroup, versions 0 to 5.
#[derive(Debug)]
pub struct SyncGroup<'a> {
    /// The group; never empty.
    pub group: &'a str,
    /// The caller.
    pub member: &'a str,
    /// The caller's instance id, if it is static.
    pub instance: Option<&'a str>,
    /// The generation that JoinGroup gave.
    pub generation: i32,
    /// Checked only where the version carries it.
    pub protocol_type: Option<&'a str>,
    /// Checked only where the version carries it.
    pub protocol_name: Option<&'a str>,
    /// Member id and opaque assignment; heeded from the leader only.
    pub assignments: &'a [(&'a str, &'a [u8])],
}

/// Heartbeat, versions 0 to 4.
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat<'a> {
    /// The group; never empty.
    pub group: &'a str,
    /// The caller.
    pub member: &'a str,
    /// The caller's instance id, if it is static.
    pub instance: Option<&'a str>,
    /// The generation that JoinGroup gave.
    pub generation: i32,
}

/// LeaveGroup, versions 0 to 5.
#[derive(Debug)]
pub struct LeaveGroup<'a> {
    /// The group; never empty.
    pub group: &'a str,
    /// Who goes; answered in this order.
    pub members: &'a [Leaver<'a>],
}

/// One member of a LeaveGroup.
#[derive(Clone, Copy, Debug)]
pub struct Leaver<'a> {
    /// None: whoever holds `instance` now.
    pub member: Option<&'a str>,
    /// The instance id, if given.
    pub instance: Option<&'a str>,
    /// Why it leaves (KIP-800).
    pub reason: Option<&'a str>,
}

/// OffsetCommit, versions 2 to 10, and TxnOffsetCommit.
#[derive(Debug)]
pub struct OffsetCommit<'a> {
    /// The group; may be empty.
    pub group: &'a str,
    /// The caller; empty for a simple consumer.
    pub member: &'a str,
    /// The caller's instance id, if it is static.
    pub instance: Option<&'a str>,
    /// The generation, or a negative number for a simple consumer.
    pub generation: i32,
    /// Milliseconds to keep these offsets (versions 2 to 4); None: `offsets.retention.minutes`.
    pub retention_ms: Option<i64>,
    /// Whether the version has member epochs (9; in a transaction 6): then an unknown group is GROUP_ID_NOT_FOUND, not
    /// ILLEGAL_GENERATION, and members of the consumer protocol may commit.
    pub has_member_epoch: bool,
    /// Whose transaction the offsets are part of, if they are (TxnOffsetCommit, versions 0 to 6).
    pub producer_id: Option<i64>,
    /// What to store; refusals are by index into this.
    pub offsets: &'a [CommitPartition<'a>],
}

/// The end of a transaction that has, or may have, offsets in groups of the shard.
#[derive(Clone, Copy, Debug)]
pub struct EndTransaction {
    /// Whose transaction.
    pub producer_id: i64,
    /// Whether its offsets are committed or dropped.
    pub committed: bool,
}

/// One partition of an OffsetCommit.
#[derive(Debug)]
pub struct CommitPartition<'a> {
    /// The topic.
    pub topic: &'a TopicName,
    /// Its id, or zero.
    pub topic_id: TopicId,
    /// The partition index.
    pub partition: i32,
    /// The offset to store, as sent.
    pub offset: i64,
    /// The leader epoch of the last record read, if known.
    pub leader_epoch: Option<i32>,
    /// The client's own words.
    pub metadata: &'a str,
}

/// OffsetDelete, version 0.
#[derive(Debug)]
pub struct OffsetDelete<'a> {
    /// The group; never empty.
    pub group: &'a str,
    /// Topic and partition indexes.
    pub topics: &'a [(&'a str, &'a [i32])],
}

/// One group of a DeleteGroups.
#[derive(Clone, Copy, Debug)]
pub struct DeleteGroup<'a> {
    /// The group.
    pub group: &'a str,
}

/// ConsumerGroupHeartbeat, versions 0 and 1. What is None did not change since the last heartbeat.
#[derive(Clone, Debug)]
pub struct ConsumerGroupHeartbeat<'a> {
    /// The group; never blank.
    pub group: &'a str,
    /// None for a new member of version 0, which gets its id from the coordinator.
    pub member: Option<&'a str>,
    /// What it wants.
    pub intent: HeartbeatIntent,
    /// `group.instance.id` of a static member.
    pub instance: Option<&'a str>,
    /// `client.rack`.
    pub rack: Option<&'a str>,
    /// From the request header.
    pub client_id: &'a str,
    /// The peer's address in Java's spelling, `/127.0.0.1`.
    pub client_host: &'a str,
    /// Milliseconds that the member has to give partitions up.
    pub rebalance_timeout_ms: Option<i32>,
    /// The topics it names.
    pub topics: Option<&'a [&'a str]>,
    /// A regular expression for more topics; empty takes back the one before.
    pub regex: Option<&'a str>,
    /// The assignor it votes for: one that the configuration lists.
    pub assignor: Option<&'a str>,
    /// What the member has, sorted.
    pub owned: Option<&'a [TopicPartition]>,
    /// What the configuration says about the group.
    pub settings: ConsumerSettings,
    /// 128 random bits, of which a new member id is made.
    pub random: u128,
}

/// What the member epoch of a heartbeat says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartbeatIntent {
    /// Enter the group (epoch 0), also once more.
    Join,
    /// Still here, at this epoch.
    Stay(i32),
    /// Go (-1).
    Leave,
    /// A static member goes and comes back (-2).
    LeaveForNow,
}

/// What may be configured for each consumer group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsumerSettings {
    /// `consumer.session.timeout.ms`.
    pub session_timeout_ms: i32,
    /// `consumer.heartbeat.interval.ms`.
    pub heartbeat_interval_ms: i32,
    /// `consumer.assignment.interval.ms`.
    pub assignment_interval_ms: i32,
}

impl Default for ConsumerSettings {
    /// Kafka's defaults.
    fn default() -> Self {
        Self { session_timeout_ms: 45_000, heartbeat_interval_ms: 5_000, assignment_interval_ms: 1_000 }
    }
}

/// What regular expressions of one group match.
#[derive(Clone, Debug)]
pub struct RegexesResolved {
    /// The group that asked.
    pub group: GroupId,
    /// Expression → the topics it matches.
    pub regexes: Vec<(Arc<str>, ResolvedRegex)>,
    /// Those that match more than a group may have, and so nothing.
    pub excessive: Vec<Arc<str>>,
}
