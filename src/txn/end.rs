//! How a transaction ends: EndTxn, by somebody else's InitProducerId, or by its timeout.
//!
//! Source: TransactionCoordinator.endTransaction, endTransactionWithTV1, TransactionMetadata.prepareAbortOrCommit,
//! prepareComplete.

use super::command::EndTxn;
use super::error::TxnError;
use super::transaction::{ClientVersion, LAST_EPOCH, NO_PRODUCER_ID, Transaction, TransactionState};
use super::{Step, TransactionCoordinator};
use crate::types::{Now, ProducerIdAndEpoch};

/// What becomes of an EndTxn that is not refused.
enum Verdict {
    /// Go on to this state.
    Prepare(TransactionState),
    /// It was ended so before.
    Done,
}

impl TransactionCoordinator {
    /// Decides how the transaction ends. Gives what the producer is once it has ended.
    ///
    /// # Errors
    /// `InvalidRequest`, `InvalidProducerIdMapping`, `ProducerFenced`, `ConcurrentTransactions`, `InvalidTxnState`.
    pub fn end(
        &mut self,
        now: Now,
        end: &EndTxn<'_>,
        step: &mut Step,
    ) -> Result<ProducerIdAndEpoch, TxnError> {
        if end.transactional_id.is_empty() {
            return Err(TxnError::InvalidRequest);
        }
        let transaction =
            self.transactions.get(end.transactional_id).ok_or(TxnError::InvalidProducerIdMapping)?;
        let verdict = match end.version {
            ClientVersion::V1 => judge(transaction, end)?,
            ClientVersion::V2 => judge_with_bump(transaction, end)?,
        };
        match verdict {
            Verdict::Done => Ok(transaction.producer),
            Verdict::Prepare(state) => Ok(self.prepare(now, end.transactional_id, state, end.version, step)),
        }
    }

    /// Aborts the open transaction of a producer that has to make way, and takes its epoch away.
    pub(super) fn fence(&mut self, now: Now, transactional_id: &str, step: &mut Step) {
        self.prepare(now, transactional_id, TransactionState::PrepareAbort, ClientVersion::V2, step);
    }

    /// Keeps the decision, and hands out the marker that says so. Gives what the producer will be.
    fn prepare(
        &mut self,
        now: Now,
        transactional_id: &str,
        state: TransactionState,
        version: ClientVersion,
        step: &mut Step,
    ) -> ProducerIdAndEpoch {
        let bumps = version.supports_epoch_bump();
        let is_exhausted = self.transactions[transactional_id].is_epoch_exhausted();
        let next_producer_id = if bumps && is_exhausted { self.new_producer_id() } else { NO_PRODUCER_ID };
        self.change(transactional_id, step, |transaction| {
            if transaction.state != TransactionState::Ongoing {
                // An abort of nothing is a transaction of its own, which begins and ends now.
                transaction.start_ms = now.wall.0;
            }
            transaction.go_to(state, now);
            if bumps {
                transaction.last_epoch = transaction.producer.epoch;
                transaction.producer.epoch = transaction.producer.epoch.saturating_add(1);
            }
            transaction.next_producer_id = next_producer_id;
            transaction.version = version;
        });
        let id = self.transactions.get_key_value(transactional_id).map(|(id, _)| id);
        let transaction = &self.transactions[transactional_id];
        step.markers.extend(id.and_then(|id| transaction.marker(id)));
        transaction.after_the_end()
    }

    /// The markers of a transaction are all written: it is over.
    pub fn markers_written(
        &mut self,
        now: Now,
        transactional_id: &str,
        producer: ProducerIdAndEpoch,
        step: &mut Step,
    ) {
        let found = self.transactions.get(transactional_id);
        if !found.is_some_and(|found| found.state.is_prepared() && found.producer == producer) {
            return;
        }
        self.change(transactional_id, step, |transaction| {
            let ended = transaction.after_the_end();
            let state = if transaction.state == TransactionState::PrepareCommit {
                TransactionState::CompleteCommit
            } else {
                TransactionState::CompleteAbort
            };
            transaction.go_to(state, now);
            transaction.producer = ended;
            transaction.next_producer_id = NO_PRODUCER_ID;
            transaction.partitions.clear();
        });
    }
}

impl Transaction {
    /// What the producer is once its transaction has ended.
    const fn after_the_end(&self) -> ProducerIdAndEpoch {
        if self.version.supports_epoch_bump() && self.next_producer_id != NO_PRODUCER_ID {
            ProducerIdAndEpoch { id: self.next_producer_id, epoch: 0 }
        } else {
            self.producer
        }
    }
}

/// What an EndTxn before version 5 does: the epoch says nothing about which transaction is meant.
fn judge(transaction: &Transaction, end: &EndTxn<'_>) -> Result<Verdict, TxnError> {
    if transaction.producer.id != end.producer.id {
        return Err(TxnError::InvalidProducerIdMapping);
    }
    if transaction.producer.epoch != end.producer.epoch {
        return Err(TxnError::ProducerFenced);
    }
    match (transaction.state, end.committed) {
        (TransactionState::Ongoing, _) => Ok(Verdict::Prepare(prepared(end.committed))),
        (TransactionState::CompleteCommit, true) | (TransactionState::CompleteAbort, false) => {
            Ok(Verdict::Done)
        }
        (TransactionState::PrepareCommit, true) | (TransactionState::PrepareAbort, false) => {
            Err(TxnError::ConcurrentTransactions)
        }
        _ => Err(TxnError::InvalidTxnState),
    }
}

/// What an EndTxn of version 5 does: a request that comes once more has the epoch before the current one.
fn judge_with_bump(transaction: &Transaction, end: &EndTxn<'_>) -> Result<Verdict, TxnError> {
    let current = transaction.producer;
    let is_current = end.producer.epoch == current.epoch;
    let is_retry_after_overflow = transaction.previous_producer_id == end.producer.id
        && end.producer.epoch == LAST_EPOCH
        && current.epoch == 0;
    let is_retry_after_bump = i32::from(current.epoch) == i32::from(end.producer.epoch) + 1;
    let is_retry = is_retry_after_bump || is_retry_after_overflow;
    if current.id != end.producer.id && !is_retry_after_overflow {
        return Err(TxnError::InvalidProducerIdMapping);
    }
    let is_valid = match transaction.state {
        TransactionState::Ongoing | TransactionState::Empty => is_current,
        TransactionState::PrepareCommit | TransactionState::PrepareAbort => is_retry_after_bump,
        TransactionState::CompleteCommit | TransactionState::CompleteAbort => is_retry || is_current,
    };
    if !is_valid {
        return Err(TxnError::ProducerFenced);
    }
    match (transaction.state, end.committed) {
        (TransactionState::Ongoing, _) => Ok(Verdict::Prepare(prepared(end.committed))),
        (TransactionState::CompleteCommit, true) | (TransactionState::CompleteAbort, false) if is_retry => {
            Ok(Verdict::Done)
        }
        // Nothing was written since the last end, but the producer cannot know: what it sent may still come.
        (TransactionState::Empty, false) => Ok(Verdict::Prepare(TransactionState::PrepareAbort)),
        (TransactionState::CompleteCommit | TransactionState::CompleteAbort, false) if !is_retry => {
            Ok(Verdict::Prepare(TransactionState::PrepareAbort))
        }
        (TransactionState::PrepareCommit, true) | (TransactionState::PrepareAbort, false) => {
            Err(TxnError::ConcurrentTransactions)
        }
        _ => Err(TxnError::InvalidTxnState),
    }
}

const fn prepared(committed: bool) -> TransactionState {
    if committed { TransactionState::PrepareCommit } else { TransactionState::PrepareAbort }
}
