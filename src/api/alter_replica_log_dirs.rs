//! AlterReplicaLogDirs (key 34), versions 1–2. There is one log directory, and a replica can only stay there.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::alter_replica_log_dirs_request::AlterReplicaLogDirTopic;
use kafka_protocol::messages::alter_replica_log_dirs_response::{
    AlterReplicaLogDirPartitionResult, AlterReplicaLogDirTopicResult,
};
use kafka_protocol::messages::{AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse};

use super::{Context, Outcome, log_dir};

/// Says of each replica whether it is where it shall be.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &AlterReplicaLogDirsRequest,
) -> Outcome<AlterReplicaLogDirsResponse> {
    let here = log_dir::path(&ctx.services.config);
    let topics = super::lock(&ctx.services.topics);
    let outcome = |path: &str, topic: &AlterReplicaLogDirTopic, partition| {
        if path != here {
            return ResponseError::LogDirNotFound.code();
        }
        match topics.catalog().by_name(&topic.name) {
            Some(known) if known.has_partition(partition) => 0,
            _ => ResponseError::UnknownTopicOrPartition.code(),
        }
    };
    let results = request.dirs.iter().flat_map(|dir| dir.topics.iter().map(move |topic| (dir, topic)));
    let results = results.map(|(dir, topic)| {
        let partitions = topic.partitions.iter().map(|&partition| {
            AlterReplicaLogDirPartitionResult::default()
                .with_partition_index(partition)
                .with_error_code(outcome(&dir.path, topic, partition))
        });
        AlterReplicaLogDirTopicResult::default()
            .with_topic_name(topic.name.clone())
            .with_partitions(partitions.collect())
    });
    Outcome::Reply(AlterReplicaLogDirsResponse::default().with_results(results.collect()))
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::TopicName;
    use kafka_protocol::messages::alter_replica_log_dirs_request::AlterReplicaLogDir;

    use super::*;
    use crate::api::convert::text;
    use crate::api::testing::Broker;

    #[test]
    fn a_replica_can_only_stay_where_it_is() {
        let topic = |name| {
            AlterReplicaLogDirTopic::default().with_name(TopicName(text(name))).with_partitions(vec![0, 7])
        };
        for version in 1..=2 {
            for (path, expected) in [("/tmp/kafka-logs", [0, 3, 3, 3]), ("/nope", [57; 4]), ("", [57; 4])] {
                let dir = AlterReplicaLogDir::default()
                    .with_path(text(path))
                    .with_topics(vec![topic("t"), topic("nope")]);
                let request = AlterReplicaLogDirsRequest::default().with_dirs(vec![dir]);
                let broker = Broker::with_topics(&[("t", 1)]);
                let answer = broker.call(version, &request, |ctx, _, request| handle(ctx, request));
                let codes = answer.results.iter().flat_map(|topic| &topic.partitions).map(|p| p.error_code);
                assert_eq!(codes.collect::<Vec<_>>(), expected);
            }
        }
    }
}
