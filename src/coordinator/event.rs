//! What happened and why, typed when it happens: a classic rebalance leaves no record to read it from later.
//!
//! Logs, metrics and explanations are made of these. `Display` says it in the words of Kafka's own log.

use std::fmt;
use std::sync::Arc;

use super::consumer_event::ConsumerEvent;
use crate::types::{GroupId, InstanceId, MemberId};

/// Something that happened to a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A simple consumer's commit made the group.
    SimpleGroupCreated {
        /// The group.
        group: GroupId,
    },
    /// A new dynamic member was given an id to come back with (KIP-394).
    MemberIdHandedOut {
        /// The group.
        group: GroupId,
        /// Its state.
        state: &'static str,
        /// The id.
        member: MemberId,
    },
    /// A member entered the group.
    MemberAdded {
        /// The group.
        group: GroupId,
        /// Its state.
        state: &'static str,
        /// Who came.
        who: Who,
    },
    /// A static member came back and took its place over from its former self (KIP-345).
    StaticMemberReplaced {
        /// The group.
        group: GroupId,
        /// Its state.
        state: &'static str,
        /// The member as it is now.
        who: Who,
        /// The id that is void from now on.
        old: MemberId,
    },
    /// A member is gone.
    MemberRemoved {
        /// The group.
        group: GroupId,
        /// Who went.
        who: Who,
        /// Why.
        removal: Removal,
    },
    /// A request under an instance id that another member holds was refused.
    MemberFenced {
        /// The group.
        group: GroupId,
        /// The instance id.
        instance: InstanceId,
        /// The member id in the request.
        member: Arc<str>,
        /// The member that holds the instance id.
        holder: MemberId,
        /// What was asked: `join-group`, `sync-group`, `heartbeat`, `leave-group`, `offset-commit`.
        operation: &'static str,
    },
    /// A rebalance began.
    PreparingRebalance {
        /// The group.
        group: GroupId,
        /// The generation that ends.
        generation: i32,
        /// Why.
        cause: Cause,
        /// Members that have to rejoin, the first of them by name.
        awaited: Awaited,
        /// Milliseconds until those that have not rejoined are left behind.
        timeout_ms: i64,
    },
    /// The leader did not rejoin in time.
    LeaderReplaced {
        /// The group.
        group: GroupId,
        /// Who led.
        old: MemberId,
        /// Who leads now.
        new: MemberId,
    },
    /// The join phase timed out without a single member; it goes on.
    NobodyRejoined {
        /// The group.
        group: GroupId,
    },
    /// The join phase ended: the members of a new generation are known.
    Stabilized {
        /// The group.
        group: GroupId,
        /// The new generation.
        generation: i32,
        /// How many members it has.
        members: usize,
        /// Milliseconds since the rebalance began.
        took_ms: i64,
    },
    /// The leader handed in its assignment: the group is Stable.
    AssignmentReceived {
        /// The group.
        group: GroupId,
        /// The generation.
        generation: i32,
        /// The leader.
        leader: MemberId,
        /// How many members there are.
        members: usize,
        /// How many of them are static.
        statics: usize,
        /// Members that the leader left out.
        left_out: usize,
        /// Milliseconds since the rebalance began.
        took_ms: i64,
    },
    /// The last member is gone.
    GroupEmpty {
        /// The group.
        group: GroupId,
        /// Its generation.
        generation: i32,
    },
    /// The group and its offsets are gone.
    GroupDeleted {
        /// The group.
        group: GroupId,
    },
    /// Something that happens to consumer groups only.
    Consumer {
        /// The group.
        group: GroupId,
        /// What it was.
        event: ConsumerEvent,
    },
    /// Offsets were dropped, since their retention was over.
    OffsetsExpired {
        /// The group.
        group: GroupId,
        /// How many.
        offsets: usize,
    },
}

/// A member as a person looks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// Its id.
    pub member: MemberId,
    /// Its instance id, if it is static.
    pub instance: Option<InstanceId>,
    /// The client id it joined with.
    pub client_id: Arc<str>,
    /// The address it joined from, in Java's spelling.
    pub client_host: Arc<str>,
}

/// The members a rebalance waits for: a few names and how many there are in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Awaited {
    /// The first of them, at most [`Awaited::NAMED_MAX`].
    pub named: Vec<MemberId>,
    /// How many there are.
    pub total: usize,
}

impl Awaited {
    /// How many members an event names, so that a group of thousands does not fill the log.
    pub const NAMED_MAX: usize = 16;
}

/// Why a member is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// It asked to leave, and may have said why.
    Left(Option<Arc<str>>),
    /// Nothing was heard of it.
    SessionExpired {
        /// Milliseconds that it may stay silent.
        session_timeout_ms: i64,
        /// Milliseconds since it was last heard.
        silent_ms: i64,
    },
    /// It did not rejoin before the rebalance timeout.
    RebalanceTimeout {
        /// Milliseconds that it had.
        rebalance_timeout_ms: i64,
        /// Milliseconds since it was last heard.
        silent_ms: i64,
    },
    /// It joined and then did not sync before the rebalance timeout.
    SyncTimeout {
        /// Milliseconds that it had.
        rebalance_timeout_ms: i64,
        /// Milliseconds since it was last heard.
        silent_ms: i64,
    },
    /// It was given an id and did not come back with it.
    PendingExpired,
    /// Others rejoined before it, and `group.max.size` leaves no room for more.
    GroupFull,
}

/// Why a group rebalances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A new member.
    MemberJoined {
        /// Its id.
        member: MemberId,
        /// Its instance id, if it is static.
        instance: Option<InstanceId>,
        /// Its own reason.
        reason: Option<Arc<str>>,
    },
    /// The leader joined again, which always means that it wants to assign anew.
    LeaderRejoined {
        /// Its id.
        member: MemberId,
        /// Its own reason.
        reason: Option<Arc<str>>,
    },
    /// A member joined again with other protocols or metadata.
    MetadataChanged {
        /// Its id.
        member: MemberId,
        /// The state it did so in.
        state: &'static str,
        /// Its own reason.
        reason: Option<Arc<str>>,
    },
    /// A static member came back and its protocols change the one that is chosen.
    ProtocolChanged {
        /// Its id.
        member: MemberId,
        /// Its instance id.
        instance: InstanceId,
        /// Its own reason.
        reason: Option<Arc<str>>,
    },
    /// A static member came back before the leader had synced.
    StaticMemberReturned {
        /// Its id.
        member: MemberId,
        /// Its instance id.
        instance: InstanceId,
        /// Its own reason.
        reason: Option<Arc<str>>,
    },
    /// Members asked to leave.
    MembersLeft {
        /// Their ids as they gave them; empty for one that gave its instance id only.
        members: Vec<Arc<str>>,
    },
    /// A member was silent for its session timeout.
    SessionExpired {
        /// Its id.
        member: MemberId,
    },
    /// Members did not sync in time.
    SyncTimedOut {
        /// Their ids.
        members: Vec<MemberId>,
    },
    /// What the leader handed in does not fit into a record.
    AssignmentTooLarge {
        /// The leader.
        leader: MemberId,
        /// Bytes of the record's value.
        bytes: usize,
    },
    /// The last member of the consumer protocol left a mixed group, which is a classic one now.
    Downgraded,
    /// The shard was loaded while the group rebalanced.
    CutOff,
    /// The shard was loaded with a lower `group.max.size` than before.
    OverCapacity {
        /// How many members there are.
        members: usize,
        /// How many there may be.
        members_max: usize,
    },
}

struct Reason<'a>(&'a Option<Arc<str>>);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("not provided"))
    }
}

struct Instance<'a>(Option<&'a InstanceId>);

impl fmt::Display for Instance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.map_or("null", InstanceId::as_str))
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MemberJoined { member, instance, reason } => write!(
                f,
                "Adding new member {member} with group instance id {}; client reason: {}",
                Instance(instance.as_ref()),
                Reason(reason)
            ),
            Self::LeaderRejoined { member, reason } => {
                write!(f, "Leader {member} re-joining group during Stable; client reason: {}", Reason(reason))
            }
            Self::MetadataChanged { member, state, reason } => write!(
                f,
                "Updating metadata for member {member} during {state}; client reason: {}",
                Reason(reason)
            ),
            Self::ProtocolChanged { member, instance, reason } => write!(
                f,
                "Group's selectedProtocol will change because static member {member} with instance id {instance} \
                 joined with change of protocol; client reason: {}",
                Reason(reason)
            ),
            Self::StaticMemberReturned { member, instance, reason } => write!(
                f,
                "Updating metadata for static member {member} with instance id {instance}; client reason: {}",
                Reason(reason)
            ),
            Self::MembersLeft { members } => {
                write!(f, "explicit `LeaveGroup` request for ({}) members.", members.join(", "))
            }
            Self::SessionExpired { member } => write!(f, "removing member {member} on heartbeat expiration."),
            Self::SyncTimedOut { members } => {
                let names: Vec<&str> = members.iter().map(MemberId::as_str).collect();
                write!(f, "Removing [{}] on pending sync request expiration", names.join(", "))
            }
            Self::Downgraded => f.write_str("Downgrade group from consumer to classic for member leaving."),
            Self::CutOff => f.write_str("Freshly-loaded group was rebalancing"),
            Self::OverCapacity { members, members_max } => write!(
                f,
                "Freshly-loaded group (size {members}) is over capacity {members_max}. Rebalancing in order to give a \
                 chance for consumers to commit offsets"
            ),
            Self::AssignmentTooLarge { leader, bytes } => write!(
                f,
                "Error UNKNOWN_SERVER_ERROR when storing group assignment of {bytes} bytes during SyncGroup \
                 (member: {leader})."
            ),
        }
    }
}

impl fmt::Display for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, member) in self.named.iter().enumerate() {
            write!(f, "{}{member}", if i == 0 { "" } else { ", " })?;
        }
        match self.total - self.named.len() {
            0 if self.total == 0 => f.write_str("none"),
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.member.as_str())?;
        // Of a pending member nothing but its id is kept.
        if self.client_host.is_empty() {
            return Ok(());
        }
        write!(f, " (client id {}, host {}", self.client_id, self.client_host)?;
        if let Some(instance) = &self.instance {
            write!(f, ", instance id {instance}")?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SimpleGroupCreated { group } => {
                write!(f, "[GroupId {group}] Creating a simple consumer group via manual offset commit.")
            }
            Self::MemberIdHandedOut { group, state, member } => write!(
                f,
                "[GroupId {group}] Dynamic member with unknown member id joins group in {state} state. Created a new \
                 member id {member} and requesting the member to rejoin with this id."
            ),
            Self::MemberAdded { group, state, who } => {
                write!(f, "[GroupId {group}] Member {who} joins group in {state} state.")
            }
            Self::StaticMemberReplaced { group, state, who, old } => write!(
                f,
                "[GroupId {group}] Static member {who} with unknown member id joins group in {state} state. Replacing \
                 previously mapped member {old} with this groupInstanceId."
            ),
            Self::MemberRemoved { group, who, removal } => {
                write!(f, "[GroupId {group}] ")?;
                removal.describe(who, f)
            }
            Self::MemberFenced { group, instance, member, holder, operation } => write!(
                f,
                "[GroupId {group}] Request memberId={member} for static member with groupInstanceId={instance} is \
                 fenced by existing memberId={holder} during operation {operation}."
            ),
            Self::PreparingRebalance { group, generation, cause, awaited, timeout_ms } => write!(
                f,
                "[GroupId {group}] Preparing to rebalance group in state PreparingRebalance with old generation \
                 {generation} (reason: {cause}). Waiting up to {timeout_ms} ms for: {awaited}."
            ),
            Self::LeaderReplaced { group, old, new } => write!(
                f,
                "[GroupId {group}] Group leader {old} failed to join before the rebalance timeout. Member {new} was \
                 elected as the new leader."
            ),
            Self::NobodyRejoined { group } => {
                write!(f, "[GroupId {group}] Group could not complete rebalance because no members rejoined.")
            }
            Self::Stabilized { group, generation, members, took_ms } => write!(
                f,
                "[GroupId {group}] Stabilized group generation {generation} with {members} members after {took_ms} ms."
            ),
            Self::AssignmentReceived { group, generation, leader, members, statics, left_out, took_ms } => {
                write!(
                    f,
                    "[GroupId {group}] Assignment received from leader {leader} for generation {generation} after \
                     {took_ms} ms. The group has {members} members, {statics} of which are static."
                )?;
                match left_out {
                    0 => Ok(()),
                    n => write!(f, " {n} members were left out and have an empty assignment."),
                }
            }
            Self::GroupEmpty { group, generation } => {
                write!(f, "[GroupId {group}] Group with generation {generation} is now empty.")
            }
            Self::GroupDeleted { group } => write!(f, "[GroupId {group}] Group deleted."),
            Self::Consumer { group, event } => write!(f, "[GroupId {group}] {event}"),
            Self::OffsetsExpired { group, offsets } => {
                write!(f, "[GroupId {group}] {offsets} offsets expired.")
            }
        }
    }
}

impl Removal {
    fn describe(&self, who: &Who, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left(reason) => write!(
                f,
                "Member {who} has left group through explicit `LeaveGroup` request; client reason: {}",
                Reason(reason)
            ),
            Self::SessionExpired { session_timeout_ms, silent_ms } => write!(
                f,
                "Member {who} has failed, removing it from the group: session timeout of {session_timeout_ms} ms, last \
                 heard {silent_ms} ms ago."
            ),
            Self::RebalanceTimeout { rebalance_timeout_ms, silent_ms } => write!(
                f,
                "Removed dynamic member {who} who hasn't joined: rebalance timeout of {rebalance_timeout_ms} ms, last \
                 heard {silent_ms} ms ago."
            ),
            Self::SyncTimeout { rebalance_timeout_ms, silent_ms } => write!(
                f,
                "Removed member {who} who hasn't sent its sync request: rebalance timeout of {rebalance_timeout_ms} ms, \
                 last heard {silent_ms} ms ago."
            ),
            Self::PendingExpired => {
                write!(f, "Pending member {who} has been removed after session timeout expiration.")
            }
            Self::GroupFull => {
                write!(
                    f,
                    "Member {who} has been removed, since others rejoined before it and the group is full."
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_who_it_was_and_why_in_one_line() {
        let (group, member) = (GroupId::from("g"), MemberId::from("i-1"));
        let instance = Some(InstanceId::from("i"));
        let (client_id, client_host) = (Arc::from("app"), Arc::from("/10.0.0.7"));
        let who = Who { member: member.clone(), instance: instance.clone(), client_id, client_host };
        let added = Event::MemberAdded { group: group.clone(), state: "Stable", who };
        assert_eq!(
            added.to_string(),
            "[GroupId g] Member i-1 (client id app, host /10.0.0.7, instance id i) joins group in Stable state."
        );
        let cause = Cause::MemberJoined { member: member.clone(), instance: None, reason: None };
        let awaited = Awaited { named: vec![member], total: 3 };
        let preparing = Event::PreparingRebalance { group, generation: 7, cause, awaited, timeout_ms: 500 };
        assert_eq!(
            preparing.to_string(),
            "[GroupId g] Preparing to rebalance group in state PreparingRebalance with old generation 7 (reason: \
             Adding new member i-1 with group instance id null; client reason: not provided). Waiting up to 500 ms \
             for: i-1 and 2 more."
        );
    }
}
