//! The arguments of a plain tool, as data.

use pve::GuestKind;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::tool::{ApiParam, Object};

/// One argument.
#[derive(Debug, Clone, Copy)]
#[must_use]
#[expect(
    clippy::struct_excessive_bools,
    reason = "properties that have nothing to do with each other, each set by a method of its own"
)]
pub(crate) struct Arg {
    /// As callers write it.
    pub(super) name: &'static str,
    /// As PVE calls it.
    pub(super) sent: &'static str,
    pub(super) kind: Kind,
    pub(super) says: &'static str,
    pub(super) required: bool,
    /// Its value is shown nowhere.
    pub(super) secret: bool,
    /// It is the address of something, which may have a password in it.
    pub(super) address: bool,
    /// Whether what PVE shows afterwards can be compared with it.
    pub(super) compared: bool,
    /// The form of a text, where it has one; its description says which.
    form: Option<fn(&str) -> bool>,
    /// What is sent where it is left out, as JSON.
    pub(super) otherwise: Option<&'static str>,
    /// Whether PVE ignores the other settings if this one is given.
    pub(super) alone: bool,
    /// The kind of guest that it names: the tool is for no other.
    pub(super) names: Option<GuestKind>,
    /// Whether its words are ids of guests that the change is about.
    pub(super) guests: bool,
    /// What the members of the entry call its words, where it puts these into the entry or takes them out.
    pub(super) member: Option<&'static str>,
    /// Whether it bounds the rows that are shown, and is not sent.
    pub(super) limit: bool,
}

/// What an argument can be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Text,
    Choice(&'static [&'static str]),
    Whole(Option<(i64, i64)>),
    /// One with a fraction, and the least that it can be.
    Number(Option<u16>),
    Flag,
    /// Texts separated by commas; PVE sorts them.
    List,
}

/// A text.
pub(crate) const fn text(name: &'static str, says: &'static str) -> Arg {
    Arg::new(name, Kind::Text, says)
}

/// One of these words.
pub(crate) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    says: &'static str,
) -> Arg {
    Arg::new(name, Kind::Choice(words), says)
}

/// A whole number.
pub(crate) const fn whole(name: &'static str, says: &'static str) -> Arg {
    Arg::new(name, Kind::Whole(None), says)
}

/// A number with a fraction.
pub(crate) const fn number(name: &'static str, says: &'static str) -> Arg {
    Arg::new(name, Kind::Number(None), says)
}

/// Yes or no.
pub(crate) const fn flag(name: &'static str, says: &'static str) -> Arg {
    Arg::new(name, Kind::Flag, says)
}

/// Several words in one text.
pub(crate) const fn list(name: &'static str, says: &'static str) -> Arg {
    Arg::new(name, Kind::List, says)
}

/// The node that a call goes to.
pub(crate) const NODE: Arg = text("node", "The node.").required();
/// The guest that a call is about. Its node need not be listed: it is looked up, and a wrong one is refused.
pub(crate) const VM: Arg = whole("vmid", "The VM's id.")
    .within(100, 999_999_999)
    .names(GuestKind::Qemu)
    .required();
/// The same for containers.
pub(crate) const CONTAINER: Arg = whole("vmid", "The container's id.")
    .within(100, 999_999_999)
    .names(GuestKind::Lxc)
    .required();
/// The stretch of time that figures are from.
pub(crate) const TIMEFRAME: Arg = choice(
    "timeframe",
    &["hour", "day", "week", "month", "year"],
    "How far back.",
);
/// Settings to take away, so that PVE's default holds again.
pub(crate) const UNSET: Arg = list("delete", "Settings to clear, separated by commas.");

impl Arg {
    const fn new(name: &'static str, kind: Kind, says: &'static str) -> Self {
        Self {
            name,
            sent: name,
            kind,
            says,
            required: false,
            secret: false,
            address: false,
            compared: true,
            form: None,
            otherwise: None,
            alone: false,
            names: None,
            guests: false,
            member: None,
            limit: false,
        }
    }

    /// It cannot be left out.
    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// PVE calls it otherwise.
    pub(crate) const fn sent_as(mut self, name: &'static str) -> Self {
        self.sent = name;
        self
    }

    /// A whole number within these bounds.
    pub(crate) const fn within(mut self, least: i64, most: i64) -> Self {
        self.kind = Kind::Whole(Some((least, most)));
        self
    }

    /// A number with a fraction that is no less than this.
    pub(crate) const fn at_least(mut self, least: u16) -> Self {
        self.kind = Kind::Number(Some(least));
        self
    }

    /// Its value is shown nowhere.
    pub(crate) const fn secret(mut self) -> Self {
        self.secret = true;
        self.compared = false;
        self
    }

    /// The address of something: where it has a password in it, as http://user:password@host, it is kept as a secret is, and
    /// shown without that. For addresses alone: what is run or written must be seen whole by whoever agrees to it.
    pub(crate) const fn address(mut self) -> Self {
        self.address = true;
        self
    }

    /// Whether this value is kept to ourselves.
    pub(super) fn hides(&self, value: &Value) -> bool {
        let has_password = |text: &str| crate::clean::without_passwords(text) != text;
        self.secret || (self.address && value.as_str().is_some_and(has_password))
    }

    /// It says how to do it, or PVE writes it in its own way: it is not looked for afterwards.
    pub(crate) const fn not_kept(mut self) -> Self {
        self.compared = false;
        self
    }

    /// Its text has this form, as its description says.
    pub(crate) const fn shaped(mut self, form: fn(&str) -> bool) -> Self {
        self.form = Some(form);
        self
    }

    /// Refuses a text of another form than its own.
    pub(super) fn fits(&self, values: &Object) -> Result<(), Fault> {
        match (self.form, values.get(self.name)) {
            (Some(form), Some(Value::String(text))) if !form(text) => {
                let text = crate::words::clip(text, 60);
                let message = format!("argument `{}`: \"{text}\" is not one", self.name);
                Err(Fault::bad_input(message).hint(self.says))
            }
            _ => Ok(()),
        }
    }

    /// This is sent where it is left out: a value as JSON.
    pub(crate) const fn otherwise(mut self, json: &'static str) -> Self {
        self.otherwise = Some(json);
        self
    }

    /// PVE ignores the other settings of a call that has this one, so that a call with both is refused. It is not looked
    /// for afterwards.
    pub(crate) const fn alone(mut self) -> Self {
        self.alone = true;
        self.compared = false;
        self
    }

    /// It names the guest that the call is about, which is of this kind.
    const fn names(mut self, kind: GuestKind) -> Self {
        self.names = Some(kind);
        self
    }

    /// It names guests: rules about them and what protects them hold.
    pub(crate) const fn guests(mut self) -> Self {
        self.guests = true;
        self
    }

    /// Its words become members of the entry, or cease to be with `delete`; a member has its own in this field.
    pub(crate) const fn member(mut self, field: &'static str) -> Self {
        self.member = Some(field);
        self.compared = false;
        self
    }

    /// It bounds the rows that are shown; PVE knows nothing of it.
    pub(crate) const fn limit(mut self) -> Self {
        self.limit = true;
        self
    }

    /// What is sent where it is left out.
    pub(super) fn default(&self) -> Option<Value> {
        serde_json::from_str(self.otherwise?).ok()
    }

    /// It as a parameter of PVE's API.
    pub(super) fn param(&self) -> ApiParam {
        ApiParam {
            name: self.sent,
            takes: self.schema(),
            always: self.required || self.otherwise.is_some(),
        }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text | Kind::List => json!({"type": "string"}),
            Kind::Choice(words) => json!({"type": "string", "enum": words}),
            Kind::Whole(None) => json!({"type": "integer"}),
            Kind::Whole(Some((least, most))) => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Kind::Number(None) => json!({"type": "number"}),
            Kind::Number(Some(least)) => json!({"type": "number", "minimum": least}),
            Kind::Flag => json!({"type": "boolean"}),
        };
        schema["description"] = self.says.into();
        if let Some(default) = self.default() {
            schema["default"] = default;
        }
        schema
    }
}

/// What is sent for a value of an argument.
pub(crate) fn value(value: &Value) -> pve::Value {
    match value {
        Value::Bool(flag) => pve::Value::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => pve::Value::Int(whole),
            None => pve::Value::Text(number.to_string()),
        },
        Value::String(text) => pve::Value::Text(text.clone()),
        other => pve::Value::Text(other.to_string()),
    }
}

/// The values, with what is sent for those left out.
pub(super) fn with_defaults(args: &[Arg], mut values: Object) -> Object {
    for arg in args {
        if let (false, Some(default)) = (values.contains_key(arg.name), arg.default()) {
            values.insert(arg.name.to_owned(), default);
        }
    }
    values
}

/// The schema of all of them.
pub(super) fn schema(args: &[Arg], description: &str) -> Object {
    let properties: Object = args
        .iter()
        .map(|arg| (arg.name.to_owned(), arg.schema()))
        .collect();
    let required: Vec<_> = args
        .iter()
        .filter(|arg| arg.required)
        .map(|arg| arg.name)
        .collect();
    let mut schema = Object::from_iter([
        ("type".to_owned(), json!("object")),
        ("description".to_owned(), json!(description)),
        ("properties".to_owned(), Value::Object(properties)),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}
