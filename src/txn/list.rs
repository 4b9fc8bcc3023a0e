//! Which transactional ids there are. Source: TransactionStateManager.listTransactionStates.

use super::TransactionCoordinator;
use super::transaction::{Transaction, TransactionState};
use crate::types::{Now, TransactionalId};

/// What a list is to hold; empty and None let all through.
#[derive(Clone, Debug, Default)]
pub struct ListFilter<'a> {
    /// Only these producers.
    pub producer_ids: &'a [i64],
    /// Only transactions in one of these states.
    pub states: Option<Vec<TransactionState>>,
    /// Only what began longer ago than so many milliseconds.
    pub longer_than_ms: Option<i64>,
}

impl TransactionCoordinator {
    /// The transactional ids that the filter lets through, in order.
    pub fn list<'a>(
        &'a self,
        now: Now,
        filter: &'a ListFilter<'_>,
    ) -> impl Iterator<Item = (&'a TransactionalId, &'a Transaction)> {
        let admits = move |transaction: &Transaction| {
            let is_old = |ms: i64| now.wall.0.saturating_sub(transaction.start_ms) > ms;
            (filter.producer_ids.is_empty() || filter.producer_ids.contains(&transaction.producer.id))
                && filter.states.as_ref().is_none_or(|states| states.contains(&transaction.state))
                && filter.longer_than_ms.is_none_or(is_old)
        };
        self.transactions.iter().filter(move |(_, transaction)| admits(transaction))
    }
}
