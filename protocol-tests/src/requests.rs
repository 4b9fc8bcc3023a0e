//! The requests that tests send most.

use std::io;

use bytes::Bytes;
use kafka_protocol::messages::join_group_request::JoinGroupRequestProtocol;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::offset_commit_request::{
    OffsetCommitRequestPartition, OffsetCommitRequestTopic,
};
use kafka_protocol::messages::{
    ConsumerGroupHeartbeatRequest, GroupId, HeartbeatRequest, JoinGroupRequest, JoinGroupResponse,
    MetadataRequest, OffsetCommitRequest, SyncGroupRequest, TopicName,
};
use kafka_protocol::protocol::StrBytes;

use crate::peer::Peer;

/// A string of the wire.
#[must_use]
pub fn text(text: &str) -> StrBytes {
    StrBytes::from(text.to_owned())
}

/// A join; with a version before 4 it is not sent back for a member id.
#[must_use]
pub fn join(group: &str, member: &str, metadata: &[u8]) -> JoinGroupRequest {
    let protocol = JoinGroupRequestProtocol::default()
        .with_name(StrBytes::from_static_str("range"))
        .with_metadata(Bytes::copy_from_slice(metadata));
    JoinGroupRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_member_id(text(member))
        .with_session_timeout_ms(1_800_000)
        .with_rebalance_timeout_ms(1_800_000)
        .with_protocol_type(StrBytes::from_static_str("consumer"))
        .with_protocols(vec![protocol])
}

/// Makes the peer the one member of a group; its member id. The generation is 1.
///
/// # Errors
/// As the socket.
pub fn join_alone(peer: &mut Peer, group: &str) -> io::Result<String> {
    let joined = peer.call(3, &join(group, "", b""))?;
    assert_eq!(joined.error_code, 0);
    assert_eq!(peer.call(3, &sync(group, &joined))?.error_code, 0);
    Ok(joined.member_id.to_string())
}

/// What a member without others sends after it has joined.
#[must_use]
pub fn sync(group: &str, joined: &JoinGroupResponse) -> SyncGroupRequest {
    SyncGroupRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id(joined.generation_id)
        .with_member_id(joined.member_id.clone())
}

/// A heartbeat.
#[must_use]
pub fn heartbeat(group: &str, member: &str, generation: i32) -> HeartbeatRequest {
    HeartbeatRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id(generation)
        .with_member_id(text(member))
}

/// A commit of a simple consumer, for partitions of one topic.
#[must_use]
pub fn commit(
    group: &str,
    topic: &str,
    partitions: impl Iterator<Item = i32>,
    metadata: &str,
) -> OffsetCommitRequest {
    let partition = |index| {
        OffsetCommitRequestPartition::default()
            .with_partition_index(index)
            .with_committed_offset(1)
            .with_committed_metadata(Some(text(metadata)))
    };
    let topic = OffsetCommitRequestTopic::default()
        .with_name(TopicName(text(topic)))
        .with_partitions(partitions.map(partition).collect());
    OffsetCommitRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_generation_id_or_member_epoch(-1)
        .with_topics(vec![topic])
}

/// Asks for topics, and has them made.
#[must_use]
pub fn metadata<'a>(names: impl Iterator<Item = &'a str>) -> MetadataRequest {
    let topic = |name| MetadataRequestTopic::default().with_name(Some(TopicName(text(name))));
    MetadataRequest::default()
        .with_topics(Some(names.map(topic).collect()))
        .with_allow_auto_topic_creation(true)
}

/// The first heartbeat of a member of a consumer group that names its topics.
#[must_use]
pub fn subscribe<'a>(
    group: &str,
    member: &str,
    topics: impl Iterator<Item = &'a str>,
) -> ConsumerGroupHeartbeatRequest {
    consume(group, member, 0)
        .with_subscribed_topic_names(Some(topics.map(|topic| TopicName(text(topic))).collect()))
}

/// The same with a regular expression.
#[must_use]
pub fn subscribe_to_pattern(group: &str, member: &str, regex: &str) -> ConsumerGroupHeartbeatRequest {
    consume(group, member, 0).with_subscribed_topic_regex(Some(text(regex)))
}

/// A heartbeat of a member of a consumer group that owns nothing.
#[must_use]
pub fn consume(group: &str, member: &str, epoch: i32) -> ConsumerGroupHeartbeatRequest {
    ConsumerGroupHeartbeatRequest::default()
        .with_group_id(GroupId(text(group)))
        .with_member_id(text(member))
        .with_member_epoch(epoch)
        .with_rebalance_timeout_ms(300_000)
        .with_topic_partitions(Some(Vec::new()))
}
