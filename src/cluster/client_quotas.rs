//! Quotas of users, client ids and addresses (KIP-546, KIP-612).
//!
//! Source: Kafka's `ClientQuotaControlManager` (changes), `ClientQuotasImage` (queries), `QuotaConfig`.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use crate::java;
use crate::limits::{CLIENT_NAME_BYTES_MAX, CLIENT_QUOTA_ENTITIES_MAX};

const USER: &str = "user";
const CLIENT_ID: &str = "client-id";
const IP: &str = "ip";

/// Whom quotas are for: the names of one or several types, where `None` is the default of the type.
///
/// The types are in the order of Java's HashMap, which is the one that clients see; each is there once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entity(Vec<(Box<str>, Option<Box<str>>)>);

impl Entity {
    /// Of types with names; of a type that is there twice, the last counts.
    pub fn new<'a>(parts: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Self {
        let parts: BTreeMap<_, _> = parts.into_iter().collect();
        let mut parts: Vec<_> =
            parts.into_iter().map(|(kind, name)| (kind.into(), name.map(Into::into))).collect();
        java::sort_as_small_hash_map(&mut parts, |(kind, _): &(Box<str>, _)| java::string_hash(kind));
        Self(parts)
    }

    /// Types with names.
    pub fn parts(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().map(|(kind, name)| (&**kind, name.as_deref()))
    }

    /// `ClientQuotaEntity.hashCode`.
    #[must_use]
    pub fn java_hash(&self) -> i32 {
        let part =
            |(kind, name): (&str, Option<&str>)| java::string_hash(kind) ^ name.map_or(0, java::string_hash);
        self.parts().map(part).fold(31, i32::wrapping_add)
    }

    /// The name of a type, if the entity has one.
    fn get(&self, kind: &str) -> Option<Option<&str>> {
        self.parts().find(|(known, _)| *known == kind).map(|(_, name)| name)
    }

    fn has(&self, kind: &str) -> bool {
        self.get(kind).is_some()
    }

    fn check(&self) -> Result<(), QuotaError> {
        if self.0.is_empty() {
            return refuse("Invalid empty client quota entity");
        }
        for (kind, name) in self.parts() {
            if ![USER, CLIENT_ID, IP].contains(&kind) {
                return refuse(format!("Unhandled client quota entity type: {kind}"));
            }
            if name.is_some_and(str::is_empty) {
                return refuse(format!("Empty {kind} not supported"));
            }
        }
        match self.get(IP) {
            None => {}
            Some(_) if self.0.len() > 1 => {
                return refuse(
                    "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId",
                );
            }
            Some(Some(name)) if !may_be_a_host(name) => {
                return refuse(format!("{name} is not a valid IP or resolvable host."));
            }
            Some(_) => {}
        }
        // Differs from Kafka: names of users and client ids with quotas or credentials are bounded in length.
        if self.parts().any(|(_, name)| name.is_some_and(|name| name.len() > CLIENT_NAME_BYTES_MAX)) {
            return refuse(format!("A name cannot be longer than {CLIENT_NAME_BYTES_MAX} bytes."));
        }
        Ok(())
    }
}

/// As Kafka's texts name it.
impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> =
            self.parts().map(|(kind, name)| format!("{kind}={}", name.unwrap_or("null"))).collect();
        write!(f, "ClientQuotaEntity(entries={{{}}})", parts.join(", "))
    }
}

// Differs from Kafka: names of hosts are not looked up, so one that does not exist is taken.
fn may_be_a_host(name: &str) -> bool {
    name.parse::<IpAddr>().is_ok()
        || name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'))
}

/// Why quotas are refused, in Kafka's words (INVALID_REQUEST).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaError(pub String);

fn refuse<T>(text: impl Into<String>) -> Result<T, QuotaError> {
    Err(QuotaError(text.into()))
}

/// A change to one quota: `None` removes it.
pub type QuotaOp<'a> = (&'a str, Option<f64>);

/// Kafka's names of the quotas of users and client ids, or of addresses, and what their values may be.
fn value_kind(entity: &Entity, key: &str) -> Option<ValueKind> {
    match (entity.has(IP), key) {
        (false, "producer_byte_rate" | "consumer_byte_rate") => Some(ValueKind::Long),
        (false, "request_percentage" | "controller_mutation_rate") => Some(ValueKind::Double),
        (true, "connection_creation_rate") => Some(ValueKind::Int),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Int,
    Long,
    Double,
}

/// How far from a whole number a whole number may be.
const EPSILON: f64 = 1e-6;

fn check_value(entity: &Entity, key: &str, value: f64) -> Result<(), QuotaError> {
    let Some(kind) = value_kind(entity, key) else {
        return refuse(format!("Invalid configuration key {key}"));
    };
    if value <= 0.0 {
        return refuse(format!("Quota {key} must be greater than 0"));
    }
    let (max, what) = match kind {
        ValueKind::Double => return Ok(()),
        ValueKind::Int => (f64::from(i32::MAX), "an INT"),
        ValueKind::Long => (i64::MAX as f64, "a LONG"),
    };
    let value = value + EPSILON;
    if value > max {
        return refuse(format!("Proposed value for {key} is too large for {what}."));
    }
    if (value - value.trunc()).abs() > 2.0 * EPSILON {
        return refuse(format!("{key} cannot be a fractional value."));
    }
    Ok(())
}

/// How a filter wants a type of entity to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match<'a> {
    /// With this name; `None` is the default of the type.
    Name(Option<&'a str>),
    /// With any name, or the default.
    Any,
}

/// Which entities are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter<'a> {
    components: BTreeMap<&'a str, Match<'a>>,
    strict: bool,
}

/// Why a filter cannot be. Variants bear the names of Kafka's errors, texts are Kafka's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterError {
    InvalidRequest(String),
    UnsupportedVersion(String),
}

impl<'a> Filter<'a> {
    /// Asks for everything; a strict one leaves entities out that have other types than those it is told of.
    #[must_use]
    pub const fn new(strict: bool) -> Self {
        Self { components: BTreeMap::new(), strict }
    }

    /// Asks for a type as well. `wanted` is looked at once the type is known to be right.
    ///
    /// # Errors
    /// `InvalidRequest`, `UnsupportedVersion` for a type that does not exist.
    pub fn add(
        &mut self,
        kind: &'a str,
        wanted: impl FnOnce() -> Result<Match<'a>, FilterError>,
    ) -> Result<(), FilterError> {
        if kind.is_empty() {
            return Err(FilterError::InvalidRequest("Invalid empty entity type.".to_owned()));
        }
        if self.components.contains_key(kind) {
            let text = format!("Entity type {kind} cannot appear more than once in the filter.");
            return Err(FilterError::InvalidRequest(text));
        }
        if ![USER, CLIENT_ID, IP].contains(&kind) {
            return Err(FilterError::UnsupportedVersion(format!("Unsupported entity type {kind}")));
        }
        self.components.insert(kind, wanted()?);
        Ok(())
    }

    /// Whether the types of the filter go together.
    ///
    /// # Errors
    /// `InvalidRequest`.
    pub fn check(&self) -> Result<(), FilterError> {
        if self.components.contains_key(IP) && self.components.len() > 1 {
            let text = "Invalid entity filter component combination. IP filter component should not be used with \
                        user or clientId filter component.";
            return Err(FilterError::InvalidRequest(text.to_owned()));
        }
        Ok(())
    }

    fn matches(&self, entity: &Entity) -> bool {
        let fits = |(kind, wanted): (&&str, &Match<'_>)| match wanted {
            Match::Name(name) => entity.get(kind) == Some(*name),
            Match::Any => entity.has(kind),
        };
        (!self.strict || entity.0.len() == self.components.len()) && self.components.iter().all(fits)
    }
}

/// The quotas of all entities.
#[derive(Debug, Default)]
pub struct ClientQuotas {
    /// Each with its quotas, at least one, in the order in which they were first set.
    entities: BTreeMap<Entity, Vec<(Box<str>, f64)>>,
}

impl ClientQuotas {
    /// Sets and removes quotas of one entity, all or none; or only says whether that could be.
    ///
    /// # Errors
    /// In Kafka's words.
    pub fn alter(
        &mut self,
        entity: &Entity,
        ops: &[QuotaOp<'_>],
        validate_only: bool,
    ) -> Result<(), QuotaError> {
        entity.check()?;
        for (key, value) in ops {
            value.map_or(Ok(()), |value| check_value(entity, key, value))?;
        }
        let sets = ops.iter().any(|(_, value)| value.is_some());
        // Differs from Kafka: the entities that can have quotas are bounded in number.
        if sets && !self.entities.contains_key(entity) && self.entities.len() >= CLIENT_QUOTA_ENTITIES_MAX {
            return refuse(format!("No more than {CLIENT_QUOTA_ENTITIES_MAX} entities can have quotas."));
        }
        if validate_only {
            return Ok(());
        }
        let mut quotas = self.entities.remove(entity).unwrap_or_default();
        for &(key, value) in ops {
            let place = quotas.iter().position(|(known, _)| **known == *key);
            match (place, value) {
                (Some(place), Some(value)) => quotas[place].1 = value,
                (None, Some(value)) => quotas.push((key.into(), value)),
                (Some(place), None) => drop(quotas.remove(place)),
                (None, None) => {}
            }
        }
        if !quotas.is_empty() {
            self.entities.insert(entity.clone(), quotas);
        }
        Ok(())
    }

    /// The entities that a filter asks for with their quotas, both in the order of Java's HashMap.
    #[must_use]
    pub fn describe(&self, filter: &Filter<'_>) -> Vec<(&Entity, Vec<(&str, f64)>)> {
        let mut found: Vec<_> = self.entities.iter().filter(|(entity, _)| filter.matches(entity)).collect();
        java::sort_as_hash_map(&mut found, self.entities.len(), |(entity, _)| entity.java_hash());
        let mut described = Vec::with_capacity(found.len());
        for (entity, quotas) in found {
            let mut values: Vec<_> = quotas.iter().map(|(key, value)| (&**key, *value)).collect();
            java::sort_as_small_hash_map(&mut values, |(key, _)| java::string_hash(key));
            described.push((entity, values));
        }
        described
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> Entity {
        Entity::new([(USER, Some(name))])
    }

    fn alter(entity: &Entity, key: &str, value: f64) -> Result<(), String> {
        ClientQuotas::default().alter(entity, &[(key, Some(value))], false).map_err(|error| error.0)
    }

    #[test]
    fn entities_are_refused_in_kafkas_words() {
        let ip = [(IP, Some("1.2.3.4"))];
        let cases = [
            (Entity::new([]), "Invalid empty client quota entity"),
            (Entity::new([("foo", Some("a"))]), "Unhandled client quota entity type: foo"),
            (user(""), "Empty user not supported"),
            (Entity::new([(CLIENT_ID, Some(""))]), "Empty client-id not supported"),
            (Entity::new([(IP, Some("a.b c"))]), "a.b c is not a valid IP or resolvable host."),
            (
                Entity::new([(USER, Some("a")), ip[0]]),
                "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId",
            ),
        ];
        for (entity, text) in cases {
            assert_eq!(alter(&entity, "producer_byte_rate", 1.0), Err(text.to_owned()));
        }
        for name in ["1.2.3.4", "::1", "localhost"] {
            assert_eq!(alter(&Entity::new([(IP, Some(name))]), "connection_creation_rate", 1.0), Ok(()));
        }
    }

    #[test]
    fn values_are_refused_in_kafkas_words() {
        let (user, ip) = (user("a"), Entity::new([(IP, None)]));
        let cases = [
            (&user, "nope", 1.0, "Invalid configuration key nope"),
            (&user, "connection_creation_rate", 1.0, "Invalid configuration key connection_creation_rate"),
            (&ip, "producer_byte_rate", 1.0, "Invalid configuration key producer_byte_rate"),
            (&user, "producer_byte_rate", -1.0, "Quota producer_byte_rate must be greater than 0"),
            (&user, "producer_byte_rate", 0.0, "Quota producer_byte_rate must be greater than 0"),
            (&user, "producer_byte_rate", 1.5, "producer_byte_rate cannot be a fractional value."),
            (&ip, "connection_creation_rate", 1.5, "connection_creation_rate cannot be a fractional value."),
            (
                &user,
                "producer_byte_rate",
                1e30,
                "Proposed value for producer_byte_rate is too large for a LONG.",
            ),
            (
                &ip,
                "connection_creation_rate",
                1e10,
                "Proposed value for connection_creation_rate is too large for an INT.",
            ),
        ];
        for (entity, key, value, text) in cases {
            assert_eq!(alter(entity, key, value), Err(text.to_owned()));
        }
        assert_eq!(alter(&user, "request_percentage", 1.5), Ok(()));
        assert_eq!(alter(&user, "producer_byte_rate", 1.000_000_1), Ok(()));
    }

    #[test]
    fn quotas_are_shown_in_kafkas_order() {
        // As a broker of Kafka 4.4.0 listed them.
        let entities = [
            Entity::new([(IP, Some("1.2.3.4"))]),
            Entity::new([(IP, None)]),
            Entity::new([(USER, None)]),
            Entity::new([(CLIENT_ID, None)]),
            Entity::new([(USER, Some("a")), (CLIENT_ID, Some("c"))]),
        ];
        let mut quotas = ClientQuotas::default();
        let both = &entities[4];
        let ops = [("consumer_byte_rate", Some(2000.0)), ("request_percentage", Some(12.5))];
        quotas.alter(both, &ops, false).unwrap();
        for entity in entities.iter().rev() {
            let key = if entity.has(IP) { "connection_creation_rate" } else { "producer_byte_rate" };
            quotas.alter(entity, &[(key, Some(1.0))], false).unwrap();
        }
        let all = quotas.describe(&Filter::default());
        let listed: Vec<_> = all.iter().map(|(entity, _)| *entity).collect();
        assert_eq!(listed, entities.iter().collect::<Vec<_>>());
        let values =
            [("consumer_byte_rate", 2000.0), ("request_percentage", 12.5), ("producer_byte_rate", 1.0)];
        assert_eq!(all[4].1, values);
        assert_eq!(both.to_string(), "ClientQuotaEntity(entries={client-id=c, user=a})");
        let with_ip = Entity::new([(IP, None), (USER, Some("a"))]);
        assert_eq!(with_ip.to_string(), "ClientQuotaEntity(entries={user=a, ip=null})");
    }

    #[test]
    fn what_is_removed_or_only_validated_is_not_there() {
        let mut quotas = ClientQuotas::default();
        let set = [("producer_byte_rate", Some(5.0))];
        quotas.alter(&user("a"), &set, true).unwrap();
        assert!(quotas.describe(&Filter::default()).is_empty());
        // One bad quota leaves the others alone.
        assert!(quotas.alter(&user("a"), &[set[0], ("nope", Some(1.0))], false).is_err());
        assert!(quotas.describe(&Filter::default()).is_empty());
        quotas.alter(&user("a"), &set, false).unwrap();
        assert_eq!(quotas.describe(&Filter::default()).len(), 1);
        // What is not there, or does not exist, can be removed.
        quotas.alter(&user("a"), &[("producer_byte_rate", None), ("nope", None)], false).unwrap();
        assert!(quotas.describe(&Filter::default()).is_empty());
    }

    #[test]
    fn filters_choose_by_type_name_and_default() {
        let mut quotas = ClientQuotas::default();
        let (a, default) = (user("a"), Entity::new([(USER, None)]));
        let both = Entity::new([(USER, Some("a")), (CLIENT_ID, Some("c"))]);
        for entity in [&a, &default, &both] {
            quotas.alter(entity, &[("producer_byte_rate", Some(1.0))], false).unwrap();
        }
        let found = |strict, components: &[(&'static str, Match<'static>)]| {
            let mut filter = Filter::new(strict);
            for (kind, wanted) in components {
                filter.add(kind, || Ok(*wanted)).unwrap();
            }
            let mut found: Vec<_> = quotas.describe(&filter).into_iter().map(|(entity, _)| entity).collect();
            found.sort();
            found
        };
        let name = |name| (USER, Match::Name(name));
        assert_eq!(found(true, &[name(Some("a"))]), [&a]);
        assert_eq!(found(false, &[name(Some("a"))]).len(), 2);
        assert_eq!(found(false, &[name(None)]), [&default]);
        assert_eq!(found(true, &[(USER, Match::Any)]).len(), 2);
        assert_eq!(found(true, &[(USER, Match::Any), (CLIENT_ID, Match::Any)]), [&both]);
        assert!(found(true, &[]).is_empty());
        assert_eq!(found(false, &[]).len(), 3);
    }

    #[test]
    fn what_clients_can_store_is_bounded() {
        let long = "x".repeat(CLIENT_NAME_BYTES_MAX + 1);
        assert!(alter(&user(&long), "producer_byte_rate", 1.0).is_err());
        let mut quotas = ClientQuotas::default();
        let set = [("producer_byte_rate", Some(1.0))];
        for n in 0..CLIENT_QUOTA_ENTITIES_MAX {
            quotas.alter(&user(&n.to_string()), &set, false).unwrap();
        }
        assert!(quotas.alter(&user("new"), &set, false).is_err());
        assert!(quotas.alter(&user("0"), &set, false).is_ok());
    }
}
