//! What tells two states apart: everything but the numbers of epochs and the time of day.

use std::hash::{DefaultHasher, Hash, Hasher};

use rallypoint::coordinator::record::{OwnedPartition, Record};

use super::world::World;

/// Epochs that are so far behind that of the group are all alike: whoever is there will be fenced, or has been.
const BEHIND_MAX: i32 = 3;

/// The fingerprint of a state.
pub(crate) fn of(world: &World) -> u64 {
    let mut hash = DefaultHasher::new();
    let records: Vec<Record> = world.records().collect();
    let group_epoch = records.iter().find_map(|record| match record {
        Record::ConsumerGroupMetadata { value, .. } => value.map(|value| value.epoch),
        _ => None,
    });
    let behind = |epoch: i32| (group_epoch.unwrap_or_default() - epoch).min(BEHIND_MAX);
    group_epoch.is_some().hash(&mut hash);
    for record in &records {
        match record {
            Record::ConsumerGroupMemberMetadata { member, .. } => member.as_str().hash(&mut hash),
            Record::ConsumerGroupTargetAssignmentMetadata { value, .. } => {
                value.map(|target| behind(target.epoch)).hash(&mut hash);
            }
            Record::ConsumerGroupTargetAssignmentMember { member, value, .. } => {
                let target =
                    value.as_ref().map(|target| target.iter().flat_map(|(_, parts)| parts.iter().copied()));
                (member.as_str(), target.map(Iterator::collect::<Vec<i32>>)).hash(&mut hash);
            }
            Record::ConsumerGroupCurrentMemberAssignment { member, value: Some(current), .. } => {
                let held = |owned: &[OwnedPartition]| -> Vec<(i32, i32)> {
                    owned.iter().map(|o| (o.partition.partition, behind(o.since_epoch))).collect()
                };
                (member.as_str(), behind(current.epoch), behind(current.previous_epoch)).hash(&mut hash);
                (current.state as u8, held(&current.assigned), held(&current.pending_revocation))
                    .hash(&mut hash);
            }
            _ => {}
        }
    }
    for client in &world.clients {
        (client.epoch.map(behind), &client.held, &client.told, client.reports).hash(&mut hash);
    }
    hash.finish()
}
