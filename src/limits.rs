//! Every upper bound that is ours and not Kafka's, with its unit and why it is what it is.
//!
//! What Kafka bounds with a key of its own is in [`crate::config`].

/// Bytes of a configuration file: a hundred times what a complete one takes.
pub const CONFIG_FILE_BYTES_MAX: u64 = 1 << 20;

/// Topics that flags and environment may ask for at start: more is a script gone wrong.
pub const TOPICS_AT_START_MAX: usize = 10_000;

/// What a request may take once decoded, in bytes, for each byte of its frame.
///
/// Kafka's own worst case is about eight (KAFKA-14063).
pub const DECODED_BYTES_PER_FRAME_BYTE: usize = 8;

/// What any request may take once decoded, in bytes: short fields weigh more decoded, but so few of them do no harm.
pub const DECODED_BYTES_ALWAYS: usize = 1 << 20;

/// What no request may exceed once decoded, in bytes: with the largest frame (100 MiB) it stays under 256 MiB.
pub const DECODED_BYTES_MAX: usize = 128 << 20;

/// Elements of all arrays of a request: three for each partition that there may be. An element of four bytes may make one
/// of hundreds in the answer.
pub const REQUEST_ELEMENTS_MAX: usize = 3 * PARTITIONS_MAX;

/// What the request in a frame of this length may take once decoded, in bytes.
#[must_use]
pub const fn decoded_bytes_max(frame_bytes: usize) -> usize {
    let bytes = frame_bytes.saturating_mul(DECODED_BYTES_PER_FRAME_BYTE);
    if bytes < DECODED_BYTES_ALWAYS {
        DECODED_BYTES_ALWAYS
    } else if bytes > DECODED_BYTES_MAX {
        DECODED_BYTES_MAX
    } else {
        bytes
    }
}

/// Texts about single records in one Produce answer: a batch of 1 MiB may hold 150,000 records, and each text
/// takes a hundred bytes or more.
pub const RECORD_ERRORS_MAX: usize = 1_000;

/// Partitions in all fetch sessions together, at some 200 bytes each.
pub const FETCH_SESSION_PARTITIONS_MAX: usize = 500_000;

/// Partitions of all topics together. Each takes memory even when it is empty; a coordinator on a laptop meets some
/// thousands.
pub const PARTITIONS_MAX: usize = 100_000;

/// Partitions that one request may add, as in Kafka (`ReplicationControlManager`).
pub const PARTITIONS_PER_REQUEST_MAX: usize = 10_000;

/// Metadata records (topics, configs, partitions) that one request may write, as in Kafka
/// (`QuorumController.MAX_RECORDS_PER_USER_OP`).
pub const CONTROLLER_RECORDS_MAX: usize = 10_000;

/// Characters of a client's reason to join or leave that are kept, as in Kafka (KIP-800).
pub const REASON_CHARS_MAX: usize = 255;

/// Bytes of one answer: a hundred groups with a megabyte each.
pub const RESPONSE_BYTES_MAX: usize = 128 << 20;

/// Bytes that wait for a peer to read them before nothing more is read from it. One response may be larger.
pub const UNSENT_BYTES_MAX: usize = 1 << 20;

/// Room that is made for answers at first, in bytes: a few dozen small ones.
pub const UNSENT_BYTES_MIN: usize = 1 << 10;

/// Bytes of requests that are not whole and of answers that are not read, of all connections together: five of the
/// largest requests.
pub const BUFFERED_BYTES_MAX: usize = 512 << 20;

/// What one connection may hold of those whatever the others hold, in bytes.
pub const BUFFERED_BYTES_ALWAYS: usize = 64 << 10;

/// Bytes of a request that may take longer than a turn, so that it gets a thread of its own for it.
pub const LONG_REQUEST_BYTES_MIN: usize = 64 << 10;
/// The same for requests with large things in them that are only copied: records and what members tell each other.
pub const LONG_COPY_BYTES_MIN: usize = 4 << 20;

/// Requests that may take long and are answered at a time: each may take some 200 MiB meanwhile.
pub const LONG_REQUESTS_AT_ONCE_MAX: usize = 2;

/// Milliseconds that a connection with more to do may work before others have their turn.
pub const TURN_MS_MAX: i64 = 1;

/// Room that is made for a read from a connection, in bytes: at first, and when much comes in.
pub const READ_BYTES_MIN: usize = 4 << 10;
/// See [`READ_BYTES_MIN`].
pub const READ_BYTES_MAX: usize = 64 << 10;

/// Open files that are kept for other things than connections.
pub const FILES_SPARE: usize = 64;

/// Milliseconds without accepting connections after that has failed, so that it is not tried in a spin.
pub const ACCEPT_PAUSE_MS: u64 = 50;

/// Milliseconds between two looks at all connections for idle ones.
pub const IDLE_CHECK_INTERVAL_MIN_MS: i64 = 100;

/// Milliseconds between two warnings about peers: a flood of requests must not become a flood of lines.
pub const COMPLAINT_INTERVAL_MS: i64 = 1_000;

/// Records that a shard's list keeps room for after a decision that gave more.
pub const STEP_RECORDS_KEPT: usize = 64;

/// Texts, such as client ids, that a shard remembers to store them once: most servers see fewer kinds of clients.
pub const SHARED_TEXTS_MAX: usize = 256;

/// Bytes of such a text.
pub const SHARED_TEXT_BYTES_MAX: usize = 64;

/// Milliseconds until what was due and met a bug is tried again.
pub const AFTER_PANIC_MS: i64 = 1_000;

/// Lines about groups that are logged a second: a group of a thousand members may say what each of them does.
pub const EVENT_LINES_PER_SECOND: usize = 1_000;

/// Characters of a line about a group: ids are chosen by clients, and have up to 32,767 bytes.
pub const EVENT_LINE_CHARS_MAX: usize = 1_000;

/// Memory of all records together, in bytes, if `rallypoint.log.max.bytes` does not say otherwise: what a laptop
/// can spare.
pub const LOG_BYTES_MAX: usize = 1 << 30;

/// Groups and client metrics subscriptions that may have configs of their own. Kafka keeps them in its metadata
/// without a bound; with [`CONFIG_VALUE_BYTES_MAX`] this bounds what a client can store here.
pub const CONFIGURED_RESOURCES_MAX: usize = 10_000;

/// Configs of one resource: well above the 379 keys of a broker.
pub const CONFIGS_PER_RESOURCE_MAX: usize = 1_000;

/// Bytes of one config's name or value; the longest real ones are listener lists and certificates.
pub const CONFIG_VALUE_BYTES_MAX: usize = 32 << 10;

/// Members of a group, whatever `group.max.size` says: ten times the largest groups that are known. They are kept in
/// the order of their ids, so that each costs a little for each other.
pub const GROUP_MEMBERS_MAX: usize = 100_000;

/// What all members of one group may take, in bytes: the leader gets all of their metadata in one answer.
pub const GROUP_MEMBERS_BYTES_MAX: usize = 16 << 20;

/// What all groups may take together, in bytes, if `rallypoint.groups.max.bytes` does not say otherwise: a million small
/// ones.
pub const GROUPS_BYTES_MAX: usize = 1 << 30;

/// What all transactional ids and the partitions of their open transactions may take together, in bytes: half a million
/// ids, which many clients choose at random and never use again.
pub const TRANSACTIONS_BYTES_MAX: usize = 256 << 20;

/// Protocols that a member may offer: a hundred times what any client does. Each is looked up among all the others.
pub const PROTOCOLS_PER_MEMBER_MAX: usize = 1_000;

/// Topics that a member of a consumer group may name: each heartbeat that names them sorts them and counts them.
pub const SUBSCRIBED_TOPICS_MAX: usize = 10_000;

/// Memory of a compiled regular expression for topics, in bytes: what takes more is refused.
pub const REGEX_BYTES_MAX: usize = 1 << 20;

/// Characters of a regular expression for topics: four of the longest names.
pub const REGEX_CHARS_MAX: usize = 1_000;

/// Classes beyond ASCII in a regular expression for topics, whose names are ASCII. Where case is ignored, each may take
/// milliseconds to compile.
pub const REGEX_WIDE_CLASSES_MAX: usize = 8;

/// Different regular expressions in a group: its members have one in common, or two while they are upgraded.
pub const REGEXES_PER_GROUP_MAX: usize = 100;

/// Topics that all regular expressions of a group may match together, each counted as often as it is matched: one
/// expression may match all that there may be.
pub const REGEX_MATCHES_PER_GROUP_MAX: usize = PARTITIONS_MAX;

/// Jobs that are done at a time: half of what Kafka does (`group.coordinator.background.threads`), on half a machine.
pub const JOBS_AT_ONCE_MAX: usize = 1;

/// Characters of the reason that an assignor of a program gives: more than a screen shows.
pub const ASSIGNOR_ERROR_CHARS_MAX: usize = 1_000;

/// Members of a simulated group: the largest that an answer in seconds is measured for.
pub const SIMULATED_MEMBERS_MAX: usize = 10_000;

/// Partitions of all topics of a simulated group, likewise.
pub const SIMULATED_PARTITIONS_MAX: usize = 100_000;

/// Steps of a simulation: more than anybody reads.
pub const SIMULATED_STEPS_MAX: usize = 1_000;

/// Users, client ids and addresses that may have quotas. Kafka keeps them in its metadata without a bound; with
/// [`CLIENT_NAME_BYTES_MAX`] this bounds what a client can store here.
pub const CLIENT_QUOTA_ENTITIES_MAX: usize = 10_000;

/// Users that may have SCRAM credentials, likewise.
pub const SCRAM_USERS_MAX: usize = 10_000;

/// Bytes of the name of a user, client id or host that quotas or credentials are kept for.
pub const CLIENT_NAME_BYTES_MAX: usize = 1 << 10;

/// Bytes of a salt or of a salted password: ten times what SHA-512 makes.
pub const SCRAM_BYTES_MAX: usize = 640;

/// Bytes of partitions that are looked at for compaction before others may use the log: some tens of milliseconds. One
/// partition is compacted at once.
pub const COMPACTED_BYTES_PER_TURN: usize = 16 << 20;

/// Milliseconds after which a partition of `__consumer_offsets` that nobody reads is emptied.
pub const OFFSETS_TOPIC_IDLE_MS: i64 = 600_000;

/// Bytes after which another batch is begun for what a shard keeps.
pub const OFFSETS_TOPIC_BATCH_BYTES: usize = 64 << 10;
