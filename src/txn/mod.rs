//! The transaction coordinator, a second core: `(now, command) → answer, markers, events`. No IO, no clock, no entropy,
//! no thread.
//!
//! It gives ids to producers, knows for each `transactional.id` which partitions its transaction has written to, and
//! decides when the transaction ends and how. The end of a transaction has three steps: the decision (`Prepare…`) is
//! kept, the shell writes a marker to every partition ([`Step::markers`]), and with
//! [`markers_written`](TransactionCoordinator::markers_written) the transaction is over (`Complete…`). Markers may be
//! written again, so that what a crash left undone is done once more after a load.
//!
//! Hard state is what [`TransactionRecord`]s say; only the deadline of an open transaction is soft, and begins anew with
//! a load. Sources: KIP-98, KIP-360, KIP-890; Kafka's `TransactionCoordinator`, `TransactionStateManager` and
//! `TransactionMetadata`.

pub mod command;
pub mod error;
pub mod event;
pub mod transaction;

mod end;
mod expire;
mod init;
mod list;
mod partitions;

use std::collections::BTreeMap;

pub use list::ListFilter;

use command::EndMarker;
use error::TxnError;
use event::Event;
use transaction::{Transaction, TransactionRecord};

use crate::limits::TRANSACTIONS_BYTES_MAX;
use crate::types::{Millis, Now, TransactionalId};

/// The epoch of the only coordinator there has ever been; it stands in every marker.
pub const COORDINATOR_EPOCH: i32 = 0;

/// What the coordinator has to know of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxnConfig {
    /// `transaction.max.timeout.ms`.
    pub timeout_max_ms: i32,
    /// `transaction.abort.timed.out.transaction.cleanup.interval.ms`: how often transactions are looked for that are
    /// open for too long.
    pub abort_check_interval_ms: i64,
    /// `transactional.id.expiration.ms`: how long an id that has no open transaction is remembered.
    pub id_expiration_ms: i64,
    /// `transaction.remove.expired.transaction.cleanup.interval.ms`: how often such ids are looked for.
    pub id_check_interval_ms: i64,
    /// What all transactional ids and their partitions may take, in bytes.
    pub bytes_max: usize,
}

impl Default for TxnConfig {
    /// Kafka's defaults.
    fn default() -> Self {
        Self {
            timeout_max_ms: 900_000,
            abort_check_interval_ms: 10_000,
            id_expiration_ms: 604_800_000,
            id_check_interval_ms: 3_600_000,
            bytes_max: TRANSACTIONS_BYTES_MAX,
        }
    }
}

/// What one call brought about, besides its answer: a sink that the caller reuses.
#[derive(Debug, Default)]
pub struct Step {
    /// Whose record is to be kept anew: see [`TransactionCoordinator::record`].
    pub changed: Vec<TransactionalId>,
    /// To write, once the records are durable.
    pub markers: Vec<EndMarker>,
    /// What happened and why.
    pub events: Vec<Event>,
}

/// All transactional ids. See the module.
#[derive(Debug)]
pub struct TransactionCoordinator {
    config: TxnConfig,
    transactions: BTreeMap<TransactionalId, Transaction>,
    next_producer_id: i64,
    /// What they take in memory, about.
    bytes: usize,
    next_abort_check: Millis,
    next_id_check: Millis,
}

impl TransactionCoordinator {
    /// Nobody has been here yet.
    #[must_use]
    pub const fn new(config: TxnConfig, now: Now) -> Self {
        Self {
            next_abort_check: now.after(config.abort_check_interval_ms),
            next_id_check: now.after(config.id_check_interval_ms),
            config,
            transactions: BTreeMap::new(),
            next_producer_id: 0,
            bytes: 0,
        }
    }

    /// The coordinator that these records give back; `next_producer_id` is what [`Self::next_producer_id`] was. What was
    /// decided and may not have been written yet is among [`Self::unwritten`].
    pub fn load(
        config: TxnConfig,
        now: Now,
        next_producer_id: i64,
        records: impl IntoIterator<Item = TransactionRecord>,
    ) -> Self {
        let mut loaded = Self::new(config, now);
        loaded.next_producer_id = next_producer_id;
        for TransactionRecord { transactional_id, value } in records {
            loaded.forget(transactional_id.as_str());
            if let Some(mut transaction) = value {
                transaction.begin_timeout(now);
                loaded.bytes += transaction.bytes(&transactional_id);
                loaded.transactions.insert(transactional_id, transaction);
            }
        }
        loaded
    }

    /// The records that give this state back.
    pub fn snapshot(&self) -> impl Iterator<Item = TransactionRecord> + '_ {
        self.transactions.iter().map(|(id, transaction)| TransactionRecord {
            transactional_id: id.clone(),
            value: Some(transaction.clone()),
        })
    }

    /// What is to be kept of one transactional id.
    #[must_use]
    pub fn record(&self, transactional_id: &TransactionalId) -> TransactionRecord {
        let value = self.transactions.get(transactional_id).cloned();
        TransactionRecord { transactional_id: transactional_id.clone(), value }
    }

    /// The id that the next producer gets.
    #[must_use]
    pub const fn next_producer_id(&self) -> i64 {
        self.next_producer_id
    }

    /// The transaction that this id stands for.
    #[must_use]
    pub fn transaction(&self, transactional_id: &str) -> Option<&Transaction> {
        self.transactions.get(transactional_id)
    }

    /// What all transactional ids take, in bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The markers of all transactions that are decided and not complete.
    #[must_use]
    pub fn unwritten(&self) -> Vec<EndMarker> {
        self.transactions.iter().filter_map(|(id, transaction)| transaction.marker(id)).collect()
    }

    /// Does what is due at `now`.
    pub fn advance(&mut self, now: Now, step: &mut Step) {
        if self.next_abort_check <= now.monotonic {
            self.next_abort_check = now.after(self.config.abort_check_interval_ms.max(1));
            self.abort_timed_out(now, step);
        }
        if self.next_id_check <= now.monotonic {
            self.next_id_check = now.after(self.config.id_check_interval_ms.max(1));
            self.remove_expired(now, step);
        }
    }

    /// When to call [`advance`](Self::advance) next.
    #[must_use]
    pub fn next_deadline(&self) -> Millis {
        self.next_abort_check.min(self.next_id_check)
    }

    /// Whether there is memory for so many bytes more.
    fn admit(&self, bytes: usize) -> Result<(), TxnError> {
        if self.bytes.saturating_add(bytes) <= self.config.bytes_max {
            Ok(())
        } else {
            Err(TxnError::PolicyViolation)
        }
    }

    const fn new_producer_id(&mut self) -> i64 {
        let id = self.next_producer_id;
        self.next_producer_id += 1;
        id
    }

    /// Changes a transaction, counts what it takes then, and says that its record is to be kept anew.
    fn change<R>(
        &mut self,
        transactional_id: &str,
        step: &mut Step,
        change: impl FnOnce(&mut Transaction) -> R,
    ) -> Option<R> {
        let id = self.transactions.get_key_value(transactional_id)?.0.clone();
        let transaction = self.transactions.get_mut(transactional_id)?;
        self.bytes -= transaction.bytes(&id);
        let changed = change(transaction);
        self.bytes += transaction.bytes(&id);
        step.changed.push(id);
        Some(changed)
    }

    fn forget(&mut self, transactional_id: &str) {
        if let Some((id, transaction)) = self.transactions.remove_entry(transactional_id) {
            self.bytes -= transaction.bytes(&id);
        }
    }
}
