//! Tools under the names of other Proxmox MCP servers, for what a tool of ours does already: their arguments are turned into
//! ours, and ours plans it. So an agent that was set up for another server gets the same care under the names that it knows.

use futures_util::future::BoxFuture;
use pve::GuestKind;
use serde_json::Value;

use super::Arg;
use super::arg::Kind;
use crate::claim::Claim;
use crate::context::Context;
use crate::fault::Fault;
use crate::plan::parts;
use crate::schema;
use crate::spec::{Example, Risk, Spec, Toolset};
use crate::tool::{Object, Ran, Tool};

/// Another name of a tool.
#[must_use]
pub(crate) struct Alias {
    spec: Spec,
    says: &'static str,
    args: &'static [Arg],
    /// The only kind of guest that it is for.
    kind: Option<GuestKind>,
    /// What ours is told besides: an argument, and its value as JSON.
    with: &'static [(&'static str, &'static str)],
    of: &'static dyn Tool,
}

/// Another name of `of`, in this toolset. [`Arg::sent_as`] says what ours calls an argument.
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
            takes_host: false,
            leasable: false,
            looks_inside: false,
            examples: &[],
        },
        says: "",
        args: &[],
        kind: None,
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

    /// It is for guests of this kind only.
    #[expect(dead_code, reason = "the aliases of one kind of guest come next")]
    pub(crate) const fn only(mut self, kind: GuestKind) -> Self {
        self.kind = Some(kind);
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

    /// Calls that work on the demo world.
    pub(crate) const fn examples(mut self, examples: &'static [Example]) -> Self {
        self.spec.examples = examples;
        self
    }

    fn translated(&self, args: Object) -> Result<Object, Fault> {
        let args = super::checked(args, &self.input())?;
        let args = super::arg::with_defaults(self.args, args);
        let ours = self.of.input();
        let given = self.args.iter().filter_map(|arg| {
            let value = args.get(arg.name)?;
            let takes_several = ours["properties"][arg.sent]["type"] == "array";
            let value = match arg.kind {
                Kind::List if takes_several => parts(value).into(),
                _ => value.clone(),
            };
            Some((arg.sent.to_owned(), value))
        });
        let fixed = self.with.iter().map(|(name, json)| {
            let value = serde_json::from_str(json).unwrap_or(Value::Null);
            ((*name).to_owned(), value)
        });
        Ok(given.chain(fixed).collect())
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

    fn alias_of(&self) -> Option<&'static dyn Tool> {
        Some(self.of)
    }

    fn run<'a>(&'a self, args: Object, cx: &'a Context) -> BoxFuture<'a, Result<Ran, Fault>> {
        Box::pin(async move {
            let mut args = self.translated(args)?;
            let mut claim = Claim::take(&mut args, &self.of.input())?;
            claim = Claim {
                node: claim.node.or_else(|| cx.claim.node.clone()),
                kind: self.kind.or(claim.kind).or(cx.claim.kind),
            };
            let cx = Context {
                claim,
                ..cx.clone()
            };
            schema::coerce(&mut args, &self.of.input())?;
            Ok(match self.of.run(args, &cx).await? {
                Ran::Plan(plan) => Ran::Plan(Box::new(plan.called(self.spec.name))),
                answer @ Ran::Answer(_) => answer,
            })
        })
    }
}
