//! The configuration as it is now: what the broker started with, and what clients have set since.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::alter::{self, AlterError, Change, Onto};
use super::{Config, Sources};
use crate::catalog::Overrides;
use crate::limits::CONFIGURED_RESOURCES_MAX;

/// For whom a dynamic config of a broker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokerScope {
    /// For every broker of the cluster.
    EveryBroker,
    /// For this one alone: stronger.
    ThisBroker,
}

impl BrokerScope {
    pub(super) const fn layer_mut(self, sources: &mut Sources) -> &mut BTreeMap<String, String> {
        match self {
            Self::EveryBroker => &mut sources.dynamic_default,
            Self::ThisBroker => &mut sources.dynamic_broker,
        }
    }
}

/// The configs of the broker, of groups and of client metrics subscriptions. Those of topics are in the catalog.
pub struct LiveConfig {
    state: RwLock<State>,
    followers: Mutex<Vec<Follower>>,
}

/// Whoever keeps something that is made of the broker's configuration.
type Follower = Box<dyn Fn(&Config) + Send + Sync>;

#[derive(Debug)]
struct State {
    broker: Arc<Config>,
    /// Group → what it sets of its own, at least one config.
    groups: BTreeMap<String, Overrides>,
    /// Subscription → what it sets, at least one config.
    client_metrics: BTreeMap<String, Overrides>,
}

impl LiveConfig {
    /// What the broker starts with.
    #[must_use]
    pub fn new(config: Arc<Config>) -> Self {
        let state = State { broker: config, groups: BTreeMap::new(), client_metrics: BTreeMap::new() };
        Self { state: RwLock::new(state), followers: Mutex::default() }
    }

    /// Calls `follower` with each configuration that the broker has from now on. It must not change the configuration.
    pub fn on_change(&self, follower: impl Fn(&Config) + Send + Sync + 'static) {
        self.followers.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(follower));
    }

    /// The configuration of the broker.
    #[must_use]
    pub fn broker(&self) -> Arc<Config> {
        Arc::clone(&self.read().broker)
    }

    /// What a group sets of its own.
    #[must_use]
    pub fn group(&self, group: &str) -> Overrides {
        self.read().groups.get(group).cloned().unwrap_or_default()
    }

    /// What a client metrics subscription sets.
    #[must_use]
    pub fn client_metrics(&self, subscription: &str) -> Overrides {
        self.read().client_metrics.get(subscription).cloned().unwrap_or_default()
    }

    /// The groups that set configs of their own, in order.
    #[must_use]
    pub fn groups(&self) -> Vec<String> {
        self.read().groups.keys().cloned().collect()
    }

    /// The client metrics subscriptions, in order.
    #[must_use]
    pub fn client_metrics_subscriptions(&self) -> Vec<String> {
        self.read().client_metrics.keys().cloned().collect()
    }

    /// Changes the dynamic configs of the broker, unless `validate_only`, and returns its configuration after that.
    ///
    /// # Errors
    /// Those of [`alter::broker`].
    pub fn alter_broker(
        &self,
        scope: BrokerScope,
        onto: Onto,
        changes: &[Change],
        validate_only: bool,
    ) -> Result<Arc<Config>, AlterError> {
        let mut state = self.write();
        let changed = Arc::new(alter::broker(&state.broker, scope, onto, changes)?);
        if !validate_only {
            state.broker = Arc::clone(&changed);
            let followers = self.followers.lock().unwrap_or_else(PoisonError::into_inner);
            followers.iter().for_each(|follower| follower(&changed));
        }
        Ok(changed)
    }

    /// Changes the configs of a group, unless `validate_only`.
    ///
    /// # Errors
    /// Those of [`alter::group`].
    pub fn alter_group(
        &self,
        group: &str,
        onto: Onto,
        changes: &[Change],
        validate_only: bool,
    ) -> Result<(), AlterError> {
        let mut state = self.write();
        let own = state.groups.get(group).map(|own| onto.of(own)).unwrap_or_default();
        let changed = alter::group(&state.broker, &own, changes)?;
        if validate_only { Ok(()) } else { keep(&mut state.groups, group, changed) }
    }

    /// Changes the configs of a client metrics subscription, unless `validate_only`.
    ///
    /// # Errors
    /// Those of [`alter::client_metrics`].
    pub fn alter_client_metrics(
        &self,
        subscription: &str,
        onto: Onto,
        changes: &[Change],
        validate_only: bool,
    ) -> Result<(), AlterError> {
        let mut state = self.write();
        let own = state.client_metrics.get(subscription).map(|own| onto.of(own)).unwrap_or_default();
        let changed = alter::client_metrics(&own, changes)?;
        if validate_only { Ok(()) } else { keep(&mut state.client_metrics, subscription, changed) }
    }

    // A panic while the lock was held left the state as it was: it is replaced as a whole.
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveConfig").field("state", &self.state).finish_non_exhaustive()
    }
}

/// Keeps what a resource sets of its own; one that sets nothing takes no room.
// Differs from Kafka: the groups and client metrics subscriptions that can have configs are bounded in number.
fn keep(
    resources: &mut BTreeMap<String, Overrides>,
    name: &str,
    changed: Overrides,
) -> Result<(), AlterError> {
    if changed.is_empty() {
        resources.remove(name);
        return Ok(());
    }
    if !resources.contains_key(name) && resources.len() >= CONFIGURED_RESOURCES_MAX {
        let message = format!("No more than {CONFIGURED_RESOURCES_MAX} resources can have configs.");
        return Err(AlterError::InvalidConfig(message));
    }
    resources.insert(name.to_owned(), changed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::alter::Operation;

    fn change(key: &str, operation: Operation) -> [Change; 1] {
        [Change { key: key.to_owned(), operation }]
    }

    fn live() -> LiveConfig {
        LiveConfig::new(Arc::new(Config::default()))
    }

    #[test]
    fn a_change_is_seen_unless_it_was_only_validated() {
        let live = live();
        let changes = change("message.max.bytes", Operation::Set("5".to_owned()));
        let max_message_bytes = || live.broker().topic_defaults.max_message_bytes;
        let changed = live.alter_broker(BrokerScope::ThisBroker, Onto::Own, &changes, true).unwrap();
        assert_eq!((changed.topic_defaults.max_message_bytes, max_message_bytes()), (5, 1_048_588));
        live.alter_broker(BrokerScope::ThisBroker, Onto::Own, &changes, false).unwrap();
        assert_eq!(max_message_bytes(), 5);
    }

    #[test]
    fn followers_are_called_with_what_holds_from_now_on() {
        let live = live();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let followed = Arc::clone(&seen);
        live.on_change(move |config| followed.lock().unwrap().push(config.max_connections));
        let set = |value: &str| change("max.connections", Operation::Set(value.to_owned()));
        live.alter_broker(BrokerScope::ThisBroker, Onto::Own, &set("7"), true).unwrap();
        live.alter_broker(BrokerScope::ThisBroker, Onto::Own, &set("8"), false).unwrap();
        assert_eq!(*seen.lock().unwrap(), [8]);
    }

    #[test]
    fn a_group_without_configs_is_forgotten() {
        let live = live();
        let key = "consumer.session.timeout.ms";
        let set = change(key, Operation::Set("46000".to_owned()));
        live.alter_group("g", Onto::Own, &set, true).unwrap();
        assert!(live.group("g").is_empty());
        live.alter_group("g", Onto::Own, &set, false).unwrap();
        assert_eq!(live.group("g").get(key).map(AsRef::as_ref), Some("46000"));
        live.alter_group("g", Onto::Own, &change(key, Operation::Delete), false).unwrap();
        assert!(live.group("g").is_empty() && live.read().groups.is_empty());
    }

    #[test]
    fn the_number_of_groups_with_configs_is_bounded() {
        let full: BTreeMap<_, _> =
            (0..CONFIGURED_RESOURCES_MAX).map(|n| (n.to_string(), Overrides::new())).collect();
        let own = Overrides::from([("interval.ms".into(), "1000".into())]);
        let mut resources = full;
        assert!(keep(&mut resources, "0", own.clone()).is_ok());
        assert!(matches!(keep(&mut resources, "new", own), Err(AlterError::InvalidConfig(_))));
    }
}
