//! Records as a broker of Kafka 4.4.0 wrote them: keys and values as hex.

use std::sync::Arc;

use super::*;
use crate::coordinator::record::{ClassicProtocol, MemberMetadata};
use crate::types::TopicPartition;

const MEMBER: &str = "nS8WVsjZRfWQDrKiQuWPEg";
const MEMBER_KEY: &str = "0002676e00166e53385756736a5a5266575144724b69517557504567";
const TOPIC: TopicId = TopicId(0x2bcf_4d45_0d33_4b26_a189_8b55_094d_f583);

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn record_of(record: &Record) -> Encoded {
    let Written::Record(encoded) = encode(record) else { panic!("{record:?} is no record of its own") };
    encoded
}

fn check(record: &Record, key: &str, value: &str) {
    let encoded = record_of(record);
    assert_eq!(hex(&encoded.key), key);
    assert_eq!(hex(&encoded.value.expect("a value")), value);
}

fn group() -> GroupId {
    GroupId::from("gn")
}

fn member() -> MemberId {
    MemberId::from(MEMBER)
}

#[test]
fn the_epoch_of_a_group() {
    let value = GroupEpoch { epoch: 2, metadata_hash: 0x5a26_7460_bfcc_c0c6 };
    let record = Record::ConsumerGroupMetadata { group: group(), value: Some(value) };
    check(&record, "00030002676e", "0000000000020100085a267460bfccc0c6");
    let value = GroupEpoch { epoch: 3, metadata_hash: 0 };
    let record = Record::ConsumerGroupMetadata { group: group(), value: Some(value) };
    check(&record, "00030002676e", "00000000000300");
}

#[test]
fn a_member_of_a_consumer_group() {
    let value = ConsumerMemberMetadata {
        client_id: "console-consumer".into(),
        client_host: "/127.0.0.1".into(),
        topics: [TopicName::from("ot")].into(),
        rebalance_timeout_ms: 300_000,
        ..ConsumerMemberMetadata::default()
    };
    let record = |value: &ConsumerMemberMetadata| Record::ConsumerGroupMemberMetadata {
        group: group(),
        member: member(),
        value: Some(Arc::new(value.clone())),
    };
    let key = format!("0005{MEMBER_KEY}");
    let common = "0000000011636f6e736f6c652d636f6e73756d65720b2f3132372e302e302e3102036f7401000493e000";
    check(&record(&value), &key, &format!("{common}01000100"));

    let range = b"\0\x03\0\0\0\x01\0\x02ot\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff\xff\xff\0\0";
    let sticky = b"\0\x03\0\0\0\x01\0\x02ot\0\0\0\x04\xff\xff\xff\xff\0\0\0\0\xff\xff\xff\xff\xff\xff\0\0";
    let protocols: Arc<[ClassicProtocol]> = Arc::from([
        ("range".into(), Arc::from(&range[..24])),
        ("cooperative-sticky".into(), Arc::from(&sticky[..28])),
    ]);
    let classic = Some(ClassicMemberMetadata { session_timeout_ms: 45_000, protocols });
    check(
        &record(&ConsumerMemberMetadata { classic, ..value }),
        &key,
        &format!(
            "{common}010058010000afc8030672616e67651900030000000100026f74ffffffff00000000ffffffffffff0013636f6f70\
             657261746976652d737469636b791d00030000000100026f7400000004ffffffff00000000ffffffffffff0000"
        ),
    );
}

#[test]
fn the_assignment_of_a_member() {
    let assignment = MemberAssignment::from_iter([(TOPIC, 0), (TOPIC, 1)]);
    let record = Record::ConsumerGroupTargetAssignmentMember {
        group: group(),
        member: member(),
        value: Some(assignment),
    };
    let key = format!("0007{MEMBER_KEY}");
    check(&record, &key, "0000022bcf4d450d334b26a1898b55094df5830300000000000000010000");
    let owned =
        |partition| OwnedPartition { partition: TopicPartition { topic: TOPIC, partition }, since_epoch: 2 };
    let current = CurrentAssignment {
        epoch: 2,
        previous_epoch: 0,
        assigned: vec![owned(0), owned(1)],
        ..CurrentAssignment::default()
    };
    let record = Record::ConsumerGroupCurrentMemberAssignment {
        group: group(),
        member: member(),
        value: Some(Box::new(current)),
    };
    check(
        &record,
        &format!("0008{MEMBER_KEY}"),
        "0000000000020000000000022bcf4d450d334b26a1898b55094df583030000000000000001010009030000000200000002\
         0100",
    );
    let target = TargetAssignmentMetadata { epoch: 2, timestamp_ms: 0x01a2_2ff2_206b };
    let record = Record::ConsumerGroupTargetAssignmentMetadata { group: group(), value: Some(target) };
    check(&record, "00060002676e", "000000000002010008000001a22ff2206b");
}

#[test]
fn a_committed_offset() {
    let offset = CommittedOffset {
        offset: 20,
        leader_epoch: Some(0),
        metadata: "".into(),
        commit_timestamp_ms: 0x01a2_2ff2_21ff,
        expire_timestamp_ms: None,
        topic_id: TOPIC,
    };
    let record = |value| Record::OffsetCommit {
        group: group(),
        topic: TopicName::from("ot"),
        partition: 0,
        value: Some(value),
    };
    let key = "00010002676e00026f7400000000";
    let value = "000400000000000000140000000001000001a22ff221ff0100102bcf4d450d334b26a1898b55094df583";
    check(&record(offset.clone()), key, value);
    let pending = Record::TxnOffsetCommit {
        group: group(),
        topic: TopicName::from("ot"),
        partition: 0,
        producer_id: 9,
        value: offset.clone(),
    };
    let same = record_of(&record(offset.clone()));
    assert_eq!(encode(&pending), Written::Pending { producer_id: 9, record: same });
    let end = Record::EndTxnMarker { producer_id: 9, committed: true };
    assert_eq!(encode(&end), Written::End { producer_id: 9, committed: true });
    // As the schema has it: without a topic id, and with a time to expire.
    let without_id = CommittedOffset { topic_id: TopicId(0), metadata: "m".into(), ..offset };
    check(&record(without_id.clone()), key, "000300000000000000140000000000016d000001a22ff221ff");
    let expires = CommittedOffset { expire_timestamp_ms: Some(0x01a2_2ff2_2200), ..without_id };
    check(&record(expires), key, "0001000000000000001400016d000001a22ff221ff000001a22ff22200");
}

#[test]
fn a_classic_group() {
    let member = MemberMetadata {
        member: MemberId::from("m"),
        instance: Some(InstanceId::from("i")),
        client_id: "c".into(),
        client_host: "/h".into(),
        rebalance_timeout_ms: 2,
        session_timeout_ms: 3,
        subscription: [7].into(),
        assignment: [8, 9].into(),
    };
    let value = GroupMetadata {
        protocol_type: Some("consumer".into()),
        generation: 1,
        protocol_name: Some("range".into()),
        leader: Some(MemberId::from("m")),
        state_timestamp_ms: 5,
        members: vec![member],
    };
    let len = value.encoded_len();
    let record = Record::GroupMetadata { group: group(), value: Some(Box::new(value)) };
    check(
        &record,
        "00020002676e",
        "00030008636f6e73756d657200000001000572616e676500016d00000000000000050000000100016d00016900016300022f68\
         00000002000000030000000107000000020809",
    );
    // The size that decides whether it fits in a record is that of what is written.
    assert_eq!(record_of(&record).value.map(|value| value.len()), Some(len));
}

#[test]
fn tombstones_have_keys_only() {
    let regex = Record::ConsumerGroupRegularExpression { group: group(), regex: "a.*".into(), value: None };
    assert_eq!(hex(&record_of(&regex).key), "00100002676e0003612e2a");
    let group_metadata = Record::GroupMetadata { group: group(), value: None };
    assert_eq!(hex(&record_of(&group_metadata).key), "00020002676e");
    for record in [regex, group_metadata] {
        assert_eq!(record_of(&record).value, None);
    }
    let resolved = ResolvedRegex { topics: [TopicName::from("ab")].into(), version: 5, timestamp_ms: 6 };
    let record =
        Record::ConsumerGroupRegularExpression { group: group(), regex: "a.*".into(), value: Some(resolved) };
    check(&record, "00100002676e0003612e2a", "0000020361620000000000000005000000000000000600");
}
