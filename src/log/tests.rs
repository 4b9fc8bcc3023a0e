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

fn wait_for(partition: TopicIdPartition) -> WaitPartition {
    WaitPartition { partition, available: 0, bytes_max: 1000, isolation: Isolation::ReadUncommitted }
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
    base_offsets(&log.read(P0, offset, bytes_max, min_one, Isolation::ReadUncommitted).unwrap().records)
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
        assert_eq!(
            log.read(P0, offset, 100, true, Isolation::ReadUncommitted),
            Err(LogError::OffsetOutOfRange),
            "{offset}"
        );
    }
    for partition in [-1, 2, i32::MAX] {
        let nowhere = TopicIdPartition { topic: TOPIC, partition };
        assert_eq!(
            log.read(nowhere, 0, 100, true, Isolation::ReadUncommitted),
            Err(LogError::UnknownTopicOrPartition)
        );
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
    assert_eq!(log.bytes_from(P0, 1, Isolation::ReadUncommitted), Ok(3 * len));
    assert_eq!(log.bytes_from(P0, 4, Isolation::ReadUncommitted), Ok(0));
}

#[test]
fn records_come_back_as_sent_but_for_the_stamp() {
    let mut log = log();
    append(&mut log, &batch(1)).unwrap();
    let sent = batch(2).build();
    append(&mut log, &batch(2)).unwrap();
    let kept = log.read(P0, 1, 1 << 20, true, Isolation::ReadUncommitted).unwrap().records;
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
    let kept = log.read(P0, 0, 1 << 20, true, Isolation::ReadUncommitted).unwrap().records;
    assert_eq!(kept[16..], batch(1).build()[16..]);
}

#[test]
fn log_append_time_is_the_brokers_clock() {
    let config = LogConfig { log_append_time: true, ..LogConfig::default() };
    let mut log = log_with(config);
    let appended = append_at(&mut log, at(50), P0, &batch(2)).unwrap();
    assert_eq!(appended.log_append_time, Some(DAY + 50));
    let kept = log.read(P0, 0, 1 << 20, true, Isolation::ReadUncommitted).unwrap().records;
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
    assert_eq!(log.read(P0, 3, 100, true, Isolation::ReadUncommitted), Err(LogError::OffsetOutOfRange));
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
    let wait = wait_for(P0);
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
    let wait = wait_for(P0);
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

const A: ProducerIdAndEpoch = ProducerIdAndEpoch { id: 10, epoch: 0 };
const B: ProducerIdAndEpoch = ProducerIdAndEpoch { id: 20, epoch: 0 };

fn in_transaction(producer: ProducerIdAndEpoch, sequence: i32, count: usize) -> BatchSpec {
    batch(count).attributes(0x10).producer(producer.id, producer.epoch, sequence)
}

/// Appends a batch of a transaction that the coordinator has said yes to, if it has to be asked.
fn write(log: &mut Log, producer: ProducerIdAndEpoch, sequence: i32, count: usize) -> Result<i64, LogError> {
    let batch = in_transaction(producer, sequence, count).build();
    let verified = if log.needs_verification(P0, producer)? { Verified::Yes } else { Verified::No };
    log.append_verified(at(0), P0, &parse(&batch), verified).map(|appended| appended.base_offset)
}

fn end(log: &mut Log, producer: ProducerIdAndEpoch, committed: bool) {
    let marker = TransactionMarker { producer, committed, bumps_epoch: false, coordinator_epoch: 0 };
    log.end_transaction(at(0), P0, &marker).unwrap();
}

fn committed(log: &Log, offset: i64) -> Read {
    log.read(P0, offset, 1 << 20, true, Isolation::ReadCommitted).unwrap()
}

fn first_offsets(read: &Read) -> Vec<i64> {
    read.aborted.iter().map(|aborted| aborted.first_offset).collect()
}

#[test]
fn what_is_behind_an_open_transaction_is_not_stable() {
    let mut log = log();
    append(&mut log, &batch(2)).unwrap();
    assert_eq!(write(&mut log, A, 0, 3), Ok(2));
    append(&mut log, &batch(1)).unwrap();
    let read = committed(&log, 0);
    assert_eq!((base_offsets(&read.records), read.high_watermark, read.last_stable_offset), (vec![0], 6, 2));
    for offset in 2..=6 {
        assert!(committed(&log, offset).records.is_empty(), "{offset}");
    }
    assert_eq!(log.read(P0, 0, 1 << 20, true, Isolation::ReadUncommitted).unwrap().aborted, []);
    assert_eq!(log.bytes_from(P0, 2, Isolation::ReadCommitted), Ok(0));
    end(&mut log, A, true);
    let read = committed(&log, 0);
    assert_eq!((base_offsets(&read.records), read.last_stable_offset), (vec![0, 2, 5, 6], 7));
    assert_eq!(read.aborted, []);
}

#[test]
fn the_oldest_open_transaction_holds_the_others_back() {
    let mut log = log();
    for (producer, sequence) in [(A, 0), (B, 0), (A, 1)] {
        write(&mut log, producer, sequence, 1).unwrap();
    }
    end(&mut log, B, false);
    assert_eq!(log.end_for(P0, Isolation::ReadCommitted), Ok(0));
    end(&mut log, A, true);
    let read = committed(&log, 0);
    assert_eq!((base_offsets(&read.records), first_offsets(&read)), (vec![0, 1, 2, 3, 4], vec![1]));
    assert_eq!(read.aborted[0].producer_id, B.id);
    // Whoever begins behind the marker needs not know.
    assert_eq!(first_offsets(&committed(&log, 3)), [1]);
    assert_eq!(first_offsets(&committed(&log, 4)), [0_i64; 0]);
}

#[test]
fn a_marker_is_a_control_batch() {
    let mut log = log();
    write(&mut log, A, 0, 1).unwrap();
    end(&mut log, A, true);
    let records = committed(&log, 1).records;
    // A frame of Kafka 4.4.0, but for the times and the CRC.
    assert_eq!(records[..17], [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 66, 0, 0, 0, 0, 2]);
    assert_eq!(records[21..27], [0, 0x30, 0, 0, 0, 0]);
    assert_eq!(records[43..61], [0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1]);
    assert_eq!(records[61..], [32, 0, 0, 0, 8, 0, 0, 0, 1, 12, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(records[17..21], crc32c::crc32c(&records[21..]).to_be_bytes());
}

#[test]
fn a_batch_needs_an_open_transaction() {
    let mut log = log();
    let unverified = |log: &mut Log, spec: &BatchSpec| append(log, spec);
    assert_eq!(unverified(&mut log, &in_transaction(A, 0, 1)), Err(LogError::InvalidTxnState));
    assert_eq!(write(&mut log, A, 0, 1), Ok(0));
    // Once it is open here, nobody has to be asked; and nothing else may come from its producer.
    assert_eq!(unverified(&mut log, &in_transaction(A, 1, 1)), Ok(1));
    assert_eq!(append(&mut log, &batch(1).producer(A.id, 0, 2)), Err(LogError::InvalidTxnState));
    end(&mut log, A, true);
    assert_eq!(unverified(&mut log, &in_transaction(A, 2, 1)), Err(LogError::InvalidTxnState));
    assert_eq!(append(&mut log, &batch(1).producer(A.id, 0, 2)), Ok(3));
}

#[test]
fn a_marker_fences_older_epochs_and_may_come_again() {
    let mut log = log();
    let marker = |epoch, bumps_epoch, coordinator_epoch| TransactionMarker {
        producer: ProducerIdAndEpoch { epoch, ..A },
        committed: false,
        bumps_epoch,
        coordinator_epoch,
    };
    write(&mut log, A, 0, 1).unwrap();
    let mut end = |epoch, bumps_epoch, coordinator_epoch| {
        log.end_transaction(at(0), P0, &marker(epoch, bumps_epoch, coordinator_epoch))
    };
    assert_eq!(end(0, true, 0), Err(LogError::InvalidProducerEpoch), "the epoch of the records is not newer");
    assert_eq!(end(1, true, 0), Ok(()));
    assert_eq!(end(1, true, 0), Ok(()), "once more");
    assert_eq!(end(0, false, 0), Err(LogError::InvalidProducerEpoch));
    assert_eq!(end(1, false, 3), Ok(()));
    assert_eq!(end(1, false, 2), Err(LogError::TransactionCoordinatorFenced));
    assert_eq!(
        log.needs_verification(P0, A),
        Err(LogError::InvalidProducerEpoch),
        "what comes late is refused"
    );
    assert_eq!(
        write(&mut log, ProducerIdAndEpoch { epoch: 1, ..A }, 5, 1),
        Err(LogError::OutOfOrderSequenceNumber)
    );
    assert_eq!(write(&mut log, ProducerIdAndEpoch { epoch: 1, ..A }, 0, 1), Ok(4));
    assert_eq!(
        log.end_transaction(at(0), TopicIdPartition { topic: TopicId(9), ..P0 }, &marker(2, true, 3)),
        { Err(LogError::UnknownTopicOrPartition) }
    );
}

#[test]
fn nothing_is_appended_before_what_has_to_come_again() {
    let mut log = log();
    for sequence in [5, 3, 4] {
        log.begin_verification(at(0), P0, &Unverified { producer: A, sequence, bumps_epoch: false });
    }
    assert_eq!(write(&mut log, A, 4, 1), Err(LogError::OutOfOrderSequenceNumber));
    assert_eq!(write(&mut log, A, 3, 1), Ok(0));
    assert_eq!(write(&mut log, A, 4, 1), Ok(1));
    // With an epoch for each transaction, an unknown producer begins at 0.
    log.begin_verification(at(0), P0, &Unverified { producer: B, sequence: 3, bumps_epoch: true });
    assert_eq!(write(&mut log, B, 3, 1), Err(LogError::OutOfOrderSequenceNumber));
    log.begin_verification(at(0), P0, &Unverified { producer: B, sequence: 0, bumps_epoch: true });
    assert_eq!(write(&mut log, B, 0, 1), Ok(2));
}

#[test]
fn aborted_transactions_are_told_to_whoever_reads_them() {
    let mut log = log();
    // Many small ones, then one that spans several segments.
    let big = |log: &mut Log, producer, sequence| {
        let spec = in_transaction(producer, sequence, 1).value_len(900_000).build();
        log.append_verified(at(0), P0, &parse(&spec), Verified::Yes).unwrap();
    };
    for sequence in 0..100 {
        write(&mut log, A, sequence, 1).unwrap();
        end(&mut log, A, sequence % 2 == 0);
    }
    for sequence in 0..4 {
        big(&mut log, B, sequence);
    }
    end(&mut log, B, false);
    let until_cut = log.read(P0, 0, 2_000, true, Isolation::ReadCommitted).unwrap();
    let last = base_offsets(&until_cut.records).pop().unwrap();
    assert!(first_offsets(&until_cut).iter().all(|first| *first <= last), "{last}");
    assert_eq!(first_offsets(&committed(&log, 0)).len(), 50 + 1, "all, once nothing is left to read");
    assert_eq!(first_offsets(&committed(&log, 202)), [200]);
    log.delete_records(P0, Some(200)).unwrap();
    assert_eq!(first_offsets(&committed(&log, 200)), [200]);
    log.delete_records(P0, None).unwrap();
    assert_eq!(log.end_for(P0, Isolation::ReadCommitted), Ok(205));
}

#[test]
fn an_open_transaction_ends_where_its_records_were_deleted() {
    let mut log = log();
    write(&mut log, A, 0, 3).unwrap();
    append(&mut log, &batch(1)).unwrap();
    log.delete_records(P0, Some(2)).unwrap();
    assert_eq!(log.end_for(P0, Isolation::ReadCommitted), Ok(2));
    end(&mut log, A, false);
    assert_eq!(log.end_for(P0, Isolation::ReadCommitted), Ok(5));
    assert_eq!(first_offsets(&committed(&log, 2)), [0]);
}

#[test]
fn the_end_of_a_transaction_wakes_those_who_read_what_is_committed() {
    let mut log = log();
    log.park(
        ReplyTo(1),
        Millis(500),
        1,
        [WaitPartition { isolation: Isolation::ReadCommitted, ..wait_for(P0) }],
    );
    write(&mut log, A, 0, 1).unwrap();
    append(&mut log, &batch(1)).unwrap();
    assert_eq!(log.take_ready(), []);
    end(&mut log, A, true);
    assert_eq!(log.take_ready(), [ReplyTo(1)]);
}

#[test]
fn a_producer_with_an_open_transaction_is_not_forgotten() {
    let mut log = log();
    write(&mut log, A, 0, 1).unwrap();
    append(&mut log, &batch(1).producer(B.id, 0, 0)).unwrap();
    log.advance(at(settings(0).producer_id_expiration_ms * 2));
    let ids: Vec<_> = log.producers(P0).unwrap().map(|state| state.producer.id).collect();
    assert_eq!(ids, [A.id]);
}

#[test]
fn memory_that_is_short_always_lets_a_transaction_end() {
    let mut log = log_within(settings(20_000), LogConfig::default());
    write(&mut log, A, 0, 1).unwrap();
    let mut sequence = 1;
    while write(&mut log, A, sequence, 1).is_ok() {
        sequence += 1;
    }
    end(&mut log, A, true);
    assert_eq!(log.end_for(P0, Isolation::ReadCommitted), Ok(i64::from(sequence) + 1));
    // What has written nothing leaves nothing: otherwise ends without beginnings would fill the memory.
    let before = log.room();
    for id in 1_000..2_000 {
        end(&mut log, ProducerIdAndEpoch { id, epoch: 0 }, true);
    }
    assert!(before.abs_diff(log.room()) < 20_000, "{before} {}", log.room());
}
