//! Frames made and read by hand, so that what the server says of its messages is checked by other code than its own.
//! All in the versions before the flexible ones, whose layout a page of paper holds.

/// A request in the making: header of version 1, then what is put behind it.
pub(crate) struct Request(Vec<u8>);

impl Request {
    pub(crate) fn new(key: i16, version: i16, correlation_id: i32) -> Self {
        Self(Vec::new()).int16(key).int16(version).int32(correlation_id).text("wire-test")
    }

    pub(crate) fn int16(mut self, n: i16) -> Self {
        self.0.extend(n.to_be_bytes());
        self
    }

    pub(crate) fn int32(mut self, n: i32) -> Self {
        self.0.extend(n.to_be_bytes());
        self
    }

    pub(crate) fn text(mut self, text: &str) -> Self {
        self = self.int16(i16::try_from(text.len()).expect("a short text"));
        self.0.extend(text.as_bytes());
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self = self.int32(i32::try_from(bytes.len()).expect("few bytes"));
        self.0.extend(bytes);
        self
    }

    /// No tagged fields: the end of a header of version 2.
    pub(crate) fn no_tags(mut self) -> Self {
        self.0.push(0);
        self
    }

    /// With its length in front.
    pub(crate) fn frame(self) -> Vec<u8> {
        let length = i32::try_from(self.0.len()).expect("a small frame");
        [&length.to_be_bytes()[..], &self.0].concat()
    }
}

/// What is left of a response.
#[derive(Debug)]
pub(crate) struct Response(Vec<u8>);

impl Response {
    pub(crate) fn new(body: Vec<u8>) -> Self {
        Self(body)
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let rest = self.0.split_off(N.min(self.0.len()));
        std::mem::replace(&mut self.0, rest).try_into().expect("the response is longer")
    }

    pub(crate) fn int16(&mut self) -> i16 {
        i16::from_be_bytes(self.take())
    }

    pub(crate) fn int32(&mut self) -> i32 {
        i32::from_be_bytes(self.take())
    }

    pub(crate) fn text(&mut self) -> String {
        let length = usize::try_from(self.int16()).expect("a text that is not null");
        String::from_utf8(self.some(length)).expect("UTF-8")
    }

    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let length = usize::try_from(self.int32()).expect("bytes that are not null");
        self.some(length)
    }

    fn some(&mut self, length: usize) -> Vec<u8> {
        let rest = self.0.split_off(length.min(self.0.len()));
        let some = std::mem::replace(&mut self.0, rest);
        assert_eq!(some.len(), length, "the response is longer");
        some
    }

    /// Nothing is left.
    pub(crate) fn ends(&self) {
        assert!(self.0.is_empty(), "left over: {:?}", self.0);
    }
}

pub(crate) const JOIN: i16 = 11;
pub(crate) const HEARTBEAT: i16 = 12;
pub(crate) const SYNC: i16 = 14;
pub(crate) const DESCRIBE: i16 = 15;
pub(crate) const API_VERSIONS: i16 = 18;

/// JoinGroup, version 3: no MEMBER_ID_REQUIRED yet.
pub(crate) fn join(correlation_id: i32, group: &str, member: &str) -> Vec<u8> {
    Request::new(JOIN, 3, correlation_id)
        .text(group)
        .int32(30_000)
        .int32(60_000)
        .text(member)
        .text("consumer")
        .int32(1)
        .text("range")
        .bytes(b"metadata")
        .frame()
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub(crate) error: i16,
    pub(crate) generation: i32,
    pub(crate) leader: String,
    pub(crate) member: String,
    pub(crate) members: Vec<String>,
}

pub(crate) fn joined(mut response: Response) -> Joined {
    assert_eq!(response.int32(), 0, "throttled");
    let error = response.int16();
    let generation = response.int32();
    let protocol = response.text();
    assert!(protocol == "range" || error != 0);
    let (leader, member) = (response.text(), response.text());
    let mut members = Vec::new();
    for _ in 0..response.int32() {
        members.push(response.text());
        assert_eq!(response.bytes(), b"metadata");
    }
    response.ends();
    Joined { error, generation, leader, member, members }
}

/// SyncGroup, version 2.
pub(crate) fn sync(
    correlation_id: i32,
    group: &str,
    generation: i32,
    member: &str,
    parts: &[(&str, &[u8])],
) -> Vec<u8> {
    let mut request = Request::new(SYNC, 2, correlation_id).text(group).int32(generation).text(member);
    request = request.int32(i32::try_from(parts.len()).expect("few parts"));
    for (member, part) in parts {
        request = request.text(member).bytes(part);
    }
    request.frame()
}

/// Error and assignment.
pub(crate) fn synced(mut response: Response) -> (i16, Vec<u8>) {
    assert_eq!(response.int32(), 0, "throttled");
    let synced = (response.int16(), response.bytes());
    response.ends();
    synced
}

/// Heartbeat, version 2.
pub(crate) fn heartbeat(correlation_id: i32, group: &str, generation: i32, member: &str) -> Vec<u8> {
    Request::new(HEARTBEAT, 2, correlation_id).text(group).int32(generation).text(member).frame()
}

/// Of a response that is a throttle time and an error.
pub(crate) fn error(mut response: Response) -> i16 {
    assert_eq!(response.int32(), 0, "throttled");
    let error = response.int16();
    response.ends();
    error
}

/// DescribeGroups, version 2, of one group.
pub(crate) fn describe(correlation_id: i32, group: &str) -> Vec<u8> {
    Request::new(DESCRIBE, 2, correlation_id).int32(1).text(group).frame()
}

/// State, and how many members.
pub(crate) fn described(mut response: Response) -> (String, usize) {
    assert_eq!((response.int32(), response.int32(), response.int16()), (0, 1, 0));
    let (_group, state, _kind, _protocol) =
        (response.text(), response.text(), response.text(), response.text());
    let members = response.int32();
    for _ in 0..members {
        let _ids = (response.text(), response.text(), response.text());
        let _bytes = (response.bytes(), response.bytes());
    }
    response.ends();
    (state, usize::try_from(members).expect("a count"))
}

/// ApiVersions, version 0.
pub(crate) fn api_versions(correlation_id: i32) -> Vec<u8> {
    Request::new(API_VERSIONS, 0, correlation_id).frame()
}

/// Error, and key, lowest and highest version of each API.
pub(crate) fn api_ranges(mut response: Response) -> (i16, Vec<(i16, i16, i16)>) {
    let error = response.int16();
    let ranges =
        (0..response.int32()).map(|_| (response.int16(), response.int16(), response.int16())).collect();
    response.ends();
    (error, ranges)
}
