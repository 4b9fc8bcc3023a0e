//! Which batches of a Produce belong to an open transaction. The log stays locked from here until they are appended, so
//! that the transaction cannot end in between. Source: Kafka's `ReplicaManager.handleProduceAppend`.

use std::sync::Arc;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::ProduceRequest;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::produce_response::PartitionProduceResponse;

use super::{RequestError, with_code};
use crate::api::convert::text;
use crate::api::transactional::{self, Operation};
use crate::api::{Context, error_code};
use crate::catalog::Topic;
use crate::log::{Incoming, LogError, TopicIdPartition, Unverified, Verified};
use crate::topics::Topics;
use crate::txn::transaction::TxnPartition;
use crate::types::ProducerIdAndEpoch;

/// A partition of the request, and its batch if it has one that can be read.
type Parsed<'a> = (&'a TopicProduceData, &'a PartitionProduceData, Option<Result<Incoming<'a>, LogError>>);

/// Why a batch is not appended.
pub(super) enum Refusal {
    /// The log says so.
    Log(LogError),
    /// The coordinator does.
    Coordinator(Operation, ResponseError),
}

impl Refusal {
    pub(super) fn to_answer(&self, index: i32) -> PartitionProduceResponse {
        let (operation, error) = match self {
            Self::Log(error) => return with_code(index, error_code::of_log(error)),
            Self::Coordinator(operation, error) => (*operation, *error),
        };
        match error {
            ResponseError::InvalidTxnState => with_code(index, error)
                .with_error_message(Some(text("Partition was not added to the transaction"))),
            // What comes to nothing for now has an error that old clients know how to repeat.
            ResponseError::CoordinatorNotAvailable => not_enough_replicas(index, "COORDINATOR_NOT_AVAILABLE"),
            ResponseError::ConcurrentTransactions if operation != Operation::Add => {
                not_enough_replicas(index, "CONCURRENT_TRANSACTIONS")
            }
            error => with_code(index, error),
        }
    }
}

fn not_enough_replicas(index: i32, underlying: &str) -> PartitionProduceResponse {
    let message = format!(
        "Unable to verify the partition has been added to the transaction. Underlying error: {underlying}"
    );
    with_code(index, ResponseError::NotEnoughReplicas).with_error_message(Some(text(&message)))
}

/// Says of each partition of the request, in order, whether its batch may be appended as far as transactions go. None at
/// all if there is nothing of a transaction in it.
///
/// # Errors
/// For the request as a whole: there is more than one producer in it.
pub(super) fn verify(
    ctx: &Context<'_>,
    version: i16,
    request: &ProduceRequest,
    topics: &mut Topics,
    parsed: &[Parsed<'_>],
    found: &[Result<Arc<Topic>, ResponseError>],
) -> Result<Vec<Result<Verified, Refusal>>, RequestError> {
    let transactional = |of: &Parsed<'_>, topic: &Result<Arc<Topic>, ResponseError>| {
        let batch = of.2.as_ref()?.as_ref().ok()?;
        let topic = topic.as_ref().ok().filter(|topic| topic.has_partition(of.1.index))?;
        let (producer, sequence) = batch.transaction()?;
        Some((topic.clone(), producer, sequence))
    };
    let batches: Vec<_> = parsed.iter().zip(found).map(|(of, topic)| transactional(of, topic)).collect();
    let Some(producer) = batches.iter().flatten().map(|(_, producer, _)| *producer).next() else {
        return Ok(Vec::new());
    };
    if batches.iter().flatten().any(|(_, other, _)| *other != producer) {
        return Err(RequestError::Said(
            ResponseError::InvalidProducerIdMapping,
            "Transactional records contained more than one producer ID",
        ));
    }

    let operation = Operation::of_produce(version);
    let mut to_ask: Vec<TxnPartition> = Vec::new();
    let mut verdicts: Vec<Option<Result<Verified, Refusal>>> = Vec::new();
    for ((_, partition, _), batch) in parsed.iter().zip(&batches) {
        verdicts.push(match batch {
            None => Some(Ok(Verified::No)),
            Some((topic, _, sequence)) => {
                let place = TopicIdPartition { topic: topic.id, partition: partition.index };
                match topics.log.needs_verification(place, producer) {
                    Ok(false) => Some(Ok(Verified::No)),
                    Err(error) => Some(Err(Refusal::Log(error))),
                    Ok(true) => {
                        let bumps_epoch = operation == Operation::Add;
                        let asked = Unverified { producer, sequence: *sequence, bumps_epoch };
                        topics.log.begin_verification(ctx.now, place, &asked);
                        to_ask.push((topic.name.clone(), partition.index));
                        None
                    }
                }
            }
        });
    }
    let mut asked = ask(ctx, operation, request, producer, &to_ask).into_iter();
    let settle = |verdict: Option<_>| verdict.or_else(|| asked.next()).unwrap_or(Ok(Verified::No));
    Ok(verdicts.into_iter().map(settle).collect())
}

fn ask(
    ctx: &Context<'_>,
    operation: Operation,
    request: &ProduceRequest,
    producer: ProducerIdAndEpoch,
    partitions: &[TxnPartition],
) -> Vec<Result<Verified, Refusal>> {
    if partitions.is_empty() {
        return Vec::new();
    }
    if operation != Operation::Add
        && !ctx.services.live_config.broker().transaction_partition_verification_enable
    {
        return partitions.iter().map(|_| Ok(Verified::Yes)).collect();
    }
    // Without an id the request was refused before.
    let id = request.transactional_id.as_ref().map_or("", |id| id.as_str());
    let outcomes = transactional::ask(ctx, operation, id, producer, partitions);
    let outcome = |outcome: Result<(), ResponseError>| {
        outcome.map(|()| Verified::Yes).map_err(|error| Refusal::Coordinator(operation, error))
    };
    outcomes.into_iter().map(outcome).collect()
}
