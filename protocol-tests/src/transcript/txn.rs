//! The transaction coordinator on a stage of its own. Markers wait until they are said to be written.
//!
//! ```text
//! config KEY=VALUE …                   settings, before anything else; names are Kafka's
//! init X timeout=60000 expected=0/3    X is a transactional id, `-` is none; `expected` is producer id and epoch
//! init X times=32766                   so often, and only the last is shown
//! add X 0/3 partitions=(t/0, u/1) v2   what a client adds itself, or with `v2` what Produce and TxnOffsetCommit add
//! verify X 0/3 partitions=(t/0)
//! end X 0/3 commit=yes v2              EndTxn, with `v2` as of version 5
//! written                              all markers that were handed out
//! advance by=3000
//! describe X, list states=(Ongoing) producers=(0) longer_than=5
//! reload                               from its records, which it prints
//! ```

use rallypoint::txn::command::{AddPartitions, EndMarker, EndTxn, InitProducerId};
use rallypoint::txn::error::TxnError;
use rallypoint::txn::transaction::{ClientVersion, Transaction, TransactionState, TxnPartition};
use rallypoint::txn::{ListFilter, Step, TransactionCoordinator, TxnConfig};
use rallypoint::types::{Millis, Now, ProducerIdAndEpoch, TopicName};

use super::line::Line;

/// The wall clock when the monotonic one reads 0.
const WALL_AT_START_MS: i64 = 1_000_000_000_000;

const STATES: [TransactionState; 6] = [
    TransactionState::Empty,
    TransactionState::Ongoing,
    TransactionState::PrepareCommit,
    TransactionState::PrepareAbort,
    TransactionState::CompleteCommit,
    TransactionState::CompleteAbort,
];

/// What a transcript plays on.
#[derive(Default)]
pub(super) struct Stage {
    config: TxnConfig,
    coordinator: Option<TransactionCoordinator>,
    now_ms: i64,
    /// What was handed out and not yet written.
    markers: Vec<EndMarker>,
}

impl Stage {
    /// Plays one command; gives what came of it, a line each.
    pub(super) fn play(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        match line.verb {
            "config" => self.configure(line).map(|()| Vec::new()),
            "init" => self.init(line),
            "add" => self.add(line),
            "verify" => self.verify(line),
            "end" => self.end(line),
            "written" => Ok(self.written()),
            "advance" => self.advance(line),
            "describe" => Ok(self.describe(line.group()?)),
            "list" => self.list(line),
            "reload" => Ok(self.reload()),
            verb => Err(format!("no command {verb}")),
        }
    }

    fn configure(&mut self, line: &Line<'_>) -> Result<(), String> {
        for (key, _) in line.fields() {
            let config = &mut self.config;
            match *key {
                "transaction.max.timeout.ms" => config.timeout_max_ms = line.int(key, 0)?,
                "transaction.abort.timed.out.transaction.cleanup.interval.ms" => {
                    config.abort_check_interval_ms = line.number(key, 0)?;
                }
                "transactional.id.expiration.ms" => config.id_expiration_ms = line.number(key, 0)?,
                "transaction.remove.expired.transaction.cleanup.interval.ms" => {
                    config.id_check_interval_ms = line.number(key, 0)?;
                }
                "bytes.max" => {
                    config.bytes_max = usize::try_from(line.number(key, 0)?).map_err(|e| e.to_string())?;
                }
                _ => return Err(format!("no setting {key}")),
            }
        }
        Ok(())
    }

    fn now(&self) -> Now {
        Now { monotonic: Millis(self.now_ms), wall: Millis(WALL_AT_START_MS + self.now_ms) }
    }

    fn coordinator(&mut self) -> &mut TransactionCoordinator {
        let (config, now) = (self.config, self.now());
        self.coordinator.get_or_insert_with(|| TransactionCoordinator::new(config, now))
    }

    /// Lets the coordinator work; gives its answer, and what else came of it.
    fn work<R>(
        &mut self,
        work: impl FnOnce(&mut TransactionCoordinator, Now, &mut Step) -> R,
    ) -> (R, Vec<String>) {
        let (now, mut step) = (self.now(), Step::default());
        let answer = work(self.coordinator(), now, &mut step);
        let mut lines: Vec<String> = step.events.iter().map(|event| format!("log {event}")).collect();
        step.changed.dedup();
        for id in &step.changed {
            lines.push(match self.coordinator().record(id).value {
                Some(transaction) => format!("record {id} {}", shown(&transaction)),
                None => format!("record {id} tombstone"),
            });
        }
        lines.extend(step.markers.iter().map(marker));
        self.markers.append(&mut step.markers);
        (answer, lines)
    }

    fn init(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        line.only(&["timeout", "expected", "times"])?;
        let id = line.group()?;
        let init = InitProducerId {
            transactional_id: (id != "-").then_some(id),
            timeout_ms: line.int("timeout", 60_000)?,
            expected: line.get("expected").map(producer).transpose()?,
        };
        for _ in 1..line.number("times", 1)? {
            let (answer, _) =
                self.work(|coordinator, now, step| coordinator.init_producer_id(now, &init, step));
            answer.map_err(|error| error.to_string())?;
        }
        let (answer, mut lines) =
            self.work(|coordinator, now, step| coordinator.init_producer_id(now, &init, step));
        lines.push(identity(answer));
        Ok(lines)
    }

    fn add(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        line.only(&["partitions"])?;
        let partitions = partitions(line)?;
        let add = added(line, &partitions)?;
        let (answer, mut lines) =
            self.work(|coordinator, now, step| coordinator.add_partitions(now, &add, step));
        lines.push(outcome(answer).to_owned());
        Ok(lines)
    }

    fn verify(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        line.only(&["partitions"])?;
        let partitions = partitions(line)?;
        let verify = added(line, &partitions)?;
        Ok(match self.coordinator().verify_partitions(&verify) {
            Err(error) => vec![error.to_string()],
            Ok(outcomes) => partitions
                .iter()
                .zip(outcomes)
                .map(|((topic, partition), answer)| format!("{topic}/{partition} {}", outcome(answer)))
                .collect(),
        })
    }

    fn end(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        line.only(&["commit"])?;
        let end = EndTxn {
            transactional_id: line.group()?,
            producer: producer(line.second().unwrap_or_default())?,
            committed: line.text("commit") == "yes",
            version: version(line),
        };
        let (answer, mut lines) = self.work(|coordinator, now, step| coordinator.end(now, &end, step));
        lines.push(identity(answer));
        Ok(lines)
    }

    fn written(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for marker in std::mem::take(&mut self.markers) {
            let id = marker.transactional_id.as_str();
            let ((), more) = self.work(|coordinator, now, step| {
                coordinator.markers_written(now, id, marker.producer, step);
            });
            lines.extend(more);
        }
        lines
    }

    /// Does what is due, each at its own time.
    fn advance(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        line.only(&["by"])?;
        let end = self.now_ms + line.number("by", 0)?;
        let mut lines = Vec::new();
        while self.coordinator().next_deadline().0 <= end {
            self.now_ms = self.now_ms.max(self.coordinator().next_deadline().0);
            let ((), more) = self.work(|coordinator, now, step| coordinator.advance(now, step));
            if !more.is_empty() {
                lines.push(format!("at {} ms:", self.now_ms));
                lines.extend(more);
            }
        }
        self.now_ms = end;
        Ok(lines)
    }

    fn describe(&mut self, id: &str) -> Vec<String> {
        vec![self.coordinator().transaction(id).map_or_else(|| "not found".to_owned(), shown)]
    }

    fn list(&mut self, line: &Line<'_>) -> Result<Vec<String>, String> {
        line.only(&["states", "producers", "longer_than"])?;
        let producer_ids = line.list("producers").into_iter().map(str::parse);
        let producer_ids: Vec<i64> = producer_ids.collect::<Result<_, _>>().map_err(|e| format!("{e}"))?;
        let find = |name: &str| STATES.into_iter().find(|state| state.name() == name);
        let filter = ListFilter {
            producer_ids: &producer_ids,
            states: line.get("states").map(|_| line.list("states").into_iter().filter_map(find).collect()),
            longer_than_ms: line.get("longer_than").map(|_| line.number("longer_than", 0)).transpose()?,
        };
        let now = self.now();
        let listed = self.coordinator().list(now, &filter);
        Ok(listed.map(|(id, transaction)| format!("{id} {}", transaction.state.name())).collect())
    }

    /// Loads the coordinator anew from its own records, which gives the same ones again.
    fn reload(&mut self) -> Vec<String> {
        let (config, now) = (self.config, self.now());
        let records: Vec<_> = self.coordinator().snapshot().collect();
        let next = self.coordinator().next_producer_id();
        let loaded = TransactionCoordinator::load(config, now, next, records.clone());
        let bytes = self.coordinator().bytes();
        assert_eq!(loaded.bytes(), bytes, "what is loaded takes what it took");
        self.markers = loaded.unwritten();
        self.coordinator = Some(loaded);
        let mut lines: Vec<String> = records
            .iter()
            .filter_map(|record| {
                Some(format!("record {} {}", record.transactional_id, shown(record.value.as_ref()?)))
            })
            .collect();
        lines.extend(self.markers.iter().map(marker));
        lines
    }
}

fn partitions(line: &Line<'_>) -> Result<Vec<TxnPartition>, String> {
    let parse = |text: &str| {
        let (topic, partition) = text.split_once('/').ok_or_else(|| format!("{text} is no partition"))?;
        Ok((TopicName::from(topic), partition.parse().map_err(|_| format!("{text} is no partition"))?))
    };
    line.list("partitions").into_iter().map(parse).collect()
}

fn added<'a>(line: &Line<'a>, partitions: &'a [TxnPartition]) -> Result<AddPartitions<'a>, String> {
    Ok(AddPartitions {
        transactional_id: line.group()?,
        producer: producer(line.second().unwrap_or_default())?,
        partitions,
        version: version(line),
    })
}

fn version(line: &Line<'_>) -> ClientVersion {
    if line.third() == Some("v2") { ClientVersion::V2 } else { ClientVersion::V1 }
}

/// `0/3`: producer id and epoch.
fn producer(text: &str) -> Result<ProducerIdAndEpoch, String> {
    let bad = || format!("{text} is no producer id and epoch");
    let (id, epoch) = text.split_once('/').ok_or_else(bad)?;
    Ok(ProducerIdAndEpoch { id: id.parse().map_err(|_| bad())?, epoch: epoch.parse().map_err(|_| bad())? })
}

fn identity(answer: Result<ProducerIdAndEpoch, TxnError>) -> String {
    answer
        .map_or_else(|error| error.to_string(), |producer| format!("NONE {}/{}", producer.id, producer.epoch))
}

fn outcome(answer: Result<(), TxnError>) -> &'static str {
    answer.err().map_or("NONE", TxnError::name)
}

fn shown(transaction: &Transaction) -> String {
    let Transaction { producer, previous_producer_id, next_producer_id, last_epoch, .. } = transaction;
    format!(
        "{} producer={}/{} last_epoch={last_epoch} previous_id={previous_producer_id} next_id={next_producer_id} \
         timeout={} start={} partitions=({})",
        transaction.state.name(),
        producer.id,
        producer.epoch,
        transaction.timeout_ms,
        transaction.start_ms,
        named(transaction.partitions.iter())
    )
}

fn marker(marker: &EndMarker) -> String {
    format!(
        "marker {} {} of {}/{} to ({})",
        if marker.committed { "COMMIT" } else { "ABORT" },
        marker.transactional_id,
        marker.producer.id,
        marker.producer.epoch,
        named(marker.partitions.iter())
    )
}

fn named<'a>(partitions: impl Iterator<Item = &'a TxnPartition>) -> String {
    let names: Vec<String> = partitions.map(|(topic, partition)| format!("{topic}/{partition}")).collect();
    names.join(", ")
}
