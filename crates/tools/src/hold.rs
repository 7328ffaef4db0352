//! What the calls of this process are about to make. PVE reserves no id and writes over a file without a word, so whoever
//! makes something holds it from the moment it is chosen until it is there: two calls side by side never make the same.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pve::Vmid;

/// Something that can be made once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thing {
    cluster: String,
    what: String,
}

impl Thing {
    /// The guest of this id.
    pub fn guest(cluster: &str, vmid: Vmid) -> Self {
        Self::named(cluster, format!("the vmid {vmid}"))
    }

    /// What people call it: "volume nas:iso/a.iso".
    pub fn named(cluster: &str, what: impl Into<String>) -> Self {
        Self {
            cluster: cluster.to_owned(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// All that is held in this process.
#[derive(Debug, Default)]
pub struct Holds {
    held: Mutex<BTreeMap<Thing, u64>>,
    calls: AtomicU64,
}

impl Holds {
    /// What one call holds: nothing yet.
    pub fn call(self: &Arc<Self>) -> Held {
        Held {
            holds: self.clone(),
            call: self.calls.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<Thing, u64>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What one call holds. It is let go when the call and what it began are over.
#[derive(Debug)]
pub struct Held {
    holds: Arc<Holds>,
    call: u64,
}

impl Held {
    /// Holds a thing, unless another call does.
    pub fn take(&self, thing: Thing) -> bool {
        match self.holds.held().entry(thing) {
            Entry::Occupied(held) => *held.get() == self.call,
            Entry::Vacant(free) => {
                free.insert(self.call);
                true
            }
        }
    }
}

impl Held {
    /// Lets go of a thing that is not made after all.
    pub fn let_go(&self, thing: &Thing) {
        let mut held = self.holds.held();
        if held.get(thing) == Some(&self.call) {
            held.remove(thing);
        }
    }
}

/// Of a call that is the only one.
impl Default for Held {
    fn default() -> Self {
        Arc::new(Holds::default()).call()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.holds.held().retain(|_, call| *call != self.call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_at_a_time_holds_a_thing() {
        let holds = Arc::new(Holds::default());
        let (first, second) = (holds.call(), holds.call());
        let iso = || Thing::named("home", "volume nas:iso/a.iso");
        assert!(first.take(iso()) && first.take(iso()));
        assert!(!second.take(iso()));
        assert!(second.take(Thing::named("work", "volume nas:iso/a.iso")));
        drop(first);
        assert!(second.take(iso()));
    }
}
