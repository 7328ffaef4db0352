//! The two shapes a tool can have. The arguments struct *is* the tool.
//!
//! Implement [`Reads`] or [`Changes`] on a struct that derives `Deserialize` and `JsonSchema`. Its doc
//! comment is the description that a model reads, its fields' doc comments are the parameters'.
//! Neither shape can send anything: a [`Context`] holds Readers only, and a [`Plan`] is data.

use std::marker::PhantomData;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::context::Context;
use crate::deed::Deed;
use crate::fault::{Fault, Kind};
use crate::need::Need;
use crate::outcome::Outcome;
pub use crate::plain::Plain;
use crate::plan::Plan;
use crate::schema;
use crate::spec::{Risk, Spec};

/// A JSON object: arguments, schemas, answers.
pub type Object = Map<String, Value>;

/// A tool that looks and answers.
pub trait Reads: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its declaration.
    const SPEC: Spec;
    /// What it answers.
    type Answer: Answer;
    /// Looks.
    fn read(self, cx: &Context) -> impl Future<Output = Result<Self::Answer, Fault>> + Send;
}

/// A tool that works out a change. The engine applies it.
pub trait Changes: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its declaration.
    const SPEC: Spec;
    /// What counts as doing what it does, whoever does it: a rule about this tool holds for all of it. Nothing, where its
    /// plans are whatever the caller names.
    const DEEDS: &'static [Deed];
    /// Works out what would be sent. Everything that can be refused beforehand is refused here.
    fn plan(self, cx: &Context) -> impl Future<Output = Result<Plan, Fault>> + Send;
}

/// A typed answer: its fields are the output schema, its text is what most models read.
pub trait Answer: Serialize + JsonSchema + Send {
    /// Compact, complete enough to act on, a table for lists.
    fn text(&self) -> String;
    /// Pictures that go with it.
    fn images(&self) -> Vec<Image> {
        Vec::new()
    }
}

/// A picture beside an answer's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// A whole PNG file.
    pub png: Vec<u8>,
}

/// An answer ready to leave the house.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// For reading.
    pub text: String,
    /// For programs; matches the tool's output schema.
    pub data: Object,
    /// For looking at.
    pub images: Vec<Image>,
}

impl Rendered {
    /// Both forms of an answer, with what came from guests made harmless.
    pub fn of(answer: &impl Answer) -> Result<Self, Fault> {
        let Ok(Value::Object(data)) = serde_json::to_value(answer) else {
            return Err(Fault::new(Kind::Internal, "an answer that is no object"));
        };
        Ok(Self::new(&answer.text(), data, answer.images()))
    }

    /// The same from its parts.
    pub(crate) fn new(text: &str, mut data: Object, images: Vec<Image>) -> Self {
        crate::clean::object(&mut data);
        let text = crate::clean::text(text);
        Self { text, data, images }
    }
}

/// What running a tool gives.
pub enum Ran {
    /// A read's answer.
    Answer(Rendered),
    /// A change's plan.
    Plan(Box<Plan>),
}

/// A method of PVE's API.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiMethod {
    /// Its verb.
    pub method: pve::Method,
    /// Its path, with `{parameters}` in it.
    pub path: String,
    /// The other parameters that can be sent with it.
    pub params: Vec<ApiParam>,
}

/// A parameter of such a method.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiParam {
    /// As PVE calls it.
    pub name: &'static str,
    /// What the tool takes for it, as JSON schema.
    pub takes: Value,
    /// Whether it goes along with every call.
    pub always: bool,
}

/// A tool of either shape, as the registry holds it.
pub trait Tool: Send + Sync {
    /// Its declaration.
    fn spec(&self) -> &Spec;
    /// The schema of its own arguments, description included, cleaned.
    fn input(&self) -> Object;
    /// The schema of its answer, cleaned.
    fn output(&self) -> Object;
    /// What counts as doing what it does, if it has code of its own.
    fn deeds(&self) -> &'static [Deed] {
        &[]
    }
    /// What it is.
    fn nature(&self) -> Nature<'_> {
        Nature::Thinks
    }
    /// Parses the arguments and runs it.
    fn run<'a>(&'a self, args: Object, cx: &'a Context) -> BoxFuture<'a, Result<Ran, Fault>>;
}

/// What a tool is; one of these.
#[derive(Clone, Copy)]
pub enum Nature<'a> {
    /// It has code of its own.
    Thinks,
    /// It is a method of PVE's API, or several of one form, and nothing more.
    Method(&'a Plain),
    /// It is another name of this tool.
    AliasOf(&'static dyn Tool),
    /// It hands on calls of other tools.
    Relays,
}

impl dyn Tool + '_ {
    /// The declaration of the method that it is, if it is that and nothing more.
    pub(crate) fn plain(&self) -> Option<&Plain> {
        match self.nature() {
            Nature::Method(plain) => Some(plain),
            _ => None,
        }
    }

    /// The methods of PVE's API that it is, if it is that and nothing more.
    pub fn methods(&self) -> Vec<ApiMethod> {
        self.plain().map(Plain::methods).unwrap_or_default()
    }

    /// Its arguments, each with what PVE calls it, if it is a method and nothing more.
    pub fn sent_as(&self) -> Vec<(&'static str, &'static str)> {
        self.plain().map(Plain::sent_as).unwrap_or_default()
    }

    /// The arguments of which an empty text takes away what is there, and does not count as left out.
    pub(crate) fn empties(&self) -> Vec<&'static str> {
        self.plain().map(Plain::emptied).unwrap_or_default()
    }

    /// The tool that it is another name of.
    pub fn alias_of(&self) -> Option<&'static dyn Tool> {
        match self.nature() {
            Nature::AliasOf(tool) => Some(tool),
            _ => None,
        }
    }

    /// The privileges that its calls take.
    pub fn needs(&self) -> Need {
        match self.nature() {
            Nature::AliasOf(tool) => tool.needs(),
            // PVE shows what there is to see, if only nothing, and the answer names what is missing.
            Nature::Method(plain) if plain.is_filtered() => Need::Nothing,
            _ => self.spec().needs,
        }
    }

    /// The least that it does: whoever may not even do that has no use for it.
    pub fn least_risk(&self) -> Risk {
        match self.nature() {
            Nature::Relays => Risk::Read,
            Nature::Method(plain) => plain.least_risk(),
            Nature::AliasOf(tool) => tool.least_risk().min(self.spec().risk),
            Nature::Thinks if self.spec().special.always => self.spec().risk,
            Nature::Thinks => self.spec().risk.min(Risk::Change),
        }
    }

    /// Whether it only hands on calls of other tools.
    pub fn relays(&self) -> bool {
        matches!(self.nature(), Nature::Relays)
    }
}

/// A [`Reads`] as a [`Tool`].
pub struct Read<T>(PhantomData<fn() -> T>);

/// A [`Changes`] as a [`Tool`].
pub struct Change<T>(PhantomData<fn() -> T>);

impl<T> Read<T> {
    /// For the static slice of an area.
    pub const NEW: Self = Self(PhantomData);
}

impl<T> Change<T> {
    /// For the static slice of an area.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: Reads> Tool for Read<T> {
    fn spec(&self) -> &Spec {
        const { &T::SPEC }
    }

    fn input(&self) -> Object {
        schema::input::<T>()
    }

    fn output(&self) -> Object {
        schema::output::<T::Answer>()
    }

    fn run<'a>(&'a self, args: Object, cx: &'a Context) -> BoxFuture<'a, Result<Ran, Fault>> {
        Box::pin(async move {
            let tool: T = schema::parse(args)?;
            Ok(Ran::Answer(Rendered::of(&tool.read(cx).await?)?))
        })
    }
}

impl<T: Changes> Tool for Change<T> {
    fn spec(&self) -> &Spec {
        const { &T::SPEC }
    }

    fn input(&self) -> Object {
        schema::input::<T>()
    }

    fn output(&self) -> Object {
        schema::output::<Outcome>()
    }

    fn deeds(&self) -> &'static [Deed] {
        T::DEEDS
    }

    fn run<'a>(&'a self, args: Object, cx: &'a Context) -> BoxFuture<'a, Result<Ran, Fault>> {
        Box::pin(async move {
            let tool: T = schema::parse(args)?;
            let mut plan = tool.plan(cx).await?;
            cx.settle(&mut plan).await?;
            Ok(Ran::Plan(Box::new(plan)))
        })
    }
}
