//! A client that consumes, transforms and produces: one step at a time, so that it may stop after any of them.

use rallypoint::txn::transaction::ClientVersion;
use rallypoint::types::ProducerIdAndEpoch;

use super::broker::{Broker, PARTITIONS, Refused, Transaction};
use super::prng::Prng;

/// Which of the two protocols a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    V1,
    V2,
}

impl Protocol {
    pub(crate) const fn version(self) -> ClientVersion {
        match self {
            Self::V1 => ClientVersion::V1,
            Self::V2 => ClientVersion::V2,
        }
    }
}

/// A request as it is sent: it may come late.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) id: String,
    pub(crate) protocol: Protocol,
    pub(crate) producer: ProducerIdAndEpoch,
    pub(crate) transaction: Transaction,
    pub(crate) kind: RequestKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RequestKind {
    AddPartition(i32),
    AddOffsets,
    Produce { partition: i32, sequence: i32 },
    CommitOffset { partition: i32, offset: i64 },
    End { committed: bool },
}

/// See the module.
pub(crate) struct Producer {
    id: String,
    protocol: Protocol,
    /// None before it is initialized, and once it was told that it is not what it was.
    producer: Option<ProducerIdAndEpoch>,
    is_fenced: bool,
    /// The transaction that it is in, and what it has added to it.
    transaction: Option<Transaction>,
    added: Vec<i32>,
    added_offsets: bool,
    sequences: [i32; PARTITIONS as usize],
    next_offset: i64,
}

impl Producer {
    pub(crate) fn new(id: &str, protocol: Protocol) -> Self {
        Self {
            id: id.to_owned(),
            protocol,
            producer: None,
            is_fenced: false,
            transaction: None,
            added: Vec::new(),
            added_offsets: false,
            sequences: [0; PARTITIONS as usize],
            next_offset: 0,
        }
    }

    /// Does one thing. Without the markers of its last transaction, or while it is fenced, that may come to nothing.
    pub(crate) fn step(&mut self, broker: &mut Broker, prng: &mut Prng) {
        if self.is_fenced {
            return;
        }
        if self.producer.is_none() {
            self.producer = broker.init(&self.id, 1 + prng.below(60_000) as i32).ok();
            return;
        }
        let partition = prng.below(PARTITIONS as usize) as i32;
        let needs_adding = self.protocol == Protocol::V1;
        match prng.below(6) {
            0..=2 if needs_adding && !self.added.contains(&partition) => {
                let is_added = self.try_send(broker, RequestKind::AddPartition(partition));
                self.added.extend(is_added.then_some(partition));
            }
            0..=2 => {
                let sequence = self.sequences[partition as usize];
                if self.try_send(broker, RequestKind::Produce { partition, sequence }) {
                    self.sequences[partition as usize] += 1;
                }
            }
            3 if needs_adding && !self.added_offsets => {
                self.added_offsets = self.try_send(broker, RequestKind::AddOffsets);
            }
            3 => {
                self.next_offset += 1;
                self.try_send(broker, RequestKind::CommitOffset { partition, offset: self.next_offset });
            }
            _ if self.transaction.is_some() => {
                let committed = !prng.one_in(3);
                if self.try_send(broker, RequestKind::End { committed }) {
                    self.ended();
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self) {
        self.transaction = None;
        self.added.clear();
        self.added_offsets = false;
        if self.protocol == Protocol::V2 {
            self.sequences = [0; PARTITIONS as usize];
        }
    }

    /// Sends a request; whoever is refused for good does nothing any more.
    fn try_send(&mut self, broker: &mut Broker, kind: RequestKind) -> bool {
        let request = self.request(broker, kind);
        match broker.handle(&request) {
            Ok(producer) => {
                self.producer = Some(producer);
                true
            }
            Err(Refused::NotNow) => false,
            Err(Refused::ForGood) => {
                self.is_fenced = true;
                false
            }
        }
    }

    /// A request of the transaction that it is in, which begins with it if there is none.
    pub(crate) fn request(&mut self, broker: &mut Broker, kind: RequestKind) -> Request {
        let transaction = *self.transaction.get_or_insert_with(|| broker.new_transaction());
        Request {
            id: self.id.clone(),
            protocol: self.protocol,
            producer: self.producer.expect("it is initialized"),
            transaction,
            kind,
        }
    }

    pub(crate) fn initialize(&mut self, broker: &mut Broker) {
        self.producer = Some(broker.init(&self.id, 60_000).expect("nobody else is here"));
    }

    /// Sends what must succeed.
    pub(crate) fn send(&mut self, broker: &mut Broker, kind: RequestKind) {
        assert!(self.try_send(broker, kind), "{kind:?}");
        if matches!(kind, RequestKind::End { .. }) {
            self.ended();
        }
    }
}
