//! What a change of a setting means: what it costs, what is lost by it, what a person should know.

use pve::GuestKind;
use serde_json::Value;

use super::Subject;
use super::device::Drive;
use super::edit::{Edit, New};
use super::keys::Takes;
use super::needs;
use super::plug::{interrupts, waits};
use crate::area::logins;
use crate::plan::{Effect, Impact, parts};
use crate::volume::owner;
use crate::words;

/// Settings that hand out power: over the guest by credentials and commands, over the node by scripts and features.
pub(super) const GRANTS: &[&str] = &[
    "cicustom",
    "cipassword",
    "ciuser",
    "entrypoint",
    "env",
    "features",
    "sshkeys",
];
/// Characters that a preview shows of a value that hands out nothing.
const SHOWN: usize = 60;

/// What one change affects.
pub(super) fn impact(subject: &Subject, edit: &Edit) -> Vec<Impact> {
    let grants = grants(subject, edit);
    let mut impact = vec![changed(subject, edit, grants)];
    impact.extend(let_in(edit));
    impact.extend(lost(subject, edit));
    impact.extend(made(edit));
    if let Some(why) = interrupts(subject, edit) {
        let at = &subject.guest.at;
        impact
            .push(Impact::new(Effect::Interrupted, at.kind.noun(), at.vmid.to_string()).note(why));
    }
    impact
}

/// Whether it hands out power: by its name, by sharing a directory of the node, or as what PVE leaves to root alone, such
/// as paths and devices of the node.
fn grants(subject: &Subject, edit: &Edit) -> bool {
    let by_name = GRANTS.contains(&edit.key.as_str());
    let shares = edit.spec.takes == Takes::Device("dir");
    !edit.is_removal() && (by_name || shares || needs::of(subject, edit).is_err())
}

/// "memory: 2048 -> 4096, after a restart". What is granted is told in full: nobody can say yes to half a command.
fn changed(subject: &Subject, edit: &Edit, grants: bool) -> Impact {
    let old = edit.old.as_deref().map(|old| shown(edit, old, SHOWN));
    let old = old.unwrap_or_else(|| "unset".to_owned());
    let most = if grants { usize::MAX } else { SHOWN };
    let new = match &edit.new {
        New::Text(text) => shown(edit, text, most),
        New::Secret(_) => "(not shown)".to_owned(),
        New::Gone => "removed".to_owned(),
    };
    let when = match (subject.running, waits(subject, edit)) {
        (_, true) => ", after a restart",
        (true, false) => ", at once",
        (false, false) => "",
    };
    Impact::new(Effect::Changed, "setting", &edit.key).note(format!("{old} -> {new}{when}"))
}

fn shown(edit: &Edit, value: &str, most: usize) -> String {
    match edit.key.as_str() {
        _ if edit.is_secret() => "(not shown)".to_owned(),
        "sshkeys" => {
            let keys = pve::decode_value(value);
            words::count(logins::keys(&keys).count(), "key")
        }
        _ => words::clip(value.trim_end(), most),
    }
}

/// Whoever can log in that could not before.
fn let_in(edit: &Edit) -> Vec<Impact> {
    let Some(text) = edit.text().filter(|_| edit.key == "sshkeys") else {
        return Vec::new();
    };
    let old = pve::decode_value(edit.old.as_deref().unwrap_or_default());
    let is_new = |key: &&str| !logins::keys(&old).any(|old| old == *key);
    let text = pve::decode_value(text);
    logins::keys(&text)
        .filter(is_new)
        .map(logins::impact)
        .collect()
}

/// A disk that comes to be.
fn made(edit: &Edit) -> Option<Impact> {
    let drive = Drive::parse(edit.text().filter(|_| edit.is_drive())?);
    let bytes = drive.new_size()?;
    let on = drive.storage().unwrap_or("?");
    let disk = Impact::new(Effect::Created, "disk", format!("{} on {on}", edit.key));
    Some(match drive.get("import-from") {
        Some(source) => disk.note(format!("copy of {source}")),
        None => disk.bytes(Some(bytes)),
    })
}

/// What is gone afterwards.
fn lost(subject: &Subject, edit: &Edit) -> Option<Impact> {
    let gone = |kind: &str, id: String, note: &str| {
        Some(Impact::new(Effect::Destroyed, kind, id).note(note))
    };
    let (vmid, noun) = (subject.guest.at.vmid, subject.guest.at.kind.noun());
    if becomes_template(edit) {
        let what = format!("{noun} that can be started");
        return gone(&what, vmid.to_string(), "a template never starts");
    }
    let old = edit.old.as_deref()?;
    match (edit.spec.takes, edit.key.as_str()) {
        (Takes::Drive | Takes::Mount, _) => lost_drive(edit, old),
        (Takes::Unused, key) => {
            let volume = Drive::parse(old).volume;
            // Of another guest's volume PVE forgets only the entry.
            let own = owner(&volume).is_none_or(|owner| owner == vmid);
            let note = format!("{key}; its data is gone for good");
            own.then(|| gone("disk", volume, &note))?
        }
        (Takes::SavedState, _) => gone("saved memory", old.to_owned(), "the VM starts anew"),
        (_, "protection") if is_on(Some(old)) && !is_on(edit.text()) => {
            gone("protection", vmid.to_string(), "it can be deleted then")
        }
        (_, "tags") if is_tagged(Some(old)) && !is_tagged(edit.text()) => {
            gone("protection", vmid.to_string(), "the tag `protected` goes")
        }
        (_, "template") if is_on(Some(old)) && !is_on(edit.text()) => gone(
            "template",
            vmid.to_string(),
            "its disks become writable, which ruins the linked clones of it",
        ),
        _ => None,
    }
}

fn lost_drive(edit: &Edit, old: &str) -> Option<Impact> {
    let old = Drive::parse(old);
    let new = edit.text().map(Drive::parse);
    if let Some(new) = new.as_ref().filter(|new| new.volume == old.volume) {
        return lost_in_place(edit, &old, new);
    }
    if old.is_cloudinit() {
        let again = new.as_ref().is_some_and(Drive::is_cloudinit);
        return (!again).then(|| {
            Impact::new(Effect::Destroyed, "disk", &old.volume).note("the cloud-init drive")
        });
    }
    let volume = &old.volume;
    let note = match &old {
        old if old.is_medium() => return None,
        old if old.is_path() => format!("detached; {volume} stays on the node"),
        // PVE lists only disks as unused.
        old if old.cdrom => format!("detached; {volume} stays, but no configuration names it"),
        _ => format!("detached; {volume} stays as an unused disk"),
    };
    Some(
        Impact::new(Effect::Destroyed, "attachment", &edit.key)
            .bytes(old.size())
            .note(note),
    )
}

/// What is lost of a drive that keeps its volume.
fn lost_in_place(edit: &Edit, old: &Drive, new: &Drive) -> Option<Impact> {
    let gone =
        |kind: &str, note: &str| Some(Impact::new(Effect::Destroyed, kind, &edit.key).note(note));
    if discards(new) && !discards(old) {
        return gone(
            "data",
            "with snapshot=1 all that is written from now on is gone at every stop",
        );
    }
    if new.cdrom && !old.cdrom {
        return gone(
            "attachment",
            "read only from now on, and as a medium not kept as an unused disk when it is taken out",
        );
    }
    None
}

/// Whether what is written to a drive is thrown away when the VM stops.
fn discards(drive: &Drive) -> bool {
    let snapshot = drive.get("snapshot");
    snapshot.is_some_and(|text| crate::risk::flag(text) != Some(false))
}

/// Whether the guest is made a template, which it was not.
pub(super) fn becomes_template(edit: &Edit) -> bool {
    edit.key == "template" && is_on(edit.text()) && !is_on(edit.old.as_deref())
}

fn is_on(value: Option<&str>) -> bool {
    value == Some("1")
}

fn is_tagged(tags: Option<&str>) -> bool {
    let tags = parts(&Value::String(tags.unwrap_or_default().to_owned()));
    tags.iter().any(|tag| tag.eq_ignore_ascii_case("protected"))
}

/// What to know of the changes together.
pub(super) fn warnings(subject: &Subject, edits: &[Edit], regenerates: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    let waiting: Vec<&str> = edits
        .iter()
        .filter(|edit| waits(subject, edit))
        .map(|edit| edit.key.as_str())
        .collect();
    if !waiting.is_empty() {
        warnings.push(format!(
            "{} runs: {} will take effect only when it is restarted by PVE",
            subject.guest.label(),
            words::list(&waiting)
        ));
    }
    let cloudinit = edits.iter().any(|edit| edit.spec.takes == Takes::Cloudinit);
    if cloudinit && subject.cloudinit_drive().is_none() {
        let attached = |edit: &Edit| {
            let text = edit.text().filter(|_| edit.is_drive());
            text.is_some_and(|text| Drive::parse(text).is_cloudinit())
        };
        if !edits.iter().any(attached) {
            warnings.push(
                "it has no cloud-init drive, so the guest will not see these; set {\"ide2\": \"<storage>:cloudinit\"} too"
                    .to_owned(),
            );
        }
    } else if cloudinit && subject.running && !regenerates {
        warnings.push(
            "the cloud-init drive keeps the old values until the next start; regenerate_cloudinit: true writes it now"
                .to_owned(),
        );
    }
    if edits
        .iter()
        .any(|edit| edit.key == "template" && is_on(edit.text()))
    {
        warnings.push(
            "this sets the flag only; the disks are not made into base disks for linked clones"
                .to_owned(),
        );
    }
    if subject.guest.at.kind == GuestKind::Qemu && edits.iter().any(|edit| edit.key == "ostype") {
        warnings.push("PVE may pin the machine version along with ostype".to_owned());
    }
    warnings
}
