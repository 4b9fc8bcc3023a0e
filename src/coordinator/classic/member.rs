//! A member of a classic group. Source: kafka ClassicGroupMember.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::command::JoinGroup;
use super::super::event::Who;
use super::super::record::MemberMetadata;
use super::super::reply::{DescribedMember, JoinedMember};
use super::super::texts::Texts;
use super::super::timer::Lease;
use super::super::weight::member_bytes;
use crate::types::{InstanceId, MemberId, Millis, ReplyTo};

/// A member, with what it offered when it last joined.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: MemberId,
    pub(super) instance: Option<InstanceId>,
    pub(super) client_id: Arc<str>,
    pub(super) client_host: Arc<str>,
    pub(super) session_timeout_ms: i32,
    pub(super) rebalance_timeout_ms: i32,
    pub(super) protocols: Box<[Protocol]>,
    pub(super) assignment: Arc<[u8]>,
    /// The parked JoinGroup; a second one takes its place and the first is never answered.
    pub(super) awaiting_join: Option<ReplyTo>,
    /// The parked SyncGroup; as above.
    pub(super) awaiting_sync: Option<ReplyTo>,
    /// Until its first join phase ends a member can expire even while its JoinGroup is parked.
    pub(super) is_new: bool,
    pub(super) last_heard: Millis,
    pub(super) lease: Lease,
}

/// One protocol that a member offers, with its opaque metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Protocol {
    pub(super) name: Arc<str>,
    pub(super) metadata: Arc<[u8]>,
}

impl Member {
    pub(super) fn new(id: MemberId, join: &JoinGroup<'_>, now: Millis, texts: &mut Texts) -> Self {
        Self {
            id,
            instance: join.instance.map(InstanceId::from),
            client_id: texts.share(join.client_id),
            client_host: texts.share(join.client_host),
            session_timeout_ms: join.session_timeout_ms,
            rebalance_timeout_ms: join.rebalance_timeout_ms,
            protocols: protocols(join, texts),
            assignment: no_bytes(),
            awaiting_join: None,
            awaiting_sync: None,
            is_new: true,
            last_heard: now,
            lease: Lease::default(),
        }
    }

    /// The member as a record gives it back: it offers the one protocol that was chosen.
    pub(super) fn from_record(value: &MemberMetadata, protocol: Arc<str>, now: Millis) -> Self {
        Self {
            id: value.member.clone(),
            instance: value.instance.clone(),
            client_id: value.client_id.clone(),
            client_host: value.client_host.clone(),
            session_timeout_ms: value.session_timeout_ms,
            rebalance_timeout_ms: value.rebalance_timeout_ms,
            protocols: Box::new([Protocol { name: protocol, metadata: value.subscription.clone() }]),
            assignment: value.assignment.clone(),
            awaiting_join: None,
            awaiting_sync: None,
            is_new: false,
            last_heard: now,
            lease: Lease::default(),
        }
    }

    pub(super) fn to_record(&self, protocol: Option<&str>) -> MemberMetadata {
        MemberMetadata {
            member: self.id.clone(),
            instance: self.instance.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
            rebalance_timeout_ms: self.rebalance_timeout_ms,
            session_timeout_ms: self.session_timeout_ms,
            subscription: self.metadata(protocol),
            assignment: self.assignment.clone(),
        }
    }

    /// Whether a rejoin offers just what the member offered before, in the same order.
    pub(super) fn matches(&self, join: &JoinGroup<'_>) -> bool {
        let mine = self.protocols.iter().map(|protocol| (&*protocol.name, &*protocol.metadata));
        mine.eq(distinct(join))
    }

    /// The first of the member's protocols that everybody offers.
    pub(super) fn vote(&self, is_candidate: impl Fn(&str) -> bool) -> Option<&Arc<str>> {
        self.protocols.iter().map(|p| &p.name).find(|name| is_candidate(name))
    }

    /// The metadata for a protocol; empty if the member does not offer it.
    pub(super) fn metadata(&self, protocol: Option<&str>) -> Arc<[u8]> {
        self.protocols
            .iter()
            .find(|p| Some(&*p.name) == protocol)
            .map_or_else(no_bytes, |p| p.metadata.clone())
    }

    /// What it takes in memory, about; without its assignment.
    pub(super) fn bytes(&self) -> usize {
        let protocols = self.protocols.iter().map(|p| (&*p.name, &*p.metadata));
        member_bytes(&self.client_id, self.instance.as_ref().map(InstanceId::as_str), protocols)
    }

    /// Whether silence is excused: while its call is parked, a member cannot heartbeat.
    pub(super) fn is_excused(&self) -> bool {
        !self.is_new && (self.awaiting_join.is_some() || self.awaiting_sync.is_some())
    }

    pub(super) fn who(&self) -> Who {
        Who {
            member: self.id.clone(),
            instance: self.instance.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
        }
    }

    pub(super) fn joined(&self, protocol: Option<&str>) -> JoinedMember {
        JoinedMember {
            member: self.id.clone(),
            instance: self.instance.clone(),
            metadata: self.metadata(protocol),
        }
    }

    pub(super) fn described(&self, protocol: Option<&str>) -> DescribedMember {
        DescribedMember {
            member: self.id.clone(),
            instance: self.instance.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
            metadata: self.metadata(protocol),
            assignment: self.assignment.clone(),
        }
    }
}

/// The protocols of a join, copied: a kept slice of a request would pin the whole of it.
pub(super) fn protocols(join: &JoinGroup<'_>, texts: &mut Texts) -> Box<[Protocol]> {
    distinct(join)
        .map(|(name, metadata)| Protocol { name: texts.share(name), metadata: Arc::from(metadata) })
        .collect()
}

/// The protocols of a join, each name once.
///
/// Differs from Kafka: a protocol that a join names twice counts once. Kafka counts two offers of it, more than there
/// are members, and the join phase of the group never ends.
fn distinct<'a>(join: &'a JoinGroup<'_>) -> impl Iterator<Item = (&'a str, &'a [u8])> {
    let mut names = BTreeSet::new();
    join.protocols.iter().copied().filter(move |(name, _)| names.insert(*name))
}

/// No bytes, without an allocation for each.
pub(super) fn no_bytes() -> Arc<[u8]> {
    Arc::default()
}
