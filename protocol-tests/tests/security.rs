//! The table of SECURITY.md: input, answer, bound, and the test that tries it. Bounds come from `limits`, and the tests
//! must exist.

use std::fmt::Write;
use std::fs;

use protocol_tests::blessed::{check, root};
use rallypoint::limits::{
    ACCEPT_PAUSE_MS, BUFFERED_BYTES_ALWAYS, BUFFERED_BYTES_MAX, CLIENT_QUOTA_ENTITIES_MAX,
    COMPLAINT_INTERVAL_MS, DECODED_BYTES_MAX, DECODED_BYTES_PER_FRAME_BYTE, EVENT_LINE_CHARS_MAX,
    EVENT_LINES_PER_SECOND, FILES_SPARE, GROUP_MEMBERS_BYTES_MAX, GROUP_MEMBERS_MAX, GROUPS_BYTES_MAX,
    LOG_BYTES_MAX, PARTITIONS_MAX, PARTITIONS_PER_REQUEST_MAX, PROTOCOLS_PER_MEMBER_MAX, READ_BYTES_MAX,
    RESPONSE_BYTES_MAX, SCRAM_USERS_MAX, TRANSACTIONS_BYTES_MAX, TURN_MS_MAX, UNSENT_BYTES_MAX,
};

struct Threat {
    input: &'static str,
    answer: &'static str,
    bound: String,
    file: &'static str,
    test: &'static str,
}

fn threat(
    input: &'static str,
    answer: &'static str,
    bound: String,
    file: &'static str,
    test: &'static str,
) -> Threat {
    Threat { input, answer, bound, file, test }
}

fn size(bytes: usize) -> String {
    if bytes >= 1 << 20 { format!("{} MiB", bytes >> 20) } else { format!("{} KiB", bytes >> 10) }
}

const FRAMES: &str = "protocol-tests/tests/hostile/frames.rs";
const CONNECTIONS: &str = "protocol-tests/tests/hostile/connections.rs";
const GROUPS: &str = "protocol-tests/tests/hostile/groups.rs";
const TRANSACTIONS: &str = "protocol-tests/tests/hostile/transactions.rs";
const TOPICS: &str = "protocol-tests/tests/hostile/topics.rs";
const SERVER: &str = "src/server/tests.rs";

/// Bytes and connections.
fn of_connections() -> Vec<Threat> {
    let decoded = format!("{DECODED_BYTES_PER_FRAME_BYTE} × its frame, {}", size(DECODED_BYTES_MAX));
    vec![
        threat(
            "negative, empty and oversized frames, unknown keys and versions; HTTP, TLS and SSH",
            "closed; the log says what came",
            format!("`socket.request.max.bytes`; a line each {COMPLAINT_INTERVAL_MS} ms"),
            FRAMES,
            "what_is_no_request_closes_its_connection_and_the_log_says_what_came",
        ),
        threat(
            "counts and lengths beyond the frame, in every field of every version",
            "closed before anything is allocated",
            "the bytes that are left".to_owned(),
            SERVER,
            "a_length_that_lies_closes_its_connection_and_no_other",
        ),
        threat(
            "a large frame of empty elements",
            "charged before it is decoded, closed",
            decoded,
            FRAMES,
            "empty_elements_are_charged_before_they_are_decoded",
        ),
        threat(
            "200 × a claim of 100 MiB, then silence",
            "waits; the buffer grows with what comes",
            format!("{} of room each", size(READ_BYTES_MAX)),
            FRAMES,
            "a_claim_costs_nothing_until_its_bytes_come",
        ),
        threat(
            "100 × 64 MiB of a frame that never ends",
            "those that are too many are closed",
            format!("{} in all, {} each in any case", size(BUFFERED_BYTES_MAX), size(BUFFERED_BYTES_ALWAYS)),
            FRAMES,
            "large_frames_that_never_end_share_a_bound",
        ),
        threat(
            "1,000 frames byte by byte",
            "waits, as Kafka does",
            "`connections.max.idle.ms` between bytes".to_owned(),
            FRAMES,
            "slow_frames_cost_little",
        ),
        threat(
            "a flood of connections",
            "wait in the backlog, or closed for one address",
            format!("`max.connections`, `max.connections.per.ip`; files − {FILES_SPARE}"),
            CONNECTIONS,
            "a_flood_of_connections_leaves_room_for_others",
        ),
        threat(
            "no files left",
            "accepting pauses, the rest is served",
            format!("{ACCEPT_PAUSE_MS} ms between attempts"),
            CONNECTIONS,
            "connections_beyond_the_limit_of_files_wait_and_cost_no_time",
        ),
        threat(
            "100,000 pipelined requests, nothing read",
            "nothing more is read",
            format!("{} unsent; turns of {TURN_MS_MAX} ms", size(UNSENT_BYTES_MAX)),
            CONNECTIONS,
            "a_peer_that_pipelines_and_does_not_read_is_not_read_from",
        ),
        threat(
            "1,000 × Metadata of everything, nothing read",
            "nothing more is read",
            format!("{} and one answer", size(UNSENT_BYTES_MAX)),
            CONNECTIONS,
            "a_peer_that_asks_for_much_and_does_not_read_gets_one_answer",
        ),
        threat(
            "silence, half a frame, a parked join, a reader that stops",
            "closed",
            "`connections.max.idle.ms`".to_owned(),
            CONNECTIONS,
            "idle_connections_end_whatever_they_wait_for",
        ),
        threat(
            "10,000 long polls",
            "wait; no task, no timer each",
            "`connections.max.idle.ms`".to_owned(),
            CONNECTIONS,
            "long_polls_are_timers_and_nothing_else",
        ),
        threat(
            "a request that meets a bug of ours",
            "closed; others do not notice",
            String::new(),
            SERVER,
            "a_bug_in_a_handler_closes_its_connection_and_no_other",
        ),
        threat(
            "a group that meets a bug of ours",
            "COORDINATOR_NOT_AVAILABLE; its shard is loaded anew",
            String::new(),
            "src/server/shard.rs",
            "a_shard_that_meets_a_bug_is_loaded_anew_and_tells_those_who_wait",
        ),
    ]
}

/// What is kept for clients.
fn of_state() -> Vec<Threat> {
    vec![
        threat(
            "9,000 joins that vanish by RST, FIN and silence",
            "gone when their sessions are over",
            "`group.max.session.timeout.ms`".to_owned(),
            GROUPS,
            "members_that_vanish_leave_nothing_when_their_sessions_are_over",
        ),
        threat(
            "member ids without end that are never used",
            "GROUP_MAX_SIZE_REACHED",
            format!("`group.max.size`, at most {GROUP_MEMBERS_MAX} with the members"),
            GROUPS,
            "ids_that_are_handed_out_count_as_members",
        ),
        threat(
            "1,000 members with 1 MiB of metadata",
            "GROUP_MAX_SIZE_REACHED",
            format!("{} a group", size(GROUP_MEMBERS_BYTES_MAX)),
            GROUPS,
            "the_metadata_of_a_group_is_bounded",
        ),
        threat(
            "thousands of protocols, long instance ids and reasons",
            "INCONSISTENT_GROUP_PROTOCOL, GROUP_MAX_SIZE_REACHED",
            format!("{PROTOCOLS_PER_MEMBER_MAX} protocols; {} a group", size(GROUP_MEMBERS_BYTES_MAX)),
            GROUPS,
            "protocols_instance_ids_and_reasons_weigh_what_they_take",
        ),
        threat(
            "groups without end",
            "GROUP_MAX_SIZE_REACHED",
            format!("`rallypoint.groups.max.bytes` ({})", size(GROUPS_BYTES_MAX)),
            GROUPS,
            "groups_without_end_are_refused_and_not_again_and_again",
        ),
        threat(
            "offsets without end",
            "INVALID_COMMIT_OFFSET_SIZE",
            format!("`rallypoint.groups.max.bytes` ({})", size(GROUPS_BYTES_MAX)),
            GROUPS,
            "offsets_without_end_are_refused_and_not_again_and_again",
        ),
        threat(
            "transactional ids and their partitions without end",
            "POLICY_VIOLATION",
            format!("{} in all", size(TRANSACTIONS_BYTES_MAX)),
            TRANSACTIONS,
            "transactional_ids_without_end_are_refused",
        ),
        threat(
            "one large group described 100,000 times in one request",
            "closed",
            format!("{} an answer", size(RESPONSE_BYTES_MAX)),
            GROUPS,
            "a_large_group_is_not_described_without_end_in_one_answer",
        ),
        threat(
            "line breaks and escape sequences in ids and reasons",
            "escaped",
            format!("{EVENT_LINE_CHARS_MAX} characters a line"),
            GROUPS,
            "what_clients_say_cannot_forge_lines_of_the_log",
        ),
        threat(
            "20,000 members in a moment",
            "served; lines are counted instead of written",
            format!("{EVENT_LINES_PER_SECOND} lines a second"),
            GROUPS,
            "a_flood_of_members_is_no_flood_of_lines",
        ),
        threat(
            "CreateTopics of 2^31−1 partitions",
            "POLICY_VIOLATION",
            format!("{PARTITIONS_PER_REQUEST_MAX} a request, {PARTITIONS_MAX} in all"),
            TOPICS,
            "partitions_without_end_are_not_created",
        ),
        threat(
            "Metadata of 300,000 names",
            "answered; not created",
            format!("{PARTITIONS_PER_REQUEST_MAX} a request, {PARTITIONS_MAX} in all"),
            TOPICS,
            "topics_without_end_are_not_created_on_demand",
        ),
        threat(
            "records without end",
            "POLICY_VIOLATION",
            format!("`rallypoint.log.max.bytes` ({})", size(LOG_BYTES_MAX)),
            "src/log/tests.rs",
            "memory_is_bounded_and_given_back",
        ),
        threat(
            "commits without end while `__consumer_offsets` is read",
            "compacted",
            "the groups' own, and a segment".to_owned(),
            "src/server/offsets_topic.rs",
            "memory_does_not_grow_with_commits",
        ),
        threat(
            "quotas of clients without end",
            "INVALID_REQUEST",
            format!("{CLIENT_QUOTA_ENTITIES_MAX} entities"),
            "src/cluster/client_quotas.rs",
            "what_clients_can_store_is_bounded",
        ),
        threat(
            "SCRAM credentials without end",
            "UNACCEPTABLE_CREDENTIAL",
            format!("{SCRAM_USERS_MAX} users"),
            "src/cluster/scram.rs",
            "users_with_credentials_are_bounded",
        ),
        threat(
            "compressed bombs, batches that lie",
            "kept as sent, never decompressed; INVALID_RECORD, CORRUPT_MESSAGE",
            "`message.max.bytes`".to_owned(),
            "protocol-tests/tests/fuzz/main.rs",
            "record_batches",
        ),
    ]
}

#[test]
fn lists_what_is_tried() {
    let mut table = String::from("| input | answer | bound | test |\n|---|---|---|---|\n");
    for Threat { input, answer, bound, file, test } in of_connections().into_iter().chain(of_state()) {
        let source = fs::read_to_string(root().join(file)).expect("the file of the test");
        assert!(source.contains(&format!("fn {test}()")), "{file} has no test {test}");
        let _ = writeln!(table, "| {input} | {answer} | {bound} | `{test}` |");
    }
    check("SECURITY.md", "threats", &table);
}
