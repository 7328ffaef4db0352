//! The form of the table: an endpoint, its tool, and which argument each parameter becomes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pve::{Method, Request};
use serde_json::{Value, json};

use crate::deed::When;
use crate::plan::parts;
use crate::risk::flag;
use crate::tool::Object;

/// An endpoint of a coded tool.
pub(in crate::area::api) struct Row {
    pub(in crate::area::api) verb: Method,
    /// Its template; `{guest}` is `qemu/{vmid}` or `lxc/{vmid}`. The vmid in a path is the argument `vmid`.
    pub(in crate::area::api) path: &'static str,
    pub(super) when: When,
    pub(in crate::area::api) tool: &'static str,
    /// Arguments where no parameter gives them, as JSON: constants, and what PVE does where the tool has another default.
    pub(super) with: &'static [(&'static str, &'static str)],
    pub(super) takes: &'static [Take],
    pub(super) rest: Rest,
    /// Arguments that several parameters make together, or the parameters that stand in the way.
    pub(super) special: Option<Special>,
}

/// Arguments that a request has by several of its parameters, or the names of those that stand in the way.
type Special = fn(&Request) -> Result<Object, &'static [&'static str]>;

/// Parameters that no [`Take`] names.
#[derive(Clone, Copy)]
pub(super) enum Rest {
    /// Not passed on; what to do about them.
    Refused(&'static str),
    /// Each goes into this object by its own name.
    Into(&'static str),
    /// Settings of a guest that the request creates: update_proxmox_vm sets them afterwards.
    SetLater,
}

/// A parameter or a part of the path, and the argument that it becomes.
pub(super) struct Take {
    pub(super) from: &'static str,
    /// The argument: `set.memory` is a field of the object `set`, `grow.{disk}` one that another parameter names.
    pub(super) to: &'static str,
    pub(super) form: Form,
    /// Whether the tool would choose something where the request leaves it out and PVE would not.
    pub(super) needed: bool,
    /// A value for the call in a refusal where the tool needs one and PVE does not; `{vmid}` is the guest's id.
    pub(super) example: &'static str,
}

/// How a parameter's value becomes that of an argument.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// By the type of the argument.
    Typed,
    /// A flag that the tool does not list.
    Flag,
    /// Names in one text become a list.
    Names,
    /// A list of ids becomes one text.
    Ids,
    /// One id; the tool takes no list.
    One,
    /// Text that PVE takes encoded.
    Decoded,
    /// Text that PVE takes in base64.
    Base64,
    /// A CD image: `local:iso/x.iso,media=cdrom`.
    Cdrom,
    /// A disk that is yet to be made: `local-lvm:8,ssd=1`.
    NewDisk,
    /// One of these values, which mean the same as leaving it out.
    Fixed(&'static [&'static str]),
    /// Part of another argument's name.
    Name,
}

impl Form {
    /// Whether the parameter says nothing that the tool would have to be told.
    pub(super) fn is_dropped(self, values: &[String]) -> bool {
        match (self, values) {
            (Self::Fixed(known), [value]) => known
                .iter()
                .any(|it| it == value || flag(it).is_some_and(|known| flag(value) == Some(known))),
            (Self::Name, _) => true,
            _ => false,
        }
    }

    /// The value of the argument `to` of a tool with this schema; `None` where it cannot say the same.
    pub(super) fn read(self, values: &[String], schema: &Object, to: &str) -> Option<Value> {
        let one = match values {
            [one] => Some(one.as_str()),
            _ => None,
        };
        match self {
            Self::Typed => match schema["properties"][to]["type"].as_str() {
                Some("boolean") => flag(one?).map(Value::from),
                Some("integer") => one?.parse::<i64>().ok().map(Value::from),
                Some("array") => Some(json!(values)),
                _ => Some(json!(values.join(","))),
            },
            Self::Flag => flag(one?).map(Value::from),
            Self::Ids => Some(json!(values.join(","))),
            Self::Names => Some(json!(parts(&json!(values.join(","))))),
            Self::One => one?.trim().parse::<u32>().ok().map(Value::from),
            Self::Decoded => Some(json!(pve::decode_value(one?))),
            Self::Base64 => {
                let bytes = STANDARD.decode(one?).ok()?;
                String::from_utf8(bytes).ok().map(Value::from)
            }
            Self::Cdrom => one?.strip_suffix(",media=cdrom").map(Value::from),
            Self::NewDisk => one.filter(|text| is_new_disk(text)).map(Value::from),
            Self::Fixed(_) | Self::Name => None,
        }
    }
}

/// Whether a drive is made by the request, and is none that exists, by whatever key.
fn is_new_disk(text: &str) -> bool {
    let mut parts = text.split(',');
    let first = parts.next().unwrap_or_default();
    let size = first.split_once(':').map_or("", |(_, size)| size);
    let is_size = !size.is_empty() && size.chars().all(|c| c.is_ascii_digit() || c == '.');
    let names_another = |part: &str| {
        let key = part.split_once('=').map_or("", |(key, _)| key);
        matches!(key, "" | "file" | "volume" | "import-from")
    };
    is_size && !first.contains('=') && !parts.any(names_another)
}

impl Row {
    /// The argument of a parameter or of a part of the path.
    pub(super) fn take(&self, name: &str) -> Option<&'static Take> {
        self.takes.iter().find(|take| take.from == name)
    }

    pub(super) const fn with(mut self, with: &'static [(&'static str, &'static str)]) -> Self {
        self.with = with;
        self
    }

    pub(super) const fn when(mut self, when: When) -> Self {
        self.when = when;
        self
    }

    pub(super) const fn rest(mut self, rest: Rest) -> Self {
        self.rest = rest;
        self
    }

    /// What to do about parameters that have no argument.
    pub(super) const fn advice(self, advice: &'static str) -> Self {
        self.rest(Rest::Refused(advice))
    }

    pub(super) const fn special(mut self, special: Special) -> Self {
        self.special = Some(special);
        self
    }
}

pub(super) const fn row(
    verb: Method,
    path: &'static str,
    tool: &'static str,
    takes: &'static [Take],
) -> Row {
    Row {
        verb,
        path,
        when: When::Always,
        tool,
        with: &[],
        takes,
        rest: Rest::Refused(""),
        special: None,
    }
}

impl Take {
    /// The tool does not work without it, and PVE does.
    pub(super) const fn required(mut self, example: &'static str) -> Self {
        self.needed = true;
        self.example = example;
        self
    }

    /// The tool would choose it where it is left out, and PVE would not.
    pub(super) const fn needed(mut self) -> Self {
        self.needed = true;
        self
    }
}

/// A parameter under another name.
pub(super) const fn take(from: &'static str, to: &'static str) -> Take {
    formed(from, to, Form::Typed)
}

/// A parameter under its own name.
pub(super) const fn same(name: &'static str) -> Take {
    take(name, name)
}

pub(super) const fn formed(from: &'static str, to: &'static str, form: Form) -> Take {
    Take {
        from,
        to,
        form,
        needed: false,
        example: "",
    }
}

/// A flag that is passed on in no case, and may be off.
pub(super) const fn off(name: &'static str) -> Take {
    formed(name, "", Form::Fixed(&["0"]))
}
