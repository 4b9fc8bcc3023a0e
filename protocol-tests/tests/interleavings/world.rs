//! One shard, one clock, and clients on connections of their own.

use std::collections::BTreeMap;

use rallypoint::coordinator::record::Record;
use rallypoint::coordinator::{Coordinator, GroupConfig, Step};
use rallypoint::types::{Millis, Now, ReplyTo};

use super::client::{Client, Stage};
use super::history::{Answered, History, Outcome, ensure, is_refusal};
use super::prng::Prng;
use super::request::{Offer, Request};

/// How long clients that behave may take to get a group together, in rounds of [`ROUND_MS`].
const ROUNDS_MAX: usize = 200;
const ROUND_MS: i64 = 2_000;

pub(crate) struct World {
    pub(crate) rng: Prng,
    pub(crate) clients: Vec<Client>,
    config: GroupConfig,
    shard: Coordinator,
    now_ms: i64,
    connections: u64,
    /// Which client is on the other end of a connection.
    owners: BTreeMap<ReplyTo, usize>,
    history: History,
    /// What happened, for the reader of a failure.
    trace: Option<Vec<String>>,
}

impl World {
    pub(crate) fn new(seed: u64, traced: bool) -> Self {
        let mut rng = Prng::new(seed);
        let config = GroupConfig {
            initial_rebalance_delay_ms: rng.pick(&[0, 0, 500, 3_000]),
            new_member_join_timeout_ms: 60_000,
            group_max_size: rng.pick(&[usize::MAX, usize::MAX, 2, 4]),
            offset_metadata_max: 16,
            offsets_retention_ms: 120_000,
            offsets_retention_check_interval_ms: 30_000,
            ..GroupConfig::default()
        };
        let clients = (0..2 + rng.below(4)).map(|i| client(i, &mut rng)).collect();
        Self {
            shard: Coordinator::new(config.clone(), time(0)),
            rng,
            clients,
            config,
            now_ms: 0,
            connections: 0,
            owners: BTreeMap::new(),
            history: History::default(),
            trace: traced.then(Vec::new),
        }
    }

    pub(crate) fn trace(self) -> Vec<String> {
        self.trace.unwrap_or_default()
    }

    /// Sends a request over a new connection, on behalf of a client or of nobody in particular.
    pub(crate) fn send(&mut self, from: Option<usize>, request: Request) -> Outcome {
        self.connections += 1;
        let to = ReplyTo(self.connections);
        if let Some(index) = from {
            self.owners.insert(to, index);
            let client = &mut self.clients[index];
            client.awaits = Some(to);
            if request.may_wait() {
                client.stage = Stage::Waiting;
            }
        }
        self.note(|| format!("{} {request:?}", to.0));
        let before = self.wants_a_picture(&request).then(|| self.shard.snapshot().collect::<Vec<Record>>());
        let (now, mut step) = (time(self.now_ms), Step::default());
        request.with_command(|command| self.shard.submit(now, to, command, &mut step));
        let refused = step.replies.iter().any(|(t, reply)| *t == to && is_refusal(reply));
        if let Some(before) = before.filter(|_| refused) {
            ensure!(step.records.is_empty(), "a refused request writes {:?}", step.records);
            ensure!(before.into_iter().eq(self.shard.snapshot()), "a refused request changes the shard");
        }
        let answered = self.observe(Some((to, &request)), &step)?;
        self.deliver(answered);
        Ok(())
    }

    /// A picture of the shard for every request would take most of the time, so some have to do. A refused join may
    /// change something: it can hand out an id, or take a member out of a group that is full.
    fn wants_a_picture(&self, request: &Request) -> bool {
        self.connections.is_multiple_of(4) && !matches!(request, Request::Join(_))
    }

    /// Lets time pass, with every timer at its own time, or with all of them late.
    pub(crate) fn advance(&mut self, by_ms: i64, late: bool) -> Outcome {
        let end = self.now_ms + by_ms;
        while !late && let Some(due) = self.shard.next_deadline().filter(|due| due.0 <= end) {
            self.now_ms = due.0;
            self.fire()?;
        }
        self.now_ms = end;
        self.fire()
    }

    /// Milliseconds until the next timer.
    pub(crate) fn next_timer_ms(&self) -> i64 {
        self.shard.next_deadline().map_or(0, |due| due.since(Millis(self.now_ms)))
    }

    /// Loads the shard anew from its snapshot, which gives the same snapshot. All connections are cut.
    pub(crate) fn reload(&mut self) -> Outcome {
        self.note(|| "reload".to_owned());
        let records: Vec<Record> = self.shard.snapshot().collect();
        self.shard = Coordinator::load(self.config.clone(), time(self.now_ms), &records);
        for (before, after) in records.iter().zip(self.shard.snapshot()) {
            // Static members that are away do not count, so a group may be too large, and rebalances once loaded.
            let members = if let Record::GroupMetadata { value: Some(group), .. } = before {
                group.members.len()
            } else {
                0
            };
            ensure!(
                *before == after || members > self.config.group_max_size,
                "{before:?} is loaded as {after:?}"
            );
        }
        ensure!(records.len() == self.shard.snapshot().count(), "a load gives a snapshot of another length");
        self.clients.iter_mut().for_each(Client::disconnected);
        self.owners.clear();
        self.history.reloaded(&self.shard)
    }

    /// The clients that are left behave, and get together: each group is Stable with them and nobody else, or Empty.
    pub(crate) fn settle(&mut self) -> Outcome {
        self.note(|| "from here on all behave".to_owned());
        for _ in 0..ROUNDS_MAX {
            for index in 0..self.clients.len() {
                self.behave(index)?;
            }
            if self.is_settled() {
                return Ok(());
            }
            self.advance(ROUND_MS, false)?;
        }
        Err("the groups do not get together".to_owned())
    }

    /// A client does what is due, if it can.
    pub(crate) fn behave(&mut self, index: usize) -> Outcome {
        let client = &mut self.clients[index];
        if client.gone {
            return Ok(());
        }
        // What nobody will answer any more is given up, as by a request timeout.
        if client.awaits.is_some_and(|to| !self.history.is_waiting(to)) {
            client.disconnected();
        }
        match client.next(&mut self.rng) {
            Some(request) => self.send(Some(index), request),
            None => Ok(()),
        }
    }

    fn is_settled(&self) -> bool {
        let living = || self.clients.iter().filter(|client| !client.gone);
        let groups: Vec<&str> = self.clients.iter().map(|client| client.group.as_str()).collect();
        groups.into_iter().all(|name| {
            let mut ids: Vec<&str> =
                living().filter(|c| c.group == name).filter_map(|c| c.member.as_deref()).collect();
            ids.sort_unstable();
            match self.history.group(name) {
                None => living().all(|c| c.group != name),
                Some(("Empty", ..)) => living().all(|c| c.group != name),
                Some(("Stable", members, generation)) => {
                    members.iter().map(String::as_str).eq(ids)
                        && living()
                            .filter(|c| c.group == name)
                            .all(|c| c.stage == Stage::Member { generation })
                }
                Some(_) => false,
            }
        })
    }

    fn fire(&mut self) -> Outcome {
        let mut step = Step::default();
        self.shard.advance(time(self.now_ms), &mut step);
        let answered = self.observe(None, &step)?;
        self.deliver(answered);
        Ok(())
    }

    fn observe(&mut self, sent: Option<(ReplyTo, &Request)>, step: &Step) -> Result<Vec<Answered>, String> {
        let now = self.now_ms;
        if let Some(trace) = &mut self.trace {
            trace.extend(step.events.iter().map(|event| format!("  {now} ms: {event}")));
            trace.extend(step.replies.iter().map(|(to, reply)| format!("  {now} ms: {} <- {reply:?}", to.0)));
        }
        self.history.observe(&self.shard, time(now), sent, step)
    }

    fn deliver(&mut self, answered: Vec<Answered>) {
        for (to, request, reply) in answered {
            let Some(index) = self.owners.remove(&to) else { continue };
            let client = &mut self.clients[index];
            if client.awaits == Some(to) && !client.gone {
                client.take(&request, &reply);
            }
        }
    }

    pub(crate) fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{} ms: {}", self.now_ms, text()));
        }
    }
}

fn time(ms: i64) -> Now {
    Now { monotonic: Millis(ms), wall: Millis(1_000_000_000_000 + ms) }
}

fn client(index: usize, rng: &mut Prng) -> Client {
    let instance = rng.one_in(2).then(|| format!("i{}", rng.below(3)));
    Client {
        name: format!("c{index}"),
        group: rng.pick(&["g", "g", "h"]).to_owned(),
        version: if instance.is_some() { rng.pick(&[5, 9]) } else { rng.pick(&[3, 9]) },
        instance,
        session_ms: rng.pick(&[6_000, 10_000, 20_000]),
        rebalance_ms: rng.pick(&[3_000, 10_000, 20_000]),
        offers: offers(rng),
        member: None,
        stage: Stage::Out,
        awaits: None,
        misfits: 0,
        gone: false,
    }
}

/// Some protocols in some order, range always among them, with the topics of a consumer and something to differ in.
pub(crate) fn offers(rng: &mut Prng) -> Vec<Offer> {
    let mut names = vec!["range"];
    for name in ["sticky", "roundrobin"] {
        if rng.one_in(2) {
            names.insert(rng.below(names.len() + 1), name);
        }
    }
    let topic = rng.pick(&["t", "u"]);
    let metadata =
        [&b"\0\0\0\0\0\x01\0\x01"[..], topic.as_bytes(), &[0, 0, 0, 1, rng.below(256) as u8]].concat();
    names.into_iter().map(|name| (name.to_owned(), metadata.clone())).collect()
}
