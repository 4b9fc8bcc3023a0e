//! What a shard keeps: the keys and values of `__consumer_offsets`.

use std::sync::Arc;

use super::reply::CommittedOffset;
use crate::assignor::MemberAssignment;
use crate::types::{GroupId, InstanceId, MemberId, TopicName, TopicPartition};

/// One record of `__consumer_offsets`; a value of None is a tombstone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Kafka's GroupMetadataKey and GroupMetadataValue: a classic group at the end of a rebalance.
    GroupMetadata {
        /// The group.
        group: GroupId,
        /// Its last generation.
        value: Option<Box<GroupMetadata>>,
    },
    /// Kafka's OffsetCommitKey and OffsetCommitValue.
    OffsetCommit {
        /// The group.
        group: GroupId,
        /// The topic.
        topic: TopicName,
        /// The partition index.
        partition: i32,
        /// What was committed.
        value: Option<CommittedOffset>,
    },
    /// Kafka's OffsetCommitKey and OffsetCommitValue in a batch that is part of a transaction.
    TxnOffsetCommit {
        /// The group.
        group: GroupId,
        /// The topic.
        topic: TopicName,
        /// The partition index.
        partition: i32,
        /// Whose transaction.
        producer_id: i64,
        /// What is committed with the transaction.
        value: CommittedOffset,
    },
    /// Kafka's EndTransactionMarker: the transaction of a producer has ended.
    EndTxnMarker {
        /// Whose transaction.
        producer_id: i64,
        /// Whether what it wrote is to be seen.
        committed: bool,
    },
    /// Kafka's ConsumerGroupMetadataKey and ConsumerGroupMetadataValue: the epoch of a consumer group.
    ConsumerGroupMetadata {
        /// The group.
        group: GroupId,
        /// Its epoch.
        value: Option<GroupEpoch>,
    },
    /// Kafka's ConsumerGroupMemberMetadataKey and ConsumerGroupMemberMetadataValue.
    ConsumerGroupMemberMetadata {
        /// The group.
        group: GroupId,
        /// The member.
        member: MemberId,
        /// Who it is and what it subscribes to.
        value: Option<Arc<ConsumerMemberMetadata>>,
    },
    /// Kafka's ConsumerGroupTargetAssignmentMetadataKey and ConsumerGroupTargetAssignmentMetadataValue.
    ConsumerGroupTargetAssignmentMetadata {
        /// The group.
        group: GroupId,
        /// For which epoch the target assignment was computed, and when.
        value: Option<TargetAssignmentMetadata>,
    },
    /// Kafka's ConsumerGroupTargetAssignmentMemberKey and ConsumerGroupTargetAssignmentMemberValue.
    ConsumerGroupTargetAssignmentMember {
        /// The group.
        group: GroupId,
        /// The member.
        member: MemberId,
        /// What it is to have.
        value: Option<MemberAssignment>,
    },
    /// Kafka's ConsumerGroupCurrentMemberAssignmentKey and ConsumerGroupCurrentMemberAssignmentValue.
    ConsumerGroupCurrentMemberAssignment {
        /// The group.
        group: GroupId,
        /// The member.
        member: MemberId,
        /// What it has.
        value: Option<Box<CurrentAssignment>>,
    },
    /// Kafka's ConsumerGroupRegularExpressionKey and ConsumerGroupRegularExpressionValue.
    ConsumerGroupRegularExpression {
        /// The group.
        group: GroupId,
        /// The expression, as members spell it.
        regex: Arc<str>,
        /// The topics that it matches.
        value: Option<ResolvedRegex>,
    },
}

/// The epoch of a consumer group: Kafka's ConsumerGroupMetadataValue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupEpoch {
    /// Goes up with every change that asks for a new assignment.
    pub epoch: i32,
    /// Stands for the ids and partition counts of the topics that the group subscribes to.
    // Differs from Kafka: another hash function; nobody but the group itself ever compares two.
    pub metadata_hash: u64,
}

/// Kafka's ConsumerGroupTargetAssignmentMetadataValue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetAssignmentMetadata {
    /// The group epoch that the assignment is for.
    pub epoch: i32,
    /// Wall-clock milliseconds of the computation; 0 if there was none.
    pub timestamp_ms: i64,
}

/// A member of a consumer group as it describes itself: Kafka's ConsumerGroupMemberMetadataValue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsumerMemberMetadata {
    /// Its instance id, if it is static.
    pub instance: Option<InstanceId>,
    /// Where it runs.
    pub rack: Option<Arc<str>>,
    /// The client id of its last request.
    pub client_id: Arc<str>,
    /// The address its last request came from, in Java's spelling.
    pub client_host: Arc<str>,
    /// The topics that it names, sorted.
    pub topics: Arc<[TopicName]>,
    /// The topics that it wants beside, as a regular expression (RE2); never empty.
    pub regex: Option<Arc<str>>,
    /// Milliseconds that it has to give partitions up.
    pub rebalance_timeout_ms: i32,
    /// The assignor that it votes for.
    pub assignor: Option<Arc<str>>,
    /// What a member that speaks the classic protocol joined with.
    pub classic: Option<ClassicMemberMetadata>,
}

/// What a member of the classic protocol brings into a consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicMemberMetadata {
    /// Milliseconds.
    pub session_timeout_ms: i32,
    /// Name and metadata (a Subscription), in the order of preference; never empty.
    pub protocols: Arc<[ClassicProtocol]>,
}

/// Name and metadata of a protocol.
pub type ClassicProtocol = (Arc<str>, Arc<[u8]>);

/// How far a member of a consumer group has come: Kafka's ConsumerGroupCurrentMemberAssignmentValue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurrentAssignment {
    /// The epoch of the assignment that the member has; [`LEFT_FOR_NOW`](Self::LEFT_FOR_NOW) while it is away.
    pub epoch: i32,
    /// The epoch before, at which one heartbeat whose answer was lost is still understood.
    pub previous_epoch: i32,
    /// Whether it has all that it is to have.
    pub state: MemberState,
    /// What it may read, sorted.
    pub assigned: Vec<OwnedPartition>,
    /// What it was told to give up and did not yet, sorted.
    pub pending_revocation: Vec<OwnedPartition>,
}

impl CurrentAssignment {
    /// The epoch of a static member that said that it comes back.
    pub const LEFT_FOR_NOW: i32 = -2;
}

impl Default for CurrentAssignment {
    /// A member that has just come.
    fn default() -> Self {
        Self {
            epoch: 0,
            previous_epoch: -1,
            state: MemberState::Stable,
            assigned: Vec::new(),
            pending_revocation: Vec::new(),
        }
    }
}

/// A partition that a member has, and since which of its epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnedPartition {
    /// The partition.
    pub partition: TopicPartition,
    /// The member epoch in which it was assigned.
    pub since_epoch: i32,
}

/// Where a member stands on its way to its target assignment. Source: kafka MemberState.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// It has its target assignment.
    Stable,
    /// It has to give partitions up before it gets to the next epoch.
    UnrevokedPartitions,
    /// It is at the epoch of its target and waits for partitions that others have not given up.
    UnreleasedPartitions,
}

/// What a regular expression matched: Kafka's ConsumerGroupRegularExpressionValue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRegex {
    /// The topics, sorted.
    pub topics: Arc<[TopicName]>,
    /// The number of the picture of the topics that was looked at.
    pub version: u64,
    /// Wall-clock milliseconds when that was.
    pub timestamp_ms: i64,
}

/// A classic group as it is written: Kafka's GroupMetadataValue, version 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMetadata {
    /// `consumer`, `connect` …
    pub protocol_type: Option<Arc<str>>,
    /// The generation.
    pub generation: i32,
    /// The chosen protocol.
    pub protocol_name: Option<Arc<str>>,
    /// The leader.
    pub leader: Option<MemberId>,
    /// Wall-clock milliseconds since which the group is in its state.
    pub state_timestamp_ms: i64,
    /// The members with what each was assigned.
    pub members: Vec<MemberMetadata>,
}

/// A member of a classic group as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberMetadata {
    /// Its id.
    pub member: MemberId,
    /// Its instance id, if it is static.
    pub instance: Option<InstanceId>,
    /// The client id it joined with.
    pub client_id: Arc<str>,
    /// The address it joined from, in Java's spelling.
    pub client_host: Arc<str>,
    /// Milliseconds.
    pub rebalance_timeout_ms: i32,
    /// Milliseconds.
    pub session_timeout_ms: i32,
    /// Its metadata for the chosen protocol.
    pub subscription: Arc<[u8]>,
    /// Its assignment.
    pub assignment: Arc<[u8]>,
}

impl GroupMetadata {
    /// Bytes of the value in Kafka's encoding, version 3: what decides whether it fits in a record.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        let text = |s: Option<&str>| 2 + s.map_or(0, str::len);
        let members: usize = self
            .members
            .iter()
            .map(|m| {
                text(Some(m.member.as_str()))
                    + text(m.instance.as_ref().map(InstanceId::as_str))
                    + text(Some(&m.client_id))
                    + text(Some(&m.client_host))
                    + 8
                    + 4
                    + m.subscription.len()
                    + 4
                    + m.assignment.len()
            })
            .sum();
        2 + text(self.protocol_type.as_deref())
            + 4
            + text(self.protocol_name.as_deref())
            + text(self.leader.as_ref().map(MemberId::as_str))
            + 8
            + 4
            + members
    }
}
