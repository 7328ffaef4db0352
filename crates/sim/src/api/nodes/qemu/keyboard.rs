//! `sendkey`: keys for a machine's keyboard.

use crate::api::nodes::guest::{free_now, only_root};
use crate::call::Call;
use crate::error::{ApiError, Reply, done};
use crate::permission::Perm;
use crate::route::{Route, put};
use crate::schema::common::{NODE, SKIPLOCK, VMID};
use crate::schema::text;
use crate::world::guest::Kind::Qemu;
use crate::world::{World, keys};

/// The route of the keyboard.
pub const ROUTES: &[Route] = &[put("/nodes/{node}/qemu/{vmid}/sendkey", send)
    .allow(Perm::On("/vms/{vmid}", &["VM.Console"]))
    .proxied()
    .params(&[NODE, VMID, SKIPLOCK, text("key")])];

fn send(world: &mut World, call: &Call) -> Reply {
    only_root(call, &["skiplock"])?;
    let vmid = call.vmid();
    free_now(world, Qemu, vmid)?;
    world.need_guest(Qemu, call.node(), vmid)?;
    let machine = world.guest_mut(Qemu, call.node(), vmid);
    let Some(machine) = machine.filter(|machine| machine.is_running()) else {
        return Err(ApiError::fail(format!("VM {vmid} not running")));
    };
    let combination = call.text("key").unwrap_or_default();
    // QEMU's text ends with a carriage return, which PVE cannot put into an answer.
    let names = keys::parse(combination).map_err(|text| ApiError::fail(text + "\r"))?;
    machine.keys.push(combination.to_owned());
    machine.press_together(&names, call.now);
    done()
}
