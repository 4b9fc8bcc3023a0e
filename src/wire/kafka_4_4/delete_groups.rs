//! DeleteGroups (key 42), versions 0–3. 3: an error message a group.

use super::prelude::*;

message! {
    /// Deletes groups.
    DeleteGroupsRequest {
        groups_names: Vec<StrBytes> [0+],
    }

    /// The outcome, group by group.
    DeleteGroupsResponse {
        throttle_time_ms: i32 [0+],
        results: Vec<DeletableGroupResult> [0+],
    }

    /// The outcome for one group.
    DeletableGroupResult {
        group_id: StrBytes [0+],
        error_code: i16 [0+],
        error_message: Option<StrBytes> [3+],
    }
}

api! {
    key 42, versions 0 to 3, flexible 2,
    DeleteGroupsRequest, DeleteGroupsResponse with header 0 or 1
}
