//! The assignors: against what Kafka's classes gave, and against what must hold for any group.

mod properties;
mod recorded;
