//! WriteTxnMarkers (key 27), versions 1–2: the end of transactions, from the coordinator of another broker or from an
//! administrator who ends one that hangs (`kafka-transactions.sh abort`). 2: the version of the transaction (KIP-1228).

use kafka_protocol::ResponseError;

use super::{Context, Outcome, error_code, lock, wake};
use crate::catalog::name::CONSUMER_OFFSETS;
use crate::coordinator::command::EndTransaction;
use crate::log::{TopicIdPartition, TransactionMarker};
use crate::types::ProducerIdAndEpoch;
use crate::wire::kafka_4_4::{
    WritableTxnMarker, WritableTxnMarkerPartitionResult, WritableTxnMarkerResult, WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult, WriteTxnMarkersRequest, WriteTxnMarkersResponse,
};

/// The first version in which a marker has a newer epoch than the records (KIP-890).
const EPOCH_BUMP_SINCE: i8 = 2;

pub(super) fn handle(
    ctx: &Context<'_>,
    request: &WriteTxnMarkersRequest,
) -> Outcome<WriteTxnMarkersResponse> {
    let mut markers: Vec<WritableTxnMarkerResult> = Vec::new();
    for marker in &request.markers {
        let topics = marker.topics.iter().map(|topic| write(ctx, marker, topic));
        let topics: Vec<_> = topics.collect();
        // What is said of one producer goes together.
        match markers.iter_mut().find(|other| other.producer_id == marker.producer_id) {
            Some(other) => other.topics.extend(topics),
            None => markers.push(WritableTxnMarkerResult { producer_id: marker.producer_id, topics }),
        }
    }
    Outcome::Reply(WriteTxnMarkersResponse { markers })
}

fn write(
    ctx: &Context<'_>,
    marker: &WritableTxnMarker,
    topic: &WritableTxnMarkerTopic,
) -> WritableTxnMarkerTopicResult {
    let partitions = topic.partition_indexes.iter().map(|&partition_index| {
        let written = write_one(ctx, marker, topic.name.as_str(), partition_index);
        let error_code = written.err().map_or(0, |error| error.code());
        WritableTxnMarkerPartitionResult { partition_index, error_code }
    });
    WritableTxnMarkerTopicResult { name: topic.name.clone(), partitions: partitions.collect() }
}

fn write_one(
    ctx: &Context<'_>,
    marker: &WritableTxnMarker,
    topic: &str,
    partition: i32,
) -> Result<(), ResponseError> {
    let mut topics = lock(&ctx.services.topics);
    let (catalog, log) = topics.split();
    let found = catalog.by_name(topic).filter(|found| found.has_partition(partition));
    let found = found.ok_or(ResponseError::UnknownTopicOrPartition)?;
    if marker.producer_id < 0 || marker.producer_epoch < 0 {
        // Kafka fails to make such a batch.
        return Err(ResponseError::UnknownServerError);
    }
    if topic == CONSUMER_OFFSETS {
        drop(topics);
        let end = EndTransaction { producer_id: marker.producer_id, committed: marker.transaction_result };
        ctx.services.groups.end_transaction(ctx.now, partition, end);
        return Ok(());
    }
    let place = TopicIdPartition { topic: found.id, partition };
    let written = log.end_transaction(
        ctx.now,
        place,
        &TransactionMarker {
            producer: ProducerIdAndEpoch { id: marker.producer_id, epoch: marker.producer_epoch },
            committed: marker.transaction_result,
            bumps_epoch: marker.transaction_version >= EPOCH_BUMP_SINCE,
            coordinator_epoch: marker.coordinator_epoch,
        },
    );
    let ready = log.take_ready();
    drop(topics);
    wake(ctx.services, &ready);
    written.map_err(|error| error_code::of_log(&error))
}
