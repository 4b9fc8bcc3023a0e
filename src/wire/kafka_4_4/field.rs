//! How one field is written and read: the primitive types of the Kafka protocol.
//!
//! Lengths come in two shapes: a fixed integer (null is −1) up to the version in which the
//! message became flexible, an unsigned varint of length + 1 (null is 0) from then on (KIP-482).

use anyhow::{Result, bail, ensure};
use bytes::BufMut;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::protocol::buf::ByteBuf;
use uuid::Uuid;

/// The version that a message is written or read at.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) version: i16,
    pub(super) flexible: bool,
}

/// Where written bytes go: into a buffer, or nowhere when only their number is wanted.
pub(super) trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

/// Counts bytes.
#[derive(Debug, Default)]
pub(super) struct Size(pub(super) usize);

impl Sink for Size {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

/// Keeps bytes.
#[derive(Debug)]
pub(super) struct Into<'a, B>(pub(super) &'a mut B);

impl<B: BufMut> Sink for Into<'_, B> {
    fn put(&mut self, bytes: &[u8]) {
        self.0.put_slice(bytes);
    }
}

/// A type that a field can have.
pub(super) trait Field: Sized {
    fn write(&self, out: &mut impl Sink, at: At) -> Result<()>;
    fn read(input: &mut impl ByteBuf, at: At) -> Result<Self>;
}

macro_rules! integers {
    ($($int:ty, $get:ident;)*) => {$(
        impl Field for $int {
            fn write(&self, out: &mut impl Sink, _: At) -> Result<()> {
                out.put(&self.to_be_bytes());
                Ok(())
            }

            fn read(input: &mut impl ByteBuf, _: At) -> Result<Self> {
                Ok(input.$get()?)
            }
        }
    )*};
}

integers! {
    i8, try_get_i8;
    i16, try_get_i16;
    i32, try_get_i32;
    i64, try_get_i64;
}

impl Field for bool {
    fn write(&self, out: &mut impl Sink, _: At) -> Result<()> {
        out.put(&[u8::from(*self)]);
        Ok(())
    }

    fn read(input: &mut impl ByteBuf, _: At) -> Result<Self> {
        Ok(input.try_get_u8()? != 0)
    }
}

impl Field for Uuid {
    fn write(&self, out: &mut impl Sink, _: At) -> Result<()> {
        out.put(self.as_bytes());
        Ok(())
    }

    fn read(input: &mut impl ByteBuf, _: At) -> Result<Self> {
        Ok(Self::from_u128(input.try_get_u128()?))
    }
}

impl Field for Option<StrBytes> {
    fn write(&self, out: &mut impl Sink, at: At) -> Result<()> {
        let length = self.as_ref().map(|text| text.len());
        if at.flexible {
            write_compact_length(out, length)?;
        } else {
            let length = length.map_or(Ok(-1), i16::try_from)?;
            out.put(&length.to_be_bytes());
        }
        out.put(self.as_ref().map_or(&[], |text| text.as_bytes()));
        Ok(())
    }

    fn read(input: &mut impl ByteBuf, at: At) -> Result<Self> {
        let length =
            if at.flexible { read_compact_length(input)? } else { length(input.try_get_i16()?.into())? };
        let Some(length) = length else { return Ok(None) };
        Ok(Some(StrBytes::from_utf8(input.try_get_bytes(length)?)?))
    }
}

impl Field for StrBytes {
    fn write(&self, out: &mut impl Sink, at: At) -> Result<()> {
        // A clone of bytes counts a reference, it copies nothing.
        Some(self.clone()).write(out, at)
    }

    fn read(input: &mut impl ByteBuf, at: At) -> Result<Self> {
        match Field::read(input, at)? {
            Some(text) => Ok(text),
            None => bail!("a string is null that must not be"),
        }
    }
}

impl<T: Field> Field for Vec<T> {
    fn write(&self, out: &mut impl Sink, at: At) -> Result<()> {
        write_elements(out, at, Some(self))
    }

    fn read(input: &mut impl ByteBuf, at: At) -> Result<Self> {
        match Field::read(input, at)? {
            Some(elements) => Ok(elements),
            None => bail!("an array is null that must not be"),
        }
    }
}

impl<T: Field> Field for Option<Vec<T>> {
    fn write(&self, out: &mut impl Sink, at: At) -> Result<()> {
        write_elements(out, at, self.as_deref())
    }

    fn read(input: &mut impl ByteBuf, at: At) -> Result<Self> {
        let count = if at.flexible { read_compact_length(input)? } else { length(input.try_get_i32()?)? };
        let Some(count) = count else { return Ok(None) };
        // Every element has at least one byte, so no true count is larger.
        ensure!(count <= input.remaining(), "an array claims {count} elements");
        let mut elements = Vec::with_capacity(count);
        for _ in 0..count {
            elements.push(T::read(input, at)?);
        }
        Ok(Some(elements))
    }
}

fn write_elements<T: Field>(out: &mut impl Sink, at: At, elements: Option<&[T]>) -> Result<()> {
    let count = elements.map(<[T]>::len);
    if at.flexible {
        write_compact_length(out, count)?;
    } else {
        let count = count.map_or(Ok(-1), i32::try_from)?;
        out.put(&count.to_be_bytes());
    }
    for element in elements.unwrap_or_default() {
        element.write(out, at)?;
    }
    Ok(())
}

/// Null for −1.
fn length(sent: i32) -> Result<Option<usize>> {
    match sent {
        -1 => Ok(None),
        length => Ok(Some(usize::try_from(length)?)),
    }
}

fn write_compact_length(out: &mut impl Sink, length: Option<usize>) -> Result<()> {
    let shifted = length.map_or(Ok(0), |length| u32::try_from(length + 1))?;
    write_varint(out, shifted);
    Ok(())
}

fn read_compact_length(input: &mut impl ByteBuf) -> Result<Option<usize>> {
    Ok((read_varint(input)? as usize).checked_sub(1))
}

/// Seven bits a byte, lowest first; the top bit says that more follow.
pub(super) fn write_varint(out: &mut impl Sink, mut value: u32) {
    while value >= 0x80 {
        out.put(&[value as u8 | 0x80]);
        value >>= 7;
    }
    out.put(&[value as u8]);
}

pub(super) fn read_varint(input: &mut impl ByteBuf) -> Result<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = input.try_get_u8()?;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    bail!("a varint is longer than five bytes")
}
