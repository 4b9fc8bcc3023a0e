//! Requests that own what a command borrows, so that they can wait for their answers.

use rallypoint::coordinator::command::{
    Command, CommitPartition, DeleteGroup, Heartbeat, JoinGroup, LeaveGroup, Leaver, OffsetCommit,
    OffsetDelete, SyncGroup,
};
use rallypoint::types::{TopicId, TopicName};

/// Name and metadata of a protocol.
pub(crate) type Offer = (String, Vec<u8>);

#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub(crate) group: String,
    pub(crate) member: Option<String>,
    pub(crate) instance: Option<String>,
    pub(crate) client: String,
    pub(crate) session_ms: i32,
    pub(crate) rebalance_ms: i32,
    pub(crate) offers: Vec<Offer>,
    pub(crate) version: i32,
    pub(crate) random: u128,
}

#[derive(Clone, Debug)]
pub(crate) struct Sync {
    pub(crate) group: String,
    pub(crate) member: String,
    pub(crate) instance: Option<String>,
    pub(crate) generation: i32,
    /// Member id → assignment.
    pub(crate) assignments: Vec<(String, Vec<u8>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Beat {
    pub(crate) group: String,
    pub(crate) member: String,
    pub(crate) instance: Option<String>,
    pub(crate) generation: i32,
}

#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) group: String,
    pub(crate) member: String,
    pub(crate) instance: Option<String>,
    pub(crate) generation: i32,
    pub(crate) retention_ms: Option<i64>,
    pub(crate) topic: String,
    /// Partition, offset, metadata.
    pub(crate) offsets: Vec<(i32, i64, String)>,
}

#[derive(Clone, Debug)]
pub(crate) enum Request {
    Join(Join),
    Sync(Sync),
    Heartbeat(Beat),
    /// Group, then member id and instance id of each.
    Leave(String, Vec<(Option<String>, Option<String>)>),
    Commit(Commit),
    /// Group, topic, partitions.
    DeleteOffsets(String, String, Vec<i32>),
    DeleteGroup(String),
    TopicDeleted(String),
}

impl Request {
    /// Whether the answer may come later.
    pub(crate) fn may_wait(&self) -> bool {
        matches!(self, Self::Join(_) | Self::Sync(_))
    }

    pub(crate) fn with_command(&self, act: impl FnOnce(Command<'_>)) {
        match self {
            Self::Join(join) => join.with_command(act),
            Self::Sync(sync) => sync.with_command(act),
            Self::Heartbeat(beat) => act(Command::Heartbeat(Heartbeat {
                group: &beat.group,
                member: &beat.member,
                instance: beat.instance.as_deref(),
                generation: beat.generation,
            })),
            Self::Leave(group, members) => {
                let leaver = |(member, instance): &(Option<String>, Option<String>)| {
                    (member.clone(), instance.clone())
                };
                let members: Vec<_> = members.iter().map(leaver).collect();
                let members: Vec<Leaver<'_>> = members
                    .iter()
                    .map(|(m, i)| Leaver { member: m.as_deref(), instance: i.as_deref(), reason: None })
                    .collect();
                act(Command::LeaveGroup(LeaveGroup { group, members: &members }));
            }
            Self::Commit(commit) => commit.with_command(act),
            Self::DeleteOffsets(group, topic, partitions) => {
                act(Command::OffsetDelete(OffsetDelete { group, topics: &[(topic, partitions)] }));
            }
            Self::DeleteGroup(group) => act(Command::DeleteGroup(DeleteGroup { group })),
            Self::TopicDeleted(topic) => act(Command::TopicsDeleted(&[TopicName::from(topic.as_str())])),
        }
    }
}

fn borrowed(pairs: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8])> {
    pairs.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect()
}

impl Join {
    fn with_command(&self, act: impl FnOnce(Command<'_>)) {
        act(Command::JoinGroup(JoinGroup {
            group: &self.group,
            member: self.member.as_deref(),
            instance: self.instance.as_deref(),
            client_id: &self.client,
            client_host: "/10.0.0.1",
            session_timeout_ms: self.session_ms,
            rebalance_timeout_ms: self.rebalance_ms,
            protocol_type: "consumer",
            protocols: &borrowed(&self.offers),
            reason: None,
            member_id_required: self.version >= 4,
            may_skip_assignment: self.version >= 9,
            random: self.random,
            assignment_interval_ms: 0,
        }));
    }
}

impl Sync {
    fn with_command(&self, act: impl FnOnce(Command<'_>)) {
        act(Command::SyncGroup(SyncGroup {
            group: &self.group,
            member: &self.member,
            instance: self.instance.as_deref(),
            generation: self.generation,
            protocol_type: None,
            protocol_name: None,
            assignments: &borrowed(&self.assignments),
        }));
    }
}

impl Commit {
    fn with_command(&self, act: impl FnOnce(Command<'_>)) {
        let topic = TopicName::from(self.topic.as_str());
        let offsets: Vec<CommitPartition<'_>> = self
            .offsets
            .iter()
            .map(|(partition, offset, metadata)| CommitPartition {
                topic: &topic,
                topic_id: TopicId::ZERO,
                partition: *partition,
                offset: *offset,
                leader_epoch: None,
                metadata,
            })
            .collect();
        act(Command::OffsetCommit(OffsetCommit {
            group: &self.group,
            member: &self.member,
            instance: self.instance.as_deref(),
            generation: self.generation,
            retention_ms: self.retention_ms,
            has_member_epoch: true,
            producer_id: None,
            offsets: &offsets,
        }));
    }
}
