//! Secrets in answers of methods that nobody wrote a type for: by their field, by their path, and in lines of text.

use serde_json::Value;

use super::{REDACTED, is_secret as is_secret_name, object, text};

/// Fields that hold a secret wherever they stand, besides those that all answers are cleaned of.
const FIELDS: &[&str] = &["client-key", "encryption-key", "keyring", "private-key"];

/// Fields that hold a secret below a path.
const BELOW: &[(&str, &str)] = &[
    ("/cluster/acme/plugins", "data"),
    ("/cluster/sdn/dns", "key"),
    ("/cluster/notifications/endpoints", "value"),
];

/// Whether a parameter of this name is sent and never shown.
pub(crate) fn is_secret_parameter(name: &str, path: &str) -> bool {
    const NAMES: &[&str] = &["tokens", "tokenid"];
    let by_name = is_secret_name(name) && !NAMES.contains(&name);
    // The private half of a certificate, the password of another cluster.
    let others = ["key", "target-endpoint", "eab-hmac-key"];
    by_name || others.contains(&name) || is_field(name, path)
}

/// Without secrets, and without what could hide or act.
pub(crate) fn answer(value: &mut Value, path: &str) {
    match value {
        Value::String(text) => *text = lines(text),
        Value::Array(items) => items.iter_mut().for_each(|item| answer(item, path)),
        Value::Object(fields) => {
            object(fields);
            for (name, value) in fields.iter_mut() {
                if is_field(name, path) && value.is_string() {
                    *value = REDACTED.into();
                } else {
                    answer(value, path);
                }
            }
        }
        _ => {}
    }
}

fn is_field(name: &str, path: &str) -> bool {
    let below = |(above, field): &(&str, &str)| path.starts_with(above) && name == *field;
    FIELDS.contains(&name) || BELOW.iter().any(below)
}

/// Configurations come as text, too: `cipassword: secret`.
fn lines(raw: &str) -> String {
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
            line_without_secret(line)
        }
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// A line of a configuration without the secret in it, if its name is that of one.
pub(crate) fn line_without_secret(line: &str) -> String {
    let Some(at) = line.find([':', '=']) else {
        return line.to_owned();
    };
    let name = line[..at].trim().trim_start_matches(['-', ' ', '"']);
    let name = name.trim_end_matches('"');
    let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
    let is_hidden = is_secret_name(name) || FIELDS.contains(&name);
    if is_name && is_hidden && !line[at + 1..].trim().is_empty() {
        format!("{} {REDACTED}", &line[..=at])
    } else {
        line.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
    fn secret_parameters_are_known_and_names_of_tokens_are_none() {
        for name in ["password", "cipassword", "token", "key", "target-endpoint"] {
            assert!(is_secret_parameter(name, "/x"), "{name}");
        }
        for name in ["tokens", "tokenid", "name", "sshkeys"] {
            assert!(!is_secret_parameter(name, "/x"), "{name}");
        }
    }
}
