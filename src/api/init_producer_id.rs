//! InitProducerId (key 22), versions 0–5: an id for an idempotent producer.
//!
//! 3: the id and epoch that the producer has (KIP-360).
//!
//! Not implemented: transactional ids, refused with UNSUPPORTED_VERSION, which clients take as final.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{InitProducerIdRequest, InitProducerIdResponse, ProducerId};

use super::{Context, Outcome, lock};

const NO_ID: ProducerId = ProducerId(-1);
const NO_EPOCH: i16 = -1;

pub(super) fn handle(ctx: &Context<'_>, request: &InitProducerIdRequest) -> Outcome<InitProducerIdResponse> {
    Outcome::Reply(match check(request) {
        Err(error) => InitProducerIdResponse::default()
            .with_error_code(error.code())
            .with_producer_id(NO_ID)
            .with_producer_epoch(NO_EPOCH),
        // Whatever id the producer had, it gets a new one: it loses its sequence numbers and nothing else.
        Ok(()) => InitProducerIdResponse::default()
            .with_producer_id(ProducerId(lock(&ctx.services.topics).log.next_producer_id()))
            .with_producer_epoch(0),
    })
}

fn check(request: &InitProducerIdRequest) -> Result<(), ResponseError> {
    let has_id = request.producer_id != NO_ID;
    let has_epoch = request.producer_epoch != NO_EPOCH;
    match &request.transactional_id {
        _ if has_id != has_epoch => Err(ResponseError::InvalidRequest),
        None => Ok(()),
        Some(id) if id.is_empty() => Err(ResponseError::InvalidRequest),
        Some(_) => Err(ResponseError::UnsupportedVersion),
    }
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::TransactionalId;
    use kafka_protocol::protocol::StrBytes;

    use super::*;
    use crate::api::testing::Broker;

    fn ask(broker: &Broker, version: i16, request: &InitProducerIdRequest) -> (i16, i64, i16) {
        let answer = broker.call(version, request, |ctx, _, request| handle(ctx, request));
        (answer.error_code, answer.producer_id.0, answer.producer_epoch)
    }

    fn with(id: i64, epoch: i16) -> InitProducerIdRequest {
        InitProducerIdRequest::default()
            .with_transactional_id(None)
            .with_producer_id(ProducerId(id))
            .with_producer_epoch(epoch)
    }

    // Seen on Kafka 4.4.0, but for the last.
    #[test]
    fn ids_are_handed_out_in_sequence() {
        let broker = Broker::with_topics(&[]);
        for version in 0..=5 {
            assert_eq!(ask(&broker, version, &with(-1, -1)), (0, version.into(), 0));
        }
        assert_eq!(ask(&broker, 4, &with(5, 0)), (0, 6, 0), "whoever has an id gets another");
        assert_eq!(ask(&broker, 4, &with(5, -1)), (42, -1, -1));
        assert_eq!(ask(&broker, 4, &with(-1, 3)), (42, -1, -1));
        let transactional =
            |id| with(-1, -1).with_transactional_id(Some(TransactionalId(StrBytes::from_static_str(id))));
        assert_eq!(ask(&broker, 4, &transactional("")), (42, -1, -1));
        assert_eq!(ask(&broker, 4, &transactional("t")), (35, -1, -1));
    }
}
