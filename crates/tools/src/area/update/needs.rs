//! The privileges that changes take, by PVE's own rules: by name for most settings, by value for drives, cards and devices.

use pve::{GuestKind, PropertyString};

use super::Subject;
use super::device::Drive;
use super::edit::Edit;
use super::keys::Takes;
use crate::plan::Needs;
use crate::volume::owner;

/// What one change takes. `Err` is what only root@pam may do, even with every privilege.
pub(super) fn of(subject: &Subject, edit: &Edit) -> Result<Vec<Needs>, String> {
    let on = |privilege: &str| subject.needs(privilege);
    let only_root = |what: &str| Err(format!("`{}` {what}", edit.key));
    let both = [edit.old.as_deref(), edit.text()];
    let values = both.into_iter().flatten();
    Ok(match edit.spec.takes {
        Takes::On(privilege) => vec![on(privilege)],
        Takes::Cloudinit => vec![Needs::Any(vec![
            on("VM.Config.Cloudinit"),
            on("VM.Config.Network"),
        ])],
        Takes::CpuModel => cpu_model(subject, edit),
        Takes::Startup => vec![on("VM.Config.Options"), Needs::on("/", "Sys.Modify")],
        Takes::Card => {
            let mut all = vec![on("VM.Config.Network")];
            let cards = values.map(PropertyString::parse);
            all.extend(cards.flat_map(|card| subject.networks.uses_of_card(&card)));
            all
        }
        Takes::Drive => {
            let mut all = Vec::new();
            for value in values {
                all.extend(drive_kind(subject, &Drive::parse(value)));
            }
            if let Some(text) = edit.text() {
                all.extend(storage(subject, &edit.key, text)?);
            }
            all
        }
        Takes::Mount => {
            let mut all = vec![on("VM.Config.Disk")];
            if let Some(text) = edit.text() {
                if Drive::parse(text).is_path() {
                    return only_root("with a path of the node");
                }
                all.extend(storage(subject, &edit.key, text)?);
            }
            all
        }
        Takes::Unused if subject.guest.at.kind == GuestKind::Lxc => vec![on("VM.Config.Options")],
        Takes::Unused => {
            let mut all = vec![on("VM.Config.Disk")];
            let drive = edit.old.as_deref().map(Drive::parse);
            let own = drive.filter(|drive| owner(&drive.volume) == Some(subject.guest.at.vmid));
            all.extend(own.and_then(|drive| drive.storage().map(space)));
            all
        }
        Takes::StateStorage => {
            let mut all = vec![on("VM.Config.Disk")];
            all.extend(edit.text().map(space));
            all
        }
        Takes::SavedState => vec![on("VM.Config.Disk"), on("VM.PowerMgmt")],
        Takes::Device(sort) => device(subject, sort, edit)?,
        Takes::Features => features(subject, edit)?,
        Takes::Root => return only_root("on any guest"),
    })
}

fn space(storage: &str) -> Needs {
    Needs::on(format!("/storage/{storage}"), "Datastore.AllocateSpace")
}

/// Growing a disk. PVE asks for the options of a container too, which its rules do not mention.
pub(super) fn grow(subject: &Subject, storage: &str) -> Vec<Needs> {
    let mut all = vec![subject.needs("VM.Config.Disk"), space(storage)];
    if subject.guest.at.kind == GuestKind::Lxc {
        all.push(subject.needs("VM.Config.Options"));
    }
    all
}

fn cpu_model(subject: &Subject, edit: &Edit) -> Vec<Needs> {
    let model = |text: &str| {
        let parsed = PropertyString::parse(text);
        parsed.default_or("cputype").unwrap_or_default().to_owned()
    };
    let (old, new) = (edit.old.as_deref().map(model), edit.text().map(model));
    let mut all = vec![subject.needs("VM.Config.CPU")];
    let custom = new.as_deref().and_then(|new| new.strip_prefix("custom-"));
    if let Some(name) = custom.filter(|_| old != new) {
        // A mapping since 9.2; before it, whoever could see the nodes.
        all.push(Needs::Any(vec![
            Needs::on(format!("/mapping/cpu/{name}"), "Mapping.Use"),
            Needs::on("/nodes", "Sys.Audit"),
        ]));
    }
    all
}

/// A drive by what is in it.
fn drive_kind(subject: &Subject, drive: &Drive) -> Vec<Needs> {
    let privileges: &[&str] = if drive.is_cloudinit() {
        &["VM.Config.Cloudinit", "VM.Config.CDROM"]
    } else if drive.cdrom {
        &["VM.Config.CDROM"]
    } else {
        &["VM.Config.Disk"]
    };
    privileges
        .iter()
        .map(|privilege| subject.needs(privilege))
        .collect()
}

/// The storage and the volume that a new value names.
fn storage(subject: &Subject, key: &str, text: &str) -> Result<Vec<Needs>, String> {
    let drive = Drive::parse(text);
    if drive.is_path() {
        return Err(format!("`{key}` with a path of the node"));
    }
    let mut all = Vec::new();
    match drive.storage() {
        _ if drive.volume == "cdrom" => all.push(Needs::on("/", "Sys.Console")),
        Some(storage) if drive.new_size().is_some() => all.push(space(storage)),
        Some(storage) if drive.names_volume() => {
            all.extend(volume(subject, storage, &drive.volume));
        }
        _ => {}
    }
    if let Some(source) = drive.get("import-from") {
        let (storage, _) = source.split_once(':').unwrap_or_default();
        match owner(source) {
            _ if source.starts_with('/') => {
                return Err(format!("`{key}` with a path of the node"));
            }
            Some(vmid) => {
                let path = format!("/vms/{vmid}");
                all.extend(["VM.Audit", "VM.Clone"].map(|privilege| Needs::on(&path, privilege)));
            }
            None => all.extend(volume(subject, storage, source)),
        }
    }
    Ok(all)
}

/// The use of a volume that exists: one's own is free.
fn volume(subject: &Subject, storage: &str, volume: &str) -> Option<Needs> {
    let path = format!("/storage/{storage}");
    let on = |privilege: &str| Needs::on(&path, privilege);
    match owner(volume) {
        Some(vmid) if vmid == subject.guest.at.vmid => None,
        Some(vmid) => Some(Needs::Any(vec![
            Needs::All(vec![
                on("Datastore.Audit"),
                Needs::on(format!("/vms/{vmid}"), "VM.Config.Disk"),
            ]),
            on("Datastore.Allocate"),
        ])),
        None => Some(Needs::Any(vec![
            on("Datastore.Audit"),
            on("Datastore.AllocateSpace"),
            on("Datastore.Allocate"),
        ])),
    }
}

/// A device of the node: by a mapping that the token may use, or root's alone.
fn device(subject: &Subject, sort: &str, edit: &Edit) -> Result<Vec<Needs>, String> {
    let guest = match sort {
        "dir" => "VM.Config.Disk",
        _ => "VM.Config.HWType",
    };
    let mut all = vec![subject.needs(guest)];
    for value in [edit.old.as_deref(), edit.text()].into_iter().flatten() {
        let parsed = PropertyString::parse(value);
        let mapping = |name: &str| Needs::on(format!("/mapping/{sort}/{name}"), "Mapping.Use");
        if is_bare(sort, value) {
            return Err(format!(
                "`{}` with a device of the node that has no mapping",
                edit.key
            ));
        }
        match sort {
            "hwrng" if value.contains("/dev/hwrng") => {
                all.push(Needs::on("/mapping/hwrng", "Mapping.Use"));
            }
            "hwrng" => {}
            "dir" => all.extend(parsed.default_or("dirid").map(mapping)),
            _ => all.extend(parsed.get("mapping").map(mapping)),
        }
    }
    Ok(all)
}

/// Whether a value names a device of the node itself, and no mapping: what PVE leaves to root alone.
pub(super) fn is_bare(sort: &str, value: &str) -> bool {
    let parsed = PropertyString::parse(value);
    match sort {
        "hwrng" | "dir" => false,
        "serial" if value == "socket" => false,
        "usb" if parsed.default_or("host") == Some("spice") => false,
        _ => parsed.get("mapping").is_none(),
    }
}

fn features(subject: &Subject, edit: &Edit) -> Result<Vec<Needs>, String> {
    if !subject.config.flag("unprivileged") {
        return Err("`features` of a privileged container".to_owned());
    }
    let flags = |text: Option<&str>| {
        let mut pairs = PropertyString::parse(text.unwrap_or_default()).pairs;
        pairs.retain(|(name, _)| name != "nesting");
        pairs.sort();
        pairs
    };
    if flags(edit.old.as_deref()) != flags(edit.text()) {
        return Err("`features` other than nesting".to_owned());
    }
    Ok(vec![subject.needs("VM.Allocate")])
}
