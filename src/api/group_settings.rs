//! What the configuration says about one group: its own configs within the bounds of the broker, or the broker's.
//!
//! Source: GroupConfig.evaluate, GroupMetadataManager.consumerGroupSessionTimeoutMs and its like.

use super::Context;
use crate::coordinator::command::ConsumerSettings;

/// Of a consumer group, as it is now.
pub(super) fn consumer(ctx: &Context<'_>, group: &str) -> ConsumerSettings {
    let broker = ctx.services.live_config.broker();
    let own = ctx.services.live_config.group(group);
    let within = |key: &str, default: i32, min: i32, max: i32| {
        let own = own.get(key).and_then(|value| value.parse::<i32>().ok());
        own.map_or(default, |value| value.min(max).max(min))
    };
    ConsumerSettings {
        session_timeout_ms: within(
            "consumer.session.timeout.ms",
            broker.group_consumer_session_timeout_ms,
            broker.group_consumer_min_session_timeout_ms,
            broker.group_consumer_max_session_timeout_ms,
        ),
        heartbeat_interval_ms: within(
            "consumer.heartbeat.interval.ms",
            broker.group_consumer_heartbeat_interval_ms,
            broker.group_consumer_min_heartbeat_interval_ms,
            broker.group_consumer_max_heartbeat_interval_ms,
        ),
        assignment_interval_ms: within(
            "consumer.assignment.interval.ms",
            broker.group_consumer_assignment_interval_ms,
            broker.group_consumer_min_assignment_interval_ms,
            broker.group_consumer_max_assignment_interval_ms,
        ),
    }
}
