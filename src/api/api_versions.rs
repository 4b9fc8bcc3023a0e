//! ApiVersions (key 18), versions 0–5. 3: the client's software (KIP-511), features (KIP-584).
//! 4: features that begin at version 0. 5: the cluster and the broker that the client means (KIP-1242).

use kafka_protocol::ResponseError;
use kafka_protocol::protocol::StrBytes;

use super::{Context, Outcome};
use crate::wire::api_table;
use crate::wire::kafka_4_4::{
    ApiVersion, ApiVersionsRequest, ApiVersionsResponse, FinalizedFeatureKey, SupportedFeatureKey,
};

/// Answers what is served, unless the client means another cluster or broker.
pub(super) fn handle(
    ctx: &Context<'_>,
    version: i16,
    request: &ApiVersionsRequest,
) -> Outcome<ApiVersionsResponse> {
    let response = match check(ctx, version, request) {
        Ok(()) => ApiVersionsResponse {
            api_keys: api_table::served().map(listed).collect(),
            supported_features: supported_features(version),
            finalized_features_epoch: FINALIZED_FEATURES_EPOCH,
            finalized_features: finalized_features(),
            ..ApiVersionsResponse::default()
        },
        Err(error) => ApiVersionsResponse { error_code: error.code(), ..ApiVersionsResponse::default() },
    };
    Outcome::Reply(response)
}

/// The answer to a version that is not served: it is sent at version 0 and says which ones are (KIP-511).
pub(super) fn unsupported_version() -> ApiVersionsResponse {
    ApiVersionsResponse {
        error_code: ResponseError::UnsupportedVersion.code(),
        api_keys: api_table::find(api_table::API_VERSIONS).map(listed).into_iter().collect(),
        ..ApiVersionsResponse::default()
    }
}

fn check(ctx: &Context<'_>, version: i16, request: &ApiVersionsRequest) -> Result<(), ResponseError> {
    let software = [&request.client_software_name, &request.client_software_version];
    if version >= 3 && !software.into_iter().all(|text| is_software_text(text)) {
        return Err(ResponseError::InvalidRequest);
    }
    match (&request.cluster_id, request.node_id) {
        (None, -1) => Ok(()),
        (None, _) | (Some(_), -1) => Err(ResponseError::InvalidRequest),
        (Some(cluster_id), node_id) => {
            let config = &ctx.services.config;
            let is_meant = cluster_id.as_str() == config.cluster_id && node_id == config.node_id;
            if is_meant { Ok(()) } else { Err(ResponseError::RebootstrapRequired) }
        }
    }
}

/// `[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?`
fn is_software_text(text: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes.iter().all(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

fn listed(api: &api_table::Api) -> ApiVersion {
    ApiVersion { api_key: api.key, min_version: api.version_listed_min(), max_version: api.version_max }
}

/// In Kafka the offset of the last feature record in the metadata log. Features do not change here, so that any
/// number ≥ 0 (known) does.
const FINALIZED_FEATURES_EPOCH: i64 = 0;

/// A feature of the cluster (Kafka's `Feature`).
struct Feature {
    name: &'static str,
    min_version: i16,
    max_version: i16,
    /// The level in force; 0 is not listed.
    level: i16,
    /// The API that the feature is about: clients take a feature as a promise that its APIs are there.
    key: Option<i16>,
}

const fn feature(
    name: &'static str,
    min_version: i16,
    max_version: i16,
    level: i16,
    key: Option<i16>,
) -> Feature {
    Feature { name, min_version, max_version, level, key }
}

/// ConsumerGroupHeartbeat.
const CONSUMER_GROUP_HEARTBEAT: i16 = 68;
/// ShareGroupHeartbeat.
const SHARE_GROUP_HEARTBEAT: i16 = 76;
/// StreamsGroupHeartbeat.
const STREAMS_GROUP_HEARTBEAT: i16 = 88;
/// AddPartitionsToTxn.
const ADD_PARTITIONS_TO_TXN: i16 = 24;

/// As a broker of Kafka 4.4 lists them.
const FEATURES: &[Feature] = &[
    feature("group.version", 0, 1, 1, Some(CONSUMER_GROUP_HEARTBEAT)),
    feature("kraft.version", 0, 1, 0, None),
    feature("metadata.version", 7, 33, 33, None),
    feature("share.version", 0, 2, 2, Some(SHARE_GROUP_HEARTBEAT)),
    feature("streams.version", 0, 1, 1, Some(STREAMS_GROUP_HEARTBEAT)),
    feature("transaction.version", 0, 2, 2, Some(ADD_PARTITIONS_TO_TXN)),
    feature("eligible.leader.replicas.version", 0, 1, 1, None),
];

// Differs from Kafka: a feature whose APIs are not served is not listed.
fn features() -> impl Iterator<Item = &'static Feature> {
    FEATURES.iter().filter(|feature| match feature.key {
        Some(key) => api_table::find(key).is_some_and(|api| api.served),
        None => true,
    })
}

fn supported_features(version: i16) -> Vec<SupportedFeatureKey> {
    // Clients of versions before 4 fail on a feature that begins at 0 (KAFKA-17011).
    let visible = features().filter(|feature| version >= 4 || feature.min_version > 0);
    visible
        .map(|feature| SupportedFeatureKey {
            name: StrBytes::from_static_str(feature.name),
            min_version: feature.min_version,
            max_version: feature.max_version,
        })
        .collect()
}

fn finalized_features() -> Vec<FinalizedFeatureKey> {
    features()
        .filter(|feature| feature.level > 0)
        .map(|feature| FinalizedFeatureKey {
            name: StrBytes::from_static_str(feature.name),
            max_version_level: feature.level,
            min_version_level: feature.level,
        })
        .collect()
}

#[cfg(test)]
mod tests;
