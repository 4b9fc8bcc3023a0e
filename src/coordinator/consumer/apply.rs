//! Records change the group, and nothing else does. Source: the `replay` of GroupMetadataManager for consumer groups
//! and ConsumerGroup.updateMember.

use std::sync::Arc;

use super::super::Turn;
use super::super::record::{
    ConsumerMemberMetadata, CurrentAssignment, OwnedPartition, Record, ResolvedRegex,
    TargetAssignmentMetadata,
};
use super::super::vec_map::VecMap;
use super::ConsumerGroup;
use super::member::{Member, PARTITION_BYTES, metadata_bytes};
use super::regex::resolved_bytes;
use super::subscription::Subscribers;
use crate::assignor::MemberAssignment;
use crate::types::{MemberId, TopicName};

impl ConsumerGroup {
    /// Changes the group as one of its records says; tells whether the group is still there.
    pub(in super::super) fn apply(&mut self, record: &Record) -> bool {
        match record {
            Record::ConsumerGroupMetadata { value: Some(value), .. } => {
                self.epoch = value.epoch;
                self.metadata_hash = value.metadata_hash;
            }
            Record::ConsumerGroupMetadata { value: None, .. } => return false,
            Record::ConsumerGroupMemberMetadata { member, value: Some(value), .. } => {
                self.set_metadata(member, value);
            }
            Record::ConsumerGroupMemberMetadata { member, value: None, .. } => self.remove(member),
            Record::ConsumerGroupTargetAssignmentMetadata { value, .. } => {
                self.target = value.unwrap_or(TargetAssignmentMetadata { epoch: -1, timestamp_ms: 0 });
            }
            Record::ConsumerGroupTargetAssignmentMember { member, value: Some(value), .. } => {
                self.set_target(member, value.clone());
            }
            Record::ConsumerGroupTargetAssignmentMember { member, value: None, .. } => {
                if self.members.get(member.as_str()).is_some() {
                    self.set_target(member, MemberAssignment::default());
                }
            }
            Record::ConsumerGroupCurrentMemberAssignment { member, value: Some(value), .. } => {
                self.set_current(member, (**value).clone());
            }
            Record::ConsumerGroupCurrentMemberAssignment { member, value: None, .. } => {
                if self.members.get(member.as_str()).is_some() {
                    self.set_current(member, CurrentAssignment { epoch: -1, ..CurrentAssignment::default() });
                }
            }
            Record::ConsumerGroupRegularExpression { regex, value, .. } => {
                self.set_resolved(regex, value.as_ref());
            }
            Record::GroupMetadata { .. }
            | Record::OffsetCommit { .. }
            | Record::TxnOffsetCommit { .. }
            | Record::EndTxnMarker { .. } => {
                unreachable!("{record:?} is no record of a consumer group")
            }
        }
        true
    }

    /// The same while timers run: those of a member end with it.
    pub(super) fn apply_live(&mut self, turn: &mut Turn<'_>, record: &Record) {
        if let Record::ConsumerGroupMemberMetadata { member, value: None, .. } = record {
            self.cancel_timers(turn, member.as_str());
        }
        self.apply(record);
    }

    fn member_mut(&mut self, id: &MemberId) -> &mut Member {
        if self.members.get(id.as_str()).is_none() {
            let member = Member::new(id.clone());
            self.bytes += metadata_bytes(&member.metadata);
            self.members.insert(id.clone(), Box::new(member));
        }
        self.members.get_mut(id.as_str()).expect("the member was put in")
    }

    fn set_target(&mut self, id: &MemberId, target: MemberAssignment) {
        self.bytes += PARTITION_BYTES * target.partition_count();
        let before = std::mem::replace(&mut self.member_mut(id).target, target);
        self.bytes -= PARTITION_BYTES * before.partition_count();
    }

    fn set_metadata(&mut self, id: &MemberId, metadata: &Arc<ConsumerMemberMetadata>) {
        let before = std::mem::replace(&mut self.member_mut(id).metadata, metadata.clone());
        // Counted in first, so that what both have is not dropped in between.
        self.count_in(id, metadata);
        self.count_out(id, &before);
    }

    fn remove(&mut self, id: &MemberId) {
        if self.members.get(id.as_str()).is_none() {
            return;
        }
        self.set_current(id, CurrentAssignment::default());
        self.set_target(id, MemberAssignment::default());
        if let Some(gone) = self.members.remove(id.as_str()) {
            self.count_out(id, &gone.metadata);
        }
    }

    fn set_current(&mut self, id: &MemberId, current: CurrentAssignment) {
        let before = std::mem::replace(&mut self.member_mut(id).current, current.clone());
        let partitions = |c: &CurrentAssignment| c.assigned.len() + c.pending_revocation.len();
        self.bytes += PARTITION_BYTES * partitions(&current);
        self.bytes -= PARTITION_BYTES * partitions(&before);
        for owned in before.assigned.iter().chain(&before.pending_revocation) {
            self.release(owned, before.epoch);
        }
        for owned in current.assigned.iter().chain(&current.pending_revocation) {
            self.own(owned, current.epoch);
        }
    }

    fn release(&mut self, owned: &OwnedPartition, epoch: i32) {
        let Some(owners) = self.owners.get_mut(&owned.partition.topic) else { return };
        let index = usize::try_from(owned.partition.partition).unwrap_or(usize::MAX);
        if let Some(owner) = owners.get_mut(index)
            && *owner == Some(epoch)
        {
            *owner = None;
        }
        while owners.last().is_some_and(Option::is_none) {
            owners.pop();
        }
        if owners.is_empty() {
            self.owners.remove(&owned.partition.topic);
        }
    }

    fn own(&mut self, owned: &OwnedPartition, epoch: i32) {
        let Ok(index) = usize::try_from(owned.partition.partition) else { return };
        let owners = self.owners.entry(owned.partition.topic).or_default();
        if owners.len() <= index {
            owners.resize(index + 1, None);
        }
        debug_assert!(owners[index].is_none_or(|before| before < epoch), "{owned:?} has two owners");
        owners[index] = Some(epoch);
    }

    fn count_in(&mut self, id: &MemberId, metadata: &ConsumerMemberMetadata) {
        self.bytes += metadata_bytes(metadata);
        for topic in metadata.topics.iter() {
            self.topics.entry(topic.clone()).or_default().by_name += 1;
        }
        metadata.regex.iter().for_each(|regex| increment(&mut self.regexes, regex));
        metadata.assignor.iter().for_each(|assignor| increment(&mut self.assignors, assignor));
        if let Some(classic) = &metadata.classic {
            self.classic_members += 1;
            classic.protocols.iter().for_each(|(name, _)| increment(&mut self.classic_protocols, name));
        }
        if let Some(instance) = &metadata.instance {
            self.statics.insert(instance.clone(), id.clone());
        }
    }

    fn count_out(&mut self, id: &MemberId, metadata: &ConsumerMemberMetadata) {
        self.bytes -= metadata_bytes(metadata);
        for topic in metadata.topics.iter() {
            self.unsubscribe(topic, |subscribers| &mut subscribers.by_name);
        }
        metadata.regex.iter().for_each(|regex| decrement(&mut self.regexes, regex));
        metadata.assignor.iter().for_each(|assignor| decrement(&mut self.assignors, assignor));
        if let Some(classic) = &metadata.classic {
            self.classic_members -= 1;
            classic.protocols.iter().for_each(|(name, _)| decrement(&mut self.classic_protocols, name));
        }
        if let Some(instance) = &metadata.instance {
            let held = self.statics.get(instance.as_str()) == Some(id);
            let stays =
                self.members.get(id.as_str()).is_some_and(|m| m.metadata.instance.as_ref() == Some(instance));
            if held && !stays {
                self.statics.remove(instance.as_str());
            }
        }
    }

    fn set_resolved(&mut self, regex: &Arc<str>, resolved: Option<&ResolvedRegex>) {
        let known = self.resolved.get_mut(&**regex);
        if let (Some(resolved), Some(known)) = (resolved, known)
            && known.topics == resolved.topics
        {
            *known = resolved.clone();
            return;
        }
        if let Some(resolved) = resolved {
            self.add_matches(&resolved.topics);
        }
        self.bytes += resolved.map_or(0, resolved_bytes);
        let before = match resolved {
            Some(resolved) => self.resolved.insert(regex.clone(), resolved.clone()),
            None => self.resolved.remove(&**regex),
        };
        self.bytes -= before.as_ref().map_or(0, resolved_bytes);
        for topic in before.iter().flat_map(|before| before.topics.iter()) {
            self.unsubscribe(topic, |subscribers| &mut subscribers.by_regex);
        }
    }

    /// Counts topics in that an expression matches. They may be all there are: many are merged and not looked up.
    fn add_matches(&mut self, matched: &[TopicName]) {
        if matched.len() < self.topics.len() / 8 {
            for topic in matched {
                self.topics.entry(topic.clone()).or_default().by_regex += 1;
            }
            return;
        }
        let mut known = std::mem::take(&mut self.topics).into_iter().peekable();
        let mut merged = Vec::with_capacity(known.len() + matched.len());
        for topic in matched {
            merged.extend(std::iter::from_fn(|| known.next_if(|(name, _)| name < topic)));
            let before =
                known.next_if(|(name, _)| name == topic).map_or_else(Subscribers::default, |(_, s)| s);
            merged.push((topic.clone(), Subscribers { by_regex: before.by_regex + 1, ..before }));
        }
        merged.extend(known);
        self.topics = merged.into_iter().collect();
    }

    fn unsubscribe(&mut self, topic: &TopicName, count: impl FnOnce(&mut Subscribers) -> &mut usize) {
        let Some(subscribers) = self.topics.get_mut(topic.as_str()) else { return };
        *count(subscribers) -= 1;
        if subscribers.is_nobody() {
            self.topics.remove(topic.as_str());
        }
    }
}

fn increment(counts: &mut VecMap<Arc<str>, usize>, key: &Arc<str>) {
    match counts.get_mut(&**key) {
        Some(count) => *count += 1,
        None => drop(counts.insert(key.clone(), 1)),
    }
}

fn decrement(counts: &mut VecMap<Arc<str>, usize>, key: &Arc<str>) {
    let Some(count) = counts.get_mut(&**key) else { return };
    *count -= 1;
    if *count == 0 {
        counts.remove(&**key);
    }
}
