//! Tools under the names of other Proxmox MCP servers, for what a tool of ours does already: their arguments are turned into
//! ours, and ours plans it. So an agent that was set up for another server gets the same care under the names that it knows.

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::arg::Kind;
use super::wording::Wording;
use super::{Arg, Need, fill};
use crate::claim::Claim;
use crate::context::Context;
use crate::fault::Fault;
use crate::plan::parts;
use crate::schema;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Nature, Object, Ran, Tool};

/// Another name of a tool.
#[must_use]
pub(crate) struct Alias {
    spec: Spec,
    says: &'static str,
    args: &'static [Arg],
    /// What ours is told besides: an argument, and its value as JSON.
    with: &'static [(&'static str, &'static str)],
    of: &'static dyn Tool,
}

/// Another name of `of`, in this toolset. [`Arg::sent_as`] says what ours calls an argument: `set.memory` goes into the object
/// `set`, and `grow.{disk}` under the name that the argument `disk` has.
pub(crate) const fn alias(
    (toolset, risk): (Toolset, Risk),
    name: &'static str,
    title: &'static str,
    of: &'static dyn Tool,
) -> Alias {
    Alias {
        spec: Spec {
            name,
            title,
            toolset,
            risk,
            idempotent: false,
            special: Special::NONE,
            // Those of the tool that it is another name of.
            needs: Need::Nothing,
            examples: &[],
        },
        says: "",
        args: &[],
        with: &[],
        of,
    }
}

impl Alias {
    /// What a model reads about it.
    pub(crate) const fn says(mut self, says: &'static str) -> Self {
        self.says = says;
        self
    }

    /// What it takes.
    pub(crate) const fn takes(mut self, args: &'static [Arg]) -> Self {
        self.args = args;
        self
    }

    /// What ours is told besides.
    pub(crate) const fn with(mut self, with: &'static [(&'static str, &'static str)]) -> Self {
        self.with = with;
        self
    }

    /// A second identical call changes nothing more.
    pub(crate) const fn idempotent(mut self) -> Self {
        self.spec.idempotent = true;
        self
    }

    /// It shows what is inside a guest.
    pub(crate) const fn looks_inside(mut self) -> Self {
        self.spec.special.looks_inside = true;
        self
    }

    /// Calls that work on the demo world.
    pub(crate) const fn examples(mut self, examples: &'static [Example]) -> Self {
        self.spec.examples = examples;
        self
    }

    fn translated(&self, args: Object) -> Result<Object, Fault> {
        let args = super::checked(args, &self.input())?;
        let args = super::arg::with_defaults(self.args, args);
        let schema = self.of.input();
        let mut ours = Object::new();
        for arg in self.args.iter().filter(|arg| !self.names_another(arg)) {
            let Some(value) = args.get(arg.name) else {
                continue;
            };
            let takes_several = schema["properties"][arg.sent]["type"] == "array";
            let value = match arg.kind {
                Kind::List if takes_several => parts(value).into(),
                _ => value.clone(),
            };
            put(&mut ours, &fill(arg.sent, &args), value);
        }
        for (name, json) in self.with {
            put(
                &mut ours,
                name,
                serde_json::from_str(json).unwrap_or(Value::Null),
            );
        }
        Ok(ours)
    }

    /// Whether an argument only says what another one is about.
    fn names_another(&self, arg: &Arg) -> bool {
        let hole = format!("{{{}}}", arg.name);
        self.args.iter().any(|other| other.sent.contains(&hole))
    }

    /// A fault that lists what ours takes lists what this one takes, or what the one argument is that was misread.
    fn takes_instead(&self, fault: Fault) -> Fault {
        if fault.hint != Some(schema::takes(&self.of.input())) {
            return fault;
        }
        let own = self.input();
        let is_meant = |arg: &&Arg| fault.message.contains(&format!("`{}`", arg.sent));
        let hint = match self.args.iter().find(is_meant) {
            Some(arg) => schema::sends(arg.name, &own["properties"][arg.name]),
            None => schema::takes(&own),
        };
        fault.hint(hint)
    }
}

/// Puts a value under a name, or into the object that stands before a dot.
pub(crate) fn put(into: &mut Object, name: &str, value: Value) {
    let Some((object, name)) = name.split_once('.') else {
        into.insert(name.to_owned(), value);
        return;
    };
    let object = into.entry(object).or_insert_with(|| Object::new().into());
    if let Value::Object(object) = object {
        object.insert(name.to_owned(), value);
    }
}

impl Tool for Alias {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn input(&self) -> Object {
        super::arg::schema(self.args, self.says)
    }

    fn output(&self) -> Object {
        self.of.output()
    }

    fn nature(&self) -> Nature<'_> {
        Nature::AliasOf(self.of)
    }

    fn run<'a>(&'a self, args: Object, cx: &'a Context) -> BoxFuture<'a, Result<Ran, Fault>> {
        Box::pin(async move {
            let mut args = self.translated(args)?;
            let said = Claim::take(&mut args, &self.of.input(), &[])?;
            let claim = cx.claim.or(said.node.as_ref(), said.kind);
            let mut cx = Context {
                claim,
                ..cx.clone()
            };
            if let Some(kind) = self.args.iter().find_map(|arg| arg.names) {
                cx = cx.only(kind, self.spec.name);
            }
            schema::coerce(&mut args, &self.of.input())?;
            let ran = self.of.run(args, &cx).await;
            let ran = ran.map_err(|fault| self.takes_instead(fault));
            let ran = ran.map_err(|fault| {
                let wording = Wording::new(self.args, self.of);
                Fault {
                    message: wording.message(&fault.message),
                    hint: fault.hint.map(|hint| wording.hint(&hint)),
                    ..fault
                }
            })?;
            let Ran::Plan(plan) = ran else {
                return Ok(ran);
            };
            let mut plan = plan.called(self.spec.name);
            if !plan.blockers.is_empty() {
                let wording = Wording::new(self.args, self.of);
                for blocker in &mut plan.blockers {
                    blocker.instead = wording.hint(&blocker.instead);
                }
            }
            Ok(Ran::Plan(Box::new(plan)))
        })
    }
}
