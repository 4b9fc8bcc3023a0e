//! `given GROUP STATE`: brings a group into a state without telling how, so that a story starts where it is about.
//!
//! `members=(a, b)` are dynamic, `statics=(i, j)` static (instance `i` is client `i`); the first of all leads. The other
//! fields are those of `join`, the same for all. Each of them brings a new generation, so n members reach generation n.
//!
//! ```text
//! Empty                 the members came, and left again
//! PreparingRebalance    the leader has rejoined, the others are awaited
//! CompletingRebalance   all know the generation, nobody has synced
//! Stable                all have synced; the assignment of member a-1 is `part-a`
//! ```

use rallypoint::coordinator::Step;
use rallypoint::coordinator::command::{Command, JoinGroup, LeaveGroup, Leaver, SyncGroup};
use rallypoint::coordinator::reply::Reply;
use rallypoint::types::ReplyTo;

use super::line::Line;
use super::play::Stage;
use super::request::protocols;
use super::show;

/// Somebody who is brought in.
struct Member {
    client: String,
    is_static: bool,
    id: Option<String>,
    generation: i32,
}

struct Cast<'a> {
    stage: &'a mut Stage,
    line: &'a Line<'a>,
    group: &'a str,
    members: Vec<Member>,
}

/// Says which generation they reached, and who they are.
pub(super) fn bring(stage: &mut Stage, line: &Line<'_>) -> Result<String, String> {
    line.only(&["members", "statics", "session_ms", "rebalance_ms", "type", "protocols", "topics"])?;
    let group = line.group()?;
    let mut cast = Cast { stage, line, group, members: Vec::new() };
    for (key, is_static) in [("members", false), ("statics", true)] {
        for client in line.list(key) {
            let member = Member { client: client.to_owned(), is_static, id: None, generation: -1 };
            cast.members.push(member);
        }
    }
    let state = line.second().ok_or("no state")?;
    cast.gather()?;
    match state {
        "CompletingRebalance" => {}
        "Stable" => cast.sync(),
        "PreparingRebalance" => {
            cast.sync();
            cast.join(0)?;
        }
        "Empty" => cast.leave(),
        other => return Err(format!("no state {other}")),
    }
    let reached = cast.stage.shard().describe(group).map(|group| group.state).ok();
    let members = cast.members.iter().map(|m| m.id.as_deref().map_or_else(String::new, show::readable));
    let members: Vec<String> = members.collect();
    let generation = cast.members.first().map_or(0, |m| m.generation);
    if reached == Some(state) {
        Ok(format!("generation {generation} of {}", members.join(", ")))
    } else {
        Err(format!("the group came to {reached:?}"))
    }
}

impl Cast<'_> {
    /// Brings them in one by one; whoever is in already rejoins each time.
    fn gather(&mut self) -> Result<(), String> {
        for newest in 0..self.members.len() {
            self.join(newest)?;
            for known in 0..newest {
                self.join(known)?;
            }
        }
        let generation = self.members.first().ok_or("no members")?.generation;
        if generation >= 0 && self.members.iter().all(|m| m.generation == generation) {
            Ok(())
        } else {
            Err("the members do not get together; is there an initial delay?".to_owned())
        }
    }

    fn join(&mut self, index: usize) -> Result<(), String> {
        let Member { client, is_static, id, .. } = &self.members[index];
        let (client, instance, id) = (client.clone(), is_static.then(|| client.clone()), id.clone());
        let random = if id.is_none() { self.stage.draw(self.group, &client) } else { 0 };
        let protocols = protocols(self.line, &client);
        let protocols: Vec<(&str, &[u8])> =
            protocols.iter().map(|(n, m)| (n.as_str(), m.as_slice())).collect();
        let command = Command::JoinGroup(JoinGroup {
            group: self.group,
            member: id.as_deref(),
            instance: instance.as_deref(),
            client_id: &client,
            client_host: "/10.0.0.1",
            session_timeout_ms: self.line.int("session_ms", 45_000)?,
            rebalance_timeout_ms: self.line.int("rebalance_ms", 60_000)?,
            protocol_type: self.line.get("type").unwrap_or("consumer"),
            protocols: &protocols,
            reason: None,
            member_id_required: false,
            may_skip_assignment: true,
            random,
            assignment_interval_ms: 0,
        });
        let step = self.stage.submit(&client, command);
        self.note(&step);
        Ok(())
    }

    fn note(&mut self, step: &Step) {
        for index in 0..self.members.len() {
            let token: ReplyTo = self.stage.token(&self.members[index].client.clone());
            for (_, reply) in step.replies.iter().filter(|(to, _)| *to == token) {
                let Reply::JoinGroup(join) = reply else { continue };
                let Ok(joined) = &join.outcome else { continue };
                self.members[index].generation = joined.generation;
                self.members[index].id = join.member.as_ref().map(ToString::to_string);
            }
        }
    }

    fn sync(&mut self) {
        let all: Vec<(String, String, i32)> = self
            .members
            .iter()
            .map(|m| (m.client.clone(), m.id.clone().unwrap_or_default(), m.generation))
            .collect();
        let parts: Vec<(String, String)> =
            all.iter().map(|(client, id, _)| (id.clone(), format!("part-{client}"))).collect();
        let parts: Vec<(&str, &[u8])> =
            parts.iter().map(|(id, part)| (id.as_str(), part.as_bytes())).collect();
        for (client, id, generation) in &all {
            self.stage.submit(
                client,
                Command::SyncGroup(SyncGroup {
                    group: self.group,
                    member: id,
                    instance: None,
                    generation: *generation,
                    protocol_type: None,
                    protocol_name: None,
                    assignments: &parts,
                }),
            );
        }
    }

    fn leave(&mut self) {
        let leavers: Vec<Leaver<'_>> = self
            .members
            .iter()
            .map(|m| Leaver { member: m.id.as_deref(), instance: None, reason: None })
            .collect();
        self.stage.submit("admin", Command::LeaveGroup(LeaveGroup { group: self.group, members: &leavers }));
    }
}
