//! InitProducerId (key 22), versions 0–5: an id for an idempotent or a transactional producer.
//!
//! 3: the id and epoch that the producer has (KIP-360). 4: PRODUCER_FENCED. 5: no difference here (KIP-890).

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, ProducerId};

use super::{Context, Outcome, error_code, transactional};
use crate::txn::command::InitProducerId;
use crate::txn::error::TxnError;
use crate::txn::transaction::{NO_PRODUCER_EPOCH, NO_PRODUCER_ID};
use crate::types::ProducerIdAndEpoch;

pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &InitProducerIdRequest,
) -> Outcome<InitProducerIdResponse> {
    let answer = InitProducerIdResponse::default();
    Outcome::Reply(match init(ctx, version, request) {
        Ok(producer) => answer.with_producer_id(ProducerId(producer.id)).with_producer_epoch(producer.epoch),
        Err(error) => answer
            .with_error_code(error.code())
            .with_producer_id(ProducerId(NO_PRODUCER_ID))
            .with_producer_epoch(NO_PRODUCER_EPOCH),
    })
}

fn init(
    ctx: &Context<'_>,
    version: i16,
    request: &InitProducerIdRequest,
) -> Result<ProducerIdAndEpoch, ResponseError> {
    let init = InitProducerId {
        transactional_id: request.transactional_id.as_ref().map(|id| id.as_str()),
        timeout_ms: request.transaction_timeout_ms,
        expected: expected(request)?,
    };
    if init.transactional_id.is_some_and(|id| !id.is_empty()) {
        transactional::check_coordinator(ctx)?;
    }
    ctx.services.transactions.init_producer_id(ctx.now, &init).map_err(|error| match error {
        TxnError::ProducerFenced if version < 4 => ResponseError::InvalidProducerEpoch,
        error => error_code::of_txn(error),
    })
}

/// What the producer was before; both or neither.
fn expected(request: &InitProducerIdRequest) -> Result<Option<ProducerIdAndEpoch>, ResponseError> {
    let ProducerIdAndEpoch { id, epoch } =
        ProducerIdAndEpoch { id: request.producer_id.0, epoch: request.producer_epoch };
    match (id, epoch) {
        (NO_PRODUCER_ID, NO_PRODUCER_EPOCH) => Ok(None),
        (NO_PRODUCER_ID, _) | (_, NO_PRODUCER_EPOCH) => Err(ResponseError::InvalidRequest),
        _ => Ok(Some(ProducerIdAndEpoch { id, epoch })),
    }
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::TransactionalId;
    use kafka_protocol::protocol::StrBytes;

    use super::*;
    use crate::api::testing::Broker;

    fn ask(broker: &Broker, version: i16, request: &InitProducerIdRequest) -> (i16, i64, i16) {
        let answer = broker.call(version, request, handle);
        (answer.error_code, answer.producer_id.0, answer.producer_epoch)
    }

    fn with(id: i64, epoch: i16) -> InitProducerIdRequest {
        InitProducerIdRequest::default()
            .with_transactional_id(None)
            .with_transaction_timeout_ms(60_000)
            .with_producer_id(ProducerId(id))
            .with_producer_epoch(epoch)
    }

    fn transactional(id: &'static str, request: InitProducerIdRequest) -> InitProducerIdRequest {
        request.with_transactional_id(Some(TransactionalId(StrBytes::from_static_str(id))))
    }

    // Seen on Kafka 4.4.0.
    #[test]
    fn ids_are_handed_out_in_sequence() {
        let broker = Broker::with_topics(&[]);
        for version in 0..=5 {
            assert_eq!(ask(&broker, version, &with(-1, -1)), (0, version.into(), 0));
        }
        assert_eq!(ask(&broker, 4, &with(5, 0)), (0, 6, 0), "whoever has an id gets another");
        assert_eq!(ask(&broker, 4, &with(5, -1)), (42, -1, -1));
        assert_eq!(ask(&broker, 4, &with(-1, 3)), (42, -1, -1));
        assert_eq!(ask(&broker, 4, &transactional("", with(-1, -1))), (42, -1, -1));
    }

    // Seen on Kafka 4.4.0.
    #[test]
    fn a_transactional_id_keeps_its_producer_id() {
        let broker = Broker::with_topics(&[]);
        assert_eq!(
            ask(&broker, 4, &transactional("t", with(-1, -1))),
            (16, -1, -1),
            "nobody has looked for it"
        );
        broker.create("__transaction_state", 50);
        for epoch in 0..=5 {
            assert_eq!(ask(&broker, epoch, &transactional("t", with(-1, -1))), (0, 0, epoch));
        }
        let fenced = transactional("t", with(0, 2));
        assert_eq!((ask(&broker, 3, &fenced).0, ask(&broker, 4, &fenced).0), (47, 90));
        let late = transactional("t", with(-1, -1)).with_transaction_timeout_ms(900_001);
        assert_eq!(ask(&broker, 4, &late), (50, -1, -1));
    }
}
