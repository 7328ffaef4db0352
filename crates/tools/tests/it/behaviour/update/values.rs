//! Values in every spelling: what PVE writes otherwise is still what was asked for, and what it cannot be is refused.

use serde_json::{Value, json};
use tools::policy::Mode;

use super::{apply, preview, refused, set_now};
use crate::house::House;

/// What the setting is afterwards, however it was sent.
async fn set(house: &House, vmid: u32, key: &str, value: Value) -> String {
    apply(house, &json!({"vmid": vmid, "set": {key: value}})).await;
    set_now(house, vmid, key).unwrap_or_default()
}

#[tokio::test]
async fn a_card_is_done_in_every_spelling() {
    let mac = "BC:24:11:AA:BB:CC";
    for sent in [
        format!("model=e1000,macaddr={mac},bridge=vmbr0"),
        format!("macaddr={mac},bridge=vmbr0,model=e1000"),
        format!("e1000={},bridge=vmbr0", mac.to_lowercase()),
    ] {
        let house = House::in_mode(Mode::Trusted).await;
        let kept = set(&house, 103, "net1", json!(sent)).await;
        assert!(
            kept.to_uppercase().starts_with(&format!("E1000={mac}")),
            "{kept}"
        );
        let again = json!({"vmid": 103, "set": {"net1": sent}});
        let again = apply(&house, &again).await;
        assert!(again.text.contains("nothing to do"), "{}", again.text);
    }
    let house = House::in_mode(Mode::Trusted).await;
    let kept = set(&house, 103, "net1", json!("model=e1000,bridge=vmbr0")).await;
    assert!(kept.starts_with("e1000=BC:24:11:"), "{kept}");
}

#[tokio::test]
async fn memory_is_a_whole_number_in_every_spelling() {
    for sent in [json!(4096), json!(4096.0), json!("4096.0"), json!(" 4096 ")] {
        let house = House::in_mode(Mode::Trusted).await;
        assert_eq!(
            set(&house, 105, "memory", sent.clone()).await,
            "4096",
            "{sent}"
        );
    }
}

#[tokio::test]
async fn an_empty_drive_is_one_in_every_spelling() {
    let house = House::in_mode(Mode::Trusted).await;
    for sent in ["none,media=cdrom", "none", "file=none"] {
        let kept = set(&house, 103, "ide2", json!(sent)).await;
        assert_eq!(kept, "none,media=cdrom", "{sent}");
    }
    assert_eq!(house.writes().len(), 1, "{:?}", house.writes());
}

#[tokio::test]
async fn tags_are_separated_by_anything() {
    for sent in [json!("b\na"), json!("b, a\tb"), json!(["b", "A", "a"])] {
        let house = House::in_mode(Mode::Trusted).await;
        assert_eq!(
            set(&house, 103, "tags", sent.clone()).await,
            "a;b",
            "{sent}"
        );
    }
}

#[tokio::test]
async fn a_list_of_devices_is_a_boot_order() {
    let house = House::in_mode(Mode::Trusted).await;
    let kept = set(&house, 100, "boot", json!(["net0", "scsi0"])).await;
    assert!(
        kept == "order=net0;scsi0"
            || house.sim.world(|world| {
                world.guests[&100]
                    .pending
                    .get("boot")
                    .cloned()
                    .flatten()
                    .as_deref()
                    == Some("order=net0;scsi0")
            }),
        "{kept}"
    );
}

#[tokio::test]
async fn what_a_setting_cannot_be_is_refused_with_what_it_can() {
    let house = House::in_mode(Mode::Trusted).await;
    for (set, said) in [
        (json!({"cores": 2.9}), "send a whole number, at least 1"),
        (json!({"cores": 0}), "send a whole number, at least 1"),
        (json!({"cores": [2]}), "send a whole number"),
        (json!({"cpuunits": 300_000}), "1 to 262144"),
        (json!({"memory": 8}), "at least 16"),
        (json!({"memory": 4096.5}), "send a whole number"),
        (json!({"memory": "+2048"}), "not what to add"),
        (json!({"cores": "+2"}), "not what to add"),
        (json!({"memory": []}), "it is no list"),
        (json!({"net0": []}), "it is no list"),
        (json!({"net0": ""}), "name it in delete"),
        (json!({"tags": []}), "name it in delete"),
        (json!({"boot": [null]}), r#"boot: ["scsi0", "net0"]"#),
        (
            json!({"boot": ["order=scsi0"]}),
            r#"boot: ["scsi0", "net0"]"#,
        ),
        (json!({"boot": [""]}), r#"boot: ["scsi0", "net0"]"#),
        (
            json!({"cdrom": "none", "ide2": "none"}),
            "are the same setting",
        ),
        (json!({"ciuser": "root\nx"}), "as one line"),
        (json!({"cipassword": "a\nb"}), "as one line"),
        (json!({"name": "a\rb"}), "as one line"),
        (
            json!({"scsi1": "local-lvm:99999999999999"}),
            "larger than any",
        ),
        (
            json!({"scsi1": "local-lvm:9999999999999999999999"}),
            "larger than any",
        ),
    ] {
        let fault = refused(&house, json!({"vmid": 105, "set": set})).await;
        assert!(fault.to_string().contains(said), "{set}: {fault}");
    }
    let grow = json!({"vmid": 105, "grow": {"scsi0": "99999999999G"}});
    refused(&house, grow).await;
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn more_than_the_node_has_is_said() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = json!({"vmid": 105, "set": {"memory": 99_999_999_999_u64, "cores": 1_000_000_000}});
    let shown = preview(&house, &args).await;
    let warnings = shown.data["warnings"].to_string();
    assert!(warnings.contains("of memory in all"), "{warnings}");
    assert!(warnings.contains("CPUs"), "{warnings}");
}

#[tokio::test]
async fn lines_are_kept_where_there_may_be_lines() {
    let house = House::in_mode(Mode::Trusted).await;
    let kept = set(&house, 103, "description", json!("one\ntwo")).await;
    assert_eq!(kept.trim_end(), "one\ntwo");
}
