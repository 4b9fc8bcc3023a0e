//! CreateAcls (key 30), versions 1–3. There is no authorizer: SECURITY_DISABLED for each ACL.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::create_acls_response::AclCreationResult;
use kafka_protocol::messages::{CreateAclsRequest, CreateAclsResponse};
use kafka_protocol::protocol::StrBytes;

use super::{Outcome, acls};

pub(super) fn handle(request: &CreateAclsRequest) -> Outcome<CreateAclsResponse> {
    let unknown = request.creations.iter().find_map(|acl| {
        let codes = [acl.resource_type, acl.resource_pattern_type, acl.operation, acl.permission_type];
        acls::unknown_element(codes)
    });
    if let Some(reason) = unknown {
        return Outcome::Close(reason);
    }
    let refused = AclCreationResult::default()
        .with_error_code(ResponseError::SecurityDisabled.code())
        .with_error_message(Some(StrBytes::from_static_str(acls::NO_AUTHORIZER)));
    let results = vec![refused; request.creations.len()];
    Outcome::Reply(CreateAclsResponse::default().with_results(results))
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::create_acls_request::AclCreation;

    use super::*;
    use crate::api::testing::Broker;

    #[test]
    fn every_version_refuses_each_acl() {
        for version in 1..=3 {
            let acl = AclCreation::default()
                .with_resource_type(2)
                .with_resource_pattern_type(3)
                .with_operation(3)
                .with_permission_type(3);
            let unknown = acl.clone().with_permission_type(0);
            for count in [0, 2] {
                let request = CreateAclsRequest::default().with_creations(vec![acl.clone(); count]);
                let answer = Broker::with(&[]).call(version, &request, |_, _, request| handle(request));
                let results: Vec<_> =
                    answer.results.iter().map(|r| (r.error_code, r.error_message.as_deref())).collect();
                assert_eq!(results, vec![(54, Some("No Authorizer is configured.")); count]);
            }
            let request = CreateAclsRequest::default().with_creations(vec![acl, unknown]);
            assert!(matches!(handle(&request), Outcome::Close(_)));
        }
    }
}
