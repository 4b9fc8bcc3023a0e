//! What the core gives, as lines of text.

use rallypoint::coordinator::error::{GroupError, Refusal};
use rallypoint::coordinator::event::Event;
use rallypoint::coordinator::record::{GroupMetadata, Record};
use rallypoint::coordinator::reply::{
    CommittedOffset, DescribedGroup, JoinReply, Joined, ListedGroup, Reply, Synced, TopicOffsets,
};

use super::consumer;

/// What random member ids look like here: random bits 1 make `a-00000000-0000-4000-8000-000000000001`.
const UUID_HEAD: &str = "00000000-0000-4000-8000-";

/// `a-1` for the id that the random bits 1 made.
pub(super) fn readable(text: &str) -> String {
    let mut parts = text.split(UUID_HEAD);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches('0'));
    }
    out
}

/// The reverse of [`readable`]; an id of another form stays as it is.
pub(super) fn full_id(id: &str) -> String {
    match id.rsplit_once('-') {
        Some((head, tail)) if !tail.is_empty() && tail.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{head}-{UUID_HEAD}{tail:0>12}")
        }
        _ => id.to_owned(),
    }
}

/// What log lines say again and again; the unit test of the events looks at it.
const NOISE: &[&str] = &[", host /10.0.0.1", " with group instance id null", "; client reason: not provided"];

/// An event in the words of the log, with the group's name in front.
pub(super) fn event(event: &Event) -> String {
    let text = NOISE.iter().fold(readable(&event.to_string()), |text, noise| text.replace(noise, ""));
    match text.strip_prefix("[GroupId ").and_then(|rest| rest.split_once("] ")) {
        Some((group, words)) => format!("log {group}: {words}"),
        None => format!("log: {text}"),
    }
}

fn bytes(bytes: &[u8]) -> String {
    if bytes.len() > 64 {
        return format!("{} bytes", bytes.len());
    }
    match topics(bytes) {
        Some(topics) => format!("topics({topics})"),
        None => bytes.escape_ascii().to_string(),
    }
}

/// The topics of a Subscription as `topics=` makes it.
fn topics(bytes: &[u8]) -> Option<String> {
    let mut rest = bytes.strip_prefix(&[0, 0, 0, 0, 0])?.strip_suffix(&[0xff; 4])?;
    let (count, names) = rest.split_first()?;
    rest = names;
    let mut topics = Vec::new();
    for _ in 0..*count {
        let (len, names) = rest.split_first_chunk::<2>()?;
        let (name, names) = names.split_at_checked(usize::from(u16::from_be_bytes(*len)))?;
        topics.push(name.escape_ascii().to_string());
        rest = names;
    }
    rest.is_empty().then(|| topics.join(", "))
}

fn outcome(result: Result<(), GroupError>) -> &'static str {
    result.err().map_or("NONE", GroupError::name)
}

pub(super) fn reply(reply: &Reply) -> String {
    let line = match reply {
        Reply::JoinGroup(join) => joined(join),
        Reply::SyncGroup(Ok(Synced { protocol_type, protocol_name, assignment })) => format!(
            "SyncGroup NONE type={} protocol={} assignment={}",
            protocol_type.as_deref().unwrap_or("null"),
            protocol_name.as_deref().unwrap_or("null"),
            bytes(assignment)
        ),
        Reply::SyncGroup(Err(error)) => format!("SyncGroup {error}"),
        Reply::Heartbeat(result) => format!("Heartbeat {}", outcome(*result)),
        Reply::LeaveGroup(Ok(members)) => {
            let outcomes: Vec<&str> = members.iter().map(|result| outcome(*result)).collect();
            format!("LeaveGroup NONE members=({})", outcomes.join(", "))
        }
        Reply::LeaveGroup(Err(error)) => format!("LeaveGroup {error}"),
        Reply::OffsetCommit(Ok(refused)) if refused.is_empty() => "OffsetCommit NONE".to_owned(),
        Reply::OffsetCommit(Ok(refused)) => format!("OffsetCommit OFFSET_METADATA_TOO_LARGE for {refused:?}"),
        Reply::OffsetCommit(Err(error)) => format!("OffsetCommit {error}"),
        Reply::OffsetDelete(Ok(subscribed)) if subscribed.is_empty() => "OffsetDelete NONE".to_owned(),
        Reply::OffsetDelete(Ok(topics)) => {
            format!("OffsetDelete GROUP_SUBSCRIBED_TO_TOPIC for topics {topics:?}")
        }
        Reply::OffsetDelete(Err(error)) => format!("OffsetDelete {error}"),
        Reply::DeleteGroup(result) => format!("DeleteGroup {}", outcome(*result)),
        Reply::ConsumerGroupHeartbeat(outcome) => consumer::answer(outcome),
        Reply::RegexesResolved => "RegexesResolved".to_owned(),
        Reply::TopicsChanged => "TopicsChanged".to_owned(),
        Reply::TopicsDeleted => "TopicsDeleted".to_owned(),
        Reply::EndTransaction => "EndTransaction".to_owned(),
    };
    readable(&line)
}

fn joined(JoinReply { member, outcome }: &JoinReply) -> String {
    let member = member.as_ref().map_or("\"\"", |id| id.as_str());
    match outcome {
        Err(error) => format!("JoinGroup {error} member={member}"),
        Ok(Joined { generation, protocol_type, protocol_name, leader, skip_assignment, members }) => {
            let members: Vec<String> = members
                .iter()
                .map(|m| match &m.instance {
                    Some(instance) => format!("{}/{instance}:{}", m.member, bytes(&m.metadata)),
                    None => format!("{}:{}", m.member, bytes(&m.metadata)),
                })
                .collect();
            format!(
                "JoinGroup NONE member={member} generation={generation} type={} protocol={} leader={}{}{}",
                protocol_type.as_deref().unwrap_or("null"),
                protocol_name.as_deref().unwrap_or("null"),
                leader.as_ref().map_or("\"\"", |id| id.as_str()),
                if *skip_assignment { " skip_assignment" } else { "" },
                if members.is_empty() { String::new() } else { format!(" members=({})", members.join(", ")) },
            )
        }
    }
}

pub(super) fn record(record: &Record) -> String {
    let line = match record {
        Record::GroupMetadata { group, value: None } => format!("record {group} tombstone"),
        Record::GroupMetadata { group, value: Some(value) } => format!("record {group} {}", metadata(value)),
        Record::OffsetCommit { group, topic, partition, value: None } => {
            format!("record {group} {topic}/{partition} tombstone")
        }
        Record::OffsetCommit { group, topic, partition, value: Some(value) } => {
            format!("record {group} {topic}/{partition} {}", offset(value))
        }
        Record::TxnOffsetCommit { group, topic, partition, producer_id, value } => {
            format!("record {group} {topic}/{partition} {} of producer {producer_id}", offset(value))
        }
        Record::EndTxnMarker { producer_id, committed } => {
            format!("record {} of producer {producer_id}", if *committed { "COMMIT" } else { "ABORT" })
        }
        of_consumer_group => consumer::record(of_consumer_group),
    };
    readable(&line)
}

fn metadata(value: &GroupMetadata) -> String {
    let members: Vec<String> = value
        .members
        .iter()
        .map(|m| match &m.instance {
            Some(instance) => format!("{}/{instance}:{}", m.member, bytes(&m.assignment)),
            None => format!("{}:{}", m.member, bytes(&m.assignment)),
        })
        .collect();
    format!(
        "generation={} type={} protocol={} leader={} members=({})",
        value.generation,
        value.protocol_type.as_deref().unwrap_or("null"),
        value.protocol_name.as_deref().unwrap_or("null"),
        value.leader.as_ref().map_or("null", |id| id.as_str()),
        members.join(", ")
    )
}

fn offset(offset: &CommittedOffset) -> String {
    let expiry = offset.expire_timestamp_ms.map_or_else(String::new, |at| format!(" expires={at}"));
    format!(
        "offset={} metadata={:?} at={}{expiry}",
        offset.offset, offset.metadata, offset.commit_timestamp_ms
    )
}

pub(super) fn committed((topic, partitions): TopicOffsets<'_>) -> Vec<String> {
    partitions.iter().map(|(partition, value)| format!("{topic}/{partition} {}", offset(value))).collect()
}

pub(super) fn listed(group: &ListedGroup<'_>) -> String {
    format!("{} type={:?} state={} kind={}", group.group, group.protocol_type, group.state, group.group_type)
}

pub(super) fn described(group: Result<DescribedGroup, Refusal>) -> Vec<String> {
    let group = match group {
        Ok(group) => group,
        Err(refusal) => return vec![refusal.message],
    };
    let mut lines =
        vec![format!("{} type={:?} protocol={:?}", group.state, group.protocol_type, group.protocol_name)];
    for member in &group.members {
        let instance = member.instance.as_ref().map_or_else(String::new, |id| format!("/{id}"));
        lines.push(readable(&format!(
            "member {}{instance} client={} host={} metadata={} assignment={}",
            member.member,
            member.client_id,
            member.client_host,
            bytes(&member.metadata),
            bytes(&member.assignment)
        )));
    }
    lines
}
