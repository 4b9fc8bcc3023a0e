//! Manual replica assignments in CreateTopics and CreatePartitions (Kafka's `validateManualPartitionAssignment`).

use kafka_protocol::ResponseError;
use kafka_protocol::messages::BrokerId;

use super::api_error::ApiError;

/// Whether the replicas of one partition can be placed as the client says. `node_id` is the only broker, so that what
/// is accepted is `[node_id]`.
///
/// # Errors
/// INVALID_REPLICA_ASSIGNMENT.
pub(super) fn check(replicas: &[BrokerId], node_id: i32) -> Result<(), ApiError> {
    if replicas.is_empty() {
        return Err(invalid("The manual partition assignment includes an empty replica list."));
    }
    let mut sorted: Vec<i32> = replicas.iter().map(|replica| replica.0).collect();
    sorted.sort_unstable();
    let mut previous = None;
    for broker in sorted {
        if broker != node_id {
            return Err(invalid(format!(
                "The manual partition assignment includes broker {broker}, but no such broker is registered."
            )));
        }
        if previous == Some(broker) {
            return Err(invalid(format!(
                "The manual partition assignment includes the broker {broker} more than once."
            )));
        }
        previous = Some(broker);
    }
    Ok(())
}

/// INVALID_REPLICA_ASSIGNMENT.
pub(super) fn invalid(text: impl Into<String>) -> ApiError {
    ApiError::new(ResponseError::InvalidReplicaAssignment, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_broker_alone_is_accepted() {
        let text = |replicas: &[i32]| {
            let replicas: Vec<_> = replicas.iter().map(|&id| BrokerId(id)).collect();
            check(&replicas, 1).map_err(|error| error.message().unwrap().to_string())
        };
        assert_eq!(text(&[1]), Ok(()));
        for (replicas, refusal) in [
            (&[][..], "The manual partition assignment includes an empty replica list."),
            (&[1, 7], "The manual partition assignment includes broker 7, but no such broker is registered."),
            (
                &[1, -1],
                "The manual partition assignment includes broker -1, but no such broker is registered.",
            ),
            (&[1, 1], "The manual partition assignment includes the broker 1 more than once."),
        ] {
            assert_eq!(text(replicas), Err(refusal.to_owned()));
        }
    }
}
