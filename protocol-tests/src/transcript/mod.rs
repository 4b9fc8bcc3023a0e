//! Transcripts: a case of the core as text that a person can read and add to without Rust.
//!
//! A file is a list of steps, separated by blank lines. A step is comment lines (`#`, which say why), one command,
//! a line `----`, and everything that the command brought about: what the log says, changes of state, records,
//! replies, and who was left waiting. A step of comments alone is a heading. The steps of a file share one shard
//! and one clock, which stands still but for `advance`. With `RALLYPOINT_BLESS=1` (`scripts/bless`) the outcomes are
//! written instead of compared; the diff is then to be read.
//!
//! A request is `VERB GROUP WHO key=value …`. WHO is a client (`a`, for a request without a member id) or a member
//! id: `a-1` is made when client `a` first joins a group without an id, `i-2` when the static member `i` does so for the
//! second time. The answer goes to the connection of the same name, or to the one that `from=` names.
//!
//! ```text
//! config KEY=VALUE …                   settings, before anything else; names are Kafka's
//! fresh                                a new shard, at time 0; the settings stay
//! given g Stable members=(a, b) …      brings a group into a state (see [`given`])
//! join g a version=3 instance=i session_ms=… rebalance_ms=… type=consumer protocols=(range:META, sticky) reason=…
//!                                      topics=(t): the metadata is a consumer's Subscription
//! sync g a-1 generation=2 assign=(a-1:t0, b-1:t1) instance=… type=… protocol=…
//! heartbeat g a-1 generation=2 instance=…
//! leave g a members=(a-1, b-1/i, /j)   ID, ID/INSTANCE or /INSTANCE each
//! commit g a-1 generation=2 offsets=(t/0:5) metadata=… retention_ms=… version=8
//! commit … producer=7                  the same as part of the transaction of a producer
//! end-transaction producer=7 commit=yes
//! delete-offsets g offsets=(t/0, u/1)
//! delete g
//! topics-deleted topics=(t)
//! advance by=3000 / to=9000            fires each timer at its own time
//! describe g, list, fetch g            what others see; `fetch` says what a transaction is about to change
//! reload                               from the snapshot, which it prints
//! ```
//!
//! Transcripts of the transaction coordinator have commands of their own, which `txn.rs` lists.

mod consumer;
mod given;
mod line;
mod play;
mod request;
mod show;
mod txn;

use std::fmt::Write;

use line::Line;
use play::Stage;

/// One step of a transcript.
struct Step<'a> {
    comments: Vec<&'a str>,
    command: Option<&'a str>,
}

/// Plays a transcript: the same text with the outcomes that the steps really had.
///
/// # Errors
/// A step that cannot be read, with its line.
pub fn replay(text: &str) -> Result<String, String> {
    let mut stage = Stage::default();
    replay_with(text, |line| stage.play(line))
}

/// The same for a transcript of the transaction coordinator.
///
/// # Errors
/// A step that cannot be read, with its line.
pub fn replay_transactions(text: &str) -> Result<String, String> {
    let mut stage = txn::Stage::default();
    replay_with(text, |line| stage.play(line))
}

fn replay_with(
    text: &str,
    mut play: impl FnMut(&Line<'_>) -> Result<Vec<String>, String>,
) -> Result<String, String> {
    let mut out = String::new();
    for (index, block) in text.split("\n\n").map(str::trim).filter(|b| !b.is_empty()).enumerate() {
        let step = parse(block)?;
        if index > 0 {
            out.push('\n');
        }
        for comment in step.comments {
            let _ = writeln!(out, "{comment}");
        }
        let Some(command) = step.command else { continue };
        let Some(line) = Line::parse(command)? else { continue };
        let _ = writeln!(out, "{command}\n----");
        let outcome = play(&line).map_err(|error| format!("{error} in: {command}"))?;
        for line in outcome {
            let _ = writeln!(out, "{line}");
        }
    }
    Ok(out)
}

fn parse(block: &str) -> Result<Step<'_>, String> {
    let before: Vec<&str> = block.lines().take_while(|line| *line != "----").collect();
    let (comments, commands): (Vec<&str>, Vec<&str>) = before.into_iter().partition(|l| l.starts_with('#'));
    match commands[..] {
        [] => Ok(Step { comments, command: None }),
        [command] => Ok(Step { comments, command: Some(command) }),
        _ => Err(format!("a step has one command:\n{block}")),
    }
}
