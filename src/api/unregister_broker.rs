//! UnregisterBroker (key 64), version 0 (KIP-631). Other brokers than this one were never registered.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{UnregisterBrokerRequest, UnregisterBrokerResponse};

use super::api_error::ApiError;
use super::{Context, Outcome};

// Differs from Kafka: the broker that serves the request cannot be unregistered; Kafka forgets it until it is started
// again.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &UnregisterBrokerRequest,
) -> Outcome<UnregisterBrokerResponse> {
    let id = request.broker_id.0;
    let error = if id == ctx.services.config.node_id {
        let text = format!("Broker {id} is the only one and cannot be unregistered");
        ApiError::new(ResponseError::InvalidRequest, text)
    } else {
        let text = format!("Broker ID {id} is not currently registered");
        ApiError::new(ResponseError::BrokerIdNotRegistered, text)
    };
    let response = UnregisterBrokerResponse::default();
    Outcome::Reply(response.with_error_code(error.code()).with_error_message(error.message()))
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::BrokerId;

    use super::*;
    use crate::api::testing::Broker;

    #[test]
    fn no_broker_can_be_unregistered() {
        for (id, code, text) in [
            (7, 102, "Broker ID 7 is not currently registered"),
            (-1, 102, "Broker ID -1 is not currently registered"),
            (1, 42, "Broker 1 is the only one and cannot be unregistered"),
        ] {
            let request = UnregisterBrokerRequest::default().with_broker_id(BrokerId(id));
            let answer = Broker::with(&[]).call(0, &request, |ctx, _, request| handle(ctx, request));
            assert_eq!((answer.error_code, answer.error_message.as_deref()), (code, Some(text)));
        }
    }
}
