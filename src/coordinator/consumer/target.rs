//! The target assignment: who is to have what, computed by an assignor when the epoch of the group is ahead of it.
//!
//! Source: GroupMetadataManager.maybeUpdateTargetAssignment, TargetAssignmentBuilder.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::consumer_event::ConsumerEvent;
use super::super::error::{GroupError, Refusal};
use super::super::record::ConsumerMemberMetadata;
use super::member::{self, Member, PARTITION_BYTES};
use super::subscription::Draft;
use crate::assignor::{GroupSpec, MemberAssignment, MemberSpec, SubscriptionType, TopicSpec};
use crate::types::{TopicId, TopicName};

impl Draft<'_> {
    /// The member's target assignment and its epoch; computed anew if the group has moved on and the last computation
    /// is long enough ago.
    pub(super) fn target(
        &mut self,
        group_epoch: i32,
        interval_ms: i32,
    ) -> Result<(i32, MemberAssignment), Refusal> {
        let last = self.group.target;
        let next_ms = last.timestamp_ms.saturating_add(interval_ms.into());
        let is_due = last.timestamp_ms == 0 || interval_ms == 0 || self.given.now.wall.0 >= next_ms;
        if last.epoch >= group_epoch || !is_due {
            return Ok(self.last_target());
        }
        self.compute_target(group_epoch).map(|target| (group_epoch, target))
    }

    fn compute_target(&mut self, group_epoch: i32) -> Result<MemberAssignment, Refusal> {
        let assignor = self.preferred_assignor();
        let spec = self.spec();
        self.check_memory_for(&spec)?;
        let targets = assignor.assign(&spec).map_err(|error| {
            let message =
                format!("Failed to compute a new target assignment for epoch {group_epoch}: {error}");
            Refusal::new(GroupError::UnknownServerError, message)
        })?;
        let mut own = MemberAssignment::default();
        for (subject, target) in spec.members.into_iter().zip(targets) {
            if subject.member_id == self.id {
                own = target.clone();
            }
            if !target.ptr_eq(&subject.assignment) && target != subject.assignment {
                let record = member::target_record(&self.group.id, &subject.member_id, target);
                self.outcome.records.push(record);
            }
        }
        let now_ms = self.given.now.wall.0;
        self.outcome.records.push(self.group.target_metadata_record(group_epoch, now_ms));
        let assignor = assignor.name().to_owned();
        self.outcome.events.push(ConsumerEvent::TargetComputed { epoch: group_epoch, assignor });
        Ok(own)
    }

    /// Whether there is memory for what the members would be assigned, which each of them then also has.
    // Differs from Kafka: what all groups take together is bounded.
    fn check_memory_for(&self, spec: &GroupSpec) -> Result<(), Refusal> {
        let wanted: usize = spec.topics.iter().map(|topic| topic.partition_count).sum();
        let assigned: usize = spec.members.iter().map(|member| member.assignment.partition_count()).sum();
        let more = wanted.saturating_sub(assigned).saturating_mul(2 * PARTITION_BYTES);
        if more <= self.given.config.bytes_left {
            return Ok(());
        }
        Err(Refusal::new(
            GroupError::GroupMaxSizeReached,
            "There is no memory for more partitions of members.",
        ))
    }

    /// The group as the assignor sees it: all members in the order of their ids, with this one as it will be.
    fn spec(&self) -> GroupSpec {
        let mut topics = Topics { draft: self, sizes: BTreeMap::new(), last: None };
        let replaced = self.before.replaced;
        let stays = |m: &&Member| m.id != self.id && replaced.is_none_or(|replaced| replaced.id != m.id);
        let others = self.group.members.values().map(|member| &**member).filter(stays);
        let mut members: Vec<MemberSpec> = Vec::with_capacity(self.group.members.len() + 1);
        members.extend(others.map(|m| MemberSpec {
            member_id: m.id.clone(),
            instance_id: m.metadata.instance.clone(),
            rack_id: m.metadata.rack.clone(),
            subscribed_topics: topics.of(&m.metadata),
            assignment: m.target.clone(),
        }));
        let known = replaced.or_else(|| self.group.member(self.id.as_str()));
        let own = MemberSpec {
            member_id: self.id.clone(),
            instance_id: self.after.instance.clone(),
            rack_id: self.after.rack.clone(),
            subscribed_topics: topics.of(&self.after),
            assignment: known.map(|member| member.target.clone()).unwrap_or_default(),
        };
        let at = members.partition_point(|member| member.member_id < self.id);
        members.insert(at, own);
        GroupSpec {
            subscription_type: SubscriptionType::of(&members),
            topics: topics.sizes.into_iter().map(|(id, partitions)| topic_spec(id, partitions)).collect(),
            members,
        }
    }
}

/// Finds the topics of members, most of whom subscribe to the same.
struct Topics<'a> {
    draft: &'a Draft<'a>,
    /// Every topic that was found → how many partitions it has.
    sizes: BTreeMap<TopicId, i32>,
    /// What the last member subscribes to, and what was found for it.
    last: Option<Found>,
}

/// What a member subscribes to, and the topics that there are of that.
struct Found {
    names: Arc<[TopicName]>,
    regex: Option<Arc<str>>,
    topics: Arc<[TopicId]>,
}

impl Topics<'_> {
    fn of(&mut self, member: &ConsumerMemberMetadata) -> Arc<[TopicId]> {
        if let Some(last) = &self.last
            && (Arc::ptr_eq(&last.names, &member.topics) || last.names == member.topics)
            && last.regex == member.regex
        {
            return last.topics.clone();
        }
        let resolved = member.regex.as_ref().and_then(|regex| self.draft.group.resolved.get(&**regex));
        let names = member.topics.iter().chain(resolved.iter().flat_map(|resolved| resolved.topics.iter()));
        let mut ids = Vec::new();
        for topic in names.filter_map(|name| self.draft.given.topics.topic_by_name(name.as_str())) {
            ids.push(topic.id);
            self.sizes.insert(topic.id, topic.partitions);
        }
        ids.sort_unstable();
        ids.dedup();
        let topics: Arc<[TopicId]> = ids.into();
        let (names, regex) = (member.topics.clone(), member.regex.clone());
        self.last = Some(Found { names, regex, topics: topics.clone() });
        topics
    }
}

/// There is one broker, so racks make no difference.
fn topic_spec(topic_id: TopicId, partitions: i32) -> TopicSpec {
    let partition_count = usize::try_from(partitions).unwrap_or(0);
    TopicSpec { topic_id, partition_count, partition_racks: Vec::new() }
}
