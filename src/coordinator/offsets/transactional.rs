//! The end of transactions that have offsets in the groups of a shard. Source: CoordinatorRuntime's
//! scheduleTransactionCompletion, OffsetMetadataManager.replayEndTransactionMarker.

use super::super::record::Record;
use super::super::{Coordinator, Step};
use crate::types::GroupId;

impl Coordinator {
    /// Commits or drops what the transaction of a producer has in the groups of this shard. May be done again.
    pub(in super::super) fn end_transaction(&mut self, producer_id: i64, committed: bool, step: &mut Step) {
        let groups = self.apply_transaction_end(producer_id, committed);
        step.records.push(Record::EndTxnMarker { producer_id, committed });
        for group in groups {
            self.weigh(group.as_str());
        }
    }

    /// Changes the groups as the marker says; gives those that it changed.
    pub(in super::super) fn apply_transaction_end(
        &mut self,
        producer_id: i64,
        committed: bool,
    ) -> Vec<GroupId> {
        let groups = self.open_transactions.remove(&producer_id).unwrap_or_default();
        for id in &groups {
            if let Some(group) = self.groups.get_mut(id.as_str()) {
                group.offsets.end_transaction(producer_id, committed);
            }
        }
        groups.into_iter().collect()
    }
}
