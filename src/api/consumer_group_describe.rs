//! ConsumerGroupDescribe (key 69), versions 0–1 (KIP-848). 1: the protocol that a member speaks.

use kafka_protocol::messages::consumer_group_describe_response::{
    Assignment, DescribedGroup, Member, TopicPartitions,
};
use kafka_protocol::messages::{
    ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse, GroupId, TopicName,
};

use super::convert::text;
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome, authorized_operations, error_code};
use crate::assignor::MemberAssignment;
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::{ConsumerGroupDescription, ConsumerMemberDescription};
use crate::types::TopicImage;

/// A member of the classic protocol, and one of the consumer protocol.
const CLASSIC: i8 = 0;
const CONSUMER: i8 = 1;

pub(super) fn handle(
    ctx: &Context<'_>,
    request: &ConsumerGroupDescribeRequest,
) -> Outcome<ConsumerGroupDescribeResponse> {
    let room = Room::for_an_answer();
    let wanted = request.group_ids.iter().take_while(|_| !room.is_exceeded());
    let groups = wanted.map(|group| {
        let described = describe(ctx, group, &room);
        if request.include_authorized_operations && described.error_code == 0 {
            described.with_authorized_operations(authorized_operations::GROUP)
        } else {
            described
        }
    });
    let groups = groups.collect();
    if room.is_exceeded() {
        return Outcome::Close(TOO_LARGE);
    }
    Outcome::Reply(ConsumerGroupDescribeResponse::default().with_groups(groups))
}

/// About what a member takes in an answer. Each topic of an assignment is named.
fn bytes_of(member: &ConsumerMemberDescription) -> usize {
    const TOPIC_BYTES: usize = size_of::<TopicPartitions>() + 100;
    let metadata = &member.metadata;
    let texts = metadata.client_id.len() + metadata.regex.as_ref().map_or(0, |regex| regex.len());
    let named: usize =
        metadata.topics.iter().map(|topic| size_of::<TopicName>() + topic.as_str().len()).sum();
    let topics = member.assignment.chunk_by(|a, b| a.topic == b.topic).count() + member.target.iter().count();
    let partitions = member.assignment.len() + member.target.partition_count();
    size_of::<Member>() + texts + named + topics * TOPIC_BYTES + partitions * size_of::<i32>()
}

fn describe(ctx: &Context<'_>, group: &GroupId, room: &Room) -> DescribedGroup {
    let described = DescribedGroup::default().with_group_id(group.clone());
    if group.is_empty() {
        return described.with_error_code(error_code::code(GroupError::InvalidGroupId));
    }
    let mut found = None;
    let read = ctx.services.groups.read(group, &mut |shard| {
        found = Some(shard.describe_consumer_group(group).map(|found| {
            let admitted = found.members.iter().take_while(|m| room.admits(bytes_of(m)));
            let members = admitted.map(|m| member(m, shard.topics())).collect();
            (found, members)
        }));
    });
    match (read, found) {
        (Ok(()), Some(Ok((found, members)))) => fill(described, found, members),
        (Ok(()), Some(Err(refusal))) => described
            .with_error_code(error_code::code(refusal.error))
            .with_error_message(Some(text(&refusal.message))),
        (Err(error), _) => described.with_error_code(error_code::code(error)),
        (Ok(()), None) => unreachable!("a shard was read and not shown"),
    }
}

fn fill(described: DescribedGroup, found: ConsumerGroupDescription, members: Vec<Member>) -> DescribedGroup {
    described
        .with_group_state(text(found.state))
        .with_group_epoch(found.epoch)
        .with_assignment_epoch(found.assignment_epoch)
        .with_assignor_name(text(&found.assignor))
        .with_members(members)
}

fn member(member: &ConsumerMemberDescription, topics: &dyn TopicImage) -> Member {
    let metadata = &member.metadata;
    let held = member.assignment.iter().map(|p| (p.topic, p.partition));
    let names = metadata.topics.iter().map(|topic| TopicName(text(topic.as_str())));
    Member::default()
        .with_member_id(text(member.member.as_str()))
        .with_instance_id(metadata.instance.as_ref().map(|id| text(id.as_str())))
        .with_rack_id(metadata.rack.as_deref().map(text))
        .with_member_epoch(member.epoch)
        .with_client_id(text(&metadata.client_id))
        .with_client_host(text(&metadata.client_host))
        .with_subscribed_topic_names(names.collect())
        .with_subscribed_topic_regex(Some(text(metadata.regex.as_deref().unwrap_or_default())))
        .with_assignment(assignment(&held.collect(), topics))
        .with_target_assignment(assignment(&member.target, topics))
        .with_member_type(if metadata.classic.is_some() { CLASSIC } else { CONSUMER })
}

/// Topics that are gone are left out.
fn assignment(partitions: &MemberAssignment, topics: &dyn TopicImage) -> Assignment {
    let topics = partitions.iter().filter_map(|(topic, partitions)| {
        let topic = topics.topic_by_id(topic)?;
        let described = TopicPartitions::default()
            .with_topic_id(topic.id.into())
            .with_topic_name(TopicName(text(topic.name.as_str())))
            .with_partitions(partitions.to_vec());
        Some(described)
    });
    Assignment::default().with_topic_partitions(topics.collect())
}
