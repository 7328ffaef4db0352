//! What hangs on a guest: disks, snapshots, clones, jobs, backups. Everything that a delete would take along or leave
//! behind, each with a note where it could not be looked at.

use std::collections::BTreeSet;

use pve::{Error, GuestConfig, GuestKind, Vmid, Volume};
use serde_json::Value;

use super::backups::{Backups, holds};
use crate::context::Guest;
use crate::plan::{Effect, Impact};
use crate::volume::owner;

/// What was found, and what could not be looked at.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    pub(super) disks: Vec<Impact>,
    pub(super) snapshots: Vec<Impact>,
    /// Guests whose disks are based on this template's.
    pub(super) linked_clones: Vec<Impact>,
    /// Backup, replication and HA entries that name the guest.
    pub(super) jobs: Vec<Impact>,
    /// Backups of it, which stay; the newest first.
    pub(super) backups: Vec<Impact>,
    /// Whether every storage that holds backups could be looked at.
    pub(super) backups_known: bool,
    /// Why PVE deletes it only with purge; empty if it does without.
    pub(super) needs_purge: Vec<&'static str>,
    pub(super) unchecked: Vec<String>,
}

impl Dependents {
    /// Looks everywhere that PVE lets us, for a delete with or without `purge`. Nothing here fails: what cannot be read is
    /// named in `unchecked`.
    pub(super) async fn of(guest: &Guest, config: &GuestConfig, purge: bool) -> Self {
        let mut found = Self {
            disks: disks(guest, config),
            ..Self::backups(guest).await
        };
        found.look_at_snapshots(guest).await;
        if config.template() {
            found.look_at_clones(guest, config).await;
        }
        found.look_at_backup_jobs(guest, purge).await;
        found.look_at_replication(guest, purge).await;
        found.look_at_ha(guest, purge).await;
        found
    }

    /// The guest's backups alone.
    pub(super) async fn backups(guest: &Guest) -> Self {
        let Backups { found, unchecked } =
            Backups::of(guest.pve(), &guest.at.node, guest.at.vmid).await;
        Self {
            backups: found
                .iter()
                .map(|backup| backup.impact(Effect::Kept))
                .collect(),
            backups_known: unchecked.is_empty(),
            unchecked,
            ..Self::default()
        }
    }

    /// The disks that a delete removes.
    pub(super) fn lost_disks(&self) -> impl Iterator<Item = &Impact> {
        let disks = self.disks.iter();
        disks.filter(|disk| disk.effect == Effect::Destroyed)
    }

    async fn look_at_snapshots(&mut self, guest: &Guest) {
        match guest.pve().snapshots(&guest.at).await {
            Ok(entries) => self.snapshots.extend(entries.into_iter().map(|entry| {
                let taken = entry
                    .snaptime
                    .and_then(|at| i64::try_from(at).ok())
                    .map(crate::words::time);
                let item = Impact::new(Effect::Destroyed, "snapshot", entry.name);
                match taken {
                    Some(taken) => item.note(format!("taken {taken}")),
                    None => item,
                }
            })),
            Err(error) => self.skip("snapshots", &error),
        }
    }

    async fn look_at_clones(&mut self, guest: &Guest, config: &GuestConfig) {
        let storages = match guest.pve().storages(&guest.at.node).await {
            Ok(storages) => storages,
            Err(error) => return self.skip("linked clones", &error),
        };
        let bases: BTreeSet<_> = config
            .disks()
            .into_iter()
            .filter_map(|disk| disk.storage)
            .collect();
        for name in bases {
            let Some(storage) = storages.iter().find(|storage| storage.storage == name) else {
                self.unchecked.push(format!(
                    "linked clones on {name} (the storage is not there, or hidden)"
                ));
                continue;
            };
            match guest
                .pve()
                .volumes(&guest.at.node, &storage.storage, None)
                .await
            {
                Ok(volumes) => {
                    let clones = clones_among(&volumes, guest);
                    // PVE leaves out disks of guests whose disks the token may not configure.
                    let path = format!("/storage/{name}");
                    if clones.is_empty() && !holds(guest.pve(), &path, "Datastore.Allocate").await {
                        let why = format!(
                            "disks may be hidden: the token needs Datastore.Allocate on {path}"
                        );
                        self.unchecked
                            .push(format!("linked clones on {name} ({why})"));
                    }
                    self.linked_clones.extend(clones);
                }
                Err(error) => self.skip(&format!("linked clones on {name}"), &error),
            }
        }
    }

    async fn look_at_backup_jobs(&mut self, guest: &Guest, purge: bool) {
        let jobs = match guest.pve().list::<Value>("/cluster/backup").await {
            Ok(jobs) => jobs,
            Err(error) => return self.skip("backup jobs", &error),
        };
        let vmid = guest.at.vmid.to_string();
        for job in &jobs {
            let id = job["id"].as_str().unwrap_or("?");
            let list = job["vmid"].as_str().unwrap_or_default();
            let names: Vec<_> = list
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .collect();
            let by_pool = job["pool"]
                .as_str()
                .is_some_and(|pool| Some(pool) == guest.row.pool.as_deref());
            let (effect, note) = match (names.contains(&vmid.as_str()), purge) {
                (true, true) if names.len() == 1 => {
                    (Effect::Destroyed, "names only this guest, and goes with it")
                }
                (true, true) => (Effect::Changed, "the guest is taken out of it"),
                (true, false) => (
                    Effect::Kept,
                    "goes on naming this id, which a later guest may get",
                ),
                (false, _) if by_pool => (Effect::Kept, "covers it by its pool"),
                (false, _) => continue,
            };
            self.jobs
                .push(Impact::new(effect, "backup job", id).note(note));
        }
    }

    async fn look_at_replication(&mut self, guest: &Guest, purge: bool) {
        let jobs = match guest.pve().list::<Value>("/cluster/replication").await {
            Ok(jobs) => jobs,
            Err(error) => return self.skip("replication jobs", &error),
        };
        let vmid = u64::from(guest.at.vmid.get());
        for job in jobs
            .iter()
            .filter(|job| pve::lenient::as_u64(&job["guest"]) == Some(vmid))
        {
            let effect = self.only_with(purge, "is replicated");
            let id = job["id"].as_str().unwrap_or("?");
            let target = job["target"].as_str().unwrap_or("?");
            self.jobs
                .push(Impact::new(effect, "replication job", id).note(format!("to {target}")));
        }
    }

    async fn look_at_ha(&mut self, guest: &Guest, purge: bool) {
        let resources = match guest.pve().list::<Value>("/cluster/ha/resources").await {
            Ok(resources) => resources,
            Err(error) => return self.skip("HA resources", &error),
        };
        let sid = match guest.at.kind {
            GuestKind::Qemu => format!("vm:{}", guest.at.vmid),
            GuestKind::Lxc => format!("ct:{}", guest.at.vmid),
        };
        if resources
            .iter()
            .any(|resource| resource["sid"] == sid.as_str())
        {
            let effect = self.only_with(purge, "is under HA");
            self.jobs.push(Impact::new(effect, "HA resource", sid));
        }
    }

    /// What becomes of an entry without whose removal PVE does not delete the guest.
    fn only_with(&mut self, purge: bool, because: &'static str) -> Effect {
        if purge {
            return Effect::Destroyed;
        }
        if !self.needs_purge.contains(&because) {
            self.needs_purge.push(because);
        }
        Effect::Kept
    }

    fn skip(&mut self, what: &str, error: &Error) {
        self.unchecked
            .push(format!("{what} ({})", super::backups::why(error)));
    }
}

/// PVE removes the guest's own disks. What it uses of another guest, or of the node, stays.
fn disks(guest: &Guest, config: &GuestConfig) -> Vec<Impact> {
    config
        .disks()
        .into_iter()
        .map(|disk| {
            let own = disk.storage.is_some() && owner(&disk.volume) == Some(guest.at.vmid);
            let effect = if own { Effect::Destroyed } else { Effect::Kept };
            let item = Impact::new(effect, "disk", &disk.volume).bytes(disk.size_bytes);
            if !own {
                item.note(format!("{}; not its own, stays", disk.key))
            } else if disk.is_unused() {
                item.note(format!("{}, detached", disk.key))
            } else {
                item.note(disk.key)
            }
        })
        .collect()
}

/// Guests whose disks are based on this template's. Storages tell it in different ways: by a parent
/// (`base-900-disk-0`, `../900/base-900-disk-0.qcow2`), or in the volume id itself
/// (`nas:900/base-900-disk-0.qcow2/111/vm-111-disk-0.qcow2`, `tank:basevol-290-disk-0/subvol-205-disk-0`).
fn clones_among(volumes: &[Volume], guest: &Guest) -> Vec<Impact> {
    let own = guest.at.vmid;
    let bases = [format!("base-{own}-"), format!("basevol-{own}-")];
    let mut clones: Vec<Vmid> = volumes
        .iter()
        .filter(|volume| {
            let parent = volume.parent.as_deref().unwrap_or_default();
            bases
                .iter()
                .any(|base| parent.contains(base) || volume.volid.contains(base))
        })
        .filter_map(|volume| volume.vmid)
        .filter(|vmid| *vmid != own)
        .collect();
    clones.sort_unstable();
    clones.dedup();
    clones
        .into_iter()
        .map(|vmid| Impact::new(Effect::Kept, "linked clone", vmid.to_string()))
        .collect()
}
