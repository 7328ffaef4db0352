//! Guests that have something at stake: a disk on a storage that goes, data on the disks of a node.

use futures_util::{StreamExt as _, stream};
use pve::GuestConfig;

use super::{Guest, READS};
use crate::plan::{Blocker, Effect, Impact, Plan};
use crate::words;

/// How many configurations are read at most; the guests beyond count as unreadable.
const MOST: usize = 1000;
/// How many guests a preview names.
const NAMED: usize = 20;

/// Whether a guest has a disk on a storage.
pub(crate) fn has_disk_on(config: &GuestConfig, storage: &str) -> bool {
    let mut disks = config.disks().into_iter();
    disks.any(|disk| disk.storage.as_deref() == Some(storage))
}

/// Makes each of these guests that has something there a target, so that rules about it and what protects it hold. One whose
/// configuration cannot be read stands in the way: it may have.
pub(crate) async fn bind(
    mut guests: Vec<Guest>,
    uses: impl Fn(&GuestConfig) -> bool,
    (effect, note): (Effect, &str),
    plan: &mut Plan,
) {
    let mut unread = guests.split_off(guests.len().min(MOST));
    let read = async |guest: Guest| {
        let config = guest.config().await;
        (guest, config)
    };
    let mut reads = stream::iter(guests).map(read).buffered(READS);
    let mut named = Vec::new();
    while let Some((guest, config)) = reads.next().await {
        match config {
            Ok(config) if uses(&config) => {
                named.push(guest.label());
                plan.targets.push(guest.target(&config));
            }
            Ok(_) => {}
            Err(_) => unread.push(guest),
        }
    }
    for label in named.iter().take(NAMED) {
        let impact = Impact::new(effect, "guest", label).note(note);
        plan.impact.push(impact);
    }
    if named.len() > NAMED {
        let more = named.len() - NAMED;
        plan.warnings.push(format!("{more} more guests: {note}"));
    }
    if !unread.is_empty() {
        let labels: Vec<_> = unread.iter().take(5).map(Guest::label).collect();
        plan.blockers.push(Blocker::new(
            format!(
                "whether {} guests have something there cannot be read, such as {}",
                unread.len(),
                words::list(&labels)
            ),
            "try again when all nodes answer, with a token that has VM.Audit on /vms",
        ));
    }
}
