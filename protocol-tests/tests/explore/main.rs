//! Every way that a small consumer group can go, as far as it is followed: three members, three partitions, and in each
//! state that is reached every next thing that may happen (`world`). Members come, go, crash, are slow to give partitions
//! up until they are thrown out; answers get lost and requests come twice. What must hold always and in the end is judged by
//! what the members were told, not by what the coordinator thinks (`judge`).
//!
//! States are told apart by what epochs say about each other, not by their numbers (`view`), and looked at breadth first.
//! `EXPLORE_STATES=…` looks at more than the usual number.

mod client;
mod judge;
mod view;
mod world;

use std::collections::HashSet;
use std::env;

use judge::Outcome;
use world::{Action, World};

/// All that four steps lead to, and part of what five do. From each of them the group is seen getting together.
const STATES: usize = 8_000;

/// How a state was reached: from which one, and by what.
struct Origin {
    from: usize,
    by: Action,
}

fn path(origins: &[Option<Origin>], state: usize) -> Vec<String> {
    let mut steps = Vec::new();
    let mut at = state;
    while let Some(Origin { from, by }) = &origins[at] {
        steps.push(format!("{by:?}"));
        at = *from;
    }
    steps.reverse();
    steps
}

/// Looks at every state in the order of its distance from an empty broker; how many there were.
fn explore(assignor: &'static str, states_max: usize) -> Result<usize, String> {
    let start = World::new(assignor);
    let mut seen = HashSet::from([view::of(&start)]);
    let mut origins = vec![None];
    let mut generation = vec![(0, start)];
    while !generation.is_empty() {
        let mut next = Vec::new();
        for (number, world) in generation {
            let blame = |wrong: String, last: Option<Action>| {
                format!("{wrong}\nafter {}, then {last:?}", path(&origins, number).join(", "))
            };
            world.clone().settle().map_err(|wrong| blame(wrong, None))?;
            let mut reached = Vec::new();
            for action in world.actions() {
                let mut after = world.clone();
                after.act(action).map_err(|wrong| blame(wrong, Some(action)))?;
                reached.push((action, after));
            }
            for (by, after) in reached {
                if seen.len() < states_max && seen.insert(view::of(&after)) {
                    origins.push(Some(Origin { from: number, by }));
                    next.push((origins.len() - 1, after));
                }
            }
        }
        generation = next;
    }
    Ok(seen.len())
}

fn check(assignor: &'static str) -> Outcome {
    let states_max =
        env::var("EXPLORE_STATES").map_or(STATES, |text| text.parse().expect("a number of states"));
    let states = explore(assignor, states_max)?;
    eprintln!("{assignor}: {states} states");
    // Fewer than a thousand would mean that hardly anything can happen.
    judge::ensure(states > 1_000, || format!("there are but {states} states"))
}

#[test]
fn uniform_groups_keep_their_promises_whatever_happens() {
    check("uniform").unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn range_groups_keep_their_promises_whatever_happens() {
    check("range").unwrap_or_else(|wrong| panic!("{wrong}"));
}
