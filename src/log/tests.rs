use super::test_batch::{BatchSpec, Random, parse};
use super::*;

const TOPIC: TopicId = TopicId(7);
const P0: TopicIdPartition = TopicIdPartition { topic: TOPIC, partition: 0 };
const P1: TopicIdPartition = TopicIdPartition { topic: TOPIC, partition: 1 };
const HOUR: i64 = 3_600_000;

fn settings(bytes_max: usize) -> LogSettings {
    LogSettings { bytes_max, ..LogSettings::default() }
}

/// `millis` after the start, at some day's wall clock.
fn at(millis: i64) -> Now {
    Now { monotonic: Millis(millis), wall: Millis(DAY + millis) }
}

const DAY: i64 = 1_700_000_000_000;

fn log_with(config: LogConfig) -> Log {
    log_within(settings(64 << 20), config)
}

fn log_within(settings: LogSettings, config: LogConfig) -> Log {
    let mut log = Log::new(at(0), settings);
    log.create_topic(TOPIC, TopicName::from("t"), 2, config);
    log
}

fn log() -> Log {
    log_with(LogConfig::default())
}

fn append(log: &mut Log, spec: &BatchSpec) -> Result<i64, LogError> {
    append_at(log, at(0), P0, spec).map(|appended| appended.base_offset)
}

fn append_at(
    log: &mut Log,
    now: Now,
    place: TopicIdPartition,
    spec: &BatchSpec,
) -> Result<Appended, LogError> {
    log.append(now, place, &parse(&spec.build()))
}

fn batch(count: usize) -> BatchSpec {
    BatchSpec::new(count, DAY)
}

/// Base offsets of the batches in what was read.
fn base_offsets(mut records: &[u8]) -> Vec<i64> {
    let mut offsets = Vec::new();
    while !records.is_empty() {
        offsets.push(i64::from_be_bytes(records[..8].try_into().unwrap()));
        let len = i32::from_be_bytes(records[8..12].try_into().unwrap());
        records = &records[12 + len as usize..];
    }
    offsets
}

fn read(log: &Log, offset: i64, bytes_max: usize, min_one: bool) -> Vec<i64> {
    base_offsets(&log.read(P0, offset, bytes_max, min_one).unwrap().records)
}

#[test]
fn offsets_count_records() {
    let mut log = log();
    assert_eq!(append(&mut log, &batch(3)), Ok(0));
    assert_eq!(append(&mut log, &batch(1)), Ok(3));
    assert_eq!(append(&mut log, &batch(2)), Ok(4));
    assert_eq!(log.high_watermark(P0), Ok(6));
    assert_eq!(log.high_watermark(P1), Ok(0));
    assert_eq!(read(&log, 0, 1 << 20, false), [0, 3, 4]);
    assert_eq!(read(&log, 2, 1 << 20, false), [0, 3, 4], "the whole batch around an offset");
    assert_eq!(read(&log, 3, 1 << 20, false), [3, 4]);
    assert!(read(&log, 6, 1 << 20, true).is_empty());
}

#[test]
fn an_offset_outside_is_out_of_range() {
    let mut log = log();
    append(&mut log, &batch(3)).unwrap();
    for offset in [-1, 4, i64::MAX, i64::MIN] {
        assert_eq!(log.read(P0, offset, 100, true), Err(LogError::OffsetOutOfRange), "{offset}");
    }
    for partition in [-1, 2, i32::MAX] {
        let nowhere = TopicIdPartition { topic: TOPIC, partition };
        assert_eq!(log.read(nowhere, 0, 100, true), Err(LogError::UnknownTopicOrPartition));
    }
}

#[test]
fn a_read_is_bounded_but_for_the_first_batch() {
    let mut log = log();
    let len = batch(1).build().len();
    for _ in 0..5 {
        append(&mut log, &batch(1)).unwrap();
    }
    assert_eq!(read(&log, 1, 3 * len, false), [1, 2, 3]);
    assert_eq!(read(&log, 1, 3 * len - 1, false), [1, 2]);
    assert!(read(&log, 1, len - 1, false).is_empty());
    assert_eq!(read(&log, 1, len - 1, true), [1]);
    assert_eq!(read(&log, 1, 0, true), [1]);
}

#[test]
fn a_read_goes_on_in_the_next_segment() {
    let mut log = log();
    let large = batch(1).value_len(700_000);
    for _ in 0..4 {
        append(&mut log, &large).unwrap();
    }
    let len = large.build().len();
    assert_eq!(read(&log, 0, 4 * len, false), [0, 1, 2, 3]);
    assert_eq!(read(&log, 1, 2 * len, false), [1, 2]);
    assert_eq!(read(&log, 1, 2 * len - 1, false), [1]);
    assert_eq!(log.bytes_from(P0, 1), Ok(3 * len));
    assert_eq!(log.bytes_from(P0, 4), Ok(0));
}

#[test]
fn records_come_back_as_sent_but_for_the_stamp() {
    let mut log = log();
    append(&mut log, &batch(1)).unwrap();
    let sent = batch(2).build();
    append(&mut log, &batch(2)).unwrap();
    let kept = log.read(P0, 1, 1 << 20, true).unwrap().records;
    assert_eq!(kept[..8], 1_i64.to_be_bytes());
    assert_eq!(kept[8..12], sent[8..12]);
    assert_eq!(kept[12..16], LEADER_EPOCH.to_be_bytes());
    assert_eq!(kept[16..], sent[16..]);
}

#[test]
fn batches_that_lie_are_refused() {
    let mut log = log();
    // Where in the header, what is written there, and the refusal; seen on Kafka 4.4.0.
    let lies: &[(&str, usize, &[u8], LogError)] = &[
        ("base offset 5", 0, &5_i64.to_be_bytes(), LogError::InvalidRecord),
        ("a codec that is none", 21, &5_i16.to_be_bytes(), LogError::UnknownServerError),
        ("a control batch", 21, &0x20_i16.to_be_bytes(), LogError::InvalidRecord),
        ("a transaction", 21, &0x10_i16.to_be_bytes(), LogError::InvalidTxnState),
        ("no record", 57, &0_i32.to_be_bytes(), LogError::InvalidRecord),
        ("fewer than no records", 57, &(-1_i32).to_be_bytes(), LogError::InvalidRecord),
        ("offsets for more records", 23, &4_i32.to_be_bytes(), LogError::InvalidRecord),
        ("offsets below 0", 23, &i32::MIN.to_be_bytes(), LogError::InvalidRecord),
        ("a producer without sequence", 43, &7_i64.to_be_bytes(), LogError::InvalidRecord),
    ];
    for (why, at, bytes, error) in lies {
        let mut lie = batch(2).build();
        lie[*at..at + bytes.len()].copy_from_slice(bytes);
        super::test_batch::seal(&mut lie);
        let refused = log.append(super::tests::at(0), P0, &parse(&lie)).unwrap_err();
        assert_eq!(refused, *error, "{why}");
    }
    let mut corrupt = batch(2).build();
    corrupt[70] ^= 1;
    assert_eq!(log.append(at(0), P0, &parse(&corrupt)), Err(LogError::CorruptMessage(None)));
    assert_eq!(log.high_watermark(P0), Ok(0));
}

#[test]
fn the_largest_timestamp_is_put_right() {
    let mut log = log();
    let mut lie = batch(1).build();
    lie[35..43].copy_from_slice(&(DAY + 999).to_be_bytes());
    super::test_batch::seal(&mut lie);
    log.append(at(0), P0, &parse(&lie)).unwrap();
    let kept = log.read(P0, 0, 1 << 20, true).unwrap().records;
    assert_eq!(kept[16..], batch(1).build()[16..]);
}

#[test]
fn log_append_time_is_the_brokers_clock() {
    let config = LogConfig { log_append_time: true, ..LogConfig::default() };
    let mut log = log_with(config);
    let appended = append_at(&mut log, at(50), P0, &batch(2)).unwrap();
    assert_eq!(appended.log_append_time, Some(DAY + 50));
    let kept = log.read(P0, 0, 1 << 20, true).unwrap().records;
    let mut resealed = kept.to_vec();
    super::test_batch::seal(&mut resealed);
    assert_eq!(kept, resealed, "the CRC covers the new timestamp");
    assert_eq!(
        log.offset_for_time(P0, DAY + 1),
        Ok(Some(TimestampAndOffset { timestamp: DAY + 50, offset: 0 }))
    );
    let refused = append(&mut log, &batch(1).attributes(8)).unwrap_err();
    assert_eq!(
        refused.record_errors()[0].message,
        format!(
            "Invalid timestamp type in message DefaultRecord(offset=0, timestamp={DAY}, key=3 bytes, \
             value=7 bytes). Producer should not set timestamp type to LogAppendTime."
        )
    );
}

#[test]
fn timestamps_out_of_range_name_their_records() {
    let config = LogConfig { timestamp_before_max_ms: 2 * HOUR, ..LogConfig::default() };
    let mut log = log_with(config);
    let spec = BatchSpec::new(0, DAY).timestamps(&[0, HOUR, HOUR + 1, -2 * HOUR, -2 * HOUR - 1]);
    let refused = append(&mut log, &spec).unwrap_err();
    let indexes: Vec<i32> = refused.record_errors().iter().map(|error| error.index).collect();
    assert_eq!(indexes, [2, 4]);
    assert_eq!(refused.message(), Some("One or more records have been rejected due to invalid timestamp"));
    assert_eq!(
        refused.record_errors()[0].message,
        format!(
            "Timestamp {} of message with offset 2 is out of range. The timestamp should be within [{}, {}]",
            DAY + HOUR + 1,
            DAY - 2 * HOUR,
            DAY + HOUR
        )
    );
    let good = BatchSpec::new(0, DAY).timestamps(&[0, HOUR, -2 * HOUR]);
    assert_eq!(append(&mut log, &good), Ok(0));
    assert_eq!(append(&mut log, &BatchSpec::new(1, -1)), Ok(3), "no timestamp is always in range");
}

#[test]
fn a_compacted_topic_wants_keys() {
    let config = LogConfig { compact: true, ..LogConfig::default() };
    let mut log = log_with(config);
    let refused = append(&mut log, &batch(4).without_keys()).unwrap_err();
    let text = "Compacted topic cannot accept message without key in topic partition t-0";
    assert_eq!(refused.record_errors().len(), 4);
    assert_eq!(refused.record_errors()[3], RecordError { index: 3, message: text.into() });
    let shown = |index| format!("RecordError(batchIndex={index}, message='{text}')");
    assert_eq!(
        refused.message().unwrap(),
        format!(
            "One or more records have been rejected due to 4 record errors in total, \
             and only showing the first three errors at most: [{}, {}, {}]",
            shown(0),
            shown(1),
            shown(2)
        )
    );
    assert!(matches!(refused, LogError::InvalidRecords(_)));
    assert_eq!(append(&mut log, &batch(4)), Ok(0));
}

#[test]
fn sizes_are_bounded() {
    let config = LogConfig { max_message_bytes: 500_000, segment_bytes: 400_000, ..LogConfig::default() };
    let mut log = log_with(config);
    assert_eq!(append(&mut log, &batch(1).value_len(500_000)), Err(LogError::MessageTooLarge));
    assert_eq!(append(&mut log, &batch(1).value_len(400_000)), Err(LogError::RecordListTooLarge));
    assert_eq!(append(&mut log, &batch(1).value_len(390_000)), Ok(0));
}

#[test]
fn a_duplicate_is_answered_as_the_first_time_and_kept_once() {
    let mut log = log();
    append(&mut log, &batch(1)).unwrap();
    let spec = batch(2).producer(5, 0, 0);
    assert_eq!(append(&mut log, &spec), Ok(1));
    let again = append_at(&mut log, at(9), P0, &spec).unwrap();
    assert_eq!((again.base_offset, again.log_append_time), (1, Some(DAY)));
    assert_eq!(log.high_watermark(P0), Ok(3));
    assert_eq!(append(&mut log, &batch(1).producer(5, 0, 3)), Err(LogError::OutOfOrderSequenceNumber));
    let elsewhere = append_at(&mut log, at(9), P1, &spec).unwrap();
    assert_eq!(elsewhere.base_offset, 0, "each partition has its own state");
}

#[test]
fn offsets_are_found_by_time() {
    let mut log = log();
    for delta in [-1000, 0, -500, 0] {
        append(&mut log, &BatchSpec::new(0, DAY + delta).timestamps(&[-50, 0, -20])).unwrap();
    }
    let find = |log: &Log, delta| log.offset_for_time(P0, DAY + delta).unwrap().map(|found| found.offset);
    // Seen on Kafka 4.4.0.
    for (delta, offset) in [
        (-9999, Some(0)),
        (-1050, Some(0)),
        (-1049, Some(1)),
        (-1000, Some(1)),
        (-999, Some(3)),
        (0, Some(4)),
        (1, None),
    ] {
        assert_eq!(find(&log, delta), offset, "{delta}");
    }
    let max = log.offset_of_max_timestamp(P0).unwrap();
    assert_eq!(max, Some(TimestampAndOffset { timestamp: DAY, offset: 4 }));
    assert_eq!(log.offset_of_max_timestamp(P1), Ok(None));

    log.delete_records(P0, Some(5)).unwrap();
    assert_eq!(find(&log, -9999), Some(5), "what is deleted is not found");
    log.delete_records(P0, None).unwrap();
    assert_eq!(find(&log, -9999), None);
}

#[test]
fn a_compressed_batch_is_found_as_a_whole() {
    let mut log = log();
    append(&mut log, &batch(1)).unwrap();
    append(&mut log, &BatchSpec::new(0, DAY + 10).timestamps(&[0, 10, 20]).attributes(2)).unwrap();
    let found = |delta| log.offset_for_time(P0, DAY + delta).unwrap().map(|f| (f.timestamp - DAY, f.offset));
    assert_eq!(found(1), Some((10, 1)));
    assert_eq!(found(15), Some((30, 1)), "the batch holds such a record, somewhere");
    assert_eq!(found(31), None);
    let max = TimestampAndOffset { timestamp: DAY + 30, offset: 3 };
    assert_eq!(log.offset_of_max_timestamp(P0), Ok(Some(max)));
}

#[test]
fn records_are_deleted_up_to_an_offset() {
    let mut log = log();
    append(&mut log, &batch(3)).unwrap();
    append(&mut log, &batch(3)).unwrap();
    log.configure_topic(TOPIC, LogConfig { delete: false, ..LogConfig::default() });
    assert!(matches!(log.delete_records(P0, Some(4)), Err(LogError::PolicyViolation(_))));
    log.configure_topic(TOPIC, LogConfig::default());
    assert_eq!(log.delete_records(P0, Some(4)), Ok(4));
    assert_eq!(log.delete_records(P0, Some(2)), Ok(4), "never back");
    assert_eq!(log.delete_records(P0, Some(7)), Err(LogError::OffsetOutOfRange));
    assert_eq!(log.delete_records(P0, Some(-2)), Err(LogError::OffsetOutOfRange));
    assert_eq!(log.read(P0, 3, 100, true), Err(LogError::OffsetOutOfRange));
    assert_eq!(read(&log, 4, 1 << 20, true), [3], "the batch around the first offset is kept");
    assert_eq!(log.delete_records(P0, None), Ok(6));
    assert_eq!(log.bytes, 0);
    assert_eq!(append(&mut log, &batch(1)), Ok(6));
}

#[test]
fn old_records_go_at_the_next_check() {
    let config = LogConfig { retention_ms: Some(600_000), ..LogConfig::default() };
    let mut log = log_with(config);
    append(&mut log, &batch(1)).unwrap();
    assert_eq!(log.next_deadline(), Millis(300_000));
    log.advance(at(600_000));
    assert_eq!(log.log_start_offset(P0), Ok(0), "as old as it may be");
    assert_eq!(log.next_deadline(), Millis(900_000));
    log.advance(at(700_000));
    assert_eq!(log.log_start_offset(P0), Ok(0), "not yet looked at again");
    log.advance(at(900_000));
    assert_eq!((log.log_start_offset(P0), log.high_watermark(P0)), (Ok(1), Ok(1)));
    assert_eq!(log.bytes, 0);
}

#[test]
fn a_record_without_timestamp_ages_from_its_append() {
    let config = LogConfig { retention_ms: Some(0), ..LogConfig::default() };
    let mut log = log_with(config);
    append_at(&mut log, at(300_000), P0, &BatchSpec::new(1, -1)).unwrap();
    log.advance(at(300_000));
    assert_eq!(log.log_start_offset(P0), Ok(0));
    log.advance(at(600_000));
    assert_eq!(log.log_start_offset(P0), Ok(1));
}

#[test]
fn retention_bytes_keeps_at_least_as_many() {
    let config = LogConfig { retention_bytes: Some(2_000_000), ..LogConfig::default() };
    let mut log = log_with(config);
    for _ in 0..5 {
        append(&mut log, &batch(1).value_len(700_000)).unwrap();
    }
    log.advance(at(300_000));
    assert_eq!(log.log_start_offset(P0), Ok(2), "3 × 700 kB are kept, 2 × would be too few");
    log.configure_topic(TOPIC, LogConfig { delete: false, retention_bytes: Some(0), ..LogConfig::default() });
    log.advance(at(600_000));
    assert_eq!(log.log_start_offset(P0), Ok(2), "a topic without the policy `delete` keeps all");
}

#[test]
fn memory_is_bounded_and_given_back() {
    let mut log = log_within(settings(3_000_000), LogConfig::default());
    let large = batch(1).value_len(700_000);
    let mut appended = 0;
    let refused = loop {
        match append(&mut log, &large) {
            Ok(_) => appended += 1,
            Err(refused) => break refused,
        }
    };
    assert!(matches!(refused, LogError::PolicyViolation(_)), "{refused:?}");
    assert_eq!(appended, 4);
    assert!(log.bytes <= 3_000_000);
    assert!(append_at(&mut log, at(0), P1, &large).is_err(), "the bound is that of all partitions");
    log.delete_records(P0, Some(2)).unwrap();
    assert_eq!(append(&mut log, &large), Ok(4));
    log.delete_topic(TOPIC);
    assert_eq!(log.bytes, 0);
}

#[test]
fn producers_take_memory_and_expire() {
    let mut log = log();
    append(&mut log, &batch(1).producer(5, 0, 0)).unwrap();
    log.delete_records(P0, None).unwrap();
    assert_eq!(log.bytes, producers::PRODUCER_BYTES);
    assert_eq!(append(&mut log, &batch(1).producer(5, 0, 9)), Err(LogError::OutOfOrderSequenceNumber));
    log.advance(at(24 * HOUR));
    assert_eq!(append(&mut log, &batch(1).producer(5, 0, 9)), Ok(1), "what is forgotten may begin anywhere");
}

#[test]
fn an_append_wakes_who_waits() {
    let mut log = log();
    let wait = WaitPartition { partition: P0, available: 0, bytes_max: 1000 };
    log.park(ReplyTo(1), Millis(500), 1, [wait]);
    log.park(ReplyTo(2), Millis(500), 1, [WaitPartition { partition: P1, ..wait }]);
    assert_eq!(log.next_deadline(), Millis(500));
    append(&mut log, &batch(1).producer(5, 0, 0)).unwrap();
    assert_eq!(log.take_ready(), [ReplyTo(1)]);
    assert_eq!(log.take_ready(), []);
    log.advance(at(500));
    assert_eq!(log.take_ready(), [ReplyTo(2)]);
}

#[test]
fn deletion_wakes_who_waits() {
    let mut log = log();
    let wait = WaitPartition { partition: P0, available: 0, bytes_max: 1000 };
    log.park(ReplyTo(1), Millis(500), 1, [wait]);
    log.delete_records(P0, None).unwrap();
    assert_eq!(log.take_ready(), [ReplyTo(1)]);
    log.park(ReplyTo(1), Millis(500), 1, [wait]);
    log.delete_topic(TOPIC);
    log.cancel(ReplyTo(1));
    assert_eq!(log.take_ready(), [], "whose connection is gone is not told");
    assert_eq!(log.high_watermark(P0), Err(LogError::UnknownTopicOrPartition));
}

#[test]
fn a_grown_topic_keeps_its_records() {
    let mut log = log();
    append(&mut log, &batch(1)).unwrap();
    log.grow_topic(TOPIC, 4);
    log.grow_topic(TOPIC, 1);
    assert_eq!(log.high_watermark(P0), Ok(1));
    assert_eq!(log.high_watermark(TopicIdPartition { topic: TOPIC, partition: 3 }), Ok(0));
}

#[test]
fn whatever_is_sent_the_log_stays_readable() {
    let any_time = LogConfig { timestamp_after_max_ms: i64::MAX, ..LogConfig::default() };
    let mut log = log_with(any_time);
    let mut random = Random(0xfeed);
    let mut appended = 0;
    for _ in 0..20_000 {
        let sent = random.mutated_batch();
        let Ok(batch) = Incoming::parse(13, &sent) else { continue };
        appended += usize::from(log.append(at(0), P0, &batch).is_ok());
    }
    assert!(appended > 1000, "the test is worth nothing if all are refused: {appended}");
    let end = log.high_watermark(P0).unwrap();
    let mut offset = 0;
    while offset < end {
        let offsets = read(&log, offset, random.below(3000), true);
        assert!(offsets.is_sorted() && offsets[0] <= offset);
        offset = offsets[offsets.len() - 1] + 1;
    }
    for timestamp in [i64::MIN, -1, 0, 1000, i64::MAX] {
        let found = log.offset_for_time(P0, timestamp).unwrap();
        assert!(found.is_none_or(|found| found.timestamp >= timestamp));
    }
}
