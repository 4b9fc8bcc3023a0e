//! FindCoordinator (key 10), versions 0–6.
//!
//! 1: key types, error message. 4: several keys (KIP-699). 6: share groups (KIP-932).
//!
//! Not implemented: share coordinators (key type 2).

use kafka_protocol::ResponseError;
use kafka_protocol::messages::find_coordinator_response::Coordinator;
use kafka_protocol::messages::{BrokerId, FindCoordinatorRequest, FindCoordinatorResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::{Context, Outcome};
use crate::catalog::name::{CONSUMER_OFFSETS, TRANSACTION_STATE};

/// Kafka's CoordinatorType.
const GROUP: i8 = 0;
const TRANSACTION: i8 = 1;
const SHARE: i8 = 2;

/// Kafka's default text for the error.
const INVALID_REQUEST: &str = "This most likely occurs because of a request being malformed by the client library or \
    the message was sent to an incompatible broker. See the broker logs for more details.";

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &FindCoordinatorRequest,
) -> Outcome<FindCoordinatorResponse> {
    if version >= 4 {
        let coordinators =
            request.coordinator_keys.iter().map(|key| find(ctx, version, request.key_type, key));
        return Outcome::Reply(FindCoordinatorResponse::default().with_coordinators(coordinators.collect()));
    }
    let found = find(ctx, version, request.key_type, &request.key);
    Outcome::Reply(
        FindCoordinatorResponse::default()
            .with_error_code(found.error_code)
            .with_error_message(found.error_message)
            .with_node_id(found.node_id)
            .with_host(found.host)
            .with_port(found.port),
    )
}

fn find(ctx: &Context<'_>, version: i16, key_type: i8, key: &StrBytes) -> Coordinator {
    match key_type {
        GROUP if !has_topic(ctx, CONSUMER_OFFSETS) => {
            refused(key, ResponseError::CoordinatorNotAvailable, "")
        }
        TRANSACTION if !has_topic(ctx, TRANSACTION_STATE) => {
            refused(key, ResponseError::CoordinatorNotAvailable, "")
        }
        GROUP | TRANSACTION => {
            let (host, port) = &ctx.services.advertised;
            Coordinator::default()
                .with_key(key.clone())
                .with_error_message(Some(text(if version >= 4 { "" } else { "NONE" })))
                .with_node_id(BrokerId(ctx.services.config.node_id))
                .with_host(text(host))
                .with_port(i32::from(*port))
        }
        SHARE => refused(key, ResponseError::InvalidRequest, ""),
        _ => refused(key, ResponseError::InvalidRequest, INVALID_REQUEST),
    }
}

/// Makes the internal topic when the first group or transactional id is looked for, as Kafka does; false if there is no
/// room for it.
fn has_topic(ctx: &Context<'_>, name: &str) -> bool {
    let mut topics = super::lock(&ctx.services.topics);
    topics.catalog().by_name(name).is_some()
        || topics.auto_create(&ctx.services.live_config.broker(), name, ctx.services.entropy.random()).is_ok()
}

fn refused(key: &StrBytes, error: ResponseError, message: &str) -> Coordinator {
    Coordinator::default()
        .with_key(key.clone())
        .with_error_code(error.code())
        .with_error_message(Some(text(message)))
        .with_node_id(BrokerId(-1))
        .with_port(-1)
}
