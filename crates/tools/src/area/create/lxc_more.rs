//! What a caller may say of a new container in PVE's own words, through the tools of other servers. It is not listed with
//! ours, whose list is short.

use pve::{PropertyString, Request, Size, StorageId};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::place::Place;
use super::space;
use super::values::Line;
use crate::fault::Fault;
use crate::plan::{Blocker, Effect, Impact, Plan};
use crate::words;

/// Further settings.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct More {
    /// The root disk, instead of storage and rootfs_size.
    pub(super) rootfs: Option<NewVolume>,
    /// A disk for data.
    pub(super) mp0: Option<NewVolume>,
    /// All features, instead of nesting.
    features: Option<Line>,
    cpulimit: Option<f64>,
    nameserver: Option<String>,
    searchdomain: Option<String>,
    onboot: Option<bool>,
    description: Option<String>,
}

impl More {
    /// The features that were asked for, if any were.
    pub(super) fn features(&self) -> Option<&str> {
        self.features.as_ref().map(Line::as_str)
    }

    /// Whether features are among them that PVE lets only root give.
    pub(super) fn wants_root(&self) -> bool {
        let parsed = PropertyString::parse(self.features().unwrap_or_default());
        let is_other = |(name, _): &(String, String)| name != "nesting";
        parsed.default.is_some() || parsed.pairs.iter().any(is_other)
    }

    /// The privilege that some of them take and the rest of a container does not.
    pub(super) fn privilege(&self) -> Option<&'static str> {
        let options = self.onboot.is_some() || self.description.is_some();
        options.then_some("VM.Config.Options")
    }

    /// Notes on a plan what the data disk means, and what PVE would refuse of it.
    pub(super) async fn look_at_disk(&self, plan: &mut Plan, place: &Place) -> Result<(), Fault> {
        let Some(disk) = &self.mp0 else {
            return Ok(());
        };
        let id = format!("mp0 on {}", disk.storage);
        plan.impact
            .push(Impact::new(Effect::Created, "disk", id).bytes(Some(disk.size.bytes())));
        if !disk.options.iter().any(|(name, _)| name == "mp") {
            plan.blockers.push(Blocker::new(
                "it is not said where the data disk is mounted",
                "send mp0: \"STORAGE:GIB,mp=/data\"",
            ));
        }
        let node = &place.node.name;
        let there = place.cluster.pve.storages(node).await?;
        let fit = there.iter().filter(|it| it.enabled && it.holds("rootdir"));
        if let Some(storage) = fit.clone().find(|it| it.storage == disk.storage.as_str()) {
            space::check_disk(plan, storage, disk.size.bytes());
            return Ok(());
        }
        let (names, wanted) = (fit.map(|it| it.storage.as_str()), &disk.storage);
        plan.blockers.push(Blocker::new(
            format!("there is no storage {wanted} on {node} that takes disks of containers"),
            format!(
                "those that do are {}; one shows with Datastore.AllocateSpace on /storage/{wanted}",
                words::list(&names.collect::<Vec<_>>())
            ),
        ));
        Ok(())
    }

    /// Adds them to a request.
    pub(super) fn added_to(&self, request: Request) -> Request {
        let limit = self.cpulimit.map(|limit| limit.to_string());
        request
            .maybe("mp0", self.mp0.as_ref().map(NewVolume::written))
            .maybe("cpulimit", limit)
            .maybe("nameserver", self.nameserver.clone())
            .maybe("searchdomain", self.searchdomain.clone())
            .maybe("onboot", self.onboot)
            .maybe("description", self.description.clone())
    }
}

/// A disk that is to be made: `local-lvm:8,mp=/data`.
#[derive(Debug)]
pub(super) struct NewVolume {
    pub(super) storage: StorageId,
    pub(super) size: Size,
    /// What stands behind the size.
    options: Vec<(String, String)>,
}

impl NewVolume {
    /// As PVE takes it.
    pub(super) fn written(&self) -> String {
        let place = format!("{}:{}", self.storage, self.size.in_gib());
        let options = self.options.iter();
        options.fold(place, |text, (name, value)| {
            format!("{text},{name}={value}")
        })
    }
}

impl<'de> Deserialize<'de> for NewVolume {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        new_volume(&text).ok_or_else(|| {
            Error::custom(
                "it is a new disk, as STORAGE:GIB such as \"local-lvm:8\", a data disk with ,mp=/data behind; update_proxmox_vm attaches disks that exist",
            )
        })
    }
}

fn new_volume(text: &str) -> Option<NewVolume> {
    let parsed = PropertyString::parse(text);
    let (storage, size) = parsed.default_or("volume")?.split_once(':')?;
    let is_number = size.chars().all(|c| c.is_ascii_digit() || c == '.');
    Some(NewVolume {
        storage: storage.parse().ok()?,
        size: size.parse().ok().filter(|_| is_number)?,
        options: parsed
            .pairs
            .into_iter()
            .filter(|(name, _)| name != "volume")
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_to_be_made() {
        let disk = new_volume("local-lvm:8,mp=/data,backup=1").expect("a disk");
        assert_eq!(disk.written(), "local-lvm:8,mp=/data,backup=1");
        assert_eq!(disk.size, Size::gib(8));
        for existing in [
            "local-lvm:vm-101-disk-1,mp=/db",
            "/srv/data,mp=/data",
            "local-lvm",
            "",
        ] {
            assert!(new_volume(existing).is_none(), "{existing}");
        }
    }
}
