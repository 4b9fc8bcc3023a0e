//! InitProducerId. Source: TransactionCoordinator.handleInitProducerId, TransactionMetadata.prepareIncrementProducerEpoch,
//! prepareProducerIdRotation.

use super::command::InitProducerId;
use super::error::TxnError;
use super::event::Event;
use super::transaction::{LAST_EPOCH, NO_PRODUCER_EPOCH, NO_TIMESTAMP, Transaction, TransactionState};
use super::{Step, TransactionCoordinator};
use crate::types::{Now, ProducerIdAndEpoch, TransactionalId};

impl TransactionCoordinator {
    /// Gives a producer its id and epoch; whoever had the transactional id before is fenced.
    ///
    /// # Errors
    /// `ConcurrentTransactions` while the last transaction ends, which this brings about if it is open; `ProducerFenced` to
    /// a producer that wants to go on and was fenced itself; `InvalidRequest`, `InvalidTransactionTimeout`,
    /// `PolicyViolation`, `UnknownServerError`.
    pub fn init_producer_id(
        &mut self,
        now: Now,
        init: &InitProducerId<'_>,
        step: &mut Step,
    ) -> Result<ProducerIdAndEpoch, TxnError> {
        let Some(id) = init.transactional_id else {
            return Ok(ProducerIdAndEpoch { id: self.new_producer_id(), epoch: 0 });
        };
        if id.is_empty() {
            return Err(TxnError::InvalidRequest);
        }
        if !(1..=self.config.timeout_max_ms).contains(&init.timeout_ms) {
            return Err(TxnError::InvalidTransactionTimeout);
        }
        if !self.transactions.contains_key(id) {
            // Differs from Kafka: what transactional ids and their partitions take is bounded.
            self.admit(Transaction::bytes_of_new(id))?;
            let transaction = Transaction::new(self.new_producer_id(), init.timeout_ms, now);
            let id = TransactionalId::from(id);
            self.bytes += transaction.bytes(&id);
            self.transactions.insert(id, transaction);
        }
        let transaction = &self.transactions[id];
        if init.expected.is_some_and(|expected| !may_go_on(transaction, expected)) {
            return Err(TxnError::ProducerFenced);
        }
        match transaction.state {
            TransactionState::PrepareCommit | TransactionState::PrepareAbort => {
                Err(TxnError::ConcurrentTransactions)
            }
            TransactionState::Ongoing => {
                let fenced = transaction.producer;
                self.fence(now, id, step);
                step.events.push(Event::Fenced { transactional_id: id.into(), producer: fenced });
                Err(TxnError::ConcurrentTransactions)
            }
            TransactionState::Empty | TransactionState::CompleteCommit | TransactionState::CompleteAbort => {
                self.initialize(now, id, init, step)
            }
        }
    }

    /// Gives the next epoch, or another id where there is none left.
    fn initialize(
        &mut self,
        now: Now,
        id: &str,
        init: &InitProducerId<'_>,
        step: &mut Step,
    ) -> Result<ProducerIdAndEpoch, TxnError> {
        let transaction = &self.transactions[id];
        let expected = init.expected.map(|expected| expected.epoch);
        let is_exhausted = transaction.is_epoch_exhausted();
        let rotates = is_exhausted && expected.is_none_or(|epoch| epoch == transaction.producer.epoch);
        let (producer, last_epoch) = if rotates {
            let last_epoch = expected.map_or(NO_PRODUCER_EPOCH, |_| transaction.producer.epoch);
            (ProducerIdAndEpoch { id: self.new_producer_id(), epoch: 0 }, last_epoch)
        } else if is_exhausted {
            // Kafka throws an IllegalStateException.
            return Err(TxnError::UnknownServerError);
        } else {
            next_epoch(transaction, expected)?
        };
        self.change(id, step, |transaction| {
            transaction.go_to(TransactionState::Empty, now);
            transaction.producer = producer;
            transaction.last_epoch = last_epoch;
            transaction.timeout_ms = init.timeout_ms;
            transaction.partitions.clear();
            transaction.start_ms = NO_TIMESTAMP;
        });
        step.events.push(Event::Initialized { transactional_id: id.into(), producer });
        Ok(producer)
    }
}

/// Whether a producer that says what it was may be initialized: it is new here, it is the current one, or it asks once more
/// for the id that it got when its epochs were used up.
fn may_go_on(transaction: &Transaction, expected: ProducerIdAndEpoch) -> bool {
    transaction.producer.epoch == NO_PRODUCER_EPOCH
        || expected.id == transaction.producer.id
        || (expected.id == transaction.previous_producer_id && expected.epoch >= LAST_EPOCH)
}

/// The epoch that the producer gets, and the one with which it may ask for that once more.
fn next_epoch(
    transaction: &Transaction,
    expected: Option<i16>,
) -> Result<(ProducerIdAndEpoch, i16), TxnError> {
    let current = transaction.producer;
    let bumped = ProducerIdAndEpoch { epoch: current.epoch + 1, ..current };
    match expected {
        None => Ok((bumped, NO_PRODUCER_EPOCH)),
        Some(epoch) if current.epoch == NO_PRODUCER_EPOCH || epoch == current.epoch => {
            Ok((bumped, current.epoch))
        }
        Some(epoch) if epoch == transaction.last_epoch => Ok((current, transaction.last_epoch)),
        Some(_) => Err(TxnError::ProducerFenced),
    }
}
