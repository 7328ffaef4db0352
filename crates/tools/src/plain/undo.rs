//! How a plain change is taken back.

use serde_json::{Value, json};

use super::arg::Kind as ArgKind;
use super::change::Planning;
use super::entry::Undone;
use super::{Arg, word};
use crate::plan::Undo;
use crate::tool::Object;

impl Planning<'_> {
    /// The arguments that name the entry.
    fn naming(&self) -> Object {
        let guest = self.place.guest.is_some().then_some("vmid");
        let names = self.entry.id.iter().copied().chain(guest);
        let node = self.place.guest.is_none().then_some("node");
        let called = self
            .entry
            .called
            .map(|(_, argument)| (argument.to_owned(), json!(self.name())));
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
            Undone::Not(because) => not(because),
            Undone::BySettingBack => not("nothing is known that takes it back"),
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
            if let Some(value) = old.get(name) {
                arguments.insert(name.clone(), typed(value, property["type"].as_str()));
            }
        }
        Undo::Call {
            tool: tool.to_owned(),
            arguments,
        }
    }

    pub(super) fn undo_edit(&self, old: &Object) -> Undo {
        match self.entry.undo {
            Undone::Not(because) => return not(because),
            Undone::By(_) => return self.undo_making(),
            Undone::BySettingBack => {}
        }
        let mut arguments = self.naming();
        let mut unset = Vec::new();
        for (arg, _) in self.altering() {
            match old.get(arg.sent) {
                _ if arg.alone => return not("where it was before is not where it is now"),
                _ if arg.secret => return not("the secret that was there before is not known"),
                Some(value) => drop(arguments.insert(arg.name.to_owned(), arg.typed(value))),
                None if self.entry.emptied && arg.is_text() => {
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
    fn is_text(&self) -> bool {
        matches!(self.kind, ArgKind::Text | ArgKind::List)
    }

    fn typed(&self, value: &Value) -> Value {
        typed(
            value,
            match self.kind {
                ArgKind::Flag => Some("boolean"),
                ArgKind::Whole(_) => Some("integer"),
                ArgKind::Number => Some("number"),
                _ => None,
            },
        )
    }
}
