//! ListTransactions (key 66), versions 0–2 (KIP-664). 1: by duration (KIP-994). 2: by a pattern of the id (KIP-1152).
//!
//! Differs from Kafka: the pattern is read as RE2, not as a regular expression of Java.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::list_transactions_response::TransactionState as WireState;
use kafka_protocol::messages::{
    ListTransactionsRequest, ListTransactionsResponse, ProducerId, TransactionalId as WireId,
};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::room::{Room, TOO_LARGE};
use super::{Context, Outcome};
use crate::topic_regex::TopicRegex;
use crate::txn::ListFilter;
use crate::txn::transaction::TransactionState;

/// States that Kafka knows and nobody is ever seen in.
const UNSEEN_STATES: [&str; 2] = ["Dead", "PrepareEpochFence"];

const STATES: [TransactionState; 6] = [
    TransactionState::Empty,
    TransactionState::Ongoing,
    TransactionState::PrepareCommit,
    TransactionState::PrepareAbort,
    TransactionState::CompleteCommit,
    TransactionState::CompleteAbort,
];

pub(super) fn handle(
    ctx: &Context<'_>,
    request: &ListTransactionsRequest,
) -> Outcome<ListTransactionsResponse> {
    let answer = ListTransactionsResponse::default();
    let pattern = request.transactional_id_pattern.as_deref().filter(|pattern| !pattern.is_empty());
    let pattern = match pattern.map(TopicRegex::new).transpose() {
        Ok(pattern) => pattern,
        Err(_) => {
            return Outcome::Reply(answer.with_error_code(ResponseError::InvalidRegularExpression.code()));
        }
    };
    let producer_ids: Vec<i64> = request.producer_id_filters.iter().map(|id| id.0).collect();
    let (states, unknown) = states(&request.state_filters);
    let filter = ListFilter {
        producer_ids: &producer_ids,
        states,
        longer_than_ms: (request.duration_filter >= 0).then_some(request.duration_filter),
    };
    let room = Room::for_an_answer();
    let mut listed = Vec::new();
    ctx.services.transactions.read(&mut |transactions| {
        let found = transactions.list(ctx.now, &filter);
        let found =
            found.filter(|(id, _)| pattern.as_ref().is_none_or(|pattern| pattern.matches(id.as_str())));
        let found = found.take_while(|(id, _)| room.admits(size_of::<WireState>() + id.as_str().len()));
        listed = found
            .map(|(id, transaction)| {
                WireState::default()
                    .with_transactional_id(WireId(text(id.as_str())))
                    .with_producer_id(ProducerId(transaction.producer.id))
                    .with_transaction_state(StrBytes::from_static_str(transaction.state.name()))
            })
            .collect();
    });
    if room.is_exceeded() {
        return Outcome::Close(TOO_LARGE);
    }
    Outcome::Reply(answer.with_unknown_state_filters(unknown).with_transaction_states(listed))
}

/// The states that are asked for, and the names that are none. No names at all ask for every state.
fn states(names: &[StrBytes]) -> (Option<Vec<TransactionState>>, Vec<StrBytes>) {
    let find = |name: &str| STATES.into_iter().find(|state| state.name() == name);
    let mut unknown: Vec<StrBytes> = Vec::new();
    for name in names {
        let is_known = find(name).is_some() || UNSEEN_STATES.contains(&name.as_str());
        if !is_known && !unknown.contains(name) {
            unknown.push(name.clone());
        }
    }
    let states = (!names.is_empty()).then(|| names.iter().filter_map(|name| find(name)).collect());
    (states, unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::{Broker, NOW};
    use crate::txn::command::{AddPartitions, InitProducerId};
    use crate::txn::transaction::ClientVersion;
    use crate::types::TopicName;

    fn broker() -> Broker {
        let broker = Broker::with_topics(&[]);
        for id in ["a-1", "a-2", "b"] {
            let init = InitProducerId { transactional_id: Some(id), timeout_ms: 1_000, expected: None };
            let producer = broker.services.transactions.init_producer_id(NOW, &init).expect("an id");
            if id == "b" {
                let partitions = [(TopicName::from("t"), 0)];
                let version = ClientVersion::V1;
                let add = AddPartitions { transactional_id: id, producer, partitions: &partitions, version };
                broker.services.transactions.add_partitions(NOW, &add).expect("it is begun");
            }
        }
        broker
    }

    fn ask(broker: &Broker, request: &ListTransactionsRequest) -> (i16, Vec<String>, Vec<String>) {
        let answer = broker.call(2, request, |ctx, _, request| handle(ctx, request));
        let ids = answer.transaction_states.iter().map(|state| state.transactional_id.to_string());
        let unknown = answer.unknown_state_filters.iter().map(ToString::to_string);
        (answer.error_code, ids.collect(), unknown.collect())
    }

    fn texts(texts: &[&'static str]) -> Vec<StrBytes> {
        texts.iter().copied().map(StrBytes::from_static_str).collect()
    }

    fn all() -> ListTransactionsRequest {
        ListTransactionsRequest::default().with_duration_filter(-1).with_transactional_id_pattern(None)
    }

    // Seen on Kafka 4.4.0.
    #[test]
    fn filters_let_through_what_they_name() {
        let broker = broker();
        let ids = |request: &ListTransactionsRequest| ask(&broker, request).1;
        assert_eq!(ids(&all()), ["a-1", "a-2", "b"]);
        assert_eq!(ids(&all().with_state_filters(texts(&["Ongoing"]))), ["b"]);
        assert_eq!(ids(&all().with_producer_id_filters(vec![ProducerId(1), ProducerId(9)])), ["a-2"]);
        // What has never begun began at -1, so that it is always old.
        assert_eq!(ids(&all().with_duration_filter(0)), ["a-1", "a-2"]);
        let pattern = |pattern| all().with_transactional_id_pattern(Some(StrBytes::from_static_str(pattern)));
        assert_eq!(ids(&pattern("a-.*")), ["a-1", "a-2"]);
        assert_eq!(ids(&pattern("a")), Vec::<String>::new());
        assert_eq!(ids(&pattern("")), ["a-1", "a-2", "b"]);
        assert_eq!(ask(&broker, &pattern("(")), (128, vec![], vec![]));
    }

    // Seen on Kafka 4.4.0.
    #[test]
    fn states_that_are_none_are_named() {
        let asked = all().with_state_filters(texts(&["ongoing", "Dead", "PrepareEpochFence", "nonsense"]));
        assert_eq!(ask(&broker(), &asked), (0, vec![], vec!["ongoing".to_owned(), "nonsense".to_owned()]));
    }
}
