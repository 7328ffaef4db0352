//! Tools that are one method of PVE's API each, declared as data. What they all have in common is here, once: finding the
//! guest or node, filling the path, showing an answer, and turning a change into a plan that shows what was there before and
//! is read back afterwards. A tool that has to think has code of its own under [`crate::area`].

mod alias;
mod arg;
mod bound;
mod change;
mod content;
mod entry;
mod lines;
mod method;
mod need;
mod place;
mod read;
mod show;
mod shown;
mod state;
mod template;
mod tree;
mod undo;
mod wording;

use futures_util::future::BoxFuture;
use pve::{Method, Request};
use serde_json::Value;

use crate::context::Context;
use crate::fault::{Fault, Kind};
use crate::outcome::Outcome;
use crate::schema;
use crate::spec::{Example, Risk, Spec, Special, Toolset, Wants};
use crate::tool::{Nature, Object, Ran, Tool};

pub(crate) use alias::{Alias, alias, put};
pub(crate) use arg::value as parameter;
pub(crate) use arg::{
    Arg, CONTAINER, NODE, TIMEFRAME, UNSET, VM, choice, flag, list, number, text, whole,
};
pub(crate) use content::content;
pub(crate) use entry::{Entry, an};
pub use need::Need;
pub(crate) use place::{login_only, only_cluster};

use change::Act;
use show::Shows;
use template::{fill, path, word};

/// A tool that is one method of PVE's API.
#[derive(Debug)]
#[must_use]
pub struct Plain {
    spec: Spec,
    says: &'static str,
    method: Method,
    path: &'static str,
    args: &'static [Arg],
    /// What is sent besides.
    always: &'static [(&'static str, &'static str)],
    /// A value that is looked up first: its name, where, and the field there.
    finds: Option<(&'static str, &'static str, &'static str)>,
    /// The types of the task that PVE starts, to find it by if the answer is lost.
    tasks: &'static [&'static str],
    /// Whether PVE leaves out of the answer what the token may not see, and shows the rest.
    filtered: bool,
    /// The field of a time by which the rows are put in order, newest first: PVE has them in none that means anything.
    newest: Option<&'static str>,
    /// Whether it works on a node that does not answer: another node does it.
    even_offline: bool,
    /// The argument that names the guest that it is about, where its path does not: `vm:105`.
    about: Option<&'static str>,
    /// The argument that names a storage whose guests cannot be started afterwards, and those that make it so; always
    /// where there are none.
    strands: Option<(&'static str, &'static [&'static str])>,
    answer: Told,
    work: Work,
}

/// Where PVE's answer to a change is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Nowhere,
    /// It is what was asked for.
    InOutcome,
    /// It holds a secret.
    InFile,
}

#[derive(Debug)]
enum Work {
    Shows(Shows),
    Does(Act),
}

/// A tool that shows what a GET answers.
pub(crate) const fn read(
    toolset: Toolset,
    name: &'static str,
    title: &'static str,
    path: &'static str,
) -> Plain {
    let work = Work::Shows(Shows::Item(&[]));
    Plain::new(
        (toolset, Risk::Read),
        (name, title),
        (Method::Get, path),
        work,
    )
}

/// A tool that plans one request.
pub(crate) const fn change(
    (toolset, risk): (Toolset, Risk),
    name: &'static str,
    title: &'static str,
    method: Method,
    path: &'static str,
) -> Plain {
    let work = Work::Does(Act::Undeclared);
    Plain::new((toolset, risk), (name, title), (method, path), work)
}

impl Plain {
    const fn new(
        (toolset, risk): (Toolset, Risk),
        (name, title): (&'static str, &'static str),
        (method, path): (Method, &'static str),
        work: Work,
    ) -> Self {
        let spec = Spec {
            name,
            title,
            toolset,
            risk,
            idempotent: matches!(method, Method::Get | Method::Put | Method::Delete),
            special: Special::NONE,
            needs: Need::Nothing,
            examples: &[],
        };
        Self {
            spec,
            says: "",
            method,
            path,
            args: &[],
            always: &[],
            finds: None,
            tasks: &[],
            filtered: false,
            newest: None,
            even_offline: false,
            about: None,
            strands: None,
            answer: Told::Nowhere,
            work,
        }
    }

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

    /// What PVE is told besides, whatever the arguments are.
    pub(crate) const fn always(mut self, sent: &'static [(&'static str, &'static str)]) -> Self {
        self.always = sent;
        self
    }

    /// The privileges that it takes.
    pub(crate) const fn needs(mut self, needs: Need) -> Self {
        self.spec.needs = needs;
        self
    }

    /// Its privileges depend on something that the caller does not name: this field of what is read there.
    pub(crate) const fn finds(
        mut self,
        name: &'static str,
        path: &'static str,
        field: &'static str,
    ) -> Self {
        self.finds = Some((name, path, field));
        self
    }

    /// PVE starts a task of one of these types.
    pub(crate) const fn starts(mut self, tasks: &'static [&'static str]) -> Self {
        self.tasks = tasks;
        self
    }

    /// PVE leaves out what the token may not see even where it shows something: the answer says so.
    pub(crate) const fn filtered(mut self) -> Self {
        self.filtered = true;
        self
    }

    /// Rows come newest first by this field, and so a limit keeps the newest.
    pub(crate) const fn newest_by(mut self, field: &'static str) -> Self {
        self.newest = Some(field);
        self
    }

    /// Another node does it, so that the one that is named need not answer.
    pub(crate) const fn even_offline(mut self) -> Self {
        self.even_offline = true;
        self
    }

    /// It is about the guest that this argument names, such as `vm:105`: what protects the guest holds.
    pub(crate) const fn about(mut self, argument: &'static str) -> Self {
        self.about = Some(argument);
        self
    }

    /// Guests with disks on the storage that this argument names cannot be started afterwards: always, or with one of
    /// these arguments. Rules about them and what protects them hold.
    pub(crate) const fn strands(
        mut self,
        storage: &'static str,
        with: &'static [&'static str],
    ) -> Self {
        self.strands = Some((storage, with));
        self
    }

    /// PVE answers with a secret, once: it goes into a file and nowhere else.
    pub(crate) const fn confides(mut self) -> Self {
        self.answer = Told::InFile;
        self
    }

    /// It is a look, and more than one: PVE's answer is part of the outcome.
    pub(crate) const fn tells(mut self) -> Self {
        self.answer = Told::InOutcome;
        self
    }

    /// It works only where there is all of this.
    pub(crate) const fn wants(mut self, wants: &'static [Wants]) -> Self {
        self.spec.special.wants = wants;
        self
    }

    /// Calls that work on the demo world.
    pub(crate) const fn examples(mut self, examples: &'static [Example]) -> Self {
        self.spec.examples = examples;
        self
    }

    fn captures(&self, arg: &Arg) -> bool {
        self.path.split('/').any(|part| {
            part.strip_prefix('{')
                .and_then(|part| part.strip_suffix('}'))
                == Some(arg.name)
        })
    }

    async fn act(&self, values: Object, cx: &Context) -> Result<Ran, Fault> {
        match &self.work {
            Work::Shows(shows) => Ok(Ran::Answer(self.read(shows, values, cx).await?)),
            Work::Does(act) => {
                let mut plan = self.plan(act, values, cx).await?;
                cx.settle(&mut plan).await?;
                Ok(Ran::Plan(Box::new(plan)))
            }
        }
    }

    /// PVE does not always say what is missing where it refuses; what is declared tells.
    async fn with_gap(&self, fault: Fault, values: &Object, cx: &Context) -> Fault {
        let [cluster] = cx.clusters.as_slice() else {
            return fault;
        };
        let missing = crate::preview::missing(&self.needed(values), &cluster.pve).await;
        if missing.is_empty() {
            return fault;
        }
        fault.hint(format!("the token lacks {}", missing.join(", ")))
    }

    /// The arguments that go beside the path.
    fn sent(&self) -> impl Iterator<Item = &Arg> {
        let beside = |arg: &&Arg| !arg.limit && !self.captures(arg);
        self.args.iter().filter(beside)
    }

    /// The request for these values; `write` says how an argument's value is written in it.
    fn request(
        &self,
        values: &Object,
        mut write: impl FnMut(&Arg, &Value) -> pve::Value,
    ) -> Request {
        let request = Request::new(self.method, path(self.path, values));
        let request = self.always.iter().fold(request, |request, (name, value)| {
            request.with(*name, *value)
        });
        self.sent().fold(request, |request, arg| {
            request.maybe(
                arg.sent,
                values.get(arg.name).map(|value| write(arg, value)),
            )
        })
    }
}

impl Tool for Plain {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn input(&self) -> Object {
        arg::schema(self.args, self.says)
    }

    fn nature(&self) -> Nature<'_> {
        Nature::Method(self)
    }

    fn output(&self) -> Object {
        match &self.work {
            Work::Shows(shows) => shows.schema(),
            Work::Does(_) => schema::output::<Outcome>(),
        }
    }

    fn run<'a>(&'a self, args: Object, cx: &'a Context) -> BoxFuture<'a, Result<Ran, Fault>> {
        Box::pin(async move {
            let values = arg::with_defaults(self.args, checked(args, &self.input())?);
            for arg in self.args {
                arg.fits(&values)?;
            }
            match self.act(values.clone(), cx).await {
                Err(fault) if fault.kind == Kind::Forbidden && fault.hint.is_none() => {
                    Err(self.with_gap(fault, &values, cx).await)
                }
                ran => ran,
            }
        })
    }
}

/// The arguments, of their types and complete, without what was left out.
fn checked(args: Object, schema: &Object) -> Result<Object, Fault> {
    let mut args: Object = args
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .collect();
    schema::coerce(&mut args, schema)?;
    schema::complete(&args, schema)?;
    Ok(args)
}
