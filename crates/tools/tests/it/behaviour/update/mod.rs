//! update_proxmox_vm: what is shown, what is sent, what is read back, and what is refused.

mod cloudinit;
mod disks;
mod meanwhile;
mod refused;
mod shown;
mod undo;
mod values;

use crate::house::{House, Nobody, call, done};
use serde_json::Value;

const UPDATE: &str = "update_proxmox_vm";

/// The preview of a call.
async fn preview(house: &House, args: &Value) -> tools::tool::Rendered {
    let mut call = call(UPDATE, &args.to_string());
    call.preview = true;
    done(house.engine.call(call, &Nobody).await).unwrap_or_else(|fault| panic!("{args}: {fault}"))
}

/// The risk of a call on the demo world.
async fn risk(args: Value) -> String {
    let house = House::new().await;
    preview(&house, &args).await.data["risk"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn apply(house: &House, args: &Value) -> tools::tool::Rendered {
    house
        .call(UPDATE, &args.to_string())
        .await
        .unwrap_or_else(|fault| panic!("{args}: {fault}"))
}

async fn refused(house: &House, args: Value) -> tools::fault::Fault {
    house.call(UPDATE, &args.to_string()).await.unwrap_err()
}

/// What the guest's configuration says of a key, now.
fn set_now(house: &House, vmid: u32, key: &str) -> Option<String> {
    house
        .sim
        .world(|world| world.guests[&vmid].config.get(key).map(str::to_owned))
}

/// What of it waits for a restart.
fn pending(house: &House, vmid: u32) -> Vec<String> {
    house
        .sim
        .world(|world| world.guests[&vmid].pending.keys().cloned().collect())
}

/// The configuration without what only tells its history.
fn config_of(house: &House, vmid: u32) -> Vec<(String, String)> {
    house.sim.world(|world| {
        let config = &world.guests[&vmid].config;
        config
            .iter()
            .map(|(key, value)| (key.to_owned(), value.trim_end().to_owned()))
            .collect()
    })
}

fn sent(house: &House) -> String {
    let requests = house.sim.requests();
    let write = requests.iter().rfind(|request| request.method != "GET");
    format!("{:?}", write.expect("something was sent"))
}
