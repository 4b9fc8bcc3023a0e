//! Two macros that turn a list of fields, written as in Kafka's schemas, into a message.
//!
//! `message!` makes a struct, its defaults and its encoding; `api!` adds the traits of the
//! `kafka-protocol` crate to a request and its response. Unknown tags are read and dropped.
//! A field that a version does not have is left out when written, and has its default when read.

use std::ops::RangeInclusive;

use super::field::At;

/// Which versions have a field, and whether it is among the tagged ones.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) versions: RangeInclusive<i16>,
    pub(super) tag: Option<u32>,
}

impl Place {
    pub(super) fn is_positional(&self, at: At) -> bool {
        self.tag.is_none() && self.versions.contains(&at.version)
    }

    pub(super) fn tag(&self, at: At) -> Option<u32> {
        self.tag.filter(|_| self.versions.contains(&at.version))
    }
}

/// `3+`, `2-4` or `3+ tag 0`, as in the schemas.
macro_rules! place {
    ($since:literal + $(tag $tag:literal)?) => {
        place!(@ $since, i16::MAX, $($tag)?)
    };
    ($since:literal - $until:literal) => {
        place!(@ $since, $until,)
    };
    (@ $since:expr, $until:expr, $($tag:literal)?) => {
        $crate::wire::kafka_4_4::message::Place {
            versions: $since..=$until,
            tag: place!(@tag $($tag)?),
        }
    };
    (@tag) => { None };
    (@tag $tag:literal) => { Some($tag) };
}

macro_rules! message {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty [$($place:tt)+] $(= $default:expr)?,)*
        }
    )+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: message!(@default $type, $($default)?),)* }
            }
        }

        impl $crate::wire::kafka_4_4::field::Field for $name {
            fn write(&self, out: &mut impl Sink, at: At) -> anyhow::Result<()> {
                $(if place!($($place)+).is_positional(at) {
                    self.$field.write(out, at)?;
                })*
                if at.flexible {
                    let tags = 0 $(+ u32::from(place!($($place)+).tag(at).is_some()
                        && self.$field != message!(@default $type, $($default)?)))*;
                    write_varint(out, tags);
                    $(if let Some(tag) = place!($($place)+).tag(at)
                        && self.$field != message!(@default $type, $($default)?)
                    {
                        let mut size = Size::default();
                        self.$field.write(&mut size, at)?;
                        write_varint(out, tag);
                        write_varint(out, u32::try_from(size.0)?);
                        self.$field.write(out, at)?;
                    })*
                }
                Ok(())
            }

            fn read(input: &mut impl ByteBuf, at: At) -> anyhow::Result<Self> {
                let mut message = Self::default();
                $(if place!($($place)+).is_positional(at) {
                    message.$field = Field::read(input, at)?;
                })*
                if at.flexible {
                    for _ in 0..read_varint(input)? {
                        let tag = read_varint(input)?;
                        let size = read_varint(input)? as usize;
                        let mut value = input.try_get_bytes(size)?;
                        $(if place!($($place)+).tag(at) == Some(tag) {
                            message.$field = Field::read(&mut value, at)?;
                        })*
                        let _ = (tag, &mut value);
                    }
                }
                Ok(message)
            }
        }
    )+};
    (@default $type:ty,) => { <$type>::default() };
    (@default $type:ty, $default:expr) => { $default };
}

macro_rules! api {
    (
        key $key:literal, versions $min:literal to $max:literal, flexible $flexible:literal,
        $request:ident, $response:ident with header $plain:literal or $tagged:literal
    ) => {
        api!(@message $request, $min, $max, $flexible, 1, 2);
        api!(@message $response, $min, $max, $flexible, $plain, $tagged);

        impl kafka_protocol::protocol::Request for $request {
            const KEY: i16 = $key;
            type Response = $response;
        }
    };
    (@message $name:ident, $min:literal, $max:literal, $flexible:literal, $plain:literal, $tagged:literal) => {
        impl $name {
            fn at(version: i16) -> anyhow::Result<At> {
                anyhow::ensure!(($min..=$max).contains(&version), "there is no version {version}");
                Ok(At { version, flexible: version >= $flexible })
            }
        }

        impl kafka_protocol::protocol::Message for $name {
            const VERSIONS: VersionRange = VersionRange { min: $min, max: $max };
            const DEPRECATED_VERSIONS: Option<VersionRange> = None;
        }

        impl kafka_protocol::protocol::HeaderVersion for $name {
            fn header_version(version: i16) -> i16 {
                if version >= $flexible { $tagged } else { $plain }
            }
        }

        impl kafka_protocol::protocol::Encodable for $name {
            fn encode<B: ByteBufMut>(&self, out: &mut B, version: i16) -> anyhow::Result<()> {
                self.write(&mut Into(out), Self::at(version)?)
            }

            fn compute_size(&self, version: i16) -> anyhow::Result<usize> {
                let mut size = Size::default();
                self.write(&mut size, Self::at(version)?)?;
                Ok(size.0)
            }
        }

        impl kafka_protocol::protocol::Decodable for $name {
            fn decode<B: ByteBuf>(input: &mut B, version: i16) -> anyhow::Result<Self> {
                Self::read(input, Self::at(version)?)
            }
        }
    };
}

pub(super) use {api, message, place};
