//! What the caller asks for, setting by setting, without what is so already.

use std::collections::BTreeMap;

use pve::GuestKind;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::Subject;
use super::device::Drive;
use super::keys::{self, Key, Takes};
use super::value;
use crate::clean::is_secret;
use crate::fault::Fault;
use crate::words;

/// Settings with their new values. Secrets are kept apart from the start, so that nothing can print them.
#[derive(Debug, Default)]
pub(super) struct Settings {
    plain: BTreeMap<String, Value>,
    secret: BTreeMap<String, SecretString>,
}

impl Settings {
    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.secret.is_empty()
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut settings = Self::default();
        for (name, value) in Map::deserialize(deserializer)? {
            if !is_secret(&name) {
                settings.plain.insert(name, value);
                continue;
            }
            let Value::String(text) = value else {
                return Err(serde::de::Error::custom(format!("{name} is a text")));
            };
            settings.secret.insert(name, SecretString::from(text));
        }
        Ok(settings)
    }
}

/// What becomes of a setting.
#[derive(Debug)]
pub(super) enum New {
    /// It gets this value.
    Text(String),
    /// It gets a value that nobody sees.
    Secret(SecretString),
    /// It is removed.
    Gone,
}

/// One setting that changes.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) key: String,
    pub(super) spec: &'static Key,
    /// Its value so far, what waits for a restart counted in.
    pub(super) old: Option<String>,
    pub(super) new: New,
}

impl Edit {
    /// The new value, where it has one that may be seen.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.new {
            New::Text(text) => Some(text),
            New::Secret(_) | New::Gone => None,
        }
    }

    pub(super) fn is_removal(&self) -> bool {
        matches!(self.new, New::Gone)
    }

    /// Whether nobody is to see its value, old or new.
    pub(super) fn is_secret(&self) -> bool {
        is_secret(&self.key)
    }

    /// Whether its value names a volume or a medium.
    pub(super) fn is_drive(&self) -> bool {
        matches!(self.spec.takes, Takes::Drive | Takes::Mount)
    }
}

/// Everything that changes, in the order of the names.
pub(super) fn all(subject: &Subject, set: Settings, delete: &[String]) -> Result<Vec<Edit>, Fault> {
    let kind = subject.guest.at.kind;
    let mut edits = BTreeMap::new();
    for (said, value) in set.plain.iter().rev() {
        let name = canonical(kind, said);
        let spec = settable(kind, name)?;
        let old = subject.config.text(name);
        let text = value::written(spec, name, value)?;
        let new = New::Text(value::as_kept(spec, name, old.as_deref(), text));
        let edit = Edit {
            key: name.to_owned(),
            spec,
            old,
            new,
        };
        keeps_shape(subject, &edit)?;
        if edits.insert(name.to_owned(), edit).is_some() {
            return Err(
                Fault::bad_input(format!("`{said}` and `{name}` are the same setting"))
                    .hint("send one of the two"),
            );
        }
    }
    for (name, secret) in set.secret {
        let (spec, old) = (keys::find(kind, &name)?, subject.config.text(&name));
        value::check_text(&name, secret.expose_secret())?;
        let (key, new) = (name.clone(), New::Secret(secret));
        edits.insert(
            name,
            Edit {
                key,
                spec,
                old,
                new,
            },
        );
    }
    for name in delete {
        let name = canonical(kind, name);
        let spec = deletable(kind, name)?;
        let edit = Edit {
            key: name.to_owned(),
            spec,
            old: subject.config.text(name),
            new: New::Gone,
        };
        if edits
            .insert(name.to_owned(), edit)
            .is_some_and(|twice| !twice.is_removal())
        {
            return Err(
                Fault::bad_input(format!("`{name}` is both set and deleted"))
                    .hint("leave it in one of the two"),
            );
        }
    }
    Ok(edits.into_values().filter(is_change).collect())
}

/// PVE finds out the size and the format of a volume by itself. Sent with one that exists, others change nothing.
fn keeps_shape(subject: &Subject, edit: &Edit) -> Result<(), Fault> {
    let text = edit.text().filter(|_| edit.is_drive());
    // PVE would take it for the name of another volume, and detach the disk that is there.
    if let Some(size) = text.filter(|text| is_size(text)) {
        let key = &edit.key;
        let fault = Fault::bad_input(format!("`{key}`: {size} is a size, and no disk"));
        return Err(fault.hint(match edit.old {
            Some(_) => format!("what makes a disk larger is grow: {{\"{key}\": \"{size}\"}}"),
            None => "a new disk is STORAGE:SIZE with the size in GiB, as local-lvm:32".to_owned(),
        }));
    }
    let Some(new) = text.map(Drive::parse).filter(Drive::names_volume) else {
        return Ok(());
    };
    let volumes = subject.config.volumes().into_iter();
    let mut old = volumes
        .filter(|(_, volume)| *volume == new.volume)
        .filter_map(|(key, _)| subject.config.text(key).as_deref().map(Drive::parse));
    let has = old.find_map(|old| old.size());
    if let (Some(wanted), Some(has)) = (new.get("size"), has)
        && pve::parse_size(wanted) != Some(has)
    {
        return Err(Fault::bad_input(format!(
            "`{}`: {} has {}, which its value does not change",
            edit.key,
            new.volume,
            words::size(has)
        ))
        .hint(format!(
            "leave size out; what makes a disk larger is grow: {{\"{}\": \"{}\"}}",
            edit.key,
            words::clip(wanted, 20)
        )));
    }
    let format = match new.volume.rsplit_once('.') {
        Some((_, end @ ("qcow2" | "vmdk"))) => end,
        _ => "raw",
    };
    match new.get("format") {
        Some(wanted) if wanted != format => Err(Fault::bad_input(format!(
            "`{}`: {} is {format}, which its value does not change",
            edit.key, new.volume
        ))
        .hint("leave format out")),
        _ => Ok(()),
    }
}

/// "50G" or "+10G"
fn is_size(text: &str) -> bool {
    let text = text.trim();
    pve::parse_size(text.strip_prefix('+').unwrap_or(text)).is_some()
}

/// `cdrom` is another name for a VM's `ide2`.
pub(super) fn canonical(kind: GuestKind, name: &str) -> &str {
    match name {
        "cdrom" if kind == GuestKind::Qemu => "ide2",
        _ => name,
    }
}

fn settable(kind: GuestKind, name: &str) -> Result<&'static Key, Fault> {
    let instead = match name {
        "lock" => {
            "PVE sets and clears it itself; a lock set by hand can only be taken off on the node"
        }
        "unprivileged" => {
            "a container keeps what it was created as; restore a backup of it with the other value"
        }
        "digest" | "node" | "vmid" | "skiplock" | "force" | "revert" | "delete" => {
            "it belongs to PVE's call and is sent by itself; leave it out"
        }
        "vmstate" => "it can be deleted only, which gives up the saved memory",
        _ if name.starts_with("unused") => {
            "PVE lists detached disks there; attach one by its volume, such as {\"scsi1\": \"local-lvm:vm-105-disk-1\"}"
        }
        _ => return keys::find(kind, name),
    };
    Err(Fault::bad_input(format!("`{name}` cannot be set")).hint(instead))
}

fn deletable(kind: GuestKind, name: &str) -> Result<&'static Key, Fault> {
    let required = kind == GuestKind::Lxc && matches!(name, "memory" | "rootfs" | "ostype");
    if required || matches!(name, "lock" | "unprivileged") {
        return Err(
            Fault::bad_input(format!("`{name}` of a {} cannot be removed", kind.noun()))
                .hint("leave it out of delete"),
        );
    }
    keys::find(kind, name)
}

/// Whether anything would be different afterwards. A secret is not compared.
fn is_change(edit: &Edit) -> bool {
    match (&edit.new, edit.old.as_deref()) {
        (New::Text(text), Some(old)) => !value::reads_alike(edit.spec, old, text),
        (New::Text(_) | New::Secret(_), _) => true,
        (New::Gone, old) => old.is_some(),
    }
}
