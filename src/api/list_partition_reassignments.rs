//! ListPartitionReassignments (key 46), version 0. With one broker no reassignment takes any time (see
//! `alter_partition_reassignments`), so that none is ever under way.

use kafka_protocol::messages::{ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse};

use super::Outcome;

/// Partitions that are not being reassigned, or do not exist, are left out.
pub(super) fn handle(_: &ListPartitionReassignmentsRequest) -> Outcome<ListPartitionReassignmentsResponse> {
    Outcome::Reply(ListPartitionReassignmentsResponse::default().with_error_message(None))
}

#[cfg(test)]
mod tests {
    use kafka_protocol::messages::list_partition_reassignments_request::ListPartitionReassignmentsTopics;

    use super::*;
    use crate::api::testing::Broker;

    #[test]
    fn nothing_is_under_way() {
        let topics = vec![ListPartitionReassignmentsTopics::default().with_partition_indexes(vec![0])];
        for topics in [None, Some(vec![]), Some(topics)] {
            let request = ListPartitionReassignmentsRequest::default().with_topics(topics);
            let answer = Broker::with(&[]).call(0, &request, |_, _, request| handle(request));
            assert_eq!((answer.error_code, answer.error_message, answer.topics), (0, None, vec![]));
        }
    }
}
