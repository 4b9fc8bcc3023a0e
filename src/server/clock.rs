//! The only real time, and the one deadline loop of the process: no timer has a task of its own.
#![expect(clippy::disallowed_methods, reason = "this is where time comes from")]

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::Notify;
use tokio::time::{self, Instant};

use crate::types::{Millis, Now};

/// Reads the time, and wakes the deadline loop in time.
#[derive(Debug)]
pub(super) struct Clock {
    start: Instant,
    /// When the loop wakes, in milliseconds since `start`.
    wake_at: AtomicI64,
    /// Told when `wake_at` becomes earlier.
    earlier: Notify,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self { start: Instant::now(), wake_at: AtomicI64::new(i64::MAX), earlier: Notify::new() }
    }

    pub(super) fn now(&self) -> Now {
        let since_start = self.start.elapsed().as_millis();
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Now { monotonic: millis(since_start), wall: millis(since_epoch) }
    }

    /// Milliseconds since then.
    pub(super) fn since(&self, monotonic: Millis) -> i64 {
        millis(self.start.elapsed().as_millis()).since(monotonic)
    }

    /// Makes sure that the loop wakes no later than at `deadline`.
    pub(super) fn wake_by(&self, deadline: Millis) {
        if self.wake_at.fetch_min(deadline.0, Ordering::AcqRel) > deadline.0 {
            self.earlier.notify_one();
        }
    }

    /// Calls `advance`, which says when it wants to be called next, at every deadline; for ever.
    pub(super) async fn run(&self, advance: impl Fn(Now) -> Millis) {
        loop {
            // Whoever asks for an earlier time from here on is heard, even if `advance` has passed it already.
            self.wake_at.store(i64::MAX, Ordering::Release);
            self.wake_by(advance(self.now()));
            while let Some(left) = self.left() {
                tokio::select! {
                    () = time::sleep(left) => {}
                    () = self.earlier.notified() => {}
                }
            }
        }
    }

    /// How long to sleep still; `None` if it is time.
    fn left(&self) -> Option<Duration> {
        let wake_at = u64::try_from(self.wake_at.load(Ordering::Acquire)).unwrap_or(0);
        let left = Duration::from_millis(wake_at).checked_sub(self.start.elapsed())?;
        (!left.is_zero()).then(|| left.min(SLEEP_MAX))
    }
}

/// Rests for a while, when there is nothing better to wait for than that something has changed.
pub(super) async fn pause(millis: u64) {
    time::sleep(Duration::from_millis(millis)).await;
}

/// The runtime's timers have an end; a loop that wakes once a day for nothing does no harm.
const SLEEP_MAX: Duration = Duration::from_secs(24 * 3_600);

fn millis(millis: u128) -> Millis {
    Millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, channel};

    use tokio::task::{JoinSet, yield_now};

    use super::*;

    /// A loop that wants to be called at these times, one after the other, and tells when it is.
    async fn looping(clock: &Arc<Clock>, wishes: Vec<i64>) -> (JoinSet<()>, Receiver<i64>) {
        let (called, calls) = channel();
        let mut wishes = wishes.into_iter();
        let wishes = std::sync::Mutex::new(move || Millis(wishes.next().unwrap_or(i64::MAX)));
        let mut tasks = JoinSet::new();
        let clock = Arc::clone(clock);
        tasks.spawn(async move {
            clock
                .run(|now| {
                    called.send(now.monotonic.0).expect("the test listens");
                    wishes.lock().expect("nobody panics")()
                })
                .await;
        });
        yield_now().await;
        (tasks, calls)
    }

    #[tokio::test(start_paused = true)]
    async fn the_loop_is_called_at_each_deadline() {
        let clock = Arc::new(Clock::start());
        let (_tasks, calls) = looping(&clock, vec![100, 100_000_000, 0]).await;
        pause(200_000_000).await;
        // A deadline that has passed is met at once.
        assert_eq!(calls.try_iter().collect::<Vec<_>>(), [0, 100, 100_000_000, 100_000_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_earlier_deadline_wakes_it_and_a_later_one_does_not() {
        let clock = Arc::new(Clock::start());
        let (_tasks, calls) = looping(&clock, vec![1_000, 1_000]).await;
        clock.wake_by(Millis(2_000));
        clock.wake_by(Millis(300));
        pause(1_500).await;
        assert_eq!(calls.try_iter().collect::<Vec<_>>(), [0, 300, 1_000]);
    }
}
