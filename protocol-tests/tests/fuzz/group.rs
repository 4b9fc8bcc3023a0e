//! Commands on one group in any order: the core neither panics nor loses count, and a reload gives the same picture.

use bolero::TypeGenerator;
use rallypoint::catalog::{Catalog, Overrides};
use rallypoint::coordinator::command::{
    Command, CommitPartition, ConsumerGroupHeartbeat, ConsumerSettings, DeleteGroup, EndTransaction,
    Heartbeat, HeartbeatIntent, JoinGroup, LeaveGroup, Leaver, OffsetCommit, OffsetDelete, SyncGroup,
};
use rallypoint::coordinator::job::Job;
use rallypoint::coordinator::record::Record;
use rallypoint::coordinator::reply::Reply;
use rallypoint::coordinator::{Coordinator, GroupConfig, Step};
use rallypoint::types::{Millis, Now, ReplyTo, TopicId, TopicName, TopicPartition};

/// What a client does next; members are named by the order in which they got their ids.
#[derive(Clone, Debug, TypeGenerator)]
enum Action {
    Join {
        member: Option<u8>,
        instance: Option<bool>,
        ask: bool,
        timeout_ms: i32,
        metadata: Metadata,
        simple: bool,
    },
    /// ConsumerGroupHeartbeat.
    Consume {
        member: u8,
        instance: Option<bool>,
        epoch: Epoch,
        timeout_ms: i32,
        topics: Option<u8>,
        regex: Option<u8>,
        assignor: Option<bool>,
        owned: Owned,
    },
    Sync {
        member: u8,
        generation: i8,
        assignment: Vec<u8>,
    },
    Heartbeat {
        member: u8,
        generation: i8,
    },
    Leave {
        member: u8,
    },
    Commit {
        member: Option<u8>,
        generation: i8,
        partition: i32,
        metadata: String,
        producer: Option<bool>,
    },
    EndTransaction {
        producer: bool,
        committed: bool,
    },
    DeleteOffset,
    Delete,
    /// Topics come, grow and go.
    Topics {
        topic: u8,
        partitions: Option<u8>,
    },
    /// What was to be done aside is done.
    Jobs,
    Wait {
        millis: u16,
    },
    Reload,
}

/// What a member of the classic protocol tells the others.
#[derive(Clone, Debug, TypeGenerator)]
enum Metadata {
    Bytes(Vec<u8>),
    /// A Subscription to these topics, so that the group can become a consumer group.
    Subscription {
        topics: u8,
        partitions: Vec<i8>,
    },
}

impl Metadata {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Subscription { topics, partitions } => subscription(&some_topics(*topics), partitions),
        }
    }
}

/// A Subscription of version 1 (`ConsumerProtocolSubscription`) that owns partitions of the first topic.
pub(super) fn subscription(topics: &[&str], partitions: &[i8]) -> Vec<u8> {
    let count = |count: usize| u32::try_from(count).expect("few").to_be_bytes();
    let text =
        |text: &str| [&u16::try_from(text.len()).expect("short").to_be_bytes(), text.as_bytes()].concat();
    let mut bytes = [&[0, 1][..], &count(topics.len())].concat();
    topics.iter().for_each(|topic| bytes.extend(text(topic)));
    bytes.extend([0xff; 4]);
    bytes.extend(count(topics.len().min(1)));
    for topic in topics.iter().take(1) {
        bytes.extend(text(topic));
        bytes.extend(count(partitions.len()));
        partitions.iter().for_each(|partition| bytes.extend(i32::from(*partition).to_be_bytes()));
    }
    bytes
}

/// The epoch that a member of a consumer group names.
#[derive(Clone, Debug, TypeGenerator)]
enum Epoch {
    Join,
    /// The one it was told last.
    Known,
    Other(i32),
    Leave,
    LeaveForNow,
}

/// What a member of a consumer group says it has.
#[derive(Clone, Debug, TypeGenerator)]
enum Owned {
    Unsaid,
    /// What it was told.
    Assigned,
    Lies(Vec<(u8, i8)>),
}

const TOPICS: [&str; 4] = ["t", "topic", "orders", "orders-eu"];
const REGEXES: [&str; 5] = ["", "t.*", "orders(-.*)?", ".*", "("];

fn some_topics(mask: u8) -> Vec<&'static str> {
    (0..TOPICS.len()).filter(|n| mask & 1 << n != 0).map(|n| TOPICS[n]).collect()
}

/// What a member of a consumer group was told last.
#[derive(Clone, Debug, Default)]
struct Told {
    epoch: i32,
    assigned: Vec<TopicPartition>,
}

/// The kind of an answer, and the error if it was one.
fn kind(reply: &Reply) -> String {
    let text = format!("{reply:?}");
    let kind = text.chars().take_while(char::is_ascii_alphabetic);
    let error = text.split("Err(").nth(1).unwrap_or_default();
    kind.chain([' ']).chain(error.chars().take_while(|c| !",)".contains(*c))).collect()
}

pub(super) struct Play {
    shard: Coordinator,
    now_ms: i64,
    members: Vec<String>,
    told: Vec<Told>,
    catalog: Catalog,
    jobs: Vec<Job>,
    step: Step,
    /// How the last command was answered: the kind of answer, and the error if it was one.
    last: String,
    requests: u64,
}

const CONFIG: fn() -> GroupConfig =
    || GroupConfig { session_timeout_min_ms: 1, group_max_size: 5, ..GroupConfig::default() };

impl Play {
    pub(super) fn begin() -> Self {
        let shard = Coordinator::new(CONFIG(), Now::default());
        Self {
            shard,
            now_ms: 0,
            members: Vec::new(),
            told: Vec::new(),
            catalog: Catalog::new(1_000),
            jobs: Vec::new(),
            step: Step::default(),
            last: String::new(),
            requests: 0,
        }
    }

    fn now(&self) -> Now {
        Now { monotonic: Millis(self.now_ms), wall: Millis(self.now_ms) }
    }

    fn place(&self, index: u8) -> usize {
        usize::from(index) % self.members.len().max(1)
    }

    fn member(&self, index: u8) -> String {
        self.members.get(self.place(index)).cloned().unwrap_or_default()
    }

    fn topic_id(&self, index: u8) -> TopicId {
        let name = TOPICS[usize::from(index) % TOPICS.len()];
        self.catalog.by_name(name).map_or(TopicId(7), |topic| topic.id)
    }

    pub(super) fn submit(&mut self, command: Command<'_>) {
        self.requests += 1;
        let (now, from) = (self.now(), ReplyTo(self.requests));
        self.step.clear();
        self.shard.submit(now, from, command, &mut self.step);
        assert!(
            self.step.replies.iter().filter(|(to, _)| *to == from).count() <= 1,
            "one request, one answer"
        );
        self.jobs.append(&mut self.step.jobs);
        self.last = self.step.replies.last().map(|(_, reply)| kind(reply)).unwrap_or_default();
        for (_, reply) in std::mem::take(&mut self.step.replies) {
            match reply {
                Reply::JoinGroup(joined) => {
                    if let Some(member) = &joined.member {
                        self.learn(member.as_str());
                    }
                }
                Reply::ConsumerGroupHeartbeat(Ok(beat)) => {
                    let place = self.learn(beat.member.as_str());
                    self.told[place].epoch = beat.epoch;
                    if let Some(assigned) = beat.assignment {
                        self.told[place].assigned = assigned;
                    }
                }
                _ => {}
            }
        }
    }

    /// The place of a member among those that are known.
    fn learn(&mut self, member: &str) -> usize {
        self.members.iter().position(|known| known == member).unwrap_or_else(|| {
            self.members.push(member.to_owned());
            self.told.push(Told::default());
            self.members.len() - 1
        })
    }

    fn consume(&mut self, member: u8, epoch: &Epoch, owned: &Owned, heartbeat: ConsumerGroupHeartbeat<'_>) {
        let place = self.place(member);
        let told = self.told.get(place).cloned().unwrap_or_default();
        let intent = match epoch {
            Epoch::Join => HeartbeatIntent::Join,
            Epoch::Known if told.epoch > 0 => HeartbeatIntent::Stay(told.epoch),
            Epoch::Known => HeartbeatIntent::Join,
            Epoch::Other(epoch) => HeartbeatIntent::Stay((*epoch).max(1)),
            Epoch::Leave => HeartbeatIntent::Leave,
            // The one that the shell lets through.
            Epoch::LeaveForNow if heartbeat.instance.is_some() => HeartbeatIntent::LeaveForNow,
            Epoch::LeaveForNow => HeartbeatIntent::Leave,
        };
        let owned = match owned {
            Owned::Unsaid => None,
            Owned::Assigned => Some(told.assigned),
            Owned::Lies(lies) => {
                let partition = |(topic, partition): &(u8, i8)| TopicPartition {
                    topic: self.topic_id(*topic),
                    partition: i32::from(*partition),
                };
                let mut owned: Vec<TopicPartition> = lies.iter().map(partition).collect();
                owned.sort_unstable();
                Some(owned)
            }
        };
        // A member makes its own id, from version 1 on.
        let fresh = format!("m{}", member % 4);
        let id = self.members.get(place).cloned().unwrap_or(fresh);
        self.submit(Command::ConsumerGroupHeartbeat(ConsumerGroupHeartbeat {
            member: Some(&id),
            intent,
            owned: owned.as_deref(),
            ..heartbeat
        }));
    }

    /// All topics come.
    pub(super) fn create_topics(&mut self) {
        (0..4).for_each(|topic| self.change_topics(topic, Some(3)));
    }

    /// The one member that speaks the classic protocol joins, at first or again; its id.
    pub(super) fn join_classic(&mut self, metadata: &[u8]) -> String {
        let member = self.members.first().cloned().unwrap_or_default();
        self.submit(Command::JoinGroup(JoinGroup {
            group: "g",
            member: (!member.is_empty()).then_some(&member),
            instance: None,
            client_id: "c",
            client_host: "/10.0.0.1",
            session_timeout_ms: 10_000,
            rebalance_timeout_ms: 10_000,
            protocol_type: "consumer",
            protocols: &[("range", metadata)],
            reason: None,
            member_id_required: false,
            may_skip_assignment: false,
            random: u128::from(self.requests) + 1,
            assignment_interval_ms: 0,
        }));
        self.member(0)
    }

    /// A member of the consumer protocol joins; what came of it.
    pub(super) fn join_consumer(&mut self) -> String {
        let join = Action::Consume {
            member: 1,
            instance: None,
            epoch: Epoch::Join,
            timeout_ms: 10_000,
            topics: Some(1),
            regex: None,
            assignor: None,
            owned: Owned::Lies(Vec::new()),
        };
        self.members.push("consumer".to_owned());
        self.told.push(Told::default());
        self.act(&join);
        self.outcome(&join)
    }

    /// A topic comes, grows or goes.
    fn change_topics(&mut self, topic: u8, partitions: Option<u8>) {
        let name = TOPICS[usize::from(topic) % TOPICS.len()];
        let known = self.catalog.by_name(name).cloned();
        // What the catalog refuses does not happen.
        let _ = match (known, partitions.map(i32::from)) {
            (None, Some(count)) => {
                self.requests += 1;
                let id = TopicId(u128::from(self.requests) << 8);
                self.catalog.create(name, id, count.max(1), Overrides::new())
            }
            (Some(topic), Some(count)) => self.catalog.grow(topic.id, count),
            (Some(topic), None) => {
                let deleted = self.catalog.delete(topic.id);
                self.submit(Command::TopicsDeleted(&[TopicName::from(name)]));
                deleted
            }
            (None, None) => return,
        };
        self.submit(Command::TopicsChanged(self.catalog.image()));
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Join { member, instance, ask, timeout_ms, metadata, simple } => {
                let member = member.map(|index| self.member(index));
                let metadata = metadata.bytes();
                let protocols: [(&str, &[u8]); 2] = [("range", &metadata), ("sticky", &metadata)];
                self.submit(Command::JoinGroup(JoinGroup {
                    group: "g",
                    member: member.as_deref(),
                    instance: instance.map(|first| if first { "i" } else { "j" }),
                    client_id: "c",
                    client_host: "/10.0.0.1",
                    session_timeout_ms: *timeout_ms,
                    rebalance_timeout_ms: *timeout_ms,
                    protocol_type: if *simple { "" } else { "consumer" },
                    protocols: &protocols[usize::from(*simple)..],
                    reason: None,
                    member_id_required: *ask,
                    may_skip_assignment: *ask,
                    random: u128::from(self.requests) + 1,
                    assignment_interval_ms: 0,
                }));
            }
            Action::Consume { member, instance, epoch, timeout_ms, topics, regex, assignor, owned } => {
                let topics = topics.map(some_topics);
                let heartbeat = ConsumerGroupHeartbeat {
                    group: "g",
                    member: None,
                    intent: HeartbeatIntent::Join,
                    instance: instance.map(|first| if first { "i" } else { "j" }),
                    rack: None,
                    client_id: "c",
                    client_host: "/10.0.0.1",
                    rebalance_timeout_ms: Some(*timeout_ms),
                    topics: topics.as_deref(),
                    regex: regex.map(|n| REGEXES[usize::from(n) % REGEXES.len()]),
                    assignor: assignor.map(|first| if first { "uniform" } else { "range" }),
                    owned: None,
                    settings: ConsumerSettings { assignment_interval_ms: 0, ..ConsumerSettings::default() },
                    random: u128::from(self.requests) + 1,
                };
                self.consume(*member, epoch, owned, heartbeat);
            }
            Action::Sync { member, generation, assignment } => {
                let (first, member) = (self.member(0), self.member(*member));
                let assignments: [(&str, &[u8]); 2] = [(&first, assignment), (&member, b"")];
                self.submit(Command::SyncGroup(SyncGroup {
                    group: "g",
                    member: &member,
                    instance: None,
                    generation: i32::from(*generation),
                    protocol_type: None,
                    protocol_name: None,
                    assignments: &assignments,
                }));
            }
            Action::Heartbeat { member, generation } => {
                let member = self.member(*member);
                let generation = i32::from(*generation);
                self.submit(Command::Heartbeat(Heartbeat {
                    group: "g",
                    member: &member,
                    instance: None,
                    generation,
                }));
            }
            Action::Leave { member } => {
                let member = self.member(*member);
                let leaver = Leaver { member: Some(&member), instance: None, reason: None };
                self.submit(Command::LeaveGroup(LeaveGroup { group: "g", members: &[leaver] }));
            }
            Action::Commit { member, generation, partition, metadata, producer } => {
                let member = member.map(|index| self.member(index)).unwrap_or_default();
                let topic = TopicName::from("t");
                let offset = CommitPartition {
                    topic: &topic,
                    topic_id: TopicId(1),
                    partition: *partition,
                    offset: 1,
                    leader_epoch: None,
                    metadata,
                };
                self.submit(Command::OffsetCommit(OffsetCommit {
                    group: "g",
                    member: &member,
                    instance: None,
                    generation: i32::from(*generation),
                    retention_ms: None,
                    has_member_epoch: false,
                    producer_id: producer.map(i64::from),
                    offsets: &[offset],
                }));
            }
            Action::EndTransaction { producer, committed } => {
                let (producer_id, committed) = (i64::from(*producer), *committed);
                self.submit(Command::EndTransaction(EndTransaction { producer_id, committed }));
            }
            Action::DeleteOffset => {
                self.submit(Command::OffsetDelete(OffsetDelete { group: "g", topics: &[("t", &[0, 1])] }));
            }
            Action::Topics { topic, partitions } => self.change_topics(*topic, *partitions),
            Action::Jobs => {
                for job in std::mem::take(&mut self.jobs) {
                    self.submit(Command::RegexesResolved(job.run()));
                }
            }
            Action::Delete => self.submit(Command::DeleteGroup(DeleteGroup { group: "g" })),
            Action::Wait { millis } => {
                self.now_ms += i64::from(*millis) * 10;
                self.step.clear();
                let now = self.now();
                self.shard.advance(now, &mut self.step);
            }
            Action::Reload => self.reload(),
        }
    }

    /// What an action led to, in a word or two.
    fn outcome(&self, action: &Action) -> String {
        let words =
            |text: String| text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("").to_owned();
        let groups: Vec<_> = self.shard.list().map(|group| (group.group_type, group.state)).collect();
        format!("{} {:?} {groups:?} {}", words(format!("{action:?}")), self.last, self.step.events.len())
    }

    /// With everybody gone for long, nothing is left to wait for but the retention of offsets.
    pub(super) fn end(&mut self) {
        for _ in 0..3 {
            self.now_ms += i64::from(i32::MAX);
            self.step.clear();
            let now = self.now();
            self.shard.advance(now, &mut self.step);
        }
        let is_empty = |state: &str| matches!(state, "Empty" | "Dead");
        assert!(self.shard.list().all(|group| is_empty(group.state)), "members live for ever");
        self.act(&Action::Delete);
        assert_eq!(self.shard.bytes(), 0, "what is gone is still counted");
    }

    /// Committed offsets are the same after a reload.
    fn reload(&mut self) {
        let offsets = |shard: &Coordinator| {
            let mut records: Vec<Record> = shard.snapshot().collect();
            records.retain(|record| {
                matches!(record, Record::OffsetCommit { .. } | Record::TxnOffsetCommit { .. })
            });
            records
        };
        let records: Vec<Record> = self.shard.snapshot().collect();
        let loaded = Coordinator::load(CONFIG(), self.now(), &records);
        assert_eq!(offsets(&loaded), offsets(&self.shard));
        self.shard = loaded;
    }
}

pub(crate) fn fuzz() {
    super::fuzz("commands_on_a_group", |actions: Vec<Action>, outcomes| {
        let mut play = Play::begin();
        for action in actions {
            play.act(&action);
            outcomes.note(|| play.outcome(&action));
        }
        play.end();
    });
}
