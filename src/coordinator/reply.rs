//! What goes out: the answers to commands, and the views that reading gives.

use std::sync::Arc;

use super::error::{GroupError, Refusal};
use super::record::ConsumerMemberMetadata;
use crate::assignor::MemberAssignment;
use crate::types::{GroupId, InstanceId, MemberId, TopicId, TopicName, TopicPartition};

/// The answer to the [`Command`](super::command::Command) of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// JoinGroup; boxed, since a heartbeat should not carry its size about.
    JoinGroup(Box<JoinReply>),
    /// SyncGroup.
    SyncGroup(Result<Synced, GroupError>),
    /// Heartbeat.
    Heartbeat(Result<(), GroupError>),
    /// LeaveGroup; one outcome for each leaver, in the order of the request.
    LeaveGroup(Result<Vec<Result<(), GroupError>>, GroupError>),
    /// OffsetCommit; the indexes of the partitions whose metadata was too large.
    OffsetCommit(Result<Vec<usize>, GroupError>),
    /// OffsetDelete; the indexes of the topics that are still subscribed.
    OffsetDelete(Result<Vec<usize>, GroupError>),
    /// DeleteGroup.
    DeleteGroup(Result<(), GroupError>),
    /// ConsumerGroupHeartbeat.
    ConsumerGroupHeartbeat(Result<ConsumerHeartbeat, Refusal>),
    /// RegexesResolved.
    RegexesResolved,
    /// TopicsChanged.
    TopicsChanged,
    /// TopicsDeleted.
    TopicsDeleted,
    /// EndTransaction.
    EndTransaction,
}

/// The answer to a ConsumerGroupHeartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerHeartbeat {
    /// The member id to go on with.
    pub member: MemberId,
    /// The epoch that the member is in; -1 or -2 for one that left.
    pub epoch: i32,
    /// Milliseconds until the next heartbeat.
    pub heartbeat_interval_ms: i32,
    /// What the member may have, sorted; None if that is nothing new.
    pub assignment: Option<Vec<TopicPartition>>,
    /// Whether the member has to give something up first.
    pub is_revoking: bool,
}

impl ConsumerHeartbeat {
    pub(super) fn gone(member: MemberId, epoch: i32) -> Self {
        Self { member, epoch, heartbeat_interval_ms: 0, assignment: None, is_revoking: false }
    }
}

/// A consumer group as ConsumerGroupDescribe shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerGroupDescription {
    /// The state as clients read it.
    pub state: &'static str,
    /// The epoch of the group.
    pub epoch: i32,
    /// The epoch that the target assignment is for.
    pub assignment_epoch: i32,
    /// The assignor that has most votes.
    pub assignor: Arc<str>,
    /// The members.
    pub members: Vec<ConsumerMemberDescription>,
}

/// A member as ConsumerGroupDescribe shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerMemberDescription {
    /// Its id.
    pub member: MemberId,
    /// Who it is and what it subscribes to.
    pub metadata: Arc<ConsumerMemberMetadata>,
    /// The epoch that it is in.
    pub epoch: i32,
    /// What it has, or has not said yet that it gave it up; sorted.
    pub assignment: Vec<TopicPartition>,
    /// What it is to have.
    pub target: MemberAssignment,
}

/// The answer to a JoinGroup: who the caller is now, and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinReply {
    /// The member id to go on with; None shows as an empty id.
    pub member: Option<MemberId>,
    /// The generation joined, or the refusal.
    pub outcome: Result<Joined, GroupError>,
}

/// A generation as one member sees it at the end of the join phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The generation.
    pub generation: i32,
    /// The protocol type of the group.
    pub protocol_type: Option<Arc<str>>,
    /// The protocol that the members' votes chose.
    pub protocol_name: Option<Arc<str>>,
    /// The member whose assignor runs.
    pub leader: Option<MemberId>,
    /// Whether the leader keeps the assignment that is there (KIP-814).
    pub skip_assignment: bool,
    /// Every member and its metadata, for the leader only.
    pub members: Vec<JoinedMember>,
}

/// One member as the leader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedMember {
    /// Its id.
    pub member: MemberId,
    /// Its instance id, if it is static.
    pub instance: Option<InstanceId>,
    /// Its metadata for the chosen protocol, as sent.
    pub metadata: Arc<[u8]>,
}

/// What one member is to read, in the leader's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synced {
    /// The protocol type of the group.
    pub protocol_type: Option<Arc<str>>,
    /// The protocol that the members' votes chose.
    pub protocol_name: Option<Arc<str>>,
    /// The assignment, as the leader sent it; empty if the leader left the member out.
    pub assignment: Arc<[u8]>,
}

/// One group in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGroup<'a> {
    /// Its id.
    pub group: &'a GroupId,
    /// `consumer`, `connect` …; empty for a group that only stores offsets.
    pub protocol_type: &'a str,
    /// The state as clients read it.
    pub state: &'static str,
    /// `classic` or `consumer`.
    pub group_type: &'static str,
}

/// A classic group as DescribeGroups shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedGroup {
    /// The state as clients read it.
    pub state: &'static str,
    /// `consumer`, `connect` …; empty for a group that only stores offsets.
    pub protocol_type: Arc<str>,
    /// The chosen protocol in Stable, empty otherwise.
    pub protocol_name: Arc<str>,
    /// The members.
    pub members: Vec<DescribedMember>,
}

/// A member as DescribeGroups shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribedMember {
    /// Its id.
    pub member: MemberId,
    /// Its instance id, if it is static.
    pub instance: Option<InstanceId>,
    /// The client id of the request that brought it in.
    pub client_id: Arc<str>,
    /// The address it came from, in Java's spelling.
    pub client_host: Arc<str>,
    /// Its metadata for the chosen protocol; empty unless the group is Stable.
    pub metadata: Arc<[u8]>,
    /// Its assignment in the last generation that was Stable.
    pub assignment: Arc<[u8]>,
}

/// A committed offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedOffset {
    /// The offset.
    pub offset: i64,
    /// The leader epoch that came with it.
    pub leader_epoch: Option<i32>,
    /// The client's own words.
    pub metadata: Arc<str>,
    /// Wall-clock milliseconds of the commit.
    pub commit_timestamp_ms: i64,
    /// Wall-clock milliseconds when it goes, if the client asked for a retention of its own.
    pub expire_timestamp_ms: Option<i64>,
    /// The topic's id when it was committed, or zero.
    pub topic_id: TopicId,
}

/// The offsets of one topic, by partition in ascending order.
pub type TopicOffsets<'a> = (&'a TopicName, &'a [(i32, CommittedOffset)]);
