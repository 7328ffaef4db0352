//! A large cluster, generated: for questions of scale.

use std::collections::BTreeMap;
use std::time::Duration;

use super::with_root;
use crate::clock::Time;
use crate::world::config::Config;
use crate::world::guest::{Guest, Inside, Kind};
use crate::world::host::{Settings, installed_services};
use crate::world::node::Node;
use crate::world::storage::{Storage, Volume};
use crate::world::{Pool, World};

/// How many guests a node has.
const PER_NODE: u32 = 250;
const GIB: u64 = 1 << 30;
const ROLES: [&str; 8] = [
    "web", "db", "cache", "mail", "build", "monitor", "queue", "proxy",
];
const STAGES: [&str; 3] = ["prod", "test", "dev"];

/// So many guests, spread over nodes of 250 each: two machines to a container, four of five running, all with names,
/// tags, a disk, and a pool for each stage. The same number always gives the same cluster.
pub fn fleet(guests: u32) -> World {
    let mut world = World::empty("fleet", Time::from_secs(1_794_726_000));
    let nodes = guests.div_ceil(PER_NODE).max(1);
    for id in 1..=nodes {
        let node = node(id, world.now);
        world.nodes.insert(node.name.clone(), node);
    }
    world.storages = storages();
    for stage in STAGES {
        world.pools.insert(stage.to_owned(), Pool::default());
    }
    for index in 0..guests {
        add_guest(&mut world, index, nodes);
    }
    with_root(world)
}

fn name_of(id: u32) -> String {
    format!("pve{id:02}")
}

fn node(id: u32, now: Time) -> Node {
    Node {
        criu: false,
        checkpoint: None,
        name: name_of(id),
        id,
        ip: format!("10.0.{}.{}", id / 200, id % 200 + 10),
        cpus: 128,
        memory: 1024 * GIB,
        disk: 200 * GIB,
        boot: now - Duration::from_hours(24 * 40),
        down_since: None,
        fingerprint: String::new(),
        certificate: String::new(),
        planned_interfaces: BTreeMap::new(),
        certificate_end: None,
        ordered: None,
        back_at: None,
        settings: Settings::default(),
        services: installed_services(),
        updates: Vec::new(),
        disks: Vec::new(),
    }
}

fn storages() -> BTreeMap<String, Storage> {
    let storage = |kind: &str, content: &str, shared: bool, props: &[(&str, &str)]| Storage {
        kind: kind.to_owned(),
        props: props
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect(),
        content: content.split(',').map(str::to_owned).collect(),
        nodes: Vec::new(),
        shared,
        capacity: 100 * 1024 * GIB,
    };
    let local = storage(
        "dir",
        "iso,vztmpl,backup",
        false,
        &[("path", "/var/lib/vz")],
    );
    let lvm = [("vgname", "pve"), ("thinpool", "data")];
    let lvm = storage("lvmthin", "images,rootdir", false, &lvm);
    [("local".to_owned(), local), ("local-lvm".to_owned(), lvm)].into()
}

fn add_guest(world: &mut World, index: u32, nodes: u32) {
    let vmid = 100 + index;
    let kind = if index % 3 == 2 {
        Kind::Lxc
    } else {
        Kind::Qemu
    };
    let pick = |list: &[&'static str], step: u32| {
        let at = usize::try_from(index / step).unwrap_or_default() % list.len();
        list[at]
    };
    let (role, stage) = (pick(&ROLES, 1), pick(&STAGES, 8));
    let node = name_of(index % nodes + 1);
    let volid = format!("local-lvm:vm-{vmid}-disk-0");
    let config = config(
        kind,
        &format!("{role}-{vmid}"),
        &format!("{role};{stage}"),
        &volid,
    );
    let mut guest = Guest::new(vmid, kind, &node, config);
    guest.inside = Inside {
        os: true,
        agent: kind == Kind::Qemu,
    };
    if index % 5 != 4 {
        let booted = world.nodes.get(&node).map_or(world.now, |node| node.boot);
        let pid = world.new_pid();
        guest.start(booted, pid);
    }
    let content = match kind {
        Kind::Qemu => "images",
        Kind::Lxc => "rootdir",
    };
    let image = Volume::image(volid, Some(node), vmid, "raw", 32 * GIB, world.now);
    world.volumes.push(Volume {
        content: content.to_owned(),
        used: 12 * GIB,
        ..image
    });
    if let Some(pool) = world.pools.get_mut(stage) {
        pool.guests.insert(vmid);
    }
    world.guests.insert(vmid, guest);
}

fn config(kind: Kind, name: &str, tags: &str, volid: &str) -> Config {
    let vmid = name.rsplit('-').next().unwrap_or_default();
    let mac = format!("BC:24:11:{}", mac_tail(vmid.parse().unwrap_or_default()));
    let pairs = match kind {
        Kind::Qemu => vec![
            ("name", name.to_owned()),
            ("agent", "1".to_owned()),
            ("boot", "order=scsi0".to_owned()),
            ("cores", "4".to_owned()),
            ("memory", "8192".to_owned()),
            ("net0", format!("virtio={mac},bridge=vmbr0")),
            ("ostype", "l26".to_owned()),
            ("scsi0", format!("{volid},size=32G")),
            ("scsihw", "virtio-scsi-single".to_owned()),
            ("sockets", "1".to_owned()),
        ],
        Kind::Lxc => vec![
            ("hostname", name.to_owned()),
            ("arch", "amd64".to_owned()),
            ("cores", "2".to_owned()),
            ("memory", "2048".to_owned()),
            (
                "net0",
                format!("name=eth0,bridge=vmbr0,hwaddr={mac},ip=dhcp,type=veth"),
            ),
            ("ostype", "debian".to_owned()),
            ("rootfs", format!("{volid},size=32G")),
            ("swap", "512".to_owned()),
            ("unprivileged", "1".to_owned()),
        ],
    };
    let tags = ("tags", tags.to_owned());
    pairs.into_iter().chain([tags]).collect()
}

/// The last three bytes of a MAC address.
fn mac_tail(number: u32) -> String {
    let [_, a, b, c] = number.to_be_bytes();
    format!("{a:02X}:{b:02X}:{c:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_spread_over_the_nodes() {
        let world = fleet(1000);
        assert_eq!((world.guests.len(), world.nodes.len()), (1000, 4));
        for name in world.nodes.keys() {
            let here = world.guests.values().filter(|guest| guest.node == *name);
            assert_eq!(here.count(), 250, "{name}");
        }
        assert_eq!(fleet(0).nodes.len(), 1);
    }
}
