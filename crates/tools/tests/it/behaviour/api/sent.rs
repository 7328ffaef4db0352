//! What a call does is told by what is sent, not by how the caller wrote it.

use serde_json::{Value, json};
use sim::Fault;
use tools::policy::{Policy, Rule, Verdict};

use crate::house::{Furnish, House};

const TOOL: &str = "write_proxmox_api";

async fn risk(house: &House, args: &Value) -> String {
    let shown = house.preview(TOOL, &args.to_string()).await;
    let shown = shown.unwrap_or_else(|fault| panic!("{args}: {fault}"));
    shown.data["risk"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_protection_is_taken_off_by_whatever_word() {
    let house = House::new().await;
    let backup = "nas:backup/vzdump-lxc-200-2026_11_13-02_00_01.tar.zst";
    for off in [
        json!(0),
        json!(false),
        json!("off"),
        json!("false"),
        json!("no"),
        json!("0"),
    ] {
        let args = json!({"method": "PUT", "path": format!("/nodes/pve1/storage/nas/content/{backup}"), "params": {"protected": off}});
        assert_eq!(risk(&house, &args).await, "destroy", "{args}");
    }
}

#[tokio::test]
async fn a_null_names_no_guest() {
    let house = House::new().await;
    for (path, params) in [
        ("/nodes/pve1/stopall", json!({"vms": null})),
        (
            "/nodes/pve1/status",
            json!({"command": "reboot", "vmid": null, "vms": null}),
        ),
    ] {
        let args = json!({"method": "POST", "path": path, "params": params});
        let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
        assert!(shown.text.contains("interrupted"), "{args}: {}", shown.text);
    }
}

#[tokio::test]
async fn what_is_unset_is_shown_and_judged_however_it_is_listed() {
    let house = House::new().await;
    for names in [
        json!(["migration", "ha"]),
        json!("migration,ha"),
        json!("migration ha"),
    ] {
        let args =
            json!({"method": "PUT", "path": "/cluster/options", "params": {"delete": names}});
        let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
        assert_eq!(shown.data["risk"], "grant", "{args}: {}", shown.text);
        for name in ["migration: ", "ha: "] {
            assert!(shown.text.contains(name), "{args}: {}", shown.text);
        }
    }
    // Sent as it is written, since update_cluster_options takes no migration.
    let args = json!({"method": "PUT", "path": "/cluster/options", "params": {"delete": "ha", "migration": "type=secure"}});
    let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
    let impact = shown.data["affects"].as_array().unwrap();
    let unset = impact.iter().find(|it| it["id"] == "ha").unwrap();
    assert_eq!(unset["effect"], "changed", "{}", shown.text);
    house
        .sim
        .fault(Fault::refuse(403, "Permission check failed").on("GET", "/cluster/options"));
    let shown = house.preview(TOOL, &args.to_string()).await.unwrap();
    assert!(shown.text.contains("not known -> unset"), "{}", shown.text);
}

#[tokio::test]
async fn guests_are_found_in_every_list_that_pve_reads() {
    let deny = Rule {
        vmid: Some("100".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = House::furnished(Furnish {
        policy: Policy {
            rules: vec![deny],
            ..Policy::default()
        },
        ..Furnish::default()
    })
    .await;
    for vms in [
        json!("105,100"),
        json!("100;105"),
        json!("100 105"),
        json!("100, 105"),
        json!(["100", "105"]),
    ] {
        for (method, path) in [("POST", "/nodes/pve1/stopall"), ("PUT", "/pools/lab")] {
            let args = json!({"method": method, "path": path, "params": {"vms": vms}});
            let fault = house.agreed(TOOL, &args.to_string()).await.unwrap_err();
            assert!(fault.message.contains("denies this"), "{args}: {fault}");
        }
    }
}
