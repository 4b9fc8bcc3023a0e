//! A server that speaks the Kafka wire protocol and coordinates consumer groups.
//!
//! # Layout: the rooms in the order a request meets them
//!
//! `bytes → wire → api → coordinator | txn | log → api → wire → bytes`, driven by `server`.

pub mod api;
pub mod assignor;
pub mod catalog;
#[cfg(feature = "server")]
pub mod cli;
pub mod cluster;
pub mod config;
pub mod coordinator;
pub mod java;
pub mod limits;
pub mod log;
pub mod observe;
#[cfg(feature = "server")]
pub mod server;
pub mod simulate;
pub mod store;
pub mod topic_regex;
pub mod topics;
pub mod txn;
pub mod types;
pub mod wire;

/// The example in README must compile and run.
#[cfg(all(doctest, feature = "server"))]
#[doc = include_str!("../README.md")]
struct Readme;
