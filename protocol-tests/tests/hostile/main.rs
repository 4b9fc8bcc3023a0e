//! What a broker on a shared host must outlive: each test is an attack on the real binary, while a bystander's
//! heartbeats are timed and memory is watched. SECURITY.md lists them with their bounds.
//!
//! With `HOSTILE_STRICT=1` (a release build on a machine that has nothing else to do) heartbeats are held to the bound;
//! otherwise to one that a debug build on a busy machine can keep.

mod amplification;
mod answers;
mod connections;
mod consumer;
mod frames;
mod groups;
mod memory;
mod topics;
mod transactions;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol_tests::victim::{Damage, Victim};

pub(crate) const KIB: usize = 1 << 10;
pub(crate) const MIB: usize = 1 << 20;

pub(crate) fn victim(settings: &[(&str, &str)]) -> Victim {
    Victim::start(env!("CARGO_BIN_EXE_rallypoint-under-test"), settings)
}

/// Attacks a broker with these configs.
pub(crate) fn attack(name: &str, settings: &[(&str, &str)], attack: impl FnOnce(&Victim)) -> Damage {
    let _alone = alone();
    judge(victim(settings).suffer(name, attack))
}

/// One attack at a time: the machine's speed and ports are shared.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn is_strict() -> bool {
    std::env::var_os("HOSTILE_STRICT").is_some()
}

/// Bystanders were served all the while.
pub(crate) fn judge(damage: Damage) -> Damage {
    let bound = Duration::from_millis(if is_strict() { 50 } else { 2_000 });
    assert!(damage.heartbeat_p99 < bound, "heartbeats of others took {:?}", damage.heartbeat_p99);
    damage
}
