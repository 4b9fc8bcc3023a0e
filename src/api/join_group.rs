//! JoinGroup (key 11), versions 0–9.
//!
//! 0: no rebalance timeout, the session timeout serves. 4: MEMBER_ID_REQUIRED (KIP-394). 5: instance ids (KIP-345).
//! 7: the protocol type comes back. 8: a reason (KIP-800). 9: skip assignment (KIP-814).

use kafka_protocol::messages::join_group_response::JoinGroupResponseMember;
use kafka_protocol::messages::{JoinGroupRequest, JoinGroupResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::{java_host, non_empty, shared_bytes, text, truncated};
use super::{Context, Outcome, Parked, Submitted, error_code, group_settings};
use crate::coordinator::command::{Command, JoinGroup};
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::{JoinReply, JoinedMember, Reply};
use crate::limits::REASON_CHARS_MAX;

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &JoinGroupRequest,
) -> Outcome<JoinGroupResponse> {
    if request.group_id.is_empty() {
        return Outcome::Reply(refused(version, &request.member_id, GroupError::InvalidGroupId));
    }
    let protocols: Vec<(&str, &[u8])> =
        request.protocols.iter().map(|p| (p.name.as_str(), p.metadata.as_ref())).collect();
    let command = Command::JoinGroup(JoinGroup {
        group: &request.group_id,
        member: non_empty(&request.member_id),
        instance: request.group_instance_id.as_deref(),
        client_id: ctx.client_id,
        client_host: &java_host(ctx.client_host),
        session_timeout_ms: request.session_timeout_ms,
        rebalance_timeout_ms: if version == 0 {
            request.session_timeout_ms
        } else {
            request.rebalance_timeout_ms
        },
        protocol_type: &request.protocol_type,
        protocols: &protocols,
        reason: request.reason.as_deref().and_then(non_empty).map(|r| truncated(r, REASON_CHARS_MAX)),
        member_id_required: version >= 4,
        may_skip_assignment: version >= 9,
        random: ctx.services.entropy.random(),
        assignment_interval_ms: group_settings::consumer(ctx, &request.group_id).assignment_interval_ms,
    });
    match ctx.services.groups.submit(ctx.now, &request.group_id, ctx.from, command) {
        Submitted::Replied(reply) => Outcome::Reply(respond(version, reply)),
        Submitted::Parked => Outcome::Parked(Parked::JoinGroup),
        Submitted::Unavailable(error) => Outcome::Reply(refused(version, &request.member_id, error)),
    }
}

/// The response that a reply becomes, at once or when the join phase is over.
pub(super) fn respond(version: i16, reply: Reply) -> JoinGroupResponse {
    let Reply::JoinGroup(reply) = reply else { unreachable!("a JoinGroup was answered with {reply:?}") };
    let JoinReply { member, outcome } = *reply;
    let member = member.map_or_else(StrBytes::new, |id| text(id.as_str()));
    match outcome {
        Err(error) => refused(version, &member, error),
        Ok(joined) => JoinGroupResponse::default()
            .with_generation_id(joined.generation)
            .with_protocol_type(joined.protocol_type.as_deref().map(text))
            .with_protocol_name(protocol_name(version, joined.protocol_name.as_deref()))
            .with_leader(joined.leader.map_or_else(StrBytes::new, |id| text(id.as_str())))
            .with_skip_assignment(joined.skip_assignment)
            .with_member_id(member)
            .with_members(joined.members.into_iter().map(listed).collect()),
    }
}

fn listed(member: JoinedMember) -> JoinGroupResponseMember {
    JoinGroupResponseMember::default()
        .with_member_id(text(member.member.as_str()))
        .with_group_instance_id(member.instance.map(|id| text(id.as_str())))
        .with_metadata(shared_bytes(member.metadata))
}

fn refused(version: i16, member: &StrBytes, error: GroupError) -> JoinGroupResponse {
    JoinGroupResponse::default()
        .with_error_code(error_code::code(error))
        .with_generation_id(-1)
        .with_protocol_name(protocol_name(version, None))
        .with_member_id(member.clone())
}

/// Null became possible with version 7.
fn protocol_name(version: i16, name: Option<&str>) -> Option<StrBytes> {
    match name {
        None if version < 7 => Some(StrBytes::new()),
        name => name.map(text),
    }
}
