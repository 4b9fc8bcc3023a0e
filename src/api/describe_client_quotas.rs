//! DescribeClientQuotas (key 48), versions 0–1 (KIP-546). 1 is flexible.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_client_quotas_request::ComponentData;
use kafka_protocol::messages::describe_client_quotas_response::{EntityData, EntryData, ValueData};
use kafka_protocol::messages::{DescribeClientQuotasRequest, DescribeClientQuotasResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::{Context, Outcome};
use crate::cluster::client_quotas::{Filter, FilterError, Match};

/// Lists the entities that the client asks for, with their quotas.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &DescribeClientQuotasRequest,
) -> Outcome<DescribeClientQuotasResponse> {
    let response = DescribeClientQuotasResponse::default();
    Outcome::Reply(match filter(request) {
        Ok(filter) => {
            let quotas = ctx.services.cluster.client_quotas();
            let entries = quotas.describe(&filter).into_iter().map(|(entity, values)| {
                let parts = entity.parts().map(|(kind, name)| {
                    EntityData::default().with_entity_type(text(kind)).with_entity_name(name.map(text))
                });
                let values = values
                    .into_iter()
                    .map(|(key, value)| ValueData::default().with_key(text(key)).with_value(value));
                EntryData::default().with_entity(parts.collect()).with_values(values.collect())
            });
            response.with_error_message(Some(StrBytes::default())).with_entries(Some(entries.collect()))
        }
        Err(error) => {
            let (error, message) = match error {
                FilterError::InvalidRequest(message) => (ResponseError::InvalidRequest, message),
                FilterError::UnsupportedVersion(message) => (ResponseError::UnsupportedVersion, message),
            };
            response
                .with_error_code(error.code())
                .with_error_message(Some(StrBytes::from_string(message)))
                .with_entries(None)
        }
    })
}

fn filter(request: &DescribeClientQuotasRequest) -> Result<Filter<'_>, FilterError> {
    let mut filter = Filter::new(request.strict);
    for component in &request.components {
        filter.add(&component.entity_type, || wanted(component))?;
    }
    filter.check()?;
    Ok(filter)
}

fn wanted(component: &ComponentData) -> Result<Match<'_>, FilterError> {
    const EXACT: i8 = 0;
    const DEFAULT: i8 = 1;
    const SPECIFIED: i8 = 2;
    let name = component._match.as_deref();
    let text = match (component.match_type, name) {
        (EXACT, Some(name)) => return Ok(Match::Name(Some(name))),
        (DEFAULT, None) => return Ok(Match::Name(None)),
        (SPECIFIED, None) => return Ok(Match::Any),
        (EXACT, None) => "Request specified MATCH_TYPE_EXACT, but set match string to null.".to_owned(),
        (DEFAULT, Some(_)) => {
            "Request specified MATCH_TYPE_DEFAULT, but also specified a match string.".to_owned()
        }
        (SPECIFIED, Some(_)) => {
            "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string.".to_owned()
        }
        (kind, _) => format!("Unknown match type {kind}"),
    };
    Err(FilterError::InvalidRequest(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::Broker;
    use crate::cluster::client_quotas::Entity;

    fn ask(
        broker: &Broker,
        version: i16,
        components: &[(&str, i8, Option<&str>)],
    ) -> DescribeClientQuotasResponse {
        let components = components.iter().map(|(kind, match_type, name)| {
            ComponentData::default()
                .with_entity_type(text(kind))
                .with_match_type(*match_type)
                .with_match(name.map(text))
        });
        let request = DescribeClientQuotasRequest::default().with_components(components.collect());
        broker.call(version, &request, |ctx, _, request| handle(ctx, request))
    }

    #[test]
    fn quotas_are_listed() {
        let broker = Broker::with(&[]);
        let entity = Entity::new([("user", Some("a")), ("client-id", None)]);
        let ops = [("request_percentage", Some(12.5)), ("consumer_byte_rate", Some(7.0))];
        broker.services.cluster.client_quotas().alter(&entity, &ops, false).unwrap();
        for version in [0, 1] {
            let answer = ask(&broker, version, &[("user", 0, Some("a"))]);
            assert_eq!((answer.error_code, answer.error_message.as_deref()), (0, Some("")));
            let [entry] = &answer.entries.expect("entries")[..] else { panic!("one entity") };
            let part = |part: &EntityData| (part.entity_type.to_string(), part.entity_name.clone());
            let parts: Vec<_> = entry.entity.iter().map(part).collect();
            assert_eq!(parts, [("client-id".to_owned(), None), ("user".to_owned(), Some(text("a")))]);
            let values: Vec<_> = entry.values.iter().map(|value| (&*value.key, value.value)).collect();
            assert_eq!(values, [("consumer_byte_rate", 7.0), ("request_percentage", 12.5)]);
        }
        assert_eq!(ask(&broker, 1, &[("user", 0, Some("b"))]).entries, Some(Vec::new()));
    }

    #[test]
    fn filters_are_refused_in_kafkas_words() {
        type Case = (&'static [(&'static str, i8, Option<&'static str>)], i16, &'static str);
        let cases: &[Case] = &[
            (&[("foo", 2, None)], 35, "Unsupported entity type foo"),
            (&[("", 2, None)], 42, "Invalid empty entity type."),
            (&[("user", 9, None)], 42, "Unknown match type 9"),
            (&[("user", 0, None)], 42, "Request specified MATCH_TYPE_EXACT, but set match string to null."),
            (
                &[("user", 1, Some("a"))],
                42,
                "Request specified MATCH_TYPE_DEFAULT, but also specified a match string.",
            ),
            (
                &[("user", 2, Some("a"))],
                42,
                "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string.",
            ),
            (
                &[("user", 0, Some("a")), ("user", 0, Some("b"))],
                42,
                "Entity type user cannot appear more than once in the filter.",
            ),
            (
                &[("ip", 2, None), ("user", 2, None)],
                42,
                "Invalid entity filter component combination. IP filter component should not be used with user or \
                 clientId filter component.",
            ),
        ];
        for (components, code, message) in cases {
            let answer = ask(&Broker::with(&[]), 1, components);
            assert_eq!((answer.error_code, answer.error_message.as_deref()), (*code, Some(*message)));
            assert_eq!(answer.entries, None);
        }
    }
}
