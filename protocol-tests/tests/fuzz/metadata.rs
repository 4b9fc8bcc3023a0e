//! What members of the classic protocol say to each other: a coordinator reads it when such a group becomes a consumer
//! group, and writes the assignments itself from then on.

use rallypoint::coordinator::command::{Command, SyncGroup};

use super::group::{Play, subscription};

/// What to change in a whole Subscription, and what to put behind it; the same for an Assignment.
type Input = (Vec<(u8, u8)>, Vec<u8>, Vec<(u8, u8)>, Vec<u8>);

/// Version 1, partitions 0 and 1 of the topic `t`, and no user data.
const ASSIGNMENT: [u8; 25] =
    [0, 1, 0, 0, 0, 1, 0, 1, b't', 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff];

fn changed(mut bytes: Vec<u8>, edits: &[(u8, u8)], tail: &[u8]) -> Vec<u8> {
    for (place, byte) in edits {
        let place = usize::from(*place) % bytes.len();
        bytes[place] = *byte;
    }
    bytes.extend(tail);
    bytes
}

pub(crate) fn fuzz() {
    super::fuzz("member_metadata", |(edits, tail, assignment_edits, assignment_tail): Input, outcomes| {
        let metadata = changed(subscription(&["t", "topic"], &[0, 1]), &edits, &tail);
        let assignment = changed(ASSIGNMENT.to_vec(), &assignment_edits, &assignment_tail);
        let mut play = Play::begin();
        play.create_topics();
        let member = play.join_classic(&metadata);
        play.submit(Command::SyncGroup(SyncGroup {
            group: "g",
            member: &member,
            instance: None,
            generation: 1,
            protocol_type: None,
            protocol_name: None,
            assignments: &[(&member, &assignment)],
        }));
        let upgraded = play.join_consumer();
        outcomes.note(|| upgraded);
        // The first one goes on, in a group of whichever kind it is now.
        play.join_classic(&metadata);
        play.end();
    });
}
