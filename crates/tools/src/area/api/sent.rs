//! What is really sent. What a call does and to whom is read from here, never from what the caller wrote: PVE takes "off"
//! for 0 and "105;106" for two guests, and a null is not sent at all.

use std::collections::BTreeSet;
use std::fmt;

use pve::{Request, Value as Parameter};
use serde_json::Value;

use crate::clean;
use crate::plan::parts;
use crate::tool::Object;

/// The parameters of a request beside its path, by their names in PVE.
///
/// What a parameter does is judged by its whole value, whether it is shown or not: whoever could hide a value by writing
/// something like a password into it would hide what it does.
pub(super) struct Sent {
    /// A flag is a boolean, a repeated parameter a list. What is a secret by its name has no value here.
    values: Object,
    /// What is not shown as it is: secrets by their names, and addresses with a password in them.
    hidden: BTreeSet<String>,
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent")
            .field("shown", &self.shown().collect::<Vec<_>>())
            .field("hidden", &self.hidden)
            .finish_non_exhaustive()
    }
}

impl Sent {
    /// Of a request to this method.
    pub(super) fn of(request: &Request, template: &str) -> Self {
        let (mut values, mut hidden) = (Object::new(), BTreeSet::new());
        for (name, value) in &request.params {
            let is_secret = clean::is_secret_at(name, template);
            if is_secret || is_telling(name, template, value) {
                hidden.insert(name.clone());
            }
            let value = if is_secret { Value::Null } else { plain(value) };
            match values.get_mut(name) {
                None => drop(values.insert(name.clone(), value)),
                Some(Value::Array(all)) => all.push(value),
                Some(one) => *one = Value::Array(vec![one.take(), value]),
            }
        }
        Self { values, hidden }
    }

    /// Whether it is sent.
    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// All that may be shown.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&String, &Value)> {
        let all = self.values.iter();
        all.filter(|(name, _)| !self.is_hidden(name))
    }

    /// Whether it is a secret.
    pub(super) fn is_hidden(&self, name: &str) -> bool {
        self.hidden.contains(name)
    }

    /// Whether a secret is sent.
    pub(super) fn hides(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// A value as PVE reads it, to judge what it does. Not to be shown.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.values.get(name).and_then(pve::lenient::as_text)
    }

    /// The same, if it may be shown.
    pub(super) fn shown_text(&self, name: &str) -> Option<String> {
        self.text(name).filter(|_| !self.is_hidden(name))
    }

    /// Whether it names something: a list of nothing, which PVE takes for one that is not sent, does not.
    pub(super) fn names_any(&self, name: &str) -> bool {
        let named = self.values.get(name).map(parts);
        named.is_some_and(|named| !named.is_empty())
    }

    /// Whether a flag is on or off; `None` if it is not sent, or no flag.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.values.get(name).and_then(pve::lenient::as_bool)
    }

    /// The settings that PVE is told to unset. Some methods have a flag of that name, which unsets none.
    pub(super) fn unset(&self) -> Vec<String> {
        let listed = self.values.get("delete").filter(|it| !it.is_boolean());
        listed.map(parts).unwrap_or_default()
    }
}

/// Whether a value is an address that tells a password. By the parameter, never by the value alone: a command that looks
/// like an address is a command.
pub(super) fn is_telling(name: &str, template: &str, value: &Parameter) -> bool {
    clean::is_address_at(name, template) && clean::has_password(&value.to_string())
}

fn plain(value: &Parameter) -> Value {
    match value {
        Parameter::Bool(flag) => Value::Bool(*flag),
        Parameter::Int(number) => Value::from(*number),
        other => Value::String(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_hidden_is_judged_all_the_same() {
        let options = "/cluster/options";
        let request = Request::put(options)
            .with("http_proxy", "http://joe:hunter2@proxy:3128")
            .with("vms", " , ");
        let sent = Sent::of(&request, options);
        assert!(!format!("{sent:?}").contains("hunter2"));
        assert!(sent.hides() && sent.shown_text("http_proxy").is_none());
        assert!(sent.text("http_proxy").unwrap().contains("proxy:3128"));
        assert!(sent.has("vms") && !sent.names_any("vms") && sent.names_any("http_proxy"));
    }

    #[test]
    fn what_only_looks_like_an_address_is_shown() {
        let mount = "local-lvm:vm-109-disk-0,mp=/x://a:b@c";
        let request = Request::post("/nodes/pve1/lxc").with("mp0", mount);
        let sent = Sent::of(&request, "/nodes/{node}/lxc");
        assert!(!sent.hides());
        assert_eq!(sent.shown_text("mp0").as_deref(), Some(mount));
    }

    #[test]
    fn what_is_sent_is_told_without_its_secrets() {
        let request = Request::put("/x")
            .with("enable", false)
            .with("vms", "105, 106")
            .with("delete", "a,b;c")
            .with("password", "hunter2")
            .with("secret", "name=a")
            .with("secret", "name=b")
            .with("command", "ls")
            .with("command", "-l");
        let sent = Sent::of(&request, "/x");
        assert!(!format!("{sent:?}").contains("hunter2"));
        assert_eq!(sent.flag("enable"), Some(false));
        assert_eq!(sent.unset(), ["a", "b", "c"]);
        assert!(sent.has("password") && sent.hides() && sent.text("password").is_none());
        let shown: Vec<_> = sent.shown().map(|(name, _)| name.as_str()).collect();
        assert_eq!(shown, ["enable", "vms", "delete", "command"]);
        assert_eq!(sent.values["command"], json!(["ls", "-l"]));
        assert!(
            Sent::of(&Request::put("/x").with("delete", true), "/x")
                .unset()
                .is_empty()
        );
    }
}
