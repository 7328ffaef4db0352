//! Every place in which a guest, or who may only write a comment, can put a text that somebody else reads.

use sim::{Fault, ITEM, Retold, Sim, World};

/// What people write about things, and what programs and tasks write.
const WRITTEN: &[&str] = &[
    "description",
    "comment",
    "notes",
    "tags",
    "t",
    "out-data",
    "err-data",
    "firstname",
    "lastname",
    "alias",
    "contact",
    "error",
    "msg",
    "Description",
    "Title",
];

/// Where more is chosen by somebody: names of guests, what the agent in a guest tells, what a task or a log says.
const PLACES: &[(&str, &[&str])] = &[
    ("/cluster/resources", &["name"]),
    ("/nodes/*/qemu", &["name"]),
    ("/nodes/*/lxc", &["name"]),
    ("/nodes/*/config", &["name", "hostname"]),
    ("/nodes/*/status/current", &["name"]),
    ("/nodes/*/agent/get-host-name", &["host-name"]),
    ("/nodes/*/agent/network-get-interfaces", &["name"]),
    ("/nodes/*/agent/get-users", &["user"]),
    (
        "/nodes/*/agent/get-osinfo",
        &[
            "name",
            "pretty-name",
            "version",
            "kernel-release",
            "machine",
            "id",
        ],
    ),
    ("/nodes/*/agent/get-fsinfo", &["name", "mountpoint", "type"]),
    ("/nodes/*/agent/file-read", &["content"]),
    ("/nodes/*/lxc/*/interfaces", &["name"]),
    ("/nodes/*/journal", &[ITEM]),
    ("/cluster/log", &["msg", "tag"]),
    ("/cluster/tasks", &["status"]),
    ("/nodes/*/tasks", &["status"]),
];

/// From now on all these places say one of these texts.
pub(super) fn fill(sim: &Sim, texts: &[String]) {
    sim.world(|world| {
        annotate(world);
        name_files(world, texts);
    });
    let retold = |more: &[&str]| Retold {
        fields: WRITTEN
            .iter()
            .chain(more)
            .map(|&it| it.to_owned())
            .collect(),
        texts: texts.to_vec(),
    };
    for (path, fields) in PLACES {
        sim.fault(Fault::retell(retold(fields)).on("GET", path));
    }
    sim.fault(Fault::retell(retold(&[])));
}

/// Writes something wherever somebody could have, so that there is something to be told otherwise.
fn annotate(world: &mut World) {
    for (vmid, guest) in &mut world.guests {
        guest.config.set("description", format!("note {vmid}"));
        let tags = guest.config.get("tags").unwrap_or_default();
        let tags = format!("{tags};t{vmid}");
        guest
            .config
            .set("tags", tags.trim_start_matches(';').to_owned());
        for snapshot in &mut guest.snapshots {
            snapshot.description = format!("snapshot {} of {vmid}", snapshot.name);
        }
    }
    for (name, pool) in &mut world.pools {
        pool.comment = Some(format!("pool {name}"));
    }
    for volume in &mut world.volumes {
        if volume.content == "backup" {
            volume.notes = Some(format!("backup {}", volume.volid));
        }
    }
    for (name, firewall) in &mut world.firewalls {
        firewall.comment = Some(format!("firewall {name:?}"));
        for (number, rule) in firewall.rules.iter_mut().enumerate() {
            rule.insert("comment".to_owned(), format!("rule {number} of {name:?}"));
        }
        for (alias, address) in &mut firewall.aliases {
            address.comment = Some(format!("alias {alias}"));
        }
        for (set, ipset) in &mut firewall.ipsets {
            ipset.comment = Some(format!("set {set}"));
        }
    }
    let sections = [
        &mut world.backup_jobs,
        &mut world.replication_jobs,
        &mut world.ha_resources,
        &mut world.ha_rules,
    ];
    for (id, section) in sections.into_iter().flatten() {
        section
            .props
            .insert("comment".to_owned(), format!("entry {id}"));
    }
    for (name, user) in &mut world.access.users {
        user.comment = Some(format!("user {name}"));
        user.firstname = Some(format!("first name of {name}"));
        for (id, token) in &mut user.tokens {
            token.comment = Some(format!("token {id}"));
        }
    }
    for (name, group) in &mut world.access.groups {
        group.comment = Some(format!("group {name}"));
    }
    for (name, realm) in &mut world.access.realms {
        realm.comment = Some(format!("realm {name}"));
    }
    let notes = "notes of the datacenter".to_owned();
    world.options.insert("description".to_owned(), notes);
}

/// Puts files of these names among the images: what is copied onto a storage by hand is called as it was called before.
fn name_files(world: &mut World, texts: &[String]) {
    let is_image = |volume: &&sim::world::storage::Volume| volume.content == "iso";
    let Some(image) = world.volumes.iter().find(is_image).cloned() else {
        return;
    };
    for (number, text) in texts.iter().enumerate().step_by(7) {
        let name = text.replace('/', "_");
        let mut named = image.clone();
        named.volid = format!("local:iso/{number}{name}.iso");
        world.volumes.push(named);
    }
}
