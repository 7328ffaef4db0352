//! Secrets in answers of methods that nobody wrote a type for: by their field, by their path, and in lines of text.

use serde_json::Value;

use super::addresses::{is_address_at, is_address_somewhere, without_passwords};
use super::secrets::{is_secret_at, is_secret_somewhere};
use super::{REDACTED, blank, object, text};

/// What a list of settings calls their values: as they are, as they will be, as they were.
const VALUES: &[&str] = &["value", "pending", "new", "old"];

/// Without secrets, and without what could hide or act. What PVE says may have an address in it wherever it likes.
pub(crate) fn answer(value: &mut Value, path: &str) {
    without_secrets(value, path, true);
}

/// The same for what a caller sends: only what holds an address by its name is taken for one, or whoever writes something
/// like a password into a command would hide what it does.
pub(super) fn sent(value: &mut Value, path: &str) {
    without_secrets(value, path, false);
}

fn without_secrets(value: &mut Value, path: &str, has_addresses: bool) {
    match value {
        Value::String(text) => {
            *text = lines(text, path);
            if has_addresses {
                *text = without_passwords(text);
            }
        }
        Value::Array(items) => {
            // A setting as a pair: `["lxc.environment", "TOKEN=…"]`.
            if let [Value::String(name), value] = items.as_mut_slice()
                && is_secret_at(name, path)
            {
                blank(value);
            }
            for item in items {
                without_secrets(item, path, has_addresses);
            }
        }
        Value::Object(fields) => {
            object(fields);
            // A setting in a row: `{"key": "cipassword", "value": …}`.
            let setting = fields.get("key").and_then(Value::as_str);
            let holds_secret = setting.is_some_and(|name| is_secret_at(name, path));
            for (name, value) in fields.iter_mut() {
                if is_secret_at(name, path) || (holds_secret && VALUES.contains(&name.as_str())) {
                    blank(value);
                }
                let is_address = match path {
                    "/" => is_address_somewhere(name),
                    path => is_address_at(name, path),
                };
                without_secrets(value, path, has_addresses || is_address);
            }
        }
        _ => {}
    }
}

/// Configurations come as text, too: `cipassword: secret`.
fn lines(raw: &str, path: &str) -> String {
    let text = text(raw);
    if !text.contains('\n') {
        return text;
    }
    let mut private = false;
    let kept = text.split('\n').map(|line| {
        let begins = line.contains("-----BEGIN") && line.contains("PRIVATE KEY");
        let hidden = private || begins;
        private = hidden && !line.contains("-----END");
        if hidden {
            REDACTED.to_owned()
        } else {
            one_line(line, path)
        }
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// A line of some configuration without the secret in it, if its name is that of one wherever it stands.
pub(crate) fn line_without_secret(line: &str) -> String {
    one_line(line, "")
}

/// `name: value`, `name=value`; and in the report of a node, which has the files of the whole cluster, also `\tname value`.
fn one_line(line: &str, path: &str) -> String {
    let in_report = path.ends_with("/report");
    let is_hidden =
        |name: &str| is_secret_at(name, path) || (in_report && is_secret_somewhere(name));
    let indented = line.len() - line.trim_start().len();
    let blank_after = line[indented..].find([' ', '\t']).map(|at| at + indented);
    let places = [
        line.find([':', '=']),
        blank_after.filter(|_| in_report && indented > 0),
    ];
    for at in places.into_iter().flatten() {
        let name = line[..at].trim().trim_start_matches(['-', ' ', '"']);
        let name = name.trim_end_matches('"');
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        if is_name && is_hidden(name) && !line[at + 1..].trim().is_empty() {
            return format!("{} {REDACTED}", line[..=at].trim_end());
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_environment_is_a_pair_or_a_line() {
        let mut value =
            json!({"lxc": [["lxc.environment.runtime", "TOKEN=x"], ["lxc.apparmor.profile", "y"]]});
        answer(&mut value, "/nodes/pve1/lxc/200/config");
        assert_eq!(
            value,
            json!({"lxc": [["lxc.environment.runtime", REDACTED], ["lxc.apparmor.profile", "y"]]})
        );
        assert!(!line_without_secret("lxc.environment: TOKEN=x").contains("TOKEN"));
    }

    #[test]
    fn secrets_go_by_field_by_path_and_by_line() {
        let mut value = json!([{"client-key": "k", "key": "shown", "data": "shown", "userid": "a", "config": {"password": "p"}}]);
        answer(&mut value, "/access/domains");
        assert_eq!(
            value,
            json!([{"client-key": REDACTED, "key": "shown", "data": "shown", "userid": "a", "config": {"password": REDACTED}}])
        );
        let mut value = json!({"data": "DNS_KEY=1"});
        answer(&mut value, "/cluster/acme/plugins/x");
        assert_eq!(value, json!({"data": REDACTED}));
        let mut value = json!(
            "name: a\ncipassword: secret\n  - passwd: x\nssh_pwauth: 1\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nend"
        );
        answer(&mut value, "/x");
        let text = value.as_str().unwrap();
        for secret in ["secret", "x\n", "abc"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(
            text.contains("ssh_pwauth: 1") && text.ends_with("end"),
            "{text}"
        );
    }

    #[test]
    fn settings_in_rows_headers_and_reports() {
        let mut value = json!([{"key": "cipassword", "value": "s1", "pending": "s2"}, {"key": "name", "value": "web"}]);
        answer(&mut value, "/nodes/pve1/qemu/105/pending");
        assert_eq!(
            value,
            json!([{"key": "cipassword", "value": REDACTED, "pending": REDACTED}, {"key": "name", "value": "web"}])
        );
        let mut value = json!({"header": ["name=Authorization,value=QmVhcmVy"], "url": "https://joe:s3@ntfy/x"});
        answer(&mut value, "/cluster/notifications/endpoints/webhook/ntfy");
        assert_eq!(
            value,
            json!({"header": [REDACTED], "url": "https://joe:<redacted>@ntfy/x"})
        );
        let report = "dns: pdns\n\tkey abc1\n\turl http://pdns\nnetbox: nb\n\ttoken abc2\n\tcomment key of the door";
        let mut value = json!(report);
        answer(&mut value, "/nodes/pve1/report");
        assert_eq!(
            value,
            json!(
                "dns: pdns\n\tkey <redacted>\n\turl http://pdns\nnetbox: nb\n\ttoken <redacted>\n\tcomment key of the door"
            )
        );
    }
}
