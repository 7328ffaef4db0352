//! The template that a VM is made from: what it has, and where it can go.

use pve::{GuestConfig, GuestKind, NodeName, PropertyString, ResourceKind, StorageStatus, Vmid};

use crate::context::{Context, Guest};
use crate::fault::{Fault, Kind};
use crate::plan::{Blocker, Plan};
use crate::words;

/// Where PVE's own interface puts a cloud-init drive, and what it falls back to.
const CLOUD_INIT_SLOTS: [&str; 4] = ["ide2", "ide0", "ide1", "ide3"];

/// The template, looked at once.
pub(super) struct Template {
    pub(super) guest: Guest,
    pub(super) config: GuestConfig,
    pub(super) boot: Option<BootDisk>,
}

/// The disk that it boots from, which is the one that is grown.
pub(super) struct BootDisk {
    pub(super) slot: String,
    pub(super) storage: String,
    pub(super) bytes: u64,
}

impl Template {
    pub(super) async fn find(cx: &Context, vmid: Vmid) -> Result<Self, Fault> {
        let guest = cx.guest(vmid, None, None).await?;
        if guest.at.kind != GuestKind::Qemu || !guest.is_template() {
            return Err(not_a_template(&guest).await?);
        }
        guest.require_online()?;
        let config = guest.config().await?;
        let boot = boot_disk(&config);
        Ok(Self {
            guest,
            config,
            boot,
        })
    }

    pub(super) fn has_cloud_init_drive(&self) -> bool {
        self.volumes()
            .any(|(_, volume)| volume.contains("cloudinit"))
    }

    pub(super) fn free_slot(&self) -> Option<&'static str> {
        let taken = |slot: &&str| self.config.get(slot).is_some();
        CLOUD_INIT_SLOTS.into_iter().find(|slot| !taken(slot))
    }

    /// The model of its first network card and the bridge that it is plugged into.
    pub(super) fn card(&self) -> (String, Option<String>) {
        let nics = self.config.nets();
        let first = nics.iter().find(|nic| nic.key == "net0");
        let model = first.and_then(|nic| {
            let pairs = nic.properties.pairs.iter();
            let mut models = pairs.filter(|(_, value)| Some(value) == nic.mac.as_ref());
            models.next().map(|(model, _)| model.clone())
        });
        let model = model.unwrap_or_else(|| "virtio".to_owned());
        (model, first.and_then(|nic| nic.bridge.clone()))
    }

    /// Every volume that a drive holds, CD drives too.
    fn volumes(&self) -> impl Iterator<Item = (&str, String)> {
        let buses = ["ide", "sata", "scsi", "virtio", "efidisk", "tpmstate"];
        let is_drive = move |key: &str| {
            let bus = key.trim_end_matches(|c: char| c.is_ascii_digit());
            bus.len() < key.len() && buses.contains(&bus)
        };
        let keys = self.config.values().keys().map(String::as_str);
        keys.filter(move |key| is_drive(key)).filter_map(|key| {
            let drive: PropertyString = self.config.properties(key)?;
            let volume = drive.default_or("file")?.to_owned();
            volume.contains(':').then_some((key, volume))
        })
    }

    /// PVE clones to another node only what that node can read.
    pub(super) fn check_reach(&self, plan: &mut Plan, storages: &[StorageStatus], node: &NodeName) {
        let local = |id: &str| {
            storages
                .iter()
                .any(|storage| storage.storage == id && !(storage.shared && storage.enabled))
        };
        for (key, volume) in self.volumes() {
            let storage = volume.split(':').next().unwrap_or_default();
            if local(storage) {
                plan.blockers.push(Blocker::new(
                    format!(
                        "{key} of {} is on {storage}, which {node} does not share",
                        self.guest.label()
                    ),
                    format!(
                        "leave node out (it is {}), and move it later with migrate_proxmox_vm",
                        self.guest.at.node
                    ),
                ));
                return;
            }
        }
    }
}

/// The first disk in the order of booting, or the first there is.
fn boot_disk(config: &GuestConfig) -> Option<BootDisk> {
    let mut disks = config.disks();
    disks.retain(|disk| {
        !disk.is_unused() && !disk.key.starts_with("efidisk") && !disk.key.starts_with("tpmstate")
    });
    let order = config
        .properties("boot")
        .and_then(|boot| boot.get("order").map(str::to_owned));
    let order = order.unwrap_or_default();
    let first = order
        .split(';')
        .find_map(|key| disks.iter().find(|disk| disk.key == key))
        .or_else(|| disks.first())?;
    Some(BootDisk {
        slot: first.key.clone(),
        storage: first.storage.clone()?,
        bytes: first.size_bytes?,
    })
}

/// What it is instead, and which templates there are.
async fn not_a_template(guest: &Guest) -> Result<Fault, Fault> {
    let rows = guest.pve().resources().await?;
    let templates: Vec<_> = rows
        .iter()
        .filter(|row| row.template && row.kind == ResourceKind::Qemu)
        .filter_map(|row| {
            let name = row.name.as_deref().unwrap_or_default();
            Some(format!("{} ({})", row.vmid?, crate::clean::line(name)))
        })
        .collect();
    let others = match templates.as_slice() {
        [] => "there is no template of a VM".to_owned(),
        some => format!("the templates of VMs: {}", words::list(some)),
    };
    let message = format!("{} is no template of a VM", guest.label());
    Ok(Fault::new(Kind::BadInput, message).hint(format!(
        "{others}; clone_proxmox_vm copies any guest as it is"
    )))
}
