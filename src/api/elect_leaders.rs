//! ElectLeaders (key 43), versions 0–2. 1: the type of election (KIP-460).
//!
//! Every partition is led by its only replica, so that no election is ever needed.
//! Source: Kafka's `ReplicationControlManager`.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::elect_leaders_response::{PartitionResult, ReplicaElectionResult};
use kafka_protocol::messages::{ElectLeadersRequest, ElectLeadersResponse, TopicName};

use super::api_error::ApiError;
use super::convert::text;
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome};
use crate::catalog::Catalog;

const PREFERRED: i8 = 0;
const UNCLEAN: i8 = 1;

/// Says of each partition that is named why no leader is elected, or of all that there is nothing to do.
pub(super) fn handle(ctx: &Context<'_>, request: &ElectLeadersRequest) -> Outcome<ElectLeadersResponse> {
    let response = ElectLeadersResponse::default();
    if request.topic_partitions.as_ref().is_some_and(Vec::is_empty) {
        return Outcome::Reply(response);
    }
    let room = Room::for_an_answer();
    let mut named = request.topic_partitions.iter().flatten();
    if !named.all(|topic| room.admits_texts(topic.partitions.len(), &topic.topic)) {
        return Outcome::Close(TOO_LARGE);
    }
    if let Some(error) = refusal(request) {
        let results = results(request, |_, _| error.clone());
        return Outcome::Reply(response.with_error_code(error.code()).with_replica_election_results(results));
    }
    let topics = super::lock(&ctx.services.topics);
    let catalog = topics.catalog();
    let results = match request.topic_partitions {
        Some(_) => results(request, |topic, partition| outcome(catalog, topic, partition)),
        // As in Kafka a topic is listed, but not those of its partitions that need no election.
        None => {
            catalog.iter().map(|topic| result_of(&TopicName(text(topic.name.as_str())), vec![])).collect()
        }
    };
    Outcome::Reply(response.with_replica_election_results(results))
}

/// What is wrong with the request as a whole.
fn refusal(request: &ElectLeadersRequest) -> Option<ApiError> {
    if request.timeout_ms <= 0 {
        return Some(ApiError::bare(ResponseError::RequestTimedOut));
    }
    match request.election_type {
        PREFERRED | UNCLEAN => None,
        other => Some(ApiError::new(ResponseError::InvalidRequest, format!("Unknown election type {other}"))),
    }
}

fn outcome(catalog: &Catalog, topic: &TopicName, partition: i32) -> ApiError {
    let unknown = |text| ApiError::new(ResponseError::UnknownTopicOrPartition, text);
    match catalog.by_name(topic) {
        None => unknown(format!("No such topic as {}", topic.as_str())),
        Some(known) if !known.has_partition(partition) => {
            unknown(format!("No such partition as {}-{partition}", topic.as_str()))
        }
        Some(_) => {
            let text = "Leader election not needed for topic partition.";
            ApiError::new(ResponseError::ElectionNotNeeded, text)
        }
    }
}

fn results(
    request: &ElectLeadersRequest,
    outcome: impl Fn(&TopicName, i32) -> ApiError,
) -> Vec<ReplicaElectionResult> {
    let of_partition = |topic: &TopicName, partition: i32| {
        let error = outcome(topic, partition);
        PartitionResult::default()
            .with_partition_id(partition)
            .with_error_code(error.code())
            .with_error_message(error.message())
    };
    let topics = request.topic_partitions.iter().flatten();
    topics
        .map(|named| {
            let partitions = named.partitions.iter().map(|&partition| of_partition(&named.topic, partition));
            result_of(&named.topic, partitions.collect())
        })
        .collect()
}

fn result_of(topic: &TopicName, partitions: Vec<PartitionResult>) -> ReplicaElectionResult {
    ReplicaElectionResult::default().with_topic(topic.clone()).with_partition_result(partitions)
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::elect_leaders_request::TopicPartitions;

    use super::*;
    use crate::api::testing::Broker;

    fn request(topics: Option<&[(&str, &[i32])]>) -> ElectLeadersRequest {
        let topic = |(name, partitions): &(&str, &[i32])| {
            TopicPartitions::default().with_topic(TopicName(text(name))).with_partitions(partitions.to_vec())
        };
        ElectLeadersRequest::default()
            .with_timeout_ms(1)
            .with_topic_partitions(topics.map(|topics| topics.iter().map(topic).collect()))
    }

    type Results = Vec<(String, Vec<(i32, i16, Option<String>)>)>;

    fn call(version: i16, request: &ElectLeadersRequest) -> (i16, Results) {
        let broker = Broker::with_topics(&[("t", 1), ("u", 1)]);
        let answer = broker.call(version, request, |ctx, _, request| handle(ctx, request));
        let partition = |result: &PartitionResult| {
            (result.partition_id, result.error_code, result.error_message.as_ref().map(ToString::to_string))
        };
        let results = answer.replica_election_results.iter().map(|result| {
            (result.topic.to_string(), result.partition_result.iter().map(partition).collect())
        });
        (answer.error_code, results.collect())
    }

    #[test]
    fn each_partition_hears_why_not() {
        let not_needed = "Leader election not needed for topic partition.".to_owned();
        for version in 0..=2 {
            let answer = call(version, &request(Some(&[("t", &[0, 7, 0]), ("nope", &[0])])));
            let expected = vec![
                (
                    "t".to_owned(),
                    vec![
                        (0, 84, Some(not_needed.clone())),
                        (7, 3, Some("No such partition as t-7".to_owned())),
                        (0, 84, Some(not_needed.clone())),
                    ],
                ),
                ("nope".to_owned(), vec![(0, 3, Some("No such topic as nope".to_owned()))]),
            ];
            assert_eq!(answer, (0, expected));
        }
    }

    #[test]
    fn an_answer_that_would_be_too_large_closes_the_connection() {
        let (broker, name) = (Broker::with(&[]), "t".repeat(30_000));
        let asked = request(Some(&[(&name, &[0; 8_000])]));
        assert!(matches!(handle(&broker.context(), &asked), Outcome::Close(_)));
    }

    #[test]
    fn all_topics_are_listed_if_none_is_named() {
        let all = vec![("t".to_owned(), vec![]), ("u".to_owned(), vec![])];
        for version in 0..=2 {
            assert_eq!(call(version, &request(None)), (0, all.clone()));
            assert_eq!(call(version, &request(Some(&[]))), (0, vec![]));
        }
        assert_eq!(call(2, &request(None).with_election_type(UNCLEAN)), (0, all));
    }

    #[test]
    fn a_type_that_is_unknown_or_no_time_refuses_everything() {
        let asked = request(Some(&[("t", &[0])]));
        let unknown = vec![("t".to_owned(), vec![(0, 42, Some("Unknown election type 9".to_owned()))])];
        assert_eq!(call(2, &asked.clone().with_election_type(9)), (42, unknown));
        assert_eq!(call(2, &request(None).with_election_type(9)), (42, vec![]));
        let late = vec![("t".to_owned(), vec![(0, 7, None)])];
        assert_eq!(call(2, &asked.with_election_type(9).with_timeout_ms(0)), (7, late));
        assert_eq!(call(2, &request(None).with_timeout_ms(0)), (7, vec![]));
        assert_eq!(call(2, &request(Some(&[])).with_timeout_ms(0)), (0, vec![]));
    }
}
