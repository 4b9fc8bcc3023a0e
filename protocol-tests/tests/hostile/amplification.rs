//! Requests whose answers, or whose handling, take many times what they take themselves.

use bytes::Bytes;
use kafka_protocol::messages as m;
use kafka_protocol::protocol::Request;
use protocol_tests::peer::frame;
use protocol_tests::requests::text;
use rallypoint::limits::REQUEST_ELEMENTS_MAX;
use uuid::Uuid;

use crate::frames::is_served;
use crate::{MIB, attack};

/// As many elements as a request may have, less those that hold them.
const MANY: usize = REQUEST_ELEMENTS_MAX - 10;

fn whole<R: Request>(version: i16, request: &R) -> Vec<u8> {
    frame("test", 1, version, request)
}

/// For each API whose request has arrays: one with as many elements as it may have, each as short as it may be and, where
/// that makes a difference, each another one.
fn largest_requests() -> Vec<(&'static str, Vec<u8>)> {
    let name = |n: usize| m::TopicName(text(&format!("topic-that-is-unknown-{n}")));
    let group = |n: usize| m::GroupId(text(&format!("group-that-is-unknown-{n}")));
    let indexes = || (0..MANY).map(|n| n as i32);
    vec![
        ("Metadata by name", {
            use m::metadata_request::MetadataRequestTopic as Topic;
            let topics = (0..MANY).map(|n| Topic::default().with_name(Some(name(n))));
            whole(12, &m::MetadataRequest::default().with_topics(Some(topics.collect())))
        }),
        ("Metadata by long names", {
            use m::metadata_request::MetadataRequestTopic as Topic;
            let name = |n: usize| m::TopicName(text(&format!("{n}{}", "x".repeat(300))));
            let topics = (0..MANY).map(|n| Topic::default().with_name(Some(name(n))));
            whole(12, &m::MetadataRequest::default().with_topics(Some(topics.collect())))
        }),
        ("Metadata by id", {
            use m::metadata_request::MetadataRequestTopic as Topic;
            let topics = (0..MANY).map(|n| {
                Topic::default().with_name(None).with_topic_id(Uuid::from_u128(1 << 64 | n as u128))
            });
            whole(12, &m::MetadataRequest::default().with_topics(Some(topics.collect())))
        }),
        ("Produce", {
            use m::produce_request::{PartitionProduceData, TopicProduceData};
            let partitions = indexes()
                .map(|n| PartitionProduceData::default().with_index(n).with_records(Some(Bytes::new())));
            let topic =
                TopicProduceData::default().with_name(name(0)).with_partition_data(partitions.collect());
            whole(9, &m::ProduceRequest::default().with_acks(1).with_topic_data(vec![topic]))
        }),
        ("Fetch", {
            use m::fetch_request::{FetchPartition, FetchTopic};
            let partitions = indexes().map(|n| FetchPartition::default().with_partition(n));
            let topic = FetchTopic::default().with_topic(name(0)).with_partitions(partitions.collect());
            whole(11, &m::FetchRequest::default().with_session_epoch(-1).with_topics(vec![topic]))
        }),
        ("ListOffsets", {
            use m::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
            let partitions = indexes().map(|n| ListOffsetsPartition::default().with_partition_index(n));
            let topic = ListOffsetsTopic::default().with_name(name(0)).with_partitions(partitions.collect());
            whole(6, &m::ListOffsetsRequest::default().with_topics(vec![topic]))
        }),
        ("OffsetCommit", {
            use m::offset_commit_request::{OffsetCommitRequestPartition, OffsetCommitRequestTopic};
            let partitions =
                indexes().map(|n| OffsetCommitRequestPartition::default().with_partition_index(n));
            let topic =
                OffsetCommitRequestTopic::default().with_name(name(0)).with_partitions(partitions.collect());
            let request = m::OffsetCommitRequest::default()
                .with_group_id(group(0))
                .with_generation_id_or_member_epoch(-1);
            whole(8, &request.with_topics(vec![topic]))
        }),
        ("OffsetFetch", {
            use m::offset_fetch_request::{OffsetFetchRequestGroup, OffsetFetchRequestTopics};
            let topic = OffsetFetchRequestTopics::default()
                .with_name(name(0))
                .with_partition_indexes(indexes().collect());
            let group =
                OffsetFetchRequestGroup::default().with_group_id(group(0)).with_topics(Some(vec![topic]));
            whole(9, &m::OffsetFetchRequest::default().with_groups(vec![group]))
        }),
        ("OffsetFetch of groups", {
            use m::offset_fetch_request::OffsetFetchRequestGroup;
            let groups = (0..MANY)
                .map(|n| OffsetFetchRequestGroup::default().with_group_id(group(n)).with_topics(None));
            whole(9, &m::OffsetFetchRequest::default().with_groups(groups.collect()))
        }),
        ("FindCoordinator", {
            let keys = (0..MANY).map(|n| text(&format!("{n}")));
            whole(4, &m::FindCoordinatorRequest::default().with_coordinator_keys(keys.collect()))
        }),
        ("LeaveGroup", {
            use m::leave_group_request::MemberIdentity;
            let members = (0..MANY).map(|n| MemberIdentity::default().with_member_id(text(&format!("m{n}"))));
            whole(4, &m::LeaveGroupRequest::default().with_group_id(group(0)).with_members(members.collect()))
        }),
        ("SyncGroup", {
            use m::sync_group_request::SyncGroupRequestAssignment;
            let assignments = (0..MANY)
                .map(|n| SyncGroupRequestAssignment::default().with_member_id(text(&format!("m{n}"))));
            let request = m::SyncGroupRequest::default()
                .with_group_id(group(0))
                .with_assignments(assignments.collect());
            whole(4, &request)
        }),
        ("DescribeGroups", {
            whole(5, &m::DescribeGroupsRequest::default().with_groups((0..MANY).map(group).collect()))
        }),
        ("ListGroups", {
            let states = (0..MANY).map(|n| text(&format!("state-{n}")));
            whole(4, &m::ListGroupsRequest::default().with_states_filter(states.collect()))
        }),
        ("CreateTopics", {
            use m::create_topics_request::CreatableTopic;
            let topics =
                (0..MANY).map(|n| CreatableTopic::default().with_name(name(n)).with_num_partitions(1));
            whole(5, &m::CreateTopicsRequest::default().with_topics(topics.collect()))
        }),
        ("DeleteTopics", {
            whole(5, &m::DeleteTopicsRequest::default().with_topic_names((0..MANY).map(name).collect()))
        }),
        ("DeleteRecords", {
            use m::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
            let partitions = indexes().map(|n| DeleteRecordsPartition::default().with_partition_index(n));
            let topic =
                DeleteRecordsTopic::default().with_name(name(0)).with_partitions(partitions.collect());
            whole(2, &m::DeleteRecordsRequest::default().with_topics(vec![topic]))
        }),
        ("OffsetForLeaderEpoch", {
            use m::offset_for_leader_epoch_request::{OffsetForLeaderPartition, OffsetForLeaderTopic};
            let partitions = indexes().map(|n| OffsetForLeaderPartition::default().with_partition(n));
            let topic =
                OffsetForLeaderTopic::default().with_topic(name(0)).with_partitions(partitions.collect());
            whole(4, &m::OffsetForLeaderEpochRequest::default().with_topics(vec![topic]))
        }),
        ("DescribeConfigs", {
            use m::describe_configs_request::DescribeConfigsResource as Resource;
            let resources = (0..MANY).map(|n| {
                Resource::default().with_resource_type(2).with_resource_name(text(&format!("topic-{n}")))
            });
            whole(4, &m::DescribeConfigsRequest::default().with_resources(resources.collect()))
        }),
        ("IncrementalAlterConfigs", {
            use m::incremental_alter_configs_request::AlterConfigsResource as Resource;
            let resources = (0..MANY).map(|n| {
                Resource::default().with_resource_type(2).with_resource_name(text(&format!("topic-{n}")))
            });
            whole(1, &m::IncrementalAlterConfigsRequest::default().with_resources(resources.collect()))
        }),
        ("CreatePartitions", {
            use m::create_partitions_request::CreatePartitionsTopic;
            let topics = (0..MANY).map(|n| CreatePartitionsTopic::default().with_name(name(n)).with_count(2));
            whole(3, &m::CreatePartitionsRequest::default().with_topics(topics.collect()))
        }),
        ("DeleteGroups", {
            whole(2, &m::DeleteGroupsRequest::default().with_groups_names((0..MANY).map(group).collect()))
        }),
        ("ElectLeaders", {
            use m::elect_leaders_request::TopicPartitions;
            let topic = TopicPartitions::default().with_topic(name(0)).with_partitions(indexes().collect());
            whole(2, &m::ElectLeadersRequest::default().with_topic_partitions(Some(vec![topic])))
        }),
        ("AlterPartitionReassignments", {
            use m::alter_partition_reassignments_request::{ReassignablePartition, ReassignableTopic};
            let partitions = indexes().map(|n| ReassignablePartition::default().with_partition_index(n));
            let topic = ReassignableTopic::default().with_name(name(0)).with_partitions(partitions.collect());
            whole(0, &m::AlterPartitionReassignmentsRequest::default().with_topics(vec![topic]))
        }),
        ("ListPartitionReassignments", {
            use m::list_partition_reassignments_request::ListPartitionReassignmentsTopics as Topic;
            let topic = Topic::default().with_name(name(0)).with_partition_indexes(indexes().collect());
            whole(0, &m::ListPartitionReassignmentsRequest::default().with_topics(Some(vec![topic])))
        }),
        ("OffsetDelete", {
            use m::offset_delete_request::{OffsetDeleteRequestPartition, OffsetDeleteRequestTopic};
            let partitions =
                indexes().map(|n| OffsetDeleteRequestPartition::default().with_partition_index(n));
            let topic =
                OffsetDeleteRequestTopic::default().with_name(name(0)).with_partitions(partitions.collect());
            whole(0, &m::OffsetDeleteRequest::default().with_group_id(group(0)).with_topics(vec![topic]))
        }),
        ("DescribeLogDirs", {
            use m::describe_log_dirs_request::DescribableLogDirTopic as Topic;
            let topic = Topic::default().with_topic(name(0)).with_partitions(indexes().collect());
            whole(4, &m::DescribeLogDirsRequest::default().with_topics(Some(vec![topic])))
        }),
        ("AlterReplicaLogDirs", {
            use m::alter_replica_log_dirs_request::{AlterReplicaLogDir, AlterReplicaLogDirTopic};
            let topic =
                AlterReplicaLogDirTopic::default().with_name(name(0)).with_partitions(indexes().collect());
            let dir = AlterReplicaLogDir::default().with_path(text("/tmp")).with_topics(vec![topic]);
            whole(2, &m::AlterReplicaLogDirsRequest::default().with_dirs(vec![dir]))
        }),
        ("ConsumerGroupDescribe", {
            whole(
                1,
                &m::ConsumerGroupDescribeRequest::default().with_group_ids((0..MANY).map(group).collect()),
            )
        }),
        ("DescribeTopicPartitions", {
            use m::describe_topic_partitions_request::TopicRequest;
            let topics = (0..MANY).map(|n| TopicRequest::default().with_name(name(n)));
            whole(
                0,
                &m::DescribeTopicPartitionsRequest::default()
                    .with_topics(topics.collect())
                    .with_response_partition_limit(2_000),
            )
        }),
    ]
}

#[test]
fn no_request_takes_more_than_its_share() {
    for (name, request) in largest_requests() {
        let damage = attack(&format!("the largest {name}, {} KiB", request.len() >> 10), &[], |victim| {
            let mut peer = victim.connect();
            peer.send_bytes(&request).expect("the server reads");
            // It is answered, or the connection is closed.
            let _ = peer.receive_frame();
            is_served(&mut victim.connect());
        });
        assert!(damage.growth_bytes <= 320 * MIB, "{name}: {damage:?}");
    }
}
