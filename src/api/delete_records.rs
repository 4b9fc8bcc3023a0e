//! DeleteRecords (key 21), versions 0–2: moves the first offset of partitions (KIP-107).

use kafka_protocol::ResponseError;
use kafka_protocol::messages::delete_records_request::DeleteRecordsPartition;
use kafka_protocol::messages::delete_records_response::{
    DeleteRecordsPartitionResult, DeleteRecordsTopicResult,
};
use kafka_protocol::messages::{DeleteRecordsRequest, DeleteRecordsResponse};

use super::{Context, Outcome, error_code, lock, wake};
use crate::catalog::Topic;
use crate::log::TopicIdPartition;
use crate::topics::Topics;

/// The offset that stands for the high watermark.
const HIGH_WATERMARK: i64 = -1;

pub(super) fn handle(ctx: &Context<'_>, request: &DeleteRecordsRequest) -> Outcome<DeleteRecordsResponse> {
    let mut topics = lock(&ctx.services.topics);
    let mut answers = Vec::new();
    for asked in &request.topics {
        let topic = topics.catalog().by_name(&asked.name).cloned();
        let partitions = asked.partitions.iter().map(|partition| {
            let deleted = delete(&mut topics, topic.as_deref(), partition);
            respond(partition.partition_index, deleted)
        });
        answers.push(
            DeleteRecordsTopicResult::default()
                .with_name(asked.name.clone())
                .with_partitions(partitions.collect()),
        );
    }
    let ready = topics.log.take_ready();
    drop(topics);
    wake(ctx.services, &ready);
    Outcome::Reply(DeleteRecordsResponse::default().with_topics(answers))
}

/// Returns the first offset that is left.
fn delete(
    topics: &mut Topics,
    topic: Option<&Topic>,
    partition: &DeleteRecordsPartition,
) -> Result<i64, ResponseError> {
    let index = partition.partition_index;
    let topic =
        topic.filter(|topic| topic.has_partition(index)).ok_or(ResponseError::UnknownTopicOrPartition)?;
    if topic.internal {
        return Err(ResponseError::InvalidTopicException);
    }
    let offset = (partition.offset != HIGH_WATERMARK).then_some(partition.offset);
    let place = TopicIdPartition { topic: topic.id, partition: index };
    topics.log.delete_records(place, offset).map_err(|error| error_code::of_log(&error))
}

fn respond(index: i32, deleted: Result<i64, ResponseError>) -> DeleteRecordsPartitionResult {
    let (error_code, low_watermark) = match deleted {
        Ok(low_watermark) => (0, low_watermark),
        Err(error) => (error.code(), -1),
    };
    DeleteRecordsPartitionResult::default()
        .with_partition_index(index)
        .with_low_watermark(low_watermark)
        .with_error_code(error_code)
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::TopicName;
    use kafka_protocol::messages::delete_records_request::DeleteRecordsTopic;
    use kafka_protocol::protocol::StrBytes;

    use super::*;
    use crate::api::testing::Broker;

    /// Low watermark and error.
    fn delete(broker: &Broker, topic: &'static str, partition: i32, offset: i64) -> (i64, i16) {
        let partition = DeleteRecordsPartition::default().with_partition_index(partition).with_offset(offset);
        let topic = DeleteRecordsTopic::default()
            .with_name(TopicName(StrBytes::from_static_str(topic)))
            .with_partitions(vec![partition]);
        let request = DeleteRecordsRequest::default().with_topics(vec![topic]);
        let answer = broker.call(2, &request, |ctx, _, request| handle(ctx, request));
        let partition = &answer.topics[0].partitions[0];
        (partition.low_watermark, partition.error_code)
    }

    // Seen on Kafka 4.4.0.
    #[test]
    fn the_first_offset_moves() {
        let broker = Broker::with_topics(&[("t", 1), ("__consumer_offsets", 1)]);
        broker.append("t", 0, 12);
        assert_eq!(delete(&broker, "t", 0, 4), (4, 0));
        assert_eq!(delete(&broker, "t", 0, 2), (4, 0));
        assert_eq!(delete(&broker, "t", 0, -2), (-1, 1));
        assert_eq!(delete(&broker, "t", 0, 13), (-1, 1));
        assert_eq!(delete(&broker, "t", 0, -1), (12, 0));
        assert_eq!(delete(&broker, "t", 1, -1), (-1, 3));
        assert_eq!(delete(&broker, "nope", 0, -1), (-1, 3));
        assert_eq!(delete(&broker, "__consumer_offsets", 0, -1), (-1, 17));
        assert_eq!(delete(&broker, "__consumer_offsets", 99, -1), (-1, 3));
    }

    #[test]
    fn a_compacted_topic_keeps_all() {
        let broker = Broker::with(&[("log.cleanup.policy", "compact")]);
        broker.create("t", 1);
        assert_eq!(delete(&broker, "t", 0, -1), (-1, 44));
    }
}
