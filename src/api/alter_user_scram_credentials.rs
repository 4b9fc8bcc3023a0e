//! AlterUserScramCredentials (key 51), version 0 (KIP-554).

use kafka_protocol::messages::alter_user_scram_credentials_response::AlterUserScramCredentialsResult;
use kafka_protocol::messages::{AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse};

use super::convert::text;
use super::describe_user_scram_credentials::mechanism;
use super::{Context, Outcome, error_code};
use crate::cluster::scram::{Deletion, ScramError, Upsertion};

/// Removes and sets credentials, of each user one.
pub(super) fn handle(
    ctx: &Context<'_>,
    request: &AlterUserScramCredentialsRequest,
) -> Outcome<AlterUserScramCredentialsResponse> {
    let deletions: Vec<_> = request
        .deletions
        .iter()
        .map(|deletion| Deletion { user: &deletion.name, mechanism: mechanism(deletion.mechanism) })
        .collect();
    let upsertions: Vec<_> = request
        .upsertions
        .iter()
        .map(|upsertion| Upsertion {
            user: &upsertion.name,
            mechanism: mechanism(upsertion.mechanism),
            iterations: upsertion.iterations,
            salt: &upsertion.salt,
            salted_password: &upsertion.salted_password,
        })
        .collect();
    let outcomes = ctx.services.cluster.scram().alter(&deletions, &upsertions);
    let results = outcomes.into_iter().map(|(user, outcome)| {
        let error = outcome.err();
        AlterUserScramCredentialsResult::default()
            .with_user(text(user))
            .with_error_code(error.map_or(0, |error| error_code::of_scram(error).code()))
            .with_error_message(error.and_then(message).map(text))
    });
    Outcome::Reply(AlterUserScramCredentialsResponse::default().with_results(results.collect()))
}

const fn message(error: ScramError) -> Option<&'static str> {
    match error {
        ScramError::DuplicateResource => {
            Some("A user credential cannot be altered twice in the same request")
        }
        ScramError::ResourceNotFound => Some("Attempt to delete a user credential that does not exist"),
        ScramError::UnacceptableCredential(text) => Some(text),
        ScramError::UnsupportedSaslMechanism => Some("Unknown SCRAM mechanism"),
        ScramError::UnknownServerError => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use kafka_protocol::messages::alter_user_scram_credentials_request::{
        ScramCredentialDeletion, ScramCredentialUpsertion,
    };

    use super::*;
    use crate::api::testing::Broker;
    use crate::cluster::scram::Mechanism;

    fn set(user: &str, mechanism: i8, iterations: i32, password: &'static [u8]) -> ScramCredentialUpsertion {
        ScramCredentialUpsertion::default()
            .with_name(text(user))
            .with_mechanism(mechanism)
            .with_iterations(iterations)
            .with_salt(Bytes::from_static(b"salt"))
            .with_salted_password(Bytes::from_static(password))
    }

    fn alter(
        broker: &Broker,
        deletions: &[(&str, i8)],
        upsertions: Vec<ScramCredentialUpsertion>,
    ) -> Vec<(String, i16, Option<String>)> {
        let delete = |(user, mechanism): &(&str, i8)| {
            ScramCredentialDeletion::default().with_name(text(user)).with_mechanism(*mechanism)
        };
        let request = AlterUserScramCredentialsRequest::default()
            .with_deletions(deletions.iter().map(delete).collect())
            .with_upsertions(upsertions);
        let answer = broker.call(0, &request, |ctx, _, request| handle(ctx, request));
        let told = |result: AlterUserScramCredentialsResult| {
            (result.user.to_string(), result.error_code, result.error_message.map(|text| text.to_string()))
        };
        answer.results.into_iter().map(told).collect()
    }

    #[test]
    fn credentials_are_set_and_removed() {
        let broker = Broker::with(&[]);
        let done = || vec![("u".to_owned(), 0, None)];
        assert_eq!(alter(&broker, &[], vec![set("u", 2, 8_192, b"p")]), done());
        let described = vec![("u", Ok(vec![(Mechanism::Sha512, 8_192)]))];
        assert_eq!(broker.services.cluster.scram().describe(&[]), described);
        assert_eq!(alter(&broker, &[("u", 2)], Vec::new()), done());
        assert!(broker.services.cluster.scram().describe(&[]).is_empty());
    }

    #[test]
    fn what_cannot_be_is_refused_in_kafkas_words() {
        let broker = Broker::with(&[]);
        let told = |user: &str, code, text: &str| vec![(user.to_owned(), code, Some(text.to_owned()))];
        let cases = [
            (set("", 1, 4_096, b"p"), 93, "Username must not be empty"),
            (set("e", 3, 4_096, b"p"), 33, "Unknown SCRAM mechanism"),
            (set("e", 0, 4_096, b"p"), 33, "Unknown SCRAM mechanism"),
            (set("e", 1, 4_095, b"p"), 93, "Too few iterations"),
            (set("e", 1, 16_385, b"p"), 93, "Too many iterations"),
        ];
        for (upsertion, code, text) in cases {
            let user = upsertion.name.to_string();
            assert_eq!(alter(&broker, &[], vec![upsertion]), told(&user, code, text));
        }
        let missing = told("nobody", 91, "Attempt to delete a user credential that does not exist");
        assert_eq!(alter(&broker, &[("nobody", 1)], Vec::new()), missing);
        let twice = told("e", 92, "A user credential cannot be altered twice in the same request");
        let upsertions = vec![set("e", 1, 4_096, b"p"), set("e", 2, 4_096, b"p")];
        assert_eq!(alter(&broker, &[], upsertions), twice);
        let empty = alter(&broker, &[], vec![set("e", 1, 4_096, b"")]);
        assert_eq!(empty, [("e".to_owned(), -1, None)]);
    }
}
