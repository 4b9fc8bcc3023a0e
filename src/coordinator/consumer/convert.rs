//! What a consumer group gives when it becomes a classic one, or has just been one.

use super::super::classic::{ClassicGroup, Joining};
use super::super::record::{GroupEpoch, Record};
use super::classic_sync::encode_partitions;
use super::subscription::hash_topics;
use super::{ConsumerGroup, Member};
use crate::assignor::MemberAssignment;
use crate::types::{MemberId, Now, TopicImage};

impl ConsumerGroup {
    pub(in super::super) fn members_len(&self) -> usize {
        self.members.len()
    }

    pub(in super::super) fn classic_members_len(&self) -> usize {
        self.classic_members
    }

    /// How many members of the classic protocol are not among these.
    pub(in super::super) fn classic_members_except(
        &self,
        members: &std::collections::BTreeSet<MemberId>,
    ) -> usize {
        let among = members.iter().filter_map(|id| self.member(id.as_str())).filter(|m| m.is_classic());
        self.classic_members - among.count()
    }

    /// What a member is to have.
    pub(in super::super) fn target_of(&self, member: &MemberId) -> MemberAssignment {
        self.member(member.as_str()).map(|m| m.target.clone()).unwrap_or_default()
    }

    /// Takes the topics as they are for those that the group was assigned by; gives the record of that.
    pub(in super::super) fn compare_with(&mut self, topics: &dyn TopicImage) -> Record {
        let metadata_hash = hash_topics(topics, self.topics.keys());
        let record = Record::ConsumerGroupMetadata {
            group: self.id.clone(),
            value: Some(GroupEpoch { epoch: self.epoch, metadata_hash }),
        };
        self.apply(&record);
        record
    }

    /// The members that stay as a classic group, each with its target assignment.
    pub(in super::super) fn to_classic(
        &self,
        now: Now,
        topics: &dyn TopicImage,
        leaves: impl Fn(&MemberId) -> bool,
        joining: Option<Joining>,
    ) -> ClassicGroup {
        let stay = self.members.values().filter(|member| !leaves(&member.id));
        let members = stay.map(|member| as_joining(member)).chain(joining);
        ClassicGroup::of_members(self.id.clone(), now, self.epoch, members, |joining, classic| {
            encode_partitions(&joining.target, classic, topics).into()
        })
    }
}

fn as_joining(member: &Member) -> Joining {
    Joining { id: member.id.clone(), metadata: member.metadata.clone(), target: member.target.clone() }
}
