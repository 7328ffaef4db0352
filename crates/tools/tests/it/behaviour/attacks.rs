//! Calls that once changed something unasked, or out of bounds: each asks a person by now, or is refused.

use serde_json::{Value, json};
use tools::caller::{Bounds, Caller, Scope};
use tools::engine::{Call, Reply};
use tools::policy::{Mode, Rule, Verdict};

use crate::house::{House, Nobody, object};
use crate::ruled::with_rules;

/// The risk of what waits for approval. Nothing was sent.
async fn asked(house: &House, tool: &str, args: &Value) -> (String, bool) {
    let answer = house.call(tool, &args.to_string()).await;
    let answer = answer.unwrap_or_else(|fault| panic!("{tool} {args}: {fault}"));
    assert_eq!(
        answer.data["status"], "needs_confirmation",
        "{tool} {args}: {}",
        answer.text
    );
    assert_eq!(house.writes(), [""; 0], "{tool} {args}");
    let risk = answer.data["risk"].as_str().unwrap().to_owned();
    (risk, answer.data.get("confirm").is_some())
}

/// A person is asked: the model that called gets nothing to confirm with.
async fn asks_a_person(house: &House, tool: &str, args: Value) {
    let (risk, confirm) = asked(house, tool, &args).await;
    assert!(
        matches!(risk.as_str(), "destroy" | "grant"),
        "{tool} {args}: {risk}"
    );
    assert!(!confirm, "{tool} {args}");
}

async fn asks(house: &House, tool: &str, args: Value) {
    asked(house, tool, &args).await;
}

async fn is_refused(house: &House, tool: &str, args: Value) {
    let answer = house.call(tool, &args.to_string()).await;
    assert!(answer.is_err(), "{tool} {args}: {}", answer.unwrap().text);
    assert_eq!(house.writes(), [""; 0], "{tool} {args}");
}

/// A call of a token with these bounds.
async fn refused_to(house: &House, bounds: &Bounds, tool: &str, args: Value) {
    let caller = Caller {
        name: "http:bounded".to_owned(),
        bounds: bounds.clone(),
    };
    let call = Call::new(tool, object(&args.to_string()), caller);
    match house.engine.call(call, &Nobody).await {
        Err(_) => {}
        Ok(Reply::Done(answer)) => panic!("{tool} {args}: {}", answer.text),
        Ok(_) => panic!("{tool} {args}"),
    }
    assert_eq!(house.writes(), [""; 0], "{tool} {args}");
}

fn bounded(vmids: &str) -> Bounds {
    Bounds {
        scope: Scope::Full,
        vmids: vec![vmids.to_owned().try_into().unwrap()],
        ..Bounds::default()
    }
}

/// C1: a job that prunes destroys backups, those of protected guests too.
#[tokio::test]
async fn a_backup_job_that_prunes_asks_and_spares_protected_guests() {
    let house = House::new().await;
    let job = |more: Value| {
        let mut job =
            json!({"storage": "nas", "schedule": "*:0/1", "prune_backups": "keep-last=1"});
        job.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        job
    };
    is_refused(&house, "create_backup_job", job(json!({"vmid": "101"}))).await;
    is_refused(
        &house,
        "create_backup_job",
        job(json!({"all_guests": true})),
    )
    .await;
    asks_a_person(&house, "create_backup_job", job(json!({"vmid": "105"}))).await;
    let operator = Bounds {
        scope: Scope::Operate,
        ..Bounds::default()
    };
    refused_to(
        &house,
        &operator,
        "create_backup_job",
        job(json!({"vmid": "105"})),
    )
    .await;
}

/// C2: PVE reads flags in any case.
#[tokio::test]
async fn a_disk_that_discards_its_data_asks_however_the_flag_is_written() {
    for flag in ["TRUE", "ON", "yes", "1", "True"] {
        let house = House::new().await;
        let disk = house.config(105, "scsi0").unwrap();
        let args = json!({"vmid": 105, "set": {"scsi0": format!("{disk},snapshot={flag}")}});
        asks_a_person(&house, "update_proxmox_vm", args).await;
    }
}

/// C3: a restore copies the data of the guest that the backup is of.
#[tokio::test]
async fn the_source_of_a_restore_is_within_the_bounds() {
    let house = House::new().await;
    let volume = "vault:backup/vm/100/2026-11-14T01:00:05Z";
    let args = json!({"vmid": 100, "backup": volume, "new_vmid": 5020});
    refused_to(
        &house,
        &bounded("5000-5999"),
        "rollback_proxmox_vm",
        args.clone(),
    )
    .await;
    let raw = json!({"method": "POST", "path": "/nodes/pve1/qemu", "params": {"vmid": 5020, "archive": volume}});
    refused_to(&house, &bounded("5000-5999"), "write_proxmox_api", raw).await;
    let deny = Rule {
        vmid: Some("100".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![deny]).await;
    is_refused(&house, "rollback_proxmox_vm", args).await;
}

/// C4: a storage definition decides where guests' data goes.
#[tokio::test]
async fn a_storage_definition_is_a_persons_to_make() {
    let house = House::new().await;
    for definition in [
        json!({"storage": "out", "type": "nfs", "server": "203.0.113.9", "export": "/x", "content": "backup"}),
        json!({"storage": "root", "type": "dir", "path": "/", "content": "snippets"}),
        json!({"storage": "etc", "type": "dir", "path": "/etc/pve", "content": "snippets"}),
    ] {
        asks_a_person(&house, "create_storage", definition).await;
    }
}

/// C5: `volume` and `file` are one key to PVE, and before libpve-common-perl 9.1.9 the last of the two wins.
#[tokio::test]
async fn a_second_volume_in_one_drive_asks_a_person_or_is_refused() {
    for value in [
        "local-lvm:1,volume=local-lvm:vm-101-disk-0",
        "local-lvm:1,volume=/dev/sda",
        "volume=local-lvm:vm-101-disk-0",
        "local-lvm:1,file=local-lvm:vm-103-disk-0",
    ] {
        let house = House::new().await;
        let args = json!({"vmid": 105, "set": {"scsi5": value}});
        if let Ok(answer) = house.call("update_proxmox_vm", &args.to_string()).await {
            assert_eq!(
                answer.data["status"], "needs_confirmation",
                "{value}: {}",
                answer.text
            );
            assert!(answer.data.get("confirm").is_none(), "{value}");
        }
        assert_eq!(house.writes(), [""; 0], "{value}");
        refused_to(&house, &bounded("105"), "update_proxmox_vm", args).await;
    }
}

/// C6: features of a new container weaken its isolation as those of any other do.
#[tokio::test]
async fn features_of_a_new_container_ask_a_person() {
    let house = House::new().await;
    let tool = tools::registry::all().find(|tool| tool.spec().name == "create_container");
    let example = object(tool.unwrap().spec().examples[0].args);
    for features in ["mount=nfs;ext4,mknod=1", "keyctl=1", "fuse=1,nesting=1"] {
        let mut args = example.clone();
        args.insert("features".to_owned(), features.into());
        let args = Value::Object(args);
        match house.call("create_container", &args.to_string()).await {
            Err(_) => {}
            Ok(answer) => {
                assert_eq!(
                    answer.data["status"], "needs_confirmation",
                    "{}",
                    answer.text
                );
                assert_eq!(answer.data["risk"], "grant", "{}", answer.text);
            }
        }
        assert_eq!(house.writes(), [""; 0], "{features}");
    }
}

/// M4: what interrupts asks, also where a schedule, HA or a mount does it.
#[tokio::test]
async fn interruptions_by_other_ways_ask() {
    let house = House::new().await;
    let job = json!({"storage": "nas", "schedule": "02:00", "vmid": "105", "mode": "stop"});
    asks(&house, "create_backup_job", job).await;
    asks(
        &house,
        "migrate_ha_resource",
        json!({"sid": "vm:102", "node": "pve2"}),
    )
    .await;
    asks(
        &house,
        "update_proxmox_vm",
        json!({"vmid": 200, "set": {"mp5": "local-lvm:1,mp=/etc"}}),
    )
    .await;
    asks(
        &house,
        "update_storage",
        json!({"storage": "nas", "content": "iso"}),
    )
    .await;
    let rename = json!({"method": "POST", "path": "/cluster/firewall/ipset", "params": {"name": "new", "rename": "old"}});
    asks(&house, "write_proxmox_api", rename).await;
}

/// M5: power that is given by options.
#[tokio::test]
async fn options_that_weaken_ask_a_person() {
    let house = House::new().await;
    asks_a_person(
        &house,
        "update_proxmox_vm",
        json!({"vmid": 200, "set": {"cmode": "shell"}}),
    )
    .await;
    for options in [
        json!({"http_proxy": "http://203.0.113.9:3128"}),
        json!({"user-tag-access": "user-allow=free"}),
        json!({"migration": "type=insecure"}),
        json!({"migration": "insecure"}),
    ] {
        let raw = json!({"method": "PUT", "path": "/cluster/options", "params": options});
        asks_a_person(&house, "write_proxmox_api", raw).await;
    }
    let accept = json!({"type": "in", "action": "ACCEPT", "enable": 1});
    asks_a_person(&house, "create_cluster_firewall_rule", accept).await;
}

/// M6: a job that protects guests less.
#[tokio::test]
async fn a_backup_job_that_protects_less_asks_a_person() {
    let house = House::new().await;
    let id = house
        .sim
        .world(|world| world.backup_jobs.keys().next().unwrap().clone());
    for change in [
        json!({"enabled": false}),
        json!({"vmid": "105"}),
        json!({"schedule": "sun 01:00"}),
    ] {
        let mut args = json!({"id": id});
        args.as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        asks_a_person(&house, "update_backup_job", args).await;
    }
}

/// M7: shutting a node down stops its guests.
#[tokio::test]
async fn a_rule_about_stopping_holds_for_the_node() {
    let deny = Rule {
        tool: Some("stop_proxmox_vm".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![deny]).await;
    for command in ["shutdown", "reboot"] {
        let raw =
            json!({"method": "POST", "path": "/nodes/pve1/status", "params": {"command": command}});
        is_refused(&house, "write_proxmox_api", raw).await;
    }
    let of_guest = Rule {
        vmid: Some("100".to_owned()),
        verdict: Some(Verdict::Deny),
        ..Rule::default()
    };
    let house = with_rules(Mode::Trusted, vec![of_guest]).await;
    let raw =
        json!({"method": "POST", "path": "/nodes/pve1/status", "params": {"command": "shutdown"}});
    is_refused(&house, "write_proxmox_api", raw).await;
}

/// Low: a device of the node beside a mapping.
#[tokio::test]
async fn a_host_device_beside_a_mapping_asks_a_person() {
    let house = House::new().await;
    for set in [
        json!({"usb5": "mapping=key,host=1-1"}),
        json!({"hostpci1": "mapping=gpu,host=01:00.0"}),
    ] {
        let args = json!({"vmid": 105, "set": set});
        if let Ok(answer) = house.call("update_proxmox_vm", &args.to_string()).await {
            assert_eq!(
                answer.data["status"], "needs_confirmation",
                "{}",
                answer.text
            );
            assert_eq!(answer.data["risk"], "grant", "{}", answer.text);
        }
        assert_eq!(house.writes(), [""; 0], "{args}");
    }
}
