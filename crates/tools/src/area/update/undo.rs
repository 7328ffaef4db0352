//! The call that takes a change back, and what no call brings back.

use serde_json::{Map, Value, json};

use super::Subject;
use super::device::Drive;
use super::edit::Edit;
use super::grow::Growth;
use super::keys::{Form, Takes};
use crate::plan::{Undo, parts};

/// How to take it all back, and what stays nevertheless.
pub(super) fn of(
    subject: &Subject,
    edits: &[Edit],
    growths: &[Growth],
    regenerates: bool,
) -> (Undo, Vec<String>) {
    let mut back = Back::default();
    for edit in edits {
        back.revert(subject, edit);
    }
    for growth in growths {
        back.stays.push(format!("{} stays grown", growth.key));
    }
    if edits.is_empty() && growths.is_empty() && !regenerates {
        let because = "nothing changes".to_owned();
        return (Undo::Impossible { because }, Vec::new());
    }
    back.finish(subject, regenerates)
}

/// Whether PVE keeps a value to itself.
fn is_masked(value: &str) -> bool {
    value.chars().all(|c| c == '*')
}

#[derive(Default)]
struct Back {
    set: Map<String, Value>,
    delete: Vec<String>,
    stays: Vec<String>,
}

impl Back {
    fn revert(&mut self, subject: &Subject, edit: &Edit) {
        let key = &edit.key;
        let old = edit.old.as_deref().filter(|old| !old.trim().is_empty());
        match old {
            Some(old) if edit.is_secret() || is_masked(old) => {
                self.stays.push(format!("the old `{key}` is not known"));
            }
            Some(old) if matches!(edit.spec.takes, Takes::Unused | Takes::SavedState) => {
                self.stays
                    .push(format!("{} is gone", Drive::parse(old).volume));
            }
            _ if protects(edit) => self
                .stays
                .push("only a person takes the protection off again".to_owned()),
            Some(old) => self.set_back(subject, edit, old),
            None => {
                if makes_disk(edit) {
                    self.stays
                        .push(format!("the new disk of {key} stays as an unused disk"));
                }
                self.delete.push(key.clone());
            }
        }
    }

    fn set_back(&mut self, subject: &Subject, edit: &Edit, old: &str) {
        let value = match (edit.spec.form, old.trim_end().parse::<u64>()) {
            (Form::Flag, _) => json!(old == "1"),
            (Form::Whole(..), Ok(number)) => json!(number),
            _ if edit.key == "sshkeys" => json!(pve::decode_value(old)),
            _ => json!(self.drive_again(edit, old)),
        };
        self.set.insert(edit.key.clone(), value);
        // PVE takes a device that goes out of the boot order, and does not put it back.
        let boot = subject.config.text("boot").unwrap_or_default();
        let in_order = parts(&Value::String(boot.replace('=', ";")));
        if edit.is_removal() && in_order.contains(&edit.key) {
            self.set.entry("boot").or_insert(json!(boot));
        }
    }

    /// A cloud-init drive is made anew; a disk that was detached is attached again.
    fn drive_again(&mut self, edit: &Edit, old: &str) -> String {
        let drive = Drive::parse(old);
        let gone = edit
            .text()
            .is_none_or(|text| !Drive::parse(text).is_cloudinit());
        if edit.is_drive() && makes_disk(edit) {
            self.stays.push(format!(
                "the new disk of {} stays as an unused disk",
                edit.key
            ));
        }
        match drive.storage() {
            Some(storage) if edit.is_drive() && drive.is_cloudinit() && gone => {
                format!("{storage}:cloudinit,media=cdrom")
            }
            _ => old.to_owned(),
        }
    }

    fn finish(self, subject: &Subject, regenerates: bool) -> (Undo, Vec<String>) {
        if self.set.is_empty() && self.delete.is_empty() {
            let because = if self.stays.is_empty() {
                "writing the drive anew overwrites what was on it".to_owned()
            } else {
                self.stays.join("; ")
            };
            return (Undo::Impossible { because }, Vec::new());
        }
        let mut arguments = Map::new();
        arguments.insert("vmid".to_owned(), json!(subject.guest.at.vmid));
        if !self.set.is_empty() {
            arguments.insert("set".to_owned(), Value::Object(self.set));
        }
        if !self.delete.is_empty() {
            arguments.insert("delete".to_owned(), json!(self.delete));
        }
        if regenerates {
            arguments.insert("regenerate_cloudinit".to_owned(), json!(true));
        }
        let undo = Undo::Call {
            tool: super::NAME.to_owned(),
            arguments,
        };
        let stays = self.stays.iter();
        (
            undo,
            stays
                .map(|what| format!("the undo leaves this: {what}"))
                .collect(),
        )
    }
}

/// Whether a change puts the guest under protection, which oxmox never takes off.
fn protects(edit: &Edit) -> bool {
    match edit.key.as_str() {
        "protection" => edit.text() == Some("1"),
        "tags" => {
            let tagged = |text: Option<&str>| {
                let tags = parts(&Value::String(text.unwrap_or_default().to_owned()));
                tags.iter().any(|tag| tag.eq_ignore_ascii_case("protected"))
            };
            tagged(edit.text()) && !tagged(edit.old.as_deref())
        }
        _ => false,
    }
}

fn makes_disk(edit: &Edit) -> bool {
    let drive = edit.text().filter(|_| edit.is_drive()).map(Drive::parse);
    drive.is_some_and(|drive| drive.new_size().is_some())
}
