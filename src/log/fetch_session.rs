//! Incremental fetch sessions: the server remembers what a consumer reads, and answers only what is new.
//! Source: KIP-227, KIP-516 (topic ids), Kafka's `FetchSession`, `FetchManager` and `FetchSessionCache`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::types::{Millis, Now, TopicId, TopicName};

/// A session younger than this is not given up for a larger one, and one that was not used for as long is
/// given up for any.
const EVICTION_MS: i64 = 120_000;

/// How a Fetch names a topic: by name up to version 12, by id from 13 on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FetchTopic {
    Name(TopicName),
    Id(TopicId),
}

/// A partition as a Fetch names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FetchPartition {
    pub topic: FetchTopic,
    pub partition: i32,
}

/// What is wanted of one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchParams {
    /// Where to begin.
    pub offset: i64,
    /// As sent; what is below 0 reads nothing.
    pub bytes_max: i32,
    /// The leader epoch that the client knows of.
    pub current_leader_epoch: Option<i32>,
    /// The epoch of the last record that the client has, to find out whether it was truncated.
    pub last_fetched_epoch: Option<i32>,
}

/// The session part of a Fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionRequest {
    /// 0 is none.
    pub id: i32,
    /// 0 begins a session, -1 ends it, and each request within it counts one up.
    pub epoch: i32,
    /// From version 13 on.
    pub uses_topic_ids: bool,
}

/// Why a Fetch is refused as a whole. Variants bear the names of Kafka's errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionError {
    FetchSessionIdNotFound,
    InvalidFetchSessionEpoch,
    FetchSessionTopicIdError,
}

/// How a Fetch is to be answered; kept while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchContext {
    /// All partitions, and no session.
    Sessionless,
    /// All partitions; a session begins with the answer.
    Full { uses_topic_ids: bool },
    /// Only what changed.
    Incremental { id: i32, epoch: i32 },
}

/// What an answer says of one partition, as far as it decides whether there is news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    pub has_records: bool,
    pub high_watermark: i64,
    pub log_start_offset: i64,
    /// The partition is answered with an error.
    pub is_error: bool,
}

/// All sessions.
#[derive(Debug)]
pub struct FetchSessions {
    slots: usize,
    partitions_max: usize,
    random: u64,
    /// For look-up.
    sessions: HashMap<i32, Session>,
    by_last_use: BTreeSet<(Millis, i32)>,
    /// Partitions and id of those that are old enough to be given up for a larger one.
    evictable: BTreeSet<(usize, i32)>,
    /// Of all sessions together.
    partitions: usize,
}

#[derive(Debug)]
struct Session {
    uses_topic_ids: bool,
    /// What the next request must bear.
    epoch: i32,
    created: Millis,
    last_used: Millis,
    /// Under how many partitions it stands in `evictable`.
    counted: usize,
    /// Place → partition. Who had records is moved behind the others, so that none starves.
    partitions: BTreeMap<u64, Cached>,
    places: HashMap<FetchPartition, u64>,
    next_place: u64,
}

#[derive(Debug)]
struct Cached {
    key: FetchPartition,
    params: FetchParams,
    /// As the client knows them; -1 if it does not.
    high_watermark: i64,
    log_start_offset: i64,
}

impl FetchSessions {
    /// Room for `slots` sessions with `partitions_max` partitions in all. `seed` makes the session ids.
    #[must_use]
    pub fn new(slots: usize, partitions_max: usize, seed: u64) -> Self {
        Self {
            slots,
            partitions_max,
            random: seed,
            sessions: HashMap::new(),
            by_last_use: BTreeSet::new(),
            evictable: BTreeSet::new(),
            partitions: 0,
        }
    }

    /// Finds or ends the session of a Fetch. `partitions` is what the request names, and becomes all that is
    /// to be read, in order.
    ///
    /// # Errors
    /// All of [`SessionError`].
    pub fn begin(
        &mut self,
        now: Now,
        request: SessionRequest,
        partitions: &mut Vec<(FetchPartition, FetchParams)>,
        forgotten: &[FetchPartition],
    ) -> Result<FetchContext, SessionError> {
        let SessionRequest { id, epoch, uses_topic_ids } = request;
        if epoch == INITIAL_EPOCH || epoch == FINAL_EPOCH {
            self.remove(id);
            return Ok(match epoch {
                FINAL_EPOCH => FetchContext::Sessionless,
                _ => FetchContext::Full { uses_topic_ids },
            });
        }
        let session = self.sessions.get_mut(&id).ok_or(SessionError::FetchSessionIdNotFound)?;
        if session.epoch != epoch {
            return Err(SessionError::InvalidFetchSessionEpoch);
        }
        if session.uses_topic_ids != uses_topic_ids {
            return Err(SessionError::FetchSessionTopicIdError);
        }
        session.update(partitions, forgotten);
        if session.partitions.is_empty() {
            self.remove(id);
            return Ok(FetchContext::Sessionless);
        }
        // Differs from Kafka: the partitions of all sessions together are bounded. A client that hears of a
        // lost session sends everything again, and then gets none.
        if self.partitions - session.counted + session.partitions.len() > self.partitions_max {
            self.remove(id);
            return Err(SessionError::FetchSessionIdNotFound);
        }
        session.epoch = next_epoch(epoch);
        let context = FetchContext::Incremental { id, epoch: session.epoch };
        partitions.clear();
        partitions.extend(session.partitions.values().map(|cached| (cached.key.clone(), cached.params)));
        self.touch(now.monotonic, id);
        Ok(context)
    }

    /// Says for an answer which session id it bears, and which partitions: only where `news` is left true.
    /// `partitions` are those of [`begin`](Self::begin), `answers` their answers.
    ///
    /// # Errors
    /// `InvalidFetchSessionEpoch` if the session went on without this request meanwhile.
    pub fn finish(
        &mut self,
        now: Now,
        context: FetchContext,
        partitions: &[(FetchPartition, FetchParams)],
        answers: &[Answered],
    ) -> Result<Finished, SessionError> {
        match context {
            FetchContext::Sessionless => Ok(Finished { session_id: 0, news: vec![true; answers.len()] }),
            FetchContext::Full { uses_topic_ids } => {
                let session_id = self.create(now.monotonic, uses_topic_ids, partitions, answers);
                Ok(Finished { session_id, news: vec![true; answers.len()] })
            }
            FetchContext::Incremental { id, epoch } => {
                let session = self.sessions.get_mut(&id).filter(|session| session.epoch == epoch);
                let session = session.ok_or(SessionError::InvalidFetchSessionEpoch)?;
                let answered = partitions.iter().zip(answers);
                let news = answered.map(|((key, _), answer)| session.answered(key, answer)).collect();
                Ok(Finished { session_id: id, news })
            }
        }
    }

    /// Ends a session, if there is one with this id.
    fn remove(&mut self, id: i32) {
        if let Some(session) = self.sessions.remove(&id) {
            self.by_last_use.remove(&(session.last_used, id));
            self.evictable.remove(&(session.counted, id));
            self.partitions -= session.counted;
        }
    }

    /// Returns 0 if there is no room for a session; the client then goes on without one.
    fn create(
        &mut self,
        now: Millis,
        uses_topic_ids: bool,
        partitions: &[(FetchPartition, FetchParams)],
        answers: &[Answered],
    ) -> i32 {
        if self.sessions.len() >= self.slots && !self.evict(now, answers.len()) {
            return 0;
        }
        if self.partitions + answers.len() > self.partitions_max {
            return 0;
        }
        let id = self.new_id();
        let mut session = Session {
            uses_topic_ids,
            epoch: next_epoch(INITIAL_EPOCH),
            created: now,
            last_used: now,
            counted: 0,
            partitions: BTreeMap::new(),
            places: HashMap::new(),
            next_place: 0,
        };
        for ((key, params), answer) in partitions.iter().zip(answers) {
            session.add(Cached {
                key: key.clone(),
                params: *params,
                high_watermark: answer.high_watermark,
                log_start_offset: answer.log_start_offset,
            });
        }
        self.sessions.insert(id, session);
        self.touch(now, id);
        id
    }

    /// Gives up the session that was not used for longest, or the smallest old one if the new one is larger.
    fn evict(&mut self, now: Millis, partitions: usize) -> bool {
        let Some(&(last_used, oldest)) = self.by_last_use.first() else { return false };
        if now.since(last_used) > EVICTION_MS {
            self.remove(oldest);
            return true;
        }
        match self.evictable.first() {
            Some(&(size, smallest)) if size < partitions => {
                self.remove(smallest);
                true
            }
            _ => false,
        }
    }

    fn touch(&mut self, now: Millis, id: i32) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        self.by_last_use.remove(&(session.last_used, id));
        self.evictable.remove(&(session.counted, id));
        self.partitions -= session.counted;
        session.last_used = now;
        session.counted = session.partitions.len();
        self.partitions += session.counted;
        self.by_last_use.insert((now, id));
        if now.since(session.created) > EVICTION_MS {
            self.evictable.insert((session.counted, id));
        }
    }

    /// Random, positive and not taken (splitmix64).
    fn new_id(&mut self) -> i32 {
        loop {
            self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let id = (mixed >> 33) as i32;
            if id > 0 && !self.sessions.contains_key(&id) {
                return id;
            }
        }
    }
}

/// What [`FetchSessions::finish`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// 0 is none.
    pub session_id: i32,
    /// For each answer, whether it is sent.
    pub news: Vec<bool>,
}

impl Session {
    fn add(&mut self, cached: Cached) {
        let key = cached.key.clone();
        if let Some(place) = self.places.insert(key, self.next_place) {
            self.partitions.remove(&place);
        }
        self.partitions.insert(self.next_place, cached);
        self.next_place += 1;
    }

    fn update(&mut self, named: &[(FetchPartition, FetchParams)], forgotten: &[FetchPartition]) {
        for (key, params) in named {
            let known = self.places.get(key).and_then(|place| self.partitions.get_mut(place));
            match known {
                Some(cached) => cached.params = *params,
                None => self.add(Cached {
                    key: key.clone(),
                    params: *params,
                    high_watermark: -1,
                    log_start_offset: -1,
                }),
            }
        }
        for key in forgotten {
            if let Some(place) = self.places.remove(key) {
                self.partitions.remove(&place);
            }
        }
    }

    /// Takes note of an answer. Returns whether it is news to the client.
    fn answered(&mut self, key: &FetchPartition, answer: &Answered) -> bool {
        let Some(&place) = self.places.get(key) else { return false };
        let Some(cached) = self.partitions.get_mut(&place) else { return false };
        let news = answer.has_records
            || answer.is_error
            || cached.high_watermark != answer.high_watermark
            || cached.log_start_offset != answer.log_start_offset;
        // After an error the client must hear of the partition again, whatever there is to say.
        cached.high_watermark = if answer.is_error { -1 } else { answer.high_watermark };
        cached.log_start_offset = answer.log_start_offset;
        if answer.has_records
            && let Some(cached) = self.partitions.remove(&place)
        {
            self.add(cached);
        }
        news
    }
}

const INITIAL_EPOCH: i32 = 0;
const FINAL_EPOCH: i32 = -1;

/// After `i32::MAX` comes 1.
const fn next_epoch(epoch: i32) -> i32 {
    match epoch {
        i32::MAX => 1,
        ..0 => FINAL_EPOCH,
        _ => epoch + 1,
    }
}

#[cfg(test)]
mod tests;
