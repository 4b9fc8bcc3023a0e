//! What transcripts say about consumer groups: `beat`, topics, and how records and answers of them look.

use std::collections::BTreeMap;
use std::fmt::Write;

use rallypoint::assignor::MemberAssignment;
use rallypoint::coordinator::command::{Command, ConsumerGroupHeartbeat, ConsumerSettings, HeartbeatIntent};
use rallypoint::coordinator::error::Refusal;
use rallypoint::coordinator::record::{CurrentAssignment, OwnedPartition, Record};
use rallypoint::coordinator::reply::{ConsumerGroupDescription, ConsumerHeartbeat};
use rallypoint::types::{TopicId, TopicImage, TopicName, TopicPartition, TopicView};

use super::line::Line;

/// The topics of a transcript. The id of one is its name, so that it can be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Topics {
    number: u64,
    newest: u64,
    by_name: BTreeMap<TopicName, i32>,
}

impl Topics {
    /// `topics set=(orders:3, gone:0)`: three partitions, and none left.
    pub(super) fn change(&mut self, line: &Line<'_>) -> Result<(), String> {
        line.only(&["set"])?;
        for word in line.list("set") {
            let (name, partitions) = word.split_once(':').ok_or("a topic is NAME:PARTITIONS")?;
            let partitions: i32 = partitions.parse().map_err(|_| format!("{word}: no number"))?;
            self.number += 1;
            let name = TopicName::from(name);
            if partitions == 0 {
                self.by_name.remove(&name);
            } else if self.by_name.insert(name, partitions).is_none() {
                self.newest = self.number;
            }
        }
        Ok(())
    }

    fn view<'a>((name, partitions): (&'a TopicName, &i32)) -> TopicView<'a> {
        TopicView { name, id: topic_id(name.as_str()), partitions: *partitions }
    }
}

impl TopicImage for Topics {
    fn number(&self) -> u64 {
        self.number
    }

    fn newest_topic(&self) -> u64 {
        self.newest
    }

    fn topic_by_name(&self, name: &str) -> Option<TopicView<'_>> {
        self.by_name.get_key_value(name).map(Self::view)
    }

    fn topic_by_id(&self, id: TopicId) -> Option<TopicView<'_>> {
        self.topic_by_name(&topic_name(id))
    }

    fn for_each_topic(&self, visit: &mut dyn FnMut(TopicView<'_>)) {
        self.by_name.iter().for_each(|topic| visit(Self::view(topic)));
    }
}

/// The first sixteen bytes of the name.
pub(super) fn topic_id(name: &str) -> TopicId {
    let mut id = [0; 16];
    name.bytes().zip(&mut id).for_each(|(byte, place)| *place = byte);
    TopicId(u128::from_be_bytes(id))
}

fn topic_name(id: TopicId) -> String {
    id.0.to_be_bytes().iter().filter(|byte| **byte != 0).map(|byte| char::from(*byte)).collect()
}

/// `beat GROUP MEMBER epoch=0 topics=(a, b) owned=(a/0, a/1) …`: a member without a name gets its id.
pub(super) fn beat(line: &Line<'_>, group: &str, act: impl FnOnce(Command<'_>)) -> Result<(), String> {
    line.only(&[
        "from",
        "epoch",
        "instance",
        "rack",
        "rebalance_ms",
        "topics",
        "regex",
        "assignor",
        "owned",
        "session_ms",
        "interval_ms",
    ])?;
    let epoch = line.int("epoch", 0)?;
    let intent = match epoch {
        0 => HeartbeatIntent::Join,
        -1 => HeartbeatIntent::Leave,
        -2 => HeartbeatIntent::LeaveForNow,
        epoch => HeartbeatIntent::Stay(epoch),
    };
    let mut owned = Vec::new();
    for part in line.list("owned") {
        let (topic, partition) = part.split_once('/').ok_or("a partition is TOPIC/PARTITION")?;
        let partition = partition.parse().map_err(|_| format!("{part} is no partition"))?;
        owned.push(TopicPartition { topic: topic_id(topic), partition });
    }
    owned.sort_unstable();
    let topics = line.list("topics");
    let joins = epoch == 0;
    act(Command::ConsumerGroupHeartbeat(ConsumerGroupHeartbeat {
        group,
        member: line.second(),
        intent,
        instance: line.get("instance"),
        rack: line.get("rack"),
        client_id: "client",
        client_host: "/10.0.0.1",
        rebalance_timeout_ms: match line.int("rebalance_ms", if joins { 60_000 } else { -1 })? {
            -1 => None,
            given => Some(given),
        },
        topics: line.get("topics").map(|_| topics.as_slice()),
        regex: line.get("regex"),
        assignor: line.get("assignor"),
        owned: (joins || line.get("owned").is_some()).then_some(owned.as_slice()),
        settings: ConsumerSettings {
            session_timeout_ms: line.int("session_ms", 45_000)?,
            heartbeat_interval_ms: 5_000,
            assignment_interval_ms: line.int("interval_ms", 0)?,
        },
        random: 1,
    }));
    Ok(())
}

pub(super) fn answer(outcome: &Result<ConsumerHeartbeat, Refusal>) -> String {
    match outcome {
        Ok(ConsumerHeartbeat { member, epoch, assignment, .. }) => {
            let news = assignment.as_ref().map_or_else(String::new, |partitions| {
                let held = partitions.iter().map(|p| (p.topic, p.partition)).collect();
                format!(" assignment={}", partitions_of(&held))
            });
            format!("ConsumerGroupHeartbeat NONE member={member} epoch={epoch}{news}")
        }
        Err(Refusal { error, message }) => format!("ConsumerGroupHeartbeat {error}: {message}"),
    }
}

/// `(orders/0,1 other/2)`.
fn partitions_of(partitions: &MemberAssignment) -> String {
    let topics = partitions.iter().map(|(topic, partitions)| {
        let partitions: Vec<String> = partitions.iter().map(i32::to_string).collect();
        format!("{}/{}", topic_name(topic), partitions.join(","))
    });
    format!("({})", topics.collect::<Vec<_>>().join(" "))
}

fn held(partitions: &[OwnedPartition]) -> String {
    partitions_of(&partitions.iter().map(|o| (o.partition.topic, o.partition.partition)).collect())
}

/// A record of a consumer group.
pub(super) fn record(record: &Record) -> String {
    match record {
        Record::ConsumerGroupMetadata { group, value } => {
            let epoch = value.map_or_else(tombstone, |value| format!("epoch={}", value.epoch));
            format!("record {group} {epoch}")
        }
        Record::ConsumerGroupMemberMetadata { group, member, value } => {
            let value = value.as_ref().map_or_else(tombstone, |m| {
                let topics: Vec<&str> = m.topics.iter().map(TopicName::as_str).collect();
                let mut text = format!("topics=({})", topics.join(", "));
                // Writing to a String cannot fail.
                let _ = m.regex.as_ref().map(|regex| write!(text, " regex={regex}"));
                let _ = m.instance.as_ref().map(|instance| write!(text, " instance={instance}"));
                let _ = m.assignor.as_ref().map(|assignor| write!(text, " assignor={assignor}"));
                let _ = m.classic.as_ref().map(|_| write!(text, " classic"));
                text
            });
            format!("record {group} member {member} {value}")
        }
        Record::ConsumerGroupTargetAssignmentMetadata { group, value } => {
            let epoch = value.map_or_else(tombstone, |value| format!("epoch={}", value.epoch));
            format!("record {group} target {epoch}")
        }
        Record::ConsumerGroupTargetAssignmentMember { group, member, value } => {
            let value = value.as_ref().map_or_else(tombstone, partitions_of);
            format!("record {group} target {member} {value}")
        }
        Record::ConsumerGroupCurrentMemberAssignment { group, member, value } => {
            let value = value.as_ref().map_or_else(tombstone, |current| self::current(current));
            format!("record {group} current {member} {value}")
        }
        Record::ConsumerGroupRegularExpression { group, regex, value } => {
            let value = value.as_ref().map_or_else(tombstone, |resolved| {
                let topics: Vec<&str> = resolved.topics.iter().map(TopicName::as_str).collect();
                format!("topics=({})", topics.join(", "))
            });
            format!("record {group} regex {regex} {value}")
        }
        Record::GroupMetadata { .. }
        | Record::OffsetCommit { .. }
        | Record::TxnOffsetCommit { .. }
        | Record::EndTxnMarker { .. } => unreachable!("shown elsewhere"),
    }
}

fn tombstone() -> String {
    "tombstone".to_owned()
}

fn current(current: &CurrentAssignment) -> String {
    let pending = match &current.pending_revocation[..] {
        [] => String::new(),
        pending => format!(" pending={}", held(pending)),
    };
    format!(
        "{:?} epoch={} before={} assigned={}{pending}",
        current.state,
        current.epoch,
        current.previous_epoch,
        held(&current.assigned)
    )
}

/// ConsumerGroupDescribe, a line for the group and one for each member.
pub(super) fn described(group: Result<ConsumerGroupDescription, Refusal>) -> Vec<String> {
    let group = match group {
        Ok(group) => group,
        Err(refusal) => return vec![format!("{}: {}", refusal.error, refusal.message)],
    };
    let mut lines = vec![format!(
        "{} epoch={} assignment={} assignor={}",
        group.state, group.epoch, group.assignment_epoch, group.assignor
    )];
    lines.extend(group.members.iter().map(|m| {
        let held = m.assignment.iter().map(|p| (p.topic, p.partition)).collect();
        let kind = if m.metadata.classic.is_some() { " classic" } else { "" };
        format!(
            "member {}{kind} epoch={} has={} target={}",
            m.member,
            m.epoch,
            partitions_of(&held),
            partitions_of(&m.target)
        )
    }));
    lines
}
