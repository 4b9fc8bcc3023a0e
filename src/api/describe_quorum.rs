//! DescribeQuorum (key 55), versions 0–2. 1: when replicas fetched (KIP-836). 2: texts, directories and the addresses
//! of the nodes (KIP-853).
//!
//! The one node leads a quorum of itself. Source: Kafka's `KafkaRaftClient.handleDescribeQuorumRequest`,
//! `DescribeQuorumRequest.getPartitionLevelErrorResponse`.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_quorum_response::{
    Listener, Node, PartitionData, ReplicaState, TopicData,
};
use kafka_protocol::messages::{BrokerId, DescribeQuorumRequest, DescribeQuorumResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::{Context, Outcome};
use crate::catalog::name::CLUSTER_METADATA;

/// As Kafka numbers the first leader of a node that has just started.
const QUORUM_LEADER_EPOCH: i32 = 1;

// Differs from Kafka: there is no metadata log. Its end offset is 0, and its controller is where the broker is.
pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &DescribeQuorumRequest,
) -> Outcome<DescribeQuorumResponse> {
    let response = DescribeQuorumResponse::default();
    if request.topics.is_empty() {
        return Outcome::Reply(response);
    }
    let is_the_log = matches!(
        request.topics.as_slice(),
        [topic] if topic.topic_name.as_str() == CLUSTER_METADATA
            && matches!(topic.partitions.as_slice(), [only] if only.partition_index == 0)
    );
    let topics = request.topics.iter().map(|topic| {
        let partitions = topic
            .partitions
            .iter()
            .map(|asked| if is_the_log { quorum(ctx, version) } else { unknown(asked.partition_index) });
        TopicData::default().with_topic_name(topic.topic_name.clone()).with_partitions(partitions.collect())
    });
    let nodes = if is_the_log && version >= 2 { vec![node(ctx)] } else { Vec::new() };
    Outcome::Reply(response.with_topics(topics.collect()).with_nodes(nodes))
}

fn quorum(ctx: &Context<'_>, version: i16) -> PartitionData {
    let id = BrokerId(ctx.services.config.node_id);
    let now = if version >= 1 { ctx.now.wall.0 } else { -1 };
    let voter = ReplicaState::default()
        .with_replica_id(id)
        .with_log_end_offset(0)
        .with_last_fetch_timestamp(now)
        .with_last_caught_up_timestamp(now);
    PartitionData::default()
        .with_leader_id(id)
        .with_leader_epoch(QUORUM_LEADER_EPOCH)
        .with_current_voters(vec![voter])
}

fn unknown(index: i32) -> PartitionData {
    PartitionData::default()
        .with_partition_index(index)
        .with_error_code(ResponseError::UnknownTopicOrPartition.code())
        .with_error_message(Some(text("This server does not host this topic-partition.")))
}

fn node(ctx: &Context<'_>) -> Node {
    let (host, port) = &ctx.services.advertised;
    let listener = Listener::default()
        .with_name(StrBytes::from_static_str("CONTROLLER"))
        .with_host(text(host))
        .with_port(*port);
    Node::default().with_node_id(BrokerId(ctx.services.config.node_id)).with_listeners(vec![listener])
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::TopicName;
    use kafka_protocol::messages::describe_quorum_request::{
        PartitionData as AskedPartition, TopicData as AskedTopic,
    };

    use super::*;
    use crate::api::testing::{Broker, NOW};

    fn ask(version: i16, topics: &[(&str, &[i32])]) -> DescribeQuorumResponse {
        let topics = topics.iter().map(|(name, partitions)| {
            let partitions =
                partitions.iter().map(|&index| AskedPartition::default().with_partition_index(index));
            AskedTopic::default().with_topic_name(TopicName(text(name))).with_partitions(partitions.collect())
        });
        let request = DescribeQuorumRequest::default().with_topics(topics.collect());
        Broker::with(&[]).call(version, &request, handle)
    }

    #[test]
    fn the_node_leads_itself() {
        for version in 0..=2 {
            let answer = ask(version, &[("__cluster_metadata", &[0])]);
            let partition = &answer.topics[0].partitions[0];
            assert_eq!((answer.error_code, partition.error_code), (0, 0));
            assert_eq!((partition.leader_id, partition.leader_epoch), (BrokerId(1), 1));
            assert!(partition.observers.is_empty());
            let [voter] = &partition.current_voters[..] else { panic!("{:?}", partition.current_voters) };
            let fetched = if version == 0 { -1 } else { NOW.wall.0 };
            assert_eq!((voter.replica_id, voter.last_fetch_timestamp), (BrokerId(1), fetched));
            let texts = (answer.error_message.as_deref(), partition.error_message.as_deref());
            assert_eq!(texts, (Some(""), Some("")));
            assert_eq!(answer.nodes.len(), usize::from(version == 2));
        }
        let listener = &ask(2, &[("__cluster_metadata", &[0])]).nodes[0].listeners[0];
        assert_eq!((&*listener.name, &*listener.host, listener.port), ("CONTROLLER", "127.0.0.1", 9092));
    }

    #[test]
    fn there_is_no_other_quorum() {
        let log = "__cluster_metadata";
        let cases: &[&[(&str, &[i32])]] =
            &[&[("foo", &[0])], &[(log, &[1])], &[(log, &[0, 1])], &[(log, &[0]), ("foo", &[0])]];
        for topics in cases {
            let answer = ask(2, topics);
            assert_eq!((answer.error_code, answer.nodes.len(), answer.topics.len()), (0, 0, topics.len()));
            for partition in answer.topics.iter().flat_map(|topic| &topic.partitions) {
                assert_eq!((partition.error_code, partition.leader_id), (3, BrokerId(0)));
                let text = "This server does not host this topic-partition.";
                assert_eq!(partition.error_message.as_deref(), Some(text));
            }
        }
        assert!(ask(2, &[]).topics.is_empty());
        assert!(ask(2, &[(log, &[])]).topics[0].partitions.is_empty());
    }
}
