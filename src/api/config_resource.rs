//! What configs belong to, as DescribeConfigs and IncrementalAlterConfigs name it (Kafka's `ConfigResource`).

/// The type of what configs belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResourceType {
    Topic,
    Broker,
    BrokerLogger,
    ClientMetrics,
    Group,
}

impl ResourceType {
    /// `None` is a type that Kafka does not know.
    pub(super) const fn from_code(code: i8) -> Option<Self> {
        match code {
            2 => Some(Self::Topic),
            4 => Some(Self::Broker),
            8 => Some(Self::BrokerLogger),
            16 => Some(Self::ClientMetrics),
            32 => Some(Self::Group),
            _ => None,
        }
    }

    pub(super) const fn code(self) -> i8 {
        match self {
            Self::Topic => 2,
            Self::Broker => 4,
            Self::BrokerLogger => 8,
            Self::ClientMetrics => 16,
            Self::Group => 32,
        }
    }
}

/// The one logger whose level can be seen: that of the process.
pub(super) const ROOT_LOGGER: &str = "root";

/// A node id as Java reads it: decimal, with a sign or without.
pub(super) fn node_id(name: &str) -> Option<i32> {
    name.parse().ok()
}
