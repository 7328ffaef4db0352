//! Every code has a world where it fires and one where it must not, and what could not be checked says so.

mod asking;
mod guests;
mod hosts;

use std::time::Duration;

use serde_json::Value;
use sim::World;
use sim::world::guest::Kind;
use sim::world::storage::Volume;

use crate::house::{Furnish, House};

const GIB: u64 = 1 << 30;
const DAY: u64 = 86_400;

/// A small cluster in which nothing is found: everything saved, nothing full, nothing old.
fn sound() -> World {
    let mut world = sim::worlds::fleet(4);
    let now = world.now;
    let second = world.nodes["pve01"].clone();
    let second = sim::world::node::Node {
        name: "pve02".to_owned(),
        id: 2,
        ip: "10.0.0.12".to_owned(),
        ..second
    };
    world.nodes.insert("pve02".to_owned(), second);
    let vmids: Vec<u32> = world.guests.keys().copied().collect();
    for vmid in vmids {
        let (kind, ending) = match world.guests[&vmid].kind {
            Kind::Qemu => ("qemu", "vma.zst"),
            Kind::Lxc => ("lxc", "tar.zst"),
        };
        world.volumes.push(backup(
            &format!("local:backup/vzdump-{kind}-{vmid}-2026_11_14-01_00_00.{ending}"),
            vmid,
            now - Duration::from_secs(DAY),
        ));
    }
    world
}

fn backup(volid: &str, vmid: u32, created: sim::Time) -> Volume {
    let image = Volume::image(
        volid.to_owned(),
        Some("pve01".to_owned()),
        vmid,
        "zst",
        GIB,
        created,
    );
    Volume {
        content: "backup".to_owned(),
        ..image
    }
}

async fn house(change: impl FnOnce(&mut World)) -> House {
    let mut world = sound();
    change(&mut world);
    House::furnished(Furnish {
        world,
        ..Furnish::default()
    })
    .await
}

/// The findings of all codes.
fn rows(answer: &tools::tool::Rendered) -> Vec<&Value> {
    let groups = answer.data["codes"].as_array().unwrap().iter();
    groups
        .flat_map(|group| group["findings"].as_array().unwrap())
        .collect()
}

/// What is found with these arguments, as (object, what), and what was not checked.
async fn found(house: &House, args: &str) -> (Vec<(String, String)>, Vec<Value>) {
    let answer = house.call("list_proxmox_findings", args).await.unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = rows(&answer)
        .into_iter()
        .map(|row| (text(&row["object"]), text(&row["what"])))
        .collect();
    let unchecked = answer.data.get("unchecked").and_then(Value::as_array);
    (rows, unchecked.cloned().unwrap_or_default())
}

/// The one finding that a change of the sound world gives, and that it gives no other.
async fn the_one(code: &str, change: impl FnOnce(&mut World)) -> (String, String) {
    let house = house(change).await;
    let (mut all, unchecked) = found(&house, "{}").await;
    assert_eq!(all.len(), 1, "{code}: {all:?}");
    assert!(unchecked.is_empty(), "{unchecked:?}");
    let (of_code, _) = found(&house, &format!(r#"{{"code": "{code}"}}"#)).await;
    assert_eq!(of_code, all, "by its code alone");
    all.remove(0)
}
