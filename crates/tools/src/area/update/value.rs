//! Values on their way from the caller into a configuration: as PVE takes them, and as it keeps them.

use serde_json::Value;

use super::device::{Drive, card, keep_card};
use super::keys::{Form, Key, Takes};
use crate::fault::Fault;
use crate::plan::parts;

const REMOVE: &str = "to remove a setting, name it in delete";

/// The value as PVE takes it.
pub(super) fn written(spec: &Key, name: &str, value: &Value) -> Result<String, Fault> {
    if name == "sshkeys" && value.to_string().contains("PRIVATE KEY") {
        return Err(Fault::bad_input("`sshkeys` holds a private key")
            .hint("send the public half, a line such as \"ssh-ed25519 AAAA… me@home\""));
    }
    let text = match (spec.form, value) {
        (_, Value::Null) => return wrong(name, value, REMOVE),
        (_, Value::Object(_)) => {
            return wrong(
                name,
                value,
                "write it as PVE does, such as \"virtio,bridge=vmbr0,tag=20\"",
            );
        }
        (Form::Flag, value) => match pve::lenient::as_bool(value) {
            Some(flag) => u8::from(flag).to_string(),
            None => return wrong(name, value, "send true or false"),
        },
        (Form::Whole(least, most), value) => whole(name, value, (least, most))?.to_string(),
        (Form::Text, Value::Array(items)) => joined(name, value, items)?,
        (Form::Text, value) => pve::lenient::as_text(value).unwrap_or_default(),
    };
    check_text(name, &text)?;
    // A VM's memory is a text to PVE, which may say more than the number.
    if name == "memory" && spec.form == Form::Text && !text.contains('=') {
        return Ok(whole(name, value, (16, None))?.to_string());
    }
    Ok(text)
}

/// Refuses what no configuration can hold: nothing, and more than a line. PVE finds the latter out only when it writes
/// the configuration, in the midst of the change.
pub(super) fn check_text(name: &str, text: &str) -> Result<(), Fault> {
    if text.is_empty() {
        return Err(Fault::bad_input(format!("`{name}` cannot be empty")).hint(REMOVE));
    }
    // These are kept as comments, encoded, or as lists that any blank separates.
    let takes_lines = matches!(
        name,
        "description" | "sshkeys" | "tags" | "nameserver" | "searchdomain"
    );
    if !takes_lines && text.trim_end().contains(['\n', '\r']) {
        return Err(Fault::bad_input(format!("`{name}` has more than one line"))
            .hint(format!("send {name} as one line")));
    }
    Ok(())
}

fn wrong<T>(name: &str, value: &Value, hint: &str) -> Result<T, Fault> {
    let shown = crate::words::clip(&value.to_string(), 60);
    Err(Fault::bad_input(format!("`{name}` cannot be {shown}")).hint(hint))
}

/// A whole number within bounds, also as text or as `4096.0`.
fn whole(name: &str, value: &Value, (least, most): (u64, Option<u64>)) -> Result<u64, Fault> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => String::new(),
    };
    if text.starts_with('+') {
        return wrong(name, value, "send the new value itself, not what to add");
    }
    let number = text.strip_suffix(".0").unwrap_or(&text).parse::<u64>();
    let most = most.unwrap_or(i64::MAX.unsigned_abs());
    match number {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ if most == i64::MAX.unsigned_abs() => wrong(
            name,
            value,
            &format!("send a whole number, at least {least}"),
        ),
        _ => wrong(
            name,
            value,
            &format!("send a whole number, {least} to {most}"),
        ),
    }
}

/// A list as PVE writes it.
fn joined(name: &str, value: &Value, items: &[Value]) -> Result<String, Fault> {
    let (before, separator) = match name {
        "boot" => ("order=", ";"),
        "hotplug" => ("", ","),
        "sshkeys" => ("", "\n"),
        "nameserver" | "searchdomain" => ("", " "),
        "tags" => ("", ";"),
        _ => return wrong(name, value, "it is no list; send it as one text or number"),
    };
    let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
    if texts.is_empty() && items.is_empty() {
        return wrong(name, value, REMOVE);
    }
    let is_item =
        |text: &&str| !text.trim().is_empty() && (before.is_empty() || !text.contains('='));
    if texts.len() < items.len() || !texts.iter().all(is_item) {
        let hint = format!("send a list of texts: {name}: {}", example(name));
        return wrong(name, value, &hint);
    }
    Ok(format!("{before}{}", texts.join(separator)))
}

fn example(list: &str) -> &'static str {
    match list {
        "boot" => r#"["scsi0", "net0"]"#,
        "hotplug" => r#"["disk", "network"]"#,
        "sshkeys" => r#"["ssh-ed25519 AAAA… me@home"]"#,
        "nameserver" => r#"["192.168.1.1"]"#,
        "searchdomain" => r#"["example.com"]"#,
        _ => r#"["prod", "web"]"#,
    }
}

/// The value with what PVE would otherwise make up, in the spelling that it keeps.
pub(super) fn as_kept(spec: &Key, name: &str, old: Option<&str>, text: String) -> String {
    match (name, spec.takes) {
        // PVE keeps them encoded. A key always has a blank, so one without has been encoded already.
        ("sshkeys", _) if text.trim().contains(char::is_whitespace) => {
            pve::encode_value(text.trim())
        }
        ("tags", _) => {
            let mut tags = parts(&Value::String(text));
            // PVE tells them apart by case only where the datacenter says so.
            tags.sort_by_key(|tag| tag.to_lowercase());
            tags.dedup_by(|a, b| a.eq_ignore_ascii_case(b));
            tags.join(";")
        }
        ("nameserver" | "searchdomain", _) => parts(&Value::String(text)).join(" "),
        ("description", _) => text,
        (_, Takes::Card) => {
            let text = text.trim();
            old.map_or_else(|| text.to_owned(), |old| keep_card(old, text))
        }
        (_, Takes::Drive) => {
            let drive = Drive::parse(text.trim());
            let is_medium = drive.cdrom || drive.volume.contains(":iso/");
            let is_said = drive.get("media").is_some() || drive.is_cloudinit();
            let media = if is_medium && !is_said {
                ",media=cdrom"
            } else {
                ""
            };
            format!("{}{media}", text.trim())
        }
        _ => text.trim().to_owned(),
    }
}

/// Whether a value is only another way to write the old one.
pub(super) fn reads_alike(spec: &Key, old: &str, new: &str) -> bool {
    match spec.takes {
        _ if old.trim_end() == new.trim_end() => true,
        Takes::Card => card(old) == card(new),
        Takes::Drive | Takes::Mount => Drive::parse(old).is_as(&Drive::parse(new)),
        _ => false,
    }
}
