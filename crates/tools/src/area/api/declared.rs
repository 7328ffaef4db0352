//! Declared tools whose method a request is sent to.

use std::sync::Arc;

use pve::apidoc::Found;
use pve::{Method, Request};

use crate::context::{Cluster, Context};
use crate::deed::fits;
use crate::fault::Fault;
use crate::plan::Plan;
use crate::registry;
use crate::spec::Risk;
use crate::tool::{Object, Plain, Ran, Tool};

/// A declared tool that is the method of a request, and its arguments for it.
pub(super) struct Declared {
    tool: &'static dyn Tool,
    arguments: Object,
}

impl Declared {
    /// The tool that takes every parameter of the request; `None` where there is none.
    pub(super) fn of(found: &Found<'_>, request: &Request) -> Option<Self> {
        registry::all().find_map(|tool| {
            let plain = tool.plain().filter(|plain| plain.changes())?;
            let (arguments, left) = plain.arguments_of(found, request)?;
            let takes_all = left.is_empty() && plain.accepts(&arguments);
            takes_all.then_some(Self { tool, arguments })
        })
    }

    /// The tool's plan, by the name of the tool that was called.
    pub(super) async fn plan(self, cx: &Context, found: &Found<'_>) -> Result<Plan, Fault> {
        let cx = Context {
            claim: super::coded::claim(found),
            ..cx.clone()
        };
        match self.tool.run(self.arguments, &cx).await? {
            Ran::Plan(plan) => Ok(plan.called(super::write::NAME)),
            Ran::Answer(_) => Err(Fault::bad_input(format!(
                "{} changes nothing",
                found.method
            ))),
        }
    }
}

/// The declared tool that changes something by this method, whatever its parameters.
pub(super) fn of_method(verb: Method, template: &str) -> Option<&'static str> {
    let mut changes = registry::all().filter(|tool| tool.plain().is_some_and(Plain::changes));
    let is_it = |tool: &&dyn Tool| {
        let mut methods = tool.methods().into_iter();
        methods.any(|it| it.method == verb && fits(template, &it.path))
    };
    changes.find(is_it).map(|tool| tool.spec().name)
}

/// Makes a plan one about the guests from which the request takes a storage, though no tool takes all of its parameters.
pub(super) async fn bind_stranded(
    cluster: &Arc<Cluster>,
    (found, request): (&Found<'_>, &Request),
    plan: &mut Plan,
) -> Result<(), Fault> {
    for plain in registry::all().filter_map(|tool| tool.plain()) {
        if let Some((arguments, _)) = plain.arguments_of(found, request) {
            plain
                .bind_stranded(&arguments, cluster, Risk::Destroy, plan)
                .await?;
        }
    }
    Ok(())
}
