//! AddOffsetsToTxn (key 25), versions 0–4: a transaction is about to commit offsets of a group.
//!
//! 2: PRODUCER_FENCED. 4: no difference here (KIP-890).

use kafka_protocol::messages::{AddOffsetsToTxnRequest, AddOffsetsToTxnResponse};

use super::{Context, Outcome, transactional};
use crate::catalog::name::CONSUMER_OFFSETS;
use crate::txn::command::AddPartitions;
use crate::txn::transaction::ClientVersion;
use crate::types::{ProducerIdAndEpoch, TopicName};

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &AddOffsetsToTxnRequest,
) -> Outcome<AddOffsetsToTxnResponse> {
    let partition = ctx.services.groups.partition_of(&request.group_id);
    let add = AddPartitions {
        transactional_id: &request.transactional_id,
        producer: ProducerIdAndEpoch { id: request.producer_id.0, epoch: request.producer_epoch },
        partitions: &[(TopicName::from(CONSUMER_OFFSETS), partition)],
        version: ClientVersion::V1,
    };
    let code = match transactional::check_coordinator(ctx) {
        Err(error) if !add.transactional_id.is_empty() => error.code(),
        _ => match ctx.services.transactions.add_partitions(ctx.now, &add) {
            Ok(()) => 0,
            Err(error) => transactional::code(version, error),
        },
    };
    Outcome::Reply(AddOffsetsToTxnResponse::default().with_error_code(code))
}
