//! EndTxn (key 26), versions 0–5: commits or aborts a transaction.
//!
//! 2: PRODUCER_FENCED. 5: a new epoch for the next transaction, or a new id where there is none left (KIP-890).

use kafka_protocol::messages::{EndTxnRequest, EndTxnResponse, ProducerId};

use super::{Context, Outcome, transactional};
use crate::txn::command::EndTxn;
use crate::txn::transaction::{ClientVersion, NO_PRODUCER_EPOCH, NO_PRODUCER_ID};
use crate::types::ProducerIdAndEpoch;

pub(super) fn handle(ctx: &Context<'_>, version: i16, request: &EndTxnRequest) -> Outcome<EndTxnResponse> {
    let end = EndTxn {
        transactional_id: &request.transactional_id,
        producer: ProducerIdAndEpoch { id: request.producer_id.0, epoch: request.producer_epoch },
        committed: request.committed,
        version: if version > 4 { ClientVersion::V2 } else { ClientVersion::V1 },
    };
    let outcome = match transactional::check_coordinator(ctx) {
        Err(error) if !end.transactional_id.is_empty() => Err(error.code()),
        _ => {
            let ended = ctx.services.transactions.end(ctx.now, &end);
            ended.map_err(|error| transactional::code(version, error))
        }
    };
    let answer = EndTxnResponse::default();
    Outcome::Reply(match outcome {
        Ok(producer) => answer.with_producer_id(ProducerId(producer.id)).with_producer_epoch(producer.epoch),
        Err(code) => answer
            .with_error_code(code)
            .with_producer_id(ProducerId(NO_PRODUCER_ID))
            .with_producer_epoch(NO_PRODUCER_EPOCH),
    })
}
