//! Whatever comes in, nothing panics, and what is refused is refused before it costs anything.
//!
//! Each target first gets its corpus, a line of hexadecimal digits each in `corpus/`, and then random bytes for a second,
//! for `FUZZ_SECONDS` if that is set, and for as long as one likes under `cargo bolero test`. With `FUZZ_KEEP=1` an input
//! that has an outcome none had before is added to the corpus. One that finds a bug is added by hand.

mod group;
mod metadata;
mod request;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::time::Duration;

use bolero::generator::bolero_generator::driver::{ByteSliceDriver, Options};
use bolero::{TypeGenerator, check, produce};
use bytes::{Bytes, BytesMut};
use protocol_tests::blessed::root;
use rallypoint::config::{Config, properties};
use rallypoint::log::Incoming;
use rallypoint::wire::frame;

/// How long a target runs.
fn duration() -> Duration {
    let seconds = std::env::var("FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1))
}

/// What came of the inputs so far, if that is to be known.
#[derive(Debug)]
pub(crate) struct Outcomes {
    seen: Option<BTreeSet<String>>,
    is_news: bool,
}

impl Outcomes {
    /// Something came of an input.
    pub(crate) fn note(&mut self, outcome: impl FnOnce() -> String) {
        if let Some(seen) = &mut self.seen {
            self.is_news |= seen.insert(outcome());
        }
    }
}

/// Runs a target with what is kept for it, and then with whatever comes.
pub(crate) fn fuzz<T: TypeGenerator>(target: &str, test: impl Fn(T, &mut Outcomes)) {
    let corpus = Corpus { path: root().join(format!("protocol-tests/tests/fuzz/corpus/{target}")) };
    let seen = std::env::var_os("FUZZ_KEEP").map(|_| BTreeSet::new());
    let outcomes = RefCell::new(Outcomes { seen, is_news: false });
    let test = |bytes: &[u8]| {
        if let Some(input) = T::generate(&mut ByteSliceDriver::new(bytes, &Options::default())) {
            test(input, &mut outcomes.borrow_mut());
        }
        std::mem::take(&mut outcomes.borrow_mut().is_news)
    };
    for bytes in corpus.read() {
        test(&bytes);
    }
    let test = AssertUnwindSafe(test);
    let bytes = produce::<Vec<u8>>().with().len(0..=BYTES_MAX);
    check!().with_test_time(duration()).with_max_len(BYTES_MAX).with_generator(bytes).for_each(|bytes| {
        if test(bytes) {
            corpus.keep(bytes);
        }
    });
}

/// A text without what is different each time.
fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphabetic).collect()
}

/// Bytes of an input: enough for some fifty commands on a group.
const BYTES_MAX: usize = 512;

/// What is kept for a target.
#[derive(Debug)]
struct Corpus {
    path: PathBuf,
}

impl Corpus {
    fn read(&self) -> Vec<Vec<u8>> {
        let text = fs::read_to_string(&self.path).expect("a corpus for each target");
        let byte = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).expect("ASCII");
            u8::from_str_radix(digits, 16).expect("hexadecimal digits")
        };
        text.lines().map(|line| line.as_bytes().chunks(2).map(byte).collect()).collect()
    }

    fn keep(&self, bytes: &[u8]) {
        let mut line = bytes.iter().fold(String::new(), |mut line, byte| {
            let _ = write!(line, "{byte:02x}");
            line
        });
        line.push('\n');
        let mut file = OpenOptions::new().append(true).open(&self.path).expect("a corpus for each target");
        file.write_all(line.as_bytes()).expect("it can be written");
    }
}

/// Lengths that are claimed and what follows them, what is behind, and where to cut.
type Frames = (Vec<(u8, Vec<u8>)>, Vec<u8>, u8);

#[test]
fn frames() {
    const FRAME_BYTES_MAX: usize = 200;
    fuzz("frames", |(pieces, tail, cut): Frames, outcomes| {
        let frame =
            |(claimed, bytes): &(u8, Vec<u8>)| [&u32::from(*claimed).to_be_bytes(), &bytes[..]].concat();
        let bytes = [pieces.iter().flat_map(frame).collect(), tail].concat();
        // Cut in two, they give the same frames.
        let take = |chunks: &[&[u8]]| {
            let (mut received, mut frames) = (BytesMut::new(), Vec::<Bytes>::new());
            for chunk in chunks {
                received.extend_from_slice(chunk);
                while let Some(frame) = frame::next(&mut received, FRAME_BYTES_MAX)? {
                    assert!((1..=FRAME_BYTES_MAX).contains(&frame.len()));
                    frames.push(frame);
                }
            }
            Ok::<_, rallypoint::wire::WireError>(frames)
        };
        let (first, second) = bytes.split_at(usize::from(cut).min(bytes.len()));
        let taken = take(&[&bytes]);
        assert_eq!(taken, take(&[first, second]));
        outcomes.note(|| match taken {
            Ok(frames) => frames.len().to_string(),
            Err(error) => letters(&format!("{error:?}")),
        });
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
fn member_metadata() {
    metadata::fuzz();
}

#[test]
fn record_batches() {
    fuzz("record_batches", |(edits, tail): (Vec<(u8, u8)>, Vec<u8>), outcomes| {
        let mut batch = [&request::BATCH[..], &tail].concat();
        for (place, byte) in edits {
            let place = usize::from(place) % batch.len();
            batch[place] = byte;
        }
        for version in [3, 7, 12] {
            for bytes in [&batch, &tail] {
                let parsed = Incoming::parse(version, bytes);
                outcomes.note(|| format!("{version} {}", letters(&format!("{:?}", parsed.map(drop)))));
            }
        }
    });
}

#[test]
fn config_files() {
    let keys = [
        "num.partitions",
        "listeners",
        "advertised.listeners",
        "group.max.size",
        "group.consumer.assignors",
        "log.retention.ms",
        "log.cleanup.policy",
        "max.connections.per.ip.overrides",
    ];
    let values =
        ["", "1", "-1", "PLAINTEXT://127.0.0.1:0", "PLAINTEXT://:9092", "uniform,range", "compact", "a:1"];
    fuzz("config_files", |(text, key, start, value): (String, u8, u8, String), outcomes| {
        let key = keys[usize::from(key) % keys.len()];
        let start = values[usize::from(start) % values.len()];
        for text in [text.clone(), format!("{key}={start}\n{text}"), format!("{key}={start}{value}\n")] {
            let pairs = match properties::parse(&text) {
                Ok(pairs) => pairs,
                Err(error) => return outcomes.note(|| error.to_string()),
            };
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
            let config = Config::with(&pairs);
            outcomes.note(|| {
                let error = config.map_or_else(|error| letters(&error.to_string()), |_| String::new());
                format!("{key} {}", error.chars().take(20).collect::<String>())
            });
        }
    });
}
