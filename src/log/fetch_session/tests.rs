use super::*;

const UNCHANGED: Answered = answered(10, false);

const fn answered(high_watermark: i64, has_records: bool) -> Answered {
    Answered { has_records, high_watermark, log_start_offset: 0, is_error: false }
}

fn at(monotonic: i64) -> Now {
    Now { monotonic: Millis(monotonic), wall: Millis(0) }
}

fn partition(topic: &str, partition: i32) -> FetchPartition {
    FetchPartition { topic: FetchTopic::Name(TopicName::from(topic)), partition }
}

fn wanted(topic: &str, index: i32, offset: i64) -> (FetchPartition, FetchParams) {
    let params = FetchParams { offset, bytes_max: 100, current_leader_epoch: None, last_fetched_epoch: None };
    (partition(topic, index), params)
}

fn request(id: i32, epoch: i32) -> SessionRequest {
    SessionRequest { id, epoch, uses_topic_ids: false }
}

/// Begins a session over partitions 0 to `count` - 1 of topic `t`.
fn begun(sessions: &mut FetchSessions, now: Now, count: i32) -> i32 {
    let mut partitions: Vec<_> = (0..count).map(|index| wanted("t", index, 10)).collect();
    let context = sessions.begin(now, request(0, 0), &mut partitions, &[]).unwrap();
    let answers = vec![UNCHANGED; partitions.len()];
    let finished = sessions.finish(now, context, &partitions, &answers).unwrap();
    assert!(finished.news.iter().all(|news| *news), "the first answer holds all partitions");
    finished.session_id
}

fn indexes(partitions: &[(FetchPartition, FetchParams)]) -> Vec<i32> {
    partitions.iter().map(|(partition, _)| partition.partition).collect()
}

fn sessions() -> FetchSessions {
    FetchSessions::new(2, 1000, 1)
}

#[test]
fn only_news_is_answered() {
    let mut sessions = sessions();
    let id = begun(&mut sessions, at(0), 3);
    assert!(id > 0);

    let mut partitions = vec![];
    let context = sessions.begin(at(1), request(id, 1), &mut partitions, &[]).unwrap();
    assert_eq!(indexes(&partitions), [0, 1, 2], "what is not named is remembered");
    let answers = [answered(11, true), UNCHANGED, answered(12, false)];
    let finished = sessions.finish(at(1), context, &partitions, &answers).unwrap();
    assert_eq!(finished, Finished { session_id: id, news: vec![true, false, true] });

    // Who had records comes last the next time, so that a small max_bytes starves nobody.
    let mut partitions = vec![wanted("t", 0, 11)];
    let context = sessions.begin(at(2), request(id, 2), &mut partitions, &[]).unwrap();
    assert_eq!(indexes(&partitions), [1, 2, 0]);
    assert_eq!(partitions[2].1.offset, 11, "what is named is renewed");
    let answers = [UNCHANGED, answered(12, false), answered(11, false)];
    let finished = sessions.finish(at(2), context, &partitions, &answers).unwrap();
    assert_eq!(finished.news, [false, false, false]);
}

#[test]
fn an_error_is_news_and_so_is_its_end() {
    let mut sessions = sessions();
    let id = begun(&mut sessions, at(0), 1);
    let error = Answered { has_records: false, high_watermark: -1, log_start_offset: -1, is_error: true };
    let expected = [(UNCHANGED, false), (error, true), (error, true), (UNCHANGED, true), (UNCHANGED, false)];
    for (epoch, (answer, news)) in (1..).zip(expected) {
        let mut partitions = vec![];
        let context = sessions.begin(at(1), request(id, epoch), &mut partitions, &[]).unwrap();
        let finished = sessions.finish(at(1), context, &partitions, &[answer]).unwrap();
        assert_eq!(finished.news, [news], "epoch {epoch}");
    }
}

#[test]
fn partitions_are_added_and_forgotten() {
    let mut sessions = sessions();
    let id = begun(&mut sessions, at(0), 2);
    let mut partitions = vec![wanted("u", 7, 0)];
    sessions.begin(at(1), request(id, 1), &mut partitions, &[partition("t", 0)]).unwrap();
    assert_eq!(indexes(&partitions), [1, 7]);

    let mut partitions = vec![];
    let forgotten = [partition("t", 1), partition("u", 7), partition("never", 1)];
    let context = sessions.begin(at(1), request(id, 2), &mut partitions, &forgotten).unwrap();
    assert_eq!(context, FetchContext::Sessionless, "an empty session ends");
    let again = sessions.begin(at(1), request(id, 3), &mut partitions, &[]);
    assert_eq!(again, Err(SessionError::FetchSessionIdNotFound));
}

#[test]
fn a_session_goes_on_only_with_its_id_epoch_and_kind() {
    let mut sessions = sessions();
    let id = begun(&mut sessions, at(0), 1);
    let mut begin = |request| sessions.begin(at(1), request, &mut vec![], &[]).unwrap_err();
    assert_eq!(begin(request(id + 1, 1)), SessionError::FetchSessionIdNotFound);
    assert_eq!(begin(request(id, 2)), SessionError::InvalidFetchSessionEpoch);
    assert_eq!(begin(request(id, -5)), SessionError::InvalidFetchSessionEpoch);
    let with_ids = SessionRequest { uses_topic_ids: true, ..request(id, 1) };
    assert_eq!(begin(with_ids), SessionError::FetchSessionTopicIdError);
}

#[test]
fn an_answer_of_an_earlier_epoch_is_refused() {
    let mut sessions = sessions();
    let id = begun(&mut sessions, at(0), 1);
    let mut partitions = vec![];
    let late = sessions.begin(at(1), request(id, 1), &mut partitions, &[]).unwrap();
    sessions.begin(at(1), request(id, 2), &mut vec![], &[]).unwrap();
    let finished = sessions.finish(at(1), late, &partitions, &[UNCHANGED]);
    assert_eq!(finished, Err(SessionError::InvalidFetchSessionEpoch));
}

#[test]
fn a_full_fetch_ends_the_session_it_names() {
    let mut sessions = sessions();
    let id = begun(&mut sessions, at(0), 1);
    let context = sessions.begin(at(1), request(id, -1), &mut vec![wanted("t", 0, 1)], &[]).unwrap();
    assert_eq!(context, FetchContext::Sessionless);
    let gone = sessions.begin(at(1), request(id, 1), &mut vec![], &[]);
    assert_eq!(gone, Err(SessionError::FetchSessionIdNotFound));
}

#[test]
fn a_place_is_given_up_only_by_the_idle_and_the_small_and_old() {
    let mut sessions = sessions();
    let small = begun(&mut sessions, at(0), 1);
    let large = begun(&mut sessions, at(0), 5);
    assert_eq!(begun(&mut sessions, at(120_000), 9), 0, "both are young");

    // Both are used after two minutes, and thus old but not idle.
    for id in [small, large] {
        sessions.begin(at(120_001), request(id, 1), &mut vec![], &[]).unwrap();
    }
    assert_eq!(begun(&mut sessions, at(120_002), 1), 0, "none is smaller");
    assert!(begun(&mut sessions, at(120_002), 2) > 0);
    let lost = sessions.begin(at(120_003), request(small, 2), &mut vec![], &[]);
    assert_eq!(lost, Err(SessionError::FetchSessionIdNotFound));

    assert!(begun(&mut sessions, at(240_002), 1) > 0, "the large one was idle for two minutes");
    let lost = sessions.begin(at(240_002), request(large, 2), &mut vec![], &[]);
    assert_eq!(lost, Err(SessionError::FetchSessionIdNotFound));
    assert_eq!((sessions.sessions.len(), sessions.by_last_use.len()), (2, 2));
}

#[test]
fn the_partitions_of_all_sessions_are_bounded() {
    let mut sessions = FetchSessions::new(10, 6, 1);
    let id = begun(&mut sessions, at(0), 4);
    assert_eq!(begun(&mut sessions, at(0), 3), 0);
    let mut more: Vec<_> = (4..7).map(|index| wanted("t", index, 0)).collect();
    let refused = sessions.begin(at(1), request(id, 1), &mut more, &[]);
    assert_eq!(refused, Err(SessionError::FetchSessionIdNotFound));
    assert_eq!(sessions.partitions, 0);
    assert!(begun(&mut sessions, at(1), 6) > 0);
}

#[test]
fn epochs_go_on_at_1() {
    assert_eq!((next_epoch(1), next_epoch(i32::MAX)), (2, 1));
}
