//! One rule each, held over every tool there is, from the tools' own examples on the demo world.

mod arguments;
mod audit;
mod declared;
mod examples;
mod faults;
mod full;
mod hints;
mod hostile;
mod login;
mod nonsense;
mod privileges;
mod protected;
mod reference;
mod seeds;
mod silent;
mod undone;
mod versions;

use tools::registry;
use tools::spec::Risk;
use tools::tool::{Ran, Tool};

use crate::house::{House, object};

/// Tools that work only for who logs in with a password. PVE lets no token into a terminal, change a password
/// or see ACME accounts, and the sweeps use one: [`login`] holds the rules over these.
const WITH_LOGIN: &[&str] = &[
    "read_vm_terminal",
    "send_vm_terminal_line",
    "change_password",
    "create_ceph_osd",
    "get_acme_account",
    "register_acme_account",
];

/// Tools for what PVE 9 has no more, which is what the demo world is: tests of their own use an older one.
const BEFORE_9: &[&str] = &[
    "list_ha_groups",
    "get_ha_group",
    "create_ha_group",
    "update_ha_group",
    "delete_ha_group",
];

/// Tools for what takes CRIU, which PVE does not install: tests of their own have it.
const WITH_CRIU: &[&str] = &["suspend_container", "resume_container"];

/// Tools for a node that is in no cluster: tests of their own have one.
const ALONE: &[&str] = &["join_cluster"];

/// Every tool that works with a token on the demo world, with each of its examples.
pub(crate) fn examples() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    every_example().filter(|(tool, _)| {
        let name = &tool.spec().name;
        let elsewhere = [WITH_LOGIN, BEFORE_9, WITH_CRIU, ALONE];
        !elsewhere.iter().any(|names| names.contains(name))
    })
}

/// Those that need a login.
fn login_examples() -> impl Iterator<Item = (&'static dyn Tool, &'static str)> {
    every_example().filter(|(tool, _)| WITH_LOGIN.contains(&tool.spec().name))
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
        Ok(Ran::Plan(plan)) => plan.risk > Risk::Change,
        Ok(Ran::Answer(_)) => false,
        Err(fault) => panic!("{} {args}: {fault}", tool.spec().name),
    }
}
