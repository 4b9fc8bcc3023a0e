//! SaslAuthenticate (key 36), versions 0–2. No listener speaks SASL, so that it always comes at the wrong time.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{SaslAuthenticateRequest, SaslAuthenticateResponse};
use kafka_protocol::protocol::StrBytes;

use super::Outcome;

/// Kafka says this on a listener without authentication, too.
const TOO_LATE: &str = "SaslAuthenticate request received after successful authentication";

pub(super) fn handle(_: &SaslAuthenticateRequest) -> Outcome<SaslAuthenticateResponse> {
    let response = SaslAuthenticateResponse::default()
        .with_error_code(ResponseError::IllegalSaslState.code())
        .with_error_message(Some(StrBytes::from_static_str(TOO_LATE)));
    Outcome::Reply(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::Broker;

    #[test]
    fn every_version_comes_too_late() {
        for version in 0..=2 {
            let request = SaslAuthenticateRequest::default();
            let answer = Broker::with(&[]).call(version, &request, |_, _, request| handle(request));
            assert_eq!((answer.error_code, answer.error_message.as_deref()), (34, Some(TOO_LATE)));
            assert!(answer.auth_bytes.is_empty());
        }
    }
}
