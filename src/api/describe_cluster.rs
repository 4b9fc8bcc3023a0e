//! DescribeCluster (key 60), versions 0–2. 1: endpoint type (KIP-919). 2: fenced brokers (KIP-1073), of which there
//! are none.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_cluster_response::DescribeClusterBroker;
use kafka_protocol::messages::{BrokerId, DescribeClusterRequest, DescribeClusterResponse};

use super::api_error::ApiError;
use super::convert::text;
use super::{Context, Outcome, authorized_operations};

/// The endpoint types of KIP-919.
const BROKER: i8 = 1;
const CONTROLLER: i8 = 2;

/// Answers which brokers there are: this one.
pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &DescribeClusterRequest,
) -> Outcome<DescribeClusterResponse> {
    if let Some(error) = wrong_endpoint(version, request.endpoint_type) {
        let response = DescribeClusterResponse::default()
            .with_error_code(error.code())
            .with_error_message(error.message());
        return Outcome::Reply(response);
    }
    let node_id = BrokerId(ctx.services.config.node_id);
    let (host, port) = &ctx.services.advertised;
    let broker = DescribeClusterBroker::default()
        .with_broker_id(node_id)
        .with_host(text(host))
        .with_port(i32::from(*port))
        .with_rack(ctx.services.config.broker_rack.as_deref().map(text));
    let response = DescribeClusterResponse::default()
        .with_cluster_id(text(&ctx.services.config.cluster_id))
        .with_controller_id(node_id)
        .with_brokers(vec![broker]);
    Outcome::Reply(if request.include_cluster_authorized_operations {
        response.with_cluster_authorized_operations(authorized_operations::CLUSTER)
    } else {
        response
    })
}

fn wrong_endpoint(version: i16, endpoint_type: i8) -> Option<ApiError> {
    match endpoint_type {
        _ if version == 0 => None,
        BROKER => None,
        CONTROLLER => Some(ApiError::new(
            ResponseError::MismatchedEndpointType,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER",
        )),
        other => Some(ApiError::new(
            ResponseError::UnsupportedEndpointType,
            format!("Unsupported endpoint type {other}"),
        )),
    }
}

#[cfg(test)]
mod tests;
