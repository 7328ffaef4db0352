//! From a world file to a world.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::file::{
    AccountPart, CephPart, DriveKindPart, DrivePart, FirewallPart, GuestPart, InsidePart, KindPart,
    NodePart, PoolPart, RulePart, SectionPart, SnapshotPart, StatePart, StoragePart, TaskPart,
    TokenPart, UpdatePart, UserPart, VolumePart, WorldFile,
};
use crate::call::Identity;
use crate::clock::Time;
use crate::world::access::{Group, Realm, Role, Rule, Subject, Token, User};
use crate::world::acme::{Account, LETS_ENCRYPT};
use crate::world::ceph::{Ceph, CephPool, Osd};
use crate::world::config::{Config, parse_size};
use crate::world::firewall::{Address, Firewall, IpSet, Scope};
use crate::world::guest::{Guest, Inside, Kind, Power, Snapshot};
use crate::world::host::{Disk, DiskKind, Settings, Update, installed_services};
use crate::world::node::Node;
use crate::world::sdn::Part;
use crate::world::storage::{Storage, Volume};
use crate::world::task::End;
use crate::world::upid::Upid;
use crate::world::{Pool, Section, Sections, World};

/// The world that a file describes.
pub(super) fn build(file: WorldFile) -> World {
    let now = Time::from_secs(file.cluster.now);
    let mut world = World::empty(&file.cluster.name, now);
    world.appliances = file.cluster.appliances;
    for (part, id) in file.node.into_iter().zip(1..) {
        world.nodes.insert(part.name.clone(), node(part, id, now));
    }
    world.storages = file
        .storage
        .into_iter()
        .map(|(id, part)| (id, storage(part)))
        .collect();
    world.volumes = file
        .volume
        .into_iter()
        .map(|part| volume(part, now))
        .collect();
    for part in file.guest {
        let guest = guest(&mut world, part);
        add_volumes(&mut world, &guest);
        world.guests.insert(guest.vmid, guest);
    }
    fill_backups(&mut world);
    world.pools = file
        .pool
        .into_iter()
        .map(|(id, part)| (id, pool(part)))
        .collect();
    for (name, part) in file.user {
        world.access.users.insert(name, user(part));
    }
    for (name, part) in file.realm {
        let realm = Realm {
            kind: part.r#type,
            comment: part.comment,
            settings: part.settings,
            people: part.people,
        };
        world.access.realms.insert(name, realm);
    }
    let group = |members: Vec<String>| Group {
        members: members.into_iter().collect(),
        comment: None,
    };
    world.access.groups = file
        .group
        .into_iter()
        .map(|(name, members)| (name, group(members)))
        .collect();
    for (name, privs) in file.role {
        world.access.roles.insert(
            name,
            Role {
                privs,
                special: false,
            },
        );
    }
    world.access.acl = file.acl.into_iter().map(rule).collect();
    world.backup_jobs = sections(file.backup_job);
    world.replication_jobs = sections(file.replication_job);
    world.ha_resources = sections(file.ha_resource);
    world.ha_rules = sections(file.ha_rule);
    world.metric_servers = sections(file.metric_server);
    for (name, part) in file.acme_account {
        let account = account(part).registered(&name);
        world
            .acme_accounts
            .extend(account.map(|account| (name, account)));
    }
    world.sdn_controllers = sections(file.sdn_controller);
    let networks = [
        (Part::Zone, file.sdn_zone),
        (Part::Vnet, file.sdn_vnet),
        (Part::Subnet, file.sdn_subnet),
    ];
    add_networks(
        &mut world,
        networks.map(|(part, objects)| (part, sections(objects))),
    );
    world.firewalls = file.firewall.into_iter().map(firewall).collect();
    world.ceph = file.ceph.map(ceph);
    world.options = file.option;
    for part in file.task {
        add_task(&mut world, part);
    }
    world
}

fn bytes(size: &str) -> u64 {
    parse_size(size).unwrap_or_default()
}

fn text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Boolean(flag) => u8::from(*flag).to_string(),
        other => other.to_string(),
    }
}

fn account(part: AccountPart) -> Account {
    let contact = part.contact.iter();
    Account {
        contact: contact.map(|mail| format!("mailto:{mail}")).collect(),
        directory: LETS_ENCRYPT.to_owned(),
        terms: Some(part.terms),
        location: String::new(),
    }
}

fn node(part: NodePart, id: u32, now: Time) -> Node {
    let mut services = installed_services();
    for name in &part.failed_services {
        if let Some(service) = services.get_mut(name) {
            service.fail();
        }
    }
    Node {
        criu: false,
        checkpoint: None,
        certificate_end: None,
        ordered: None,
        back_at: None,
        settings: Settings {
            search: part.search,
            dns: part.dns,
            config: part.option,
            ..Settings::default()
        },
        services,
        updates: part.update.into_iter().map(update).collect(),
        disks: part.drive.into_iter().map(disk).collect(),
        name: part.name,
        id,
        ip: part.ip,
        cpus: part.cpus,
        memory: bytes(&part.memory),
        disk: bytes(&part.disk),
        boot: now - Duration::from_secs(part.uptime_hours * 3600),
        down_since: None,
        fingerprint: String::new(),
        certificate: String::new(),
        planned_interfaces: BTreeMap::new(),
    }
}

fn update(part: UpdatePart) -> Update {
    Update {
        package: part.package,
        title: part.title,
        old: part.old,
        new: part.new,
        origin: part.origin,
    }
}

fn ceph(part: CephPart) -> Ceph {
    let osds = part.osd.into_iter().map(|osd| Osd {
        host: osd.node,
        device: osd.device,
        beside: Vec::new(),
    });
    let pools = part.pool.into_iter().zip(1..);
    let pools = pools.map(|((name, pool), id)| {
        let pool = CephPool {
            id,
            size: pool.size,
            min_size: pool.min_size,
            pg_num: pool.pg_num,
            application: pool.application,
            autoscale: "on".to_owned(),
        };
        (name, pool)
    });
    Ceph {
        fsid: part.fsid,
        version: part.version,
        release: part.release,
        osds: (0..).zip(osds).collect(),
        pools: pools.collect(),
        flags: BTreeSet::new(),
    }
}

fn disk(part: DrivePart) -> Disk {
    let kind = match part.kind {
        DriveKindPart::Nvme => DiskKind::Nvme,
        DriveKindPart::Ssd => DiskKind::Ssd,
        DriveKindPart::Hdd => DiskKind::Hdd,
    };
    Disk {
        kind,
        device: part.device,
        model: part.model,
        vendor: part.vendor,
        serial: part.serial,
        size: bytes(&part.size),
        health: part.health,
        life_left: part.life_left,
        used: part.used,
        gpt: false,
    }
}

fn storage(part: StoragePart) -> Storage {
    Storage {
        kind: part.r#type,
        props: part.props,
        content: part.content.split(',').map(str::to_owned).collect(),
        nodes: part.nodes,
        shared: part.shared,
        capacity: bytes(&part.capacity),
    }
}

fn volume(part: VolumePart, now: Time) -> Volume {
    Volume {
        created: part.made.time(now),
        volid: part.volid,
        node: part.node,
        content: part.content,
        format: part.format,
        size: bytes(&part.size),
        used: bytes(&part.size),
        vmid: part.vmid,
        notes: part.notes,
        protected: part.protected,
        config: None,
    }
}

/// Puts into each backup the config that its guest has today.
fn fill_backups(world: &mut World) {
    for volume in &mut world.volumes {
        let guest = volume.vmid.and_then(|vmid| world.guests.get(&vmid));
        if let Some(guest) = guest.filter(|_| volume.content == "backup") {
            volume.config = Some(guest.config.clone());
        }
    }
}

fn guest(world: &mut World, part: GuestPart) -> Guest {
    let kind = match part.kind {
        KindPart::Qemu => Kind::Qemu,
        KindPart::Lxc => Kind::Lxc,
    };
    let config: Config = part
        .config
        .iter()
        .map(|(key, value)| (key, text(value)))
        .collect();
    let mut guest = Guest::new(part.vmid, kind, &part.node, config);
    guest.inside = Inside {
        os: !matches!(part.inside, InsidePart::Nothing),
        agent: matches!(part.inside, InsidePart::Agent),
    };
    guest.agent = part.agent.build();
    guest.snapshots = part
        .snapshot
        .into_iter()
        .map(|part| snapshot(part, &guest.config, world.now))
        .collect();
    if let Some(last) = guest.snapshots.last()
        && guest.config.get("parent").is_none()
    {
        guest.config.set("parent", last.name.clone());
    }
    if !matches!(part.state, StatePart::Stopped) {
        let (booted, pid) = (
            world
                .nodes
                .get(&part.node)
                .map_or(world.now, |node| node.boot),
            world.new_pid(),
        );
        guest.start(booted, pid);
    }
    if let Power::Running { paused, .. } = &mut guest.power {
        *paused = matches!(part.state, StatePart::Paused);
    }
    guest
}

fn snapshot(part: SnapshotPart, today: &Config, now: Time) -> Snapshot {
    let mut config = today.clone();
    for key in ["parent", "lock"] {
        config.remove(key);
    }
    for (key, value) in &part.config {
        match text(value) {
            empty if empty.is_empty() => {
                config.remove(key);
            }
            value => config.set(key, value),
        }
    }
    Snapshot {
        name: part.name,
        parent: part.parent,
        time: part.taken.time(now),
        description: part.description,
        config,
        vmstate: part.vmstate,
        state: None,
    }
}

/// Makes the volumes that a guest's configs name, unless the file lists them.
fn add_volumes(world: &mut World, guest: &Guest) {
    for volid in guest.volumes() {
        let storage = volid.split(':').next().unwrap_or_default();
        let shared = world
            .storages
            .get(storage)
            .is_some_and(|storage| storage.shared);
        let node = (!shared).then(|| guest.node.clone());
        if world.volume(&guest.node, volid).is_some() {
            continue;
        }
        let drive = guest.config.drives().find(|drive| drive.volume == volid);
        let size = drive.map_or(0, |drive| drive.size()).max(4 << 20);
        let Ok(name) = world.parse_volid(volid) else {
            continue;
        };
        let image = Volume::image(
            volid.to_owned(),
            node,
            guest.vmid,
            name.format,
            size,
            world.now,
        );
        world.volumes.push(Volume {
            used: size / 2,
            ..image
        });
    }
}

fn pool(part: PoolPart) -> Pool {
    Pool {
        comment: part.comment,
        guests: part.guests,
        storages: part.storages,
    }
}

fn user(part: UserPart) -> User {
    let token = |part: TokenPart| Token {
        secret: part.secret,
        privsep: part.privsep,
        expire: 0,
        comment: part.comment,
    };
    User {
        password: part.password,
        comment: part.comment,
        email: part.email,
        tokens: part
            .token
            .into_iter()
            .map(|(name, part)| (name, token(part)))
            .collect(),
        ..User::default()
    }
}

fn rule(part: RulePart) -> Rule {
    let subject = match (part.user, part.group, part.token) {
        (Some(name), ..) => Subject::User(name),
        (_, Some(name), _) => Subject::Group(name),
        (.., token) => Subject::Token(token.unwrap_or_default()),
    };
    Rule {
        path: part.path,
        subject,
        role: part.role,
        propagate: part.propagate,
    }
}

fn sections(parts: BTreeMap<String, SectionPart>) -> Sections {
    let section = |part: SectionPart| Section {
        kind: part.r#type,
        props: part
            .props
            .iter()
            .map(|(key, value)| (key.clone(), text(value)))
            .collect(),
    };
    parts
        .into_iter()
        .map(|(id, part)| (id, section(part)))
        .collect()
}

/// Objects run and are configured, unless their `state` says that they are `new` or `deleted` since.
fn add_networks<const N: usize>(world: &mut World, networks: [(Part, Sections); N]) {
    let mut since = Vec::new();
    for (part, objects) in networks {
        for (id, mut object) in objects {
            match object.props.remove("state").as_deref() {
                Some("new") => since.push((part, id, Some(object))),
                Some(_) => {
                    world.configure_sdn(part, &id, Some(object));
                    since.push((part, id, None));
                }
                None => world.configure_sdn(part, &id, Some(object)),
            }
        }
    }
    world.apply_sdn();
    for (part, id, object) in since {
        world.configure_sdn(part, &id, object);
    }
}

fn firewall(part: FirewallPart) -> (Scope, Firewall) {
    let scope = match (part.guest, part.node, part.group) {
        (Some(vmid), _, _) => Scope::Guest(vmid),
        (None, Some(node), _) => Scope::Node(node),
        (None, None, Some(group)) => Scope::Group(group),
        (None, None, None) => Scope::Cluster,
    };
    let address = |cidr: String| Address {
        cidr,
        comment: None,
        nomatch: false,
    };
    let set = |members: Vec<String>| IpSet {
        members: members.into_iter().map(address).collect(),
        comment: None,
    };
    let aliases = part.aliases.into_iter();
    let ipsets = part.ipsets.into_iter();
    let firewall = Firewall {
        options: part.options,
        rules: part.rules,
        aliases: aliases.map(|(name, cidr)| (name, address(cidr))).collect(),
        ipsets: ipsets.map(|(name, members)| (name, set(members))).collect(),
        comment: part.comment,
    };
    (scope, firewall)
}

fn add_task(world: &mut World, part: TaskPart) {
    let start = world.now - Duration::from_secs(part.hours_ago * 3600);
    let upid = Upid {
        node: part.node,
        pid: world.new_pid(),
        pstart: 100_000,
        start: start.secs(),
        kind: part.kind,
        id: part.id,
        user: Identity::parse(&part.user),
    };
    let end = (!part.hangs).then(|| End {
        at: start + Duration::from_secs(part.seconds),
        status: part.status,
    });
    world.tasks.add_past(upid, part.log, end);
}
