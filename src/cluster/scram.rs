//! SCRAM credentials of users (KIP-554).
//!
//! Source: Kafka's `ScramControlManager` (changes), `ScramImage` (queries), `ScramMechanism`.

use std::collections::BTreeMap;
use std::fmt;

use crate::java;
use crate::limits::{CLIENT_NAME_BYTES_MAX, SCRAM_BYTES_MAX, SCRAM_USERS_MAX};

const ITERATIONS_MIN: i32 = 4_096;
const ITERATIONS_MAX: i32 = 16_384;

/// How a password is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mechanism {
    Sha256,
    Sha512,
}

/// What a user proves to know a password by.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// How often the password was hashed.
    pub iterations: i32,
    pub salt: Box<[u8]>,
    pub salted_password: Box<[u8]>,
}

/// Secrets do not belong into logs.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

/// A credential that is to be removed; no mechanism is one that does not exist.
#[derive(Clone, Copy, Debug)]
pub struct Deletion<'a> {
    pub user: &'a str,
    pub mechanism: Option<Mechanism>,
}

/// A credential that is to be set; no mechanism is one that does not exist.
#[derive(Clone, Copy, Debug)]
pub struct Upsertion<'a> {
    pub user: &'a str,
    pub mechanism: Option<Mechanism>,
    pub iterations: i32,
    pub salt: &'a [u8],
    pub salted_password: &'a [u8],
}

/// Why a credential is refused. Variants bear the names of Kafka's errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScramError {
    /// The user is named twice.
    DuplicateResource,
    /// There is no such credential.
    ResourceNotFound,
    UnacceptableCredential(&'static str),
    UnsupportedSaslMechanism,
    /// What Kafka fails at without words: an empty password.
    UnknownServerError,
}

type Outcome<'a> = (&'a str, Result<(), ScramError>);

/// The credentials of all users.
#[derive(Debug, Default)]
pub struct ScramCredentials {
    /// Each with at least one credential.
    users: BTreeMap<Box<str>, BTreeMap<Mechanism, Credential>>,
}

impl ScramCredentials {
    /// Removes and sets credentials, of each user one, and says what became of it: first of those that were removed,
    /// then of those that were set, then of those that were refused.
    pub fn alter<'a>(
        &mut self,
        deletions: &[Deletion<'a>],
        upsertions: &[Upsertion<'a>],
    ) -> Vec<Outcome<'a>> {
        let mut removed: BTreeMap<&'a str, (usize, Mechanism)> = BTreeMap::new();
        let mut set: BTreeMap<&'a str, (usize, Mechanism, Upsertion<'a>)> = BTreeMap::new();
        let mut refused: BTreeMap<&'a str, (usize, ScramError)> = BTreeMap::new();
        for (place, deletion) in deletions.iter().enumerate() {
            let user = deletion.user;
            if refused.contains_key(user) {
                continue;
            }
            match self.check_deletion(deletion) {
                _ if removed.remove(user).is_some() => {
                    refused.insert(user, (place, ScramError::DuplicateResource));
                }
                Err(error) => drop(refused.insert(user, (place, error))),
                Ok(mechanism) => drop(removed.insert(user, (place, mechanism))),
            }
        }
        for (place, &upsertion) in (deletions.len()..).zip(upsertions) {
            let user = upsertion.user;
            if refused.contains_key(user) {
                continue;
            }
            match self.check_upsertion(&upsertion, set.len()) {
                _ if removed.remove(user).is_some() || set.remove(user).is_some() => {
                    refused.insert(user, (place, ScramError::DuplicateResource));
                }
                Err(error) => drop(refused.insert(user, (place, error))),
                Ok(mechanism) => drop(set.insert(user, (place, mechanism, upsertion))),
            }
        }
        if set.values().any(|(_, _, upsertion)| upsertion.salted_password.is_empty()) {
            let users = deletions.iter().map(|d| d.user).chain(upsertions.iter().map(|u| u.user));
            let users: BTreeMap<&'a str, usize> = users.zip(0..).collect();
            let failed = in_order(users.into_iter());
            return failed.into_iter().map(|user| (user, Err(ScramError::UnknownServerError))).collect();
        }
        for (user, (_, mechanism)) in &removed {
            self.remove(user, *mechanism);
        }
        for (_, mechanism, upsertion) in set.values() {
            self.set(*mechanism, upsertion);
        }
        let removed = in_order(removed.iter().map(|(user, (place, _))| (*user, *place)));
        let set = in_order(set.iter().map(|(user, (place, ..))| (*user, *place)));
        let failed = in_order(refused.iter().map(|(user, (place, _))| (*user, *place)));
        let done = removed.into_iter().chain(set).map(|user| (user, Ok(())));
        done.chain(failed.into_iter().map(|user| (user, Err(refused[user].1)))).collect()
    }

    fn remove(&mut self, user: &str, mechanism: Mechanism) {
        if let Some(own) = self.users.get_mut(user) {
            own.remove(&mechanism);
            if own.is_empty() {
                self.users.remove(user);
            }
        }
    }

    fn set(&mut self, mechanism: Mechanism, upsertion: &Upsertion<'_>) {
        let credential = Credential {
            iterations: upsertion.iterations,
            salt: upsertion.salt.into(),
            salted_password: upsertion.salted_password.into(),
        };
        self.users.entry(upsertion.user.into()).or_default().insert(mechanism, credential);
    }

    fn check_deletion(&self, deletion: &Deletion<'_>) -> Result<Mechanism, ScramError> {
        let mechanism = check_user(deletion.user, deletion.mechanism)?;
        let own = self.users.get(deletion.user);
        own.and_then(|own| own.get(&mechanism)).map(|_| mechanism).ok_or(ScramError::ResourceNotFound)
    }

    /// `more` others are about to be set.
    // Differs from Kafka: the credentials that can be kept are bounded in number and length.
    fn check_upsertion(&self, upsertion: &Upsertion<'_>, more: usize) -> Result<Mechanism, ScramError> {
        let mechanism = check_user(upsertion.user, upsertion.mechanism)?;
        let unacceptable = |text| Err(ScramError::UnacceptableCredential(text));
        if upsertion.iterations < ITERATIONS_MIN {
            return unacceptable("Too few iterations");
        }
        if upsertion.iterations > ITERATIONS_MAX {
            return unacceptable("Too many iterations");
        }
        if upsertion.salt.len() > SCRAM_BYTES_MAX || upsertion.salted_password.len() > SCRAM_BYTES_MAX {
            return unacceptable("The salt or the salted password is too long");
        }
        if upsertion.user.len() > CLIENT_NAME_BYTES_MAX {
            return unacceptable("The name of the user is too long");
        }
        if !self.users.contains_key(upsertion.user) && self.users.len() + more >= SCRAM_USERS_MAX {
            return unacceptable("There are too many users with credentials");
        }
        Ok(mechanism)
    }

    /// The users asked for with mechanisms and iterations, in Kafka's order; all users if none is asked for.
    pub fn describe<'a>(&'a self, asked: &[&'a str]) -> Vec<Described<'a>> {
        let mut times: BTreeMap<&'a str, (usize, usize)> = BTreeMap::new();
        for (place, &user) in asked.iter().enumerate() {
            times.entry(user).or_insert((place, 0)).1 += 1;
        }
        let users = if asked.is_empty() {
            in_order(self.users.keys().map(|user| &**user).zip(0..))
        } else {
            in_order(times.iter().map(|(user, (place, _))| (*user, *place)))
        };
        let described = |user: &'a str| {
            let infos = match self.users.get(user) {
                _ if times.get(user).is_some_and(|&(_, count)| count > 1) => {
                    Err(ScramError::DuplicateResource)
                }
                None => Err(ScramError::ResourceNotFound),
                // The stronger mechanism comes first.
                Some(own) => Ok(own.iter().rev().map(|(&kind, own)| (kind, own.iterations)).collect()),
            };
            (user, infos)
        };
        users.into_iter().map(described).collect()
    }
}

/// A user, and what credentials it has.
pub type Described<'a> = (&'a str, Result<Vec<(Mechanism, i32)>, ScramError>);

fn check_user(user: &str, mechanism: Option<Mechanism>) -> Result<Mechanism, ScramError> {
    if user.is_empty() {
        return Err(ScramError::UnacceptableCredential("Username must not be empty"));
    }
    mechanism.ok_or(ScramError::UnsupportedSaslMechanism)
}

/// The order of a Java HashMap into which these users were put, each with the place of its turn.
fn in_order<'a>(users: impl Iterator<Item = (&'a str, usize)>) -> Vec<&'a str> {
    let mut users: Vec<_> = users.collect();
    let len = users.len();
    users.sort_unstable_by_key(|(_, place)| *place);
    java::sort_as_hash_map(&mut users, len, |(user, _)| java::string_hash(user));
    users.into_iter().map(|(user, _)| user).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA256: Option<Mechanism> = Some(Mechanism::Sha256);
    const SHA512: Option<Mechanism> = Some(Mechanism::Sha512);

    fn set(user: &str, mechanism: Option<Mechanism>, iterations: i32) -> Upsertion<'_> {
        Upsertion { user, mechanism, iterations, salt: b"salt", salted_password: b"secret" }
    }

    const fn delete(user: &str, mechanism: Option<Mechanism>) -> Deletion<'_> {
        Deletion { user, mechanism }
    }

    fn with(upsertions: &[Upsertion<'_>]) -> ScramCredentials {
        let mut credentials = ScramCredentials::default();
        for upsertion in upsertions {
            assert_eq!(credentials.alter(&[], &[*upsertion]), [(upsertion.user, Ok(()))]);
        }
        credentials
    }

    #[test]
    fn credentials_are_set_shown_and_removed() {
        let mut credentials =
            with(&[set("u", SHA256, 4_096), set("u", SHA512, 8_192), set("e", SHA256, 16_384)]);
        let e = ("e", Ok(vec![(Mechanism::Sha256, 16_384)]));
        let u = ("u", Ok(vec![(Mechanism::Sha512, 8_192), (Mechanism::Sha256, 4_096)]));
        assert_eq!(credentials.describe(&[]), [e.clone(), u]);
        assert_eq!(credentials.alter(&[delete("u", SHA512)], &[]), [("u", Ok(()))]);
        assert_eq!(credentials.describe(&["u"]), [("u", Ok(vec![(Mechanism::Sha256, 4_096)]))]);
        credentials.alter(&[delete("u", SHA256)], &[]);
        assert_eq!(credentials.describe(&[]), [e]);
    }

    #[test]
    fn what_was_done_is_told_before_what_was_refused() {
        let mut credentials = with(&[set("u0", SHA512, 4_096)]);
        let deletions = [delete("u1", SHA256), delete("u0", SHA512)];
        let upsertions = [set("u3", SHA512, 4_096), set("u2", SHA512, 0), set("u4", None, 0)];
        assert_eq!(
            credentials.alter(&deletions, &upsertions),
            [
                ("u0", Ok(())),
                ("u3", Ok(())),
                ("u1", Err(ScramError::ResourceNotFound)),
                ("u2", Err(ScramError::UnacceptableCredential("Too few iterations"))),
                ("u4", Err(ScramError::UnsupportedSaslMechanism)),
            ]
        );
    }

    #[test]
    fn a_user_is_changed_once_a_request() {
        let mut credentials = with(&[set("u", SHA256, 4_096)]);
        let twice = [("u", Err(ScramError::DuplicateResource))];
        assert_eq!(credentials.alter(&[], &[set("u", SHA256, 5_000), set("u", SHA512, 5_000)]), twice);
        assert_eq!(credentials.alter(&[delete("u", SHA256)], &[set("u", SHA512, 5_000)]), twice);
        assert_eq!(credentials.alter(&[delete("u", SHA256), delete("u", SHA256)], &[]), twice);
        assert_eq!(credentials.describe(&["u"]), [("u", Ok(vec![(Mechanism::Sha256, 4_096)]))]);
        assert_eq!(credentials.describe(&["u", "u"]), [("u", Err(ScramError::DuplicateResource))]);
    }

    #[test]
    fn credentials_are_refused() {
        let mut credentials = ScramCredentials::default();
        let unacceptable = ScramError::UnacceptableCredential;
        let long = "x".repeat(CLIENT_NAME_BYTES_MAX + 1);
        let bytes = vec![0; SCRAM_BYTES_MAX + 1];
        let cases = [
            (set("", SHA256, 4_096), unacceptable("Username must not be empty")),
            (set("e", None, 4_096), ScramError::UnsupportedSaslMechanism),
            (set("e", SHA256, 4_095), unacceptable("Too few iterations")),
            (set("e", SHA256, 16_385), unacceptable("Too many iterations")),
            (set(&long, SHA256, 4_096), unacceptable("The name of the user is too long")),
            (
                Upsertion { salt: &bytes, ..set("e", SHA256, 4_096) },
                unacceptable("The salt or the salted password is too long"),
            ),
            (Upsertion { salted_password: b"", ..set("e", SHA256, 4_096) }, ScramError::UnknownServerError),
        ];
        for (upsertion, error) in cases {
            assert_eq!(credentials.alter(&[], &[upsertion]), [(upsertion.user, Err(error))]);
        }
        assert!(credentials.describe(&[]).is_empty());
        assert!(!format!("{:?}", with(&[set("u", SHA256, 4_096)])).contains("secret"));
    }

    #[test]
    fn an_empty_password_spoils_the_whole_request() {
        let mut credentials = ScramCredentials::default();
        let empty = Upsertion { salted_password: b"", ..set("a", SHA256, 4_096) };
        let failed = Err(ScramError::UnknownServerError);
        assert_eq!(credentials.alter(&[], &[empty, set("b", SHA256, 4_096)]), [("a", failed), ("b", failed)]);
        assert!(credentials.describe(&[]).is_empty());
    }

    #[test]
    fn users_with_credentials_are_bounded() {
        let mut credentials = ScramCredentials::default();
        for n in 0..SCRAM_USERS_MAX {
            credentials.set(Mechanism::Sha256, &set(&n.to_string(), SHA256, 4_096));
        }
        let [(_, Err(ScramError::UnacceptableCredential(_)))] =
            credentials.alter(&[], &[set("new", SHA256, 4_096)])[..]
        else {
            panic!("one user too many");
        };
        assert_eq!(credentials.alter(&[], &[set("0", SHA512, 4_096)]), [("0", Ok(()))]);
    }
}
