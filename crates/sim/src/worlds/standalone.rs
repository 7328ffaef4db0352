//! A node that was installed just now, beside the homelab and in no cluster.

use crate::world::World;
use crate::world::neighbour::Neighbour;

use super::{ROOT_PASSWORD, homelab, with_root};

/// One empty node, pve4, that could join the homelab by its first node's address and root's password.
pub fn standalone() -> World {
    let home = homelab();
    let mut world = World::empty("pve4", home.now);
    let mut node = home.nodes["pve3"].clone();
    "pve4".clone_into(&mut node.name);
    "192.168.1.14".clone_into(&mut node.ip);
    node.id = 1;
    world.nodes.insert(node.name.clone(), node);
    let own = home.storages.iter().filter(|(_, storage)| !storage.shared);
    let own = own.filter(|(_, storage)| storage.nodes.is_empty());
    world.storages = own
        .map(|(id, storage)| (id.clone(), storage.clone()))
        .collect();
    world.alone = Some(Neighbour {
        host: home.nodes["pve1"].ip.clone(),
        fingerprint: ["AA"; 32].join(":"),
        password: ROOT_PASSWORD.to_owned(),
        name: home.name,
        nodes: home.nodes,
    });
    with_root(world)
}
