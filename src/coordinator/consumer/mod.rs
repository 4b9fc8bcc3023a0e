//! Groups whose assignment the coordinator computes (KIP-848): ConsumerGroupHeartbeat and what it brings about.
//!
//! A request is decided from the group as it is: the decision is a list of records and an answer. The records then
//! change the group, live and on load, and nothing else does ([`apply`]). What a reload may lose is in
//! [`Soft`](member::Soft) and in two fields of the group. Source: kafka ConsumerGroup and the `consumerGroup…` half
//! of GroupMetadataManager.
//!
//! The way of a heartbeat: [`subscribe`] finds or makes the member, [`subscription`] looks what it changes about the
//! group, [`target`] computes who is to have what, [`reconcile`] takes the member a step nearer to that.

mod apply;
mod classic_heartbeat;
mod classic_join;
mod classic_leave;
mod classic_sync;
mod convert;
mod describe;
mod heartbeat;
mod leave;
mod member;
mod offsets;
mod reconcile;
mod regex;
mod subscribe;
mod subscription;
mod target;
mod timeouts;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::GroupConfig;
use super::record::{GroupEpoch, Record, ResolvedRegex, TargetAssignmentMetadata};
use super::vec_map::VecMap;
use super::weight::CONSUMER_GROUP_BYTES;
use crate::types::{GroupId, InstanceId, MemberId, Now, TopicId, TopicImage, TopicName, TopicPartition};
use member::Member;
use subscription::Subscribers;

pub(super) use classic_join::Downgrade;
pub(super) use timeouts::Timeout;

/// The protocol type of consumers.
const CONSUMER: &str = "consumer";

/// A consumer group.
#[derive(Clone, Debug)]
pub(super) struct ConsumerGroup {
    id: GroupId,
    epoch: i32,
    metadata_hash: u64,
    target: TargetAssignmentMetadata,
    members: VecMap<MemberId, Box<Member>>,
    statics: VecMap<InstanceId, MemberId>,
    /// Who subscribes to each topic.
    topics: BTreeMap<TopicName, Subscribers>,
    /// Regular expression → how many members have it.
    regexes: VecMap<Arc<str>, usize>,
    /// Regular expression → what it matched when that was last looked at.
    resolved: VecMap<Arc<str>, ResolvedRegex>,
    /// Assignor → how many members vote for it.
    assignors: VecMap<Arc<str>, usize>,
    /// How many members speak the classic protocol.
    classic_members: usize,
    /// Protocol → how many of those offer it.
    classic_protocols: VecMap<Arc<str>, usize>,
    /// By topic and partition: the epoch of the member that has it, or None while nobody does.
    owners: BTreeMap<TopicId, Vec<Option<i32>>>,
    /// What the members take in memory, about.
    bytes: usize,
    /// Soft: the picture of the topics that `metadata_hash` was last compared with.
    topics_seen: Option<u64>,
    /// Soft: whether regular expressions are being resolved.
    resolving: bool,
}

/// From what a request is decided, besides the group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub(super) now: Now,
    pub(super) config: &'a GroupConfig,
    pub(super) topics: &'a Arc<dyn TopicImage>,
}

impl ConsumerGroup {
    pub(super) fn new(id: GroupId) -> Self {
        Self {
            id,
            epoch: 1,
            metadata_hash: 0,
            target: TargetAssignmentMetadata { epoch: 1, timestamp_ms: 0 },
            members: VecMap::default(),
            statics: VecMap::default(),
            topics: BTreeMap::new(),
            regexes: VecMap::default(),
            resolved: VecMap::default(),
            assignors: VecMap::default(),
            classic_members: 0,
            classic_protocols: VecMap::default(),
            owners: BTreeMap::new(),
            bytes: 0,
            topics_seen: None,
            resolving: false,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// What the group takes in memory, about.
    pub(super) fn bytes(&self) -> usize {
        CONSUMER_GROUP_BYTES + self.bytes
    }

    /// Whether a member reads the topic.
    pub(super) fn is_subscribed(&self, topic: &str) -> bool {
        self.topics.contains_key(topic)
    }

    /// The state as clients read it. Source: ConsumerGroup.maybeUpdateGroupState.
    pub(super) fn state(&self) -> &'static str {
        if self.is_empty() {
            "Empty"
        } else if self.epoch > self.target.epoch {
            "Assigning"
        } else if self.members.values().all(|member| member.is_reconciled_to(self.target.epoch)) {
            "Stable"
        } else {
            "Reconciling"
        }
    }

    fn member(&self, id: &str) -> Option<&Member> {
        self.members.get(id).map(|member| &**member)
    }

    fn static_member(&self, instance: &str) -> Option<&Member> {
        self.member(self.statics.get(instance)?.as_str())
    }

    /// Whether some member has the partition, or has not said yet that it gave it up.
    fn is_owned(&self, partition: TopicPartition) -> bool {
        let index = usize::try_from(partition.partition).unwrap_or(usize::MAX);
        self.owners.get(&partition.topic).and_then(|owners| owners.get(index)).is_some_and(Option::is_some)
    }

    fn epoch_record(&self, epoch: i32, metadata_hash: u64) -> Record {
        Record::ConsumerGroupMetadata {
            group: self.id.clone(),
            value: Some(GroupEpoch { epoch, metadata_hash }),
        }
    }

    fn target_metadata_record(&self, epoch: i32, timestamp_ms: i64) -> Record {
        Record::ConsumerGroupTargetAssignmentMetadata {
            group: self.id.clone(),
            value: Some(TargetAssignmentMetadata { epoch, timestamp_ms }),
        }
    }

    /// The records that give the group back.
    pub(super) fn snapshot(&self) -> Vec<Record> {
        let group = || self.id.clone();
        let members = || self.members.values();
        let metadata = members().map(|m| Record::ConsumerGroupMemberMetadata {
            group: group(),
            member: m.id.clone(),
            value: Some(m.metadata.clone()),
        });
        let mut records: Vec<Record> = metadata.collect();
        records.extend(self.resolved.as_slice().iter().map(|(regex, resolved)| {
            let (regex, value) = (regex.clone(), Some(resolved.clone()));
            Record::ConsumerGroupRegularExpression { group: group(), regex, value }
        }));
        records.push(self.epoch_record(self.epoch, self.metadata_hash));
        records.extend(members().map(|m| m.target_record(&self.id)));
        records.push(self.target_metadata_record(self.target.epoch, self.target.timestamp_ms));
        records.extend(members().map(|m| m.current_record(&self.id)));
        records
    }

    /// The records that end the group, members and all. Source: ConsumerGroup.createGroupTombstoneRecords.
    pub(super) fn tombstones(&self) -> Vec<Record> {
        let group = || self.id.clone();
        let members = || self.members.keys().cloned();
        let mut records: Vec<Record> =
            members().flat_map(|member| member::tombstones(&self.id, &member)).collect();
        records.push(Record::ConsumerGroupTargetAssignmentMetadata { group: group(), value: None });
        records.extend(self.resolved.keys().map(|regex| Record::ConsumerGroupRegularExpression {
            group: group(),
            regex: regex.clone(),
            value: None,
        }));
        records.push(Record::ConsumerGroupMetadata { group: group(), value: None });
        records
    }
}
