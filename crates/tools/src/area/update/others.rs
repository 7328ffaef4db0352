//! Other guests whose disks a change takes, shares or copies. They become part of the plan, so that rules about them and
//! what protects them count. An owner that cannot be read counts as protected.

use std::collections::BTreeSet;
use std::sync::Arc;

use pve::GuestConfig;

use super::Subject;
use super::device::Drive;
use super::edit::Edit;
use crate::area::users::{self, OWN_DISK, Users};
use crate::claim::Claim;
use crate::context::{Context, Guest};
use crate::fault::{Fault, Kind};
use crate::plan::{Blocker, Effect, Impact, Plan};
use crate::volume::owners;

/// Looks at the owners and the users of every volume that the changes remove, attach or copy.
pub(super) async fn look(
    cx: &Context,
    subject: &Subject,
    edits: &[Edit],
    plan: &mut Plan,
) -> Result<(), Fault> {
    let here = Context {
        clusters: vec![Arc::clone(&subject.guest.cluster)],
        // The caller's claim is about the guest that is changed.
        claim: Claim::default(),
        ..cx.clone()
    };
    let drives: Vec<_> = edits
        .iter()
        .filter(|edit| edit.is_drive())
        .filter_map(|edit| edit.text().map(Drive::parse))
        .collect();
    let removed = users::lost(plan);
    let has = attached(subject);
    let is_new =
        |drive: &&Drive| (drive.names_volume() || drive.is_path()) && !has.contains(&drive.volume);
    let new: Vec<_> = drives.iter().filter(is_new).collect();
    for drive in &new {
        for (owner, config) in owners_of(&here, subject, &drive.volume).await? {
            plan.impact.push(
                Impact::new(Effect::Destroyed, "disk", &drive.volume)
                    .bytes(drive.size())
                    .note(format!(
                        "of {}; what both guests write to it ruins it",
                        owner.label()
                    )),
            );
            match owner.target(&config).protected_by() {
                Some(why) => plan.blockers.push(Blocker::new(
                    format!(
                        "{} is protected ({why}), and {} is its disk",
                        owner.label(),
                        drive.volume
                    ),
                    OWN_DISK,
                )),
                None => owner.bind_once(plan, &config),
            }
        }
    }
    let mut volumes = removed.clone();
    volumes.extend(new.iter().map(|drive| drive.volume.clone()));
    let users = Users::of(&subject.guest, volumes).await?;
    users.settle(plan, |volume| removed.contains(volume));
    // Last: a guest that is only read from may be one whose disk is lost, too, and then counts as that.
    for source in drives.iter().filter_map(|drive| drive.get("import-from")) {
        for (owner, config) in owners_of(&here, subject, source).await? {
            let read = Impact::new(Effect::Kept, "disk", source);
            plan.impact
                .push(read.note(format!("of {}; only read", owner.label())));
            owner.bind_as_source(plan, &config);
        }
    }
    Ok(())
}

/// What the guest has attached already: nothing becomes of that when an option of it changes, or its place.
fn attached(subject: &Subject) -> BTreeSet<String> {
    let volumes = subject.config.volumes().into_iter();
    volumes
        .filter(|(key, _)| !key.starts_with("unused"))
        .map(|(_, volume)| volume)
        .collect()
}

/// The other guests that a volume belongs to. One that is gone has left it behind.
async fn owners_of(
    here: &Context,
    subject: &Subject,
    volume: &str,
) -> Result<Vec<(Guest, GuestConfig)>, Fault> {
    let mut found = Vec::new();
    for vmid in owners(volume).filter(|vmid| *vmid != subject.guest.at.vmid) {
        let guest = match here.guest(vmid, None, None).await {
            Ok(guest) => guest,
            Err(fault) if fault.kind == Kind::NotFound => continue,
            Err(fault) => return Err(unreadable(volume, &fault)),
        };
        let config = guest.config().await;
        let config = config.map_err(|fault| unreadable(volume, &fault))?;
        found.push((guest, config));
    }
    Ok(found)
}

fn unreadable(volume: &str, fault: &Fault) -> Fault {
    Fault::refused(format!(
        "{volume} belongs to another guest, which cannot be read and so counts as protected: it is protected from this ({})",
        fault.message
    ))
    .hint(OWN_DISK)
}
