//! What hangs on a guest: disks, snapshots, clones, jobs, backups. Everything that a delete would take along or leave
//! behind, each with a note where it could not be looked at.

use pve::{Error, GuestConfig, GuestKind, Request, StorageStatus};
use serde::Deserialize;
use serde_json::Value;

use crate::context::Guest;
use crate::plan::{Effect, Impact};

/// What was found, and what could not be looked at.
#[derive(Debug, Default)]
pub(super) struct Dependents {
    pub(super) disks: Vec<Impact>,
    pub(super) snapshots: Vec<Impact>,
    /// Guests whose disks are based on this template's.
    pub(super) linked_clones: Vec<Impact>,
    /// Backup, replication and HA entries that name the guest.
    pub(super) jobs: Vec<Impact>,
    /// Backups of it, which stay.
    pub(super) backups: Vec<Impact>,
    pub(super) in_ha: bool,
    pub(super) unchecked: Vec<String>,
}

/// A volume as a storage lists it.
#[derive(Debug, Deserialize)]
struct Volume {
    volid: String,
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    vmid: Option<u64>,
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    size: Option<u64>,
    #[serde(default, deserialize_with = "pve::lenient::opt_u64")]
    ctime: Option<u64>,
    #[serde(default)]
    parent: Option<String>,
}

impl Dependents {
    /// Looks everywhere that PVE lets us. Nothing here fails: what cannot be read is named in unchecked.
    pub(super) async fn of(guest: &Guest, config: &GuestConfig) -> Self {
        let mut found = Self {
            disks: disks(config),
            ..Self::default()
        };
        found.look_at_snapshots(guest).await;
        found.look_at_storages(guest, config).await;
        found.look_at_backup_jobs(guest).await;
        found.look_at_replication(guest).await;
        found.look_at_ha(guest).await;
        found
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

    async fn look_at_storages(&mut self, guest: &Guest, config: &GuestConfig) {
        let storages = match guest.pve().storages(&guest.at.node).await {
            Ok(storages) => storages,
            Err(error) => return self.skip("storages", &error),
        };
        if storages.is_empty() {
            self.unchecked.push(
                "backups (the token sees no storage: Datastore.Audit on /storage is missing)"
                    .to_owned(),
            );
        }
        for storage in storages.iter().filter(|storage| storage.active) {
            self.look_at_storage(guest, config, storage).await;
        }
    }

    async fn look_at_storage(
        &mut self,
        guest: &Guest,
        config: &GuestConfig,
        storage: &StorageStatus,
    ) {
        let path = format!(
            "/nodes/{}/storage/{}/content",
            guest.at.node, storage.storage
        );
        if storage.holds("backup") {
            let request = Request::get(&path)
                .with("content", "backup")
                .with("vmid", guest.at.vmid);
            match guest.pve().list::<Volume>(request).await {
                Ok(volumes) => self.backups.extend(volumes.iter().map(|volume| {
                    let taken = volume
                        .ctime
                        .and_then(|at| i64::try_from(at).ok())
                        .map(crate::words::time);
                    let item =
                        Impact::new(Effect::Kept, "backup", &volume.volid).bytes(volume.size);
                    match taken {
                        Some(taken) => item.note(format!("taken {taken}")),
                        None => item,
                    }
                })),
                Err(error) => self.skip(&format!("backups on {}", storage.storage), &error),
            }
        }
        let holds_base = config.template()
            && config
                .disks()
                .iter()
                .any(|disk| disk.storage.as_deref() == Some(storage.storage.as_str()));
        if holds_base {
            match guest.pve().list::<Volume>(Request::get(&path)).await {
                Ok(volumes) => self.linked_clones.extend(clones_among(&volumes, guest)),
                Err(error) => self.skip(&format!("linked clones on {}", storage.storage), &error),
            }
        }
    }

    async fn look_at_backup_jobs(&mut self, guest: &Guest) {
        let jobs = match guest.pve().list::<Value>("/cluster/backup").await {
            Ok(jobs) => jobs,
            Err(error) => return self.skip("backup jobs", &error),
        };
        for job in &jobs {
            let id = job["id"].as_str().unwrap_or("?");
            let list = job["vmid"].as_str().unwrap_or_default();
            let names: Vec<_> = list
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .collect();
            let vmid = guest.at.vmid.to_string();
            if names.contains(&vmid.as_str()) {
                let note = if names.len() == 1 {
                    "names only this guest: purge deletes the job, without purge the id stays in it"
                } else {
                    "purge takes the guest out of it, without purge the id stays in it"
                };
                self.jobs
                    .push(Impact::new(Effect::Changed, "backup job", id).note(note));
            } else if job["pool"]
                .as_str()
                .is_some_and(|pool| Some(pool) == guest.row.pool.as_deref())
            {
                self.jobs.push(
                    Impact::new(Effect::Kept, "backup job", id).note("covers it by its pool"),
                );
            }
        }
    }

    async fn look_at_replication(&mut self, guest: &Guest) {
        let jobs = match guest.pve().list::<Value>("/cluster/replication").await {
            Ok(jobs) => jobs,
            Err(error) => return self.skip("replication jobs", &error),
        };
        let of_guest = |job: &&Value| {
            pve::lenient::as_u64(&job["guest"]) == Some(u64::from(guest.at.vmid.get()))
        };
        for job in jobs.iter().filter(of_guest) {
            let target = job["target"].as_str().unwrap_or("?");
            let item = Impact::new(
                Effect::Changed,
                "replication job",
                job["id"].as_str().unwrap_or("?"),
            );
            self.jobs
                .push(item.note(format!("to {target}; purge removes it")));
        }
    }

    async fn look_at_ha(&mut self, guest: &Guest) {
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
            self.in_ha = true;
            self.jobs.push(
                Impact::new(Effect::Changed, "HA resource", sid)
                    .note("purge removes it; PVE refuses without"),
            );
        }
    }

    fn skip(&mut self, what: &str, error: &Error) {
        let why = match error.missing_privilege() {
            Some((path, privileges)) => format!("{} on {path} is missing", privileges.join(" or ")),
            None => error.to_string(),
        };
        self.unchecked.push(format!("{what} ({why})"));
    }
}

fn disks(config: &GuestConfig) -> Vec<Impact> {
    config
        .disks()
        .into_iter()
        .map(|disk| {
            let item = Impact::new(Effect::Destroyed, "disk", &disk.volume).bytes(disk.size_bytes);
            if disk.is_unused() {
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
    let own = u64::from(guest.at.vmid.get());
    let bases = [format!("base-{own}-"), format!("basevol-{own}-")];
    let mut clones: Vec<u64> = volumes
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
