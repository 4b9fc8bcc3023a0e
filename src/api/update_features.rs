//! UpdateFeatures (key 57), versions 0–2 (KIP-584, KIP-778). 0: a downgrade is allowed or not. 1: kinds of downgrade,
//! and only to validate. 2: no results of single features.
//!
//! Source: Kafka's `FeatureControlManager.updateFeature`.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::update_features_request::FeatureUpdateKey;
use kafka_protocol::messages::update_features_response::UpdatableFeatureResult;
use kafka_protocol::messages::{UpdateFeaturesRequest, UpdateFeaturesResponse};
use kafka_protocol::protocol::StrBytes;

use super::convert::text;
use super::feature::{Feature, features};
use super::{Context, Outcome};

const METADATA_VERSION: &str = "metadata.version";

/// Says whether features could get these levels; that they do is refused, unless they have them.
pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &UpdateFeaturesRequest,
) -> Outcome<UpdateFeaturesResponse> {
    let node = ctx.services.config.node_id;
    let checked = request.feature_updates.iter().try_for_each(|update| {
        let wanted = Update { kind: UpgradeType::of(version, update), level: update.max_version_level };
        let (name, level) = (update.feature.as_str(), update.max_version_level);
        check(node, name, wanted, request.validate_only).map_err(|reason| match reason {
            Refusal::Invalid(reason) => (
                ResponseError::InvalidUpdateVersion,
                format!("Invalid update version {level} for feature {name}. {reason}"),
            ),
            Refusal::Other(reason) => (ResponseError::InvalidUpdateVersion, reason),
            Refusal::Fixed => {
                (ResponseError::FeatureUpdateFailed, format!("The level of {name} does not change."))
            }
        })
    });
    let response = UpdateFeaturesResponse::default();
    Outcome::Reply(match checked {
        Ok(()) if version >= 2 => response.with_error_message(None),
        Ok(()) => response.with_error_message(None).with_results(succeeded(request)),
        Err((error, reason)) => {
            let message = format!(
                "The update failed for all features since the following feature had an error: {reason}"
            );
            response.with_error_code(error.code()).with_error_message(Some(StrBytes::from_string(message)))
        }
    })
}

fn succeeded(request: &UpdateFeaturesRequest) -> Vec<UpdatableFeatureResult> {
    let result = |update: &FeatureUpdateKey| {
        let result = UpdatableFeatureResult::default().with_feature(update.feature.clone());
        // Kafka tells the name of the error, whatever it is.
        result.with_error_message(Some(text("NONE")))
    };
    request.feature_updates.iter().map(result).collect()
}

/// What may be done to get to another level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UpgradeType {
    Upgrade,
    SafeDowngrade,
    UnsafeDowngrade,
    Unknown,
}

impl UpgradeType {
    const fn of(version: i16, update: &FeatureUpdateKey) -> Self {
        match update.upgrade_type {
            _ if version == 0 && update.allow_downgrade => Self::SafeDowngrade,
            _ if version == 0 => Self::Upgrade,
            1 => Self::Upgrade,
            2 => Self::SafeDowngrade,
            3 => Self::UnsafeDowngrade,
            _ => Self::Unknown,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Update {
    kind: UpgradeType,
    level: i16,
}

#[derive(Debug)]
enum Refusal {
    /// The level is not valid, and why.
    Invalid(String),
    /// In words of its own.
    Other(String),
    /// The level is valid, and not to be had.
    Fixed,
}

// Differs from Kafka: the level of a feature stays as it is; what would change one is refused unless it is only validated.
fn check(node: i32, name: &str, update: Update, validate_only: bool) -> Result<(), Refusal> {
    let invalid = |reason: &str| Err(Refusal::Invalid(reason.to_owned()));
    let Update { kind, level } = update;
    if kind == UpgradeType::Unknown {
        return invalid("The controller does not support the given upgrade type.");
    }
    if level < 0 {
        return invalid("A feature version cannot be less than 0.");
    }
    let Some(feature) = features().find(|feature| feature.name == name) else {
        return invalid(&format!("Local controller {node} does not support this feature."));
    };
    let Feature { min_version, max_version, level: current, .. } = *feature;
    if !(min_version..=max_version).contains(&level) {
        return invalid(&format!(
            "Local controller {node} only supports versions {min_version}-{max_version}"
        ));
    }
    if level < current {
        if kind == UpgradeType::Upgrade {
            return invalid(
                "Can't downgrade the version of this feature without setting the upgrade type to either safe or \
                 unsafe downgrade.",
            );
        }
        if name == METADATA_VERSION {
            let why = match kind {
                UpgradeType::UnsafeDowngrade => "Unsafe metadata downgrade is not supported in this version.",
                _ => {
                    "Refusing to perform the requested downgrade because it might delete metadata information."
                }
            };
            let reason = format!("Unsupported metadata.version downgrade from {current} to {level}. {why}");
            return Err(Refusal::Other(reason));
        }
    }
    if level == current || validate_only {
        return Ok(());
    }
    Err(Refusal::Fixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::Broker;

    /// Name, level, and the kind of the change.
    type Asked<'a> = (&'a str, i16, i8);

    fn update(version: i16, validate_only: bool, asked: &[Asked<'_>]) -> UpdateFeaturesResponse {
        let updates = asked.iter().map(|&(name, level, kind)| {
            let update = FeatureUpdateKey::default().with_feature(text(name)).with_max_version_level(level);
            if version == 0 { update.with_allow_downgrade(kind > 1) } else { update.with_upgrade_type(kind) }
        });
        let request = UpdateFeaturesRequest::default()
            .with_feature_updates(updates.collect())
            .with_validate_only(validate_only && version > 0);
        Broker::with(&[]).call(version, &request, handle)
    }

    #[test]
    fn what_is_in_force_can_be_asked_for() {
        for (version, results) in [(0, 2), (1, 2), (2, 0)] {
            let answer = update(version, false, &[("group.version", 1, 1), ("kraft.version", 0, 2)]);
            assert_eq!((answer.error_code, answer.error_message), (0, None));
            assert_eq!(answer.results.len(), results);
            for result in answer.results {
                assert_eq!((result.error_code, result.error_message.as_deref()), (0, Some("NONE")));
            }
            assert_eq!(update(version, false, &[]).error_code, 0);
        }
    }

    #[test]
    fn a_change_is_validated_and_never_made() {
        let cases: &[Asked<'_>] =
            &[("group.version", 0, 2), ("group.version", 0, 3), ("kraft.version", 1, 1)];
        for &asked in cases {
            assert_eq!(update(1, true, &[asked]).error_code, 0);
            let refused = update(1, false, &[asked]);
            let message = refused.error_message.expect("a reason");
            assert_eq!(refused.error_code, 96);
            assert!(message.ends_with("does not change."), "{message:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_in_kafkas_words() {
        let cases = [
            (("foo", 1, 1), "Local controller 1 does not support this feature."),
            (("", 1, 1), "Local controller 1 does not support this feature."),
            (("group.version", 99, 1), "Local controller 1 only supports versions 0-1"),
            (("metadata.version", 1, 3), "Local controller 1 only supports versions 7-33"),
            (("group.version", -1, 1), "A feature version cannot be less than 0."),
            (("group.version", 1, 0), "The controller does not support the given upgrade type."),
            (("group.version", 1, 9), "The controller does not support the given upgrade type."),
            (
                ("group.version", 0, 1),
                "Can't downgrade the version of this feature without setting the upgrade type to either safe or \
                 unsafe downgrade.",
            ),
        ];
        for (asked, reason) in cases {
            let refused = update(1, true, &[("eligible.leader.replicas.version", 1, 1), asked]);
            let (name, level, _) = asked;
            let message = format!(
                "The update failed for all features since the following feature had an error: \
                 Invalid update version {level} for feature {name}. {reason}"
            );
            assert_eq!((refused.error_code, refused.error_message.as_deref()), (95, Some(&*message)));
            assert!(refused.results.is_empty());
        }
        let refused = update(1, true, &[("metadata.version", 20, 2)]);
        assert_eq!(
            refused.error_message.as_deref(),
            Some(
                "The update failed for all features since the following feature had an error: \
                 Unsupported metadata.version downgrade from 33 to 20. Refusing to perform the requested \
                 downgrade because it might delete metadata information."
            )
        );
        let refused = update(0, false, &[("group.version", 0, 1)]);
        assert_eq!(refused.error_code, 95);
    }
}
