//! What a transaction writes to. Source: TransactionCoordinator.handleAddPartitionsToTransaction,
//! handleVerifyPartitionsInTransaction.

use super::command::AddPartitions;
use super::error::TxnError;
use super::transaction::{Transaction, TransactionState};
use super::{Step, TransactionCoordinator};
use crate::types::Now;

impl TransactionCoordinator {
    /// Adds partitions to the open transaction, or begins one with them.
    ///
    /// # Errors
    /// `InvalidRequest`, `InvalidProducerIdMapping`, `ProducerFenced`, `ConcurrentTransactions`, `PolicyViolation`.
    pub fn add_partitions(
        &mut self,
        now: Now,
        add: &AddPartitions<'_>,
        step: &mut Step,
    ) -> Result<(), TxnError> {
        let transaction = self.admitted(add)?;
        let is_ongoing = transaction.state == TransactionState::Ongoing;
        let added = add.partitions.iter().filter(|partition| !transaction.partitions.contains(*partition));
        let added = added.count();
        if is_ongoing && added == 0 {
            return Ok(());
        }
        self.admit(Transaction::bytes_of(added))?;
        self.change(add.transactional_id, step, |transaction| {
            transaction.go_to(TransactionState::Ongoing, now);
            if !is_ongoing {
                transaction.start_ms = now.wall.0;
                transaction.begin_timeout(now);
            }
            transaction.partitions.extend(add.partitions.iter().cloned());
            transaction.version = add.version;
        });
        Ok(())
    }

    /// Says of each partition whether it is part of the transaction.
    ///
    /// # Errors
    /// `InvalidRequest`, `InvalidProducerIdMapping`, `ProducerFenced`, `ConcurrentTransactions`.
    pub fn verify_partitions(
        &self,
        verify: &AddPartitions<'_>,
    ) -> Result<Vec<Result<(), TxnError>>, TxnError> {
        let transaction = self.admitted(verify)?;
        let verify_one = |partition| {
            if transaction.partitions.contains(partition) {
                Ok(())
            } else {
                Err(TxnError::TransactionAbortable)
            }
        };
        Ok(verify.partitions.iter().map(verify_one).collect())
    }

    /// The transaction, if the producer is its current one and nothing is about to end.
    fn admitted(&self, add: &AddPartitions<'_>) -> Result<&Transaction, TxnError> {
        if add.transactional_id.is_empty() {
            return Err(TxnError::InvalidRequest);
        }
        let transaction =
            self.transactions.get(add.transactional_id).ok_or(TxnError::InvalidProducerIdMapping)?;
        if transaction.producer.id != add.producer.id {
            return Err(TxnError::InvalidProducerIdMapping);
        }
        if transaction.producer.epoch != add.producer.epoch {
            return Err(TxnError::ProducerFenced);
        }
        if transaction.state.is_prepared() {
            return Err(TxnError::ConcurrentTransactions);
        }
        Ok(transaction)
    }
}
