//! Words that every room uses: ids, epochs, times. No logic beyond conversion.

use std::fmt;
use std::sync::Arc;

/// A point in time or a length of time, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub i64);

impl Millis {
    /// The end of time: no deadline is later.
    pub const MAX: Self = Self(i64::MAX);

    /// This point in time moved by `millis`, without overflow.
    #[must_use]
    pub const fn plus(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Milliseconds from `earlier` to this point in time.
    #[must_use]
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

/// The time of one call, read once by the shell and handed to every core.
///
/// Deadlines are measured on `monotonic`; what a client may see (commit and append
/// timestamps, offset retention) on `wall`, milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Milliseconds since the process started. Never goes back.
    pub monotonic: Millis,
    /// Milliseconds since the Unix epoch. May jump.
    pub wall: Millis,
}

impl Now {
    /// The deadline `millis` from now.
    #[must_use]
    pub const fn after(self, millis: i64) -> Millis {
        self.monotonic.plus(millis)
    }
}

/// Who waits for an answer: a connection has at most one parked request
/// (Kafka mutes a connection while it works on a request of it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplyTo(pub u64);

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id as clients spell it.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }
    };
}

text_id!(
    /// The name of a group (`group.id`).
    GroupId
);
text_id!(
    /// The id of one member of a group, given by the coordinator (classic) or the client (KIP-848 v1).
    MemberId
);
text_id!(
    /// The name of a static member (`group.instance.id`, KIP-345).
    InstanceId
);
text_id!(
    /// The name of a topic.
    TopicName
);
text_id!(
    /// The name under which a producer has transactions (`transactional.id`).
    TransactionalId
);

/// The id of a topic (KIP-516). All zero means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(pub u128);

impl TopicId {
    /// No topic id.
    pub const ZERO: Self = Self(0);
}

impl From<uuid::Uuid> for TopicId {
    fn from(id: uuid::Uuid) -> Self {
        Self(id.as_u128())
    }
}

impl From<TopicId> for uuid::Uuid {
    fn from(id: TopicId) -> Self {
        Self::from_u128(id.0)
    }
}

/// An idempotent or transactional producer, and how often it was initialized (KIP-98).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerIdAndEpoch {
    /// Given by the transaction coordinator.
    pub id: i64,
    /// Whoever has an older one is fenced.
    pub epoch: i16,
}

impl fmt::Display for ProducerIdAndEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "producerId {} and producer epoch {}", self.id, self.epoch)
    }
}

/// One partition of a topic, by the topic's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic.
    pub topic: TopicId,
    /// The partition index.
    pub partition: i32,
}

/// A topic as the groups see it.
#[derive(Clone, Copy, Debug)]
pub struct TopicView<'a> {
    /// Its name.
    pub name: &'a TopicName,
    /// Its id.
    pub id: TopicId,
    /// How many partitions it has.
    pub partitions: i32,
}

/// The topics as they were at one moment; a later picture has a higher number.
pub trait TopicImage: fmt::Debug + Send + Sync {
    /// Counts the changes to the topics since the start.
    fn number(&self) -> u64;
    /// The number of the picture in which a topic was last seen for the first time.
    fn newest_topic(&self) -> u64;
    /// The topic with this name.
    fn topic_by_name(&self, name: &str) -> Option<TopicView<'_>>;
    /// The topic with this id.
    fn topic_by_id(&self, id: TopicId) -> Option<TopicView<'_>>;
    /// Shows every topic, in no order.
    fn for_each_topic(&self, visit: &mut dyn FnMut(TopicView<'_>));
}

/// No topics.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTopics;

impl TopicImage for NoTopics {
    fn number(&self) -> u64 {
        0
    }

    fn newest_topic(&self) -> u64 {
        0
    }

    fn topic_by_name(&self, _name: &str) -> Option<TopicView<'_>> {
        None
    }

    fn topic_by_id(&self, _id: TopicId) -> Option<TopicView<'_>> {
        None
    }

    fn for_each_topic(&self, _visit: &mut dyn FnMut(TopicView<'_>)) {}
}
