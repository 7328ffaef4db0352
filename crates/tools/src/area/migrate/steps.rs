//! What is sent: one request, or for a VM that goes down meanwhile three.

use pve::{GuestKind, GuestRef, Request};
use serde_json::json;

use super::route::Route;
use crate::area::power::{shutdown_step, start_step};
use crate::plan::{Check, Expect, Step, Trace};

/// The steps of a migration. A container is taken down and started by PVE itself; a VM by steps of its own.
pub(super) fn of(route: &Route<'_>) -> Vec<Step> {
    let guest = &route.scene.guest;
    let there = GuestRef {
        node: route.node.name.clone(),
        ..guest.at.clone()
    };
    if !route.how.restart || guest.at.kind == GuestKind::Lxc {
        return vec![migrate(route, &there, route.scene.state.running)];
    }
    vec![
        shutdown_step(guest, &route.scene.state).prepares(),
        migrate(route, &there, false).group(1),
        start_step(&there, guest.name(), route.scene.state.managed).group(2),
    ]
}

/// The migration itself, of a guest that then runs or does not.
fn migrate(route: &Route<'_>, there: &GuestRef, running: bool) -> Step {
    let (guest, how) = (&route.scene.guest, route.how);
    let (at, label, target) = (&guest.at, guest.label(), &there.node);
    let request = Request::post(at.path("migrate")).with("target", target.clone());
    let (request, task) = match at.kind {
        GuestKind::Qemu => (
            request
                .maybe("online", how.live.then_some(true))
                .maybe(
                    "with-local-disks",
                    (how.live && how.local_disks).then_some(true),
                )
                .maybe("targetstorage", how.storage.clone()),
            "qmigrate",
        ),
        GuestKind::Lxc => (
            request
                .maybe("restart", how.restart.then_some(true))
                .maybe("target-storage", how.storage.clone()),
            "vzmigrate",
        ),
    };
    let state = if running { "running" } else { "stopped" };
    let is = |at: &GuestRef, says: String| {
        let expect = vec![Expect::Is("status".to_owned(), json!(state))];
        Check::guest(at, "status/current", says, expect)
    };
    Step::request(format!("Migrate {label} to {target}"), request)
        .task(Trace {
            node: at.node.clone(),
            vmid: Some(at.vmid),
            types: vec![task.to_owned(), "hamigrate".to_owned()],
        })
        .after(
            is(there, format!("{label} is on {target} and {state}"))
                .settles(route.scene.state.managed),
        )
        .otherwise(is(
            at,
            format!("{label} is still on {} and {state}", at.node),
        ))
}
