//! Commands on one group in any order: the core neither panics nor loses count, and a reload gives the same picture.

use bolero::{TypeGenerator, check};
use rallypoint::coordinator::command::{
    Command, CommitPartition, DeleteGroup, EndTransaction, Heartbeat, JoinGroup, LeaveGroup, Leaver,
    OffsetCommit, SyncGroup,
};
use rallypoint::coordinator::record::Record;
use rallypoint::coordinator::reply::Reply;
use rallypoint::coordinator::{Coordinator, GroupConfig, Step};
use rallypoint::types::{Millis, Now, ReplyTo, TopicId, TopicName};

/// What a client does next; members are named by the order in which they got their ids.
#[derive(Clone, Debug, TypeGenerator)]
enum Action {
    Join {
        member: Option<u8>,
        instance: Option<bool>,
        ask: bool,
        timeout_ms: i32,
        metadata: Vec<u8>,
        simple: bool,
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
    Delete,
    Wait {
        millis: u16,
    },
    Reload,
}

struct Play {
    shard: Coordinator,
    now_ms: i64,
    members: Vec<String>,
    step: Step,
    requests: u64,
}

const CONFIG: fn() -> GroupConfig =
    || GroupConfig { session_timeout_min_ms: 1, group_max_size: 5, ..GroupConfig::default() };

impl Play {
    fn begin() -> Self {
        let shard = Coordinator::new(CONFIG(), Now::default());
        Self { shard, now_ms: 0, members: Vec::new(), step: Step::default(), requests: 0 }
    }

    fn now(&self) -> Now {
        Now { monotonic: Millis(self.now_ms), wall: Millis(self.now_ms) }
    }

    fn member(&self, index: u8) -> String {
        let index = usize::from(index);
        self.members.get(index % self.members.len().max(1)).cloned().unwrap_or_default()
    }

    fn submit(&mut self, command: Command<'_>) {
        self.requests += 1;
        let (now, from) = (self.now(), ReplyTo(self.requests));
        self.step.clear();
        self.shard.submit(now, from, command, &mut self.step);
        assert!(
            self.step.replies.iter().filter(|(to, _)| *to == from).count() <= 1,
            "one request, one answer"
        );
        for (_, reply) in &self.step.replies {
            if let Reply::JoinGroup(joined) = reply
                && let Some(member) = &joined.member
                && !self.members.iter().any(|known| known == member.as_str())
            {
                self.members.push(member.to_string());
            }
        }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Join { member, instance, ask, timeout_ms, metadata, simple } => {
                let member = member.map(|index| self.member(index));
                let protocols: [(&str, &[u8]); 2] = [("range", metadata), ("sticky", b"")];
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
    check!().with_test_time(super::duration()).with_type::<Vec<Action>>().for_each(|actions| {
        let mut play = Play::begin();
        for action in actions {
            play.act(action);
        }
        // With everybody gone for long, nothing is left to wait for but the retention of offsets.
        for _ in 0..3 {
            play.now_ms += i64::from(i32::MAX);
            play.step.clear();
            let now = play.now();
            play.shard.advance(now, &mut play.step);
        }
        assert!(
            play.shard.describe("g").ok().is_none_or(|group| group.members.is_empty()),
            "members live for ever"
        );
        play.act(&Action::Delete);
        assert_eq!(play.shard.bytes(), 0, "what is gone is still counted");
    });
}
