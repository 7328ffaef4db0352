//! A person stops everything.

use tools::policy::{Mode, Policy};

use crate::house::{Furnish, House};

#[tokio::test]
async fn a_freeze_stops_everything_and_a_thaw_lets_it_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("frozen");
    let policy = Policy {
        mode: Mode::Trusted,
        freeze: Some(file.clone()),
        ..Policy::default()
    };
    let house = House::furnished(Furnish {
        policy,
        ..Furnish::default()
    })
    .await;
    std::fs::write(&file, "").unwrap();
    let fault = house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("frozen"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
    std::fs::remove_file(&file).unwrap();
    house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
}
