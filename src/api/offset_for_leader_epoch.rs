//! OffsetForLeaderEpoch (key 23), versions 2–4: where the records of a leader epoch end (KIP-320).
//!
//! 3: replica id. Here a partition has had one leader, in epoch 0.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::offset_for_leader_epoch_request::OffsetForLeaderPartition;
use kafka_protocol::messages::offset_for_leader_epoch_response::{
    EpochEndOffset, OffsetForLeaderTopicResult,
};
use kafka_protocol::messages::{OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse};

use super::{Context, Outcome, error_code, lock};
use crate::catalog::Topic;
use crate::log::{LEADER_EPOCH, Log, LogError, TopicIdPartition, check_leader_epoch};
use crate::topics::Topics;

/// What stands for "no epoch" and "no offset".
const UNDEFINED: i32 = -1;

pub(super) fn handle(
    ctx: &Context<'_>,
    request: &OffsetForLeaderEpochRequest,
) -> Outcome<OffsetForLeaderEpochResponse> {
    let topics = lock(&ctx.services.topics);
    let answers = request.topics.iter().map(|asked| {
        let topic = topics.catalog().by_name(&asked.topic);
        let partitions = asked.partitions.iter().map(|partition| {
            let found = find(&topics, topic.map(AsRef::as_ref), partition);
            respond(partition.partition, found)
        });
        OffsetForLeaderTopicResult::default()
            .with_topic(asked.topic.clone())
            .with_partitions(partitions.collect())
    });
    Outcome::Reply(OffsetForLeaderEpochResponse::default().with_topics(answers.collect()))
}

fn find(
    topics: &Topics,
    topic: Option<&Topic>,
    asked: &OffsetForLeaderPartition,
) -> Result<(i32, i64), ResponseError> {
    let topic = topic.ok_or(ResponseError::UnknownTopicOrPartition)?;
    let place = TopicIdPartition { topic: topic.id, partition: asked.partition };
    end_of_epoch(&topics.log, place, asked).map_err(|error| error_code::of_log(&error))
}

/// The epoch, and the offset behind its last record.
fn end_of_epoch(
    log: &Log,
    place: TopicIdPartition,
    asked: &OffsetForLeaderPartition,
) -> Result<(i32, i64), LogError> {
    let high_watermark = log.high_watermark(place)?;
    if asked.current_leader_epoch != UNDEFINED {
        check_leader_epoch(asked.current_leader_epoch)?;
    }
    Ok(match asked.leader_epoch {
        LEADER_EPOCH => (LEADER_EPOCH, high_watermark),
        // What lies before the first epoch ends where that begins.
        epoch if epoch < UNDEFINED => (epoch, log.log_start_offset(place)?),
        _ => (UNDEFINED, UNDEFINED.into()),
    })
}

fn respond(partition: i32, found: Result<(i32, i64), ResponseError>) -> EpochEndOffset {
    let (error_code, (leader_epoch, end_offset)) = match found {
        Ok(found) => (0, found),
        Err(error) => (error.code(), (UNDEFINED, UNDEFINED.into())),
    };
    EpochEndOffset::default()
        .with_error_code(error_code)
        .with_partition(partition)
        .with_leader_epoch(leader_epoch)
        .with_end_offset(end_offset)
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::TopicName;
    use kafka_protocol::messages::offset_for_leader_epoch_request::OffsetForLeaderTopic;
    use kafka_protocol::protocol::StrBytes;

    use super::*;
    use crate::api::testing::Broker;

    /// Error, epoch and end offset.
    fn ask(broker: &Broker, topic: &'static str, current: i32, epoch: i32) -> (i16, i32, i64) {
        let partition = OffsetForLeaderPartition::default()
            .with_partition(0)
            .with_current_leader_epoch(current)
            .with_leader_epoch(epoch);
        let topic = OffsetForLeaderTopic::default()
            .with_topic(TopicName(StrBytes::from_static_str(topic)))
            .with_partitions(vec![partition]);
        let request = OffsetForLeaderEpochRequest::default().with_topics(vec![topic]);
        let answer = broker.call(4, &request, |ctx, _, request| handle(ctx, request));
        let partition = &answer.topics[0].partitions[0];
        (partition.error_code, partition.leader_epoch, partition.end_offset)
    }

    // Seen on Kafka 4.4.0.
    #[test]
    fn the_only_epoch_ends_with_the_log() {
        let broker = Broker::with_topics(&[("t", 1)]);
        broker.append("t", 0, 12);
        broker.delete_records("t", 0, 7);
        assert_eq!(ask(&broker, "t", -1, 0), (0, 0, 12));
        assert_eq!(ask(&broker, "t", 0, 0), (0, 0, 12));
        assert_eq!(ask(&broker, "t", -1, 1), (0, -1, -1));
        assert_eq!(ask(&broker, "t", -1, -1), (0, -1, -1));
        assert_eq!(ask(&broker, "t", -1, -5), (0, -5, 7));
        assert_eq!(ask(&broker, "t", 1, 0), (75, -1, -1));
        assert_eq!(ask(&broker, "t", -2, 0), (74, -1, -1));
        assert_eq!(ask(&broker, "nope", -1, 0), (3, -1, -1));
    }
}
