//! One shard, one clock, and clients that speak to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rallypoint::coordinator::command::Command;
use rallypoint::coordinator::job::Job;
use rallypoint::coordinator::migrate::MigrationPolicy;
use rallypoint::coordinator::record::Record;
use rallypoint::coordinator::reply::Reply;
use rallypoint::coordinator::{Coordinator, GroupConfig, Step};
use rallypoint::types::{Millis, Now, ReplyTo};

use super::consumer::Topics;
use super::line::Line;
use super::request::{self, Who};
use super::{consumer, given, show};

/// The wall clock when the monotonic one reads 0, so that the two cannot be mistaken for one another.
const WALL_AT_START_MS: i64 = 1_000_000_000_000;

/// What a transcript plays on.
#[derive(Default)]
pub(super) struct Stage {
    config: GroupConfig,
    shard: Option<Coordinator>,
    now_ms: i64,
    /// Connection → token.
    connections: BTreeMap<String, ReplyTo>,
    /// Group, client or instance id → how many member ids were made for it there.
    ids: BTreeMap<(String, String), u128>,
    topics: Topics,
    /// What is to be done aside.
    jobs: Vec<Job>,
}

impl Stage {
    /// Plays one command; gives what came of it, a line each.
    pub(super) fn play(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        match line.verb {
            "config" => self.configure(line).map(|()| Vec::new()),
            "fresh" => {
                *self = Self { config: self.config.clone(), ..Self::default() };
                Ok(Vec::new())
            }
            "given" => given::bring(self, line).map(|reached| vec![reached]),
            "advance" => self.advance(line),
            "describe" => Ok(show::described(self.shard().describe(line.group()?))),
            "describe-consumer" => {
                Ok(consumer::described(self.shard().describe_consumer_group(line.group()?)))
            }
            "topics" => self.change_topics(line),
            "resolve" => Ok(self.resolve()),
            "list" => Ok(self.shard().list().map(|group| show::listed(&group)).collect()),
            "fetch" => self.fetch(line.group()?),
            "reload" => Ok(self.reload()),
            _ => self.request(line),
        }
    }

    /// What is committed, and what of it an open transaction is about to change.
    fn fetch(&mut self, group: &str) -> Result<Vec<String>, String> {
        let shard = self.shard();
        let offsets = shard.all_committed(group);
        let lines = offsets.flat_map(|(topic, partitions)| {
            let shown = show::committed((topic, partitions));
            let unstable =
                partitions.iter().map(|(partition, _)| shard.is_unstable(group, topic.as_str(), *partition));
            shown
                .into_iter()
                .zip(unstable)
                .map(|(line, unstable)| if unstable { line + " unstable" } else { line })
        });
        Ok(lines.collect())
    }

    pub(super) fn shard(&mut self) -> &mut Coordinator {
        let (config, now) = (self.config.clone(), self.now());
        self.shard.get_or_insert_with(|| Coordinator::new(config, now))
    }

    /// Sends a command from a connection; gives what came of it.
    pub(super) fn submit(&mut self, connection: &str, command: Command<'_>) -> Step {
        let (from, now) = (self.token(connection), self.now());
        let mut step = Step::default();
        self.shard().submit(now, from, command, &mut step);
        self.jobs.append(&mut step.jobs);
        step
    }

    fn change_topics(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        self.topics.change(line)?;
        let topics = Arc::new(self.topics.clone());
        self.submit("nobody", Command::TopicsChanged(topics));
        Ok(Vec::new())
    }

    /// Does what is to be done aside, and hands in what comes of it.
    fn resolve(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for job in std::mem::take(&mut self.jobs) {
            let states = self.states();
            let mut step = self.submit("nobody", Command::RegexesResolved(job.run()));
            step.replies.clear();
            lines.extend(self.outcome(&states, &step));
        }
        lines
    }

    /// The bits for the next member id of a client or instance in a group: `a-1`, `a-2` …
    pub(super) fn draw(&mut self, group: &str, prefix: &str) -> u128 {
        let drawn = self.ids.entry((group.to_owned(), prefix.to_owned())).or_default();
        *drawn += 1;
        *drawn
    }

    pub(super) fn token(&mut self, connection: &str) -> ReplyTo {
        let next = ReplyTo(self.connections.len() as u64 + 1);
        *self.connections.entry(connection.to_owned()).or_insert(next)
    }

    fn now(&self) -> Now {
        Now { monotonic: Millis(self.now_ms), wall: Millis(WALL_AT_START_MS + self.now_ms) }
    }

    fn configure(&mut self, line: &Line<'_>) -> Result<(), String> {
        let size = |key: &str| usize::try_from(line.number(key, 0)?).map_err(|e| e.to_string());
        for (key, _) in line.fields() {
            let config = &mut self.config;
            match *key {
                "group.min.session.timeout.ms" => config.session_timeout_min_ms = line.int(key, 0)?,
                "group.max.session.timeout.ms" => config.session_timeout_max_ms = line.int(key, 0)?,
                "group.initial.rebalance.delay.ms" => {
                    config.initial_rebalance_delay_ms = line.number(key, 0)?
                }
                "group.max.size" => config.group_max_size = size(key)?,
                "offset.metadata.max.bytes" => config.offset_metadata_max = size(key)?,
                "offsets.retention.ms" => config.offsets_retention_ms = line.number(key, 0)?,
                "offsets.retention.check.interval.ms" => {
                    config.offsets_retention_check_interval_ms = line.number(key, 0)?;
                }
                "group.consumer.max.size" => config.consumer.members_max = size(key)?,
                "group.consumer.migration.policy" => {
                    config.consumer.migration_policy = match line.text(key) {
                        "disabled" => MigrationPolicy::Disabled,
                        "upgrade" => MigrationPolicy::Upgrade,
                        "downgrade" => MigrationPolicy::Downgrade,
                        _ => MigrationPolicy::Bidirectional,
                    }
                }
                "message.max.bytes" => config.record_bytes_max = size(key)?,
                _ => return Err(format!("no setting {key}")),
            }
        }
        Ok(())
    }

    fn request(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        let who = Who::of(line);
        let connection = who.connection.to_owned();
        let random = match (line.verb, &who.member) {
            ("join", None) => self.draw(line.group()?, line.get("instance").unwrap_or(who.client)),
            _ => 0,
        };
        let states = self.states();
        let mut step = Step::default();
        request::build(line, &who, random, |command| step = self.submit(&connection, command))?;
        let mut lines = self.outcome(&states, &step);
        let from = self.token(&connection);
        if step.replies.iter().all(|(to, _)| *to != from) {
            lines.push(format!("waits: {connection}"));
        }
        Ok(lines)
    }

    /// Fires timers one deadline after the other, each at its own time.
    fn advance(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        line.only(&["by", "to"])?;
        let end = line.number("to", self.now_ms + line.number("by", 0)?)?;
        let mut lines = Vec::new();
        loop {
            let due = self.shard().next_deadline().map_or(i64::MAX, |at| at.0);
            if due > end {
                break;
            }
            self.now_ms = self.now_ms.max(due);
            let (now, states) = (self.now(), self.states());
            let mut step = Step::default();
            self.shard().advance(now, &mut step);
            let outcome = self.outcome(&states, &step);
            if !outcome.is_empty() {
                lines.push(format!("at {} ms:", self.now_ms));
                lines.extend(outcome);
            }
        }
        self.now_ms = end;
        Ok(lines)
    }

    /// Loads the shard anew from its own snapshot, and says what would be written now, if that differs.
    fn reload(&mut self) -> Vec<String> {
        let states = self.states();
        let records: Vec<Record> = self.shard().snapshot().collect();
        let loaded = Coordinator::load(self.config.clone(), self.now(), &records);
        let again: Vec<Record> = loaded.snapshot().collect();
        self.shard = Some(loaded);
        let topics = Arc::new(self.topics.clone());
        self.submit("nobody", Command::TopicsChanged(topics));
        let mut lines: Vec<String> = records.iter().map(show::record).collect();
        let differs = again.iter().filter(|record| !records.contains(record));
        lines.extend(differs.map(|now| format!("now {}", show::record(now))));
        lines.extend(self.changes(&states));
        lines
    }

    fn states(&mut self) -> BTreeMap<String, &'static str> {
        self.shard().list().map(|group| (group.group.to_string(), group.state)).collect()
    }

    fn changes(&mut self, before: &BTreeMap<String, &'static str>) -> Vec<String> {
        let after = self.states();
        let all = before.keys().chain(after.keys().filter(|group| !before.contains_key(*group)));
        let state = |states: &BTreeMap<String, &'static str>, group: &str| {
            states.get(group).copied().unwrap_or("Dead")
        };
        all.filter(|group| state(before, group) != state(&after, group))
            .map(|group| format!("state {group}: {} -> {}", state(before, group), state(&after, group)))
            .collect()
    }

    fn outcome(&mut self, before: &BTreeMap<String, &'static str>, step: &Step) -> Vec<String> {
        let mut lines: Vec<String> = step.events.iter().map(show::event).collect();
        lines.extend(self.changes(before));
        lines.extend(step.records.iter().map(show::record));
        lines.extend(step.replies.iter().map(|(to, reply)| self.reply(*to, reply)));
        lines
    }

    fn reply(&self, to: ReplyTo, reply: &Reply) -> String {
        let name = self.connections.iter().find(|(_, token)| **token == to).map_or("?", |(name, _)| name);
        format!("reply {name}: {}", show::reply(reply))
    }
}
