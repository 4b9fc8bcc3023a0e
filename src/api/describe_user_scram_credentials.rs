//! DescribeUserScramCredentials (key 50), version 0 (KIP-554).

use kafka_protocol::messages::describe_user_scram_credentials_response::{
    CredentialInfo, DescribeUserScramCredentialsResult,
};
use kafka_protocol::messages::{DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::{Context, Outcome, error_code};
use crate::cluster::scram::{Described, Mechanism, ScramError};

const SCRAM_SHA_256: i8 = 1;
const SCRAM_SHA_512: i8 = 2;

/// The mechanism with this number.
pub(super) const fn mechanism(code: i8) -> Option<Mechanism> {
    match code {
        SCRAM_SHA_256 => Some(Mechanism::Sha256),
        SCRAM_SHA_512 => Some(Mechanism::Sha512),
        _ => None,
    }
}

const fn code(mechanism: Mechanism) -> i8 {
    match mechanism {
        Mechanism::Sha256 => SCRAM_SHA_256,
        Mechanism::Sha512 => SCRAM_SHA_512,
    }
}

/// Lists which mechanisms users have credentials for; salts and passwords are not told.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &DescribeUserScramCredentialsRequest,
) -> Outcome<DescribeUserScramCredentialsResponse> {
    let asked: Vec<_> = request.users.iter().flatten().map(|user| user.name.as_str()).collect();
    let results = ctx.services.cluster.scram().describe(&asked).into_iter().map(described).collect();
    let response = DescribeUserScramCredentialsResponse::default();
    Outcome::Reply(response.with_error_message(Some(StrBytes::default())).with_results(results))
}

fn described((user, found): Described<'_>) -> DescribeUserScramCredentialsResult {
    let result = DescribeUserScramCredentialsResult::default().with_user(text(user));
    match found {
        Ok(infos) => {
            let info = |(mechanism, iterations)| {
                CredentialInfo::default().with_mechanism(code(mechanism)).with_iterations(iterations)
            };
            result
                .with_error_message(Some(StrBytes::default()))
                .with_credential_infos(infos.into_iter().map(info).collect())
        }
        Err(error) => {
            let message = match error {
                ScramError::DuplicateResource => {
                    "Cannot describe SCRAM credentials for the same user twice in a single request"
                }
                _ => "Attempt to describe a user credential that does not exist",
            };
            result
                .with_error_code(error_code::of_scram(error).code())
                .with_error_message(Some(StrBytes::from_string(format!("{message}: {user}"))))
        }
    }
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::describe_user_scram_credentials_request::UserName;

    use super::*;
    use crate::api::testing::Broker;
    use crate::cluster::scram::Upsertion;

    fn broker() -> Broker {
        let broker = Broker::with(&[]);
        for (mechanism, iterations) in [(Mechanism::Sha256, 4_096), (Mechanism::Sha512, 8_192)] {
            let upsertion = Upsertion {
                user: "u",
                mechanism: Some(mechanism),
                iterations,
                salt: b"salt",
                salted_password: b"secret",
            };
            broker.services.cluster.scram().alter(&[], &[upsertion]);
        }
        broker
    }

    fn ask(users: Option<&[&str]>) -> DescribeUserScramCredentialsResponse {
        let name = |user: &&str| UserName::default().with_name(text(user));
        let users = users.map(|users| users.iter().map(name).collect());
        let request = DescribeUserScramCredentialsRequest::default().with_users(users);
        broker().call(0, &request, |ctx, _, request| handle(ctx, request))
    }

    #[test]
    fn mechanisms_and_iterations_are_told() {
        for asked in [None, Some(&[][..]), Some(&["u"])] {
            let answer = ask(asked);
            assert_eq!((answer.error_code, answer.error_message.as_deref()), (0, Some("")));
            let [user] = &answer.results[..] else { panic!("one user") };
            assert_eq!((&*user.user, user.error_code, user.error_message.as_deref()), ("u", 0, Some("")));
            let infos: Vec<_> =
                user.credential_infos.iter().map(|info| (info.mechanism, info.iterations)).collect();
            assert_eq!(infos, [(2, 8_192), (1, 4_096)]);
        }
    }

    #[test]
    fn who_has_none_or_is_named_twice_is_told_so() {
        let results = ask(Some(&["u", "u", "zz"])).results;
        let told: Vec<_> = results
            .iter()
            .map(|result| {
                (&*result.user, result.error_code, result.error_message.as_deref().unwrap_or_default())
            })
            .collect();
        assert_eq!(
            told,
            [
                ("zz", 91, "Attempt to describe a user credential that does not exist: zz"),
                ("u", 92, "Cannot describe SCRAM credentials for the same user twice in a single request: u"),
            ]
        );
    }
}
