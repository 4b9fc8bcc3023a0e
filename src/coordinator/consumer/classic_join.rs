//! JoinGroup of a member of the classic protocol in a consumer group: it is answered at once, without leader or members,
//! with the member's epoch for a generation (KIP-848 §Online upgrade).
//!
//! Source: GroupMetadataManager.classicGroupJoinToConsumerGroup.

use std::sync::Arc;

use super::super::command::JoinGroup;
use super::super::consumer_event::ConsumerEvent;
use super::super::consumer_protocol::{Subscription, subscription};
use super::super::error::{GroupError, Refusal};
use super::super::migrate::MigrationPolicy;
use super::super::record::{ClassicMemberMetadata, ConsumerMemberMetadata};
use super::super::reply::{JoinReply, Joined, Reply};
use super::super::{Coordinator, Step, Turn};
use super::heartbeat::{random_member_id, sorted_topics};
use super::subscription::{Draft, Outcome};
use super::{CONSUMER, ConsumerGroup, Given, Timeout};
use crate::types::{InstanceId, MemberId, Now, ReplyTo, TopicPartition};

/// What became of a JoinGroup.
struct Admitted {
    id: MemberId,
    generation: i32,
    protocol: Arc<str>,
    outcome: Outcome,
    /// Set if the member takes the place of the last member of the consumer protocol.
    downgrade: Option<Downgrade>,
}

/// The group turns into a classic one with this member.
pub(in super::super) struct Downgrade {
    /// The member that comes, as it will be.
    pub(in super::super) joining: (MemberId, Arc<ConsumerMemberMetadata>),
    /// The member whose place it takes.
    pub(in super::super) replaced: MemberId,
    /// Whether the assignment is not that of the group's epoch.
    pub(in super::super) needs_rebalance: bool,
}

impl Coordinator {
    /// Takes a JoinGroup for a consumer group with members.
    pub(in super::super) fn join_consumer_group(
        &mut self,
        now: Now,
        from: ReplyTo,
        join: &JoinGroup<'_>,
        step: &mut Step,
    ) {
        let given = Given { now, config: &self.config, topics: &self.topics };
        let decided = self.consumer_group(join.group).and_then(|group| group.decide_join(given, join));
        let reply = match decided {
            Err(refused) => {
                JoinReply { member: join.member.map(MemberId::from), outcome: Err(refused.error) }
            }
            Ok(Err(id)) => JoinReply { member: Some(id), outcome: Err(GroupError::MemberIdRequired) },
            Ok(Ok(admitted)) => self.admit(now, join, admitted, step),
        };
        step.replies.push((from, Reply::JoinGroup(Box::new(reply))));
    }

    fn admit(&mut self, now: Now, join: &JoinGroup<'_>, admitted: Admitted, step: &mut Step) -> JoinReply {
        let Admitted { id, generation, protocol, outcome, downgrade } = admitted;
        match downgrade {
            Some(downgrade) => self.downgrade_replacing(now, join.group, downgrade, step),
            None => {
                self.carry_out(now, join.group, outcome, step);
                self.with_consumer_group(now, join.group, step, |group, turn| {
                    group.await_sync(turn, id.as_str(), join);
                });
            }
        }
        let joined = Joined {
            generation,
            protocol_type: Some(CONSUMER.into()),
            protocol_name: Some(protocol),
            leader: None,
            skip_assignment: false,
            members: Vec::new(),
        };
        JoinReply { member: Some(id), outcome: Ok(joined) }
    }
}

impl ConsumerGroup {
    fn await_sync(&mut self, turn: &mut Turn<'_>, member: &str, join: &JoinGroup<'_>) {
        self.cancel(turn, member, Timeout::Join);
        self.renew_session(turn, member, join.session_timeout_ms.into());
        self.schedule(turn, member, Timeout::Sync, join.rebalance_timeout_ms);
    }

    /// Admits the member, or hands out the id that it has to come back with.
    fn decide_join(
        &self,
        given: Given<'_>,
        join: &JoinGroup<'_>,
    ) -> Result<Result<Admitted, MemberId>, Refusal> {
        if given.config.consumer.migration_policy == MigrationPolicy::Disabled {
            let message = format!(
                "Cannot join the consumer group {} with the classic protocol because the group migration is disabled.",
                self.id
            );
            return Err(Refusal::new(GroupError::InconsistentGroupProtocol, message));
        }
        let id = join.member.map_or_else(|| random_member_id(join.random), MemberId::from);
        self.check_room(given.config.consumer.members_max, Some(id.as_str()), join.instance)?;
        if !self.supports(join) {
            return Err(inconsistent(format!("Member {id}'s protocols are not supported.")));
        }
        if join.member.is_none() && join.member_id_required && join.instance.is_none() {
            return Ok(Err(id));
        }
        let mut outcome = Outcome::default();
        let before = match join.instance {
            None => self.dynamic_member(&id, true, None)?,
            Some(instance) => {
                self.static_member_of(&id, instance, join.member.is_none(), None, &mut outcome.records)?
            }
        };
        outcome.events.push(ConsumerEvent::joined(&id, join.instance, "classic"));
        let (protocol, metadata) = join.protocols.first().copied().unwrap_or_default();
        let subscription = subscription(metadata).ok_or_else(|| {
            inconsistent("Malformed embedded consumer protocol in subscription deserialization.")
        })?;
        let after = updated(&before.metadata, join, &subscription);
        let mut draft = Draft { group: self, given, id, before, after, outcome };
        draft.check_memory()?;
        let topics_changed = draft.write_member();
        let bump = draft.update_regex()?.is_changed() || topics_changed;
        let group_epoch = draft.group_epoch(bump);
        let downgrade = draft.downgrade(join.instance, group_epoch);
        let owned = owned_partitions(given, &subscription);
        match &downgrade {
            Some(downgrade) if downgrade.needs_rebalance => {}
            Some(_) => draft.reconcile(draft.last_target(), bump, Some(&owned)),
            None => {
                let target = draft.target(group_epoch, join.assignment_interval_ms)?;
                draft.reconcile(target, bump, Some(&owned));
            }
        }
        let generation = draft.current().epoch;
        let Draft { id, outcome, .. } = draft;
        Ok(Ok(Admitted { id, generation, protocol: protocol.into(), outcome, downgrade }))
    }

    /// Whether all members of the classic protocol would have a protocol in common.
    fn supports(&self, join: &JoinGroup<'_>) -> bool {
        join.protocol_type == CONSUMER
            && join.protocols.iter().any(|(name, _)| {
                self.classic_protocols.get(*name).copied().unwrap_or(0) == self.classic_members
            })
    }
}

impl Draft<'_> {
    /// Whether the group becomes a classic one, since the member takes the place of the last of the consumer protocol.
    fn downgrade(&self, instance: Option<&str>, group_epoch: i32) -> Option<Downgrade> {
        let replaced = self.group.static_member(instance?)?;
        self.group.may_downgrade_replacing(&replaced.id, self.given.config).then(|| Downgrade {
            joining: (self.id.clone(), self.after.clone()),
            replaced: replaced.id.clone(),
            needs_rebalance: self.group.target.epoch < group_epoch,
        })
    }
}

fn inconsistent(message: impl Into<String>) -> Refusal {
    Refusal::new(GroupError::InconsistentGroupProtocol, message)
}

fn updated(
    before: &Arc<ConsumerMemberMetadata>,
    join: &JoinGroup<'_>,
    subscription: &Subscription<'_>,
) -> Arc<ConsumerMemberMetadata> {
    let protocols = join.protocols.iter().map(|(name, metadata)| (Arc::from(*name), Arc::from(*metadata)));
    let after = ConsumerMemberMetadata {
        instance: join.instance.map(InstanceId::from).or_else(|| before.instance.clone()),
        rack: subscription
            .rack
            .filter(|rack| !rack.is_empty())
            .map(Arc::from)
            .or_else(|| before.rack.clone()),
        client_id: join.client_id.into(),
        client_host: join.client_host.into(),
        topics: sorted_topics(&subscription.topics),
        regex: None,
        rebalance_timeout_ms: match join.rebalance_timeout_ms {
            -1 => before.rebalance_timeout_ms,
            given => given,
        },
        assignor: before.assignor.clone(),
        classic: Some(ClassicMemberMetadata {
            session_timeout_ms: join.session_timeout_ms,
            protocols: protocols.collect(),
        }),
    };
    if after == **before { before.clone() } else { Arc::new(after) }
}

/// What the member says that it has, of topics that there are.
fn owned_partitions(given: Given<'_>, subscription: &Subscription<'_>) -> Vec<TopicPartition> {
    let known = subscription.owned.iter().filter_map(|(topic, partitions)| {
        given.topics.topic_by_name(topic).map(|topic| (topic.id, partitions))
    });
    let mut owned: Vec<_> = known
        .flat_map(|(topic, partitions)| {
            partitions.iter().map(move |&partition| TopicPartition { topic, partition })
        })
        .collect();
    owned.sort_unstable();
    owned
}
