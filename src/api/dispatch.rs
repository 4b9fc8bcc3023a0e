//! From the key of a request to its handler, and from what comes later to the answer.

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages as kafka;
use kafka_protocol::protocol::{Encodable, HeaderVersion, Request};

use super::{Context, Delivery, Outcome, Parked};
use super::{
    add_offsets_to_txn, add_partitions_to_txn, alter_client_quotas, alter_configs,
    alter_partition_reassignments, alter_replica_log_dirs, alter_user_scram_credentials, api_versions,
    consumer_group_describe, consumer_group_heartbeat, create_acls, create_delegation_token,
    create_partitions, create_topics, delete_acls, delete_groups, delete_records, delete_topics,
    describe_acls, describe_client_quotas, describe_cluster, describe_configs, describe_delegation_token,
    describe_groups, describe_log_dirs, describe_producers, describe_quorum, describe_topic_partitions,
    describe_transactions, describe_user_scram_credentials, elect_leaders, end_txn, expire_delegation_token,
    fetch, find_coordinator, heartbeat, incremental_alter_configs, init_producer_id, join_group, leave_group,
    list_config_resources, list_groups, list_offsets, list_partition_reassignments, list_transactions,
    metadata, offset_commit, offset_delete, offset_fetch, offset_for_leader_epoch, produce,
    renew_delegation_token, sasl_authenticate, sasl_handshake, sync_group, txn_offset_commit,
    unregister_broker, update_features, write_txn_markers,
};
use crate::limits::{LONG_COPY_BYTES_MIN, LONG_REQUEST_BYTES_MIN};
use crate::wire::request::Header;
use crate::wire::{WireError, kafka_4_4, request, response};

/// What became of a request.
#[derive(Debug)]
pub enum Dispatched {
    /// The response frame is in the buffer.
    Written,
    /// Nothing is to be sent.
    Silent,
    /// The response comes later: see [`resume`].
    Parked(Pending),
}

/// A parked request: what its response needs besides the delivery.
#[derive(Debug)]
pub struct Pending {
    correlation_id: i32,
    version: i16,
    parked: Parked,
}

/// Whether a request of so many bytes may take longer than a turn of a connection.
#[must_use]
pub const fn may_take_long(key: i16, bytes: usize) -> bool {
    match key {
        // Produce, JoinGroup, SyncGroup: what is large in them is copied, and not looked at one by one.
        0 | 11 | 14 => bytes > LONG_COPY_BYTES_MIN,
        // Fetch, ListOffsets, OffsetCommit, FindCoordinator, Heartbeat, LeaveGroup, ApiVersions, what belongs to
        // transactions, and ConsumerGroupHeartbeat.
        1 | 2 | 8 | 10 | 12 | 13 | 18 | 22..=28 | 68 => bytes > LONG_REQUEST_BYTES_MIN,
        // Clients ask for anything else when they start, and it may be about all there is.
        _ => true,
    }
}

/// Answers a request into `out`, or says why there is no answer yet.
///
/// # Errors
/// What Kafka answers by closing the connection.
pub fn dispatch(
    ctx: &Context<'_>,
    header: &Header,
    body: Bytes,
    out: &mut BytesMut,
) -> Result<Dispatched, WireError> {
    let mut call = Call { ctx, header, body, out };
    let v = header.version;
    match header.api.key {
        0 => call.run(|ctx, r: kafka::ProduceRequest| produce::handle(ctx, v, &r)),
        1 => call.run(|ctx, r: kafka::FetchRequest| fetch::handle(ctx, v, &r)),
        2 => call.run(|ctx, r: kafka_4_4::ListOffsetsRequest| list_offsets::handle(ctx, v, &r)),
        3 => call.run(|ctx, r: kafka::MetadataRequest| metadata::handle(ctx, v, &r)),
        8 => call.run(|ctx, r: kafka_4_4::OffsetCommitRequest| offset_commit::handle(ctx, v, &r)),
        9 => call.run(|ctx, r: kafka_4_4::OffsetFetchRequest| offset_fetch::handle(ctx, v, &r)),
        10 => call.run(|ctx, r: kafka::FindCoordinatorRequest| find_coordinator::handle(ctx, v, &r)),
        11 => call.run(|ctx, r: kafka::JoinGroupRequest| join_group::handle(ctx, v, &r)),
        12 => call.run(|ctx, r: kafka::HeartbeatRequest| heartbeat::handle(ctx, &r)),
        13 => call.run(|ctx, r: kafka::LeaveGroupRequest| leave_group::handle(ctx, v, &r)),
        14 => call.run(|ctx, r: kafka::SyncGroupRequest| sync_group::handle(ctx, v, &r)),
        15 => call.run(|ctx, r: kafka::DescribeGroupsRequest| describe_groups::handle(ctx, v, &r)),
        16 => call.run(|ctx, r: kafka::ListGroupsRequest| list_groups::handle(ctx, &r)),
        17 => call.run(|_, r: kafka::SaslHandshakeRequest| sasl_handshake::handle(&r)),
        18 if !header.is_supported() => {
            write(call.out, header.correlation_id, 0, &api_versions::unsupported_version())
        }
        18 => call.run(|ctx, r: kafka_4_4::ApiVersionsRequest| api_versions::handle(ctx, v, &r)),
        19 => call.run(|ctx, r: kafka::CreateTopicsRequest| create_topics::handle(ctx, v, &r)),
        20 => call.run(|ctx, r: kafka::DeleteTopicsRequest| delete_topics::handle(ctx, v, &r)),
        21 => call.run(|ctx, r: kafka::DeleteRecordsRequest| delete_records::handle(ctx, &r)),
        22 => call.run(|ctx, r: kafka::InitProducerIdRequest| init_producer_id::handle(ctx, v, &r)),
        23 => call.run(|ctx, r: kafka::OffsetForLeaderEpochRequest| offset_for_leader_epoch::handle(ctx, &r)),
        24 => call.run(|ctx, r: kafka::AddPartitionsToTxnRequest| add_partitions_to_txn::handle(ctx, v, &r)),
        25 => call.run(|ctx, r: kafka::AddOffsetsToTxnRequest| add_offsets_to_txn::handle(ctx, v, &r)),
        26 => call.run(|ctx, r: kafka::EndTxnRequest| end_txn::handle(ctx, v, &r)),
        27 => call.run(|ctx, r: kafka_4_4::WriteTxnMarkersRequest| write_txn_markers::handle(ctx, &r)),
        28 => call.run(|ctx, r: kafka_4_4::TxnOffsetCommitRequest| txn_offset_commit::handle(ctx, v, &r)),
        29 => call.run(|_, r: kafka::DescribeAclsRequest| describe_acls::handle(&r)),
        30 => call.run(|_, r: kafka::CreateAclsRequest| create_acls::handle(&r)),
        31 => call.run(|_, r: kafka::DeleteAclsRequest| delete_acls::handle(&r)),
        32 => call.run(|ctx, r: kafka::DescribeConfigsRequest| describe_configs::handle(ctx, &r)),
        33 => call.run(|ctx, r: kafka::AlterConfigsRequest| alter_configs::handle(ctx, &r)),
        34 => call.run(|ctx, r: kafka::AlterReplicaLogDirsRequest| alter_replica_log_dirs::handle(ctx, &r)),
        35 => call.run(|ctx, r: kafka_4_4::DescribeLogDirsRequest| describe_log_dirs::handle(ctx, &r)),
        36 => call.run(|_, r: kafka::SaslAuthenticateRequest| sasl_authenticate::handle(&r)),
        37 => call.run(|ctx, r: kafka::CreatePartitionsRequest| create_partitions::handle(ctx, &r)),
        38 => call.run(|_, r: kafka::CreateDelegationTokenRequest| create_delegation_token::handle(v, &r)),
        39 => call.run(|_, r: kafka::RenewDelegationTokenRequest| renew_delegation_token::handle(&r)),
        40 => call.run(|_, r: kafka::ExpireDelegationTokenRequest| expire_delegation_token::handle(&r)),
        41 => call.run(|_, r: kafka::DescribeDelegationTokenRequest| describe_delegation_token::handle(&r)),
        42 => call.run(|ctx, r: kafka_4_4::DeleteGroupsRequest| delete_groups::handle(ctx, &r)),
        43 => call.run(|ctx, r: kafka::ElectLeadersRequest| elect_leaders::handle(ctx, &r)),
        44 => call
            .run(|ctx, r: kafka::IncrementalAlterConfigsRequest| incremental_alter_configs::handle(ctx, &r)),
        45 => call.run(|ctx, r: kafka::AlterPartitionReassignmentsRequest| {
            alter_partition_reassignments::handle(ctx, &r)
        }),
        46 => call
            .run(|_, r: kafka::ListPartitionReassignmentsRequest| list_partition_reassignments::handle(&r)),
        47 => call.run(|ctx, r: kafka::OffsetDeleteRequest| offset_delete::handle(ctx, &r)),
        48 => call.run(|ctx, r: kafka::DescribeClientQuotasRequest| describe_client_quotas::handle(ctx, &r)),
        49 => call.run(|ctx, r: kafka::AlterClientQuotasRequest| alter_client_quotas::handle(ctx, &r)),
        50 => call.run(|ctx, r: kafka::DescribeUserScramCredentialsRequest| {
            describe_user_scram_credentials::handle(ctx, &r)
        }),
        51 => call.run(|ctx, r: kafka::AlterUserScramCredentialsRequest| {
            alter_user_scram_credentials::handle(ctx, &r)
        }),
        55 => call.run(|ctx, r: kafka::DescribeQuorumRequest| describe_quorum::handle(ctx, v, &r)),
        57 => call.run(|ctx, r: kafka::UpdateFeaturesRequest| update_features::handle(ctx, v, &r)),
        68 => call
            .run(|ctx, r: kafka::ConsumerGroupHeartbeatRequest| consumer_group_heartbeat::handle(ctx, v, &r)),
        69 => {
            call.run(|ctx, r: kafka::ConsumerGroupDescribeRequest| consumer_group_describe::handle(ctx, &r))
        }
        60 => call.run(|ctx, r: kafka::DescribeClusterRequest| describe_cluster::handle(ctx, v, &r)),
        61 => call.run(|ctx, r: kafka::DescribeProducersRequest| describe_producers::handle(ctx, &r)),
        65 => call.run(|ctx, r: kafka::DescribeTransactionsRequest| describe_transactions::handle(ctx, &r)),
        66 => call.run(|ctx, r: kafka::ListTransactionsRequest| list_transactions::handle(ctx, &r)),
        64 => call.run(|ctx, r: kafka::UnregisterBrokerRequest| unregister_broker::handle(ctx, &r)),
        74 => call.run(|ctx, r: kafka::ListConfigResourcesRequest| list_config_resources::handle(ctx, v, &r)),
        75 => call
            .run(|ctx, r: kafka::DescribeTopicPartitionsRequest| describe_topic_partitions::handle(ctx, &r)),
        key => Err(WireError::UnknownKey { key }),
    }
}

/// Answers a parked request with what came to the mailbox; a Fetch may be parked once more.
///
/// # Errors
/// A response that cannot be encoded.
pub fn resume(
    ctx: &Context<'_>,
    pending: Pending,
    delivery: Delivery,
    out: &mut BytesMut,
) -> Result<Dispatched, WireError> {
    let Pending { correlation_id, version, parked } = pending;
    match (parked, delivery) {
        (Parked::JoinGroup, Delivery::Group(reply)) => {
            write(out, correlation_id, version, &join_group::respond(version, reply))
        }
        (Parked::SyncGroup, Delivery::Group(reply)) => {
            write(out, correlation_id, version, &sync_group::respond(reply))
        }
        (Parked::Fetch(waiting), Delivery::Fetch) => match fetch::resume(ctx, *waiting) {
            Outcome::Reply(message) => write(out, correlation_id, version, &message),
            Outcome::Parked(parked) => Ok(Dispatched::Parked(Pending { correlation_id, version, parked })),
            Outcome::Silent | Outcome::Close(_) => Ok(Dispatched::Silent),
        },
        // A wake-up that was under way when the Fetch it was for had been answered already.
        (parked, _) => Ok(Dispatched::Parked(Pending { correlation_id, version, parked })),
    }
}

/// One request on its way through its handler.
struct Call<'a> {
    ctx: &'a Context<'a>,
    header: &'a Header,
    body: Bytes,
    out: &'a mut BytesMut,
}

impl Call<'_> {
    fn run<R: Request>(
        &mut self,
        handler: impl FnOnce(&Context<'_>, R) -> Outcome<R::Response>,
    ) -> Result<Dispatched, WireError> {
        let Header { version, correlation_id, .. } = *self.header;
        let request = request::decode::<R>(version, std::mem::take(&mut self.body))?;
        match handler(self.ctx, request) {
            Outcome::Reply(message) => write(self.out, correlation_id, version, &message),
            Outcome::Parked(parked) => Ok(Dispatched::Parked(Pending { correlation_id, version, parked })),
            Outcome::Silent => Ok(Dispatched::Silent),
            Outcome::Close(reason) => {
                Err(WireError::Malformed { api: self.header.api.name, version, reason: reason.to_owned() })
            }
        }
    }
}

fn write<M: Encodable + HeaderVersion>(
    out: &mut BytesMut,
    correlation_id: i32,
    version: i16,
    message: &M,
) -> Result<Dispatched, WireError> {
    response::encode(out, correlation_id, version, message)?;
    Ok(Dispatched::Written)
}
