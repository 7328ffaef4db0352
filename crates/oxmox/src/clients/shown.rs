//! An entry for people. One that somebody wrote by hand may have secrets anywhere in it, in an argument or an address as well
//! as in its environment: of such a one only the keys are shown, with the program's name and the number of its arguments.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Format, SERVER, Server};

/// Stands for what is not shown.
const HIDDEN: &str = "…";

/// The flags that setup itself enters, each with a value after it that is no secret.
const FLAGS: [&str; 4] = ["--config", "--state-dir", "--mode", "--toolsets"];

/// The entry as it stands in a file.
pub(super) fn entry(entry: &Value, format: &Format) -> String {
    let shown = if is_ours(entry, format) {
        entry.clone()
    } else {
        keys_of(entry)
    };
    let text = serde_json::to_string_pretty(&shown).unwrap_or_default();
    let lines = format!("\"{SERVER}\": {text}");
    let lines = lines.lines().map(|line| format!("    {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether setup would write it just so.
fn is_ours(entry: &Value, format: &Format) -> bool {
    let program = entry.get("command").and_then(Value::as_str);
    let arguments = entry.get("args").and_then(Value::as_array);
    let (Some(program), Some(arguments)) = (program, arguments) else {
        return false;
    };
    let arguments: Option<Vec<_>> = (arguments.iter())
        .map(|word| word.as_str().map(str::to_owned))
        .collect();
    let Some(arguments) = arguments else {
        return false;
    };
    let is_known = |pair: &[String]| matches!(pair, [flag, _] if FLAGS.contains(&flag.as_str()));
    let is_plain = Path::new(program).is_absolute() && arguments.chunks(2).all(is_known);
    let server = Server {
        program: PathBuf::from(program),
        arguments,
    };
    is_plain && (format.entry)(&server) == *entry
}

fn keys_of(entry: &Value) -> Value {
    let Value::Object(fields) = entry else {
        return HIDDEN.into();
    };
    let fields = fields.iter().map(|(key, value)| {
        let shown = match (key.as_str(), value) {
            ("command", Value::String(command)) => name_of(command).into(),
            ("args", Value::Array(arguments)) => format!("{HIDDEN} ({})", arguments.len()).into(),
            (_, Value::Object(_)) => keys_of(value),
            _ => HIDDEN.into(),
        };
        (key.clone(), shown)
    });
    Value::Object(fields.collect())
}

/// The program's own name, unless more than a program stands there.
fn name_of(command: &str) -> &str {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let is_all = |text: &str, also: &str| text.chars().all(|it| is_plain(it) || also.contains(it));
    if is_all(name, "") && !command.contains('=') {
        name
    } else {
        HIDDEN
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::cursor::FORMAT;
    use super::*;

    #[test]
    fn what_setup_enters_is_shown_as_it_is() {
        let ours = json!({ "command": "/usr/bin/oxmox", "args": ["--config", "/a b/c.toml"] });
        let shown = entry(&ours, &FORMAT);
        assert!(
            shown.contains("/usr/bin/oxmox") && shown.contains("/a b/c.toml"),
            "{shown}"
        );
    }

    #[test]
    fn what_a_person_wrote_is_shown_without_its_values() {
        let secret = "hunter2";
        for theirs in [
            json!({ "command": "/usr/bin/oxmox", "args": ["--token", secret] }),
            json!({ "command": "/usr/bin/oxmox", "args": ["--store", format!("postgres://u:{secret}@h/d")] }),
            json!({ "command": "/usr/bin/oxmox", "args": [secret] }),
            json!({ "command": format!("env T={secret} oxmox"), "args": [] }),
            json!({ "command": format!("env T=/{secret}"), "args": [] }),
            json!({ "command": format!("/bin/sh -c {secret}") }),
            json!({ "command": "/usr/bin/oxmox", "args": [], "env": { "KEY": secret } }),
            json!({ "url": format!("https://u:{secret}@host/?key={secret}") }),
            json!({ "headers": { "Authorization": [secret] } }),
            json!(secret),
            json!(["oxmox", secret]),
        ] {
            let shown = entry(&theirs, &FORMAT);
            assert!(!shown.contains(secret), "{shown}");
        }
        let shown = entry(
            &json!({ "command": "/opt/mine", "args": ["a", "b"], "env": { "KEY": "x" } }),
            &FORMAT,
        );
        for part in ["\"mine\"", "… (2)", "\"KEY\": \"…\""] {
            assert!(shown.contains(part), "{shown}");
        }
    }
}
