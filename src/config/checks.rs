//! What must hold between several keys, in the words of Kafka's `KafkaConfig` and `GroupCoordinatorConfig`.

use super::{Config, ConfigError, Sources};

/// Refuses a combination of values that Kafka refuses.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let sources = &config.sources;
    check_logs(config)?;
    check_connections(config)?;
    for protocol in ["consumer", "share", "streams"] {
        check_group_protocol(sources, protocol)?;
    }
    at_most(sources, "group.streams.num.standby.replicas", "group.streams.max.standby.replicas")?;
    at_least(sources, "group.streams.task.offset.interval.ms", "group.streams.min.task.offset.interval.ms")?;
    at_most(sources, "group.streams.num.warmup.replicas", "group.streams.max.warmup.replicas")
}

fn check_logs(config: &Config) -> Result<(), ConfigError> {
    require(
        config.topic_defaults.retention_ms == -1 || config.topic_defaults.retention_ms >= 1,
        "requirement failed: log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    )?;
    require(
        config.topic_defaults.segment_ms >= 1,
        "requirement failed: log.roll.ms must be greater than or equal to 1",
    )?;
    let jitter_ms = number(&config.sources, "log.roll.jitter.ms")?;
    require(jitter_ms >= 0, "requirement failed: log.roll.jitter.ms must be greater than or equal to 0")
}

fn check_connections(config: &Config) -> Result<(), ConfigError> {
    require(
        config.max_connections_per_ip > 0 || !config.max_connections_per_ip_overrides.is_empty(),
        "requirement failed: max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides \
         property is set.",
    )?;
    for pair in config.max_connections_per_ip_overrides.split(',').filter(|pair| !pair.trim().is_empty()) {
        let count = pair.rsplit_once(':').map(|(_, count)| count.trim().parse::<i32>());
        require(
            matches!(count, Some(Ok(_))),
            &format!(
                "Error parsing configuration property 'max.connections.per.ip.overrides': {pair} is not HOST:COUNT"
            ),
        )?;
    }
    let authentication_delay_ms = number(&config.sources, "connection.failed.authentication.delay.ms")?;
    require(
        config.connections_max_idle_ms < 0 || authentication_delay_ms < config.connections_max_idle_ms,
        &format!(
            "requirement failed: connection.failed.authentication.delay.ms={authentication_delay_ms} should always be less than \
             connections.max.idle.ms={} to prevent failed authentication responses from timing out",
            config.connections_max_idle_ms
        ),
    )
}

/// Heartbeats, sessions and assignments of one of the newer group protocols.
fn check_group_protocol(sources: &Sources, protocol: &str) -> Result<(), ConfigError> {
    let key = |rest: &str| format!("group.{protocol}.{rest}");
    for what in ["heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"] {
        let (value, min, max) = (key(what), key(&format!("min.{what}")), key(&format!("max.{what}")));
        at_least(sources, &max, &min)?;
        at_least(sources, &value, &min)?;
        at_most(sources, &value, &max)?;
        if what == "session.timeout.ms" {
            let heartbeat = key("heartbeat.interval.ms");
            let is_less = number(sources, &heartbeat)? < number(sources, &value)?;
            require(is_less, &format!("{heartbeat} must be less than {value}"))?;
        }
    }
    Ok(())
}

fn at_least(sources: &Sources, key: &str, other: &str) -> Result<(), ConfigError> {
    let holds = number(sources, key)? >= number(sources, other)?;
    require(holds, &format!("{key} must be greater than or equal to {other}"))
}

fn at_most(sources: &Sources, key: &str, other: &str) -> Result<(), ConfigError> {
    let holds = number(sources, key)? <= number(sources, other)?;
    require(holds, &format!("{key} must be less than or equal to {other}"))
}

fn number(sources: &Sources, key: &str) -> Result<i64, ConfigError> {
    Ok(sources.number(key)?.unwrap_or_default())
}

fn require(holds: bool, message: &str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::Invalid(message.to_owned())) }
}
