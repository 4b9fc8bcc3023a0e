//! How many connections there may be. Source: kafka `ConnectionQuotas`.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::api::lock;
use crate::config::Config;
use crate::limits::FILES_SPARE;
use crate::types::Now;

/// Places for connections, in all and by address.
#[derive(Debug)]
pub(super) struct Quotas {
    /// Places that are free, of as many as `max.connections` and the open files of the process allow.
    free: Arc<Semaphore>,
    state: Mutex<State>,
    /// `max.connection.creation.rate`: connections a second.
    rate_max: AtomicI64,
    /// Microseconds of the monotonic clock up to which the rate is used up.
    rate_used_until: AtomicI64,
}

#[derive(Debug)]
struct State {
    /// Places, free and taken.
    all: usize,
    /// Places that are to go as soon as they are free.
    doomed: usize,
    /// `max.connections.per.ip`.
    per_ip_max: usize,
    /// `max.connections.per.ip.overrides`.
    per_ip_overrides: HashMap<IpAddr, usize>,
    per_ip: HashMap<IpAddr, usize>,
}

/// The place of one connection, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    quotas: Arc<Quotas>,
    ip: IpAddr,
    in_all: Option<OwnedSemaphorePermit>,
}

impl Quotas {
    pub(super) fn new(config: &Config) -> Self {
        let all = places(config);
        let state = State {
            all,
            doomed: 0,
            per_ip_max: usize::try_from(config.max_connections_per_ip).unwrap_or(0),
            per_ip_overrides: overrides(&config.max_connections_per_ip_overrides),
            per_ip: HashMap::new(),
        };
        Self {
            free: Arc::new(Semaphore::new(all)),
            state: Mutex::new(state),
            rate_max: AtomicI64::new(rate_max(config)),
            rate_used_until: AtomicI64::new(0),
        }
    }

    /// Takes the bounds of another configuration.
    // Differs from Kafka: when `max.connections` is lowered, connections that are too many stay until they end; Kafka
    // closes those that were idle longest.
    pub(super) fn configure(&self, config: &Config) {
        self.rate_max.store(rate_max(config), Ordering::Relaxed);
        let mut state = lock(&self.state);
        state.per_ip_max = usize::try_from(config.max_connections_per_ip).unwrap_or(0);
        state.per_ip_overrides = overrides(&config.max_connections_per_ip_overrides);
        let all = places(config);
        if all > state.all {
            let more = all - state.all;
            let kept = more.min(state.doomed);
            state.doomed -= kept;
            self.free.add_permits(more - kept);
        } else {
            let fewer = state.all - all;
            state.doomed += fewer - self.free.forget_permits(fewer);
        }
        state.all = all;
    }

    /// Counts a new connection, and says how many milliseconds to wait before the next: none until a second's worth of
    /// them came at once.
    pub(super) fn pause_after_one_more(&self, now: Now) -> Option<u64> {
        let micros_each = 1_000_000 / self.rate_max.load(Ordering::Relaxed);
        let now = now.monotonic.0.saturating_mul(1_000);
        let before = self.rate_used_until.load(Ordering::Relaxed).max(now);
        let after = before.saturating_add(micros_each);
        self.rate_used_until.store(after, Ordering::Relaxed);
        u64::try_from((after - now - 1_000_000) / 1_000).ok().filter(|pause| *pause > 0)
    }

    /// Waits until there may be one connection more.
    pub(super) async fn free_place(&self) -> OwnedSemaphorePermit {
        Arc::clone(&self.free).acquire_owned().await.expect("the semaphore is never closed")
    }

    /// `None` if this address has as many connections as it may have.
    pub(super) fn admit(self: &Arc<Self>, ip: IpAddr, in_all: OwnedSemaphorePermit) -> Option<Place> {
        let mut state = lock(&self.state);
        let max = state.per_ip_overrides.get(&ip).copied().unwrap_or(state.per_ip_max);
        let count = state.per_ip.get(&ip).copied().unwrap_or(0);
        if count >= max {
            return None;
        }
        state.per_ip.insert(ip, count + 1);
        Some(Place { quotas: Arc::clone(self), ip, in_all: Some(in_all) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = lock(&self.quotas.state);
        match state.per_ip.get_mut(&self.ip) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(state.per_ip.remove(&self.ip)),
        }
        if state.doomed > 0
            && let Some(place) = self.in_all.take()
        {
            state.doomed -= 1;
            place.forget();
        }
    }
}

/// How many connections there may be: `max.connections`, and no more than the process may have files open.
fn places(config: &Config) -> usize {
    let configured = usize::try_from(config.max_connections).unwrap_or(0);
    let affordable = files_max().map_or(usize::MAX, |files| files.saturating_sub(FILES_SPARE).max(1));
    configured.min(affordable).min(Semaphore::MAX_PERMITS)
}

fn rate_max(config: &Config) -> i64 {
    config.max_connection_creation_rate.max(1).into()
}

/// `host:count,host:count`, which the config room has checked. A name stands for all of its addresses.
fn overrides(text: &str) -> HashMap<IpAddr, usize> {
    let pairs = text.split(',').filter_map(|pair| {
        let (host, count) = pair.trim().rsplit_once(':')?;
        Some((host, count.trim().parse().ok()?))
    });
    pairs
        .flat_map(|(host, count)| {
            let addresses = (host, 0).to_socket_addrs().into_iter().flatten();
            addresses.map(move |address| (address.ip().to_canonical(), count))
        })
        .collect()
}

/// How many files the process may have open; `None` where the system does not say.
fn files_max() -> Option<usize> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Millis;

    fn at(millis: i64) -> Now {
        Now { monotonic: Millis(millis), ..Now::default() }
    }

    fn quotas(settings: &[(&str, &str)]) -> Arc<Quotas> {
        Arc::new(Quotas::new(&Config::with(settings).expect("a valid configuration")))
    }

    #[test]
    fn a_second_of_connections_may_come_at_once_and_the_rest_must_wait() {
        let quotas = quotas(&[("max.connection.creation.rate", "10")]);
        for _ in 0..10 {
            assert_eq!(quotas.pause_after_one_more(at(5_000)), None);
        }
        assert_eq!(quotas.pause_after_one_more(at(5_000)), Some(100));
        assert_eq!(quotas.pause_after_one_more(at(5_100)), Some(100));
        assert_eq!(quotas.pause_after_one_more(at(7_000)), None);
    }

    #[test]
    fn without_a_rate_nobody_waits() {
        let quotas = quotas(&[]);
        assert!((0..100_000).all(|_| quotas.pause_after_one_more(at(1)).is_none()));
    }

    #[tokio::test]
    async fn places_are_counted_by_address_and_given_back() {
        let quotas =
            quotas(&[("max.connections.per.ip", "1"), ("max.connections.per.ip.overrides", "127.0.0.2:2")]);
        let (one, two) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let first = quotas.admit(one, quotas.free_place().await);
        assert!(first.is_some());
        assert!(quotas.admit(one, quotas.free_place().await).is_none());
        let others =
            [quotas.admit(two, quotas.free_place().await), quotas.admit(two, quotas.free_place().await)];
        assert!(others.iter().all(Option::is_some));
        drop(first);
        assert!(quotas.admit(one, quotas.free_place().await).is_some());
        drop(others);
        assert!(lock(&quotas.state).per_ip.is_empty());
    }

    #[tokio::test]
    async fn places_come_and_go_with_the_configuration() {
        let quotas = quotas(&[("max.connections", "2")]);
        let configure = |max| quotas.configure(&Config::with(&[("max.connections", max)]).unwrap());
        let ip = IpAddr::from([127, 0, 0, 1]);
        let first = quotas.admit(ip, quotas.free_place().await);
        let second = quotas.admit(ip, quotas.free_place().await);
        assert_eq!(quotas.free.available_permits(), 0);
        configure("1");
        drop(first);
        assert_eq!(quotas.free.available_permits(), 0, "the place is gone");
        configure("4");
        assert_eq!(quotas.free.available_permits(), 3);
        configure("1");
        configure("2");
        assert_eq!(quotas.free.available_permits(), 1);
        drop(second);
        assert_eq!(quotas.free.available_permits(), 2);
    }
}
