//! Walks the body of a request before it is decoded, and refuses what would cost more than it is worth.
//!
//! The decoders of `kafka-protocol` allocate an array by the count that the peer claims, and an allocation that fails
//! aborts the process. So every count and length is held against the bytes that are left, and the size of the decoded
//! message against a budget. The walk allocates nothing. What the decoders check by themselves, UTF-8, is left to them.
//!
//! Source: the schemas of Kafka 4.4, in `guard_table`; kafka `Readable`, which checks the same counts since
//! CVE-2022-34917.

use std::fmt;

use super::api_table::Api;
use super::guard_table;
use crate::limits;

/// The fields of a message or of a structure in it, in the order of the wire.
pub(super) type Fields = &'static [Field];

/// One field of a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) versions: Versions,
    pub(super) shape: Shape,
    /// The first version in which it may be null.
    pub(super) nullable_from: i16,
    /// Its number if it is a tagged field.
    pub(super) tag: Option<u32>,
}

/// The versions that have a field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versions {
    pub(super) since: i16,
    pub(super) until: i16,
}

/// What a field looks like on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A number, bool or uuid of this many bytes.
    Fixed(usize),
    Text,
    Bytes,
    Record(Fields),
    Array(Element),
}

/// What an array consists of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element {
    Fixed(usize),
    Text,
    Record {
        fields: Fields,
        /// What one element takes once decoded, in bytes, without what it points to.
        decoded_bytes: usize,
    },
}

impl Versions {
    const fn have(self, version: i16) -> bool {
        self.since <= version && version <= self.until
    }
}

/// Why a body is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The frame ends inside this field.
    EndsEarly(&'static str),
    /// The field claims more bytes or elements than are left, or a negative number of them.
    Length {
        /// As the schema spells it.
        field: &'static str,
        /// What it claims.
        claimed: i64,
        /// The bytes that are left.
        left: usize,
    },
    /// The field must not be null in this version.
    Null(&'static str),
    /// A varint goes on after five bytes.
    Varint,
    /// A tag that this version does not have.
    Tag(&'static str),
    /// The decoded message would be larger than this many bytes.
    Budget(usize),
    /// All arrays together have more elements than any request.
    Elements,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndsEarly(field) => write!(f, "it ends inside {field}"),
            Self::Length { field, claimed, left } => {
                write!(f, "{field} claims a length of {claimed}, {left} bytes are left")
            }
            Self::Null(field) => write!(f, "{field} must not be null"),
            Self::Varint => f.write_str("a varint is longer than five bytes"),
            Self::Tag(field) => write!(f, "{field} is not a tag of this version"),
            Self::Budget(bytes) => write!(f, "decoded, it would take more than {bytes} bytes"),
            Self::Elements => {
                write!(f, "its arrays have more than {} elements", limits::REQUEST_ELEMENTS_MAX)
            }
        }
    }
}

/// Checks a whole body.
///
/// # Errors
/// The first thing that is wrong.
pub(super) fn check(api: &Api, version: i16, body: &[u8]) -> Result<(), Refusal> {
    let Some(fields) = guard_table::fields(api.key) else {
        return Err(Refusal::EndsEarly(api.name));
    };
    let budget = limits::decoded_bytes_max(body.len());
    let flexible = api.is_flexible(version);
    Walk { rest: Rest(body), version, flexible, budget, spent: 0, elements: 0 }.record(fields)
}

/// The bytes that are not read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    pub(super) const fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Skips the tagged fields of a structure that knows none.
    pub(super) fn skip_unknown_tags(&mut self) -> Result<(), Refusal> {
        for _ in 0..self.varint()? {
            self.varint()?;
            let size = self.varint()?;
            self.skip("a tag", i64::from(size))?;
        }
        Ok(())
    }

    fn take<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Refusal> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Refusal::EndsEarly(field))?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Skips `claimed` bytes.
    fn skip(&mut self, field: &'static str, claimed: i64) -> Result<(), Refusal> {
        let skipped = self.fitting(field, claimed)?;
        self.0 = &self.0[skipped..];
        Ok(())
    }

    /// `claimed` if there are that many bytes left.
    fn fitting(&self, field: &'static str, claimed: i64) -> Result<usize, Refusal> {
        let left = self.len();
        usize::try_from(claimed).ok().filter(|claimed| *claimed <= left).ok_or(Refusal::Length {
            field,
            claimed,
            left,
        })
    }

    fn varint(&mut self) -> Result<u32, Refusal> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let [byte] = self.take("a varint")?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Refusal::Varint)
    }
}

struct Walk<'a> {
    rest: Rest<'a>,
    version: i16,
    flexible: bool,
    /// What the decoded message may take, in bytes.
    budget: usize,
    spent: usize,
    /// Of all arrays so far.
    elements: usize,
}

impl Walk<'_> {
    fn record(&mut self, fields: Fields) -> Result<(), Refusal> {
        for field in fields {
            if field.tag.is_none() && field.versions.have(self.version) {
                self.field(field)?;
            }
        }
        if self.flexible { self.tags(fields) } else { Ok(()) }
    }

    fn field(&mut self, field: &Field) -> Result<(), Refusal> {
        match field.shape {
            Shape::Fixed(bytes) => self.rest.skip(field.name, bytes as i64),
            Shape::Text => self.text(field),
            Shape::Bytes => match self.long_length(field)? {
                Some(length) => self.rest.skip(field.name, length),
                None => Ok(()),
            },
            Shape::Record(fields) if field.nullable_from == NEVER => self.record(fields),
            Shape::Record(fields) => self.nullable_record(field, fields),
            Shape::Array(element) => self.array(field, element),
        }
    }

    fn text(&mut self, field: &Field) -> Result<(), Refusal> {
        let length = if self.flexible {
            self.compact_length()?
        } else {
            i64::from(i16::from_be_bytes(self.rest.take(field.name)?))
        };
        match self.unless_null(field, length)? {
            // Kafka refuses longer ones, whichever way the length is written.
            Some(claimed) if claimed > i64::from(i16::MAX) => {
                Err(Refusal::Length { field: field.name, claimed, left: self.rest.len() })
            }
            Some(length) => self.rest.skip(field.name, length),
            None => Ok(()),
        }
    }

    /// Differs from Kafka: it takes any byte but a negative one for "present", the decoder only 1.
    fn nullable_record(&mut self, field: &Field, fields: Fields) -> Result<(), Refusal> {
        match i8::from_be_bytes(self.rest.take(field.name)?) {
            1 => self.record(fields),
            present => self.unless_null(field, present.into()).and_then(|present| match present {
                Some(claimed) => Err(Refusal::Length { field: field.name, claimed, left: self.rest.len() }),
                None => Ok(()),
            }),
        }
    }

    fn array(&mut self, field: &Field, element: Element) -> Result<(), Refusal> {
        let Some(claimed) = self.long_length(field)? else { return Ok(()) };
        // Every element has at least one byte.
        let count = self.rest.fitting(field.name, claimed)?;
        self.charge(count.saturating_mul(element.decoded_bytes()))?;
        self.count(count)?;
        match element {
            Element::Fixed(bytes) => self.rest.skip(field.name, claimed.saturating_mul(bytes as i64)),
            Element::Text => {
                let text = Field { nullable_from: NEVER, ..*field };
                (0..count).try_for_each(|_| self.text(&text))
            }
            Element::Record { fields, .. } => (0..count).try_for_each(|_| self.record(fields)),
        }
    }

    /// The length of bytes or of an array; `None` for null where that is allowed.
    fn long_length(&mut self, field: &Field) -> Result<Option<i64>, Refusal> {
        let length = if self.flexible {
            self.compact_length()?
        } else {
            i64::from(i32::from_be_bytes(self.rest.take(field.name)?))
        };
        self.unless_null(field, length)
    }

    /// −1 for null, as in the other way to write lengths.
    fn compact_length(&mut self) -> Result<i64, Refusal> {
        Ok(i64::from(self.rest.varint()?) - 1)
    }

    /// Differs from Kafka: it takes any negative length for null, the decoder only −1.
    fn unless_null(&self, field: &Field, length: i64) -> Result<Option<i64>, Refusal> {
        match length {
            -1 if self.version >= field.nullable_from => Ok(None),
            -1 => Err(Refusal::Null(field.name)),
            length => Ok(Some(length)),
        }
    }

    fn tags(&mut self, fields: Fields) -> Result<(), Refusal> {
        let mut unknown = 0;
        for _ in 0..self.rest.varint()? {
            let tag = self.rest.varint()?;
            let size = self.rest.varint()?;
            match fields.iter().find(|field| field.tag == Some(tag)) {
                // Kafka and the decoder read a field they know without a look at its size.
                Some(field) if field.versions.have(self.version) => self.field(field)?,
                Some(field) => return Err(Refusal::Tag(field.name)),
                None => {
                    self.rest.skip("a tag", size.into())?;
                    self.charge(if unknown == 0 { FIRST_TAG_BYTES } else { NEXT_TAG_BYTES })?;
                    unknown += 1;
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, elements: usize) -> Result<(), Refusal> {
        self.elements = self.elements.saturating_add(elements);
        if self.elements > limits::REQUEST_ELEMENTS_MAX { Err(Refusal::Elements) } else { Ok(()) }
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.budget { Err(Refusal::Budget(self.budget)) } else { Ok(()) }
    }
}

/// The field is null in no version.
pub(super) const NEVER: i16 = i16::MAX;

/// The decoder keeps unknown tags in a `BTreeMap<i32, Bytes>`: a leaf has room for eleven.
const FIRST_TAG_BYTES: usize = 11 * (4 + 32) + 16;
/// What one more takes, in leaves that are half full, and their parents.
const NEXT_TAG_BYTES: usize = 96;

impl Element {
    const fn decoded_bytes(self) -> usize {
        match self {
            Self::Fixed(bytes) => bytes,
            Self::Text => TEXT_BYTES,
            Self::Record { decoded_bytes, .. } => decoded_bytes,
        }
    }
}

/// A decoded string or byte string: a `Bytes`, which points into the frame.
const TEXT_BYTES: usize = 32;
/// A `Vec`, or the `BTreeMap` of unknown tags.
const COLLECTION_BYTES: usize = 24;

/// What a structure with these fields takes once decoded, in bytes: it has room for the fields of all versions.
pub(super) const fn decoded_bytes(fields: Fields) -> usize {
    let mut bytes = COLLECTION_BYTES;
    let mut index = 0;
    while index < fields.len() {
        bytes += match fields[index].shape {
            Shape::Fixed(bytes) => bytes,
            Shape::Text | Shape::Bytes => TEXT_BYTES,
            Shape::Record(fields) => decoded_bytes(fields),
            Shape::Array(_) => COLLECTION_BYTES,
        };
        index += 1;
    }
    bytes.next_multiple_of(8)
}

#[cfg(test)]
pub(crate) mod tests;
