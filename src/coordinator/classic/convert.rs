//! A classic group becomes a consumer group, and the other way round.
//!
//! Source: ConsumerGroup.fromClassicGroup, ClassicGroup.fromConsumerGroup.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::Turn;
use super::super::consumer::ConsumerGroup;
use super::super::consumer_protocol::{assignment, subscription};
use super::super::error::{GroupError, Refusal};
use super::super::event::Cause;
use super::super::record::{
    ClassicMemberMetadata, ConsumerMemberMetadata, CurrentAssignment, GroupEpoch, MemberState,
    OwnedPartition, Record, TargetAssignmentMetadata,
};
use super::super::texts::Texts;
use super::ClassicGroup;
use super::join::refuse;
use super::member::{Member, Protocol, no_bytes};
use super::state::State;
use crate::assignor::MemberAssignment;
use crate::types::{GroupId, MemberId, Now, TopicImage, TopicName, TopicPartition};

/// A member of the classic protocol as it comes out of a consumer group.
#[derive(Debug)]
pub(in super::super) struct Joining {
    /// Its id.
    pub(in super::super) id: MemberId,
    /// Who it is.
    pub(in super::super) metadata: Arc<ConsumerMemberMetadata>,
    /// What it is to have.
    pub(in super::super) target: MemberAssignment,
}

impl ClassicGroup {
    /// Whether the members send metadata that the coordinator can read.
    pub(in super::super) fn is_of_consumers(&self) -> bool {
        self.protocol_type.as_deref() == Some(super::CONSUMER)
    }

    pub(in super::super) fn members_len(&self) -> usize {
        self.members.len()
    }

    /// Puts the members into an empty consumer group, at the epoch of this generation, with what they are assigned;
    /// gives the records of that.
    pub(in super::super) fn to_consumer_records(
        &self,
        topics: &dyn TopicImage,
        consumer: &mut ConsumerGroup,
    ) -> Result<Vec<Record>, Refusal> {
        let Some(protocol) = self.protocol_name.clone() else {
            // Kafka trips over a first join phase, in which no protocol is chosen yet.
            return Err(Refusal::new(GroupError::UnknownServerError, ""));
        };
        let mut metadata = Vec::new();
        let mut targets = Vec::new();
        let mut currents = Vec::new();
        let mut taken = BTreeSet::new();
        for member in self.members.iter() {
            let mut assigned = self.read_assignment(&member.assignment, topics)?;
            // Differs from Kafka: what two members were assigned, only the first has; Kafka trips over that.
            assigned.retain(|partition| taken.insert(*partition));
            let (group, id) = (|| self.id.clone(), || member.id.clone());
            metadata.push(Record::ConsumerGroupMemberMetadata {
                group: group(),
                member: id(),
                value: Some(Arc::new(self.read_metadata(member, &protocol)?)),
            });
            targets.push(Record::ConsumerGroupTargetAssignmentMember {
                group: group(),
                member: id(),
                value: Some(assigned.iter().map(|p| (p.topic, p.partition)).collect()),
            });
            let current = self.current_assignment(&assigned);
            let (group, member, value) = (group(), id(), Some(Box::new(current)));
            currents.push(Record::ConsumerGroupCurrentMemberAssignment { group, member, value });
        }
        let mut records = metadata;
        records.push(Record::ConsumerGroupMetadata {
            group: self.id.clone(),
            value: Some(GroupEpoch { epoch: self.generation, metadata_hash: 0 }),
        });
        records.extend(targets);
        records.push(Record::ConsumerGroupTargetAssignmentMetadata {
            group: self.id.clone(),
            value: Some(TargetAssignmentMetadata { epoch: self.generation, timestamp_ms: 0 }),
        });
        records.extend(currents);
        for record in &records {
            consumer.apply(record);
        }
        records.push(consumer.compare_with(topics));
        Ok(records)
    }

    fn current_assignment(&self, assigned: &[TopicPartition]) -> CurrentAssignment {
        let since_epoch = self.generation;
        CurrentAssignment {
            epoch: self.generation,
            previous_epoch: self.generation,
            state: MemberState::Stable,
            assigned: assigned.iter().map(|&partition| OwnedPartition { partition, since_epoch }).collect(),
            pending_revocation: Vec::new(),
        }
    }

    fn read_assignment(&self, bytes: &[u8], topics: &dyn TopicImage) -> Result<Vec<TopicPartition>, Refusal> {
        if bytes.is_empty() {
            return Ok(Vec::new());
        }
        let read = assignment(bytes).ok_or_else(|| self.malformed())?;
        if read.has_user_data {
            return Err(self.cannot_upgrade(
                "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default \
                 assignor before re-attempting the upgrade",
            ));
        }
        // Differs from Kafka: partitions that a topic does not have are passed over, as topics are that there are not.
        let known = read.partitions.iter().filter_map(|(topic, partitions)| {
            topics.topic_by_name(topic).map(|topic| (topic.id, 0..topic.partitions, partitions))
        });
        let mut assigned: Vec<_> = known
            .flat_map(|(topic, there_are, partitions)| {
                let partitions = partitions.iter().filter(move |partition| there_are.contains(partition));
                partitions.map(move |&partition| TopicPartition { topic, partition })
            })
            .collect();
        assigned.sort_unstable();
        assigned.dedup();
        Ok(assigned)
    }

    fn read_metadata(&self, member: &Member, protocol: &str) -> Result<ConsumerMemberMetadata, Refusal> {
        let bytes = member.metadata(Some(protocol));
        let read = subscription(&bytes).ok_or_else(|| self.malformed())?;
        let mut topics: Vec<TopicName> = read.topics.iter().map(|topic| TopicName::from(*topic)).collect();
        topics.sort_unstable();
        topics.dedup();
        Ok(ConsumerMemberMetadata {
            instance: member.instance.clone(),
            rack: read.rack.filter(|rack| !rack.is_empty()).map(Arc::from),
            client_id: member.client_id.clone(),
            client_host: member.client_host.clone(),
            topics: topics.into(),
            regex: None,
            rebalance_timeout_ms: member.rebalance_timeout_ms,
            assignor: None,
            classic: Some(ClassicMemberMetadata {
                session_timeout_ms: member.session_timeout_ms,
                protocols: member.protocols.iter().map(|p| (p.name.clone(), p.metadata.clone())).collect(),
            }),
        })
    }

    fn malformed(&self) -> Refusal {
        self.cannot_upgrade("the embedded consumer protocol is malformed")
    }

    fn cannot_upgrade(&self, why: &str) -> Refusal {
        let message = format!("Cannot upgrade classic group {} to consumer group because {why}.", self.id);
        Refusal::new(GroupError::GroupIdNotFound, message)
    }

    /// Ends the group: who is parked is answered, and no timer fires any more.
    pub(in super::super) fn dissolve(&mut self, turn: &mut Turn<'_>, error: GroupError) {
        let ids: Vec<MemberId> = self.members.iter().map(|m| m.id.clone()).collect();
        for id in &ids {
            if let Some(from) = self.members.take_join(id.as_str()) {
                refuse(turn, from, Some(id.clone()), error);
            }
        }
        self.fail_parked_syncs(turn, error);
        for id in &ids {
            self.remove_member(turn, id.as_str());
        }
        self.cancel_timers(turn);
    }

    /// A Stable group of these members, at this generation.
    pub(in super::super) fn of_members(
        id: GroupId,
        now: Now,
        generation: i32,
        members: impl Iterator<Item = Joining>,
        assignment_of: impl Fn(&Joining, &ClassicMemberMetadata) -> Arc<[u8]>,
    ) -> Self {
        let mut group = Self::new(id, now.wall.0);
        group.generation = generation;
        group.protocol_type = Some(super::CONSUMER.into());
        for joining in members {
            let Some(classic) = &joining.metadata.classic else { continue };
            let mut member = Member::from_consumer(&joining, classic, now);
            member.assignment = assignment_of(&joining, classic);
            group.members.add(member);
        }
        group.leader = group.members.iter().next().map(|m| m.id.clone());
        group.state = State::Stable;
        group.protocol_name = group.select_protocol();
        group.compute_subscribed(&mut Texts::default());
        group
    }

    /// Starts what a group that was a consumer group needs: sessions, and a rebalance if its assignment is stale.
    pub(in super::super) fn begin_after_downgrade(&mut self, turn: &mut Turn<'_>, rebalance: bool) {
        let ids: Vec<MemberId> = self.members.iter().map(|m| m.id.clone()).collect();
        for id in ids {
            self.renew_session(turn, id.as_str());
        }
        if rebalance {
            self.prepare_rebalance(turn, Cause::Downgraded);
        }
    }
}

impl Member {
    fn from_consumer(joining: &Joining, classic: &ClassicMemberMetadata, now: Now) -> Self {
        let protocol = |(name, metadata): &(Arc<str>, Arc<[u8]>)| Protocol {
            name: name.clone(),
            metadata: metadata.clone(),
        };
        Self {
            id: joining.id.clone(),
            instance: joining.metadata.instance.clone(),
            client_id: joining.metadata.client_id.clone(),
            client_host: joining.metadata.client_host.clone(),
            session_timeout_ms: classic.session_timeout_ms,
            rebalance_timeout_ms: joining.metadata.rebalance_timeout_ms,
            protocols: classic.protocols.iter().map(protocol).collect(),
            assignment: no_bytes(),
            awaiting_join: None,
            awaiting_sync: None,
            is_new: false,
            last_heard: now.monotonic,
            lease: super::super::timer::Lease::default(),
        }
    }
}
