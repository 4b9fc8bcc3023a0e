//! Bodies are made from the same schemas that the guard walks by, and read by the decoders that it stands before.

use std::ops::Range;

use bytes::Bytes;
use kafka_protocol::messages as theirs;
use kafka_protocol::protocol::{Decodable, Message, Request};

use super::*;
use crate::wire::api_table::{self, TABLE};
use crate::wire::kafka_4_4 as ours;

/// A body of one API at one version, with one element in every array, one byte in every string and nothing null.
struct Specimen {
    api: &'static Api,
    version: i16,
    bytes: Vec<u8>,
    lengths: Vec<Length>,
}

/// Where the length of a field stands.
struct Length {
    field: &'static Field,
    place: Range<usize>,
    coding: Coding,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Coding {
    Short,
    Int,
    Compact,
}

impl Coding {
    fn write(self, length: i64) -> Vec<u8> {
        match self {
            Self::Short => (length as i16).to_be_bytes().to_vec(),
            Self::Int => (length as i32).to_be_bytes().to_vec(),
            Self::Compact => varint((length + 1) as u32),
        }
    }
}

fn varint(mut value: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

impl Specimen {
    fn new(api: &'static Api, version: i16) -> Self {
        let mut specimen = Self { api, version, bytes: Vec::new(), lengths: Vec::new() };
        specimen.record(guard_table::fields(api.key).expect("every API has a schema"));
        specimen
    }

    fn flexible(&self) -> bool {
        self.api.is_flexible(self.version)
    }

    fn record(&mut self, fields: Fields) {
        let (tagged, positional): (Vec<&Field>, Vec<&Field>) = fields
            .iter()
            .filter(|field| field.versions.have(self.version))
            .partition(|field| field.tag.is_some());
        positional.into_iter().for_each(|field| self.field(field));
        if self.flexible() {
            self.bytes.extend(varint(tagged.len() as u32 + 1));
            for field in tagged {
                self.bytes.extend(varint(field.tag.expect("it is a tagged one")));
                let mut value = Self { api: self.api, version: self.version, bytes: vec![], lengths: vec![] };
                value.field(field);
                self.bytes.extend(varint(value.bytes.len() as u32));
                let start = self.bytes.len();
                self.bytes.extend(value.bytes);
                self.lengths.extend(value.lengths.into_iter().map(|length| Length {
                    place: length.place.start + start..length.place.end + start,
                    ..length
                }));
            }
            // A tag that no version knows, with one byte.
            self.bytes.extend([99, 1, 0]);
        }
    }

    fn field(&mut self, field: &'static Field) {
        match field.shape {
            Shape::Fixed(bytes) => self.bytes.extend(vec![0; bytes]),
            Shape::Text => self.text(field),
            Shape::Bytes => {
                self.length(field, Coding::Int);
                self.bytes.push(0);
            }
            Shape::Record(fields) => {
                if field.nullable_from != NEVER {
                    self.bytes.push(1);
                }
                self.record(fields);
            }
            Shape::Array(element) => {
                self.length(field, Coding::Int);
                match element {
                    Element::Fixed(bytes) => self.bytes.extend(vec![0; bytes]),
                    Element::Text => self.text(field),
                    Element::Record { fields, .. } => self.record(fields),
                }
            }
        }
    }

    fn text(&mut self, field: &'static Field) {
        self.length(field, Coding::Short);
        self.bytes.push(b'a');
    }

    fn length(&mut self, field: &'static Field, coding: Coding) {
        let coding = if self.flexible() { Coding::Compact } else { coding };
        let start = self.bytes.len();
        self.bytes.extend(coding.write(1));
        self.lengths.push(Length { field, place: start..self.bytes.len(), coding });
    }

    /// The body with another length at that place.
    fn with(&self, length: &Length, claimed: i64) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes.splice(length.place.clone(), length.coding.write(claimed));
        bytes
    }

    fn check(&self, body: &[u8]) -> Result<(), Refusal> {
        check(self.api, self.version, body)
    }
}

fn specimens() -> impl Iterator<Item = Specimen> {
    TABLE
        .iter()
        .flat_map(|api| (api.version_min..=api.version_max).map(|version| Specimen::new(api, version)))
}

/// Reads a body with the decoder of the API, if there is one for this version: `None` if there is not, otherwise
/// how many bytes it left, or an error.
fn decode(key: i16, version: i16, body: &[u8]) -> Option<Result<usize, String>> {
    macro_rules! decoders {
        ($($request:ty),* $(,)?) => {
            match key {
                $(<$request>::KEY => {
                    let versions = <$request>::VERSIONS;
                    let mut body = Bytes::copy_from_slice(body);
                    (versions.min..=versions.max).contains(&version).then(|| {
                        <$request>::decode(&mut body, version).map(|_| body.len()).map_err(|error| error.to_string())
                    })
                })*
                _ => None,
            }
        };
    }
    decoders!(
        theirs::ProduceRequest,
        theirs::FetchRequest,
        ours::ListOffsetsRequest,
        theirs::MetadataRequest,
        ours::OffsetCommitRequest,
        ours::OffsetFetchRequest,
        theirs::FindCoordinatorRequest,
        theirs::JoinGroupRequest,
        theirs::HeartbeatRequest,
        theirs::LeaveGroupRequest,
        theirs::SyncGroupRequest,
        theirs::DescribeGroupsRequest,
        theirs::ListGroupsRequest,
        theirs::SaslHandshakeRequest,
        ours::ApiVersionsRequest,
        theirs::CreateTopicsRequest,
        theirs::DeleteTopicsRequest,
        theirs::DeleteRecordsRequest,
        theirs::InitProducerIdRequest,
        theirs::OffsetForLeaderEpochRequest,
        theirs::AddPartitionsToTxnRequest,
        theirs::AddOffsetsToTxnRequest,
        theirs::EndTxnRequest,
        ours::WriteTxnMarkersRequest,
        ours::TxnOffsetCommitRequest,
        theirs::DescribeAclsRequest,
        theirs::CreateAclsRequest,
        theirs::DeleteAclsRequest,
        theirs::DescribeConfigsRequest,
        theirs::AlterConfigsRequest,
        theirs::AlterReplicaLogDirsRequest,
        ours::DescribeLogDirsRequest,
        theirs::SaslAuthenticateRequest,
        theirs::CreatePartitionsRequest,
        theirs::CreateDelegationTokenRequest,
        theirs::RenewDelegationTokenRequest,
        theirs::ExpireDelegationTokenRequest,
        theirs::DescribeDelegationTokenRequest,
        ours::DeleteGroupsRequest,
        theirs::ElectLeadersRequest,
        theirs::IncrementalAlterConfigsRequest,
        theirs::AlterPartitionReassignmentsRequest,
        theirs::ListPartitionReassignmentsRequest,
        theirs::OffsetDeleteRequest,
        theirs::DescribeClientQuotasRequest,
        theirs::AlterClientQuotasRequest,
        theirs::DescribeUserScramCredentialsRequest,
        theirs::AlterUserScramCredentialsRequest,
        theirs::DescribeQuorumRequest,
        theirs::UpdateFeaturesRequest,
        theirs::DescribeClusterRequest,
        theirs::DescribeProducersRequest,
        theirs::UnregisterBrokerRequest,
        theirs::DescribeTransactionsRequest,
        theirs::ListTransactionsRequest,
        theirs::ConsumerGroupHeartbeatRequest,
        theirs::ConsumerGroupDescribeRequest,
        theirs::ListConfigResourcesRequest,
        theirs::DescribeTopicPartitionsRequest,
        theirs::ShareGroupHeartbeatRequest,
        theirs::ShareGroupDescribeRequest,
        theirs::ShareFetchRequest,
        theirs::ShareAcknowledgeRequest,
        theirs::DescribeShareGroupOffsetsRequest,
        theirs::AlterShareGroupOffsetsRequest,
        theirs::DeleteShareGroupOffsetsRequest,
    )
}

#[test]
fn a_true_body_passes_and_the_decoder_reads_the_same_fields() {
    let mut decoded = 0;
    for specimen in specimens() {
        let Specimen { api, version, bytes, .. } = &specimen;
        assert_eq!(specimen.check(bytes), Ok(()), "{} v{version}", api.name);
        if let Some(left) = decode(api.key, *version, bytes) {
            assert_eq!(left, Ok(0), "{} v{version}", api.name);
            decoded += 1;
        }
    }
    assert!(decoded > 150, "only {decoded} versions were decoded");
}

#[test]
fn what_is_served_can_be_decoded_at_every_version() {
    for api in api_table::served() {
        for version in api.version_min..=api.version_max {
            let body = Specimen::new(api, version).bytes;
            assert_eq!(decode(api.key, version, &body), Some(Ok(0)), "{} v{version}", api.name);
        }
    }
}

#[test]
fn bytes_behind_the_body_are_ignored() {
    for specimen in specimens() {
        let longer = [&specimen.bytes[..], b"trailing"].concat();
        assert_eq!(specimen.check(&longer), Ok(()), "{} v{}", specimen.api.name, specimen.version);
    }
}

#[test]
fn a_body_that_is_cut_short_is_refused() {
    for specimen in specimens() {
        for length in 0..specimen.bytes.len() {
            let refusal = specimen.check(&specimen.bytes[..length]);
            assert!(refusal.is_err(), "{length} bytes of {} v{}", specimen.api.name, specimen.version);
        }
    }
}

/// Frames without their length, each with one count or length that is too large for what follows, for every field of
/// every version that is served.
pub(crate) fn lying_frames() -> impl Iterator<Item = Vec<u8>> {
    specimens().filter(|specimen| specimen.api.served).flat_map(|specimen| {
        let header =
            [&specimen.api.key.to_be_bytes()[..], &specimen.version.to_be_bytes(), &[0, 0, 0, 1, 0xff, 0xff]];
        let tags: &[u8] = if specimen.flexible() { &[0] } else { &[] };
        let header = [header.concat().as_slice(), tags].concat();
        let lie = |length: &Length| {
            let left = (specimen.bytes.len() - length.place.end) as i64;
            let most = match length.coding {
                Coding::Short => i64::from(i16::MAX),
                Coding::Int => i64::from(i32::MAX),
                Coding::Compact => i64::from(u32::MAX) - 1,
            };
            [left + 1, most].map(|claimed| [header.as_slice(), &specimen.with(length, claimed)].concat())
        };
        specimen.lengths.iter().flat_map(lie).collect::<Vec<_>>()
    })
}

#[test]
fn every_length_of_every_version_is_held_against_the_bytes_left() {
    let mut lengths = 0;
    for specimen in specimens() {
        for length in &specimen.lengths {
            let left = (specimen.bytes.len() - length.place.end) as i64;
            for claimed in [left + 1, i64::from(i16::MAX), i64::from(i32::MAX), i64::from(u32::MAX) - 1, -2] {
                if length.coding == Coding::Compact && claimed < 0
                    || length.coding == Coding::Short && claimed > i64::from(i16::MAX)
                {
                    continue;
                }
                let refusal = specimen.check(&specimen.with(length, claimed));
                let name = length.field.name;
                assert!(
                    matches!(refusal, Err(Refusal::Length { field, .. }) if field == name),
                    "{} v{} {name} = {claimed}: {refusal:?}",
                    specimen.api.name,
                    specimen.version
                );
            }
            lengths += 1;
        }
    }
    assert!(lengths > 500, "only {lengths} lengths were tried");
}

#[test]
fn null_is_refused_exactly_where_the_schema_forbids_it() {
    for specimen in specimens() {
        for length in &specimen.lengths {
            let is_null = specimen.check(&specimen.with(length, -1));
            let Length { field, .. } = length;
            // A null leaves the byte of the value behind, which is then read as something else.
            let refused = is_null == Err(Refusal::Null(field.name));
            // The length of an element of an array bears the name of the array, and is never null.
            let is_element = matches!(field.shape, Shape::Array(Element::Text))
                && length.place.start != first_length(&specimen, field);
            let allowed = specimen.version >= field.nullable_from && !is_element;
            assert_eq!(refused, !allowed, "{} v{} {}", specimen.api.name, specimen.version, field.name);
        }
    }
}

fn first_length(specimen: &Specimen, field: &Field) -> usize {
    let first = specimen.lengths.iter().find(|length| std::ptr::eq(length.field, field));
    first.expect("the field has a length").place.start
}

#[test]
fn a_varint_has_five_bytes_at_most() {
    for bytes in [&[0x80; 5][..], &[0x80; 11], &[0x80, 0x80, 0x80, 0x80, 0x80, 0]] {
        assert_eq!(Rest::of(bytes).varint(), Err(Refusal::Varint));
    }
    assert_eq!(Rest::of(&[0xff, 0xff, 0xff, 0xff, 0x0f]).varint(), Ok(u32::MAX));
    assert_eq!(Rest::of(&[0x80; 4]).varint(), Err(Refusal::EndsEarly("a varint")));
}

#[test]
fn tags_that_overrun_the_frame_are_refused() {
    // DescribeCluster v0: one bool, then tags.
    let api = api_table::find(60).expect("DescribeCluster");
    for tags in [
        &[1, 9, 2, 0][..],
        &[2, 9, 0],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[1, 9, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ] {
        let body = [&[0], tags].concat();
        assert!(check(api, 0, &body).is_err(), "{tags:?}");
    }
    assert_eq!(check(api, 0, &[0, 1, 9, 1, 0]), Ok(()));
}

#[test]
fn a_tag_of_another_version_is_refused() {
    // Fetch v12 with the tag 1 of v15.
    let api = api_table::find(1).expect("Fetch");
    let mut body = Specimen::new(api, 12).bytes;
    let tag = body.len() - 3;
    assert_eq!(body[tag], 99);
    body[tag] = 1;
    assert_eq!(check(api, 12, &body), Err(Refusal::Tag("ReplicaState")));
}

/// A Metadata v1 body that asks for this many topics with a name of `name_bytes`.
fn metadata(topics: usize, name_bytes: usize) -> Vec<u8> {
    let mut body = (topics as i32).to_be_bytes().to_vec();
    for _ in 0..topics {
        body.extend((name_bytes as i16).to_be_bytes());
        body.extend(vec![b'a'; name_bytes]);
    }
    body
}

#[test]
fn a_frame_that_grows_out_of_proportion_when_decoded_is_refused() {
    let api = api_table::find(3).expect("Metadata");
    assert_eq!(check(api, 1, &metadata(10_000, 1)), Ok(()), "so little does no harm");
    assert_eq!(check(api, 1, &metadata(100_000, 20)), Ok(()), "names of a usual length");
    assert!(matches!(check(api, 1, &metadata(1_000_000, 0)), Err(Refusal::Budget(_))));
    // An empty topic and a tag in each element: a map for three bytes.
    let tagged = [varint(50_001), [1, 1, 9, 0].repeat(50_000)].concat();
    let api = api_table::find(15).expect("DescribeGroups");
    let groups = check(api, 5, &tagged);
    assert!(groups.is_err());
    let api = api_table::find(13).expect("LeaveGroup");
    let members = [vec![1], varint(50_001), [1, 0, 1, 9, 0].repeat(50_000), vec![0]].concat();
    assert!(matches!(check(api, 4, &members), Err(Refusal::Budget(_))));
}

/// Each element may take hundreds of bytes in the answer.
#[test]
fn a_request_has_so_many_elements_and_no_more() {
    use crate::limits::REQUEST_ELEMENTS_MAX;
    let api = api_table::find(3).expect("Metadata");
    assert_eq!(check(api, 1, &metadata(REQUEST_ELEMENTS_MAX, 20)), Ok(()));
    assert_eq!(check(api, 1, &metadata(REQUEST_ELEMENTS_MAX + 1, 20)), Err(Refusal::Elements));
    // Those of all arrays count, whatever they consist of.
    let api = api_table::find(43).expect("ElectLeaders");
    let topic = |partitions: usize| {
        [&[0, 1, b't'][..], &(partitions as u32).to_be_bytes(), &vec![0; 4 * partitions]].concat()
    };
    let elect = |partitions: usize| {
        [&[0, 0, 0, 0, 2][..], &topic(partitions), &topic(REQUEST_ELEMENTS_MAX / 2), &[0; 4]].concat()
    };
    assert_eq!(check(api, 1, &elect(REQUEST_ELEMENTS_MAX / 2 - 2)), Ok(()));
    assert_eq!(check(api, 1, &elect(REQUEST_ELEMENTS_MAX / 2 - 1)), Err(Refusal::Elements));
}

#[test]
fn decoded_sizes_are_not_less_than_the_structures_of_the_crate() {
    fn element(fields: Fields, path: &[&str]) -> usize {
        let [name, path @ ..] = path else { return decoded_bytes(fields) };
        let field = fields.iter().find(|field| field.name == *name).expect("the schema has this field");
        let Shape::Array(Element::Record { fields, .. }) = field.shape else { panic!("{name} is no array") };
        element(fields, path)
    }
    for (key, path, size) in [
        (0, &["TopicData"][..], size_of::<theirs::produce_request::TopicProduceData>()),
        (0, &["TopicData", "PartitionData"], size_of::<theirs::produce_request::PartitionProduceData>()),
        (1, &["Topics"], size_of::<theirs::fetch_request::FetchTopic>()),
        (1, &["Topics", "Partitions"], size_of::<theirs::fetch_request::FetchPartition>()),
        (2, &["Topics", "Partitions"], size_of::<ours::ListOffsetsPartition>()),
        (3, &["Topics"], size_of::<theirs::metadata_request::MetadataRequestTopic>()),
        (8, &["Topics", "Partitions"], size_of::<ours::OffsetCommitRequestPartition>()),
        (9, &["Groups"], size_of::<ours::OffsetFetchRequestGroup>()),
        (11, &["Protocols"], size_of::<theirs::join_group_request::JoinGroupRequestProtocol>()),
        (13, &["Members"], size_of::<theirs::leave_group_request::MemberIdentity>()),
        (14, &["Assignments"], size_of::<theirs::sync_group_request::SyncGroupRequestAssignment>()),
        (19, &["Topics"], size_of::<theirs::create_topics_request::CreatableTopic>()),
        (
            24,
            &["Transactions"],
            size_of::<theirs::add_partitions_to_txn_request::AddPartitionsToTxnTransaction>(),
        ),
        (27, &["Markers"], size_of::<ours::WritableTxnMarker>()),
        (28, &["Topics", "Partitions"], size_of::<ours::TxnOffsetCommitRequestPartition>()),
        (32, &["Resources"], size_of::<theirs::describe_configs_request::DescribeConfigsResource>()),
        (
            44,
            &["Resources", "Configs"],
            size_of::<theirs::incremental_alter_configs_request::AlterableConfig>(),
        ),
        (68, &["TopicPartitions"], size_of::<theirs::consumer_group_heartbeat_request::TopicPartitions>()),
    ] {
        let charged = element(guard_table::fields(key).expect("a schema"), path);
        assert!(charged >= size, "API {key} {path:?}: {charged} are charged, {size} are taken");
    }
}

/// Whatever passes the guard may be handed to the decoder: it answers, or says what is wrong.
#[test]
fn no_damaged_body_that_passes_harms_the_decoder() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let mut passed = 0;
    for specimen in specimens().filter(|specimen| !specimen.bytes.is_empty()) {
        for _ in 0..200 {
            let mut body = specimen.bytes.clone();
            for _ in 0..=random(3) {
                let place = random(body.len());
                body[place] = [0, 1, 2, 0x7f, 0x80, 0xff, random(256) as u8][random(7)];
            }
            if specimen.check(&body).is_ok() {
                let _ = decode(specimen.api.key, specimen.version, &body);
                passed += 1;
            }
        }
    }
    assert!(passed > 1_000, "only {passed} bodies passed");
}
