//! Whether a batch or an offset belongs to an open transaction: what Produce and TxnOffsetCommit ask the transaction
//! coordinator. Source: Kafka's `AddPartitionsToTxnManager`.

use kafka_protocol::ResponseError;

use super::{Context, error_code};
use crate::catalog::name::TRANSACTION_STATE;
use crate::txn::command::AddPartitions;
use crate::txn::error::TxnError;
use crate::txn::transaction::{ClientVersion, TxnPartition};
use crate::types::ProducerIdAndEpoch;

/// What the version of a request says about its client. Kafka's TransactionSupportedOperation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// It has added the partitions itself, and does not know TRANSACTION_ABORTABLE.
    Verify,
    /// It has added the partitions itself.
    VerifyAbortable,
    /// The request adds them (KIP-890).
    Add,
}

impl Operation {
    /// Of Produce.
    pub(super) const fn of_produce(version: i16) -> Self {
        match version {
            ..=10 => Self::Verify,
            11 => Self::VerifyAbortable,
            _ => Self::Add,
        }
    }

    /// Of TxnOffsetCommit.
    pub(super) const fn of_txn_offset_commit(version: i16) -> Self {
        match version {
            ..=3 => Self::Verify,
            4 => Self::VerifyAbortable,
            _ => Self::Add,
        }
    }
}

/// Says of each partition whether the producer may write to it now; in the same order.
pub(super) fn ask(
    ctx: &Context<'_>,
    operation: Operation,
    transactional_id: &str,
    producer: ProducerIdAndEpoch,
    partitions: &[TxnPartition],
) -> Vec<Result<(), ResponseError>> {
    let asked = AddPartitions { transactional_id, producer, partitions, version: ClientVersion::V2 };
    let transactions = &ctx.services.transactions;
    let outcome = match operation {
        Operation::Add => {
            transactions.add_partitions(ctx.now, &asked).map(|()| vec![Ok(()); partitions.len()])
        }
        Operation::Verify | Operation::VerifyAbortable => transactions.verify_partitions(ctx.now, &asked),
    };
    let outcomes = outcome.unwrap_or_else(|error| vec![Err(error); partitions.len()]);
    outcomes.into_iter().map(|outcome| outcome.map_err(|error| to_wire(operation, error))).collect()
}

const fn to_wire(operation: Operation, error: TxnError) -> ResponseError {
    match (error, operation) {
        (TxnError::ProducerFenced, _) => ResponseError::InvalidProducerEpoch,
        (TxnError::TransactionAbortable, Operation::Verify) => ResponseError::InvalidTxnState,
        (error, _) => error_code::of_txn(error),
    }
}

/// The code for what the coordinator refused; clients before version 2 of its APIs do not know PRODUCER_FENCED.
pub(super) const fn code(version: i16, error: TxnError) -> i16 {
    match error {
        TxnError::ProducerFenced if version < 2 => ResponseError::InvalidProducerEpoch.code(),
        error => error_code::of_txn(error).code(),
    }
}

/// Whether there is a coordinator: it comes with its topic, which FindCoordinator makes.
///
/// # Errors
/// `NotCoordinator`.
pub(super) fn check_coordinator(ctx: &Context<'_>) -> Result<(), ResponseError> {
    let topics = super::lock(&ctx.services.topics);
    if topics.catalog().by_name(TRANSACTION_STATE).is_some() {
        Ok(())
    } else {
        Err(ResponseError::NotCoordinator)
    }
}
