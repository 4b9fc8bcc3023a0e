//! SaslHandshake (key 17), versions 0–1. No listener speaks SASL, so that it always comes at the wrong time.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{SaslHandshakeRequest, SaslHandshakeResponse};

use super::Outcome;

pub(super) fn handle(_: &SaslHandshakeRequest) -> Outcome<SaslHandshakeResponse> {
    let code = ResponseError::IllegalSaslState.code();
    Outcome::Reply(SaslHandshakeResponse::default().with_error_code(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::convert::text;
    use crate::api::testing::Broker;

    #[test]
    fn every_version_refuses_every_mechanism() {
        for version in 0..=1 {
            for mechanism in ["PLAIN", "NOPE"] {
                let request = SaslHandshakeRequest::default().with_mechanism(text(mechanism));
                let answer = Broker::with(&[]).call(version, &request, |_, _, request| handle(request));
                assert_eq!((answer.error_code, answer.mechanisms), (34, vec![]));
            }
        }
    }
}
