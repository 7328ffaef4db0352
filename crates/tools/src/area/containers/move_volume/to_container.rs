//! A disk is handed over to another container.

use pve::{GuestConfig, Request, Vmid};
use serde_json::{Value, json};

use super::{MoveVolume, Source};
use crate::area::power::locked;
use crate::claim::Claim;
use crate::context::{Context, Guest, arguments};
use crate::fault::Fault;
use crate::plan::{Blocker, Check, Effect, Expect, Impact, Needs, Plan, Step, Trace, Undo};
use crate::tool::Changes;
use crate::words;

/// The container that gets the disk, and as what.
struct Target<'a> {
    guest: Guest,
    config: GuestConfig,
    key: &'a str,
}

pub(super) async fn plan(
    source: &Source,
    (vmid, key): (Vmid, &str),
    cx: &Context,
) -> Result<Plan, Fault> {
    check_keys(source, vmid, key)?;
    let target = Target::of(source, (vmid, key), cx).await?;
    let summary = format!(
        "Hand {} over to {} as {key}",
        source.label(),
        target.guest.label()
    );
    let spec = &MoveVolume::SPEC;
    let cluster = &source.guest.cluster.name;
    let mut plan = Plan::new(spec, cluster, summary);
    source.guest.bind(&mut plan, &source.config);
    target.guest.bind(&mut plan, &target.config);
    plan.blockers = blockers(source, &target).await?;
    plan.impact = vec![
        Impact::new(Effect::Destroyed, "setting", &source.key)
            .note(format!("{} loses the disk", source.guest.label())),
        Impact::new(Effect::Changed, "disk", &source.volume)
            .bytes(source.bytes)
            .note(format!("{key} of {} from then on", target.guest.label())),
    ];
    plan.needs = needs(source, &target);
    plan.undo = undo(source, &target);
    plan.steps.push(step(source, &target, &plan.summary));
    Ok(plan)
}

impl<'a> Target<'a> {
    async fn of(
        source: &Source,
        (vmid, key): (Vmid, &'a str),
        cx: &Context,
    ) -> Result<Self, Fault> {
        let there = Context {
            clusters: vec![source.guest.cluster.clone()],
            // The caller's claim of a node is about the source.
            claim: Claim {
                node: None,
                ..cx.claim.clone()
            },
            ..cx.clone()
        };
        let guest = there.guest(vmid, None, None).await?;
        guest.require_online()?;
        let config = guest.config().await?;
        Ok(Self { guest, config, key })
    }
}

/// What PVE takes no disk from, or to.
fn check_keys(source: &Source, vmid: Vmid, key: &str) -> Result<(), Fault> {
    if vmid == source.guest.at.vmid {
        let message = format!("{} is the container that has it", source.guest.label());
        return Err(Fault::bad_input(message)
            .hint("update_proxmox_vm gives a disk another name within one container"));
    }
    let is_mount = |key: &str| {
        let number = ["mp", "unused"]
            .iter()
            .find_map(|stem| key.strip_prefix(stem));
        number.is_some_and(|number| number.parse::<u8>().is_ok())
    };
    if source.key == "rootfs" || !is_mount(key) {
        let message = format!(
            "{} of one container cannot become {} of another",
            source.key,
            words::clip(key, 40)
        );
        return Err(Fault::bad_input(message).hint(
            "a root disk stays; send an mpN or unusedN as volume, and a free one as target_volume",
        ));
    }
    if source.is_unused() && !key.starts_with("unused") {
        return Err(
            Fault::bad_input("PVE hands an unused disk over as unused only")
                .hint("send target_volume: \"unused0\", and attach it then with update_proxmox_vm"),
        );
    }
    Ok(())
}

async fn blockers(source: &Source, target: &Target<'_>) -> Result<Vec<Blocker>, Fault> {
    let mut blockers = source.blockers();
    let (from, to) = (&source.guest, &target.guest);
    if let Some(lock) = target.config.lock() {
        blockers.push(locked(to, &lock));
    }
    if from.at.node != to.at.node {
        blockers.push(Blocker::new(
            format!(
                "{} is on {}, {} on {}",
                from.label(),
                from.at.node,
                to.label(),
                to.at.node
            ),
            "bring them to one node first with migrate_container",
        ));
    }
    for guest in [from, to].into_iter().filter(|guest| guest.is_template()) {
        blockers.push(Blocker::new(
            format!(
                "{} is a template, whose disks stay as they are",
                guest.label()
            ),
            "clone it first with clone_container",
        ));
    }
    if target.config.get(target.key).is_some() {
        blockers.push(Blocker::new(
            format!("{} has a {} already", to.label(), target.key),
            "send another target_volume",
        ));
    }
    if !source.is_unused() {
        blockers.extend(source.is_running());
    }
    let holding = source.snapshots().await?;
    if !holding.is_empty() {
        blockers.push(Blocker::new(
            format!("it is part of the snapshots {}", words::list(&holding)),
            "delete them first with delete_container_snapshot",
        ));
    }
    Ok(blockers)
}

fn needs(source: &Source, target: &Target<'_>) -> Needs {
    let on = |guest: &Guest| {
        let path = guest.at.acl_path();
        ["VM.Audit", "VM.Config.Disk"].map(|privilege| Needs::on(&path, privilege))
    };
    let mut all: Vec<_> = on(&source.guest).into();
    all.extend(on(&target.guest));
    all.push(Needs::on(
        format!("/storage/{}", source.storage),
        "Datastore.AllocateSpace",
    ));
    Needs::All(all)
}

fn undo(source: &Source, target: &Target<'_>) -> Undo {
    if target.key.starts_with("unused") && !source.is_unused() {
        return Undo::Impossible {
            because: "PVE hands an unused disk over as unused only; it can be given back so, and attached then"
                .to_owned(),
        };
    }
    Undo::Call {
        tool: MoveVolume::SPEC.name.to_owned(),
        arguments: arguments([
            ("vmid", json!(target.guest.at.vmid)),
            ("volume", json!(target.key)),
            ("target_vmid", json!(source.guest.at.vmid)),
            ("target_volume", json!(source.key)),
        ]),
    }
}

fn step(source: &Source, target: &Target<'_>, says: &str) -> Step {
    let (from, to) = (&source.guest.at, &target.guest.at);
    let request = Request::post(from.path("move_volume"))
        .with("volume", source.key.as_str())
        .with("target-vmid", to.vmid)
        .with("target-volume", target.key)
        .maybe("digest", source.config.digest())
        .maybe("target-digest", target.config.digest());
    let gone = Check::guest(
        from,
        "config",
        format!("{} is gone", source.label()),
        vec![Expect::Is(source.key.clone(), Value::Null)],
    );
    let there = Check::guest(
        to,
        "config",
        format!("{} has {}", target.guest.label(), target.key),
        vec![Expect::Not(target.key.to_owned(), Value::Null)],
    );
    Step::request(says, request)
        .task(Trace {
            node: from.node.clone(),
            // PVE lists it under both containers and disks at once.
            vmid: None,
            types: vec!["move_volume".to_owned()],
        })
        .after(gone.and(there))
}
