//! What a client metrics subscription may set (Kafka's `ClientMetricsConfigs`, KIP-714).

use super::alter::AlterError;
use super::keys::{CLIENT_METRICS_KEYS, client_metrics_key};
use super::value::{self, Value};
use crate::catalog::Overrides;

/// What a pattern of `match` may select clients by.
const SELECTORS: &[&str] = &[
    "client_id",
    "client_instance_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
];

/// Checks what a subscription sets.
pub(super) fn check(own: &Overrides) -> Result<(), AlterError> {
    if let Some(unknown) = own.keys().find(|name| client_metrics_key(name).is_none()) {
        return Err(AlterError::InvalidRequest(format!("Unknown client metrics configuration: {unknown}")));
    }
    for key in CLIENT_METRICS_KEYS {
        let Some(text) = own.get(key.name) else { continue };
        match (key.name, value::parse(key, text)?) {
            ("interval.ms", Value::Number(interval)) if !(100..=3_600_000).contains(&interval) => {
                return Err(AlterError::InvalidRequest(format!(
                    "Invalid value {interval} for interval.ms, interval must be between 100 and 3600000 (1 hour)"
                )));
            }
            ("match", Value::List(patterns)) => {
                patterns.iter().try_for_each(|pattern| check_pattern(pattern))?
            }
            _ => {}
        }
    }
    Ok(())
}

/// A pattern is `SELECTOR=REGEX`.
// Differs from Kafka: whether the regular expression is one is left to whoever will match with it.
fn check_pattern(pattern: &str) -> Result<(), AlterError> {
    match pattern.split_once('=') {
        Some((selector, _)) if SELECTORS.contains(&selector.trim()) => Ok(()),
        _ => Err(AlterError::InvalidConfig(format!("Illegal client matching pattern: {pattern}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_are_checked_in_kafkas_words() {
        let invalid = |message: &str| Err(AlterError::InvalidConfig(message.to_owned()));
        let bad_request = |message: &str| Err(AlterError::InvalidRequest(message.to_owned()));
        let cases = [
            ("interval.ms", "1000", Ok(())),
            ("match", "client_id=a.*,client_source_port=12", Ok(())),
            (
                "interval.ms",
                "5",
                bad_request(
                    "Invalid value 5 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
                ),
            ),
            (
                "interval.ms",
                "x",
                invalid("Invalid value x for configuration interval.ms: Not a number of type INT"),
            ),
            ("match", "foo=x", invalid("Illegal client matching pattern: foo=x")),
            ("match", "client_id", invalid("Illegal client matching pattern: client_id")),
            ("nope", "1", bad_request("Unknown client metrics configuration: nope")),
        ];
        for (key, value, expected) in cases {
            assert_eq!(check(&Overrides::from([(key.into(), value.into())])), expected);
        }
    }
}
