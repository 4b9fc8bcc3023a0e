//! SyncGroup (key 14), versions 0–5.
//!
//! 3: instance ids (KIP-345). 5: protocol type and name, which must be there and are checked (KIP-559).

use kafka_protocol::messages::{SyncGroupRequest, SyncGroupResponse};

use super::convert::{shared_bytes, text};
use super::{Context, Outcome, Parked, Submitted, error_code};
use crate::coordinator::command::{Command, SyncGroup};
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::{Reply, Synced};

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &SyncGroupRequest,
) -> Outcome<SyncGroupResponse> {
    if version >= 5 && (request.protocol_type.is_none() || request.protocol_name.is_none()) {
        return Outcome::Reply(refused(GroupError::InconsistentGroupProtocol));
    }
    if request.group_id.is_empty() {
        return Outcome::Reply(refused(GroupError::InvalidGroupId));
    }
    let assignments: Vec<(&str, &[u8])> =
        request.assignments.iter().map(|a| (a.member_id.as_str(), a.assignment.as_ref())).collect();
    let command = Command::SyncGroup(SyncGroup {
        group: &request.group_id,
        member: &request.member_id,
        instance: request.group_instance_id.as_deref(),
        generation: request.generation_id,
        protocol_type: request.protocol_type.as_deref(),
        protocol_name: request.protocol_name.as_deref(),
        assignments: &assignments,
    });
    match ctx.services.groups.submit(ctx.now, &request.group_id, ctx.from, command) {
        Submitted::Replied(reply) => Outcome::Reply(respond(reply)),
        Submitted::Parked => Outcome::Parked(Parked::SyncGroup),
        Submitted::Unavailable(error) => Outcome::Reply(refused(error)),
    }
}

/// The response that a reply becomes, at once or when the leader has synced.
pub(super) fn respond(reply: Reply) -> SyncGroupResponse {
    match reply {
        Reply::SyncGroup(Ok(Synced { protocol_type, protocol_name, assignment })) => {
            SyncGroupResponse::default()
                .with_protocol_type(protocol_type.as_deref().map(text))
                .with_protocol_name(protocol_name.as_deref().map(text))
                .with_assignment(shared_bytes(assignment))
        }
        Reply::SyncGroup(Err(error)) => refused(error),
        other => unreachable!("a SyncGroup was answered with {other:?}"),
    }
}

fn refused(error: GroupError) -> SyncGroupResponse {
    SyncGroupResponse::default().with_error_code(error_code::code(error))
}
