//! ApiVersions (key 18), versions 0–5. 3: the client's software (KIP-511), features (KIP-584).
//! 4: features that begin at version 0. 5: the cluster and the broker that the client means (KIP-1242).

use kafka_protocol::ResponseError;
use kafka_protocol::protocol::StrBytes;

use super::feature::features;
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
