//! Compaction as readers of a topic see it.

use super::super::record::RawRecords;
use super::super::test_batch::{BatchSpec, parse};
use super::super::{BatchBuilder, Incoming, Isolation, Log, LogConfig, LogSettings, TopicIdPartition};
use super::*;
use crate::types::{Now, TopicId, TopicName};

const P0: TopicIdPartition = TopicIdPartition { topic: TopicId(7), partition: 0 };
const DAY: i64 = 1_700_000_000_000;
const CHECK_MS: i64 = 1_000;
const DELETE_RETENTION_MS: i64 = 5_000;

fn at(millis: i64) -> Now {
    Now { monotonic: Millis(millis), wall: Millis(DAY + millis) }
}

fn config() -> LogConfig {
    LogConfig {
        compact: true,
        delete: false,
        delete_retention_ms: DELETE_RETENTION_MS,
        min_cleanable_dirty_ratio: 0.1,
        ..LogConfig::default()
    }
}

fn log(config: LogConfig) -> Log {
    let settings = LogSettings { retention_check_interval_ms: CHECK_MS, ..LogSettings::default() };
    let mut log = Log::new(at(0), settings);
    log.create_topic(P0.topic, TopicName::from("t"), 1, config);
    log
}

/// Appends one batch of keys with values; no value is a tombstone.
fn append(log: &mut Log, millis: i64, records: &[(&str, Option<&str>)]) {
    let mut batch = BatchBuilder::new(DAY + millis);
    for (key, value) in records {
        batch.push(key.as_bytes(), value.map(str::as_bytes));
    }
    let batch = batch.finish();
    log.append(at(millis), P0, &Incoming::parse(13, &batch).unwrap()).unwrap();
}

/// What a reader from `offset` on gets: offset, timestamp, key and whether it is a tombstone.
fn read_from(log: &Log, offset: i64) -> Vec<(i64, i64, String, bool)> {
    let records = log.read(P0, offset, usize::MAX, true, Isolation::ReadUncommitted).unwrap().records;
    let mut found = Vec::new();
    let mut rest = &records[..];
    while !rest.is_empty() {
        let len = 12 + i32::from_be_bytes(rest[8..12].try_into().unwrap()) as usize;
        let (batch, behind) = rest.split_at(len);
        let header = Header::read(batch).unwrap();
        assert_eq!(crc32c::crc32c(&batch[21..]), header.crc);
        let walked = super::super::record::Records::new(&header, &batch[BATCH_OVERHEAD..]);
        let raw = RawRecords::new(&header, &batch[BATCH_OVERHEAD..]);
        for (record, raw) in walked.zip(raw) {
            let record = record.unwrap();
            let key = String::from_utf8(raw.key.unwrap().to_vec()).unwrap();
            found.push((record.offset, record.timestamp - DAY, key, raw.is_tombstone));
        }
        rest = behind;
    }
    found
}

fn read(log: &Log) -> Vec<(i64, String)> {
    read_from(log, 0).into_iter().map(|(offset, _, key, _)| (offset, key)).collect()
}

fn keys(found: &[(i64, &str)]) -> Vec<(i64, String)> {
    found.iter().map(|&(offset, key)| (offset, key.to_owned())).collect()
}

#[test]
fn a_changelog_reads_back_its_last_values_at_the_next_check() {
    let mut log = log(config());
    append(&mut log, 0, &[("a", Some("1")), ("b", Some("1")), ("a", Some("2"))]);
    append(&mut log, 10, &[("b", Some("2")), ("c", Some("1"))]);
    append(&mut log, 20, &[("c", Some("2"))]);
    assert_eq!(read(&log).len(), 6);
    log.advance(at(CHECK_MS));
    assert_eq!(read(&log), keys(&[(2, "a"), (3, "b"), (5, "c")]));
    // Timestamps stay, and the end of the log is where it was.
    assert_eq!(read_from(&log, 3)[0].1, 10);
    assert_eq!((log.log_start_offset(P0), log.high_watermark(P0)), (Ok(0), Ok(6)));
    // A reader whose next record is gone goes on at the next one there is.
    let later = read_from(&log, 4).into_iter().map(|(offset, ..)| offset).find(|&offset| offset >= 4);
    assert_eq!(later, Some(5));
    // What comes later gets the next offset and replaces what was there.
    append(&mut log, 2_000, &[("a", Some("3")), ("d", Some("1"))]);
    append(&mut log, 2_000, &[("e", Some("1"))]);
    log.advance(at(2 * CHECK_MS));
    assert_eq!(read(&log), keys(&[(3, "b"), (5, "c"), (6, "a"), (7, "d"), (8, "e")]));
}

#[test]
fn tombstones_stay_until_readers_had_time_to_see_them() {
    let mut log = log(config());
    append(&mut log, 0, &[("a", Some("1")), ("b", Some("1"))]);
    append(&mut log, 10, &[("a", None), ("c", Some("1"))]);
    append(&mut log, 20, &[("d", Some("1"))]);
    log.advance(at(CHECK_MS));
    assert_eq!(
        read_from(&log, 0),
        [
            (1, 0, "b".to_owned(), false),
            (2, 10, "a".to_owned(), true),
            (3, 10, "c".to_owned(), false),
            (4, 20, "d".to_owned(), false),
        ]
    );
    log.advance(at(CHECK_MS + DELETE_RETENTION_MS - 1));
    assert_eq!(read(&log).len(), 4);
    log.advance(at(2 * CHECK_MS + DELETE_RETENTION_MS));
    assert_eq!(read(&log), keys(&[(1, "b"), (3, "c"), (4, "d")]));
}

#[test]
fn a_reader_at_the_end_gets_there_even_behind_a_tombstone() {
    let mut log = log(config());
    append(&mut log, 0, &[("a", Some("1"))]);
    append(&mut log, 10, &[("a", None)]);
    for check in 1..20 {
        log.advance(at(check * CHECK_MS));
    }
    assert_eq!(read(&log), keys(&[(1, "a")]));
    assert_eq!(log.high_watermark(P0), Ok(2));
}

#[test]
fn what_is_too_young_or_too_little_is_left_alone() {
    let mut log = log(LogConfig { min_compaction_lag_ms: 10_000, ..config() });
    append(&mut log, 0, &[("a", Some("1")), ("a", Some("2"))]);
    append(&mut log, 0, &[("b", Some("1"))]);
    log.advance(at(CHECK_MS));
    assert_eq!(read(&log).len(), 3);
    log.advance(at(11_000));
    assert_eq!(read(&log), keys(&[(1, "a"), (2, "b")]));

    // A hundredth of the partition is new: not worth it, until it has waited for long enough.
    let long = "x".repeat(10_000);
    let mut log = super::tests::log(LogConfig { max_compaction_lag_ms: 20_000, ..config() });
    append(&mut log, 0, &[("long", Some(&long))]);
    append(&mut log, 0, &[("b", Some("1"))]);
    log.advance(at(CHECK_MS));
    append(&mut log, CHECK_MS, &[("a", Some("1"))]);
    append(&mut log, CHECK_MS, &[("a", Some("2"))]);
    log.advance(at(2 * CHECK_MS));
    assert_eq!(read(&log).len(), 4);
    log.advance(at(22 * CHECK_MS));
    assert_eq!(read(&log), keys(&[(0, "long"), (1, "b"), (3, "a")]));
}

#[test]
fn batches_that_are_not_opened_stay() {
    const GZIP: i16 = 1;
    let mut log = log(config());
    let compressed = BatchSpec::new(3, DAY).attributes(GZIP).build();
    log.append(at(0), P0, &parse(&compressed)).unwrap();
    append(&mut log, 0, &[("key", Some("1")), ("key", Some("2"))]);
    append(&mut log, 0, &[("b", Some("1"))]);
    let before = log.read(P0, 0, compressed.len(), true, Isolation::ReadUncommitted).unwrap().records;
    log.advance(at(CHECK_MS));
    assert_eq!(log.read(P0, 0, compressed.len(), true, Isolation::ReadUncommitted).unwrap().records, before);
    let rest: Vec<_> = read_from(&log, 3).into_iter().map(|(offset, ..)| offset).collect();
    assert_eq!(rest, [4, 5]);
}

#[test]
fn memory_is_given_back_and_counted() {
    let mut log = log(config());
    let value = "x".repeat(1_000);
    let room = log.room();
    for n in 0..3_000 {
        append(&mut log, 0, &[(if n % 2 == 0 { "a" } else { "b" }, Some(&value))]);
    }
    assert!(room - log.room() > 3_000_000);
    log.advance(at(CHECK_MS));
    assert!(room - log.room() < 3_000, "{} bytes are left", room - log.room());
    assert_eq!(read(&log), keys(&[(2_998, "a"), (2_999, "b")]));
    log.delete_topic(P0.topic);
    assert_eq!(log.room(), room);
}

#[test]
fn a_partition_of_the_brokers_own_stays_small_between_checks() {
    let mut log = log(config());
    let value = "x".repeat(1_000);
    let room = log.room();
    for _ in 0..10_000 {
        append(&mut log, 0, &[("a", Some(&value))]);
        log.compact_early(at(0), P0);
        assert!(room - log.room() < 4_000_000);
    }
    assert_eq!(log.high_watermark(P0), Ok(10_000));
    log.clear(P0);
    assert_eq!((log.log_start_offset(P0), log.high_watermark(P0)), (Ok(10_000), Ok(10_000)));
    assert_eq!(log.room(), room);
}

#[test]
fn compaction_takes_turns_and_ends() {
    let mut log = log(config());
    let more = TopicId(8);
    log.create_topic(more, TopicName::from("u"), 40, config());
    let value = "x".repeat(1_000_000);
    for partition in 0..40 {
        let place = TopicIdPartition { topic: more, partition };
        for _ in 0..2 {
            let mut batch = BatchBuilder::new(DAY);
            batch.push(b"a", Some(value.as_bytes()));
            let batch = batch.finish();
            log.append(at(0), place, &Incoming::parse(13, &batch).unwrap()).unwrap();
        }
    }
    let full = log.room();
    log.advance(at(CHECK_MS));
    let after_one_turn = log.room();
    assert!(log.next_deadline() <= Millis(CHECK_MS), "there is more to do at once");
    let mut turns = 1;
    while log.next_deadline() <= Millis(CHECK_MS) {
        log.advance(at(CHECK_MS));
        turns += 1;
    }
    assert!(full < after_one_turn && after_one_turn < log.room());
    assert!((2..40).contains(&turns), "{turns} turns");
    assert!(log.room() - full >= 40 * 1_000_000);
}
