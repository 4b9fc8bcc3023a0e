//! Text ↔ typed values of configuration keys, with Kafka's rules, words and way of writing numbers.
//!
//! Source: Kafka's `ConfigDef` (`parseType`, `convertToString` and the validators).

use std::collections::BTreeSet;
use std::fmt;

use super::keys::{Key, Kind, Valid};

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A BOOLEAN.
    Boolean(bool),
    /// An INT, SHORT or LONG.
    Number(i64),
    /// A DOUBLE.
    Double(f64),
    /// A STRING, CLASS or PASSWORD.
    Text(String),
    /// A LIST.
    List(Vec<String>),
}

/// A value that a key does not take: the whole message, in Kafka's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidValue(pub String);

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidValue {}

impl InvalidValue {
    /// `value` is refused for `key`, and why.
    #[must_use]
    pub fn new(key: &str, value: impl fmt::Display, why: impl fmt::Display) -> Self {
        Self(format!("Invalid value {value} for configuration {key}: {why}"))
    }
}

/// Reads `text` as a value of `key` and checks it. Of equal items in a list only the first is kept.
///
/// # Errors
/// What the type or the valid values of `key` do not allow.
pub fn parse(key: &Key, text: &str) -> Result<Value, InvalidValue> {
    let mut value = parse_kind(key.name, key.kind, text)?;
    if let (Valid::Items { .. }, Value::List(items)) = (key.valid, &mut value) {
        remove_duplicates(items);
    }
    check(key, &value)?;
    Ok(value)
}

/// Reads `text` as a value of `key` and checks it, as for a dynamic change of a broker: equal items are refused.
///
/// # Errors
/// What the type or the valid values of `key` do not allow.
pub fn parse_strictly(key: &Key, text: &str) -> Result<Value, InvalidValue> {
    let value = parse_kind(key.name, key.kind, text)?;
    if let (Valid::Items { .. }, Value::List(items)) = (key.valid, &value) {
        refuse_duplicates(key.name, items)?;
    }
    check(key, &value)?;
    Ok(value)
}

/// Reads `text` as a value of type `kind`, without the checks that a key adds.
///
/// # Errors
/// What is not of the type.
pub fn parse_kind(name: &str, kind: Kind, text: &str) -> Result<Value, InvalidValue> {
    let trimmed = java_trim(text);
    let number = |value: Option<i64>| {
        let not_a_number =
            || InvalidValue::new(name, trimmed, format_args!("Not a number of type {}", kind.word()));
        value.map(Value::Number).ok_or_else(not_a_number)
    };
    match kind {
        Kind::Boolean if trimmed.eq_ignore_ascii_case("true") => Ok(Value::Boolean(true)),
        Kind::Boolean if trimmed.eq_ignore_ascii_case("false") => Ok(Value::Boolean(false)),
        Kind::Boolean => Err(InvalidValue::new(name, trimmed, "Expected value to be either true or false")),
        Kind::Int => number(trimmed.parse::<i32>().ok().map(i64::from)),
        Kind::Short => number(trimmed.parse::<i16>().ok().map(i64::from)),
        Kind::Long => number(trimmed.parse::<i64>().ok()),
        Kind::Double => match parse_double(trimmed) {
            Some(value) => Ok(Value::Double(value)),
            None => Err(InvalidValue::new(name, trimmed, "Not a number of type DOUBLE")),
        },
        Kind::List => Ok(Value::List(split_list(trimmed))),
        Kind::String | Kind::Class | Kind::Password => Ok(Value::Text(trimmed.to_owned())),
    }
}

/// Java's `String.trim`: everything up to U+0020 counts as blank.
#[must_use]
pub fn java_trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// Splits at commas, blanks around them removed; empty text has no items.
fn split_list(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    text.split(',').map(|item| item.trim().to_owned()).collect()
}

/// Java's `Double.parseDouble`, but for hexadecimal notation.
fn parse_double(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "NaN" || unsigned == "Infinity" {
        return text.parse().ok();
    }
    let digits = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    // Rust reads words such as "inf" where Java does not.
    if digits.contains(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')) {
        return None;
    }
    digits.parse().ok()
}

fn check(key: &Key, value: &Value) -> Result<(), InvalidValue> {
    let refuse = |why: String| Err(InvalidValue::new(key.name, value, why));
    match (key.valid, value) {
        (Valid::Range { min, max }, Value::Number(_) | Value::Double(_)) => {
            let number = match value {
                Value::Double(number) => *number,
                Value::Number(number) => *number as f64,
                _ => return Ok(()),
            };
            match max {
                _ if number < min => refuse(format!("Value must be at least {min}")),
                Some(max) if number > max => refuse(format!("Value must be no more than {max}")),
                _ => Ok(()),
            }
        }
        (Valid::OneOf(texts), Value::Text(text)) if !texts.contains(&text.as_str()) => {
            refuse(format!("String must be one of: {}", texts.join(", ")))
        }
        (Valid::OneOfIgnoringCase(texts), Value::Text(text))
            if !texts.iter().any(|valid| valid.eq_ignore_ascii_case(text)) =>
        {
            refuse(format!("String must be one of (case insensitive): {}", texts.join(", ")))
        }
        (Valid::NotEmpty, Value::Text(text)) if text.is_empty() => {
            refuse("String must be non-empty".to_owned())
        }
        (Valid::GzipLevel, Value::Number(level)) if *level != -1 && !(1..=9).contains(level) => {
            refuse("Value must be between 1 and 9 or equal to -1".to_owned())
        }
        (Valid::AutoOffsetReset, Value::Text(text)) => check_auto_offset_reset(key, text),
        (Valid::ThrottledReplicas, Value::List(items)) => check_throttled_replicas(key, items),
        (Valid::Items { items: valid, may_be_empty }, Value::List(items)) => {
            check_items(key.name, valid, may_be_empty, items)
        }
        _ => Ok(()),
    }
}

/// Keeps the first of equal items, as Kafka does with a warning.
fn remove_duplicates(items: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    items.retain(|item| seen.insert(item.clone()));
}

fn refuse_duplicates(name: &str, items: &[String]) -> Result<(), InvalidValue> {
    let mut seen = BTreeSet::new();
    if items.iter().all(|item| seen.insert(item)) {
        return Ok(());
    }
    Err(InvalidValue(format!("Configuration '{name}' values must not be duplicated.")))
}

fn check_items(name: &str, valid: &[&str], may_be_empty: bool, items: &[String]) -> Result<(), InvalidValue> {
    if items.is_empty() && !may_be_empty {
        let any = || "any non-empty value".to_owned();
        let valid = if valid.is_empty() { any() } else { format!("[{}]", valid.join(", ")) };
        return Err(InvalidValue(format!(
            "Configuration '{name}' must not be empty. Valid values include: {valid}"
        )));
    }
    for item in items {
        if item.is_empty() {
            return Err(InvalidValue(format!("Configuration '{name}' values must not be empty.")));
        }
        if !valid.is_empty() && !valid.contains(&item.as_str()) {
            let why = format!("String must be one of: {}", valid.join(", "));
            return Err(InvalidValue::new(name, item, why));
        }
    }
    Ok(())
}

fn check_throttled_replicas(key: &Key, items: &[String]) -> Result<(), InvalidValue> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_pair = |item: &String| {
        item.split_once(':').is_some_and(|(partition, broker)| is_number(partition) && is_number(broker))
    };
    if items.concat() == "*" || items.iter().all(|item| item.is_empty() || is_pair(item)) {
        return Ok(());
    }
    let why = format!(
        "{} must be the literal '*' or a list of replicas in the following format: [partitionId]:[brokerId],\
         [partitionId]:[brokerId],...",
        key.name
    );
    // Kafka writes a list as Java does, in brackets.
    Err(InvalidValue::new(key.name, format_args!("[{}]", items.join(", ")), why))
}

fn check_auto_offset_reset(key: &Key, text: &str) -> Result<(), InvalidValue> {
    let by_duration = |text: &str| text.strip_prefix("by_duration:").is_some_and(is_iso_duration);
    if matches!(text, "latest" | "earliest") || by_duration(text) {
        return Ok(());
    }
    let why = format!(
        "Invalid value `{text}` for configuration {}. The value must be either 'earliest', 'latest' or of the \
         format 'by_duration:<PnDTnHnMn.nS>'.",
        key.name
    );
    Err(InvalidValue::new(key.name, text, why))
}

/// Whether `text` is a duration that is not negative, as Java's `Duration.parse` takes it: `PnDTnHnMn.nS`.
fn is_iso_duration(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let Some(rest) = upper.strip_prefix('P') else { return false };
    let (days, time) = match rest.split_once('T') {
        Some((days, time)) => (days, Some(time)),
        None => (rest, None),
    };
    let parts = |text: &str, units: &str| -> Option<usize> {
        let mut left = units.chars();
        let mut count = 0;
        let mut number = String::new();
        for c in text.chars() {
            if c.is_ascii_digit() || (c == '.' && !number.contains('.')) {
                number.push(c);
            } else {
                let whole = !number.contains('.') || c == 'S';
                if number.is_empty() || number.starts_with('.') || !whole || !left.any(|unit| unit == c) {
                    return None;
                }
                number.clear();
                count += 1;
            }
        }
        number.is_empty().then_some(count)
    };
    match (parts(days, "D"), time.map(|time| parts(time, "HMS"))) {
        (Some(days), None) => days > 0,
        (Some(_), Some(Some(times))) => times > 0,
        _ => false,
    }
}

impl fmt::Display for Value {
    /// Writes the value as Kafka's `ConfigDef.convertToString` does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Double(value) => f.write_str(&java_double(*value)),
            Self::Text(value) => f.write_str(value),
            Self::List(items) => f.write_str(&items.join(",")),
        }
    }
}

/// Java's `Double.toString`: always a fraction, and an exponent below 10^-3 and from 10^7 on.
fn java_double(value: f64) -> String {
    let size = value.abs();
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else if size == 0.0 || (1e-3..1e7).contains(&size) {
        format!("{value:?}")
    } else {
        let text = format!("{value:E}");
        match text.split_once('E') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::{broker_key, group_key, topic_key};

    fn shown(name: &str, text: &str) -> String {
        let key = broker_key(name).or_else(|| topic_key(name)).or_else(|| group_key(name)).expect(name);
        match parse(key, text) {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        }
    }

    /// Each line was asked of Kafka 4.4.0's own `ConfigDef`.
    #[test]
    fn values_are_read_and_refused_as_kafka_does() {
        let cases = [
            ("num.partitions", " 5 ", "5"),
            ("num.partitions", "+5", "5"),
            (
                "num.partitions",
                "",
                "Invalid value  for configuration num.partitions: Not a number of type INT",
            ),
            (
                "num.partitions",
                "1.5",
                "Invalid value 1.5 for configuration num.partitions: Not a number of type INT",
            ),
            (
                "num.partitions",
                "0",
                "Invalid value 0 for configuration num.partitions: Value must be at least 1",
            ),
            (
                "offsets.topic.replication.factor",
                "70000",
                "Invalid value 70000 for configuration offsets.topic.replication.factor: Not a number of type SHORT",
            ),
            (
                "compression.lz4.level",
                "20",
                "Invalid value 20 for configuration compression.lz4.level: Value must be no more than 17",
            ),
            (
                "compression.gzip.level",
                "0",
                "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1",
            ),
            ("auto.create.topics.enable", "TRUE", "true"),
            (
                "auto.create.topics.enable",
                "yes",
                "Invalid value yes for configuration auto.create.topics.enable: Expected value to be either true or false",
            ),
            (
                "log.cleaner.min.cleanable.ratio",
                "2",
                "Invalid value 2.0 for configuration log.cleaner.min.cleanable.ratio: Value must be no more than 1",
            ),
            (
                "log.cleaner.min.cleanable.ratio",
                "x",
                "Invalid value x for configuration log.cleaner.min.cleanable.ratio: Not a number of type DOUBLE",
            ),
            ("log.cleaner.io.buffer.load.factor", "1d", "1.0"),
            ("log.cleaner.io.buffer.load.factor", "1e30", "1.0E30"),
            ("log.cleaner.io.buffer.load.factor", "NaN", "NaN"),
            (
                "log.cleaner.io.buffer.load.factor",
                "inf",
                "Invalid value inf for configuration log.cleaner.io.buffer.load.factor: Not a number of type DOUBLE",
            ),
            (
                "compression.type",
                "foo",
                "Invalid value foo for configuration compression.type: String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
            ),
            (
                "group.consumer.migration.policy",
                "foo",
                "Invalid value foo for configuration group.consumer.migration.policy: String must be one of (case insensitive): DISABLED, DOWNGRADE, UPGRADE, BIDIRECTIONAL",
            ),
            ("group.consumer.migration.policy", "Upgrade", "Upgrade"),
            ("log.cleanup.policy", "compact , delete", "compact,delete"),
            ("log.cleanup.policy", "", ""),
            (
                "log.cleanup.policy",
                "foo",
                "Invalid value foo for configuration log.cleanup.policy: String must be one of: compact, delete",
            ),
            ("log.cleanup.policy", "delete,compact,delete", "delete,compact"),
            ("log.cleanup.policy", ",foo", "Configuration 'log.cleanup.policy' values must not be empty."),
            (
                "listeners",
                "",
                "Configuration 'listeners' must not be empty. Valid values include: any non-empty value",
            ),
            (
                "process.roles",
                "",
                "Configuration 'process.roles' must not be empty. Valid values include: [broker, controller]",
            ),
            (
                "remote.log.metadata.manager.impl.prefix",
                "",
                "Invalid value  for configuration remote.log.metadata.manager.impl.prefix: String must be non-empty",
            ),
        ];
        for (name, text, expected) in cases {
            assert_eq!(shown(name, text), expected);
        }
    }

    #[test]
    fn equal_items_are_refused_when_it_is_strict() {
        let key = broker_key("log.cleanup.policy").unwrap();
        let refused = "Configuration 'log.cleanup.policy' values must not be duplicated.";
        assert_eq!(parse_strictly(key, "delete,delete"), Err(InvalidValue(refused.to_owned())));
        assert!(parse_strictly(key, "delete,compact").is_ok());
    }

    #[test]
    fn durations_are_iso_8601() {
        for good in ["by_duration:PT1H", "by_duration:P1D", "by_duration:p1dt2h3m4.5s", "latest", "earliest"]
        {
            assert_eq!(shown("share.auto.offset.reset", good), good);
        }
        for bad in [
            "",
            "none",
            "by_duration:",
            "by_duration:P",
            "by_duration:PT",
            "by_duration:1H",
            "by_duration:PT1.5H",
            "by_duration:PT1M1H",
        ] {
            assert!(shown("share.auto.offset.reset", bad).starts_with("Invalid value"), "{bad}");
        }
    }

    #[test]
    fn doubles_are_written_as_java_writes_them() {
        let cases =
            [(0.5, "0.5"), (1.0, "1.0"), (0.0, "0.0"), (-0.0, "-0.0"), (0.001, "0.001"), (0.0001, "1.0E-4")];
        for (value, text) in cases.into_iter().chain([
            (1e7, "1.0E7"),
            (1234567.0, "1234567.0"),
            (f64::MAX, "1.7976931348623157E308"),
        ]) {
            assert_eq!(java_double(value), text);
        }
    }
}
