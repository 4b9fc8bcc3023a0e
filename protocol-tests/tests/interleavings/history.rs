//! What was asked and answered so far, and what must hold of it. Nothing here knows how a group works inside: it sees
//! requests, answers, and what DescribeGroups, ListGroups and OffsetFetch show.

use std::collections::{BTreeMap, BTreeSet};

use rallypoint::coordinator::event::Event;
use rallypoint::coordinator::record::Record;
use rallypoint::coordinator::reply::{Joined, Reply};
use rallypoint::coordinator::{Coordinator, Step};
use rallypoint::types::{Now, ReplyTo};

use super::request::{Commit, Join, Offer, Request, Sync};

pub(crate) type Outcome = Result<(), String>;

/// A request with its answer.
pub(crate) type Answered = (ReplyTo, Request, Reply);

/// Fails with a text unless the condition holds.
macro_rules! ensure {
    ($holds:expr, $($text:tt)*) => {
        if !$holds {
            return Err(format!($($text)*));
        }
    };
}
pub(crate) use ensure;

/// What is known of a group, from its first request to its deletion.
#[derive(Debug, Default)]
struct Group {
    state: &'static str,
    members: BTreeSet<String>,
    /// The newest generation that anybody was told of.
    generation: i32,
    /// Generation → what its members were told.
    told: BTreeMap<i32, Told>,
    /// Generation → place in the group → what the leader assigned to it.
    assigned: BTreeMap<i32, BTreeMap<String, Vec<u8>>>,
    /// Member id → what it offered when it last joined.
    offers: BTreeMap<String, Vec<Offer>>,
    /// Topic and partition → offset and metadata.
    offsets: BTreeMap<(String, i32), (i64, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Told {
    leader: String,
    protocol: String,
}

impl Group {
    /// The leader is told of the members that there are, with what each of them offered last.
    fn check_members(&self, joined: &Joined, protocol: &str) -> Outcome {
        let ids: BTreeSet<String> = joined.members.iter().map(|m| m.member.to_string()).collect();
        ensure!(ids == self.members, "the leader is told of {ids:?}, members are {:?}", self.members);
        for member in &joined.members {
            let mut offers = self.offers.get(member.member.as_str()).into_iter().flatten();
            let same = offers
                .find(|(name, _)| name == protocol)
                .is_none_or(|(_, bytes)| **bytes == *member.metadata);
            ensure!(same, "the leader is told old metadata of {}", member.member);
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(crate) struct History {
    groups: BTreeMap<String, Group>,
    /// Member id → instance id of static members.
    instances: BTreeMap<String, String>,
    waiting: BTreeMap<ReplyTo, Request>,
}

impl History {
    /// Looks at one call of the core: a request, or the passing of time. Gives the requests that it answered.
    pub(crate) fn observe(
        &mut self,
        shard: &Coordinator,
        now: Now,
        sent: Option<(ReplyTo, &Request)>,
        step: &Step,
    ) -> Result<Vec<Answered>, String> {
        if let Some((to, request)) = sent {
            self.supersede(to, request, step);
            self.waiting.insert(to, request.clone());
        }
        let answered = self.match_answers(step)?;
        if let Some((to, request)) = sent {
            ensure!(request.may_wait() || !self.waiting.contains_key(&to), "no answer to {request:?}");
            self.note_offers(to, request);
        }
        for (_, request, reply) in &answered {
            self.learn(request, reply);
        }
        self.note_assignment(sent, &answered);
        self.look(shard, step)?;
        for (_, request, reply) in &answered {
            self.check_answer(request, reply)?;
        }
        self.check_waiting(sent)?;
        self.check_offsets(shard, sent, &answered, step)?;
        let deadline = shard.next_deadline();
        ensure!(
            deadline.is_none_or(|at| at > now.monotonic),
            "a timer is due at {deadline:?} and did not fire"
        );
        Ok(answered)
    }

    /// The connections are cut and the rebalances in progress forgotten. Of what members offered the chosen protocol
    /// is kept.
    pub(crate) fn reloaded(&mut self, shard: &Coordinator) -> Outcome {
        self.waiting.clear();
        for group in self.groups.values_mut() {
            let chosen = group.told.get(&group.generation).map(|told| told.protocol.as_str());
            for offers in group.offers.values_mut() {
                offers.retain(|(name, _)| Some(name.as_str()) == chosen);
            }
        }
        self.look(shard, &Step::default())?;
        self.check_offsets(shard, None, &[], &Step::default())
    }

    /// State and member ids of a group, as of the last look.
    pub(crate) fn group(&self, name: &str) -> Option<(&'static str, &BTreeSet<String>, i32)> {
        self.groups.get(name).map(|group| (group.state, &group.members, group.generation))
    }

    pub(crate) fn is_waiting(&self, to: ReplyTo) -> bool {
        self.waiting.contains_key(&to)
    }

    /// A second JoinGroup or SyncGroup of a member takes the place of the first, unless it is refused.
    fn supersede(&mut self, to: ReplyTo, request: &Request, step: &Step) {
        let refused = step.replies.iter().any(|(t, reply)| *t == to && is_refusal(reply));
        if refused {
            return;
        }
        self.waiting.retain(|_, older| match (older, request) {
            (Request::Join(older), Request::Join(newer)) => {
                older.group != newer.group || older.member.is_none() || older.member != newer.member
            }
            (Request::Sync(older), Request::Sync(newer)) => {
                older.group != newer.group || older.member != newer.member
            }
            _ => true,
        });
    }

    /// Each answer belongs to a request that waits, and is of its kind.
    fn match_answers(&mut self, step: &Step) -> Result<Vec<Answered>, String> {
        let mut answered = Vec::new();
        for (to, reply) in &step.replies {
            let Some(request) = self.waiting.remove(to) else {
                return Err(format!("{to:?} does not wait, and is answered {reply:?}"));
            };
            let fits = matches!(
                (&request, reply),
                (Request::Join(_), Reply::JoinGroup(_))
                    | (Request::Sync(_), Reply::SyncGroup(_))
                    | (Request::Heartbeat(_), Reply::Heartbeat(_))
                    | (Request::Leave(..), Reply::LeaveGroup(_))
                    | (Request::Commit(_), Reply::OffsetCommit(_))
                    | (Request::DeleteOffsets(..), Reply::OffsetDelete(_))
                    | (Request::DeleteGroup(_), Reply::DeleteGroup(_))
                    | (Request::TopicDeleted(_), Reply::TopicsDeleted)
            );
            ensure!(fits, "{request:?} is answered {reply:?}");
            answered.push((*to, request, reply.clone()));
        }
        Ok(answered)
    }

    /// What a member offers counts from when its join is parked.
    fn note_offers(&mut self, to: ReplyTo, request: &Request) {
        if let Request::Join(Join { group, member: Some(member), offers, .. }) = request
            && self.waiting.contains_key(&to)
        {
            self.groups.entry(group.clone()).or_default().offers.insert(member.clone(), offers.clone());
        }
    }

    /// What a member offers whose id is told only now.
    fn learn(&mut self, request: &Request, reply: &Reply) {
        let (Request::Join(join), Reply::JoinGroup(reply)) = (request, reply) else { return };
        let (Some(id), Ok(_)) = (&reply.member, &reply.outcome) else { return };
        let group = self.groups.entry(join.group.clone()).or_default();
        group.offers.insert(id.to_string(), join.offers.clone());
    }

    /// The leader's sync, which makes the group Stable.
    fn note_assignment(&mut self, sent: Option<(ReplyTo, &Request)>, answered: &[Answered]) {
        let Some((to, Request::Sync(sync))) = sent else { return };
        let accepted =
            answered.iter().any(|(t, _, reply)| *t == to && matches!(reply, Reply::SyncGroup(Ok(_))));
        let places =
            sync.assignments.iter().map(|(id, part)| (self.place(id).to_owned(), part.clone())).collect();
        let Some(group) = self.groups.get_mut(&sync.group) else { return };
        if accepted && group.state == "CompletingRebalance" {
            group.assigned.insert(sync.generation, places);
        }
    }

    /// A static member keeps its place under other ids.
    fn place<'a>(&'a self, id: &'a str) -> &'a str {
        self.instances.get(id).map_or(id, String::as_str)
    }

    /// Looks at all groups from outside.
    fn look(&mut self, shard: &Coordinator, step: &Step) -> Outcome {
        let listed: BTreeMap<String, &'static str> =
            shard.list().map(|group| (group.group.to_string(), group.state)).collect();
        for name in self.groups.keys().filter(|name| !listed.contains_key(*name)) {
            let said = step
                .events
                .iter()
                .any(|e| matches!(e, Event::GroupDeleted { group } if group.as_str() == name));
            ensure!(said || self.groups[name].state.is_empty(), "group {name} is gone without a word");
        }
        self.groups.retain(|name, _| listed.contains_key(name));
        for (name, state) in listed {
            let described =
                shard.describe(&name).map_err(|_| format!("{name} is listed and cannot be described"))?;
            ensure!(described.state == state, "{name} is in two states");
            let ids: BTreeSet<String> = described.members.iter().map(|m| m.member.to_string()).collect();
            ensure!(ids.len() == described.members.len(), "a member id is twice in {name}");
            let statics: Vec<_> = described.members.iter().filter_map(|m| m.instance.as_ref()).collect();
            let distinct: BTreeSet<_> = statics.iter().collect();
            ensure!(distinct.len() == statics.len(), "an instance id is twice in {name}");
            for member in &described.members {
                if let Some(instance) = &member.instance {
                    self.instances.insert(member.member.to_string(), instance.to_string());
                }
            }
            ensure!((state == "Empty") <= ids.is_empty(), "{name} is Empty and has members");
            ensure!(
                ids.is_empty() <= matches!(state, "Empty" | "PreparingRebalance"),
                "{name} is {state} without members"
            );
            let group = self.groups.entry(name).or_default();
            (group.state, group.members) = (state, ids);
        }
        Ok(())
    }

    fn check_answer(&mut self, request: &Request, reply: &Reply) -> Outcome {
        match (request, reply) {
            (Request::Join(join), Reply::JoinGroup(reply)) => match (&reply.member, &reply.outcome) {
                (Some(id), Ok(joined)) => self.check_joined(join, id.as_str(), joined),
                (None, Ok(_)) => Err("a member without an id".to_owned()),
                (_, Err(_)) => Ok(()),
            },
            (Request::Sync(sync), Reply::SyncGroup(Ok(synced))) => {
                self.check_synced(sync, &synced.assignment)
            }
            (Request::Heartbeat(beat), Reply::Heartbeat(Ok(()))) => {
                let group = &self.groups[&beat.group];
                ensure!(beat.generation == group.generation, "a heartbeat of an old generation is well");
                ensure!(
                    matches!(group.state, "Stable" | "CompletingRebalance"),
                    "all is well in {}",
                    group.state
                );
                Ok(())
            }
            (Request::Commit(commit), Reply::OffsetCommit(Ok(_))) => {
                let group = &self.groups[&commit.group];
                if commit.generation < 0 {
                    ensure!(group.state == "Empty", "a simple consumer commits in {}", group.state);
                } else {
                    // A group that turned Empty has a newer one than anybody was told of.
                    ensure!(commit.generation >= group.generation, "a commit of an old generation is stored");
                    ensure!(
                        group.state != "CompletingRebalance",
                        "a commit is stored before the assignment is known"
                    );
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// All members of a generation are told the same, and the leader is told of all.
    fn check_joined(&mut self, join: &Join, id: &str, joined: &Joined) -> Outcome {
        let leader = joined.leader.as_ref().map(ToString::to_string).unwrap_or_default();
        let protocol = joined.protocol_name.as_deref().unwrap_or_default();
        let told = Told { leader: self.place(&leader).to_owned(), protocol: protocol.to_owned() };
        let Some(group) = self.groups.get_mut(&join.group) else { return Err("no such group".to_owned()) };
        ensure!(
            joined.generation >= group.generation,
            "generation {} after {}",
            joined.generation,
            group.generation
        );
        group.generation = joined.generation;
        let first = group.told.entry(joined.generation).or_insert_with(|| told.clone());
        ensure!(
            *first == told,
            "of generation {} one is told {first:?}, another {told:?}",
            joined.generation
        );
        ensure!(
            join.offers.iter().any(|(name, _)| *name == protocol),
            "{protocol} is nothing that {id} offers"
        );
        ensure!((leader == id) != joined.members.is_empty(), "the leader alone is told of the members");
        if leader == id { group.check_members(joined, protocol) } else { Ok(()) }
    }

    /// Everybody has what the leader of this very generation assigned to it.
    fn check_synced(&self, sync: &Sync, assignment: &[u8]) -> Outcome {
        let group = &self.groups[&sync.group];
        ensure!(sync.generation == group.generation, "a sync of an old generation is answered");
        let Some(assigned) = group.assigned.get(&sync.generation) else {
            return Err(format!("generation {} has no assignment", sync.generation));
        };
        let own = assigned.get(self.place(&sync.member)).map_or(&[][..], Vec::as_slice);
        ensure!(own == assignment, "{} has {:?} instead of {own:?}", sync.member, assignment);
        Ok(())
    }

    /// Who waits has a reason to: joins for the end of the join phase, syncs for the leader's.
    fn check_waiting(&mut self, sent: Option<(ReplyTo, &Request)>) -> Outcome {
        let leaving = matches!(sent, Some((_, Request::Leave(..))));
        let mut left = Vec::new();
        for (to, request) in &self.waiting {
            let (name, member) = match request {
                Request::Join(join) => (&join.group, join.member.as_ref()),
                Request::Sync(sync) => (&sync.group, Some(&sync.member)),
                _ => return Err(format!("{request:?} waits")),
            };
            let Some(group) = self.groups.get(name) else {
                return Err(format!("{request:?} waits for no group"));
            };
            let is_member = member.is_none_or(|id| group.members.contains(id));
            match request {
                // As in Kafka: a member that leaves while its sync waits never gets an answer to that.
                Request::Sync(_) if !is_member && leaving => left.push(*to),
                Request::Sync(_) => {
                    ensure!(
                        group.state == "CompletingRebalance" && is_member,
                        "{to:?} is forgotten: {request:?}"
                    );
                }
                _ => ensure!(
                    group.state == "PreparingRebalance" && is_member,
                    "{to:?} is forgotten: {request:?}"
                ),
            }
        }
        self.waiting.retain(|to, _| !left.contains(to));
        Ok(())
    }

    /// What can be fetched is what was committed last.
    fn check_offsets(
        &mut self,
        shard: &Coordinator,
        sent: Option<(ReplyTo, &Request)>,
        answered: &[Answered],
        step: &Step,
    ) -> Outcome {
        for (_, request, reply) in answered {
            self.note_offsets(request, reply);
        }
        if sent.is_none() {
            self.note_expiry(step);
        }
        for (name, group) in &self.groups {
            let mut left = group.offsets.len();
            for (topic, partitions) in shard.all_committed(name) {
                for (partition, stored) in partitions {
                    let wanted = group.offsets.get(&(topic.to_string(), *partition));
                    let same = wanted.is_some_and(|(offset, words)| {
                        *offset == stored.offset && **words == *stored.metadata
                    });
                    ensure!(same, "{name} has {stored:?} for {topic}/{partition}, committed was {wanted:?}");
                    left -= 1;
                }
            }
            ensure!(left == 0, "{name} has lost {left} of {:?}", group.offsets);
        }
        Ok(())
    }

    fn note_offsets(&mut self, request: &Request, reply: &Reply) {
        match (request, reply) {
            (Request::Commit(commit), Reply::OffsetCommit(Ok(refused))) => self.note_commit(commit, refused),
            (Request::DeleteOffsets(group, topic, partitions), Reply::OffsetDelete(Ok(subscribed))) => {
                if let Some(group) = self.groups.get_mut(group)
                    && subscribed.is_empty()
                {
                    group.offsets.retain(|(t, p), _| t != topic || !partitions.contains(p));
                }
            }
            (Request::TopicDeleted(topic), Reply::TopicsDeleted) => {
                for group in self.groups.values_mut() {
                    group.offsets.retain(|(t, _), _| t != topic);
                }
            }
            _ => {}
        }
    }

    fn note_commit(&mut self, commit: &Commit, refused: &[usize]) {
        let Some(group) = self.groups.get_mut(&commit.group) else { return };
        for (index, (partition, offset, metadata)) in commit.offsets.iter().enumerate() {
            if !refused.contains(&index) {
                group.offsets.insert((commit.topic.clone(), *partition), (*offset, metadata.clone()));
            }
        }
    }

    /// Time alone takes offsets away only where their retention is over, which is said.
    fn note_expiry(&mut self, step: &Step) {
        for record in &step.records {
            let Record::OffsetCommit { group: name, topic, partition, value: None } = record else {
                continue;
            };
            let said = |e: &Event| matches!(e, Event::OffsetsExpired { group, .. } if group == name);
            if let Some(group) = self.groups.get_mut(name.as_str())
                && step.events.iter().any(said)
            {
                group.offsets.remove(&(topic.to_string(), *partition));
            }
        }
    }
}

pub(crate) fn is_refusal(reply: &Reply) -> bool {
    match reply {
        Reply::JoinGroup(join) => join.outcome.is_err(),
        Reply::SyncGroup(outcome) => outcome.is_err(),
        Reply::Heartbeat(outcome) | Reply::DeleteGroup(outcome) => outcome.is_err(),
        Reply::LeaveGroup(outcome) => {
            outcome.as_ref().map_or(true, |members| members.iter().all(Result::is_err))
        }
        Reply::OffsetCommit(outcome) | Reply::OffsetDelete(outcome) => outcome.is_err(),
        Reply::TopicsDeleted
        | Reply::EndTransaction
        | Reply::ConsumerGroupHeartbeat(_)
        | Reply::RegexesResolved
        | Reply::TopicsChanged => false,
    }
}
