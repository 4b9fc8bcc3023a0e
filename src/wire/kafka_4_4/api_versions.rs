//! ApiVersions (key 18), versions 0–5. 3: client software, features (KIP-511, KIP-584).
//! 4: features from version 0 (KIP-1022). 5: cluster and node meant (KIP-1242).
//!
//! The response header is never flexible: a client reads it before it knows the versions.

use super::prelude::*;

message! {
    /// Asks what the broker serves.
    ApiVersionsRequest {
        client_software_name: StrBytes [3+],
        client_software_version: StrBytes [3+],
        /// The cluster that the client means to reach, if it knows.
        cluster_id: Option<StrBytes> [5+],
        /// The broker that the client means to reach, −1 if it does not know.
        node_id: i32 [5+] = -1,
    }

    /// What the broker serves.
    ApiVersionsResponse {
        error_code: i16 [0+],
        api_keys: Vec<ApiVersion> [0+],
        throttle_time_ms: i32 [1+],
        supported_features: Vec<SupportedFeatureKey> [3+ tag 0],
        finalized_features_epoch: i64 [3+ tag 1] = -1,
        finalized_features: Vec<FinalizedFeatureKey> [3+ tag 2],
        zk_migration_ready: bool [3+ tag 3],
    }

    /// The versions of one API.
    ApiVersion {
        api_key: i16 [0+],
        min_version: i16 [0+],
        max_version: i16 [0+],
    }

    /// A feature that the broker knows.
    SupportedFeatureKey {
        name: StrBytes [3+],
        min_version: i16 [3+],
        max_version: i16 [3+],
    }

    /// A feature that the cluster has switched on.
    FinalizedFeatureKey {
        name: StrBytes [3+],
        max_version_level: i16 [3+],
        min_version_level: i16 [3+],
    }
}

api! {
    key 18, versions 0 to 5, flexible 3,
    ApiVersionsRequest, ApiVersionsResponse with header 0 or 0
}
