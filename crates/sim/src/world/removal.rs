//! What the deletion of a guest or a volume takes away, and what it leaves.

use std::collections::BTreeSet;

use crate::call::split_list;
use crate::world::access::Access;
use crate::world::firewall::Scope;
use crate::world::guest::{Guest, Kind};
use crate::world::ha::service_id;
use crate::world::{Section, Sections, World};

impl World {
    /// Whether linked clones name this image as their base. LVM-thin keeps no such names, so nothing is in use there.
    pub fn is_base_in_use(&self, volid: &str) -> bool {
        let Some((id, name)) = volid.split_once(':') else {
            return false;
        };
        let linked = |other: &str| {
            self.parse_volid(other)
                .is_ok_and(|parsed| parsed.base == Some(name))
        };
        self.volumes
            .iter()
            .any(|volume| volume.storage() == id && linked(&volume.volid))
    }

    /// The volumes that go with a guest: those that belong to it and stand in its config, in changes that wait, or
    /// hold the RAM of its snapshots. What only snapshots or other guests' ids name stays.
    pub fn volumes_to_remove(&self, guest: &Guest) -> Vec<String> {
        let waiting = guest.pending.iter();
        let waiting = waiting.filter_map(|(key, value)| Some((key.as_str(), value.as_deref()?)));
        let waiting: crate::world::config::Config = waiting.collect();
        let drives = guest.config.drives().chain(waiting.drives());
        let states = guest
            .snapshots
            .iter()
            .filter_map(|snapshot| snapshot.vmstate.as_deref());
        let hibernated = guest.config.get("vmstate");
        let named = drives
            .map(|drive| drive.volume)
            .chain(states)
            .chain(hibernated);
        let owned = |volid: &&str| {
            self.parse_volid(volid)
                .is_ok_and(|name| name.owner == Some(guest.vmid))
        };
        let images: BTreeSet<&str> = named.filter(owned).collect();
        images.into_iter().map(str::to_owned).collect()
    }

    /// Volumes of an id on all storages of a node, whether a config names them or not.
    pub fn volumes_of_id(&self, node: &str, vmid: u32) -> Vec<String> {
        let content = ["images", "rootdir"];
        self.volumes_on(node)
            .filter(|volume| {
                volume.vmid == Some(vmid) && content.contains(&volume.content.as_str())
            })
            .map(|volume| volume.volid.clone())
            .collect()
    }

    /// Takes an id out of access rules and pools, and its firewall with it, which happens with every deletion.
    pub fn forget_guest_access(&mut self, vmid: u32) {
        forget_rules(&mut self.access, vmid);
        self.firewalls.remove(&Scope::Guest(vmid));
        for pool in self.pools.values_mut() {
            pool.guests.remove(&vmid);
        }
    }

    /// Takes an id out of backup and replication jobs. A backup job that named only this guest goes.
    pub fn purge_jobs(&mut self, vmid: u32) {
        let id = vmid.to_string();
        self.replication_jobs.retain(|job, section| {
            let guest = section.props.get("guest").map(String::as_str);
            guest.or_else(|| job.split('-').next()) != Some(id.as_str())
        });
        for key in ["vmid", "exclude"] {
            forget_in_lists(&mut self.backup_jobs, key, &id, key == "vmid");
        }
    }

    /// Takes a guest out of HA and its rules. Answers whether it was there.
    pub fn purge_ha(&mut self, kind: Kind, vmid: u32) -> bool {
        let id = service_id(kind, vmid);
        forget_in_lists(&mut self.ha_rules, "resources", &id, true);
        self.ha_resources.remove(&id).is_some()
    }

    /// The replication job that stands in the way of a deletion.
    pub fn replication_of(&self, vmid: u32) -> Option<&str> {
        let id = vmid.to_string();
        let guest = |(job, section): &(&String, &Section)| {
            let given = section.props.get("guest").map(String::as_str);
            given.or_else(|| job.split('-').next()) == Some(id.as_str())
        };
        let mut jobs = self.replication_jobs.iter();
        jobs.find(guest).map(|(job, _)| job.as_str())
    }
}

fn forget_rules(access: &mut Access, vmid: u32) {
    let path = format!("/vms/{vmid}");
    access.acl.retain(|rule| rule.path != path);
}

/// Takes an item out of the lists of all sections; a section whose list becomes empty goes if `or_remove`.
fn forget_in_lists(sections: &mut Sections, key: &str, item: &str, or_remove: bool) {
    sections.retain(|_, section| {
        let Some(list) = section.props.get(key) else {
            return true;
        };
        if !split_list(list).any(|found| found == item) {
            return true;
        }
        let left: Vec<&str> = split_list(list).filter(|found| *found != item).collect();
        let left = left.join(",");
        if left.is_empty() {
            section.props.remove(key);
            return !or_remove;
        }
        section.props.insert(key.to_owned(), left);
        true
    });
}
