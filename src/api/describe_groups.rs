//! DescribeGroups (key 15), versions 0–6.
//!
//! 3: authorized operations (KIP-430). 4: instance ids (KIP-345). 6: an unknown group is an error with a message
//! (KIP-1043); before, it is a group in state Dead.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_groups_response::{DescribedGroup, DescribedGroupMember};
use kafka_protocol::messages::{DescribeGroupsRequest, DescribeGroupsResponse, GroupId};

use super::convert::{shared_bytes, text};
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome, authorized_operations, error_code};
use crate::coordinator::reply;

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &DescribeGroupsRequest,
) -> Outcome<DescribeGroupsResponse> {
    let room = Room::for_an_answer();
    let groups = request.groups.iter().take_while(|_| !room.is_exceeded()).map(|group| {
        let described = describe(ctx, version, group);
        room.admits(described.members.iter().map(bytes_of).sum());
        if request.include_authorized_operations && described.error_code != UNAVAILABLE {
            described.with_authorized_operations(authorized_operations::GROUP)
        } else {
            described
        }
    });
    let groups = groups.collect();
    if room.is_exceeded() {
        return Outcome::Close(TOO_LARGE);
    }
    Outcome::Reply(DescribeGroupsResponse::default().with_groups(groups))
}

/// About what a member takes in an answer.
fn bytes_of(member: &DescribedGroupMember) -> usize {
    let ids = member.member_id.len() + member.client_id.len() + member.client_host.len();
    size_of::<DescribedGroupMember>() + ids + member.member_metadata.len() + member.member_assignment.len()
}

const UNAVAILABLE: i16 = ResponseError::CoordinatorNotAvailable.code();

fn describe(ctx: &Context<'_>, version: i16, group: &GroupId) -> DescribedGroup {
    let mut found = None;
    let read = ctx.services.groups.read(group, &mut |shard| found = Some(shard.describe(group)));
    let described = DescribedGroup::default().with_group_id(group.clone());
    match (read, found) {
        (Err(error), _) => described.with_error_code(error_code::code(error)),
        (Ok(()), Some(Ok(found))) => fill(described, found),
        (Ok(()), Some(Err(refusal))) if version >= 6 => described
            .with_error_code(error_code::code(refusal.error))
            .with_error_message(Some(text(&refusal.message)))
            .with_group_state(text("Dead")),
        (Ok(()), _) => described.with_group_state(text("Dead")),
    }
}

fn fill(described: DescribedGroup, found: reply::DescribedGroup) -> DescribedGroup {
    let members = found.members.into_iter().map(|member| {
        DescribedGroupMember::default()
            .with_member_id(text(member.member.as_str()))
            .with_group_instance_id(member.instance.map(|id| text(id.as_str())))
            .with_client_id(text(&member.client_id))
            .with_client_host(text(&member.client_host))
            .with_member_metadata(shared_bytes(member.metadata))
            .with_member_assignment(shared_bytes(member.assignment))
    });
    described
        .with_group_state(text(found.state))
        .with_protocol_type(text(&found.protocol_type))
        .with_protocol_data(text(&found.protocol_name))
        .with_members(members.collect())
}
