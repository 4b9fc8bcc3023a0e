//! Metadata (key 3), versions 0–13.
//!
//! 0: an empty list means all topics; an answer without controller, rack and internal flag.
//! 1: null means all topics, an empty list none. 2: cluster id. 4: `allow_auto_topic_creation`. 5: offline replicas.
//! 7: leader epoch. 8: authorized operations (those of the cluster up to 10). 10: topic ids in the answer.
//! 12: topics asked for by id. 13: an error for the whole answer.
//!
//! Order: existing topics before others, each by name, unknown ids by number (Kafka's is that of a hash set, where
//! unknown ids come first).

use std::collections::BTreeSet;
use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::metadata_response::{
    MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::{BrokerId, MetadataRequest, MetadataResponse, TopicName};

use super::convert::{some_of, text};
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome, authorized_operations};
use crate::catalog::{CatalogError, Topic, name};
use crate::limits::PARTITIONS_PER_REQUEST_MAX;
use crate::types::TopicId;

/// Answers what topics there are, and creates those that are asked for by name if that is allowed.
pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &MetadataRequest,
) -> Outcome<MetadataResponse> {
    let wanted = match Wanted::read(version, request) {
        Ok(wanted) => wanted,
        Err(error) => return Outcome::Reply(refused(version, request, error)),
    };
    let found = match wanted {
        Wanted::All => Some(Found { existing: all(ctx), others: Vec::new() }),
        Wanted::Ids(ids) => by_id(ctx, &ids),
        Wanted::Names(names) => by_name(ctx, &names, request.allow_auto_topic_creation),
    };
    let Some(found) = found else { return Outcome::Close(TOO_LARGE) };
    let broker = BrokerId(ctx.services.config.node_id);
    let existing = found.existing.iter().map(|topic| existing(topic, broker));
    let mut topics: Vec<_> = existing.chain(found.others).collect();
    if version >= 8 && request.include_topic_authorized_operations {
        // A topic id that is unknown has no name to look up what is allowed on it.
        for topic in topics.iter_mut().filter(|topic| topic.name.is_some()) {
            topic.topic_authorized_operations = authorized_operations::TOPIC;
        }
    }
    let asks_for_cluster = (8..=10).contains(&version) && request.include_cluster_authorized_operations;
    let response = MetadataResponse::default()
        .with_brokers(vec![this_broker(ctx, broker)])
        .with_cluster_id(Some(text(&ctx.services.config.cluster_id)))
        .with_controller_id(broker)
        .with_topics(topics);
    Outcome::Reply(if asks_for_cluster {
        response.with_cluster_authorized_operations(authorized_operations::CLUSTER)
    } else {
        response
    })
}

/// Which topics a client asks for, each once.
enum Wanted<'a> {
    All,
    Ids(BTreeSet<TopicId>),
    Names(BTreeSet<&'a TopicName>),
}

impl<'a> Wanted<'a> {
    fn read(version: i16, request: &'a MetadataRequest) -> Result<Self, ResponseError> {
        let Some(topics) = &request.topics else {
            return Ok(Self::All);
        };
        if topics.is_empty() && version == 0 {
            return Ok(Self::All);
        }
        if version < 12 && topics.iter().any(|topic| topic.name.is_none() || !topic.topic_id.is_nil()) {
            return Err(ResponseError::InvalidRequest);
        }
        let ids: BTreeSet<_> = topics
            .iter()
            .filter(|topic| !topic.topic_id.is_nil())
            .map(|topic| topic.topic_id.into())
            .collect();
        if !ids.is_empty() {
            // As in Kafka, one id is enough for all names to be passed over.
            return Ok(Self::Ids(ids));
        }
        let names: Option<BTreeSet<_>> = topics.iter().map(|topic| topic.name.as_ref()).collect();
        // Neither id nor name: Kafka stumbles over the null.
        names.map(Self::Names).ok_or(ResponseError::UnknownServerError)
    }
}

/// What there is of what a client asks for, unless that is too much for an answer. The topics are answered after the lock is released: with 100,000
/// partitions that takes a while.
struct Found {
    existing: Vec<Arc<Topic>>,
    others: Vec<MetadataResponseTopic>,
}

fn all(ctx: &Context<'_>) -> Vec<Arc<Topic>> {
    super::lock(&ctx.services.topics).catalog().iter().cloned().collect()
}

fn by_id(ctx: &Context<'_>, ids: &BTreeSet<TopicId>) -> Option<Found> {
    let room = Room::for_an_answer();
    let mut found = Found { existing: Vec::new(), others: Vec::new() };
    let topics = super::lock(&ctx.services.topics);
    for &id in ids {
        if !room.admits(size_of::<MetadataResponseTopic>()) {
            return None;
        }
        match topics.catalog().by_id(id) {
            Some(topic) => found.existing.push(topic.clone()),
            None => found.others.push(
                MetadataResponseTopic::default()
                    .with_error_code(ResponseError::UnknownTopicId.code())
                    .with_name(None)
                    .with_topic_id(id.into()),
            ),
        }
    }
    found.existing.sort_by(|a, b| a.name.cmp(&b.name));
    Some(found)
}

fn by_name(
    ctx: &Context<'_>,
    names: &BTreeSet<&TopicName>,
    allow_auto_topic_creation: bool,
) -> Option<Found> {
    let room = Room::for_an_answer();
    let mut found = Found { existing: Vec::new(), others: Vec::new() };
    let mut missing = Vec::new();
    let topics = super::lock(&ctx.services.topics);
    for &wire_name in names {
        let topic_name = wire_name.as_str();
        if !room.admits(size_of::<MetadataResponseTopic>() + topic_name.len()) {
            return None;
        }
        if let Some(topic) = topics.catalog().by_name(topic_name) {
            found.existing.push(topic.clone());
            continue;
        }
        // Kafka creates a topic behind the answer, and clients ask again: unknown it is also if it is created now.
        let error = match name::validate(topic_name) {
            Ok(()) => ResponseError::UnknownTopicOrPartition,
            Err(_) => ResponseError::InvalidTopicException,
        };
        if error == ResponseError::UnknownTopicOrPartition {
            missing.push(topic_name);
        }
        found.others.push(
            MetadataResponseTopic::default()
                .with_error_code(error.code())
                .with_name(Some(wire_name.clone()))
                .with_is_internal(name::is_internal(topic_name)),
        );
    }
    drop(topics);
    if allow_auto_topic_creation && ctx.services.config.auto_create_topics_enable {
        auto_create(ctx, &missing);
    }
    Some(found)
}

fn auto_create(ctx: &Context<'_>, names: &[&str]) {
    // As in Kafka, where the broker sends one CreateTopics for all of them, it is all or none.
    let partitions_each = usize::try_from(ctx.services.live_config.broker().num_partitions).unwrap_or(0);
    let partitions = names.len().saturating_mul(partitions_each);
    if partitions > PARTITIONS_PER_REQUEST_MAX {
        tracing::info!(client = ctx.client_id, "not created on demand: {partitions} partitions are too many");
        return;
    }
    let mut created = Vec::new();
    let mut refusal = None;
    for &name in names {
        let random = ctx.services.entropy.random();
        // Locked for one topic at a time: there may be a hundred thousand.
        match super::lock(&ctx.services.topics).auto_create(&ctx.services.live_config.broker(), name, random)
        {
            Ok(_) => created.push(name),
            Err(error @ CatalogError::PolicyViolation(_)) => {
                refusal = Some((name, error));
                break; // No room, for the others neither.
            }
            Err(error) => refusal = Some((name, error)),
        }
    }
    if !created.is_empty() {
        tracing::info!(client = ctx.client_id, "created on demand: {}", some_of(&created));
    }
    if let Some((name, error)) = refusal {
        let count = names.len() - created.len();
        tracing::info!(client = ctx.client_id, count, "not created on demand: {name}: {error}");
    }
}

fn existing(topic: &Topic, broker: BrokerId) -> MetadataResponseTopic {
    MetadataResponseTopic::default()
        .with_name(Some(TopicName(text(topic.name.as_str()))))
        .with_topic_id(topic.id.into())
        .with_is_internal(topic.internal)
        .with_partitions((0..topic.partitions).map(|index| partition(index, broker)).collect())
}

fn partition(index: i32, broker: BrokerId) -> MetadataResponsePartition {
    MetadataResponsePartition::default()
        .with_partition_index(index)
        .with_leader_id(broker)
        .with_leader_epoch(0)
        .with_replica_nodes(vec![broker])
        .with_isr_nodes(vec![broker])
}

fn this_broker(ctx: &Context<'_>, broker: BrokerId) -> MetadataResponseBroker {
    let (host, port) = &ctx.services.advertised;
    MetadataResponseBroker::default()
        .with_node_id(broker)
        .with_host(text(host))
        .with_port(i32::from(*port))
        .with_rack(ctx.services.config.broker_rack.as_deref().map(text))
}

/// Kafka's `MetadataRequest.getErrorResponse`: no broker, and the error with every topic.
fn refused(version: i16, request: &MetadataRequest, error: ResponseError) -> MetadataResponse {
    let topics = request.topics.iter().flatten().map(|topic| {
        MetadataResponseTopic::default()
            .with_error_code(error.code())
            .with_name(Some(topic.name.clone().unwrap_or_default()))
            .with_topic_id(topic.topic_id)
    });
    let response = MetadataResponse::default().with_topics(topics.collect());
    if version >= 13 { response.with_error_code(error.code()) } else { response }
}

#[cfg(test)]
mod tests;
