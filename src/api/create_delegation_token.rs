//! CreateDelegationToken (key 38), versions 1–3. 3: a token for someone else (KIP-373).
//!
//! Refused: Kafka hands out tokens only to those who have authenticated themselves.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{CreateDelegationTokenRequest, CreateDelegationTokenResponse};
use kafka_protocol::protocol::StrBytes;

use super::Outcome;

/// Who a client is that has not said (Kafka's `KafkaPrincipal.ANONYMOUS`).
const ANONYMOUS: (&str, &str) = ("User", "ANONYMOUS");

pub(super) fn handle(
    version: i16,
    request: &CreateDelegationTokenRequest,
) -> Outcome<CreateDelegationTokenResponse> {
    let requester = (StrBytes::from_static_str(ANONYMOUS.0), StrBytes::from_static_str(ANONYMOUS.1));
    let owner = match (&request.owner_principal_type, &request.owner_principal_name) {
        (Some(kind), Some(name)) if !name.is_empty() => (kind.clone(), name.clone()),
        _ => requester.clone(),
    };
    let response = CreateDelegationTokenResponse::default()
        .with_error_code(ResponseError::DelegationTokenRequestNotAllowed.code())
        .with_principal_type(owner.0)
        .with_principal_name(owner.1)
        .with_issue_timestamp_ms(-1)
        .with_expiry_timestamp_ms(-1)
        .with_max_timestamp_ms(-1);
    Outcome::Reply(if version >= 3 {
        response
            .with_token_requester_principal_type(requester.0)
            .with_token_requester_principal_name(requester.1)
    } else {
        response
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::convert::text;
    use crate::api::testing::Broker;

    #[test]
    fn every_version_refuses() {
        let plain = CreateDelegationTokenRequest::default();
        let null = plain.clone().with_owner_principal_type(None).with_owner_principal_name(None);
        let owned = CreateDelegationTokenRequest::default()
            .with_owner_principal_type(Some(text("User")))
            .with_owner_principal_name(Some(text("me")));
        for (version, request, owner, requester) in [
            (1, &plain, "ANONYMOUS", ""),
            (2, &plain, "ANONYMOUS", ""),
            (3, &plain, "ANONYMOUS", "ANONYMOUS"),
            (3, &null, "ANONYMOUS", "ANONYMOUS"),
            (3, &owned, "me", "ANONYMOUS"),
        ] {
            let answer = Broker::with(&[]).call(version, request, |_, version, r| handle(version, r));
            assert_eq!((answer.error_code, answer.principal_type.as_str()), (64, "User"));
            assert_eq!(answer.principal_name.as_str(), owner);
            assert_eq!(answer.token_requester_principal_name.as_str(), requester);
            let times = [answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms];
            assert_eq!((times, answer.token_id.as_str(), answer.hmac.len()), ([-1; 3], "", 0));
        }
    }
}
