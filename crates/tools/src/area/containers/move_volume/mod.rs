//! move_container_volume
//!
//! [`to_storage`] copies a volume to another storage, [`to_container`] hands it over to another container.

mod to_container;
mod to_storage;

use pve::{GuestConfig, GuestKind, StorageId, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::area::disk_moves::snapshots_holding;
use crate::area::power::{State, locked};
use crate::context::{Context, Guest};
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::{self, Need};
use crate::plan::{Blocker, Plan};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// Moves a disk of a stopped container to another storage, or to another container on the same node.
///
/// To a storage it is copied; the original stays as unusedN, or is destroyed with delete_original. To a container it
/// goes with its data, as target_volume. get_container_config has the names; for a whole container migrate_container.
/// Refused: protected containers where something is lost. Such moves ask for a confirmation. Needs VM.Config.Disk,
/// Datastore.AllocateSpace on the storage. Undo: move it back.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct MoveVolume {
    /// The container's id.
    vmid: Vmid,
    /// rootfs, mpN or unusedN.
    volume: String,
    /// Move it to this storage.
    storage: Option<StorageId>,
    /// Or to this container.
    #[schemars(range(min = 100))]
    target_vmid: Option<Vmid>,
    /// Its name there; default as here.
    target_volume: Option<String>,
    /// With storage: destroy the original.
    #[serde(default)]
    delete_original: bool,
}

impl Changes for MoveVolume {
    const SPEC: Spec = Spec {
        name: "move_container_volume",
        title: "Move a container's disk",
        toolset: Toolset::Lxc,
        risk: Risk::Destroy,
        idempotent: false,
        special: Special::NONE,
        needs: Need::All(&[
            need::SEES_GUEST,
            need::guest("VM.Config.Disk"),
            need::storage("Datastore.AllocateSpace"),
        ]),
        examples: &[
            Example {
                ask: "Move the data disk of backup-helper to tank",
                args: r#"{"vmid": 208, "volume": "mp0", "storage": "tank"}"#,
            },
            Example {
                ask: "The same, and free the space on local-lvm",
                args: r#"{"vmid": 208, "volume": "mp0", "storage": "tank", "delete_original": true}"#,
            },
            Example {
                ask: "Give the data disk of backup-helper to the wiki",
                args: r#"{"vmid": 208, "volume": "mp0", "target_vmid": 205, "target_volume": "mp1"}"#,
            },
        ],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/lxc/{}/move_volume")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let cx = cx.only(GuestKind::Lxc, Self::SPEC.name);
        match (&self.storage, self.target_vmid) {
            (Some(storage), None) => {
                if self.target_volume.is_some() {
                    return Err(Fault::bad_input("target_volume goes with target_vmid only")
                        .hint("leave it out; on another storage the disk keeps its name"));
                }
                let source = Source::of(self.vmid, &self.volume, &cx).await?;
                to_storage::plan(&source, storage, self.delete_original).await
            }
            (None, Some(target)) => {
                if self.delete_original {
                    return Err(Fault::bad_input("delete_original goes with storage only")
                        .hint("leave it out; nothing is copied, the disk itself is handed over"));
                }
                let source = Source::of(self.vmid, &self.volume, &cx).await?;
                let key = self.target_volume.as_deref().unwrap_or(&self.volume);
                to_container::plan(&source, (target, key), &cx).await
            }
            _ => Err(Fault::bad_input(
                "a disk goes to a storage or to a container, one of the two",
            )
            .hint("send storage, or target_vmid with target_volume")),
        }
    }
}

/// The disk that moves, and whose it is.
struct Source {
    guest: Guest,
    config: GuestConfig,
    state: State,
    key: String,
    /// The value of its key.
    value: String,
    volume: String,
    storage: String,
    bytes: Option<u64>,
}

impl Source {
    /// Looks it up; what there is instead is told.
    async fn of(vmid: Vmid, key: &str, cx: &Context) -> Result<Self, Fault> {
        let guest = cx.guest(vmid, None, None).await?;
        guest.require_online()?;
        let config = guest.config().await?;
        let state = State::of(&guest).await?;
        let disks = config.disks();
        let found = disks.iter().find(|disk| disk.key == key);
        let Some((disk, value)) = found.zip(config.text(key)) else {
            let names: Vec<_> = disks.iter().map(|disk| disk.key.as_str()).collect();
            let key = words::clip(key, 40);
            let message = format!("{} has no disk {key}", guest.label());
            return Err(Fault::new(Kind::NotFound, message)
                .hint(format!("its disks are {}", words::list(&names))));
        };
        let Some(storage) = disk.storage.clone() else {
            let message = format!("{key} of {} is a path of the node", guest.label());
            return Err(Fault::bad_input(message)
                .hint("only disks on a storage move; a person moves the files of a path"));
        };
        Ok(Self {
            key: key.to_owned(),
            volume: disk.volume.clone(),
            bytes: disk.size_bytes,
            value,
            storage,
            guest,
            config,
            state,
        })
    }

    fn is_unused(&self) -> bool {
        self.key.starts_with("unused")
    }

    /// "mp0 of container 208 (backup-helper)"
    fn label(&self) -> String {
        format!("{} of {}", self.key, self.guest.label())
    }

    /// What PVE refuses wherever it goes.
    fn blockers(&self) -> Vec<Blocker> {
        let lock = self.config.lock();
        lock.iter().map(|lock| locked(&self.guest, lock)).collect()
    }

    fn is_running(&self) -> Option<Blocker> {
        self.state.running.then(|| {
            Blocker::new(
                format!("{} is running", self.guest.label()),
                "end it first with shutdown_container",
            )
        })
    }

    /// The snapshots that hold the volume.
    async fn snapshots(&self) -> Result<Vec<String>, Fault> {
        snapshots_holding(&self.guest, &self.volume).await
    }
}
