//! How a plain change is taken back.

use serde_json::{Value, json};

use super::arg::Kind as ArgKind;
use super::change::Planning;
use super::entry::Undone;
use super::{Arg, path, word};
use crate::plan::Undo;
use crate::tool::{Object, Tool};
use crate::words;

impl Planning<'_> {
    /// The arguments that name the entry.
    fn naming(&self) -> Object {
        let guest = self.place.guest.is_some().then_some("vmid");
        let names = self.entry.id.iter().copied().chain(guest);
        let node = self.place.guest.is_none().then_some("node");
        let called = self
            .entry
            .called
            .and_then(|(_, argument)| Some((argument.to_owned(), self.id()?)));
        names
            .chain(node)
            .filter_map(|name| Some((name.to_owned(), self.values.get(name)?.clone())))
            .chain(called)
            .collect()
    }

    pub(super) fn undo_making(&self) -> Undo {
        match self.entry.undo {
            Undone::By(tool) => {
                let mut arguments = self.naming();
                if let (true, Some((_, field))) = (self.entry.numbered, self.entry.listed) {
                    // PVE puts a new one first.
                    arguments.insert(field.to_owned(), json!(0));
                }
                Undo::Call {
                    tool: tool.to_owned(),
                    arguments,
                }
            }
            Undone::ByDeleting(at) => Undo::Call {
                tool: "write_proxmox_api".to_owned(),
                arguments: Object::from_iter([
                    ("method".to_owned(), json!("DELETE")),
                    ("path".to_owned(), json!(path(at, self.values))),
                ]),
            },
            Undone::Not(because) => not(because),
            Undone::BySettingBack | Undone::ByTurningRound => {
                not("nothing is known that takes it back")
            }
        }
    }

    pub(super) fn undo_removal(&self, old: &Object) -> Undo {
        let Undone::By(tool) = self.entry.undo else {
            return self.undo_making();
        };
        let Ok(maker) = crate::registry::find_change(tool) else {
            return not("nothing is known that takes it back");
        };
        let schema = maker.input();
        let mut arguments = self.naming();
        // What has a number gets a new one.
        arguments.retain(|name, _| schema["properties"].get(name).is_some());
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let sent = called(maker, name);
            let kept = old.get(sent).filter(|_| self.can_be_told(old, sent));
            if let Some(value) = kept.filter(|value| !is_hidden(value)) {
                arguments.insert(name.clone(), typed(value, property["type"].as_str()));
            }
        }
        Undo::Call {
            tool: tool.to_owned(),
            arguments,
        }
    }

    fn can_be_told(&self, old: &Object, setting: &str) -> bool {
        self.entry.told.is_none_or(|told| told(old, setting))
    }

    pub(super) fn undo_edit(&self, old: &Object) -> Undo {
        match self.entry.undo {
            Undone::Not(because) => return not(because),
            Undone::By(_) | Undone::ByDeleting(_) => return self.undo_making(),
            Undone::ByTurningRound if self.altering().any(|(arg, _)| arg.member.is_some()) => {
                return self.turned_round();
            }
            Undone::BySettingBack | Undone::ByTurningRound => {}
        }
        let mut arguments = self.naming();
        let mut unset = Vec::new();
        let is_secret = |key: &str| old.get(key).is_some_and(is_hidden);
        if self.cleared().iter().any(|key| is_secret(key)) {
            return not("a secret is cleared, which is shown nowhere");
        }
        for (arg, _) in self.altering() {
            // An empty text is no value, and sent back it would count as left out.
            match old.get(arg.sent).filter(|value| *value != "") {
                Some(value) if is_hidden(value) => {
                    return not("the secret that was there before is not known");
                }
                _ if arg.alone => return not("where it was before is not where it is now"),
                _ if arg.secret => return not("the secret that was there before is not known"),
                Some(value) => drop(arguments.insert(arg.name.to_owned(), arg.typed(value))),
                None if self.entry.empties(arg) => {
                    drop(arguments.insert(arg.name.to_owned(), json!("")));
                }
                None if arg.compared => unset.push(arg.sent),
                None => {}
            }
        }
        for key in self.cleared() {
            let arg = self.tool.args.iter().find(|arg| arg.sent == key);
            match (arg, old.get(&key)) {
                (_, None) => {}
                (Some(arg), Some(value)) => {
                    drop(arguments.insert(arg.name.to_owned(), arg.typed(value)));
                }
                (None, Some(_)) => return not("a setting is cleared that this tool cannot set"),
            }
        }
        if !unset.is_empty() {
            let clears = self.tool.args.iter().any(|arg| arg.sent == "delete");
            if !clears {
                return not("it was not set before, and cannot be unset by this tool");
            }
            arguments.insert("delete".to_owned(), unset.join(",").into());
        }
        Undo::Call {
            tool: self.tool.spec.name.to_owned(),
            arguments,
        }
    }
}

/// What PVE calls an argument of a tool.
fn called<'a>(tool: &dyn Tool, argument: &'a str) -> &'a str {
    let mut known = tool.sent_as().into_iter();
    let sent = known.find_map(|(name, sent)| (name == argument).then_some(sent));
    sent.unwrap_or(argument)
}

impl Planning<'_> {
    /// What PVE could be told to make an entry as it was, and the tool that makes it again cannot tell it.
    pub(super) async fn not_brought_back(&self, old: &Object) -> Option<String> {
        let Undone::By(tool) = self.entry.undo else {
            return None;
        };
        let maker = crate::registry::find_change(tool).ok()?.plain()?;
        let methods = maker.methods();
        let [method] = &methods[..] else {
            return None;
        };
        let schema = self.place.cluster.schema().await.ok()?;
        let settable = schema.method(method.method, &method.path)?;
        let told: Vec<&str> = maker.sent_as().iter().map(|(_, sent)| *sent).collect();
        let is_lost = |name: &str, value: &Value| {
            is_hidden(value) || (settable.parameter(name).is_some() && !told.contains(&name))
        };
        let lost = old
            .iter()
            .filter(|(name, value)| is_lost(name, value) && self.can_be_told(old, name));
        let names: Vec<_> = lost.map(|(name, _)| name.as_str()).collect();
        (!names.is_empty()).then(|| {
            let names = words::clip(&names.join(", "), 200);
            format!("{tool} does not bring back {names}")
        })
    }

    /// The same members the other way.
    fn turned_round(&self) -> Undo {
        let mut arguments = self.naming();
        let is_out = self.values.get("delete") == Some(&Value::Bool(true));
        for (arg, value) in self.altering() {
            if arg.member.is_none() {
                return not("settings and members are not taken back by one call");
            }
            arguments.insert(arg.name.to_owned(), value.clone());
        }
        arguments.insert("delete".to_owned(), json!(!is_out));
        Undo::Call {
            tool: self.tool.spec.name.to_owned(),
            arguments,
        }
    }
}

/// Whether a secret stood there.
fn is_hidden(value: &Value) -> bool {
    value.to_string().contains(crate::clean::REDACTED)
}

fn not(because: &str) -> Undo {
    Undo::Impossible {
        because: because.to_owned(),
    }
}

/// A value of PVE's as an argument of this type.
fn typed(value: &Value, kind: Option<&str>) -> Value {
    let text = word(Some(value));
    match kind {
        Some("boolean") => json!(pve::lenient::as_bool(value).unwrap_or(false)),
        Some("integer") => text
            .parse::<i64>()
            .map_or_else(|_| value.clone(), Value::from),
        Some("number") => value.clone(),
        _ if value.is_array() => {
            let items: Vec<_> = value
                .as_array()
                .into_iter()
                .flatten()
                .map(|item| word(Some(item)))
                .collect();
            json!(items.join(","))
        }
        _ => json!(text),
    }
}

impl Arg {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, ArgKind::Text | ArgKind::List)
    }

    fn typed(&self, value: &Value) -> Value {
        typed(
            value,
            match self.kind {
                ArgKind::Flag => Some("boolean"),
                ArgKind::Whole(_) => Some("integer"),
                ArgKind::Number(_) => Some("number"),
                _ => None,
            },
        )
    }
}
