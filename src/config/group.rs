//! What a group may set of its own: values within the bounds of the broker (Kafka's `GroupConfig`).

use std::collections::BTreeMap;

use super::Sources;
use super::alter::AlterError;
use super::keys::{GROUP_KEYS, group_key};
use super::value::{self, Value};
use crate::catalog::Overrides;

/// Checks what a group sets.
pub(super) fn check(sources: &Sources, own: &Overrides) -> Result<(), AlterError> {
    if let Some(unknown) = own.keys().find(|name| group_key(name).is_none()) {
        return refuse(format!("Unknown group config name: {unknown}"));
    }
    check_tags(own)?;
    let mut values = BTreeMap::new();
    for key in GROUP_KEYS {
        if let Some(text) = own.get(key.name) {
            values.insert(key.name, value::parse(key, text)?);
        }
    }
    let check = Check { sources, values };
    for (protocol, names) in RANGES {
        for name in *names {
            check.range(protocol, name)?;
        }
    }
    check.streams_assignor()?;
    for protocol in ["consumer", "share", "streams"] {
        check.session_exceeds_heartbeat(protocol)?;
    }
    check.dead_letter_topic()
}

/// The keys of each protocol that the broker bounds, in the order that Kafka looks at them.
const RANGES: &[(&str, &[&str])] = &[
    ("consumer", &["heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"]),
    (
        "share",
        &[
            "heartbeat.interval.ms",
            "session.timeout.ms",
            "record.lock.duration.ms",
            "delivery.count.limit",
            "partition.max.record.locks",
            "assignment.interval.ms",
        ],
    ),
    (
        "streams",
        &[
            "heartbeat.interval.ms",
            "session.timeout.ms",
            "num.standby.replicas",
            "assignment.interval.ms",
            "task.offset.interval.ms",
            "num.warmup.replicas",
        ],
    ),
];

fn refuse(message: String) -> Result<(), AlterError> {
    Err(AlterError::InvalidConfig(message))
}

/// Tags are looked at before equal items of a list are dropped.
fn check_tags(own: &Overrides) -> Result<(), AlterError> {
    const KEY: &str = "streams.rack.aware.assignment.tags";
    let tags: Vec<_> = own.get(KEY).map(|tags| tags.split(',').map(str::trim).collect()).unwrap_or_default();
    if tags.iter().enumerate().any(|(at, tag)| tags[..at].contains(tag)) {
        return refuse(format!("{KEY} must not contain duplicate tag keys."));
    }
    Ok(())
}

struct Check<'a> {
    sources: &'a Sources,
    /// What the group sets.
    values: BTreeMap<&'static str, Value>,
}

impl Check<'_> {
    fn own(&self, name: &str) -> Option<i64> {
        match self.values.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }

    fn of_broker(&self, key: &str) -> Option<i64> {
        self.sources.number(key).ok().flatten()
    }

    /// A value is within `group.PROTOCOL.min.NAME` and `group.PROTOCOL.max.NAME`, as far as there are both.
    fn range(&self, protocol: &str, name: &str) -> Result<(), AlterError> {
        let key = format!("{protocol}.{name}");
        let Some(value) = self.own(&key) else { return Ok(()) };
        let bound = |bound: &str| {
            // The bound of a number of things stands before what they are: `max.standby.replicas`.
            let name = name.strip_prefix("num.").unwrap_or(name);
            self.of_broker(&format!("group.{protocol}.{bound}.{name}"))
        };
        match (bound("min"), bound("max")) {
            (Some(min), Some(max)) if !(min..=max).contains(&value) => {
                refuse(format!("{key} must be in the range {min} to {max} inclusive."))
            }
            (Some(min), None) if value < min => {
                refuse(format!("{key} must be greater than or equal to {min}"))
            }
            (None, Some(max)) if value > max => refuse(format!("{key} must be less than or equal to {max}")),
            _ => Ok(()),
        }
    }

    /// The session is longer than the time between heartbeats, whoever sets the two.
    fn session_exceeds_heartbeat(&self, protocol: &str) -> Result<(), AlterError> {
        let names = ["session.timeout.ms", "heartbeat.interval.ms"].map(|name| format!("{protocol}.{name}"));
        let value = |name: &String| self.own(name).or_else(|| self.of_broker(&format!("group.{name}")));
        let [session, heartbeat] = &names;
        match (value(session), value(heartbeat)) {
            (Some(session_ms), Some(heartbeat_ms)) if session_ms <= heartbeat_ms => {
                refuse(format!("{session} must be greater than {heartbeat}"))
            }
            _ => Ok(()),
        }
    }

    fn streams_assignor(&self) -> Result<(), AlterError> {
        let Some(Value::Text(name)) = self.values.get("streams.assignor.name") else { return Ok(()) };
        let registered = match self.sources.effective("group.streams.assignors") {
            Ok(Some(Value::List(names))) => names,
            _ => Vec::new(),
        };
        if registered.contains(name) {
            return Ok(());
        }
        refuse(format!(
            "streams.assignor.name '{name}' is not a registered task assignor. Registered assignors are: [{}].",
            registered.join(", ")
        ))
    }

    fn dead_letter_topic(&self) -> Result<(), AlterError> {
        const KEY: &str = "errors.deadletterqueue.topic.name";
        match self.values.get(KEY) {
            Some(Value::Text(name)) if name.starts_with("__") => {
                refuse(format!("{KEY}: DLQ topic name must not start with '__'"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// What is wrong with one config of a group, as Kafka 4.4.0 answered it; empty if nothing is.
    fn error(settings: &[(&str, &str)], key: &str, value: &str) -> String {
        let sources = Config::with(settings).unwrap().sources;
        match check(&sources, &Overrides::from([(key.into(), value.into())])) {
            Ok(()) => String::new(),
            Err(AlterError::InvalidConfig(message) | AlterError::InvalidRequest(message)) => message,
        }
    }

    #[test]
    fn values_are_within_the_bounds_of_the_broker() {
        let cases = [
            ("consumer.session.timeout.ms", "45001", ""),
            (
                "consumer.session.timeout.ms",
                "1",
                "consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.",
            ),
            (
                "consumer.assignment.interval.ms",
                "20000",
                "consumer.assignment.interval.ms must be in the range 0 to 15000 inclusive.",
            ),
            (
                "share.record.lock.duration.ms",
                "5000",
                "share.record.lock.duration.ms must be in the range 15000 to 60000 inclusive.",
            ),
            (
                "share.delivery.count.limit",
                "11",
                "share.delivery.count.limit must be in the range 2 to 10 inclusive.",
            ),
            (
                "share.partition.max.record.locks",
                "99999",
                "share.partition.max.record.locks must be in the range 100 to 4000 inclusive.",
            ),
            (
                "streams.num.standby.replicas",
                "3",
                "streams.num.standby.replicas must be less than or equal to 2",
            ),
            (
                "streams.num.warmup.replicas",
                "30",
                "streams.num.warmup.replicas must be less than or equal to 20",
            ),
            (
                "streams.task.offset.interval.ms",
                "3",
                "streams.task.offset.interval.ms must be greater than or equal to 15000",
            ),
        ];
        for (key, value, message) in cases {
            assert_eq!(error(&[], key, value), message);
        }
    }

    #[test]
    fn the_session_is_longer_than_the_heartbeat_interval() {
        let settings = [("group.consumer.min.session.timeout.ms", "6000")];
        let message = "consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms";
        assert_eq!(error(&settings, "consumer.session.timeout.ms", "6000"), "");
        let settings = [("group.consumer.min.session.timeout.ms", "4000")];
        assert_eq!(error(&settings, "consumer.session.timeout.ms", "5000"), message);
    }

    #[test]
    fn names_and_tags_are_checked() {
        let cases = [
            (
                "streams.assignor.name",
                "foo",
                "streams.assignor.name 'foo' is not a registered task assignor. Registered assignors are: [sticky].",
            ),
            ("streams.assignor.name", "sticky", ""),
            (
                "streams.rack.aware.assignment.tags",
                "a,a",
                "streams.rack.aware.assignment.tags must not contain duplicate tag keys.",
            ),
            (
                "errors.deadletterqueue.topic.name",
                "__x",
                "errors.deadletterqueue.topic.name: DLQ topic name must not start with '__'",
            ),
        ];
        for (key, value, message) in cases {
            assert_eq!(error(&[], key, value), message);
        }
    }
}
