//! RenewDelegationToken (key 39), versions 1–2. Refused: nobody is authenticated here, and there are no tokens.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{RenewDelegationTokenRequest, RenewDelegationTokenResponse};

use super::Outcome;

pub(super) fn handle(_: &RenewDelegationTokenRequest) -> Outcome<RenewDelegationTokenResponse> {
    let response = RenewDelegationTokenResponse::default()
        .with_error_code(ResponseError::DelegationTokenRequestNotAllowed.code())
        .with_expiry_timestamp_ms(-1);
    Outcome::Reply(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::Broker;

    #[test]
    fn every_version_refuses() {
        for version in 1..=2 {
            let request = RenewDelegationTokenRequest::default();
            let answer = Broker::with(&[]).call(version, &request, |_, _, request| handle(request));
            assert_eq!((answer.error_code, answer.expiry_timestamp_ms), (64, -1));
        }
    }
}
