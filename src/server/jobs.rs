//! What is done aside, a few jobs at a time: groups may ask for much at once.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use crate::api::lock;
use crate::coordinator::command::RegexesResolved;
use crate::coordinator::job::Job;
use crate::limits::JOBS_AT_ONCE_MAX;

/// The jobs that wait, of which a group has at most one.
#[derive(Debug, Default)]
pub(super) struct Jobs(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Job>,
    workers: usize,
}

impl Jobs {
    /// Takes a job; tells whether there is to be one more worker, who calls [`next`](Self::next) until nothing is left.
    pub(super) fn add(&self, job: Job) -> bool {
        let mut queue = lock(&self.0);
        queue.waiting.push_back(job);
        let is_worker_wanted = queue.workers < JOBS_AT_ONCE_MAX;
        queue.workers += usize::from(is_worker_wanted);
        is_worker_wanted
    }

    /// The next job for a worker, who is dismissed if there is none.
    pub(super) fn next(&self) -> Option<Job> {
        let mut queue = lock(&self.0);
        let job = queue.waiting.pop_front();
        if job.is_none() {
            queue.workers -= 1;
            queue.waiting.shrink_to_fit();
        }
        job
    }
}

/// Does a job. If it meets a bug, the group is told that nothing came of it, so that it does not wait for ever.
pub(super) fn run(job: Job) -> RegexesResolved {
    let group = job.group().clone();
    catch_unwind(AssertUnwindSafe(|| job.run())).unwrap_or_else(|_| {
        tracing::error!("what was to be done aside for group {group} met a bug");
        Job::given_up(group)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::types::{GroupId, NoTopics, TopicId, TopicImage, TopicView};

    /// A bug.
    #[derive(Debug)]
    struct Broken;

    impl TopicImage for Broken {
        fn number(&self) -> u64 {
            1
        }

        fn newest_topic(&self) -> u64 {
            1
        }

        fn topic_by_name(&self, _name: &str) -> Option<TopicView<'_>> {
            None
        }

        fn topic_by_id(&self, _id: TopicId) -> Option<TopicView<'_>> {
            None
        }

        fn for_each_topic(&self, _visit: &mut dyn FnMut(TopicView<'_>)) {
            panic!("a bug")
        }
    }

    fn job(group: &str, topics: Arc<dyn TopicImage>) -> Job {
        let regexes = vec![Arc::from("a.*")];
        Job::ResolveRegexes { group: GroupId::from(group), regexes, topics, timestamp_ms: 0 }
    }

    #[test]
    fn a_job_that_meets_a_bug_is_given_up_and_its_group_is_told() {
        let resolved = run(job("g", Arc::new(Broken)));
        assert_eq!((resolved.group.as_str(), resolved.regexes.len()), ("g", 0));
        assert_eq!(run(job("g", Arc::new(NoTopics))).regexes.len(), 1);
    }

    #[test]
    fn so_many_work_at_a_time_and_nothing_is_left_undone() {
        let jobs = Jobs::default();
        let workers = (0..10).filter(|n| jobs.add(job(&n.to_string(), Arc::new(NoTopics)))).count();
        assert_eq!(workers, JOBS_AT_ONCE_MAX);
        let mut done = Vec::new();
        for _ in 0..workers {
            done.extend(std::iter::from_fn(|| jobs.next()).map(|job| job.group().to_string()));
        }
        assert_eq!(done, (0..10).map(|n| n.to_string()).collect::<Vec<_>>());
        assert!(jobs.add(job("late", Arc::new(NoTopics))), "those who were dismissed can be called again");
    }
}
