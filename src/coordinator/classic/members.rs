//! The members of a classic group, and who is static, pending or still awaited among them.

use std::sync::Arc;

use super::super::vec_map::VecMap;
use super::member::{Member, Protocol};
use crate::types::{InstanceId, MemberId, ReplyTo};

/// All members, with the sums over them that would else cost a walk for each request.
///
/// Boxed members in a sorted vector: a B-tree's smallest node has room for eleven, and most groups are small.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    by_id: VecMap<MemberId, Box<Member>>,
    /// Instance id → the member that holds it.
    statics: VecMap<InstanceId, MemberId>,
    /// How many members offer each protocol.
    offered: VecMap<Arc<str>, usize>,
    /// How many JoinGroups are parked.
    awaiting_join: usize,
    /// What the members take in memory, about.
    bytes: usize,
    /// Who has not synced in this generation yet.
    unsynced: VecMap<MemberId, ()>,
}

impl Members {
    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    pub(super) fn get(&self, id: &str) -> Option<&Member> {
        self.by_id.get(id).map(|m| &**m)
    }

    /// For changes that move none of the sums.
    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Member> {
        self.by_id.get_mut(id).map(|m| &mut **m)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Member> {
        self.by_id.values().map(|m| &**m)
    }

    /// For changes that move none of the sums.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Member> {
        self.by_id.values_mut().map(|m| &mut **m)
    }

    pub(super) fn static_member(&self, instance: &str) -> Option<&MemberId> {
        self.statics.get(instance)
    }

    pub(super) fn statics_len(&self) -> usize {
        self.statics.len()
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn awaiting_join_len(&self) -> usize {
        self.awaiting_join
    }

    /// Milliseconds: the longest of the members' rebalance timeouts, 0 without members.
    pub(super) fn rebalance_timeout_ms(&self) -> i64 {
        self.iter().map(|m| i64::from(m.rebalance_timeout_ms)).max().unwrap_or(0).max(0)
    }

    /// Whether every member offers the protocol: any does, if there is no member.
    pub(super) fn all_offer(&self, protocol: &str) -> bool {
        self.offered.get(protocol).copied().unwrap_or(0) == self.len()
    }

    pub(super) fn add(&mut self, member: Member) {
        self.count_protocols(&member.protocols);
        self.bytes += member.bytes();
        self.awaiting_join += usize::from(member.awaiting_join.is_some());
        if let Some(instance) = &member.instance {
            let taken = self.statics.insert(instance.clone(), member.id.clone());
            assert!(taken.is_none(), "static member {instance} was added twice");
        }
        let before = self.by_id.insert(member.id.clone(), Box::new(member));
        assert!(before.is_none(), "a member was added twice");
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<Member> {
        let member = *self.by_id.remove(id)?;
        self.forget(&member);
        Some(member)
    }

    /// Removes all members that `goes` picks, in one pass.
    pub(super) fn remove_where(&mut self, goes: impl Fn(&Member) -> bool) -> Vec<Member> {
        let gone: Vec<Member> = self.by_id.extract(|m| goes(m)).into_iter().map(|m| *m).collect();
        for member in &gone {
            self.forget(member);
        }
        gone
    }

    /// Puts a static member under another id: the same place in the group, another process.
    pub(super) fn rename(&mut self, old: &str, new: MemberId) {
        let Some(mut member) = self.by_id.remove(old) else { return };
        if let Some(instance) = &member.instance {
            self.statics.insert(instance.clone(), new.clone());
        }
        member.id = new.clone();
        self.by_id.insert(new, member);
    }

    /// Replaces what a member offers.
    pub(super) fn set_protocols(&mut self, id: &str, protocols: Box<[Protocol]>) {
        let Some(member) = self.by_id.get_mut(id) else { return };
        self.bytes -= member.bytes();
        let before = std::mem::replace(&mut member.protocols, protocols);
        self.bytes += member.bytes();
        let after = member.protocols.clone();
        self.uncount_protocols(&before);
        self.count_protocols(&after);
    }

    /// Parks a JoinGroup.
    pub(super) fn park_join(&mut self, id: &str, from: ReplyTo) {
        let Some(member) = self.by_id.get_mut(id) else { return };
        self.awaiting_join += usize::from(member.awaiting_join.is_none());
        member.awaiting_join = Some(from);
    }

    /// Takes the parked JoinGroup of a member, to answer it.
    pub(super) fn take_join(&mut self, id: &str) -> Option<ReplyTo> {
        let from = self.by_id.get_mut(id)?.awaiting_join.take()?;
        self.awaiting_join -= 1;
        Some(from)
    }

    /// Waits for everybody's SyncGroup.
    pub(super) fn await_syncs(&mut self) {
        self.unsynced = self.by_id.keys().map(|id| (id.clone(), ())).collect();
    }

    /// Waits for this member's SyncGroup no longer; says whether there is one to wait for still.
    pub(super) fn has_synced(&mut self, id: &str) -> bool {
        self.unsynced.remove(id);
        !self.unsynced.is_empty()
    }

    /// Waits for nobody any more; gives those who have not synced.
    pub(super) fn take_unsynced(&mut self) -> VecMap<MemberId, ()> {
        std::mem::take(&mut self.unsynced)
    }

    fn forget(&mut self, member: &Member) {
        self.uncount_protocols(&member.protocols);
        self.bytes -= member.bytes();
        self.awaiting_join -= usize::from(member.awaiting_join.is_some());
        if let Some(instance) = &member.instance {
            self.statics.remove(instance.as_str());
        }
        self.has_synced(member.id.as_str());
    }

    fn count_protocols(&mut self, protocols: &[Protocol]) {
        for protocol in protocols {
            match self.offered.get_mut(&*protocol.name) {
                Some(count) => *count += 1,
                None => drop(self.offered.insert(protocol.name.clone(), 1)),
            }
        }
    }

    fn uncount_protocols(&mut self, protocols: &[Protocol]) {
        for protocol in protocols {
            let Some(count) = self.offered.get_mut(&*protocol.name) else { continue };
            *count -= 1;
            if *count == 0 {
                self.offered.remove(&*protocol.name);
            }
        }
    }
}
