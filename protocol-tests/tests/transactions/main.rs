//! Random lives of transactional producers: each step of a transaction may be the last of its client, a request may come
//! late or once more, time jumps, and the coordinator is loaded anew while markers are under way. Once all is quiet,
//! whoever reads what is committed sees all of every transaction that was committed and nothing of any other, and no
//! transaction is open for ever.
//!
//! One seed is one run; a failure prints it, and `RALLYPOINT_SEED=…` plays it again. `RALLYPOINT_RUNS=…` plays more than the
//! usual number.

mod broker;
#[path = "../interleavings/prng.rs"]
mod prng;
mod producer;
mod reader;

use std::env;

use broker::Broker;
use prng::Prng;
use producer::{Producer, Protocol};

const RUNS: u64 = 1_000;
const STEPS: usize = 250;

/// Transactional ids, and how their clients end transactions.
const IDS: [(&str, Protocol); 3] = [("x", Protocol::V1), ("y", Protocol::V2), ("z", Protocol::V2)];

/// Plays a run.
fn play(seed: u64) {
    let mut prng = Prng::new(seed);
    let mut broker = Broker::new();
    let mut producers: Vec<Producer> =
        IDS.iter().map(|(id, protocol)| Producer::new(id, *protocol)).collect();
    for _ in 0..STEPS {
        match prng.below(24) {
            0 => {
                // A client dies, or it is only slow: another one takes its place, and it may go on for a while.
                let (id, protocol) = prng.pick(&IDS);
                producers.push(Producer::new(id, protocol));
            }
            1 => broker.pass(prng.below(20_000) as i64),
            2 => broker.reload(),
            3..=6 => broker.write_some_marker(&mut prng),
            7 => broker.repeat_some_request(&mut prng),
            8 if producers.len() > IDS.len() => {
                producers.swap_remove(prng.below(producers.len()));
            }
            _ => {
                let place = prng.below(producers.len());
                producers[place].step(&mut broker, &mut prng);
            }
        }
    }
    // Nobody is left; what is open comes to its end by itself.
    for _ in 0..3 {
        broker.pass(1_000_000);
        broker.write_all_markers();
    }
    broker.check();
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

#[test]
fn what_is_committed_is_seen_and_nothing_else() {
    if let Some(seed) = number("RALLYPOINT_SEED") {
        return play(seed);
    }
    for seed in 1..=number("RALLYPOINT_RUNS").unwrap_or(RUNS) {
        if std::panic::catch_unwind(|| play(seed)).is_err() {
            panic!("RALLYPOINT_SEED={seed} plays this again");
        }
    }
}

/// With the protocol of version 1, what comes late ends up in the next transaction (KIP-890 §Motivation): as unsafe as Kafka.
#[test]
fn what_comes_late_is_part_of_the_next_transaction_of_an_old_client() {
    let mut broker = Broker::new();
    let old = broker.late_commit_of_offsets("x", Protocol::V1);
    assert_eq!(
        old,
        (Some(7), true),
        "the late offset is committed with what the client wrote after its abort"
    );
    let new = Broker::new().late_commit_of_offsets("y", Protocol::V2);
    assert_eq!(new, (None, false), "the late offset is refused");
}
