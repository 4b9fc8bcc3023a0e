//! DescribeAcls (key 29), versions 1–3. There is no authorizer: SECURITY_DISABLED.

use kafka_protocol::ResponseError;
use kafka_protocol::messages::{DescribeAclsRequest, DescribeAclsResponse};
use kafka_protocol::protocol::StrBytes;

use super::{Outcome, acls};

const NO_AUTHORIZER: &str = "No Authorizer is configured on the broker";

pub(super) fn handle(request: &DescribeAclsRequest) -> Outcome<DescribeAclsResponse> {
    let codes = [
        request.resource_type_filter,
        request.pattern_type_filter,
        request.operation,
        request.permission_type,
    ];
    if let Some(reason) = acls::unknown_element(codes) {
        return Outcome::Close(reason);
    }
    let response = DescribeAclsResponse::default()
        .with_error_code(ResponseError::SecurityDisabled.code())
        .with_error_message(Some(StrBytes::from_static_str(NO_AUTHORIZER)));
    Outcome::Reply(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::testing::Broker;

    #[test]
    fn every_version_says_that_security_is_disabled() {
        for version in 1..=3 {
            let request = DescribeAclsRequest::default()
                .with_resource_type_filter(1)
                .with_pattern_type_filter(1)
                .with_operation(99)
                .with_permission_type(1);
            let answer = Broker::with(&[]).call(version, &request, |_, _, request| handle(request));
            assert_eq!((answer.error_code, answer.error_message.as_deref()), (54, Some(NO_AUTHORIZER)));
            assert!(answer.resources.is_empty());
            assert!(matches!(handle(&request.with_operation(0)), Outcome::Close(_)));
        }
    }
}
