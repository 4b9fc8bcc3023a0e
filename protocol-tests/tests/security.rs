//! The table of SECURITY.md: input, answer, bound, and the test that tries it. Bounds come from `limits`, and the tests
//! must exist.

use std::fmt::Write;
use std::fs;

use protocol_tests::blessed::{check, root};
use rallypoint::limits::{
    ACCEPT_PAUSE_MS, BUFFERED_BYTES_ALWAYS, BUFFERED_BYTES_MAX, CLIENT_QUOTA_ENTITIES_MAX,
    COMPLAINT_INTERVAL_MS, DECODED_BYTES_MAX, DECODED_BYTES_PER_FRAME_BYTE, EVENT_LINE_CHARS_MAX,
    EVENT_LINES_PER_SECOND, FILES_SPARE, GROUP_MEMBERS_BYTES_MAX, GROUP_MEMBERS_MAX, GROUPS_BYTES_MAX,
    JOBS_AT_ONCE_MAX, LOG_BYTES_MAX, LONG_REQUESTS_AT_ONCE_MAX, PARTITIONS_MAX, PARTITIONS_PER_REQUEST_MAX,
    PROTOCOLS_PER_MEMBER_MAX, READ_BYTES_MAX, REGEX_BYTES_MAX, REGEX_CHARS_MAX, REGEX_MATCHES_PER_GROUP_MAX,
    REGEXES_PER_GROUP_MAX, REQUEST_ELEMENTS_MAX, RESPONSE_BYTES_MAX, SCRAM_USERS_MAX, SUBSCRIBED_TOPICS_MAX,
    TRANSACTIONS_BYTES_MAX, TURN_MS_MAX, UNSENT_BYTES_MAX,
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
const CONSUMER: &str = "protocol-tests/tests/hostile/consumer.rs";
const ANSWERS: &str = "protocol-tests/tests/hostile/answers.rs";
const AMPLIFICATION: &str = "protocol-tests/tests/hostile/amplification.rs";
const MEMORY: &str = "protocol-tests/tests/hostile/memory.rs";
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
            "the most elements that a request may have, of every API",
            "answered, or closed",
            format!("{REQUEST_ELEMENTS_MAX} elements; {LONG_REQUESTS_AT_ONCE_MAX} such requests at a time"),
            AMPLIFICATION,
            "no_request_takes_more_than_its_share",
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
            "all of this, and topics and groups, again and again",
            "what is over leaves nothing behind",
            "as much memory as before, and a half".to_owned(),
            MEMORY,
            "what_is_over_leaves_nothing_behind",
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
            "very many groups, listed again and again",
            "answered, beside the others",
            format!("{LONG_REQUESTS_AT_ONCE_MAX} such requests at a time"),
            GROUPS,
            "very_many_groups_can_be_listed",
        ),
        threat(
            "client ids of 32 KB",
            "kept in member ids only",
            format!("`rallypoint.groups.max.bytes` ({})", size(GROUPS_BYTES_MAX)),
            CONNECTIONS,
            "long_client_ids_are_kept_where_they_must_be_and_nowhere_else",
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

/// Consumer groups, for which the broker computes.
fn of_consumer_groups() -> Vec<Threat> {
    let in_all = || format!("`rallypoint.groups.max.bytes` ({})", size(GROUPS_BYTES_MAX));
    vec![
        threat(
            "members of a consumer group without end",
            "GROUP_MAX_SIZE_REACHED",
            format!("`group.consumer.max.size`, at most {GROUP_MEMBERS_MAX}"),
            CONSUMER,
            "members_of_a_consumer_group_without_end_are_refused",
        ),
        threat(
            "consumer groups without end",
            "GROUP_MAX_SIZE_REACHED",
            in_all(),
            CONSUMER,
            "consumer_groups_without_end_are_refused",
        ),
        threat(
            "subscriptions to very many topics",
            "INVALID_REQUEST, GROUP_MAX_SIZE_REACHED",
            format!("{SUBSCRIBED_TOPICS_MAX} topics a member"),
            CONSUMER,
            "a_subscription_has_so_many_topics_and_weighs_what_it_takes",
        ),
        threat(
            "new subscriptions to 10,000 topics with every heartbeat",
            "answered; assigned now and then",
            "`group.consumer.assignment.interval.ms`".to_owned(),
            CONSUMER,
            "new_subscriptions_all_the_time_hold_nobody_up",
        ),
        threat(
            "10,000 members and 81,000 partitions",
            "answered; assigned now and then",
            "`group.consumer.assignment.interval.ms`".to_owned(),
            CONSUMER,
            "targets_of_very_many_members_hold_nobody_up",
        ),
        threat(
            "groups that are assigned all partitions each",
            "GROUP_MAX_SIZE_REACHED",
            in_all(),
            CONSUMER,
            "what_members_are_assigned_is_bounded",
        ),
        threat(
            "owned partitions and epochs that are lies",
            "not believed; FENCED_MEMBER_EPOCH, INVALID_REQUEST",
            format!("{PARTITIONS_MAX} partitions"),
            CONSUMER,
            "what_a_member_says_it_owns_is_not_believed",
        ),
        threat(
            "a classic group with partitions that there are not, and its upgrade",
            "passed over",
            "the partitions of the topic".to_owned(),
            CONSUMER,
            "partitions_that_there_are_not_are_not_taken_over_from_a_classic_group",
        ),
        threat(
            "costly and very many regular expressions",
            "INVALID_REGULAR_EXPRESSION, GROUP_MAX_SIZE_REACHED",
            format!(
                "{REGEX_CHARS_MAX} characters, {} compiled, {REGEXES_PER_GROUP_MAX} a group; {JOBS_AT_ONCE_MAX} jobs at \
                 a time",
                size(REGEX_BYTES_MAX)
            ),
            CONSUMER,
            "regular_expressions_are_bounded_in_length_size_and_number",
        ),
        threat(
            "regular expressions that match everything",
            "too much matches nothing; the log says so",
            format!("{REGEX_MATCHES_PER_GROUP_MAX} matches a group; {}", in_all()),
            CONSUMER,
            "what_regular_expressions_match_is_bounded",
        ),
        threat(
            "an assignor of the program that panics, or gives what there is not",
            "UNKNOWN_SERVER_ERROR; the group keeps what it has",
            String::new(),
            "protocol-tests/tests/cases/assignors.rs",
            "an_assignor_that_panics_or_lies_changes_nothing_and_can_be_asked_again",
        ),
        threat(
            "a regular expression that meets a bug of ours",
            "looked at again with the next heartbeat",
            String::new(),
            "src/server/jobs.rs",
            "a_job_that_meets_a_bug_is_given_up_and_its_group_is_told",
        ),
    ]
}

/// The same large thing asked for 10,000 times and more in one request.
fn of_answers() -> Vec<Threat> {
    let answers = [
        ("DescribeGroups of one large group", "a_large_group_is_not_described_without_end_in_one_answer"),
        (
            "ConsumerGroupDescribe of one large group",
            "a_large_consumer_group_is_not_described_without_end_in_one_answer",
        ),
        ("OffsetFetch of one group", "the_offsets_of_a_group_are_not_fetched_without_end_in_one_answer"),
        ("DescribeConfigs of all brokers", "configs_are_not_described_without_end_in_one_answer"),
    ];
    let bound = || format!("{} an answer", size(RESPONSE_BYTES_MAX));
    answers.map(|(input, test)| threat(input, "closed", bound(), ANSWERS, test)).into()
}

/// Every attack is in the table.
#[test]
fn lists_all_that_is_tried() {
    let threats = threats();
    for file in fs::read_dir(root().join("protocol-tests/tests/hostile")).expect("the attacks") {
        let source = fs::read_to_string(file.expect("a file").path()).expect("it can be read");
        let tests = source.split("#[test]\nfn ").skip(1).filter_map(|rest| rest.split('(').next());
        for test in tests {
            assert!(threats.iter().any(|threat| threat.test == test), "SECURITY.md does not list {test}");
        }
    }
}

fn threats() -> Vec<Threat> {
    [of_connections(), of_state(), of_consumer_groups(), of_answers()].into_iter().flatten().collect()
}

#[test]
fn lists_what_is_tried() {
    let mut table = String::from("| input | answer | bound | test |\n|---|---|---|---|\n");
    for Threat { input, answer, bound, file, test } in threats() {
        let source = fs::read_to_string(root().join(file)).expect("the file of the test");
        assert!(source.contains(&format!("fn {test}()")), "{file} has no test {test}");
        let _ = writeln!(table, "| {input} | {answer} | {bound} | `{test}` |");
    }
    check("SECURITY.md", "threats", &table);
}
