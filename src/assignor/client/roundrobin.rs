//! `roundrobin`: one partition after another, one member after another. Source: the Java client's RoundRobinAssignor.

use super::group::Group;

pub(super) fn assign(group: &Group<'_>) -> Vec<Vec<usize>> {
    let mut assignment = vec![Vec::new(); group.members.len()];
    let order = group.sorted_members();
    let subscribers = group.subscribers(order.iter().copied());
    let mut circle = order.iter().copied().cycle();
    let mut subscribes = vec![false; group.members.len()];
    for (topic, subscribers) in subscribers.iter().enumerate() {
        for &member in subscribers {
            subscribes[member] = true;
        }
        for slot in group.slots.of(topic) {
            // Every topic here has a subscriber, so that the search comes to an end.
            let Some(member) = circle.find(|&member| subscribes[member]) else { return assignment };
            assignment[member].push(slot);
        }
        for &member in subscribers {
            subscribes[member] = false;
        }
    }
    assignment
}
