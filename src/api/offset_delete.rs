//! OffsetDelete (key 47), version 0 (KIP-496).

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_delete_request::OffsetDeleteRequestTopic;
use kafka_protocol::messages::offset_delete_response::{
    OffsetDeleteResponsePartition, OffsetDeleteResponseTopic,
};
use kafka_protocol::messages::{OffsetDeleteRequest, OffsetDeleteResponse};

use super::{Context, Outcome, Submitted, error_code};
use crate::coordinator::command::{Command, OffsetDelete};
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::Reply;

pub(super) fn handle(ctx: &Context<'_>, request: &OffsetDeleteRequest) -> Outcome<OffsetDeleteResponse> {
    if request.group_id.is_empty() {
        return Outcome::Reply(refused(GroupError::InvalidGroupId));
    }
    // What the broker has of each topic that is asked for; the group is asked about that alone.
    let known: Vec<Vec<i32>> = request.topics.iter().map(|topic| known_partitions(ctx, topic)).collect();
    let topics: Vec<(&str, &[i32])> = request
        .topics
        .iter()
        .zip(&known)
        .map(|(topic, partitions)| (topic.name.as_str(), partitions.as_slice()))
        .collect();
    let command = Command::OffsetDelete(OffsetDelete { group: &request.group_id, topics: &topics });
    let subscribed = match ctx.services.groups.submit(ctx.now, &request.group_id, ctx.from, command) {
        Submitted::Replied(Reply::OffsetDelete(Ok(subscribed))) => subscribed,
        Submitted::Replied(Reply::OffsetDelete(Err(error))) | Submitted::Unavailable(error) => {
            return Outcome::Reply(refused(error));
        }
        other => unreachable!("an OffsetDelete was answered with {other:?}"),
    };
    let topics = request.topics.iter().zip(&known).enumerate().map(|(index, (topic, known))| {
        let is_subscribed = subscribed.binary_search(&index).is_ok();
        let partitions = topic.partitions.iter().map(|partition| {
            let code = if !known.contains(&partition.partition_index) {
                ResponseError::UnknownTopicOrPartition.code()
            } else if is_subscribed {
                error_code::code(GroupError::GroupSubscribedToTopic)
            } else {
                0
            };
            OffsetDeleteResponsePartition::default()
                .with_partition_index(partition.partition_index)
                .with_error_code(code)
        });
        OffsetDeleteResponseTopic::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    Outcome::Reply(OffsetDeleteResponse::default().with_topics(topics.collect()))
}

fn known_partitions(ctx: &Context<'_>, topic: &OffsetDeleteRequestTopic) -> Vec<i32> {
    let topics = super::lock(&ctx.services.topics);
    let Some(found) = topics.catalog().by_name(&topic.name) else { return Vec::new() };
    topic.partitions.iter().map(|p| p.partition_index).filter(|p| found.has_partition(*p)).collect()
}

fn refused(error: GroupError) -> OffsetDeleteResponse {
    OffsetDeleteResponse::default().with_error_code(error_code::code(error))
}
