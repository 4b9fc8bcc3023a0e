//! DeleteAcls (key 31), versions 1–3. There is no authorizer: SECURITY_DISABLED for each filter.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::delete_acls_response::DeleteAclsFilterResult;
use kafka_protocol::messages::{DeleteAclsRequest, DeleteAclsResponse};
use kafka_protocol::protocol::StrBytes;

use super::{Outcome, acls};

pub(super) fn handle(request: &DeleteAclsRequest) -> Outcome<DeleteAclsResponse> {
    let unknown = request.filters.iter().find_map(|filter| {
        let kinds = [filter.resource_type_filter, filter.pattern_type_filter];
        acls::unknown_element([kinds[0], kinds[1], filter.operation, filter.permission_type])
    });
    if let Some(reason) = unknown {
        return Outcome::Close(reason);
    }
    let refused = DeleteAclsFilterResult::default()
        .with_error_code(ResponseError::SecurityDisabled.code())
        .with_error_message(Some(StrBytes::from_static_str(acls::NO_AUTHORIZER)));
    let results = vec![refused; request.filters.len()];
    Outcome::Reply(DeleteAclsResponse::default().with_filter_results(results))
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::delete_acls_request::DeleteAclsFilter;

    use super::*;
    use crate::api::testing::Broker;

    #[test]
    fn every_version_refuses_each_filter() {
        for version in 1..=3 {
            let filter = DeleteAclsFilter::default()
                .with_resource_type_filter(1)
                .with_pattern_type_filter(1)
                .with_operation(1)
                .with_permission_type(1);
            let unknown = filter.clone().with_resource_type_filter(0);
            for count in [0, 2] {
                let request = DeleteAclsRequest::default().with_filters(vec![filter.clone(); count]);
                let answer = Broker::with(&[]).call(version, &request, |_, _, request| handle(request));
                let results: Vec<_> = answer
                    .filter_results
                    .iter()
                    .map(|r| (r.error_code, r.error_message.as_deref()))
                    .collect();
                assert_eq!(results, vec![(54, Some("No Authorizer is configured.")); count]);
                assert!(answer.filter_results.iter().all(|result| result.matching_acls.is_empty()));
            }
            let request = DeleteAclsRequest::default().with_filters(vec![filter, unknown]);
            assert!(matches!(handle(&request), Outcome::Close(_)));
        }
    }
}
