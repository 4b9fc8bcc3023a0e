//! Command lines that are requests, as commands of the core.

use rallypoint::coordinator::command::{
    Command, CommitPartition, DeleteGroup, EndTransaction, Heartbeat, JoinGroup, LeaveGroup, Leaver,
    OffsetCommit, OffsetDelete, SyncGroup,
};
use rallypoint::types::TopicName;

use super::consumer;
use super::line::Line;
use super::show::full_id;

/// Who asks: `a`, or `a-1` with the member id in the request; `member=a` where the client made the id.
pub(super) struct Who<'a> {
    pub(super) client: &'a str,
    pub(super) connection: &'a str,
    pub(super) member: Option<String>,
}

impl<'a> Who<'a> {
    pub(super) fn of(line: &Line<'a>) -> Self {
        if let Some(member) = line.get("member") {
            let connection = line.get("from").unwrap_or(member);
            return Self { client: member, connection, member: Some(member.to_owned()) };
        }
        let who = line.second().unwrap_or("admin");
        let (client, member) = match who.rsplit_once('-') {
            Some((client, _)) => (client, Some(full_id(who))),
            None => (who, None),
        };
        Self { client, connection: line.get("from").unwrap_or(client), member }
    }

    fn member(&self) -> &str {
        self.member.as_deref().unwrap_or_default()
    }
}

/// Builds the command that a line describes.
pub(super) fn build(
    line: &Line<'_>,
    who: &Who<'_>,
    random: u128,
    act: impl FnOnce(Command<'_>),
) -> Result<(), String> {
    let group = line.group().unwrap_or_default();
    match line.verb {
        "join" => join(line, group, who, random, act),
        "sync" => sync(line, group, who, act),
        "heartbeat" => {
            line.only(&["from", "instance", "generation"])?;
            let (instance, generation) = (line.get("instance"), line.int("generation", 1)?);
            act(Command::Heartbeat(Heartbeat { group, member: who.member(), instance, generation }));
            Ok(())
        }
        "beat" => consumer::beat(line, group, act),
        "leave" => leave(line, group, act),
        "commit" => commit(line, group, who, act),
        "delete-offsets" => delete_offsets(line, group, act),
        "delete" => {
            line.only(&["from"])?;
            act(Command::DeleteGroup(DeleteGroup { group }));
            Ok(())
        }
        "end-transaction" => {
            line.only(&["from", "producer", "commit"])?;
            let producer_id = line.number("producer", 0)?;
            act(Command::EndTransaction(EndTransaction {
                producer_id,
                committed: line.text("commit") == "yes",
            }));
            Ok(())
        }
        "topics-deleted" => {
            line.only(&["from", "topics"])?;
            let topics: Vec<TopicName> = line.list("topics").into_iter().map(TopicName::from).collect();
            act(Command::TopicsDeleted(&topics));
            Ok(())
        }
        verb => Err(format!("no command {verb}")),
    }
}

/// The protocols that a line offers, `(range)` if it says nothing; metadata is `meta-CLIENT` unless given.
pub(super) fn protocols(line: &Line<'_>, client: &str) -> Vec<(String, Vec<u8>)> {
    let metadata = line
        .get("topics")
        .map_or_else(|| format!("meta-{client}").into_bytes(), |_| subscription(&line.list("topics")));
    let offered = if line.get("protocols").is_some() { line.list("protocols") } else { vec!["range"] };
    offered
        .into_iter()
        .map(|protocol| match protocol.split_once(':') {
            Some((name, given)) => (name.to_owned(), given.as_bytes().to_vec()),
            None => (protocol.to_owned(), metadata.clone()),
        })
        .collect()
}

fn join(
    line: &Line<'_>,
    group: &str,
    who: &Who<'_>,
    random: u128,
    act: impl FnOnce(Command<'_>),
) -> Result<(), String> {
    line.only(&[
        "from",
        "version",
        "instance",
        "session_ms",
        "rebalance_ms",
        "type",
        "protocols",
        "topics",
        "reason",
        "interval_ms",
    ])?;
    let version = line.int("version", 9)?;
    let protocols = protocols(line, who.client);
    let protocols: Vec<(&str, &[u8])> = protocols.iter().map(|(n, m)| (n.as_str(), m.as_slice())).collect();
    act(Command::JoinGroup(JoinGroup {
        group,
        member: who.member.as_deref(),
        instance: line.get("instance"),
        client_id: who.client,
        client_host: "/10.0.0.1",
        session_timeout_ms: line.int("session_ms", 45_000)?,
        rebalance_timeout_ms: line.int("rebalance_ms", 60_000)?,
        protocol_type: line.get("type").unwrap_or("consumer"),
        protocols: &protocols,
        reason: line.get("reason"),
        member_id_required: version >= 4,
        may_skip_assignment: version >= 9,
        random,
        assignment_interval_ms: line.int("interval_ms", 0)?,
    }));
    Ok(())
}

fn sync(line: &Line<'_>, group: &str, who: &Who<'_>, act: impl FnOnce(Command<'_>)) -> Result<(), String> {
    line.only(&["from", "instance", "generation", "type", "protocol", "assign", "assign_bytes"])?;
    let parts: Vec<(String, &[u8])> = line
        .list("assign")
        .into_iter()
        .map(|part| part.split_once(':').unwrap_or((part, "")))
        .map(|(id, assignment)| (full_id(id), assignment.as_bytes()))
        .collect();
    // `assign_bytes=N` hands the caller itself N bytes, to look at limits.
    let bulk = vec![b'x'; usize::try_from(line.number("assign_bytes", 0)?).map_err(|e| e.to_string())?];
    let mut assignments: Vec<(&str, &[u8])> = parts.iter().map(|(id, a)| (id.as_str(), *a)).collect();
    if !bulk.is_empty() {
        assignments.push((who.member(), &bulk));
    }
    act(Command::SyncGroup(SyncGroup {
        group,
        member: who.member(),
        instance: line.get("instance"),
        generation: line.int("generation", 1)?,
        protocol_type: line.get("type"),
        protocol_name: line.get("protocol"),
        assignments: &assignments,
    }));
    Ok(())
}

fn leave(line: &Line<'_>, group: &str, act: impl FnOnce(Command<'_>)) -> Result<(), String> {
    line.only(&["from", "members", "reason"])?;
    let own = line.second().into_iter().filter(|_| line.get("members").is_none());
    let parts: Vec<(String, Option<&str>)> = line
        .list("members")
        .into_iter()
        .chain(own)
        .map(|leaver| match leaver.split_once('/') {
            Some((id, instance)) => (full_id(id), Some(instance)),
            None => (full_id(leaver), None),
        })
        .collect();
    let leavers: Vec<Leaver<'_>> = parts
        .iter()
        .map(|(id, instance)| Leaver {
            member: (!id.is_empty()).then_some(id.as_str()),
            instance: *instance,
            reason: line.get("reason"),
        })
        .collect();
    act(Command::LeaveGroup(LeaveGroup { group, members: &leavers }));
    Ok(())
}

fn commit(line: &Line<'_>, group: &str, who: &Who<'_>, act: impl FnOnce(Command<'_>)) -> Result<(), String> {
    line.only(&[
        "from",
        "member",
        "instance",
        "generation",
        "producer",
        "offsets",
        "metadata",
        "metadata_units",
        "retention_ms",
        "version",
    ])?;
    let mut parts = Vec::new();
    for part in line.list("offsets") {
        let (at, offset) = part.split_once(':').ok_or("an offset is TOPIC/PARTITION:OFFSET")?;
        let (topic, partition) = partition(at)?;
        parts.push((TopicName::from(topic), partition, offset.parse::<i64>().map_err(|e| e.to_string())?));
    }
    // `metadata_units=N`: N letters, to look at limits.
    let long = "m".repeat(usize::try_from(line.number("metadata_units", 0)?).map_err(|e| e.to_string())?);
    let offsets: Vec<CommitPartition<'_>> = parts
        .iter()
        .map(|(topic, partition, offset)| CommitPartition {
            topic,
            topic_id: consumer::topic_id(topic.as_str()),
            partition: *partition,
            offset: *offset,
            leader_epoch: None,
            metadata: line.get("metadata").unwrap_or(&long),
        })
        .collect();
    let producer_id = line.get("producer").map(|_| line.number("producer", 0)).transpose()?;
    act(Command::OffsetCommit(OffsetCommit {
        group,
        member: who.member(),
        instance: line.get("instance"),
        generation: line.int("generation", -1)?,
        retention_ms: line.get("retention_ms").map(|_| line.number("retention_ms", 0)).transpose()?,
        has_member_epoch: line.int("version", 10)? >= if producer_id.is_some() { 6 } else { 9 },
        producer_id,
        offsets: &offsets,
    }));
    Ok(())
}

fn delete_offsets(line: &Line<'_>, group: &str, act: impl FnOnce(Command<'_>)) -> Result<(), String> {
    line.only(&["from", "offsets"])?;
    let mut parts: Vec<(&str, Vec<i32>)> = Vec::new();
    for part in line.list("offsets") {
        let (topic, partition) = partition(part)?;
        match parts.last_mut() {
            Some((last, partitions)) if *last == topic => partitions.push(partition),
            _ => parts.push((topic, vec![partition])),
        }
    }
    let topics: Vec<(&str, &[i32])> = parts.iter().map(|(t, p)| (*t, p.as_slice())).collect();
    act(Command::OffsetDelete(OffsetDelete { group, topics: &topics }));
    Ok(())
}

fn partition(text: &str) -> Result<(&str, i32), String> {
    let (topic, partition) = text.split_once('/').ok_or("a partition is TOPIC/PARTITION")?;
    Ok((topic, partition.parse().map_err(|_| format!("{partition} is no partition"))?))
}

/// A consumer's Subscription, version 0, without user data.
fn subscription(topics: &[&str]) -> Vec<u8> {
    let mut bytes = vec![0, 0];
    bytes.extend((topics.len() as i32).to_be_bytes());
    for topic in topics {
        bytes.extend((topic.len() as i16).to_be_bytes());
        bytes.extend(topic.as_bytes());
    }
    bytes.extend((-1i32).to_be_bytes());
    bytes
}
