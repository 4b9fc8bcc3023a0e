//! DescribeLogDirs (key 35), versions 1–5. 3: an error for all. 4: the volume (KIP-827). 5: cordoned (KIP-1066).

use std::collections::{BTreeMap, BTreeSet};

use super::convert::text;
use super::{Context, Outcome, log_dir};
use crate::catalog::Topic;
use crate::log::{Isolation, Log, TopicIdPartition};
use crate::wire::kafka_4_4::{
    DescribeLogDirsPartition, DescribeLogDirsRequest, DescribeLogDirsResponse, DescribeLogDirsResult,
    DescribeLogDirsTopic,
};

/// Partitions by topic, each once.
type Asked<'a> = BTreeMap<&'a str, BTreeSet<i32>>;

/// Tells the size of each partition that is asked for and exists.
// Differs from Kafka: the size of the volume is the memory that records may take.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &DescribeLogDirsRequest,
) -> Outcome<DescribeLogDirsResponse> {
    let asked = request.topics.as_ref().map(|topics| {
        let mut asked = Asked::new();
        for topic in topics {
            asked.entry(topic.topic.as_str()).or_default().extend(&topic.partitions);
        }
        asked
    });
    let topics = super::lock(&ctx.services.topics);
    let described = topics.catalog().iter().map(|topic| match &asked {
        None => describe(&topics.log, topic, 0..topic.partitions),
        Some(asked) => {
            let partitions = asked.get(topic.name.as_str()).into_iter().flatten().copied();
            describe(&topics.log, topic, partitions)
        }
    });
    let result = DescribeLogDirsResult {
        log_dir: text(&log_dir::path(&ctx.services.config)),
        topics: described.filter(|topic| !topic.partitions.is_empty()).collect(),
        total_bytes: bytes(topics.log.bytes_max()),
        usable_bytes: bytes(topics.log.room()),
        ..DescribeLogDirsResult::default()
    };
    Outcome::Reply(DescribeLogDirsResponse { results: vec![result], ..DescribeLogDirsResponse::default() })
}

fn describe(log: &Log, topic: &Topic, partitions: impl Iterator<Item = i32>) -> DescribeLogDirsTopic {
    let size = |partition| {
        let place = TopicIdPartition { topic: topic.id, partition };
        log.bytes_from(place, log.log_start_offset(place).ok()?, Isolation::ReadUncommitted).ok()
    };
    let partitions = partitions.filter_map(|partition| {
        Some(DescribeLogDirsPartition {
            partition_index: partition,
            partition_size: bytes(size(partition)?),
            ..DescribeLogDirsPartition::default()
        })
    });
    DescribeLogDirsTopic { name: text(topic.name.as_str()), partitions: partitions.collect() }
}

fn bytes(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::Broker;
    use crate::wire::kafka_4_4::DescribableLogDirTopic;

    fn call(broker: &Broker, version: i16, topics: Option<&[(&str, &[i32])]>) -> DescribeLogDirsResult {
        let topic = |(name, partitions): &(&str, &[i32])| DescribableLogDirTopic {
            topic: text(name),
            partitions: partitions.to_vec(),
        };
        let topics = topics.map(|topics| topics.iter().map(topic).collect());
        let request = DescribeLogDirsRequest { topics };
        let mut answer = broker.call(version, &request, |ctx, _, request| handle(ctx, request));
        assert_eq!((answer.error_code, answer.results.len()), (0, 1));
        answer.results.remove(0)
    }

    fn found(result: &DescribeLogDirsResult) -> Vec<(&str, Vec<i32>)> {
        let indexes =
            |topic: &DescribeLogDirsTopic| topic.partitions.iter().map(|p| p.partition_index).collect();
        result.topics.iter().map(|topic| (topic.name.as_str(), indexes(topic))).collect()
    }

    #[test]
    fn every_version_tells_sizes() {
        let broker = Broker::with_topics(&[("t", 2), ("u", 1)]);
        broker.append("t", 1, 3);
        for version in 1..=5 {
            let result = call(&broker, version, None);
            assert_eq!(found(&result), [("t", vec![0, 1]), ("u", vec![0])]);
            assert_eq!((result.error_code, result.log_dir.as_str()), (0, "/tmp/kafka-logs"));
            let sizes: Vec<_> = result.topics[0].partitions.iter().map(|p| p.partition_size).collect();
            assert!(sizes[0] == 0 && sizes[1] > 0, "{sizes:?}");
            if version >= 4 {
                assert_eq!(result.total_bytes, 1 << 20);
                assert!(result.usable_bytes < result.total_bytes && result.usable_bytes > 0);
            } else {
                assert_eq!((result.total_bytes, result.usable_bytes), (-1, -1));
            }
        }
    }

    #[test]
    fn what_does_not_exist_is_left_out_and_nothing_is_told_twice() {
        let broker = Broker::with_topics(&[("t", 2)]);
        let topics: &[(&str, &[i32])] = &[("t", &[1, 7, 1]), ("nope", &[0]), ("t", &[1, -1])];
        assert_eq!(found(&call(&broker, 5, Some(topics))), [("t", vec![1])]);
        assert_eq!(found(&call(&broker, 5, Some(&[("t", &[])]))), []);
        assert_eq!(found(&call(&broker, 5, Some(&[]))), []);
    }
}
