//! One shard with one group, its members, and what may happen next.

use std::sync::Arc;

use rallypoint::coordinator::command::{Command, ConsumerGroupHeartbeat, ConsumerSettings, HeartbeatIntent};
use rallypoint::coordinator::error::GroupError;
use rallypoint::coordinator::record::Record;
use rallypoint::coordinator::reply::{ConsumerGroupDescription, ConsumerHeartbeat, Reply};
use rallypoint::coordinator::{Coordinator, GroupConfig, Step};
use rallypoint::types::{Millis, Now, ReplyTo, TopicId, TopicImage, TopicName, TopicPartition, TopicView};

use super::client::Client;
use super::judge::{self, Outcome, ensure};

pub(crate) const PARTITIONS: i32 = 3;
const MEMBERS: [&str; 3] = ["a", "b", "c"];
const GROUP: &str = "g";
const TOPIC: &str = "t";
const TOPIC_ID: TopicId = TopicId(7);

const REBALANCE_TIMEOUT_MS: i32 = 60_000;
const SESSION_TIMEOUT_MS: i64 = 45_000;
/// Not Kafka's 5 s, but often enough for both timeouts.
const HEARTBEAT_INTERVAL_MS: i64 = 20_000;

/// How often everybody heartbeats until the group must have got together.
const ROUNDS_MAX: usize = 12;

/// What becomes of a heartbeat and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    Heard,
    /// The answer is lost.
    Unheard,
    /// The request comes twice, and the member hears the first answer.
    Twice,
}

/// What may happen next, by the number of the member.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// A heartbeat: the first one joins.
    Beat(usize, Delivery),
    /// It lets go of what it must and reads what it may.
    Reconcile(usize),
    /// It says that it goes.
    Leave(usize),
    /// It is gone and did not say so.
    Crash(usize),
    /// Its session is over, while the others do what they should.
    Expire(usize),
    /// It heartbeats, but does not give partitions up until its rebalance timeout is over.
    Dawdle(usize),
}

#[derive(Clone, Debug)]
pub(crate) struct World {
    shard: Coordinator,
    config: GroupConfig,
    assignor: &'static str,
    now_ms: i64,
    pub(crate) clients: [Client; MEMBERS.len()],
}

impl World {
    pub(crate) fn new(assignor: &'static str) -> Self {
        let config = GroupConfig::default();
        let mut world = Self {
            shard: Coordinator::new(config.clone(), time(0)),
            config,
            assignor,
            now_ms: 0,
            clients: Default::default(),
        };
        world.shard.submit(
            time(0),
            ReplyTo(0),
            Command::TopicsChanged(Arc::new(OneTopic::new())),
            &mut Step::default(),
        );
        world
    }

    /// The records that the shard is made of.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record> + '_ {
        self.shard.snapshot()
    }

    pub(crate) fn actions(&self) -> Vec<Action> {
        let known = self.described().map(|group| group.members).unwrap_or_default();
        let mut actions = Vec::new();
        for (number, client) in self.clients.iter().enumerate() {
            for delivery in [Delivery::Heard, Delivery::Unheard, Delivery::Twice] {
                actions.push(Action::Beat(number, delivery));
            }
            if client.told.is_some() {
                actions.push(Action::Reconcile(number));
            }
            if client.has_to_revoke() {
                actions.push(Action::Dawdle(number));
            }
            if client.epoch.is_some() {
                actions.push(Action::Leave(number));
                actions.push(Action::Crash(number));
            } else if known.iter().any(|member| member.member.as_str() == MEMBERS[number]) {
                actions.push(Action::Expire(number));
            }
        }
        actions
    }

    pub(crate) fn act(&mut self, action: Action) -> Outcome {
        match action {
            Action::Beat(number, delivery) => self.beat(number, delivery)?,
            Action::Reconcile(number) => self.clients[number].reconcile(),
            Action::Leave(number) => {
                self.clients[number] = Client::default();
                self.submit(number, HeartbeatIntent::Leave, None)?
                    .map_err(|error| format!("leaving is {error}"))?;
            }
            Action::Crash(number) => self.clients[number] = Client::default(),
            Action::Expire(number) => self.expire(number)?,
            Action::Dawdle(number) => self.dawdle(number)?,
        }
        judge::nothing_is_read_twice(&self.clients)
    }

    /// Whoever is out stays out, nothing gets lost any more, whoever is thrown out comes back, and the group gets together.
    pub(crate) fn settle(mut self) -> Outcome {
        let members = self.clients.each_ref().map(|client| client.epoch.is_some());
        for number in (0..MEMBERS.len()).filter(|number| !members[*number]) {
            self.expire(number)?;
        }
        for _ in 0..ROUNDS_MAX {
            for number in (0..MEMBERS.len()).filter(|number| members[*number]) {
                self.beat(number, Delivery::Heard)?;
                self.clients[number].reconcile();
                judge::nothing_is_read_twice(&self.clients)?;
            }
            match self.described() {
                None => return Ok(()),
                Some(group) if group.state == "Empty" || group.state == "Stable" => {
                    if judge::is_together(&self.clients, group.epoch) {
                        return Ok(());
                    }
                }
                Some(_) => {}
            }
        }
        Err(format!("the group does not get together: {:?}, {:?}", self.clients, self.described()))
    }

    fn beat(&mut self, number: usize, delivery: Delivery) -> Outcome {
        let client = &self.clients[number];
        let (intent, reports) = match client.epoch {
            None => (HeartbeatIntent::Join, true),
            Some(epoch) => (HeartbeatIntent::Stay(epoch), client.reports),
        };
        let owned = reports.then(|| client.held.iter().copied().collect::<Vec<i32>>());
        let answer = self.submit(number, intent, owned.as_deref())?;
        if delivery == Delivery::Twice {
            // What comes of the second one is not heard; it may find its epoch gone.
            let _ = self.submit(number, intent, owned.as_deref())?;
        }
        match delivery {
            Delivery::Heard | Delivery::Twice => self.clients[number].take(answer),
            Delivery::Unheard => {
                self.clients[number].hears_nothing();
                Ok(())
            }
        }
    }

    fn expire(&mut self, number: usize) -> Outcome {
        let end = self.now_ms + SESSION_TIMEOUT_MS;
        while self.pass(end) {
            self.behave(|other| other != number)?;
        }
        Ok(())
    }

    fn dawdle(&mut self, number: usize) -> Outcome {
        let end = self.now_ms + i64::from(REBALANCE_TIMEOUT_MS);
        while self.pass(end) {
            self.behave(|other| other != number)?;
            self.beat(number, Delivery::Heard)?;
        }
        // It has the same timeout (`max.poll.interval.ms`), and lets go of everything when that is over.
        self.clients[number] = Client::default();
        Ok(())
    }

    /// Members heartbeat, do what they are told, and say so.
    fn behave(&mut self, who: impl Fn(usize) -> bool) -> Outcome {
        for number in (0..MEMBERS.len()).filter(|number| who(*number)) {
            if self.clients[number].epoch.is_some() {
                self.beat(number, Delivery::Heard)?;
                self.clients[number].reconcile();
            }
            if self.clients[number].epoch.is_some() {
                self.beat(number, Delivery::Heard)?;
            }
            judge::nothing_is_read_twice(&self.clients)?;
        }
        Ok(())
    }

    /// Lets time pass until the next heartbeats are due, or to the end; whether there is more to come.
    fn pass(&mut self, end: i64) -> bool {
        let until = end.min(self.now_ms + HEARTBEAT_INTERVAL_MS);
        while let Some(due) = self.shard.next_deadline().filter(|due| due.0 <= until) {
            self.shard.advance(time(due.0), &mut Step::default());
        }
        self.now_ms = until;
        until < end
    }

    fn submit(
        &mut self,
        number: usize,
        intent: HeartbeatIntent,
        owned: Option<&[i32]>,
    ) -> Result<Result<ConsumerHeartbeat, GroupError>, String> {
        let joins = intent == HeartbeatIntent::Join;
        let says_all = joins || owned.is_some();
        let partition = |partition: &i32| TopicPartition { topic: TOPIC_ID, partition: *partition };
        let owned: Option<Vec<_>> = owned.map(|owned| owned.iter().map(partition).collect());
        let heartbeat = ConsumerGroupHeartbeat {
            group: GROUP,
            member: Some(MEMBERS[number]),
            intent,
            instance: None,
            rack: None,
            client_id: "client",
            client_host: "/127.0.0.1",
            rebalance_timeout_ms: says_all.then_some(REBALANCE_TIMEOUT_MS),
            topics: says_all.then_some(&[TOPIC]),
            regex: None,
            assignor: says_all.then_some(self.assignor),
            owned: owned.as_deref(),
            settings: ConsumerSettings { assignment_interval_ms: 0, ..ConsumerSettings::default() },
            random: 1,
        };
        let (now, mut step) = (time(self.now_ms), Step::default());
        let mut records: Vec<Record> = self.shard.snapshot().collect();
        let epoch = self.group_epoch();
        self.shard.submit(now, ReplyTo(1), Command::ConsumerGroupHeartbeat(heartbeat), &mut step);
        ensure(epoch <= self.group_epoch(), || {
            format!("the group goes from {epoch:?} to {:?}", self.group_epoch())
        })?;
        records.append(&mut step.records);
        let replayed = Coordinator::load(self.config.clone(), now, &records);
        ensure(replayed.snapshot().eq(self.shard.snapshot()), || {
            "the records do not give the state back".to_owned()
        })?;
        match step.replies.pop() {
            Some((_, Reply::ConsumerGroupHeartbeat(outcome))) => Ok(outcome.map_err(|refusal| refusal.error)),
            other => Err(format!("a heartbeat is answered by {other:?}")),
        }
    }

    /// None, which is less than any epoch, only before the group begins: it is never deleted here.
    fn group_epoch(&self) -> Option<i32> {
        self.described().map(|group| group.epoch)
    }

    fn described(&self) -> Option<ConsumerGroupDescription> {
        self.shard.describe_consumer_group(GROUP).ok()
    }
}

const fn time(ms: i64) -> Now {
    Now { monotonic: Millis(ms), wall: Millis(1_000_000_000_000 + ms) }
}

/// The one topic.
#[derive(Debug)]
struct OneTopic(TopicName);

impl OneTopic {
    fn new() -> Self {
        Self(TopicName::from(TOPIC))
    }

    const fn view(&self) -> TopicView<'_> {
        TopicView { name: &self.0, id: TOPIC_ID, partitions: PARTITIONS }
    }
}

impl TopicImage for OneTopic {
    fn number(&self) -> u64 {
        1
    }

    fn newest_topic(&self) -> u64 {
        1
    }

    fn topic_by_name(&self, name: &str) -> Option<TopicView<'_>> {
        (name == TOPIC).then(|| self.view())
    }

    fn topic_by_id(&self, id: TopicId) -> Option<TopicView<'_>> {
        (id == TOPIC_ID).then(|| self.view())
    }

    fn for_each_topic(&self, visit: &mut dyn FnMut(TopicView<'_>)) {
        visit(self.view());
    }
}
