//! ListConfigResources (key 74), versions 0–1. 0 lists client metrics subscriptions only (KIP-714), 1 every resource
//! that can have configs (KIP-1142).

use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_config_resources_response::ConfigResource;
use kafka_protocol::messages::{ListConfigResourcesRequest, ListConfigResourcesResponse};
use kafka_protocol::protocol::StrBytes;

use super::config_resource::ResourceType;
use super::convert::text;
use super::{Context, Outcome};

/// In the order in which Kafka lists them.
const LISTED: &[ResourceType] = &[
    ResourceType::Group,
    ResourceType::ClientMetrics,
    ResourceType::BrokerLogger,
    ResourceType::Broker,
    ResourceType::Topic,
];

/// Lists the resources of the types that the client names, or of all types.
pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &ListConfigResourcesRequest,
) -> Outcome<ListConfigResourcesResponse> {
    let response = ListConfigResourcesResponse::default();
    let Some(asked) = asked(version, &request.resource_types) else {
        return Outcome::Reply(response.with_error_code(ResponseError::UnsupportedVersion.code()));
    };
    let listed = LISTED.iter().filter(|kind| asked.contains(kind));
    let resources = listed.flat_map(|&kind| {
        names(ctx, kind).into_iter().map(move |name| {
            ConfigResource::default().with_resource_name(name).with_resource_type(kind.code())
        })
    });
    Outcome::Reply(response.with_config_resources(resources.collect()))
}

/// `None` if one of the types cannot be listed.
fn asked(version: i16, codes: &[i8]) -> Option<Vec<ResourceType>> {
    match codes {
        _ if version == 0 => Some(vec![ResourceType::ClientMetrics]),
        [] => Some(LISTED.to_vec()),
        codes => codes.iter().map(|&code| ResourceType::from_code(code)).collect(),
    }
}

fn names(ctx: &Context<'_>, kind: ResourceType) -> Vec<StrBytes> {
    let services = ctx.services;
    match kind {
        ResourceType::Group => services.live_config.groups().iter().map(|name| text(name)).collect(),
        ResourceType::ClientMetrics => {
            services.live_config.client_metrics_subscriptions().iter().map(|name| text(name)).collect()
        }
        ResourceType::BrokerLogger | ResourceType::Broker => {
            vec![StrBytes::from_string(services.config.node_id.to_string())]
        }
        ResourceType::Topic => {
            super::lock(&services.topics).catalog().iter().map(|topic| text(topic.name.as_str())).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::Broker;
    use crate::config::alter::{Change, Onto, Operation};

    fn broker() -> Broker {
        let broker = Broker::with_topics(&[("u", 1), ("t", 2)]);
        let set = |key: &str, value: &str| {
            [Change { key: key.to_owned(), operation: Operation::Set(value.to_owned()) }]
        };
        let live = &broker.services.live_config;
        live.alter_group("g", Onto::Own, &set("consumer.session.timeout.ms", "46000"), false).unwrap();
        live.alter_client_metrics("m", Onto::Own, &set("interval.ms", "1000"), false).unwrap();
        broker
    }

    fn list(broker: &Broker, version: i16, types: &[i8]) -> (i16, Vec<(i8, String)>) {
        let request = ListConfigResourcesRequest::default().with_resource_types(types.to_vec());
        let answer = broker.call(version, &request, handle);
        let listed = answer.config_resources.iter();
        // Version 0 has no types: what it lists is of type 16.
        let listed = listed.map(|found| (found.resource_type, found.resource_name.to_string()));
        (answer.error_code, listed.collect())
    }

    fn found(resources: &[(i8, &str)]) -> (i16, Vec<(i8, String)>) {
        (0, resources.iter().map(|&(kind, name)| (kind, name.to_owned())).collect())
    }

    #[test]
    fn version_0_knows_client_metrics_subscriptions_only() {
        assert_eq!(list(&broker(), 0, &[]), found(&[(16, "m")]));
    }

    #[test]
    fn what_is_asked_for_is_listed_in_kafkas_order_and_once() {
        let broker = broker();
        let all = found(&[(32, "g"), (16, "m"), (8, "1"), (4, "1"), (2, "t"), (2, "u")]);
        assert_eq!(list(&broker, 1, &[]), all);
        assert_eq!(list(&broker, 1, &[2, 4, 8, 16, 32]), all);
        assert_eq!(list(&broker, 1, &[4, 8, 4]), found(&[(8, "1"), (4, "1")]));
        assert_eq!(list(&Broker::with(&[]), 1, &[2, 16, 32]), found(&[]));
    }

    #[test]
    fn one_type_that_is_unknown_spoils_the_request() {
        for types in [&[2, 99][..], &[0], &[1]] {
            assert_eq!(list(&broker(), 1, types), (ResponseError::UnsupportedVersion.code(), vec![]));
        }
    }
}
