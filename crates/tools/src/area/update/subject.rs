//! The guest that is changed, and what has to be known of its surroundings.

use pve::lenient::as_u64;
use pve::{GuestConfig, Request, StorageStatus};
use serde_json::Value;

use super::device::{Drive, card};
use super::edit::Edit;
use super::keys::Takes;
use crate::area::power::State;
use crate::area::sdn::{Networks, hidden};
use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Needs, Plan};
use crate::words;

/// A guest and how it is configured.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) guest: Guest,
    /// With what waits for a restart counted in.
    pub(super) config: GuestConfig,
    /// As the running guest has it.
    pub(super) current: GuestConfig,
    pub(super) running: bool,
    /// What its cards can be plugged into; empty until a change of a card asks.
    pub(super) networks: Networks,
}

impl Subject {
    pub(super) async fn of(guest: Guest) -> Result<Self, Fault> {
        guest.require_online()?;
        let config = guest.config().await?;
        let now = Request::get(guest.at.path("config")).with("current", true);
        let current = guest.pve().get::<GuestConfig>(now).await?;
        let running = State::of(&guest).await?.running;
        Ok(Self {
            guest,
            config,
            current,
            running,
            networks: Networks::default(),
        })
    }

    /// A privilege on the guest.
    pub(super) fn needs(&self, privilege: &str) -> Needs {
        Needs::on(self.guest.at.acl_path(), privilege)
    }

    /// The key of its cloud-init drive.
    pub(super) fn cloudinit_drive(&self) -> Option<&str> {
        let mut values = self.config.values().iter();
        let found = values.find(|(_, value)| {
            let text = value.as_str().filter(|text| text.contains("cloudinit"));
            text.is_some_and(|text| Drive::parse(text).is_cloudinit())
        })?;
        Some(found.0)
    }

    /// Reads where the networks of cards are, and says which bridges do not exist, which PVE would take all the same, and
    /// which cannot be seen.
    pub(super) async fn look_at_bridges(
        &mut self,
        edits: &[Edit],
        plan: &mut Plan,
    ) -> Result<(), Fault> {
        let cards = edits.iter().filter(|edit| edit.spec.takes == Takes::Card);
        let bridge = |text: &str| card(text).remove("bridge");
        let wanted: Vec<String> = cards
            .filter_map(|edit| {
                let new = bridge(edit.text()?)?;
                let old = edit.old.as_deref().and_then(bridge);
                (old.as_ref() != Some(&new)).then_some(new)
            })
            .collect();
        if edits.iter().all(|edit| edit.spec.takes != Takes::Card) {
            return Ok(());
        }
        let (pve, node) = (self.guest.pve(), &self.guest.at.node);
        self.networks = Networks::of(pve, node).await?;
        for name in wanted.iter().filter(|name| !self.networks.has(name)) {
            let shown = words::clip(name, 40);
            match hidden(pve, node, &shown).await? {
                Some(warning) => plan.warnings.push(warning),
                None => plan.blockers.push(Blocker::new(
                    format!("there is no bridge {shown} on {node}"),
                    format!("its bridges are {}", words::list(&self.networks.names())),
                )),
            }
        }
        Ok(())
    }

    /// The storages of its node, and which of those that new disks name do not take them.
    pub(super) async fn look_at_storages(
        &self,
        edits: &[Edit],
    ) -> (Vec<StorageStatus>, Vec<Blocker>) {
        let storages = self
            .guest
            .pve()
            .storages(&self.guest.at.node)
            .await
            .unwrap_or_default();
        let content = match self.guest.at.kind {
            pve::GuestKind::Qemu => "images",
            pve::GuestKind::Lxc => "rootdir",
        };
        let fit: Vec<&str> = storages
            .iter()
            .filter(|storage| storage.holds(content))
            .map(|storage| storage.storage.as_str())
            .collect();
        let drives = edits.iter().filter(|edit| edit.is_drive());
        let new = drives.filter_map(|edit| {
            let drive = Drive::parse(edit.text()?);
            (!drive.names_volume()).then(|| drive.storage().map(str::to_owned))?
        });
        let missing = new.filter(|name| !fit.is_empty() && !fit.contains(&name.as_str()));
        let blockers = missing
            .map(|name| {
                Blocker::new(
                    format!(
                        "there is no storage {} that takes disks on {}",
                        words::clip(&name, 40),
                        self.guest.at.node
                    ),
                    format!("those that do are {}", words::list(&fit)),
                )
            })
            .collect();
        (storages, blockers)
    }

    /// Sizes of disks that go, where the configuration does not tell them. What the token may not see stays unknown.
    pub(super) async fn measure(&self, impact: &mut [Impact]) {
        let unmeasured = |item: &&mut Impact| {
            item.effect == Effect::Destroyed && item.kind == "disk" && item.bytes.is_none()
        };
        for disk in impact.iter_mut().filter(unmeasured) {
            let Some((storage, _)) = disk.id.split_once(':') else {
                continue;
            };
            let path = format!(
                "/nodes/{}/storage/{storage}/content/{}",
                self.guest.at.node,
                pve::encode_segment(&disk.id)
            );
            let volume = self.guest.pve().get::<Value>(path).await;
            disk.bytes = volume.ok().and_then(|volume| as_u64(&volume["size"]));
        }
    }

    /// The same volume in two places of one guest.
    pub(super) fn attached_twice(&self, edits: &[Edit]) -> Vec<Blocker> {
        let changed = |key: &str| edits.iter().any(|edit| edit.key == key);
        let mut blockers = Vec::new();
        for edit in edits.iter().filter(|edit| edit.is_drive()) {
            let Some(drive) = edit.text().map(Drive::parse).filter(Drive::names_volume) else {
                continue;
            };
            let disks = self.config.disks();
            let twice = disks.iter().find(|disk| {
                disk.volume == drive.volume && !disk.is_unused() && !changed(&disk.key)
            });
            if let Some(disk) = twice {
                blockers.push(Blocker::new(
                    format!("{} is attached as {} already", drive.volume, disk.key),
                    format!("delete {} in the same call to move it", disk.key),
                ));
            }
        }
        blockers
    }
}
