//! The keys of a client metrics subscription (`ClientMetricsConfigs`, KIP-714), in the order of their definition.

use super::{Key, int, list};

/// Every key of a client metrics subscription.
pub static CLIENT_METRICS_KEYS: &[Key] =
    &[list("metrics", ""), int("interval.ms", "300000"), list("match", "")];
