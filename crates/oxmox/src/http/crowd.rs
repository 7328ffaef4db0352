//! How many connections come from where: nobody takes the places of all the others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::limit::network;

/// Those who are connected.
#[derive(Default)]
pub(super) struct Crowd {
    /// By network; those that nobody comes from are not in it.
    counts: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection, until it is dropped.
pub(super) struct Place {
    crowd: Arc<Crowd>,
    from: IpAddr,
}

impl Crowd {
    /// One more from there, unless it would be more than that.
    pub(super) fn enter(self: &Arc<Self>, from: IpAddr, most: usize) -> Option<Place> {
        let from = network(from.to_canonical());
        let mut counts = self.counts();
        let count = counts.entry(from).or_default();
        // There is an entry of at least one then.
        if *count >= most {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Place {
            crowd: self.clone(),
            from,
        })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.crowd.counts();
        if let Some(count) = counts.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_has_its_share() {
        let crowd = Arc::new(Crowd::default());
        let from = "192.0.2.7".parse().unwrap();
        let places: Vec<_> = (0..3).filter_map(|_| crowd.enter(from, 2)).collect();
        assert_eq!(places.len(), 2);
        assert!(
            crowd
                .enter("::ffff:192.0.2.7".parse().unwrap(), 2)
                .is_none()
        );
        assert!(crowd.enter("192.0.2.8".parse().unwrap(), 2).is_some());
        drop(places);
        assert!(crowd.enter(from, 2).is_some());
        assert!(crowd.counts().is_empty());
    }
}
