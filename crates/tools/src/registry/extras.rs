//! The arguments that the engine reads itself: added to a tool's own where it is described, taken out where it is called.

use std::time::Duration;

use serde_json::{Value, json};

use super::Registry;
use crate::claim::Claim;
use crate::fault::Fault;
use crate::schema;
use crate::spec::Risk;
use crate::tool::{Object, Tool};

/// How long a change is waited for if the caller does not say; common clients give up at 60 s.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(40);
const LONGEST_WAIT: u64 = 600;

/// The arguments that the engine reads itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extras {
    /// The configured cluster that the call is for, by its name.
    pub cluster: Option<String>,
    /// The same by one of its addresses, or its name.
    pub host: Option<String>,
    /// How long the caller wants to wait; `None` if it did not say.
    pub wait: Option<Duration>,
    /// A confirm value from an earlier answer.
    pub confirm: Option<String>,
    /// What the caller says of the guest, on tools that do not list it.
    pub claim: Claim,
}

impl Registry {
    /// The properties that the engine adds to a tool's own.
    pub(super) fn engine_arguments(&self, tool: &dyn Tool) -> Object {
        let spec = tool.spec();
        let mut added = Object::new();
        let mut add = |name: &str, schema: Value| added.insert(name.to_owned(), schema);
        for argument in spec.special.inherited {
            add(argument.name(), argument.schema());
        }
        if self.clusters.len() > 1 {
            add(
                "cluster",
                json!({
                    "type": "string", "enum": self.clusters,
                    "description": "The cluster; needed where several have the guest or node.",
                }),
            );
        }
        if tool.relays() {
            return added;
        }
        if spec.risk > Risk::Read {
            add(
                "wait",
                json!({
                    "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT, "default": DEFAULT_WAIT.as_secs(),
                    "description": "Seconds; the work goes on.",
                }),
            );
        }
        if spec.risk > Risk::Change {
            add(
                "confirm",
                json!({
                    "type": "string",
                    "description": "From the answer that asked.",
                }),
            );
        }
        added
    }

    /// Checks arguments against the tool's schema, and takes the engine's own out of them.
    pub fn split(&self, tool: &dyn Tool, mut args: Object) -> Result<(Object, Extras), Fault> {
        let described = self.describe(tool);
        let mut extras = Extras {
            claim: Claim::take(&mut args, &described.input, tool.spec().special.inherited)?,
            ..Extras::default()
        };
        let spec = tool.spec();
        if spec.special.takes_host() {
            extras.host = schema::unlisted(&mut args, "host")?;
        }
        // The same where there is one cluster: it must be that one.
        let lists = |name: &str| described.input["properties"].get(name).is_some();
        if !lists("cluster") {
            extras.cluster = schema::unlisted(&mut args, "cluster")?;
        }
        // A rule may have a question asked about what needs none otherwise, so that nobody is told of it beforehand.
        if spec.risk == Risk::Change {
            extras.confirm = schema::one("confirm", args.remove("confirm"), &Value::Null)?;
        }
        schema::known(&args, &described.input)?;
        if spec.toolset.is_inherited() {
            // The engine's own arguments are nobody else's.
            schema::drop_blanks(&mut args, &tool.input(), &tool.empties());
        }
        schema::coerce(&mut args, &described.input)?;
        let property = |name: &str| &described.input["properties"][name];
        let text =
            |args: &mut Object, name: &str| schema::one(name, args.remove(name), property(name));
        if self.clusters.len() > 1 {
            extras.cluster = text(&mut args, "cluster")?;
        }
        if spec.risk > Risk::Change {
            extras.confirm = text(&mut args, "confirm")?;
        }
        if spec.risk > Risk::Read {
            let wait = schema::one("wait", args.remove("wait"), property("wait"))?;
            extras.wait = wait.map(Duration::from_secs);
        }
        Ok((args, extras))
    }
}
