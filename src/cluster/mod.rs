//! What the cluster knows of its clients: their quotas, and the SCRAM credentials of users.
//!
//! Both are kept, checked and shown as Kafka's controller does it, and answer in its words. Nothing here knows a message
//! or an error code.
// Differs from Kafka: the quotas of clients are kept and shown, but hold nobody back; there is no SASL listener that
// would ask for a credential.

pub mod client_quotas;
pub mod scram;

use std::sync::{Mutex, MutexGuard, PoisonError};

use client_quotas::ClientQuotas;
use scram::ScramCredentials;

/// What is kept, each behind its lock.
#[derive(Debug, Default)]
pub struct Cluster {
    client_quotas: Mutex<ClientQuotas>,
    scram: Mutex<ScramCredentials>,
}

impl Cluster {
    /// The quotas of clients.
    pub fn client_quotas(&self) -> MutexGuard<'_, ClientQuotas> {
        lock(&self.client_quotas)
    }

    /// The SCRAM credentials of users.
    pub fn scram(&self) -> MutexGuard<'_, ScramCredentials> {
        lock(&self.scram)
    }
}

// A panic while the lock was held left a whole state: each change is one insertion or removal.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
