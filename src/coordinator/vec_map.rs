//! A map in a sorted vector: ordered by key, and as small as its entries.

use std::borrow::Borrow;

use thin_vec::ThinVec;

/// Keys in ascending order, each with a value. Look-up is a binary search; insertion moves what lies behind.
///
/// Most maps are empty or have one entry: an empty one is a single pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VecMap<K, V> {
    entries: ThinVec<(K, V)>,
}

impl<K, V> Default for VecMap<K, V> {
    fn default() -> Self {
        Self { entries: ThinVec::new() }
    }
}

/// From entries in ascending order of their keys, each key once.
impl<K, V> FromIterator<(K, V)> for VecMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self { entries: entries.into_iter().collect() }
    }
}

impl<K: Ord, V> VecMap<K, V> {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|i| &self.entries[i].1)
    }

    pub(super) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|i| &mut self.entries[i].1)
    }

    /// Puts a value in and gives back the one that was there.
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.entries.binary_search_by(|(k, _)| k.cmp(&key)) {
            Ok(i) => Some(std::mem::replace(&mut self.entries[i].1, value)),
            Err(i) => {
                // Most maps here stay at one entry; doubling from four would cost more than it saves.
                if self.entries.capacity() == 0 {
                    self.entries.reserve_exact(1);
                }
                self.entries.insert(i, (key, value));
                None
            }
        }
    }

    pub(super) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let removed = self.entries.remove(self.find(key).ok()?).1;
        self.forget_if_empty();
        Some(removed)
    }

    /// Takes out all values that `picks` picks, in order.
    pub(super) fn extract(&mut self, picks: impl Fn(&V) -> bool) -> Vec<V> {
        let extracted =
            self.entries.extract_if(.., |(_, value)| picks(value)).map(|(_, value)| value).collect();
        self.forget_if_empty();
        extracted
    }

    /// Takes out all values whose keys are picked, in order.
    pub(super) fn extract_keys(&mut self, picks: impl Fn(&K) -> bool) -> Vec<V> {
        self.entries.extract_if(.., |(key, _)| picks(key)).map(|(_, value)| value).collect()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (&*key, value))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.entries.iter().map(|(key, _)| key)
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    pub(super) fn as_slice(&self) -> &[(K, V)] {
        &self.entries
    }

    /// An empty map takes nothing.
    fn forget_if_empty(&mut self) {
        if self.entries.is_empty() {
            self.entries = ThinVec::new();
        }
    }

    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries.binary_search_by(|(k, _)| k.borrow().cmp(key))
    }
}
