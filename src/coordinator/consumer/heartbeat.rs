//! ConsumerGroupHeartbeat of a member that joins or stays. Source: GroupMetadataManager.consumerGroupHeartbeat.

use std::sync::Arc;

use super::super::command::{ConsumerGroupHeartbeat, HeartbeatIntent};
use super::super::consumer_event::ConsumerEvent;
use super::super::error::Refusal;
use super::super::record::ConsumerMemberMetadata;
use super::super::reply::ConsumerHeartbeat;
use super::super::{Coordinator, Step, Turn};
use super::subscribe::Stand;
use super::subscription::{Draft, Outcome};
use super::{ConsumerGroup, Given};
use crate::types::{InstanceId, MemberId, Now, TopicName};

impl Coordinator {
    /// Takes a heartbeat. A group that is not there yet, or that is to become a consumer group, is put in place only
    /// when the request goes through.
    pub(in super::super) fn consumer_group_heartbeat(
        &mut self,
        now: Now,
        heartbeat: &ConsumerGroupHeartbeat<'_>,
        step: &mut Step,
    ) -> Result<ConsumerHeartbeat, Refusal> {
        match heartbeat.intent {
            HeartbeatIntent::Leave => return self.consumer_group_leave(now, heartbeat, step),
            HeartbeatIntent::LeaveForNow => return self.consumer_group_leave_for_now(now, heartbeat, step),
            HeartbeatIntent::Join | HeartbeatIntent::Stay(_) => {}
        }
        let joins = heartbeat.intent == HeartbeatIntent::Join;
        let candidate = if joins { self.candidate(heartbeat.group)? } else { None };
        let given = Given { now, config: &self.config, topics: &self.topics };
        let (member, outcome, reply) = match &candidate {
            Some(candidate) => candidate.group.decide_heartbeat(given, heartbeat)?,
            None => self.consumer_group(heartbeat.group)?.decide_heartbeat(given, heartbeat)?,
        };
        if let Some(candidate) = candidate {
            self.put_in_place(now, candidate, step);
        }
        let revoking = outcome.current.as_ref().map(|_| reply.is_revoking);
        self.carry_out(now, heartbeat.group, outcome, step);
        let session_ms = i64::from(heartbeat.settings.session_timeout_ms);
        self.with_consumer_group(now, heartbeat.group, step, |group, turn| {
            group.renew_session(turn, member.as_str(), session_ms);
            match revoking {
                Some(true) => group.begin_revocation(turn, member.as_str()),
                Some(false) => group.end_revocation(turn, member.as_str()),
                None => {}
            }
        });
        Ok(reply)
    }

    /// Writes what was decided, and does it.
    pub(super) fn carry_out(&mut self, now: Now, group: &str, outcome: Outcome, step: &mut Step) {
        let Some((id, _)) = self.groups.get_key_value(group) else { return };
        let id = id.clone();
        step.events.extend(outcome.events.into_iter().map(|event| event.of(&id)));
        let Self { groups, config, timers, texts, topics, .. } = self;
        let mut turn = Turn { now, config, timers, texts, step };
        let Some(consumer) = groups.get_mut(group).and_then(|group| group.consumer_mut()) else { return };
        for record in outcome.records {
            consumer.apply_live(&mut turn, &record);
            turn.step.records.push(record);
        }
        if outcome.topics_seen.is_some() {
            consumer.topics_seen = outcome.topics_seen;
        }
        if !outcome.to_resolve.is_empty() {
            consumer.resolving = true;
            turn.step.jobs.push(super::regex::job(&id, outcome.to_resolve, topics.clone(), now));
        }
    }
}

type Decided = (MemberId, Outcome, ConsumerHeartbeat);

impl ConsumerGroup {
    fn decide_heartbeat(
        &self,
        given: Given<'_>,
        heartbeat: &ConsumerGroupHeartbeat<'_>,
    ) -> Result<Decided, Refusal> {
        self.check_room(given.config.consumer.members_max, heartbeat.member, heartbeat.instance)?;
        let id = heartbeat.member.map_or_else(|| random_member_id(heartbeat.random), MemberId::from);
        let (joins, epoch) = match heartbeat.intent {
            HeartbeatIntent::Stay(epoch) => (false, epoch),
            _ => (true, 0),
        };
        let stand = Some(Stand { epoch, owned: heartbeat.owned });
        let mut outcome = Outcome::default();
        let before = match heartbeat.instance {
            None => self.dynamic_member(&id, joins, stand)?,
            Some(instance) => self.static_member_of(&id, instance, joins, stand, &mut outcome.records)?,
        };
        if joins {
            outcome.events.push(ConsumerEvent::joined(&id, heartbeat.instance, "consumer"));
        }
        let after = updated(&before.metadata, heartbeat);
        let mut draft = Draft { group: self, given, id, before, after, outcome };
        draft.check_memory()?;
        let topics_changed = draft.write_member();
        let regex = draft.update_regex()?;
        let bump = topics_changed || regex.is_resolved() || draft.is_assignor_changed();
        let group_epoch = draft.group_epoch(bump);
        let target = draft.target(group_epoch, heartbeat.settings.assignment_interval_ms)?;
        draft.reconcile(target, topics_changed || regex.is_changed(), heartbeat.owned);

        let is_full = heartbeat.rebalance_timeout_ms.is_some()
            && (heartbeat.topics.is_some() || heartbeat.regex.is_some())
            && heartbeat.owned.is_some();
        let current = draft.current();
        let is_news = joins || is_full || current.assigned != draft.before.current.assigned;
        let reply = ConsumerHeartbeat {
            member: draft.id.clone(),
            epoch: current.epoch,
            heartbeat_interval_ms: heartbeat.settings.heartbeat_interval_ms,
            assignment: is_news.then(|| current.assigned.iter().map(|owned| owned.partition).collect()),
            is_revoking: draft.is_revoking(),
        };
        Ok((draft.id, draft.outcome, reply))
    }
}

/// The member with what the heartbeat says about it; the same one if that is nothing new.
fn updated(
    before: &Arc<ConsumerMemberMetadata>,
    heartbeat: &ConsumerGroupHeartbeat<'_>,
) -> Arc<ConsumerMemberMetadata> {
    let topics = heartbeat.topics.map(sorted_topics);
    let is_new = |given: Option<&str>, known: Option<&str>| given.is_some() && given != known;
    let is_unchanged = !is_new(heartbeat.instance, before.instance.as_ref().map(InstanceId::as_str))
        && !is_new(heartbeat.rack, before.rack.as_deref())
        && !is_new(heartbeat.assignor, before.assignor.as_deref())
        && heartbeat.regex.is_none_or(|regex| regex == before.regex.as_deref().unwrap_or_default())
        && heartbeat.rebalance_timeout_ms.is_none_or(|ms| ms == before.rebalance_timeout_ms)
        && topics.as_ref().is_none_or(|topics| **topics == *before.topics)
        && heartbeat.client_id == &*before.client_id
        && heartbeat.client_host == &*before.client_host
        && before.classic.is_none();
    if is_unchanged {
        return before.clone();
    }
    let mut after = ConsumerMemberMetadata::clone(before);
    let text = |given: Option<&str>, known: Option<Arc<str>>| given.map(Arc::from).or(known);
    after.instance = heartbeat.instance.map(InstanceId::from).or(after.instance);
    after.rack = text(heartbeat.rack, after.rack);
    after.assignor = text(heartbeat.assignor, after.assignor);
    after.regex = match heartbeat.regex {
        Some(regex) => (!regex.is_empty()).then(|| Arc::from(regex)),
        None => after.regex,
    };
    after.rebalance_timeout_ms = heartbeat.rebalance_timeout_ms.unwrap_or(after.rebalance_timeout_ms);
    after.topics = topics.unwrap_or(after.topics);
    after.client_id = Arc::from(heartbeat.client_id);
    after.client_host = Arc::from(heartbeat.client_host);
    after.classic = None;
    Arc::new(after)
}

/// Names in order, each once.
pub(super) fn sorted_topics(names: &[&str]) -> Arc<[TopicName]> {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(TopicName::from).collect()
}

/// A random UUID as Kafka spells one: 22 characters of URL-safe Base64, the first of them no dash.
pub(super) fn random_member_id(random: u128) -> MemberId {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let id = uuid::Builder::from_random_bytes(random.to_be_bytes()).into_uuid().as_u128();
    let id = if id >> 122 == 62 { id ^ (1 << 127) } else { id };
    let digit = |place: u32| {
        let rest = if place == 21 { id << 4 } else { id >> (122 - 6 * place) };
        char::from(DIGITS[(rest & 63) as usize])
    };
    MemberId::from((0..22).map(digit).collect::<String>())
}
