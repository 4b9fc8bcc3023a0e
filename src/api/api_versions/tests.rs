use super::*;
use crate::api::testing::Broker;

fn request(version: i16) -> ApiVersionsRequest {
    let mut request = ApiVersionsRequest::default();
    if version >= 3 {
        request.client_software_name = StrBytes::from_static_str("apache-kafka-java");
        request.client_software_version = StrBytes::from_static_str("4.4.0");
    }
    request
}

fn names<'a>(features: impl Iterator<Item = &'a StrBytes>) -> Vec<&'a str> {
    features.map(|name| name.as_str()).collect()
}

#[test]
fn every_version_lists_what_is_served() {
    let broker = Broker::with(&[]);
    for version in 0..=5 {
        let answer = broker.call(version, &request(version), handle);
        assert_eq!(answer.error_code, 0);
        assert!(answer.api_keys.is_sorted_by_key(|api| api.api_key));
        let served: Vec<_> = api_table::served().map(|api| api.key).collect();
        assert_eq!(answer.api_keys.iter().map(|api| api.api_key).collect::<Vec<_>>(), served);
        let produce = &answer.api_keys[0];
        assert_eq!((produce.api_key, produce.min_version, produce.max_version), (0, 0, 13));
        assert_eq!(answer.finalized_features_epoch, if version >= 3 { 0 } else { -1 });
    }
}

#[test]
fn features_are_listed_when_their_apis_are_served() {
    let broker = Broker::with(&[]);
    let supported = |version: i16| broker.call(version, &request(version), handle).supported_features;
    assert!(supported(2).is_empty());
    assert_eq!(names(supported(3).iter().map(|feature| &feature.name)), ["metadata.version"]);
    for version in [4, 5] {
        let supported = supported(version);
        let supported = names(supported.iter().map(|feature| &feature.name));
        for (name, key) in [("group.version", 68), ("share.version", 76), ("streams.version", 88)] {
            let served = api_table::find(key).unwrap().served;
            assert_eq!(supported.contains(&name), served, "{name}");
        }
        assert!(supported.contains(&"eligible.leader.replicas.version"));
        let finalized = broker.call(version, &request(version), handle).finalized_features;
        // No level of kraft.version is in force.
        let in_force: Vec<_> = supported.iter().copied().filter(|&name| name != "kraft.version").collect();
        assert_eq!(names(finalized.iter().map(|feature| &feature.name)), in_force);
        assert!(finalized.iter().all(|feature| feature.min_version_level == feature.max_version_level));
    }
}

#[test]
fn an_unsupported_version_is_told_the_supported_ones() {
    let answer = unsupported_version();
    assert_eq!(answer.error_code, 35);
    let [api] = &*answer.api_keys else { panic!("one API") };
    assert_eq!((api.api_key, api.min_version, api.max_version), (18, 0, 5));
}

#[test]
fn software_names_and_versions_are_checked() {
    for good in ["a", "A", "0", "apache-kafka-java", "a.-b", "a--b", "v1.2-3"] {
        assert!(is_software_text(good), "{good}");
    }
    for bad in ["", "a b", "1 ", "-a", "a-", ".a", "a.", "a_b", "é", "a/b", "a\n"] {
        assert!(!is_software_text(bad), "{bad}");
        let broker = Broker::with(&[]);
        for version in 3..=5 {
            let good = StrBytes::from_static_str("1");
            let bad = StrBytes::from_static_str(bad);
            for (name, software_version) in [(&bad, &good), (&good, &bad)] {
                let request = ApiVersionsRequest {
                    client_software_name: name.clone(),
                    client_software_version: software_version.clone(),
                    ..ApiVersionsRequest::default()
                };
                let answer = broker.call(version, &request, handle);
                assert_eq!(answer.error_code, ResponseError::InvalidRequest.code());
                assert!(answer.api_keys.is_empty() && answer.supported_features.is_empty());
                assert_eq!(answer.finalized_features_epoch, -1);
            }
        }
    }
}

#[test]
fn a_client_that_means_another_broker_is_sent_back_to_its_bootstrap() {
    let broker = Broker::with(&[]);
    let right = broker.services.config.cluster_id.as_str();
    let (fine, invalid, other) =
        (0, ResponseError::InvalidRequest.code(), ResponseError::RebootstrapRequired.code());
    for (cluster_id, node_id, code) in [
        (None, -1, fine),
        (Some(right), 1, fine),
        (Some("other"), 1, other),
        (Some(""), 1, other),
        (Some(right), 2, other),
        (Some(right), -2, other),
        (None, 1, invalid),
        (None, -2, invalid),
        (Some(right), -1, invalid),
        (Some("other"), -1, invalid),
    ] {
        let cluster_id = cluster_id.map(|text| StrBytes::from_string(text.to_owned()));
        let answer = broker.call(5, &ApiVersionsRequest { cluster_id, node_id, ..request(5) }, handle);
        assert_eq!((answer.error_code, answer.api_keys.is_empty()), (code, code != 0), "{node_id}");
    }
}
