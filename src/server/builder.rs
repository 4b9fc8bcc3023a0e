//! What a broker is made of, for a program that brings along parts of its own.

use std::sync::Arc;

use super::{Server, StartError};
use crate::api::Groups;
use crate::assignor::{Guarded, PartitionAssignor, broker_assignors};
use crate::config::Config;

/// A broker that is not started yet; [`Server::builder`] makes one.
#[derive(Debug)]
pub struct Builder {
    pub(super) config: Config,
    /// Those that `group.consumer.assignors` may list.
    assignors: Vec<Arc<dyn PartitionAssignor>>,
}

impl Builder {
    pub(super) fn new(config: Config) -> Self {
        Self { config, assignors: broker_assignors().into() }
    }

    /// Knows one more assignor. Members of consumer groups may ask for it by its name
    /// (`group.remote.assignor` of the clients) if `group.consumer.assignors` lists it.
    ///
    /// It runs under the lock of a shard: whatever else is asked of the groups there waits. If it panics or gives what
    /// cannot be, the heartbeat that called for an assignment is answered UNKNOWN_SERVER_ERROR, the group keeps what it
    /// has, and the next heartbeat tries again.
    ///
    /// ```
    /// use rallypoint::assignor::{GroupSpec, MemberAssignment, PartitionAssignor, PartitionAssignorError};
    /// use rallypoint::config::Config;
    /// use rallypoint::server::Server;
    ///
    /// /// All partitions of a topic go to one member, so that it sees the whole of it.
    /// #[derive(Debug)]
    /// struct WholeTopics;
    ///
    /// impl PartitionAssignor for WholeTopics {
    ///     fn name(&self) -> &str {
    ///         "whole-topics"
    ///     }
    ///
    ///     fn assign(&self, group: &GroupSpec) -> Result<Vec<MemberAssignment>, PartitionAssignorError> {
    ///         let mut given = vec![Vec::new(); group.members.len()];
    ///         for topic in &group.topics {
    ///             let subscribes = |&m: &usize| group.members[m].subscribed_topics.contains(&topic.topic_id);
    ///             let has_least = (0..given.len()).filter(subscribes).min_by_key(|&m| given[m].len());
    ///             if let Some(member) = has_least {
    ///                 given[member].extend((0..topic.partition_count as i32).map(|p| (topic.topic_id, p)));
    ///             }
    ///         }
    ///         Ok(given.into_iter().map(MemberAssignment::from_iter).collect())
    ///     }
    /// }
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let assignors = ("group.consumer.assignors", "whole-topics,uniform"); // the first is the default
    /// let config = Config::with(&[("listeners", "PLAINTEXT://127.0.0.1:0"), assignors])?;
    /// let server = Server::builder(config).assignor(WholeTopics).start()?;
    /// # server.shutdown().await;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn assignor(mut self, assignor: impl PartitionAssignor + 'static) -> Self {
        self.assignors.push(Arc::new(Guarded::new(Arc::new(assignor))));
        self
    }

    /// Starts it, as [`Server::start`] does.
    ///
    /// # Errors
    /// Those of [`Server::start`]; two assignors have the same name; `group.consumer.assignors` lists one that there is
    /// not.
    pub fn start(self) -> Result<Server, StartError> {
        self.start_with(|shards| shards)
    }

    /// Starts it with other coordinators than the shards, or with something before them.
    pub(super) fn start_with(
        self,
        groups: impl FnOnce(Arc<dyn Groups>) -> Arc<dyn Groups>,
    ) -> Result<Server, StartError> {
        Server::start_built(self, groups)
    }

    /// The assignors that `group.consumer.assignors` lists, in this order.
    // Differs from Kafka: `group.consumer.assignors` can name no class.
    pub(super) fn listed_assignors(&self) -> Result<Arc<[Arc<dyn PartitionAssignor>]>, StartError> {
        let names: Vec<&str> = self.assignors.iter().map(|assignor| assignor.name()).collect();
        if let Some(twice) = names.iter().enumerate().find(|(n, name)| names[..*n].contains(name)) {
            return Err(StartError::Assignor(format!("there are two assignors with the name {}", twice.1)));
        }
        let listed = self.config.group_consumer_assignors.iter().map(|listed| {
            let place = names.iter().position(|name| name == listed);
            place.map(|place| Arc::clone(&self.assignors[place])).ok_or_else(|| {
                let known = names.join(" and ");
                let message =
                    format!("group.consumer.assignors: there is no assignor {listed}, but {known}.");
                StartError::Assignor(message)
            })
        });
        listed.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assignor::{RangeAssignor, UniformAssignor};

    fn listed(builder: &Builder) -> Result<Vec<String>, String> {
        let assignors = builder.listed_assignors().map_err(|error| error.to_string())?;
        Ok(assignors.iter().map(|assignor| assignor.name().to_owned()).collect())
    }

    fn builder(assignors: &str) -> Builder {
        Builder::new(
            Config::with(&[("group.consumer.assignors", assignors)]).expect("any name may be listed"),
        )
    }

    #[test]
    fn the_assignors_are_those_that_are_listed_in_that_order() {
        assert_eq!(listed(&builder("range,uniform")).unwrap(), ["range", "uniform"]);
        assert_eq!(listed(&builder("range")).unwrap(), ["range"]);
    }

    #[test]
    fn one_that_there_is_not_is_refused() {
        let message = "group.consumer.assignors: there is no assignor fair, but uniform and range.";
        assert_eq!(listed(&builder("uniform,fair")), Err(message.to_owned()));
    }

    #[test]
    fn a_name_belongs_to_one_assignor() {
        let twice = |builder: Builder| listed(&builder).unwrap_err();
        let message = "there are two assignors with the name range";
        assert_eq!(twice(builder("uniform").assignor(RangeAssignor)), message);
        let message = "there are two assignors with the name uniform";
        assert_eq!(twice(builder("range").assignor(UniformAssignor)), message);
    }
}
