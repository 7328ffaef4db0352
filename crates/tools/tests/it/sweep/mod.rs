//! One rule each, held over every tool there is, from the tools' own examples on the demo world.

mod arguments;
mod asked;
mod audit;
mod core_undo;
mod dangers;
mod declared;
mod deeds;
mod echo;
mod examples;
mod faults;
pub(crate) mod full;
mod hints;
mod hostile;
mod login;
mod made_roles;
mod matrix;
mod needs;
mod nonsense;
mod privileges;
mod protected;
mod raw;
mod reference;
mod roles;
mod scopes;
mod seeds;
mod silent;
mod takes;
mod undone;
mod versions;
mod wants;

use tools::registry;
use tools::spec::{Risk, Wants};
use tools::tool::{Ran, Tool};

use crate::house::{House, object};

/// Every tool that works with a token on the demo world, with each of its examples.
pub(crate) fn examples() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    every_example().filter(|(tool, _)| tool.spec().special.wants.is_empty())
}

/// Those that need a login and no more, for which [`login`] holds the rules.
fn login_examples() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    every_example().filter(|(tool, _)| tool.spec().special.wants == [Wants::Login])
}

/// Whether all tools are looked at.
fn all_of_them() -> bool {
    std::env::var_os("OXMOX_TOOLSET").is_none()
}

/// With OXMOX_TOOLSET set, of that toolset only: who writes a toolset need not wait for all the others.
fn every_example() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    let only = std::env::var("OXMOX_TOOLSET").ok();
    let wanted = move |tool: &&dyn Tool| {
        let only = only.as_deref();
        only.is_none_or(|only| tool.spec().toolset.word() == only)
    };
    registry::all().filter(wanted).flat_map(|tool| {
        tool.spec()
            .examples
            .iter()
            .map(move |example| (tool, example.args))
    })
}

/// Those that change something.
pub(crate) fn changes() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    examples().filter(|(tool, _)| tool.spec().risk > Risk::Read)
}

/// Whether somebody has to agree to this call: what counts is what these arguments do, not what the tool may do.
pub(crate) async fn asks(house: &House, tool: &'static dyn Tool, args: &str) -> bool {
    match tool.run(object(args), &house.context()).await {
        Ok(Ran::Plan(plan)) => plan.risk() > Risk::Change || plan.raw,
        Ok(Ran::Answer(_)) => false,
        Err(fault) => panic!("{} {args}: {fault}", tool.spec().name),
    }
}
