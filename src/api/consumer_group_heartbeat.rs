//! ConsumerGroupHeartbeat (key 68), versions 0–1 (KIP-848). 1: the client makes the member id; regular expressions.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::consumer_group_heartbeat_response::{Assignment, TopicPartitions};
use kafka_protocol::messages::{ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse};

use super::convert::{java_host, non_empty, text};
use super::{Context, Outcome, Submitted, error_code, group_settings};
use crate::coordinator::command::{Command, ConsumerGroupHeartbeat, HeartbeatIntent};
use crate::coordinator::reply::{ConsumerHeartbeat, Reply};
use crate::limits::{PARTITIONS_MAX, SUBSCRIBED_TOPICS_MAX};
use crate::types::{TopicId, TopicPartition};

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &ConsumerGroupHeartbeatRequest,
) -> Outcome<ConsumerGroupHeartbeatResponse> {
    if let Err((error, message)) = check(ctx, version, request) {
        return Outcome::Reply(refused(error, &message));
    }
    let topics: Option<Vec<&str>> =
        request.subscribed_topic_names.as_ref().map(|topics| topics.iter().map(|t| t.as_str()).collect());
    let owned = request.topic_partitions.as_ref().map(|topics| {
        let mut owned: Vec<TopicPartition> = topics
            .iter()
            .flat_map(|topic| {
                let id = TopicId::from(topic.topic_id);
                topic.partitions.iter().map(move |&partition| TopicPartition { topic: id, partition })
            })
            .collect();
        owned.sort_unstable();
        owned
    });
    let command = Command::ConsumerGroupHeartbeat(ConsumerGroupHeartbeat {
        group: &request.group_id,
        member: non_empty(&request.member_id),
        intent: intent(request.member_epoch),
        instance: request.instance_id.as_deref(),
        rack: request.rack_id.as_deref(),
        client_id: ctx.client_id,
        client_host: &java_host(ctx.client_host),
        rebalance_timeout_ms: (request.rebalance_timeout_ms != -1).then_some(request.rebalance_timeout_ms),
        topics: topics.as_deref(),
        regex: request.subscribed_topic_regex.as_deref(),
        assignor: request.server_assignor.as_deref(),
        owned: owned.as_deref(),
        settings: group_settings::consumer(ctx, &request.group_id),
        random: ctx.services.entropy.random(),
    });
    Outcome::Reply(match ctx.services.groups.submit(ctx.now, &request.group_id, ctx.from, command) {
        Submitted::Replied(Reply::ConsumerGroupHeartbeat(Ok(heartbeat))) => answered(heartbeat),
        Submitted::Replied(Reply::ConsumerGroupHeartbeat(Err(refusal))) => {
            refused(error_code::of_group(refusal.error), &refusal.message)
        }
        Submitted::Unavailable(error) => {
            ConsumerGroupHeartbeatResponse::default().with_error_code(error_code::code(error))
        }
        other => unreachable!("a ConsumerGroupHeartbeat was answered with {other:?}"),
    })
}

const fn intent(member_epoch: i32) -> HeartbeatIntent {
    match member_epoch {
        0 => HeartbeatIntent::Join,
        -1 => HeartbeatIntent::Leave,
        -2 => HeartbeatIntent::LeaveForNow,
        epoch => HeartbeatIntent::Stay(epoch),
    }
}

/// What is wrong with the request whatever the group is like, in Kafka's order.
/// Source: GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid.
fn check(
    ctx: &Context<'_>,
    version: i16,
    request: &ConsumerGroupHeartbeatRequest,
) -> Result<(), (ResponseError, String)> {
    let refuse = |message: &str| Err((ResponseError::InvalidRequest, message.to_owned()));
    let epoch = request.member_epoch;
    if (version >= 1 || epoch > 0 || epoch == -1) && is_blank(&request.member_id) {
        return refuse("MemberId can't be empty.");
    }
    if is_blank(&request.group_id) {
        return refuse("GroupId can't be empty.");
    }
    if request.instance_id.as_deref().is_some_and(is_blank) {
        return refuse("InstanceId can't be empty.");
    }
    if request.rack_id.as_deref().is_some_and(is_blank) {
        return refuse("RackId can't be empty.");
    }
    match epoch {
        0 if request.rebalance_timeout_ms == -1 => {
            return refuse("RebalanceTimeoutMs must be provided in first request.");
        }
        0 if request.topic_partitions.as_ref().is_none_or(|owned| !owned.is_empty()) => {
            return refuse("TopicPartitions must be empty when (re-)joining.");
        }
        0 if request.subscribed_topic_names.is_none() && request.subscribed_topic_regex.is_none() => {
            return refuse(
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
            );
        }
        -2 if request.instance_id.is_none() => return refuse("InstanceId can't be null."),
        ..=-3 => return refuse("MemberEpoch is invalid."),
        _ => {}
    }
    // Differs from Kafka: a member names at most 10,000 topics, and owns at most as many partitions as there may be.
    if request.subscribed_topic_names.as_ref().is_some_and(|names| names.len() > SUBSCRIBED_TOPICS_MAX) {
        return refuse("SubscribedTopicNames has too many topics.");
    }
    let owned = request.topic_partitions.iter().flatten().map(|topic| topic.partitions.len());
    if owned.sum::<usize>() > PARTITIONS_MAX {
        return refuse("TopicPartitions has too many partitions.");
    }
    let assignors = &ctx.services.config.group_consumer_assignors;
    match request.server_assignor.as_deref() {
        Some(wanted) if !assignors.iter().any(|assignor| assignor == wanted) => {
            let message = format!(
                "ServerAssignor {wanted} is not supported. Supported assignors: {}.",
                assignors.join(", ")
            );
            Err((ResponseError::UnsupportedAssignor, message))
        }
        _ => Ok(()),
    }
}

/// As Java's `trim` sees it.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c <= ' ')
}

fn answered(heartbeat: ConsumerHeartbeat) -> ConsumerGroupHeartbeatResponse {
    let assignment = heartbeat.assignment.map(|partitions| {
        let topics = partitions.chunk_by(|a, b| a.topic == b.topic).map(|chunk| {
            TopicPartitions::default()
                .with_topic_id(chunk[0].topic.into())
                .with_partitions(chunk.iter().map(|p| p.partition).collect())
        });
        Assignment::default().with_topic_partitions(topics.collect())
    });
    ConsumerGroupHeartbeatResponse::default()
        .with_member_id(Some(text(heartbeat.member.as_str())))
        .with_member_epoch(heartbeat.epoch)
        .with_heartbeat_interval_ms(heartbeat.heartbeat_interval_ms)
        .with_assignment(assignment)
}

fn refused(error: ResponseError, message: &str) -> ConsumerGroupHeartbeatResponse {
    ConsumerGroupHeartbeatResponse::default()
        .with_error_code(error.code())
        .with_error_message(Some(text(message)))
}
