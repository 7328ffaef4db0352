//! What changed behind one's back.

use sim::world::guest::{Guest, Kind};
use tools::baseline::{Baseline, DEFAULT};

use crate::house::{House, object};

/// A house whose estate was saved as it is.
async fn saved() -> House {
    let house = House::new().await;
    let taken = Baseline::take(house.engine.clusters(), 1_800_000_000, &|_, _| {}).await;
    let store = house.engine.store().await.unwrap();
    store.keep_baseline(DEFAULT, &taken.unwrap()).await.unwrap();
    house
}

/// Guests that differ, as "state vmid: what".
async fn drift(house: &House, args: &str) -> Vec<String> {
    let answer = house.call("get_proxmox_drift", args).await.unwrap();
    let rows = answer.data["guests"].as_array().unwrap();
    rows.iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap_or_default();
            format!("{} {}: {}", text("state"), row["vmid"], text("what"))
        })
        .collect()
}

#[tokio::test]
async fn without_a_baseline_it_says_who_saves_one() {
    let house = House::new().await;
    let answer = house.call("get_proxmox_drift", "{}").await.unwrap();
    assert!(
        answer.text.contains("oxmox baseline save"),
        "{}",
        answer.text
    );
    assert!(!answer.data.contains_key("taken"));
}

#[tokio::test]
async fn an_untouched_estate_does_not_drift() {
    let house = saved().await;
    assert_eq!(drift(&house, "{}").await, [""; 0]);
    let answer = house.call("get_proxmox_drift", "{}").await.unwrap();
    assert_eq!(
        answer.text,
        "nothing differs from the baseline of 2027-01-15T08:00:00Z\n"
    );
}

#[tokio::test]
async fn new_missing_changed_moved_and_replaced_guests_are_told_apart() {
    let house = saved().await;
    house.sim.world(|world| {
        let copy = world.guests[&105].config.clone();
        let guest = Guest::new(777, Kind::Qemu, "pve2", copy);
        world.guests.insert(777, guest);
        world.guests.remove(&110);
        let guest = |world: &mut sim::World, vmid: u32| world.guests.remove(&vmid).unwrap();
        let mut web = guest(world, 100);
        web.config.set("memory", "8192".to_owned());
        web.config
            .set("description", "now with a secret: hunter2".to_owned());
        world.guests.insert(100, web);
        let mut mail = guest(world, 102);
        mail.node = "pve1".to_owned();
        world.guests.insert(102, mail);
        let mut staging = guest(world, 105);
        staging.config.set(
            "smbios1",
            "uuid=11111111-0000-4000-8000-000000000000".to_owned(),
        );
        world.guests.insert(105, staging);
    });
    let rows = drift(&house, "{}").await;
    assert_eq!(rows.len(), 5, "{rows:#?}");
    assert!(
        rows[0].starts_with("replaced 105: its smbios uuid was "),
        "{rows:#?}"
    );
    assert_eq!(rows[1], "missing 110: was on pve2");
    assert_eq!(rows[2], "new 777: on pve2");
    assert!(
        rows[3].contains("changed 100: description text of ")
            && rows[3].contains("memory 4096 -> 8192"),
        "{rows:#?}"
    );
    assert!(!rows[3].contains("hunter2"), "{rows:#?}");
    assert_eq!(rows[4], "changed 102: node pve2 -> pve1");
    let prod = drift(&house, r#"{"filter": "tag:web"}"#).await;
    assert_eq!(prod, rows[3..4], "{prod:#?}");
}

/// A rollback gives a VM a new generation id, and its old settings; it stays the same guest.
#[tokio::test]
async fn a_rolled_back_guest_is_changed_and_not_replaced() {
    let house = saved().await;
    house.sim.world(|world| {
        let guest = world.guests.get_mut(&100).unwrap();
        guest
            .config
            .set("vmgenid", "22222222-0000-4000-8000-000000000000".to_owned());
    });
    let rows = drift(&house, "{}").await;
    assert!(rows[0].starts_with("changed 100: vmgenid "), "{rows:?}");
}

#[tokio::test]
async fn secrets_are_not_kept() {
    let house = House::new().await;
    house.sim.world(|world| {
        for guest in world.guests.values_mut() {
            guest.config.set("cipassword", "hunter2".to_owned());
            guest
                .config
                .set("description", "root password: hunter2".to_owned());
        }
    });
    let taken = Baseline::take(house.engine.clusters(), 1, &|_, _| {})
        .await
        .unwrap();
    let text = serde_json::to_string(&taken).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("cipassword"));
}

#[tokio::test]
async fn what_cannot_be_compared_is_said() {
    let house = saved().await;
    house.sim.set_online("pve3", false);
    let answer = house.call("get_proxmox_drift", "{}").await.unwrap();
    assert_eq!(answer.data["total"], 0, "{}", answer.text);
    assert!(
        answer.text.contains("not compared: offline: pve3"),
        "{}",
        answer.text
    );
}

/// A guest that the token may not see is not called missing.
#[tokio::test]
async fn a_hidden_guest_is_not_missing() {
    let house = House::new().await;
    house.sim.world(|world| {
        world.add_token("narrow@pve!t", "secret");
        world.grant("narrow@pve", "/vms/100", &["VM.Audit"]);
    });
    let taken = Baseline::take(house.engine.clusters(), 1, &|_, _| {})
        .await
        .unwrap();
    let narrow = ("narrow@pve".to_owned(), "t".to_owned(), "secret".to_owned());
    let engine = house.with_token(&narrow, tools::policy::Policy::default());
    engine
        .store()
        .await
        .unwrap()
        .keep_baseline(DEFAULT, &taken)
        .await
        .unwrap();
    let call = tools::engine::Call::new("get_proxmox_drift", object("{}"), "test");
    let answer = crate::house::done(engine.call(call, &crate::house::Nobody).await).unwrap();
    assert_eq!(answer.data["total"], 0, "{}", answer.text);
    assert!(
        answer.text.contains("the token lacks VM.Audit on /vms"),
        "{}",
        answer.text
    );
}

/// Names and places are compared for all, settings for as many as one call may ask about, and the rest is said.
#[tokio::test]
async fn a_fleet_is_compared_in_bounds() {
    let furnish = crate::house::Furnish {
        world: sim::worlds::fleet(600),
        ..crate::house::Furnish::default()
    };
    let house = House::furnished(furnish).await;
    let taken = Baseline::take(house.engine.clusters(), 1_800_000_000, &|_, _| {}).await;
    let store = house.engine.store().await.unwrap();
    store.keep_baseline(DEFAULT, &taken.unwrap()).await.unwrap();
    house.sim.world(|world| {
        for guest in world.guests.values_mut() {
            let name = match guest.kind {
                Kind::Qemu => "name",
                Kind::Lxc => "hostname",
            };
            guest.config.set(name, format!("renamed-{}", guest.vmid));
        }
    });
    house.sim.clear_requests();
    let answer = house.call("get_proxmox_drift", "{}").await.unwrap();
    assert_eq!(answer.data["total"], 600, "every renamed guest counts");
    assert_eq!(answer.data["guests"].as_array().unwrap().len(), 30);
    assert!(answer.text.len() < 8_000, "{} bytes", answer.text.len());
    let unchecked = answer.data["unchecked"].to_string();
    assert!(unchecked.contains("200 of 600 guests"), "{unchecked}");
    let requests = house.sim.requests();
    let configs = requests.iter().filter(|it| it.path.ends_with("/config"));
    assert_eq!(configs.count(), 200);
}
