//! What must hold, as seen from outside.

use super::client::Client;
use super::world::PARTITIONS;

pub(crate) type Outcome = Result<(), String>;

pub(crate) fn ensure(holds: bool, wrong: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// No partition is read by two members.
pub(crate) fn nothing_is_read_twice(clients: &[Client]) -> Outcome {
    for partition in 0..PARTITIONS {
        let readers = clients.iter().filter(|client| client.held.contains(&partition)).count();
        ensure(readers <= 1, || format!("{readers} members read partition {partition}: {clients:?}"))?;
    }
    Ok(())
}

/// Whether everything is read, by members which have nothing more to do and are all at the same epoch.
pub(crate) fn is_together(clients: &[Client], group_epoch: i32) -> bool {
    let members = || clients.iter().filter(|client| client.epoch.is_some());
    let read: usize = members().map(|member| member.held.len()).sum();
    members().all(|m| m.epoch == Some(group_epoch) && m.told.is_none() && !m.reports)
        && (members().count() == 0 || read == PARTITIONS as usize)
}
