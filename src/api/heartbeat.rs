//! Heartbeat (key 12), versions 0–4. 3: instance ids (KIP-345).

use kafka_protocol::messages::{HeartbeatRequest, HeartbeatResponse};

use super::{Context, Outcome, Submitted, error_code};
use crate::coordinator::command::{Command, Heartbeat};
use crate::coordinator::error::GroupError;
use crate::coordinator::reply::Reply;

pub(super) fn handle(ctx: &Context<'_>, request: &HeartbeatRequest) -> Outcome<HeartbeatResponse> {
    if request.group_id.is_empty() {
        return Outcome::Reply(answer(Err(GroupError::InvalidGroupId)));
    }
    let command = Command::Heartbeat(Heartbeat {
        group: &request.group_id,
        member: &request.member_id,
        instance: request.group_instance_id.as_deref(),
        generation: request.generation_id,
    });
    Outcome::Reply(match ctx.services.groups.submit(ctx.now, &request.group_id, ctx.from, command) {
        Submitted::Replied(Reply::Heartbeat(outcome)) => answer(outcome),
        // While the shard loads, Kafka lets the member believe that all is well.
        Submitted::Unavailable(GroupError::CoordinatorLoadInProgress) => answer(Ok(())),
        Submitted::Unavailable(error) => answer(Err(error)),
        other => unreachable!("a Heartbeat was answered with {other:?}"),
    })
}

fn answer(outcome: Result<(), GroupError>) -> HeartbeatResponse {
    HeartbeatResponse::default().with_error_code(error_code::of_result(outcome))
}
