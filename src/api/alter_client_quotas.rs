//! AlterClientQuotas (key 49), versions 0–1 (KIP-546, KIP-612). 1 is flexible.

use std::collections::{BTreeMap, BTreeSet};

use kafka_protocol::ResponseError;
use kafka_protocol::messages::alter_client_quotas_request::EntryData;
use kafka_protocol::messages::alter_client_quotas_response::{EntityData, EntryData as AlteredEntry};
use kafka_protocol::messages::{AlterClientQuotasRequest, AlterClientQuotasResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::{Context, Outcome};
use crate::cluster::client_quotas::{ClientQuotas, Entity, QuotaError};
use crate::java;

/// Changes quotas, each entity on its own, or only says whether that could be.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &AlterClientQuotasRequest,
) -> Outcome<AlterClientQuotasResponse> {
    let mut quotas = ctx.services.cluster.client_quotas();
    let mut outcomes: BTreeMap<Entity, (usize, Result<(), QuotaError>)> = BTreeMap::new();
    for (place, entry) in request.entries.iter().enumerate() {
        let parts = entry.entity.iter();
        let entity = Entity::new(parts.map(|part| (part.entity_type.as_str(), part.entity_name.as_deref())));
        let place = outcomes.get(&entity).map_or(place, |(place, _)| *place);
        let outcome = if outcomes.contains_key(&entity) {
            Err(QuotaError(format!("Ignoring duplicate entity {entity}")))
        } else {
            alter(&mut quotas, &entity, entry, request.validate_only)
        };
        outcomes.insert(entity, (place, outcome));
    }
    drop(quotas);
    let mut outcomes: Vec<_> = outcomes.into_iter().collect();
    outcomes.sort_by_key(|(_, (place, _))| *place);
    let len = outcomes.len();
    java::sort_as_hash_map(&mut outcomes, len, |(entity, _)| entity.java_hash());
    let entries = outcomes.into_iter().map(|(entity, (_, outcome))| altered(&entity, outcome.err()));
    Outcome::Reply(AlterClientQuotasResponse::default().with_entries(entries.collect()))
}

fn alter(
    quotas: &mut ClientQuotas,
    entity: &Entity,
    entry: &EntryData,
    validate_only: bool,
) -> Result<(), QuotaError> {
    let mut keys = BTreeSet::new();
    if !entry.ops.iter().all(|op| keys.insert(&op.key)) {
        // Kafka finds a key twice and then says so of the entity.
        return Err(QuotaError(format!("Ignoring duplicate entity {entity}")));
    }
    let ops: Vec<_> =
        entry.ops.iter().map(|op| (op.key.as_str(), (!op.remove).then_some(op.value))).collect();
    quotas.alter(entity, &ops, validate_only)
}

fn altered(entity: &Entity, error: Option<QuotaError>) -> AlteredEntry {
    let parts = entity.parts().map(|(kind, name)| {
        EntityData::default().with_entity_type(text(kind)).with_entity_name(name.map(text))
    });
    AlteredEntry::default()
        .with_error_code(if error.is_some() { ResponseError::InvalidRequest.code() } else { 0 })
        .with_error_message(error.map(|error| StrBytes::from_string(error.0)))
        .with_entity(parts.collect())
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::alter_client_quotas_request::{EntityData as AskedEntity, OpData};

    use super::*;
    use crate::api::testing::Broker;
    use crate::cluster::client_quotas::Filter;

    type Part = (&'static str, Option<&'static str>);

    /// A change of one quota of an entity.
    fn entry(parts: &[Part], ops: &[(&str, Option<f64>)]) -> EntryData {
        let part = |(kind, name): &Part| {
            AskedEntity::default().with_entity_type(text(kind)).with_entity_name(name.map(text))
        };
        let op = |(key, value): &(&str, Option<f64>)| {
            OpData::default()
                .with_key(text(key))
                .with_value(value.unwrap_or_default())
                .with_remove(value.is_none())
        };
        EntryData::default()
            .with_entity(parts.iter().map(part).collect())
            .with_ops(ops.iter().map(op).collect())
    }

    fn ask(broker: &Broker, version: i16, entries: Vec<EntryData>) -> Vec<(String, i16, Option<String>)> {
        let request = AlterClientQuotasRequest::default().with_entries(entries);
        let answer = broker.call(version, &request, |ctx, _, request| handle(ctx, request));
        let told = |entry: AlteredEntry| {
            let parts = entry.entity.iter().map(|part| (&*part.entity_type, part.entity_name.as_deref()));
            let message = entry.error_message.map(|message| message.to_string());
            (Entity::new(parts).to_string(), entry.error_code, message)
        };
        answer.entries.into_iter().map(told).collect()
    }

    const USER: Part = ("user", Some("a"));
    const CLIENT: Part = ("client-id", Some("c"));
    const RATE: &str = "producer_byte_rate";

    #[test]
    fn quotas_are_changed_and_removed() {
        let broker = Broker::with(&[]);
        let count = || broker.services.cluster.client_quotas().describe(&Filter::default()).len();
        let done = |text: &str| (format!("ClientQuotaEntity(entries={{{text}}})"), 0, None);
        let entries =
            vec![entry(&[USER, CLIENT], &[(RATE, Some(5.0))]), entry(&[CLIENT], &[(RATE, Some(6.0))])];
        assert_eq!(ask(&broker, 0, entries), [done("client-id=c"), done("client-id=c, user=a")]);
        assert_eq!(count(), 2);
        let removed = ask(&broker, 1, vec![entry(&[CLIENT, USER], &[(RATE, None)])]);
        assert_eq!(removed, [done("client-id=c, user=a")]);
        assert_eq!(count(), 1);
        assert!(ask(&broker, 1, Vec::new()).is_empty());
    }

    #[test]
    fn the_first_of_two_counts_and_the_second_is_told_of() {
        let broker = Broker::with(&[]);
        let twice = |text: &str| {
            let entity = format!("ClientQuotaEntity(entries={{{text}}})");
            let message = format!("Ignoring duplicate entity {entity}");
            (entity, 42, Some(message))
        };
        let set = |value| entry(&[USER], &[(RATE, Some(value))]);
        assert_eq!(ask(&broker, 1, vec![set(1.0), set(2.0)]), [twice("user=a")]);
        let quotas = broker.services.cluster.client_quotas();
        assert_eq!(quotas.describe(&Filter::default())[0].1, [(RATE, 1.0)]);
        drop(quotas);
        let both_ways = vec![entry(&[USER, CLIENT], &[]), entry(&[CLIENT, USER], &[])];
        assert_eq!(ask(&broker, 1, both_ways), [twice("client-id=c, user=a")]);
        let one_key = entry(&[USER], &[(RATE, Some(9.0)), (RATE, None)]);
        assert_eq!(ask(&broker, 1, vec![one_key]), [twice("user=a")]);
        let quotas = broker.services.cluster.client_quotas();
        assert_eq!(quotas.describe(&Filter::default())[0].1, [(RATE, 1.0)]);
    }

    #[test]
    fn a_refused_entity_does_not_hold_up_the_others() {
        let broker = Broker::with(&[]);
        let entries = vec![entry(&[USER], &[("nope", Some(5.0))]), entry(&[CLIENT], &[(RATE, Some(6.0))])];
        let outcomes = ask(&broker, 1, entries);
        let codes: Vec<_> = outcomes.iter().map(|(_, code, _)| *code).collect();
        assert_eq!(codes, [0, 42]);
        assert_eq!(outcomes[1].2.as_deref(), Some("Invalid configuration key nope"));
    }
}
