//! A group member: one consumer in a poll loop on its own thread.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rdkafka::client::ClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::{Offset, TopicPartitionList};
use serde_json::{Value, json};

use crate::{Command, Outcome, event};

/// Offsets to commit: the one after the last record read of each partition.
type Done = BTreeMap<(String, i32), i64>;

struct Listener {
    name: String,
    commit_on_revoke: bool,
    done: Mutex<Done>,
}

impl Listener {
    fn done(&self) -> Outcome<TopicPartitionList> {
        let mut list = TopicPartitionList::new();
        for ((topic, partition), offset) in self.done.lock().map_err(|_| "poisoned")?.iter() {
            list.add_partition_offset(topic, *partition, Offset::Offset(*offset))?;
        }
        Ok(list)
    }

    fn revoked(&self, consumer: &BaseConsumer<Self>, parts: &TopicPartitionList) {
        let lost = consumer.assignment_lost();
        if self.commit_on_revoke && !lost {
            let committed = self.done().and_then(|list| Ok(consumer.commit(&list, CommitMode::Sync)?));
            if let Err(error) = committed {
                eprintln!("{}: commit on revoke: {error}", self.name);
            }
        }
        if let Ok(mut done) = self.done.lock() {
            done.retain(|(topic, partition), _| parts.find_partition(topic, *partition).is_none());
        }
        event(&self.name, if lost { "lost" } else { "revoke" }, json!({ "parts": names(parts) }));
    }
}

impl ClientContext for Listener {}

impl ConsumerContext for Listener {
    fn pre_rebalance(&self, consumer: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(parts) = rebalance {
            self.revoked(consumer, parts);
        }
    }

    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Assign(parts) = rebalance {
            event(&self.name, "assign", json!({ "parts": names(parts) }));
        }
    }
}

fn names(parts: &TopicPartitionList) -> Vec<String> {
    parts.elements().iter().map(|p| format!("{}/{}", p.topic(), p.partition())).collect()
}

fn config(bootstrap: &str, command: &Command) -> Outcome<ClientConfig> {
    let session = command.number("session").unwrap_or(6000);
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", bootstrap)
        .set("group.id", command.needed("group")?)
        .set("client.id", command.needed("m")?)
        .set("enable.auto.commit", (command.text("commit") == Some("auto")).to_string())
        .set("auto.commit.interval.ms", command.number("auto_ms").unwrap_or(1000).to_string())
        .set("auto.offset.reset", "earliest")
        .set("topic.metadata.refresh.interval.ms", "1000")
        .set("fetch.wait.max.ms", "100")
        .set("session.timeout.ms", session.to_string())
        .set("max.poll.interval.ms", session.max(60_000).to_string())
        .set("heartbeat.interval.ms", command.number("hb").unwrap_or(500).to_string());
    let assignors = command.texts("assignors");
    if !assignors.is_empty() {
        config.set("partition.assignment.strategy", assignors.join(","));
    }
    if let Some(instance) = command.text("instance") {
        config.set("group.instance.id", instance);
    }
    if std::env::var_os("CLIENT_LOG").is_some() {
        config.set("debug", "cgrp,protocol");
    }
    Ok(config)
}

pub struct Member {
    consumer: Mutex<Option<Arc<BaseConsumer<Listener>>>>,
    closing: AtomicBool,
    handling: Mutex<()>, // held while a batch is handled, and by a commit from outside
}

impl Member {
    pub fn start(bootstrap: &str, command: &Command) -> Outcome<Arc<Self>> {
        let name = command.needed("m")?;
        let listener = Listener {
            name: name.to_owned(),
            commit_on_revoke: command.text("commit") == Some("revoke"),
            done: Mutex::default(),
        };
        let consumer: BaseConsumer<Listener> = config(bootstrap, command)?.create_with_context(listener)?;
        consumer.subscribe(&command.texts("topics"))?;
        let member = Arc::new(Self {
            consumer: Mutex::new(Some(Arc::new(consumer))),
            closing: AtomicBool::new(false),
            handling: Mutex::new(()),
        });
        let (running, command, name) = (Arc::clone(&member), command.clone(), name.to_owned());
        std::thread::spawn(move || match running.run(&command) {
            Ok(()) => event(&name, "closed", json!({})),
            Err(error) => event(&name, "error", json!({ "err": error.to_string() })),
        });
        Ok(member)
    }

    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// Commits what was read, whatever became of the membership since.
    pub fn commit_now(&self) -> Outcome<()> {
        let _handling = self.handling.lock().map_err(|_| "poisoned")?;
        let consumer = self.consumer.lock().map_err(|_| "poisoned")?.clone().ok_or("closed")?;
        commit(&consumer)
    }

    fn run(&self, command: &Command) -> Outcome<()> {
        let consumer = self.consumer.lock().map_err(|_| "poisoned")?.clone().ok_or("closed")?;
        let result = self.poll_until_closed(&consumer, command);
        self.consumer.lock().map_err(|_| "poisoned")?.take();
        drop(consumer); // the last one: leaves the group
        result
    }

    fn poll_until_closed(&self, consumer: &BaseConsumer<Listener>, command: &Command) -> Outcome<()> {
        let size = usize::try_from(command.number("batch").unwrap_or(100))?;
        let delay = Duration::from_millis(u64::try_from(command.number("delay").unwrap_or(0))?);
        while !self.closing.load(Ordering::Relaxed) {
            let records = read(consumer, size)?;
            if records.is_empty() {
                continue;
            }
            let _handling = self.handling.lock().map_err(|_| "poisoned")?;
            event(&consumer.context().name, "recs", json!({ "recs": records }));
            std::thread::sleep(delay);
            if command.text("commit") == Some("batch") {
                commit(consumer)?;
            }
        }
        Ok(())
    }
}

fn commit(consumer: &BaseConsumer<Listener>) -> Outcome<()> {
    let done = consumer.context().done()?;
    if done.count() > 0 {
        consumer.commit(&done, CommitMode::Sync).map_err(|error| explained(consumer, error))?;
    }
    Ok(())
}

/// Up to `size` records that come within 100 ms, as `[topic, partition, offset, value]`.
fn read(consumer: &BaseConsumer<Listener>, size: usize) -> Outcome<Vec<Value>> {
    let mut records = Vec::new();
    let mut patience = Duration::from_millis(100);
    while records.len() < size {
        let record = match consumer.poll(patience) {
            None => break,
            Some(Err(error)) if passing(&error) => continue,
            Some(Err(error)) => return Err(explained(consumer, error)),
            Some(Ok(record)) => record,
        };
        patience = Duration::ZERO;
        let value = String::from_utf8_lossy(record.payload().unwrap_or_default()).into_owned();
        records.push(json!([record.topic(), record.partition(), record.offset(), value]));
        let mut done = consumer.context().done.lock().map_err(|_| "poisoned")?;
        done.insert((record.topic().to_owned(), record.partition()), record.offset() + 1);
    }
    Ok(records)
}

/// Errors that the client gets over by itself.
fn passing(error: &KafkaError) -> bool {
    matches!(
        error.rdkafka_error_code(),
        Some(
            RDKafkaErrorCode::UnknownTopicOrPartition
                | RDKafkaErrorCode::AllBrokersDown
                | RDKafkaErrorCode::BrokerTransportFailure
        )
    )
}

/// A fatal error stands for another one, which the client keeps.
fn explained(
    consumer: &BaseConsumer<Listener>,
    error: KafkaError,
) -> Box<dyn std::error::Error + Send + Sync> {
    match consumer.client().fatal_error() {
        Some((code, text)) => format!("{error}: {code:?}: {text}").into(),
        None => error.into(),
    }
}
