//! Random interleavings: clients that behave and clients that do not, time that jumps, a shard that is loaded anew at any
//! moment. After every step what is seen from outside must make sense (`history`), and once all behave, the groups get
//! together. One seed is one run; a failure prints it, and `RALLYPOINT_SEED=…` plays it again. `RALLYPOINT_RUNS=…` plays
//! more than the usual number.

mod chaos;
mod client;
mod history;
mod prng;
mod request;
mod world;

use std::env;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use history::Outcome;
use world::World;

const RUNS: u64 = 2_000;
const STEPS: usize = 200;

/// Lines of a failed run that are printed.
const TRACE_LINES: usize = 60;

fn play(world: &mut World) -> Outcome {
    for _ in 0..STEPS {
        chaos::step(world)?;
    }
    world.settle()
}

/// Plays a run; if it fails, plays it again to tell how.
fn check(seed: u64) -> Outcome {
    let Err(wrong) = play(&mut World::new(seed, false)) else { return Ok(()) };
    let mut again = World::new(seed, true);
    let _ = play(&mut again);
    let trace = again.trace();
    let last = &trace[trace.len().saturating_sub(TRACE_LINES)..];
    Err(format!("RALLYPOINT_SEED={seed}: {wrong}\n{}", last.join("\n")))
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

#[test]
fn random_interleavings_keep_every_group_consistent() {
    if let Some(seed) = number("RALLYPOINT_SEED") {
        return check(seed).unwrap_or_else(|wrong| panic!("{wrong}"));
    }
    let runs = number("RALLYPOINT_RUNS").unwrap_or(RUNS);
    let next = AtomicU64::new(1);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > runs {
                        return;
                    }
                    check(seed).unwrap_or_else(|wrong| panic!("{wrong}"));
                }
            });
        }
    });
}
