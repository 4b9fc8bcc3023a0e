//! DescribeTransactions (key 65), version 0: where transactions stand (KIP-664).

use kafka_protocol::ResponseError;
use kafka_protocol::messages::describe_transactions_response::{TopicData, TransactionState};
use kafka_protocol::messages::{
    DescribeTransactionsRequest, DescribeTransactionsResponse, ProducerId, TopicName as WireName,
    TransactionalId,
};

use super::convert::text;
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome, transactional};
use crate::txn::TransactionCoordinator;
use crate::txn::transaction::Transaction;

pub(super) fn handle(
    ctx: &Context<'_>,
    request: &DescribeTransactionsRequest,
) -> Outcome<DescribeTransactionsResponse> {
    let room = Room::for_an_answer();
    let coordinator = transactional::check_coordinator(ctx);
    let mut states = Vec::new();
    ctx.services.transactions.read(&mut |transactions| {
        let wanted = request.transactional_ids.iter().take_while(|_| !room.is_exceeded());
        states = wanted.map(|id| describe(transactions, coordinator, id, &room)).collect();
    });
    if room.is_exceeded() {
        return Outcome::Close(TOO_LARGE);
    }
    Outcome::Reply(DescribeTransactionsResponse::default().with_transaction_states(states))
}

fn describe(
    transactions: &TransactionCoordinator,
    coordinator: Result<(), ResponseError>,
    id: &TransactionalId,
    room: &Room,
) -> TransactionState {
    let answer = TransactionState::default().with_transactional_id(id.clone());
    let found = match transactions.transaction(id) {
        _ if id.is_empty() => Err(ResponseError::InvalidRequest),
        None => coordinator.and(Err(ResponseError::TransactionalIdNotFound)),
        Some(transaction) => Ok(transaction),
    };
    match found {
        Err(error) => answer.with_error_code(error.code()),
        Ok(transaction) => answer
            .with_transaction_state(text(transaction.state.name()))
            .with_transaction_timeout_ms(transaction.timeout_ms)
            .with_transaction_start_time_ms(transaction.start_ms)
            .with_producer_id(ProducerId(transaction.producer.id))
            .with_producer_epoch(transaction.producer.epoch)
            .with_topics(topics(transaction, room)),
    }
}

fn topics(transaction: &Transaction, room: &Room) -> Vec<TopicData> {
    let mut topics: Vec<TopicData> = Vec::new();
    // They are sorted, so those of a topic are neighbours.
    for (name, partition) in transaction.partitions.iter().take_while(|_| room.admits(size_of::<i32>())) {
        match topics.last_mut() {
            Some(last) if last.topic.as_str() == name.as_str() => last.partitions.push(*partition),
            _ => {
                room.admits(size_of::<TopicData>() + name.as_str().len());
                let topic = TopicData::default().with_topic(WireName(text(name.as_str())));
                topics.push(topic.with_partitions(vec![*partition]));
            }
        }
    }
    topics
}
