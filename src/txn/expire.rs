//! What ends because time passes: transactions that are open for too long, and ids that nobody uses.
//!
//! Source: TransactionCoordinator.abortTimedOutTransactions, TransactionStateManager.removeExpiredTransactionalIds.

use super::event::Event;
use super::transaction::{Transaction, TransactionState};
use super::{Step, TransactionCoordinator};
use crate::types::{Now, TransactionalId};

impl TransactionCoordinator {
    /// Aborts what has been open for longer than its producer said, and fences the producer.
    pub(super) fn abort_timed_out(&mut self, now: Now, step: &mut Step) {
        let is_late = |transaction: &Transaction| {
            transaction.state == TransactionState::Ongoing && transaction.deadline < now.monotonic
        };
        for (id, timeout_ms) in self.picked(is_late) {
            self.fence(now, id.as_str(), step);
            step.events.push(Event::TimedOut { transactional_id: id, timeout_ms });
        }
    }

    /// Forgets the ids that have no open transaction and that nobody has used for long.
    pub(super) fn remove_expired(&mut self, now: Now, step: &mut Step) {
        let used_before = now.wall.0.saturating_sub(self.config.id_expiration_ms);
        let is_expired = |transaction: &Transaction| {
            transaction.state.is_idle() && transaction.last_update_ms <= used_before
        };
        for (id, _) in self.picked(is_expired) {
            self.forget(id.as_str());
            step.changed.push(id.clone());
            step.events.push(Event::Expired { transactional_id: id });
        }
    }

    fn picked(&self, picks: impl Fn(&Transaction) -> bool) -> Vec<(TransactionalId, i32)> {
        let picked = self.transactions.iter().filter(|(_, transaction)| picks(transaction));
        picked.map(|(id, transaction)| (id.clone(), transaction.timeout_ms)).collect()
    }
}
