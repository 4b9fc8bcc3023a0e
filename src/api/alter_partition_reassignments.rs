//! AlterPartitionReassignments (key 45), versions 0–1. 1: whether the number of replicas may change (KIP-860).
//!
//! There is one broker, so that the only assignment that can be asked for is the one that there is: it is done at
//! once, and there is never one to cancel. Source: Kafka's `ReplicationControlManager`.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::alter_partition_reassignments_request::{
    ReassignablePartition, ReassignableTopic,
};
use kafka_protocol::messages::alter_partition_reassignments_response::{
    ReassignablePartitionResponse, ReassignableTopicResponse,
};
use kafka_protocol::messages::{AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse};
use kafka_protocol::protocol::StrBytes;

use super::api_error::ApiError;
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome, replica_assignment};
use crate::catalog::Catalog;

/// Checks each assignment, partition by partition.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &AlterPartitionReassignmentsRequest,
) -> Outcome<AlterPartitionReassignmentsResponse> {
    let response = AlterPartitionReassignmentsResponse::default().with_error_message(None);
    if request.topics.is_empty() {
        // Kafka does not look further, and answers with what the schema has for defaults.
        return Outcome::Reply(response.with_error_message(Some(StrBytes::default())));
    }
    let room = Room::for_an_answer();
    if !request.topics.iter().all(|topic| room.admits_texts(topic.partitions.len(), &topic.name)) {
        return Outcome::Close(TOO_LARGE);
    }
    if request.timeout_ms <= 0 {
        let error = ApiError::bare(ResponseError::RequestTimedOut);
        let topics = respond(request, |_, _| Err(error.clone()));
        return Outcome::Reply(response.with_error_code(error.code()).with_responses(topics));
    }
    let topics = super::lock(&ctx.services.topics);
    let node_id = ctx.services.config.node_id;
    let responses =
        respond(request, |topic, partition| reassign(topics.catalog(), node_id, topic, partition));
    let allowed = request.allow_replication_factor_change;
    Outcome::Reply(response.with_allow_replication_factor_change(allowed).with_responses(responses))
}

fn reassign(
    catalog: &Catalog,
    node_id: i32,
    topic: &ReassignableTopic,
    partition: &ReassignablePartition,
) -> Result<(), ApiError> {
    let (name, index) = (&topic.name, partition.partition_index);
    let unknown = |text| Err(ApiError::new(ResponseError::UnknownTopicOrPartition, text));
    match catalog.by_name(name) {
        None => return unknown(format!("Unable to find a topic named {}.", name.as_str())),
        Some(known) if !known.has_partition(index) => {
            return unknown(format!("Unable to find partition {}:{index}.", name.as_str()));
        }
        Some(_) => {}
    }
    match &partition.replicas {
        Some(replicas) => replica_assignment::check(replicas, node_id),
        None => Err(ApiError::bare(ResponseError::NoReassignmentInProgress)),
    }
}

fn respond(
    request: &AlterPartitionReassignmentsRequest,
    outcome: impl Fn(&ReassignableTopic, &ReassignablePartition) -> Result<(), ApiError>,
) -> Vec<ReassignableTopicResponse> {
    let of_partition = |topic: &ReassignableTopic, partition: &ReassignablePartition| {
        let error = outcome(topic, partition).err();
        ReassignablePartitionResponse::default()
            .with_partition_index(partition.partition_index)
            .with_error_code(error.as_ref().map_or(0, ApiError::code))
            .with_error_message(error.as_ref().and_then(ApiError::message))
    };
    let of_topic = |topic: &ReassignableTopic| {
        let partitions = topic.partitions.iter().map(|partition| of_partition(topic, partition));
        ReassignableTopicResponse::default()
            .with_name(topic.name.clone())
            .with_partitions(partitions.collect())
    };
    request.topics.iter().map(of_topic).collect()
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::{BrokerId, TopicName};

    use super::*;
    use crate::api::convert::text;
    use crate::api::testing::Broker;

    fn request(topic: &str, partition: i32, replicas: Option<&[i32]>) -> AlterPartitionReassignmentsRequest {
        let replicas = replicas.map(|ids| ids.iter().map(|&id| BrokerId(id)).collect());
        let partition =
            ReassignablePartition::default().with_partition_index(partition).with_replicas(replicas);
        let topic =
            ReassignableTopic::default().with_name(TopicName(text(topic))).with_partitions(vec![partition]);
        AlterPartitionReassignmentsRequest::default().with_timeout_ms(1).with_topics(vec![topic])
    }

    fn call(
        version: i16,
        request: &AlterPartitionReassignmentsRequest,
    ) -> AlterPartitionReassignmentsResponse {
        Broker::with_topics(&[("t", 1)]).call(version, request, |ctx, _, request| handle(ctx, request))
    }

    /// Topic, partition and replicas; code and text.
    type Case<'a> = (&'a str, i32, Option<&'a [i32]>, i16, Option<&'a str>);

    #[test]
    fn each_partition_gets_its_outcome() {
        let cases: &[Case<'_>] = &[
            ("t", 0, Some(&[1]), 0, None),
            ("t", 0, None, 85, None),
            ("t", 7, None, 3, Some("Unable to find partition t:7.")),
            ("t", -1, Some(&[1]), 3, Some("Unable to find partition t:-1.")),
            ("nope", 0, Some(&[1]), 3, Some("Unable to find a topic named nope.")),
            ("t", 0, Some(&[]), 39, Some("The manual partition assignment includes an empty replica list.")),
            (
                "t",
                0,
                Some(&[3, 2]),
                39,
                Some("The manual partition assignment includes broker 2, but no such broker is registered."),
            ),
        ];
        for version in 0..=1 {
            for &(topic, partition, replicas, code, message) in cases {
                let answer = call(version, &request(topic, partition, replicas));
                assert_eq!((answer.error_code, answer.error_message.as_deref()), (0, None));
                let [answered] = &*answer.responses else { panic!("one topic") };
                assert_eq!(answered.name.as_str(), topic);
                let [answered] = &*answered.partitions else { panic!("one partition") };
                assert_eq!((answered.partition_index, answered.error_code), (partition, code));
                assert_eq!(answered.error_message.as_deref(), message);
            }
        }
    }

    #[test]
    fn version_1_echoes_whether_the_number_of_replicas_may_change() {
        for allowed in [false, true] {
            let request = request("t", 0, Some(&[1])).with_allow_replication_factor_change(allowed);
            assert_eq!(call(1, &request).allow_replication_factor_change, allowed);
        }
    }

    #[test]
    fn an_answer_that_would_be_too_large_closes_the_connection() {
        let mut asked = request(&"t".repeat(30_000), 0, Some(&[1]));
        let partition = asked.topics[0].partitions[0].clone();
        asked.topics[0].partitions = vec![partition; 8_000];
        assert!(matches!(handle(&Broker::with(&[]).context(), &asked), Outcome::Close(_)));
    }

    #[test]
    fn a_request_without_topics_is_not_looked_at() {
        let answer = call(1, &AlterPartitionReassignmentsRequest::default().with_timeout_ms(0));
        assert_eq!((answer.error_code, answer.error_message.as_deref()), (0, Some("")));
    }

    #[test]
    fn no_time_is_too_little() {
        let answer = call(1, &request("t", 0, Some(&[1])).with_timeout_ms(0));
        assert_eq!((answer.error_code, answer.error_message), (7, None));
        assert_eq!(answer.responses[0].partitions[0].error_code, 7);
    }
}
