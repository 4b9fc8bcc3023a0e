//! A group that rebalances as its protocol has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::scenario::{Assignor, Scenario, Step, Topic, check_size};
use super::{Outcome, Owner, Ownership};
use crate::assignor::client::{self, ClientAssignor, Subscription, TopicPartition, UserData};
use crate::assignor::{
    GroupSpec, MemberAssignment, MemberSpec, PartitionAssignor, SubscriptionType, TopicSpec,
};
use crate::types::{TopicId, TopicName};

pub(super) struct Group {
    assignor: Assignor,
    topics: Vec<Topic>,
    /// In the order in which they joined.
    members: Vec<Member>,
    /// The number of the last member that joined.
    last_member: usize,
    generation: i32,
    /// Who owned what when the group was at rest.
    owners: BTreeMap<TopicPartition, String>,
}

struct Member {
    id: String,
    owned: Vec<TopicPartition>,
    /// The generation in which it was given that.
    generation: Option<i32>,
}

impl Group {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let mut group = Self {
            assignor: scenario.assignor.clone(),
            topics: scenario.topics.clone(),
            members: Vec::new(),
            last_member: 0,
            generation: 0,
            owners: BTreeMap::new(),
        };
        (0..scenario.members).for_each(|_| group.join());
        group
    }

    fn join(&mut self) {
        self.last_member += 1;
        self.members.push(Member {
            id: format!("m{}", self.last_member),
            owned: Vec::new(),
            generation: None,
        });
    }

    pub(super) fn change(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Join => self.join(),
            Step::Leave(id) => {
                let member = self.members.iter().position(|member| member.id == *id);
                self.members.remove(member.ok_or_else(|| format!("{step}: there is no member {id}"))?);
            }
            Step::Grow(grown) => {
                let topic = self.topics.iter_mut().find(|topic| topic.name == grown.name);
                let topic = topic.ok_or_else(|| format!("{step}: there is no topic {}", grown.name))?;
                if grown.partitions <= topic.partitions {
                    return Err(format!("{step}: the topic has {} partitions already", topic.partitions));
                }
                topic.partitions = grown.partitions;
            }
        }
        check_size(self.members.len(), &self.topics)
    }

    /// Rebalances until nobody has anything to do.
    pub(super) fn settle(&mut self, step: Option<Step>) -> Result<Outcome, String> {
        let mut rebalances = Vec::new();
        let mut owners = self.owners();
        loop {
            let assignment = self.assign()?;
            self.generation += 1;
            for (member, assigned) in self.members.iter_mut().zip(assignment) {
                member.owned = assigned;
                member.generation = Some(self.generation);
            }
            rebalances.push(self.ownership());
            let held = std::mem::replace(&mut owners, self.owners());
            // Who had to give something up rejoins, so that it can be given to somebody else.
            let gave_up = held.iter().any(|(partition, owner)| owners.get(partition) != Some(owner));
            if !(gave_up && self.assignor.is_cooperative()) {
                break;
            }
        }
        let before = std::mem::replace(&mut self.owners, owners);
        let moved =
            before.iter().filter(|(p, owner)| self.owners.get(p).is_some_and(|now| now != *owner)).count();
        let kept = before.iter().filter(|(p, owner)| self.owners.get(p) == Some(owner)).count();
        let paused = if self.assignor.is_eager() { before.len() } else { before.len() - kept };
        Ok(Outcome { step, rebalances, moved, paused })
    }

    fn owners(&self) -> BTreeMap<TopicPartition, String> {
        let owned = self.members.iter().flat_map(|member| member.owned.iter().map(move |p| (member, p)));
        owned.map(|(member, partition)| (partition.clone(), member.id.clone())).collect()
    }

    fn ownership(&self) -> Ownership {
        let owner = |member: &Member| {
            let mut partitions: BTreeMap<TopicName, Vec<i32>> = BTreeMap::new();
            for TopicPartition { topic, partition } in &member.owned {
                partitions.entry(topic.clone()).or_default().push(*partition);
            }
            partitions.values_mut().for_each(|of_topic| of_topic.sort_unstable());
            Owner { member: member.id.clone(), partitions }
        };
        self.members.iter().map(owner).collect()
    }

    /// What each member is given.
    fn assign(&self) -> Result<Vec<Vec<TopicPartition>>, String> {
        match &self.assignor {
            Assignor::Broker(assignor) => self.assign_in_broker(&**assignor),
            Assignor::Client(assignor) => Ok(self.assign_in_leader(*assignor)),
        }
    }

    fn assign_in_leader(&self, assignor: ClientAssignor) -> Vec<Vec<TopicPartition>> {
        let topic = |topic: &Topic| client::Topic {
            name: topic.name.clone(),
            partition_count: topic.partitions,
            partition_racks: Vec::new(),
        };
        let topics: Vec<client::Topic> = self.topics.iter().map(topic).collect();
        let names: Arc<[TopicName]> = topics.iter().map(|topic| topic.name.clone()).collect();
        let subscription = |member: &Member| Subscription {
            member_id: member.id.as_str().into(),
            instance_id: None,
            rack_id: None,
            topics: names.clone(),
            owned_partitions: member.owned.clone(),
            generation: member.generation,
            user_data: member.generation.map(|generation| UserData {
                previous_assignment: member.owned.clone(),
                generation: Some(generation),
            }),
        };
        let subscriptions: Vec<Subscription> = self.members.iter().map(subscription).collect();
        assignor.assign(&topics, &subscriptions)
    }

    /// Topics have ids in the order of their names.
    fn assign_in_broker(&self, assignor: &dyn PartitionAssignor) -> Result<Vec<Vec<TopicPartition>>, String> {
        let mut names: Vec<&TopicName> = self.topics.iter().map(|topic| &topic.name).collect();
        names.sort();
        let id = |name: &TopicName| TopicId(names.partition_point(|other| *other < name) as u128);
        let spec = |topic: &Topic| TopicSpec {
            topic_id: id(&topic.name),
            partition_count: topic.partitions,
            partition_racks: Vec::new(),
        };
        let mut topics: Vec<TopicSpec> = self.topics.iter().map(spec).collect();
        topics.sort_by_key(|topic| topic.topic_id);
        let subscribed: Arc<[TopicId]> = topics.iter().map(|topic| topic.topic_id).collect();

        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by_key(|&member| &self.members[member].id);
        let spec = |&member: &usize| MemberSpec {
            member_id: self.members[member].id.as_str().into(),
            instance_id: None,
            rack_id: None,
            subscribed_topics: subscribed.clone(),
            assignment: self.members[member].owned.iter().map(|p| (id(&p.topic), p.partition)).collect(),
        };
        let group = GroupSpec {
            subscription_type: SubscriptionType::Homogeneous,
            members: order.iter().map(spec).collect(),
            topics,
        };
        let given = assignor.assign(&group).map_err(|error| error.to_string())?;

        let partitions = |given: &MemberAssignment| {
            let topics = given.iter().map(|(id, partitions)| (names[id.0 as usize], partitions));
            let pairs = topics.flat_map(|(name, partitions)| partitions.iter().map(move |p| (name, *p)));
            pairs.map(|(topic, partition)| TopicPartition { topic: topic.clone(), partition }).collect()
        };
        let mut assignment = vec![Vec::new(); self.members.len()];
        for (member, given) in order.into_iter().zip(&given) {
            assignment[member] = partitions(given);
        }
        Ok(assignment)
    }
}

impl Assignor {
    /// Everybody gives everything up before a rebalance.
    fn is_eager(&self) -> bool {
        matches!(self, Self::Client(assignor) if *assignor != ClientAssignor::CooperativeSticky)
    }

    /// What moves is given up in one rebalance and given away in the next.
    fn is_cooperative(&self) -> bool {
        matches!(self, Self::Client(ClientAssignor::CooperativeSticky))
    }
}
