//! What DescribeAcls, CreateAcls and DeleteAcls share: there is no authorizer, so that each is refused.

/// What an enum of Kafka's ACLs is if a client sends 0. Kafka closes the connection then; other codes that mean
/// nothing are let through.
const UNKNOWN: i8 = 0;

/// Why a connection is closed, if one of the codes says that the client does not know what it wants.
pub(super) fn unknown_element(codes: [i8; 4]) -> Option<&'static str> {
    codes.contains(&UNKNOWN).then_some("an ACL or a filter of ACLs has an element that is UNKNOWN")
}

/// What changes are refused with.
pub(super) const NO_AUTHORIZER: &str = "No Authorizer is configured.";
