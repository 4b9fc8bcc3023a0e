//! A client that does what a consumer does: joins, syncs, heartbeats, commits, and heeds the answers.

use rallypoint::coordinator::error::GroupError;
use rallypoint::coordinator::reply::{JoinReply, Reply};
use rallypoint::types::ReplyTo;

use super::prng::Prng;
use super::request::{Beat, Commit, Join, Offer, Request, Sync};

/// Where a client stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It has to join.
    Out,
    /// Its JoinGroup or SyncGroup waits.
    Waiting,
    /// It has to sync. The leader knows whom to assign to; a leader that may skip that is none here.
    Joined { generation: i32, members: Vec<String> },
    /// It may read.
    Member { generation: i32 },
}

#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) instance: Option<String>,
    pub(crate) version: i32,
    pub(crate) session_ms: i32,
    pub(crate) rebalance_ms: i32,
    pub(crate) offers: Vec<Offer>,
    pub(crate) member: Option<String>,
    pub(crate) stage: Stage,
    /// The connection whose answer it waits for.
    pub(crate) awaits: Option<ReplyTo>,
    /// How often in a row it was told that it has no protocol in common with the others.
    pub(crate) misfits: usize,
    /// It will not do anything any more: it died, was fenced, found the group full, or never fitted in.
    pub(crate) gone: bool,
}

/// After so many refusals for its protocols a client gives up. A member that heartbeats after a reload offers the chosen
/// protocol alone, so, as with Kafka, whoever does not offer that one is out until it rejoins.
const MISFITS_MAX: usize = 40;

impl Client {
    /// What a right client sends next; None while it waits.
    pub(crate) fn next(&mut self, rng: &mut Prng) -> Option<Request> {
        match self.stage.clone() {
            Stage::Out => Some(self.join(rng)),
            Stage::Waiting => None,
            Stage::Joined { generation, members } => Some(self.sync(generation, &members, rng)),
            Stage::Member { generation } if rng.one_in(3) => Some(self.commit(generation, rng)),
            Stage::Member { generation } => Some(self.heartbeat(generation)),
        }
    }

    pub(crate) fn join(&self, rng: &mut Prng) -> Request {
        Request::Join(Join {
            group: self.group.clone(),
            member: self.member.clone(),
            instance: self.instance.clone(),
            client: self.name.clone(),
            session_ms: self.session_ms,
            rebalance_ms: self.rebalance_ms,
            offers: self.offers.clone(),
            version: self.version,
            random: u128::from(rng.next()) << 64 | u128::from(rng.next()),
        })
    }

    /// Each assignment is a text of its own; now and then the leader leaves somebody out or names a ghost.
    pub(crate) fn sync(&self, generation: i32, members: &[String], rng: &mut Prng) -> Request {
        let assign = |id: &String| (id.clone(), format!("{generation} {id}").into_bytes());
        let mut assignments: Vec<_> = members.iter().map(assign).collect();
        if !assignments.is_empty() && rng.one_in(8) {
            assignments.pop();
            assignments.push(("ghost".to_owned(), b"nothing".to_vec()));
        }
        Request::Sync(Sync {
            group: self.group.clone(),
            member: self.id(),
            instance: self.instance.clone(),
            generation,
            assignments,
        })
    }

    pub(crate) fn heartbeat(&self, generation: i32) -> Request {
        let (group, member, instance) = (self.group.clone(), self.id(), self.instance.clone());
        Request::Heartbeat(Beat { group, member, instance, generation })
    }

    pub(crate) fn commit(&self, generation: i32, rng: &mut Prng) -> Request {
        let metadata = rng.pick(&["", "some words", "longer than is allowed"]).to_owned();
        let offsets =
            (0..=rng.below(2)).map(|p| (p as i32, rng.below(1000) as i64, metadata.clone())).collect();
        Request::Commit(Commit {
            group: self.group.clone(),
            member: self.id(),
            instance: self.instance.clone(),
            generation,
            retention_ms: rng.one_in(8).then_some(60_000),
            topic: rng.pick(&["t", "u"]).to_owned(),
            offsets,
        })
    }

    pub(crate) fn leave(&mut self) -> Request {
        let request = Request::Leave(self.group.clone(), vec![(self.member.take(), self.instance.clone())]);
        self.restart();
        request
    }

    /// The process ends and another takes its place: it knows nothing but its instance id.
    pub(crate) fn restart(&mut self) {
        self.member = None;
        self.stage = Stage::Out;
        self.awaits = None;
    }

    /// The connection is cut; whoever waited on it tries again under its member id.
    pub(crate) fn disconnected(&mut self) {
        self.awaits = None;
        if self.stage == Stage::Waiting {
            self.stage = Stage::Out;
        }
    }

    /// The generation it believes to be in.
    pub(crate) fn generation(&self) -> i32 {
        match self.stage {
            Stage::Joined { generation, .. } | Stage::Member { generation } => generation,
            Stage::Out | Stage::Waiting => 0,
        }
    }

    fn id(&self) -> String {
        self.member.clone().unwrap_or_default()
    }

    pub(crate) fn take(&mut self, request: &Request, reply: &Reply) {
        self.awaits = None;
        match (request, reply) {
            (_, Reply::JoinGroup(join)) => self.take_join(join),
            (Request::Sync(sync), Reply::SyncGroup(Ok(_))) => {
                self.stage = Stage::Member { generation: sync.generation };
            }
            (
                _,
                Reply::SyncGroup(Err(error)) | Reply::Heartbeat(Err(error)) | Reply::OffsetCommit(Err(error)),
            ) => {
                self.heed(*error);
            }
            _ => {}
        }
    }

    fn take_join(&mut self, reply: &JoinReply) {
        let id = reply.member.as_ref().map(ToString::to_string);
        match &reply.outcome {
            Ok(joined) => {
                let members = joined.members.iter().map(|m| m.member.to_string());
                let members = if joined.skip_assignment { Vec::new() } else { members.collect() };
                self.stage = Stage::Joined { generation: joined.generation, members };
                self.member = id;
                self.misfits = 0;
            }
            Err(GroupError::MemberIdRequired) => {
                self.stage = Stage::Out;
                self.member = id;
            }
            Err(error) => self.heed(*error),
        }
    }

    fn heed(&mut self, error: GroupError) {
        match error {
            GroupError::RebalanceInProgress => self.stage = Stage::Out,
            GroupError::FencedInstanceId | GroupError::GroupMaxSizeReached => self.gone = true,
            GroupError::InconsistentGroupProtocol => {
                self.misfits += 1;
                self.gone = self.misfits >= MISFITS_MAX;
                self.stage = Stage::Out;
            }
            _ => self.restart(),
        }
    }
}
