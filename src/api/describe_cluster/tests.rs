use super::*;
use crate::api::testing::Broker;

#[test]
fn every_version_tells_of_this_broker() {
    let broker = Broker::with(&[("broker.rack", "r1")]);
    for version in 0..=2 {
        for ask in [false, true] {
            let request = DescribeClusterRequest::default()
                .with_include_cluster_authorized_operations(ask)
                .with_include_fenced_brokers(version >= 2);
            let answer = broker.call(version, &request, handle);
            assert_eq!((answer.error_code, &answer.error_message), (0, &None));
            assert_eq!((answer.endpoint_type, answer.controller_id), (BROKER, BrokerId(1)));
            assert_eq!(answer.cluster_id.as_str(), broker.services.config.cluster_id);
            assert_eq!(answer.cluster_authorized_operations, if ask { 8096 } else { i32::MIN });
            let [node] = &*answer.brokers else { panic!("one broker") };
            assert_eq!((node.broker_id, node.host.as_str(), node.port), (BrokerId(1), "127.0.0.1", 9092));
            assert_eq!((node.rack.as_deref(), node.is_fenced), (Some("r1"), false));
        }
    }
}

#[test]
fn only_the_endpoint_of_a_broker_is_here() {
    let broker = Broker::with(&[]);
    for version in [1, 2] {
        for (endpoint_type, error, text) in [
            (
                CONTROLLER,
                ResponseError::MismatchedEndpointType,
                "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type CONTROLLER",
            ),
            (0, ResponseError::UnsupportedEndpointType, "Unsupported endpoint type 0"),
            (-1, ResponseError::UnsupportedEndpointType, "Unsupported endpoint type -1"),
        ] {
            let request = DescribeClusterRequest::default().with_endpoint_type(endpoint_type);
            let answer = broker.call(version, &request, handle);
            assert_eq!((answer.error_code, answer.error_message.as_deref()), (error.code(), Some(text)));
            assert_eq!((answer.cluster_id.as_str(), answer.controller_id), ("", BrokerId(-1)));
            assert!(answer.brokers.is_empty());
        }
    }
}
