//! DescribeDelegationToken (key 41), versions 1–3. Refused: nobody is authenticated here, and there are no tokens.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{DescribeDelegationTokenRequest, DescribeDelegationTokenResponse};

use super::Outcome;

pub(super) fn handle(_: &DescribeDelegationTokenRequest) -> Outcome<DescribeDelegationTokenResponse> {
    let code = ResponseError::DelegationTokenRequestNotAllowed.code();
    Outcome::Reply(DescribeDelegationTokenResponse::default().with_error_code(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::Broker;

    #[test]
    fn every_version_refuses() {
        for version in 1..=3 {
            for owners in [None, Some(vec![])] {
                let request = DescribeDelegationTokenRequest::default().with_owners(owners);
                let answer = Broker::with(&[]).call(version, &request, |_, _, request| handle(request));
                assert_eq!((answer.error_code, answer.tokens.len()), (64, 0));
            }
        }
    }
}
