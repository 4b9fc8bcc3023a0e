//! Tests of rallypoint from outside its own modules: transcripts of the core, random interleavings, the wire,
//! the command line, and real clients.

pub mod blessed;
pub mod peer;
pub mod requests;
pub mod transcript;
pub mod victim;
