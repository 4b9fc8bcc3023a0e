//! The types of Kafka's schemas, in the order of their bytes.

use crate::types::TopicId;

/// Bytes of a string, whose length has 16 bits and a sign.
const STRING_BYTES_MAX: usize = 0x7fff;

/// Bytes that grow.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn i8(&mut self, number: i8) {
        self.0.extend(number.to_be_bytes());
    }

    pub(super) fn i16(&mut self, number: i16) {
        self.0.extend(number.to_be_bytes());
    }

    pub(super) fn i32(&mut self, number: i32) {
        self.0.extend(number.to_be_bytes());
    }

    pub(super) fn i64(&mut self, number: i64) {
        self.0.extend(number.to_be_bytes());
    }

    pub(super) fn uuid(&mut self, id: TopicId) {
        self.0.extend(id.0.to_be_bytes());
    }

    /// The number of elements, before version 0 of flexible schemas.
    pub(super) fn len(&mut self, len: usize) {
        self.i32(i32::try_from(len).expect("what came in a frame has less than 2^31 elements"));
    }

    pub(super) fn string(&mut self, text: &str) {
        self.nullable_string(Some(text));
    }

    pub(super) fn nullable_string(&mut self, text: Option<&str>) {
        let Some(text) = text else { return self.i16(-1) };
        // Only what was put together here, a client id and a uuid, can be longer than a string may be.
        let bytes = &text.as_bytes()[..text.len().min(STRING_BYTES_MAX)];
        self.i16(bytes.len() as i16);
        self.0.extend(bytes);
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.len(bytes.len());
        self.0.extend(bytes);
    }

    /// The number of elements, plus one: 0 is null.
    pub(super) fn compact_len(&mut self, len: usize) {
        self.varint(len + 1);
    }

    pub(super) fn compact_string(&mut self, text: &str) {
        self.compact_bytes(text.as_bytes());
    }

    pub(super) fn compact_nullable_string(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.compact_string(text),
            None => self.varint(0),
        }
    }

    pub(super) fn compact_bytes(&mut self, bytes: &[u8]) {
        self.compact_len(bytes.len());
        self.0.extend(bytes);
    }

    /// The tagged fields at the end of a flexible record, in ascending order.
    pub(super) fn tags(&mut self, tags: &[(usize, Self)]) {
        self.varint(tags.len());
        for (tag, field) in tags {
            self.varint(*tag);
            self.varint(field.0.len());
            self.0.extend(&field.0);
        }
    }

    /// Seven bits a byte, the low ones first.
    fn varint(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}
