//! Histories in numbers and as a picture.

use serde_json::Value;

use crate::house::{Furnish, House};

async fn metrics(house: &House, args: &str) -> tools::tool::Rendered {
    house.call("get_proxmox_metrics", args).await.unwrap()
}

fn series<'a>(answer: &'a tools::tool::Rendered, name: &str) -> Option<&'a Value> {
    let rows = answer.data["series"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name)
}

#[tokio::test]
async fn a_guest_has_numbers_and_a_picture() {
    let house = House::new().await;
    let answer = metrics(&house, r#"{"vmid": 100, "timeframe": "day"}"#).await;
    let cpu = series(&answer, "cpu").expect("cpu is recorded");
    let number = |key: &str| cpu[key].as_f64().unwrap();
    assert!(number("min") < number("average") && number("average") < number("max"));
    assert_eq!(series(&answer, "mem").unwrap()["trend"], "steady");
    assert!(
        series(&answer, "pressureiosome").is_some(),
        "PVE 9 records it"
    );
    assert_eq!(
        (
            answer.data["samples"].as_u64(),
            answer.data["step"].as_u64()
        ),
        (Some(1440), Some(60))
    );
    let [image] = answer.images.as_slice() else {
        panic!("no picture")
    };
    assert!(image.png.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(image.png.len() < 40_000, "{} bytes", image.png.len());
    if let Some(path) = std::env::var_os("OXMOX_SHOW_CHART") {
        std::fs::write(path, &image.png).unwrap();
    }
}

#[tokio::test]
async fn pve_8_records_less_and_coarser() {
    let mut furnish = Furnish::default();
    furnish.world.version = "8.4.1".to_owned();
    let house = House::furnished(furnish).await;
    let answer = metrics(&house, r#"{"vmid": 100, "timeframe": "day"}"#).await;
    assert_eq!(answer.data["step"], 1800);
    assert!(series(&answer, "cpu").is_some() && series(&answer, "pressureiosome").is_none());
}

#[tokio::test]
async fn a_gap_is_told_and_not_taken_for_zero() {
    let house = House::new().await;
    house.sim.world(|world| {
        let (now, pid) = (world.now, world.new_pid());
        let guest = world.guests.get_mut(&105).unwrap();
        guest.start(now - std::time::Duration::from_mins(30), pid);
    });
    let answer = metrics(&house, r#"{"vmid": 105, "timeframe": "hour"}"#).await;
    let gaps = answer.data["gaps"].as_u64().unwrap();
    assert!((28..=31).contains(&gaps), "{}", answer.text);
    assert!(answer.text.contains("without figures"), "{}", answer.text);
    assert!(series(&answer, "cpu").unwrap()["min"].as_f64().unwrap() > 0.0);
}

#[tokio::test]
async fn a_guest_that_never_ran_has_no_figures_and_says_so() {
    let house = House::new().await;
    let answer = metrics(&house, r#"{"vmid": 103, "timeframe": "hour"}"#).await;
    assert!(series(&answer, "cpu").is_none(), "{}", answer.text);
    assert!(
        answer.data["gaps"].as_u64().unwrap() == 60,
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn nodes_and_storages_have_histories_too() {
    let house = House::new().await;
    let node = metrics(
        &house,
        r#"{"node": "pve1", "timeframe": "week", "function": "max"}"#,
    )
    .await;
    assert!(series(&node, "memused").is_some() && series(&node, "loadavg").is_some());
    let shared = metrics(&house, r#"{"storage": "nas", "chart": false}"#).await;
    assert!(series(&shared, "used").is_some() && shared.images.is_empty());
    let local = metrics(&house, r#"{"storage": "local-lvm", "node": "pve2"}"#).await;
    assert_eq!(local.data["object"], "storage local-lvm on pve2");
}

#[tokio::test]
async fn wrong_arguments_say_what_is_right() {
    let house = House::new().await;
    for (wrong, right) in [
        ("{}", "send vmid, node or storage"),
        (r#"{"vmid": 100, "storage": "nas"}"#, "send one of"),
        (
            r#"{"storage": "local-lvm"}"#,
            "send node too: pve1, pve2 and pve3",
        ),
        (r#"{"storage": "nope"}"#, "list_proxmox_resources"),
        (r#"{"vmid": 4711}"#, "list_proxmox_resources"),
        (r#"{"vmid": 100, "timeframe": "decade"}"#, "year"),
    ] {
        let fault = house.call("get_proxmox_metrics", wrong).await.unwrap_err();
        assert!(fault.to_string().contains(right), "{wrong}: {fault}");
    }
}
