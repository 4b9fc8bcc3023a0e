//! What the state of a shard takes in memory, about: enough to bound it.
//!
//! Each group remembers what it was counted with, so that a change that is not counted at once is made good by the
//! next.

use super::Coordinator;
use super::command::{Command, JoinGroup};

/// A group without members and offsets, with its place among the groups.
pub(super) const GROUP_BYTES: usize = 448;
/// The same of the consumer protocol, with the indexes that it has as soon as there is a member.
pub(super) const CONSUMER_GROUP_BYTES: usize = 1_792;
/// A member with its timer, or a member id that was handed out, without its texts.
pub(super) const MEMBER_BYTES: usize = 512;
/// A committed offset, without its metadata.
pub(super) const OFFSET_BYTES: usize = 160;
/// A protocol that a member offers, without its name and metadata.
const PROTOCOL_BYTES: usize = 96;

/// What a member with these protocols takes, in bytes. Its id begins with the client's id or the instance's.
pub(super) fn member_bytes<'a>(
    client_id: &str,
    instance: Option<&str>,
    protocols: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> usize {
    let texts = 2 * client_id.len() + 2 * instance.map_or(0, str::len);
    let protocols = protocols.map(|(name, metadata)| PROTOCOL_BYTES + name.len() + metadata.len());
    MEMBER_BYTES + texts + protocols.sum::<usize>()
}

impl JoinGroup<'_> {
    /// What the member takes if it is let in, in bytes.
    pub(super) fn bytes(&self) -> usize {
        member_bytes(self.client_id, self.instance, self.protocols.iter().copied())
    }
}

impl<'a> Command<'a> {
    /// The group that a command may have made larger or smaller.
    pub(super) const fn group(&self) -> Option<&'a str> {
        match self {
            Self::JoinGroup(join) => Some(join.group),
            Self::SyncGroup(sync) => Some(sync.group),
            Self::LeaveGroup(leave) => Some(leave.group),
            Self::OffsetCommit(commit) => Some(commit.group),
            Self::OffsetDelete(delete) => Some(delete.group),
            Self::ConsumerGroupHeartbeat(heartbeat) => Some(heartbeat.group),
            // A heartbeat changes nothing, a deleted group is counted when it goes; the retention of offsets and the end of a
            // transaction look at several groups.
            Self::Heartbeat(_)
            | Self::DeleteGroup(_)
            | Self::TopicsDeleted(_)
            | Self::EndTransaction(_)
            | Self::TopicsChanged(_)
            | Self::RegexesResolved(_) => None,
        }
    }
}

impl Coordinator {
    /// What all groups take, in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Says how many bytes the groups may take beyond those they do.
    pub const fn set_bytes_left(&mut self, bytes: usize) {
        self.config.bytes_left = bytes;
    }

    /// Counts a group as it is now.
    pub(super) fn weigh(&mut self, group: &str) {
        let Some(group) = self.groups.get_mut(group) else { return };
        let bytes = group.bytes();
        self.bytes = self.bytes - group.weighed + bytes;
        group.weighed = bytes;
    }

    pub(super) fn weigh_all(&mut self) {
        for group in self.groups.values_mut() {
            group.weighed = group.bytes();
        }
        self.bytes = self.groups.values().map(|group| group.weighed).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::{
        CommitPartition, DeleteGroup, EndTransaction, LeaveGroup, Leaver, OffsetCommit,
    };
    use super::super::error::GroupError;
    use super::super::reply::Reply;
    use super::super::{GroupConfig, Step};
    use super::*;
    use crate::types::{Millis, Now, ReplyTo, TopicId, TopicName};

    fn join<'a>(member_id_required: bool, protocols: &'a [(&'a str, &'a [u8])], random: u128) -> Command<'a> {
        Command::JoinGroup(JoinGroup {
            group: "g",
            member: None,
            instance: None,
            client_id: "client",
            client_host: "/10.0.0.1",
            session_timeout_ms: 10_000,
            rebalance_timeout_ms: 10_000,
            protocol_type: "consumer",
            protocols,
            reason: None,
            member_id_required,
            may_skip_assignment: false,
            random,
            assignment_interval_ms: 0,
        })
    }

    fn submit(shard: &mut Coordinator, command: Command<'_>) -> Option<Reply> {
        let mut step = Step::default();
        shard.submit(Now::default(), ReplyTo(1), command, &mut step);
        step.replies.pop().map(|(_, reply)| reply)
    }

    fn commit(shard: &mut Coordinator, group: &str, metadata: &str) -> Result<Vec<usize>, GroupError> {
        let topic = TopicName::from("t");
        let offset = CommitPartition {
            topic: &topic,
            topic_id: TopicId(1),
            partition: 0,
            offset: 7,
            leader_epoch: None,
            metadata,
        };
        let command = Command::OffsetCommit(OffsetCommit {
            group,
            member: "",
            instance: None,
            generation: -1,
            retention_ms: None,
            has_member_epoch: false,
            producer_id: None,
            offsets: &[offset],
        });
        match submit(shard, command) {
            Some(Reply::OffsetCommit(outcome)) => outcome,
            other => panic!("{other:?}"),
        }
    }

    fn is_counted_rightly(shard: &mut Coordinator) -> bool {
        let counted = shard.bytes();
        shard.weigh_all();
        counted == shard.bytes()
    }

    #[test]
    fn what_comes_is_counted_and_what_goes_too() {
        let mut shard = Coordinator::new(GroupConfig::default(), Now::default());
        let joined = submit(&mut shard, join(false, &[("range", &[0; 1_000])], 1));
        let Some(Reply::JoinGroup(joined)) = joined else { panic!("{joined:?}") };
        submit(&mut shard, join(true, &[("range", b"")], 2));
        commit(&mut shard, "h", "metadata").expect("there is room");
        assert!(shard.bytes() > 2 * GROUP_BYTES + 2 * MEMBER_BYTES + 1_000 + OFFSET_BYTES);
        assert!(is_counted_rightly(&mut shard));

        let member = joined.member.expect("a member id");
        let leaver = Leaver { member: Some(member.as_str()), instance: None, reason: None };
        submit(&mut shard, Command::LeaveGroup(LeaveGroup { group: "g", members: &[leaver] }));
        let late = Now { monotonic: Millis(1_000_000), wall: Millis(1_000_000) };
        shard.advance(late, &mut Step::default());
        assert!(is_counted_rightly(&mut shard));
        for group in ["g", "h"] {
            submit(&mut shard, Command::DeleteGroup(DeleteGroup { group }));
        }
        assert_eq!(shard.bytes(), 0);
    }

    #[test]
    fn what_a_transaction_holds_is_counted_until_it_ends() {
        let mut shard = Coordinator::new(GroupConfig::default(), Now::default());
        let topic = TopicName::from("t");
        let commit = |shard: &mut Coordinator, metadata| {
            let offset = CommitPartition {
                topic: &topic,
                topic_id: TopicId(1),
                partition: 0,
                offset: 7,
                leader_epoch: None,
                metadata,
            };
            let commit = OffsetCommit {
                group: "g",
                member: "",
                instance: None,
                generation: -1,
                retention_ms: None,
                has_member_epoch: false,
                producer_id: Some(9),
                offsets: &[offset],
            };
            submit(shard, Command::OffsetCommit(commit))
        };
        let stored = Some(Reply::OffsetCommit(Ok(Vec::new())));
        assert_eq!(commit(&mut shard, "some metadata"), stored);
        let held = shard.bytes();
        assert!(is_counted_rightly(&mut shard));
        shard.set_bytes_left(0);
        assert_eq!(commit(&mut shard, "more"), stored, "in place of what is there");
        assert_eq!(
            commit(&mut shard, "far more metadata"),
            Some(Reply::OffsetCommit(Err(GroupError::InvalidCommitOffsetSize)))
        );
        shard.set_bytes_left(usize::MAX);
        let end = EndTransaction { producer_id: 9, committed: false };
        submit(&mut shard, Command::EndTransaction(end));
        assert!(is_counted_rightly(&mut shard) && shard.bytes() < held);
    }

    #[test]
    fn without_memory_nobody_is_let_in_and_nothing_new_is_stored() {
        let mut shard = Coordinator::new(GroupConfig::default(), Now::default());
        commit(&mut shard, "g", "metadata").expect("there is room");
        shard.set_bytes_left(OFFSET_BYTES);
        let refused = submit(&mut shard, join(true, &[("range", b"")], 1));
        let Some(Reply::JoinGroup(refused)) = refused else { panic!("{refused:?}") };
        assert_eq!(refused.outcome.err(), Some(GroupError::GroupMaxSizeReached));
        assert_eq!(commit(&mut shard, "h", ""), Err(GroupError::InvalidCommitOffsetSize));
        shard.set_bytes_left(0);
        assert_eq!(commit(&mut shard, "g", "data"), Ok(Vec::new()));
        assert_eq!(commit(&mut shard, "g", "more metadata"), Err(GroupError::InvalidCommitOffsetSize));
    }
}
