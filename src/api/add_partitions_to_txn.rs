//! AddPartitionsToTxn (key 24), versions 0–5: what a transaction is about to write to.
//!
//! 0–3 come from clients. 2: PRODUCER_FENCED. 4: from brokers, several transactions at once, or only to verify
//! (KIP-890).

use std::collections::BTreeSet;

use kafka_protocol::ResponseError;
use kafka_protocol::messages::add_partitions_to_txn_request::{
    AddPartitionsToTxnTopic, AddPartitionsToTxnTransaction,
};
use kafka_protocol::messages::add_partitions_to_txn_response::{
    AddPartitionsToTxnPartitionResult, AddPartitionsToTxnResult, AddPartitionsToTxnTopicResult,
};
use kafka_protocol::messages::{AddPartitionsToTxnRequest, AddPartitionsToTxnResponse};

use super::{Context, Outcome, transactional};
use crate::catalog::name;
use crate::txn::command::AddPartitions;
use crate::txn::transaction::{ClientVersion, TxnPartition};
use crate::types::{ProducerIdAndEpoch, TopicName};

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &AddPartitionsToTxnRequest,
) -> Outcome<AddPartitionsToTxnResponse> {
    let answer = AddPartitionsToTxnResponse::default();
    if version < 4 {
        let transaction = AddPartitionsToTxnTransaction::default()
            .with_transactional_id(request.v3_and_below_transactional_id.clone())
            .with_producer_id(request.v3_and_below_producer_id)
            .with_producer_epoch(request.v3_and_below_producer_epoch)
            .with_topics(request.v3_and_below_topics.clone());
        return Outcome::Reply(answer.with_results_by_topic_v3_and_below(results(
            ctx,
            version,
            &transaction,
        )));
    }
    // A transaction that is there twice counts once: Kafka keeps them in a set of the request.
    let mut seen = BTreeSet::new();
    let transactions = request.transactions.iter().filter(|of| seen.insert(&of.transactional_id));
    let results = transactions.map(|transaction| {
        AddPartitionsToTxnResult::default()
            .with_transactional_id(transaction.transactional_id.clone())
            .with_topic_results(results(ctx, version, transaction))
    });
    Outcome::Reply(answer.with_results_by_transaction(results.collect()))
}

fn results(
    ctx: &Context<'_>,
    version: i16,
    transaction: &AddPartitionsToTxnTransaction,
) -> Vec<AddPartitionsToTxnTopicResult> {
    let (known, all_known) = known_partitions(ctx, version, &transaction.topics);
    if !all_known {
        return answer(&transaction.topics, |topic, partition| {
            if version < 4 && name::is_internal(topic) {
                ResponseError::TopicAuthorizationFailed.code()
            } else if known.contains(&(TopicName::from(topic), partition)) {
                ResponseError::OperationNotAttempted.code()
            } else {
                ResponseError::UnknownTopicOrPartition.code()
            }
        });
    }
    let known: Vec<TxnPartition> = known.into_iter().collect();
    let add = AddPartitions {
        transactional_id: &transaction.transactional_id,
        producer: ProducerIdAndEpoch { id: transaction.producer_id.0, epoch: transaction.producer_epoch },
        partitions: &known,
        version: if version > 3 { ClientVersion::V2 } else { ClientVersion::V1 },
    };
    let outcome = if let Err(error) = transactional::check_coordinator(ctx)
        && !add.transactional_id.is_empty()
    {
        return answer(&transaction.topics, |_, _| error.code());
    } else if transaction.verify_only {
        ctx.services.transactions.verify_partitions(ctx.now, &add)
    } else {
        let added = ctx.services.transactions.add_partitions(ctx.now, &add);
        added.map(|()| vec![Ok(()); known.len()])
    };
    match outcome {
        Err(error) => answer(&transaction.topics, |_, _| transactional::code(version, error)),
        Ok(outcomes) => answer(&transaction.topics, |topic, partition| {
            let asked = (TopicName::from(topic), partition);
            match known.binary_search(&asked).map(|place| outcomes[place]) {
                Ok(Err(error)) => transactional::code(version, error),
                Ok(Ok(())) | Err(_) => 0,
            }
        }),
    }
}

/// The partitions that the broker has, in order, and whether it has all of them. Those of internal topics are for brokers.
fn known_partitions(
    ctx: &Context<'_>,
    version: i16,
    topics: &[AddPartitionsToTxnTopic],
) -> (BTreeSet<TxnPartition>, bool) {
    let catalog = super::lock(&ctx.services.topics);
    let catalog = catalog.catalog();
    let mut known = BTreeSet::new();
    let mut all_known = true;
    for topic in topics {
        let found = catalog.by_name(&topic.name).filter(|found| version >= 4 || !found.internal);
        for partition in &topic.partitions {
            match found.filter(|found| found.has_partition(*partition)) {
                Some(found) => {
                    known.insert((found.name.clone(), *partition));
                }
                None => all_known = false,
            }
        }
    }
    (known, all_known)
}

fn answer(
    topics: &[AddPartitionsToTxnTopic],
    code: impl Fn(&str, i32) -> i16,
) -> Vec<AddPartitionsToTxnTopicResult> {
    let partition = |topic: &AddPartitionsToTxnTopic, partition: i32| {
        AddPartitionsToTxnPartitionResult::default()
            .with_partition_index(partition)
            .with_partition_error_code(code(topic.name.as_str(), partition))
    };
    let topics = topics.iter().map(|topic| {
        let partitions = topic.partitions.iter().map(|index| partition(topic, *index));
        AddPartitionsToTxnTopicResult::default()
            .with_name(topic.name.clone())
            .with_results_by_partition(partitions.collect())
    });
    topics.collect()
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::{ProducerId, TopicName as WireName, TransactionalId};
    use kafka_protocol::protocol::StrBytes;

    use super::*;
    use crate::api::testing::Broker;
    use crate::txn::command::InitProducerId;

    fn broker() -> Broker {
        let broker = Broker::with_topics(&[("t", 2), ("__transaction_state", 1), ("__consumer_offsets", 1)]);
        let init = InitProducerId { transactional_id: Some("x"), timeout_ms: 1_000, expected: None };
        broker.services.transactions.init_producer_id(crate::api::testing::NOW, &init).expect("an id");
        broker
    }

    fn topic(name: &'static str, partitions: &[i32]) -> AddPartitionsToTxnTopic {
        AddPartitionsToTxnTopic::default()
            .with_name(WireName(StrBytes::from_static_str(name)))
            .with_partitions(partitions.to_vec())
    }

    /// The codes that a request for these partitions gets.
    fn ask(
        broker: &Broker,
        version: i16,
        (id, producer, epoch, verify_only): (&'static str, i64, i16, bool),
        topics: &[AddPartitionsToTxnTopic],
    ) -> Vec<i16> {
        let id = TransactionalId(StrBytes::from_static_str(id));
        let request = AddPartitionsToTxnRequest::default();
        let request = if version < 4 {
            request
                .with_v3_and_below_transactional_id(id)
                .with_v3_and_below_producer_id(ProducerId(producer))
                .with_v3_and_below_producer_epoch(epoch)
                .with_v3_and_below_topics(topics.to_vec())
        } else {
            let transaction = AddPartitionsToTxnTransaction::default()
                .with_transactional_id(id)
                .with_producer_id(ProducerId(producer))
                .with_producer_epoch(epoch)
                .with_verify_only(verify_only)
                .with_topics(topics.to_vec());
            request.with_transactions(vec![transaction])
        };
        let mut answer = broker.call(version, &request, handle);
        let topics = if version < 4 {
            answer.results_by_topic_v3_and_below
        } else {
            answer.results_by_transaction.remove(0).topic_results
        };
        topics.iter().flat_map(|t| t.results_by_partition.iter().map(|p| p.partition_error_code)).collect()
    }

    // Seen on Kafka 4.4.0.
    #[test]
    fn all_partitions_are_added_or_none() {
        let good = ("x", 0, 0, false);
        for version in 0..=5 {
            let broker = broker();
            assert_eq!(ask(&broker, version, good, &[topic("t", &[0, 7]), topic("nope", &[0])]), [55, 3, 3]);
            let internal =
                ask(&broker, version, good, &[topic("__consumer_offsets", &[0]), topic("t", &[0])]);
            assert_eq!(internal, if version < 4 { [29, 55] } else { [0, 0] });
            assert_eq!(ask(&broker, version, ("y", 0, 0, false), &[topic("t", &[0])]), [49]);
            assert_eq!(ask(&broker, version, ("", 0, 0, false), &[topic("t", &[0])]), [42]);
            assert_eq!(ask(&broker, version, ("x", 1, 0, false), &[topic("t", &[0])]), [49]);
            let fenced = ask(&broker, version, ("x", 0, 1, false), &[topic("t", &[0, 1])]);
            assert_eq!(fenced, if version < 2 { [47, 47] } else { [90, 90] });
            assert_eq!(ask(&broker, version, good, &[topic("t", &[0, 0])]), [0, 0]);
            if version >= 4 {
                assert_eq!(ask(&broker, version, ("x", 0, 0, true), &[topic("t", &[1, 0])]), [120, 0]);
            }
        }
    }

    #[test]
    fn there_is_no_coordinator_before_somebody_looks_for_it() {
        let broker = Broker::with_topics(&[("t", 1)]);
        assert_eq!(ask(&broker, 3, ("x", 0, 0, false), &[topic("t", &[0])]), [16]);
    }
}
