//! DeleteGroups (key 42), versions 0–3. 3: an error message a group, which Kafka leaves null for classic groups.

use super::{Context, Outcome, Submitted, error_code};
use crate::coordinator::command::{Command, DeleteGroup};
use crate::coordinator::reply::Reply;
use crate::wire::kafka_4_4::{DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse};

pub(super) fn handle(ctx: &Context<'_>, request: &DeleteGroupsRequest) -> Outcome<DeleteGroupsResponse> {
    let results = request.groups_names.iter().map(|group| {
        let command = Command::DeleteGroup(DeleteGroup { group });
        let outcome = match ctx.services.groups.submit(ctx.now, group, ctx.from, command) {
            Submitted::Replied(Reply::DeleteGroup(outcome)) => outcome,
            Submitted::Unavailable(error) => Err(error),
            other => unreachable!("a DeleteGroup was answered with {other:?}"),
        };
        DeletableGroupResult {
            group_id: group.clone(),
            error_code: error_code::of_result(outcome),
            ..DeletableGroupResult::default()
        }
    });
    Outcome::Reply(DeleteGroupsResponse { results: results.collect(), ..DeleteGroupsResponse::default() })
}
