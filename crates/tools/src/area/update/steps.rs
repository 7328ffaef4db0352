//! What is sent, and what is read back.

use pve::{GuestKind, Request, Value as Parameter};
use serde_json::{Value, json};

use super::Subject;
use super::device::{Drive, card_parts};
use super::edit::{Edit, New};
use super::keys::{Form, Takes};
use crate::plan::{Check, Expect, Plan, Step, Tell, Trace, parts};
use crate::words;

/// Settings that PVE sorts and rewrites as lists.
const LISTS: &[&str] = &["boot", "nameserver", "searchdomain", "tags"];
/// What of a drive's value is not kept as it was sent.
const NOT_KEPT: &[&str] = &["file", "volume", "size", "format", "import-from"];

/// "memory and cores", or how many there are.
pub(super) fn named(edits: &[Edit]) -> String {
    let keys: Vec<&str> = edits.iter().map(|edit| edit.key.as_str()).collect();
    match keys.len() {
        0..=5 => words::list(&keys),
        many => words::count(many, "setting"),
    }
}

/// The change of the configuration. A VM's runs as a task, since it may make disks; a container has no such call.
pub(super) fn config(plan: &mut Plan, subject: &Subject, edits: &[Edit]) -> Step {
    let at = &subject.guest.at;
    let mut request = match at.kind {
        GuestKind::Qemu => Request::post(at.path("config")),
        GuestKind::Lxc => Request::put(at.path("config")),
    };
    for edit in edits {
        request = match &edit.new {
            New::Text(text) => request.with(&edit.key, parameter(edit.spec.form, text)),
            New::Secret(secret) => {
                let hole = plan.secret(&edit.key, secret.clone());
                request.with(&edit.key, hole)
            }
            New::Gone => request,
        };
    }
    let gone = edits.iter().filter(|edit| edit.is_removal());
    let gone: Vec<&str> = gone.map(|edit| edit.key.as_str()).collect();
    let request = request
        .maybe("delete", (!gone.is_empty()).then(|| gone.join(",")))
        .maybe("digest", subject.config.digest());
    let label = subject.guest.label();
    let set = Check::guest(
        at,
        "config",
        format!("{} of {label} as configured", named(edits)),
        edits.iter().flat_map(expected).collect(),
    );
    let step = Step::request(format!("Change {} of {label}", named(edits)), request).after(set);
    let step = match at.kind {
        GuestKind::Qemu => step.task(Trace {
            node: at.node.clone(),
            vmid: Some(at.vmid),
            types: vec!["qmconfig".to_owned()],
        }),
        GuestKind::Lxc => step,
    };
    if !subject.running {
        return step;
    }
    step.tells(Tell::Pending {
        at: at.clone(),
        keys: edits.iter().map(|edit| edit.key.clone()).collect(),
    })
}

fn parameter(form: Form, text: &str) -> Parameter {
    match (form, text.parse::<i64>()) {
        (Form::Flag, _) => Parameter::Bool(text == "1"),
        (Form::Whole(..), Ok(number)) => Parameter::Int(number),
        _ => Parameter::Text(text.to_owned()),
    }
}

/// What the configuration shows once a change is in it.
fn expected(edit: &Edit) -> Vec<Expect> {
    let key = || edit.key.clone();
    let old = || edit.old.clone().map_or(Value::Null, Value::String);
    let text = match &edit.new {
        New::Text(text) => text,
        New::Secret(_) => return vec![Expect::Not(key(), Value::Null)],
        New::Gone => return vec![Expect::Is(key(), Value::Null)],
    };
    let words = |text: &str| parts(&Value::String(text.to_owned()));
    let has = |wanted: &[String]| Expect::Has(key(), words(&wanted.join(",")));
    match (edit.spec.takes, edit.key.as_str()) {
        (Takes::Card, _) => vec![has(&card_parts(text))],
        (Takes::Drive | Takes::Mount, _) => {
            let drive = Drive::parse(text);
            let mut wanted: Vec<String> = drive
                .properties_without(NOT_KEPT)
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            if drive.is_new() {
                // PVE names the volume; a cloud-init drive that is made anew gets the name that it had.
                let was = edit.old.as_deref().map(Drive::parse);
                let again = drive.is_cloudinit() && was.is_some_and(|was| was.is_cloudinit());
                let other = if again { Value::Null } else { old() };
                return vec![Expect::Not(key(), other), has(&wanted)];
            }
            wanted.push(drive.volume);
            vec![has(&wanted)]
        }
        (_, name) if LISTS.contains(&name) => vec![Expect::Only(key(), words(text))],
        // PVE makes one up, or keeps it within the bounds of the kernel.
        (_, "vmgenid" | "cpuunits") => vec![Expect::Not(key(), old())],
        _ => vec![Expect::Is(key(), json!(text))],
    }
}

/// Writes the cloud-init drive anew.
pub(super) fn cloudinit(subject: &Subject) -> Step {
    let at = &subject.guest.at;
    let label = subject.guest.label();
    let written = Check::guest(
        at,
        "cloudinit",
        format!("the cloud-init drive of {label} is up to date"),
        vec![
            Expect::Nowhere("pending".to_owned()),
            Expect::Nowhere("delete".to_owned()),
        ],
    );
    Step::request(
        format!("Write the cloud-init drive of {label} anew"),
        Request::put(at.path("cloudinit")),
    )
    .after(written)
}
