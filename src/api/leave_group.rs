//! LeaveGroup (key 13), versions 0–5.
//!
//! Up to 2: one member, whose outcome is that of the response. 3: several, by member or instance id (KIP-345).
//! 5: reasons (KIP-800).

use kafka_protocol::messages::leave_group_response::MemberResponse;
use kafka_protocol::messages::{LeaveGroupRequest, LeaveGroupResponse};

use super::convert::{non_empty, truncated};
use super::{Context, Outcome, Submitted, error_code};
use crate::coordinator::command::{Command, LeaveGroup, Leaver};
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::Reply;
use crate::limits::REASON_CHARS_MAX;

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &LeaveGroupRequest,
) -> Outcome<LeaveGroupResponse> {
    if request.group_id.is_empty() {
        return Outcome::Reply(refused(GroupError::InvalidGroupId));
    }
    let leavers: Vec<Leaver<'_>> = if version < 3 {
        vec![Leaver { member: non_empty(&request.member_id), instance: None, reason: None }]
    } else {
        request
            .members
            .iter()
            .map(|m| Leaver {
                member: non_empty(&m.member_id),
                instance: m.group_instance_id.as_deref(),
                reason: m.reason.as_deref().map(|r| truncated(r, REASON_CHARS_MAX)),
            })
            .collect()
    };
    let command = Command::LeaveGroup(LeaveGroup { group: &request.group_id, members: &leavers });
    let outcomes = match ctx.services.groups.submit(ctx.now, &request.group_id, ctx.from, command) {
        Submitted::Replied(Reply::LeaveGroup(Ok(outcomes))) => outcomes,
        // Each member of a group that is not there is unknown.
        Submitted::Replied(Reply::LeaveGroup(Err(error))) => vec![Err(error); leavers.len()],
        Submitted::Unavailable(error) => return Outcome::Reply(refused(error)),
        other => unreachable!("a LeaveGroup was answered with {other:?}"),
    };
    Outcome::Reply(if version < 3 {
        LeaveGroupResponse::default()
            .with_error_code(error_code::of_result(outcomes.first().copied().unwrap_or(Ok(()))))
    } else {
        let members = request.members.iter().zip(outcomes).map(|(member, outcome)| {
            MemberResponse::default()
                .with_member_id(member.member_id.clone())
                .with_group_instance_id(member.group_instance_id.clone())
                .with_error_code(error_code::of_result(outcome))
        });
        LeaveGroupResponse::default().with_members(members.collect())
    })
}

fn refused(error: GroupError) -> LeaveGroupResponse {
    LeaveGroupResponse::default().with_error_code(error_code::code(error))
}
