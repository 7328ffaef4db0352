//! The guest that a restore replaces: what it loses, what stands in the way, how the replacement is seen.

use pve::{GuestConfig, GuestKind, SnapshotEntry};
use serde_json::json;

use super::difference;
use super::saved::Saved;
use crate::area::power::{State, locked};
use crate::area::snapshot::taken;
use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact};
use crate::volume::owner;

/// Settings that a restore writes as they are in the backup.
const TELLING: &[&str] = &[
    "agent", "bios", "boot", "cores", "cpu", "machine", "memory", "name", "onboot", "ostype",
    "scsihw", "sockets", "vmgenid",
];

/// A guest as it is before it is replaced.
pub(super) struct Over {
    pub(super) guest: Guest,
    pub(super) config: GuestConfig,
    state: State,
    snapshots: Vec<SnapshotEntry>,
}

impl Over {
    pub(super) async fn look_at(guest: Guest) -> Result<Self, Fault> {
        Ok(Self {
            config: guest.config().await?,
            state: State::of(&guest).await?,
            snapshots: guest.pve().snapshots(&guest.at).await?,
            guest,
        })
    }

    pub(super) fn blockers(&self) -> Vec<Blocker> {
        let label = self.guest.label();
        let mut blockers = Vec::new();
        if self.state.running {
            blockers.push(Blocker::new(
                format!("{label} is running, and is restored only when it is off"),
                "shut it down with stop_proxmox_vm first, or send new_vmid to restore beside it",
            ));
        }
        if let Some(lock) = self.config.lock() {
            blockers.push(locked(&self.guest, &lock));
        }
        if self.config.template() {
            blockers.push(Blocker::new(
                format!("{label} is a template, whose linked clones would lose their base"),
                "send new_vmid to restore beside it",
            ));
        }
        blockers
    }

    /// A VM loses the disks that the backup has too; its others stay as unused ones. A container loses all.
    pub(super) fn impact(&self, saved: &Saved) -> Vec<Impact> {
        let at = &self.guest.at;
        let mut impact = vec![
            Impact::new(Effect::Destroyed, at.kind.noun(), at.vmid.to_string())
                .note("its present state; the id stays"),
        ];
        let coming = saved.disks();
        for disk in self
            .config
            .disks()
            .iter()
            .filter(|disk| disk.storage.is_some())
        {
            let own = owner(&disk.volume) == Some(at.vmid);
            let replaced =
                at.kind == GuestKind::Lxc || coming.iter().any(|other| other.key == disk.key);
            let (effect, note) = if !own {
                (Effect::Kept, format!("{}: not its own, stays", disk.key))
            } else if replaced {
                (Effect::Destroyed, disk.key.clone())
            } else {
                (
                    Effect::Kept,
                    format!("{}: not in the backup, stays as an unused disk", disk.key),
                )
            };
            impact.push(
                Impact::new(effect, "disk", &disk.volume)
                    .bytes(disk.size_bytes)
                    .note(note),
            );
        }
        impact.extend(self.snapshots.iter().map(|entry| {
            Impact::new(Effect::Destroyed, "snapshot", &entry.name).note(taken(entry))
        }));
        impact
    }

    pub(super) fn warnings(&self, saved: &Saved) -> Vec<String> {
        let mut warnings = vec![format!(
            "everything since the backup ({}) is lost",
            saved.backup.taken()
        )];
        let uuid = |config: &GuestConfig| {
            let smbios = config.properties("smbios1")?;
            smbios.get("uuid").map(str::to_ascii_lowercase)
        };
        if uuid(&self.config) != uuid(&saved.config) {
            warnings.push(format!(
                "the backup seems to be of another guest that had the id {} before: its smbios uuid differs",
                self.guest.at.vmid
            ));
        }
        let disks: Vec<_> = [self.config.disks(), saved.config.disks()].concat();
        let is_disk = |key: &str| disks.iter().any(|disk| disk.key == key);
        if let Some(changes) = difference::between(&self.config, &saved.config, is_disk) {
            warnings.push(format!("the settings go back too: {changes}"));
        }
        warnings
    }

    /// What is seen when it has been replaced.
    pub(super) fn replaced(&self, saved: &Saved, start: bool) -> Check {
        let label = self.guest.label();
        let mut expect = vec![Expect::Is("lock".to_owned(), json!(null))];
        let shown = self.shown_by(saved);
        let says = if shown.is_empty() {
            format!("{label} is unlocked (nothing in its settings tells the backup from before)")
        } else {
            format!("{label} is the one of the backup, and unlocked")
        };
        expect.extend(shown);
        let word = if start { "running" } else { "stopped" };
        let status = Check::guest(
            &self.guest.at,
            "status/current",
            format!("it is {word}"),
            vec![Expect::Is("status".to_owned(), json!(word))],
        );
        // The start is a task of its own.
        Check::guest(&self.guest.at, "config", says, expect).and(status.settles(start))
    }

    /// What is so afterwards and not now. A VM has a new generation id, a container a new root volume. A VM whose backup has
    /// none gets the settings of that time, as far as they differ.
    fn shown_by(&self, saved: &Saved) -> Vec<Expect> {
        let mark = match self.guest.at.kind {
            GuestKind::Qemu => "vmgenid",
            GuestKind::Lxc => "rootfs",
        };
        let marked = |config: &GuestConfig| config.text(mark).filter(|mark| mark != "0");
        if marked(&saved.config).is_some() {
            let now = marked(&self.config);
            return vec![Expect::Not(mark.to_owned(), json!(now))];
        }
        let differs = |key: &&&str| self.config.text(key) != saved.config.text(key);
        let keys = TELLING.iter().filter(differs);
        keys.map(|key| Expect::Is((*key).to_owned(), json!(saved.config.text(key))))
            .collect()
    }
}
