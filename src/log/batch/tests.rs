use super::*;
use crate::log::test_batch::{BatchSpec, Random, parse, seal, varint};

/// One batch around `body`, with right length and CRC.
fn around(body: &[u8], count: i32) -> Vec<u8> {
    let mut batch = BatchSpec::new(1, 1000).build();
    batch.truncate(BATCH_OVERHEAD);
    batch[23..27].copy_from_slice(&(count - 1).to_be_bytes());
    batch[57..61].copy_from_slice(&count.to_be_bytes());
    batch.extend_from_slice(body);
    seal(&mut batch);
    batch
}

fn record(body: &[u8]) -> Vec<u8> {
    let mut record = varint(body.len() as i64);
    record.extend_from_slice(body);
    record
}

#[test]
fn a_good_batch_tells_its_timestamps_and_keys() {
    let batch = BatchSpec::new(0, 1000).timestamps(&[0, 70, -3]).build();
    let batch = parse(&batch);
    assert!(batch.crc_matches);
    let expected = Summary { min_timestamp: 997, max_timestamp: 1070, all_have_keys: true };
    assert_eq!(batch.records, Ok(expected));
    let offsets: Vec<i64> = batch.walk().map(|record| record.unwrap().offset).collect();
    assert_eq!(offsets, [0, 1, 2]);
}

#[test]
fn a_record_without_key_is_noticed() {
    let batch = BatchSpec::new(2, 1000).without_keys().build();
    assert!(!parse(&batch).records.unwrap().all_have_keys);
}

#[test]
fn one_batch_of_magic_2_is_demanded() {
    let good = BatchSpec::new(1, 1000).build();
    let refused = |records: &[u8]| Incoming::parse(13, records).unwrap_err();
    assert_eq!(refused(&[]), LogError::InvalidRecord);
    assert_eq!(refused(&good[..good.len() - 1]), LogError::InvalidRecord, "not a whole batch");
    assert_eq!(refused(&[good.clone(), good.clone()].concat()), LogError::InvalidRecord);
    assert_eq!(refused(&[&good[..], &[0; 20]].concat()), LogError::CorruptMessage(None));
    assert!(Incoming::parse(13, &[&good[..], b"abc"].concat()).is_ok(), "what is no batch is dropped");

    let with_magic = |magic: u8| {
        let mut batch = good.clone();
        batch[16] = magic;
        batch
    };
    assert_eq!(refused(&with_magic(1)), LogError::InvalidRecord);
    assert_eq!(
        refused(&with_magic(3)),
        LogError::CorruptMessage(Some("Invalid magic found in record: 3".into()))
    );
    assert_eq!(
        check_first_frame(&with_magic(255)),
        Err(LogError::CorruptMessage(Some("Invalid magic found in record: -1".into())))
    );
}

#[test]
fn a_length_that_cannot_be_is_corrupt() {
    let mut batch = BatchSpec::new(1, 1000).build();
    batch[8..12].copy_from_slice(&13_i32.to_be_bytes());
    let text = "Record size 13 is less than the minimum record overhead (14)";
    assert_eq!(check_first_frame(&batch), Err(LogError::CorruptMessage(Some(text.into()))));
    batch[8..12].copy_from_slice(&i32::MAX.to_be_bytes());
    assert_eq!(Incoming::parse(13, &batch).unwrap_err(), LogError::InvalidRecord);
    batch[8..12].copy_from_slice(&30_i32.to_be_bytes());
    assert_eq!(Incoming::parse(13, &batch[..42]).unwrap_err(), LogError::CorruptMessage(None));
}

#[test]
fn zstd_came_with_version_7() {
    let zstd = BatchSpec::new(1, 1000).attributes(4).build();
    assert_eq!(Incoming::parse(6, &zstd).unwrap_err(), LogError::UnsupportedCompressionType);
    assert!(Incoming::parse(7, &zstd).is_ok());
    let unknown = BatchSpec::new(1, 1000).attributes(7).build();
    assert_eq!(Incoming::parse(6, &unknown).unwrap_err(), LogError::UnknownServerError);
}

#[test]
fn records_must_fit_each_other_and_the_batch() {
    let faults = |body: &[u8], count| Incoming::parse(13, &around(body, count)).unwrap().records.unwrap_err();
    let plain = record(&[0, 0, 0, 1, 1, 0]);
    assert!(Incoming::parse(13, &around(&plain, 1)).unwrap().records.is_ok());
    for (why, body, count) in [
        ("one record less than counted", plain.clone(), 2),
        ("one record more than counted", [plain.clone(), plain.clone()].concat(), 1),
        ("a size beyond the batch", [varint(100), vec![0; 5]].concat(), 1),
        ("a negative size", [varint(-3), vec![0; 5]].concat(), 1),
        ("a size beyond the record", record(&[0, 0, 0, 1, 1, 0, 0]), 1),
        ("an empty record", record(&[]), 1),
        ("a key beyond the record", record(&[0, 0, 0, 200, 1, b'a', 1, 0]), 1),
        ("fewer than no headers", record(&[0, 0, 0, 1, 1, 1]), 1),
        ("more headers than bytes", record(&[0, 0, 0, 1, 1, 200, 1]), 1),
        ("a header without key", record(&[0, 0, 0, 1, 1, 2, 1, 1]), 1),
        ("an endless timestamp", record(&[&[0][..], &[255; 20]].concat()), 1),
    ] {
        assert_eq!(faults(&body, count), RecordFault::Invalid, "{why}");
    }
    assert_eq!(faults(&[255; 12], 1), RecordFault::LengthTooLong);
}

#[test]
fn a_stamp_leaves_the_crc_right() {
    let mut batch = BatchSpec::new(2, 1000).build();
    let header = Header::read(&batch).unwrap();
    let stamp = Stamp { base_offset: 77, leader_epoch: 0, log_append_time: false, max_timestamp: 1000 };
    stamp.apply(&header, &mut batch);
    let stamped = Header::read(&batch).unwrap();
    assert_eq!((stamped.base_offset, stamped.crc), (77, header.crc));
    assert_eq!(batch[12..16], 0_i32.to_be_bytes());

    Stamp { log_append_time: true, max_timestamp: 5000, ..stamp }.apply(&header, &mut batch);
    let stamped = Header::read(&batch).unwrap();
    assert!(stamped.is_log_append_time());
    assert_eq!(stamped.max_timestamp, 5000);
    assert_eq!(stamped.crc, crc32c::crc32c(&batch[ATTRIBUTES_AT..]));
}

#[test]
fn sequence_numbers_wrap_to_0() {
    let mut header = Header::read(&BatchSpec::new(5, 0).producer(1, 0, i32::MAX - 2).build()).unwrap();
    assert_eq!(header.last_sequence(), 1);
    header.base_sequence = 7;
    assert_eq!(header.last_sequence(), 11);
}

#[test]
fn mutated_batches_never_panic() {
    let mut random = Random(0x5eed);
    for _ in 0..20_000 {
        let batch = random.mutated_batch();
        let version = [3, 6, 7, 13][random.below(4)];
        let _ = check_first_frame(&batch);
        let _ = is_transactional(&batch);
        if let Ok(batch) = Incoming::parse(version, &batch) {
            assert!(batch.walk().count() <= batch.len());
            let _ = batch.header.last_sequence();
        }
    }
}
