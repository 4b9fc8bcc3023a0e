//! Whatever comes in, nothing panics, and what is refused is refused before it costs anything.
//!
//! Each target runs for a second with `cargo test`, for `FUZZ_SECONDS` if that is set, and for as long as one likes under
//! `cargo bolero test`. A bug that is found gets a case of its own where the code is; the corpus is what
//! [`request::seeds`] makes.

mod group;
mod request;

use std::time::Duration;

use bolero::check;
use bytes::{Bytes, BytesMut};
use rallypoint::config::{Config, properties};
use rallypoint::log::Incoming;
use rallypoint::wire::frame;

/// How long a target runs.
pub(crate) fn duration() -> Duration {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1))
}

#[test]
fn frames() {
    const BYTES_MAX: usize = 1_000;
    check!().with_test_time(duration()).with_type::<(Vec<u8>, u8)>().for_each(|(bytes, cut)| {
        // Cut in two, they give the same frames.
        let take = |chunks: &[&[u8]]| {
            let (mut received, mut frames) = (BytesMut::new(), Vec::<Bytes>::new());
            for chunk in chunks {
                received.extend_from_slice(chunk);
                while let Some(frame) = frame::next(&mut received, BYTES_MAX)? {
                    assert!((1..=BYTES_MAX).contains(&frame.len()));
                    frames.push(frame);
                }
            }
            Ok::<_, rallypoint::wire::WireError>(frames)
        };
        let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
        assert_eq!(take(&[bytes]), take(&[first, second]));
    });
}

#[test]
fn requests() {
    request::fuzz();
}

#[test]
fn commands_on_a_group() {
    group::fuzz();
}

#[test]
fn record_batches() {
    check!().with_test_time(duration()).with_type::<(Vec<(u8, u8)>, Vec<u8>)>().for_each(|(edits, tail)| {
        let mut batch = [&request::BATCH[..], tail].concat();
        for (place, byte) in edits {
            let place = usize::from(*place) % batch.len();
            batch[place] = *byte;
        }
        for version in [3, 7, 12] {
            let _ = Incoming::parse(version, &batch);
            let _ = Incoming::parse(version, tail);
        }
    });
}

#[test]
fn config_files() {
    let keys = [
        "num.partitions",
        "listeners",
        "group.max.size",
        "log.retention.ms",
        "max.connections.per.ip.overrides",
    ];
    check!().with_test_time(duration()).with_type::<(String, u8, String)>().for_each(|(text, key, value)| {
        let key = keys[usize::from(*key) % keys.len()];
        for text in [text.clone(), format!("{key}={value}\n{text}")] {
            let Ok(pairs) = properties::parse(&text) else { continue };
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
            let _ = Config::with(&pairs);
        }
    });
}
