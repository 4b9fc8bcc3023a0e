//! What is to be played.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::assignor::client::ClientAssignor;
use crate::assignor::{PartitionAssignor, broker_assignors};
use crate::limits::{SIMULATED_MEMBERS_MAX, SIMULATED_PARTITIONS_MAX, SIMULATED_STEPS_MAX};
use crate::types::TopicName;

/// A group and what happens to it. All members subscribe to all topics.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Who decides.
    pub assignor: Assignor,
    /// How many members there are in the beginning: m1, m2, …
    pub members: usize,
    /// The topics in the beginning.
    pub topics: Vec<Topic>,
    /// One change after another.
    pub steps: Vec<Step>,
}

/// A topic and how many partitions it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: TopicName,
    /// At least 1.
    pub partitions: usize,
}

/// One change of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Another member joins.
    Join,
    /// This member leaves, or dies.
    Leave(String),
    /// A topic has more partitions now.
    Grow(Topic),
}

/// An assignor, in the broker or in the leader.
#[derive(Clone, Debug)]
pub enum Assignor {
    /// The broker computes, and each member goes there by itself (`group.protocol=consumer`).
    Broker(Arc<dyn PartitionAssignor>),
    /// The leader computes when all have joined (`group.protocol=classic`).
    Client(ClientAssignor),
}

impl Scenario {
    pub(super) fn check(&self) -> Result<(), String> {
        let mut names: Vec<&TopicName> = self.topics.iter().map(|topic| &topic.name).collect();
        names.sort();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("the topic {} is there twice", pair[0]));
        }
        if self.steps.len() > SIMULATED_STEPS_MAX {
            return Err(format!("more than {SIMULATED_STEPS_MAX} steps"));
        }
        check_size(self.members, &self.topics)
    }
}

pub(super) fn check_size(members: usize, topics: &[Topic]) -> Result<(), String> {
    if members > SIMULATED_MEMBERS_MAX {
        return Err(format!("more than {SIMULATED_MEMBERS_MAX} members"));
    }
    let partitions = topics.iter().fold(0, |sum: usize, topic| sum.saturating_add(topic.partitions));
    if partitions > SIMULATED_PARTITIONS_MAX {
        return Err(format!("more than {SIMULATED_PARTITIONS_MAX} partitions"));
    }
    Ok(())
}

impl Assignor {
    /// The name by which it is asked for. Both protocols have a `range`; that of the broker is `broker-range` here.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Broker(assignor) if assignor.name() == ClientAssignor::Range.name() => {
                "broker-range".to_owned()
            }
            Self::Broker(assignor) => assignor.name().to_owned(),
            Self::Client(assignor) => assignor.name().to_owned(),
        }
    }

    /// All that there are.
    pub fn all() -> impl Iterator<Item = Self> {
        let clients = ClientAssignor::ALL.into_iter().map(Self::Client);
        clients.chain(broker_assignors().into_iter().map(Self::Broker))
    }
}

impl FromStr for Assignor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all().find(|assignor| assignor.name() == text).ok_or_else(|| {
            let names: Vec<String> = Self::all().map(|assignor| assignor.name()).collect();
            format!("it must be one of {}", names.join(", "))
        })
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "join" => Ok(Self::Join),
            Some(("leave", member)) if !member.is_empty() => Ok(Self::Leave(member.to_owned())),
            Some(("grow", topic)) => Ok(Self::Grow(topic.parse()?)),
            _ => Err("it must be join, leave:MEMBER or grow:TOPIC:PARTITIONS".to_owned()),
        }
    }
}

impl FromStr for Topic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, partitions) = text.split_once(':').unwrap_or((text, ""));
        let partitions = partitions.parse().ok().filter(|count| *count > 0);
        match (partitions, name) {
            (Some(partitions), name) if !name.is_empty() => Ok(Self { name: name.into(), partitions }),
            _ => Err("it must be TOPIC:PARTITIONS, such as orders:6".to_owned()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join => f.write_str("join"),
            Self::Leave(member) => write!(f, "leave:{member}"),
            Self::Grow(topic) => write!(f, "grow:{topic}"),
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.partitions)
    }
}
