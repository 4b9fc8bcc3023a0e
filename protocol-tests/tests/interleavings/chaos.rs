//! What goes wrong: clients that do the right thing at the wrong time, the wrong thing, or nothing.

use super::client::{Client, Stage};
use super::history::Outcome;
use super::prng::Prng;
use super::request::{Beat, Commit, Request, Sync};
use super::world::{World, offers};

/// One step of a run: mostly somebody behaves.
pub(crate) fn step(world: &mut World) -> Outcome {
    let index = world.rng.below(world.clients.len());
    match world.rng.below(32) {
        0..=13 => world.behave(index),
        14..=17 => pass_time(world),
        18 => rejoin(world, index),
        19 => change_metadata(world, index),
        20 => sync_again(world, index),
        21 => with_wrong_generation(world, index),
        22 => as_a_ghost(world, index),
        23 => leave(world, index),
        24 => sent_away(world, index),
        25 => restart(world, index),
        26 => commit_without_a_group(world, index),
        27 => administrate(world, index),
        28 => disjoint(world, index),
        29 if world.rng.one_in(4) => vanish(world, index),
        30 if world.rng.one_in(2) => world.reload(),
        _ => Ok(()),
    }
}

fn pass_time(world: &mut World) -> Outcome {
    let by_ms = match world.rng.below(8) {
        0 => world.next_timer_ms(),
        1 => world.next_timer_ms() - 1,
        2 => world.rng.below(30_000) as i64,
        _ => world.rng.below(2_000) as i64,
    };
    let late = world.rng.one_in(4);
    world.advance(by_ms.max(0), late)
}

/// The member joins again, whatever it waits for.
fn rejoin(world: &mut World, index: usize) -> Outcome {
    let client = &world.clients[index];
    if client.gone {
        return Ok(());
    }
    let request = client.join(&mut world.rng);
    world.send(Some(index), request)
}

fn change_metadata(world: &mut World, index: usize) -> Outcome {
    let client = &mut world.clients[index];
    client.offers = offers(&mut world.rng);
    client.session_ms = world.rng.pick(&[6_000, 10_000, 20_000]);
    client.rebalance_ms = world.rng.pick(&[3_000, 10_000, 20_000]);
    rejoin(world, index)
}

/// The member syncs, again or too early, over another connection. Nobody looks at the answer.
fn sync_again(world: &mut World, index: usize) -> Outcome {
    let client = &world.clients[index];
    let generation = client.generation();
    let request = client.sync(generation, &[], &mut world.rng);
    world.send(None, request)
}

fn with_wrong_generation(world: &mut World, index: usize) -> Outcome {
    let client = &world.clients[index];
    let wrong = client.generation() + world.rng.pick(&[-1, 1, 5]);
    let request = any_request(client, wrong, &mut world.rng);
    world.send(None, request)
}

fn any_request(client: &Client, generation: i32, rng: &mut Prng) -> Request {
    match rng.below(3) {
        0 => client.heartbeat(generation),
        1 => client.commit(generation, rng),
        _ => client.sync(generation, &[], rng),
    }
}

/// Somebody uses a member id that nobody has, perhaps under an instance id that somebody holds.
fn as_a_ghost(world: &mut World, index: usize) -> Outcome {
    let client = &world.clients[index];
    let (group, instance) = (client.group.clone(), client.instance.clone());
    let (member, generation) = ("ghost".to_owned(), client.generation());
    let request = match world.rng.below(5) {
        0 => Request::Heartbeat(Beat { group, member, instance, generation }),
        1 => Request::Sync(Sync { group, member, instance, generation, assignments: Vec::new() }),
        2 => Request::Leave(group, vec![(Some(member), instance)]),
        3 => {
            let (offsets, topic) = (vec![(0, 1, String::new())], "t".to_owned());
            Request::Commit(Commit {
                group,
                member,
                instance,
                generation,
                retention_ms: None,
                topic,
                offsets,
            })
        }
        _ => {
            let ghost = Client { member: Some(member), ..client.clone() };
            ghost.join(&mut world.rng)
        }
    };
    world.send(None, request)
}

fn leave(world: &mut World, index: usize) -> Outcome {
    if world.clients[index].gone {
        return Ok(());
    }
    let request = world.clients[index].leave();
    world.send(Some(index), request)
}

/// A tool sends members away, some by the instance id alone; they learn of it when they next ask.
fn sent_away(world: &mut World, index: usize) -> Outcome {
    let group = world.clients[index].group.clone();
    let mut leavers = Vec::new();
    for client in world.clients.iter().filter(|client| client.group == group) {
        if world.rng.one_in(2) {
            let by_id = client.instance.is_none() || world.rng.one_in(2);
            leavers.push((client.member.clone().filter(|_| by_id), client.instance.clone()));
        }
    }
    world.send(None, Request::Leave(group, leavers))
}

/// The process ends without a word and starts anew.
fn restart(world: &mut World, index: usize) -> Outcome {
    world.note(|| format!("client {index} restarts"));
    world.clients[index].restart();
    Ok(())
}

fn vanish(world: &mut World, index: usize) -> Outcome {
    world.note(|| format!("client {index} vanishes"));
    world.clients[index].gone = true;
    Ok(())
}

fn commit_without_a_group(world: &mut World, index: usize) -> Outcome {
    let mut simple = world.clients[index].clone();
    (simple.instance, simple.member) = (None, None);
    let request = simple.commit(-1, &mut world.rng);
    world.send(None, request)
}

fn administrate(world: &mut World, index: usize) -> Outcome {
    let group = world.clients[index].group.clone();
    let topic = world.rng.pick(&["t", "u"]).to_owned();
    let request = match world.rng.below(4) {
        0 => Request::DeleteGroup(group),
        1 => Request::TopicDeleted(topic),
        _ => Request::DeleteOffsets(group, topic, vec![0, 1, 7]),
    };
    world.send(None, request)
}

/// A consumer of another kind tries to get in, as a stranger or under a member's id.
fn disjoint(world: &mut World, index: usize) -> Outcome {
    let mut stranger = world.clients[index].clone();
    stranger.offers = vec![("connect".to_owned(), b"opaque".to_vec())];
    if world.rng.one_in(2) {
        (stranger.member, stranger.instance) = (None, None);
    }
    stranger.stage = Stage::Out;
    let request = stranger.join(&mut world.rng);
    world.send(None, request)
}
