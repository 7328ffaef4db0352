//! What write_proxmox_api asks about because of what a call does, whatever its path looks like: nothing that a tool waits for a
//! person with is done by the API at once.

use serde_json::{Value, json};
use tools::fault::Kind;
use tools::policy::{Mode, Policy, Rule, Verdict};

use crate::house::{Furnish, House, Person, call, done};

const TOOL: &str = "write_proxmox_api";

async fn status(house: &House, args: &Value) -> String {
    let answer = house.call(TOOL, &args.to_string()).await;
    let answer = answer.unwrap_or_else(|fault| panic!("{args}: {fault}"));
    answer.data["status"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

async fn denying(rule: Rule) -> House {
    let rule = Rule {
        verdict: Some(Verdict::Deny),
        ..rule
    };
    House::furnished(Furnish {
        policy: Policy {
            mode: Mode::Trusted,
            rules: vec![rule],
            ..Policy::default()
        },
        ..Furnish::default()
    })
    .await
}

fn tagged(tag: &str) -> Rule {
    Rule {
        tag: Some(tag.to_owned()),
        ..Rule::default()
    }
}

async fn denied(house: &House, args: &Value) {
    match house.call(TOOL, &args.to_string()).await {
        Ok(answer) => panic!("{args}: {}", answer.text),
        Err(fault) => assert!(fault.message.contains("denies this"), "{args}: {fault}"),
    }
}

#[tokio::test]
async fn a_password_in_a_value_hides_no_volume() {
    let house = House::in_mode(Mode::Trusted).await;
    for args in [
        json!({"method": "POST", "path": "/nodes/pve1/lxc", "params": {"vmid": 990, "unprivileged": 1, "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "rootfs": "local-lvm:4", "mp0": "local-lvm:vm-109-disk-0,mp=/x://a:hunter2@c"}}),
        json!({"method": "POST", "path": "/nodes/pve1/lxc", "params": {"vmid": 990, "unprivileged": 1, "ostemplate": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "mp0": "volume=local-lvm:vm-101-disk-1,mp=/x://a:hunter2@c"}}),
    ] {
        // A disk that exists is no new disk, and the call that attaches it says whose it is.
        let fault = house.agreed(TOOL, &args.to_string()).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Refused, "{args}: {fault}");
        assert!(fault.message.contains("mp0"), "{args}: {fault}");
        let set = json!({"vmid": 208, "set": {"mp1": args["params"]["mp0"]}});
        let fault = house.agreed("update_proxmox_vm", &set.to_string()).await;
        let fault = fault.unwrap_err();
        assert!(fault.message.contains("is protected ("), "{args}: {fault}");
    }
    // What is wrong with a value is told without it.
    let args = json!({"method": "POST", "path": "/nodes/pve1/qemu", "params": {"vmid": 990, "scsi0": "local-lvm:4,serial=x://a:hunter2@c"}});
    let fault = house.call(TOOL, &args.to_string()).await.unwrap_err();
    assert!(!fault.to_string().contains("hunter2"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_list_of_nothing_means_all_guests() {
    let house = denying(tagged("prod")).await;
    for vms in ["", " , "] {
        let all =
            json!({"method": "POST", "path": "/nodes/pve1/suspendall", "params": {"vms": vms}});
        denied(&house, &all).await;
        // stopall_node takes a list of nothing for what it is.
        let stop = json!({"method": "POST", "path": "/nodes/pve1/stopall", "params": {"vms": vms}});
        assert!(house.call(TOOL, &stop.to_string()).await.is_err(), "{stop}");
    }
    let args = json!({"method": "POST", "path": "/cluster/bulk-action/guest/shutdown", "params": {"vms": []}});
    let fault = house.call(TOOL, &args.to_string()).await.unwrap_err();
    let said = "vms: the list is empty: name at least one, or leave it out";
    assert!(fault.message.contains(said), "{fault}");
    let args = json!({"method": "POST", "path": "/nodes/pve1/stopall", "params": {"vms": []}});
    let fault = house.call(TOOL, &args.to_string()).await.unwrap_err();
    assert!(fault.message.contains(said), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_starts_all_guests_is_about_each_of_them() {
    let house = denying(Rule {
        vmid: Some("105".to_owned()),
        ..Rule::default()
    })
    .await;
    let start = json!({"method": "POST", "path": "/cluster/bulk-action/guest/start"});
    denied(&house, &start).await;
    let all = json!({"method": "POST", "path": "/nodes/pve1/startall", "params": {"force": 1}});
    denied(&house, &all).await;
    assert_eq!(house.writes(), [""; 0]);
    // It does not start at boot, and so is left alone.
    let at_boot = json!({"method": "POST", "path": "/nodes/pve1/startall"});
    let fault = house.call(TOOL, &at_boot.to_string()).await.unwrap_err();
    assert_eq!(fault.kind, Kind::Conflict, "{fault}");
    house.set(105, "onboot", "1");
    denied(&house, &at_boot).await;
}

#[tokio::test]
async fn a_new_guest_gets_nothing_of_its_node_unasked() {
    let house = House::logged_in(Mode::Ask).await;
    let template = "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst";
    let vm = |params: Value| ("/nodes/pve1/qemu", params);
    let container = |params: Value| ("/nodes/pve1/lxc", params);
    for (path, params) in [
        vm(json!({"vmid": 997, "scsi0": "/dev/sda"})),
        vm(json!({"vmid": 997, "hostpci0": "0000:01:00.0"})),
        container(
            json!({"vmid": 997, "ostemplate": template, "rootfs": "local-lvm:4", "unprivileged": 1, "mp0": "/etc,mp=/host"}),
        ),
        container(
            json!({"vmid": 997, "ostemplate": template, "rootfs": "local-lvm:4", "unprivileged": 1, "dev0": "/dev/sda"}),
        ),
        container(
            json!({"vmid": 997, "hostname": "x", "ostemplate": template, "rootfs": "local-lvm:4", "net0": "name=eth0,bridge=vmbr0", "unprivileged": 0}),
        ),
    ] {
        // create_proxmox_vm and create_proxmox_lxc take nothing of the node; what they take makes no privileged container.
        let args = json!({"method": "POST", "path": path, "params": params});
        match house.call(TOOL, &args.to_string()).await {
            Err(fault) => assert_eq!(fault.kind, Kind::Refused, "{args}: {fault}"),
            Ok(asked) => {
                assert_eq!(asked.data["status"], "needs_confirmation", "{args}");
                assert_eq!(asked.data["risk"], "grant", "{args}");
            }
        }
    }
    assert_eq!(house.writes(), ["POST /access/ticket"]);
}

#[tokio::test]
async fn what_tools_ask_about_is_asked_about() {
    let house = House::logged_in(Mode::Ask).await;
    let drop = json!({"type": "in", "action": "DROP", "enable": 1});
    for (method, path, params) in [
        (
            "POST",
            "/cluster/backup",
            json!({"vmid": "105", "storage": "nas", "schedule": "daily", "script": "/root/evil.sh"}),
        ),
        (
            "PUT",
            "/cluster/replication/103-0",
            json!({"remove_job": "full"}),
        ),
        ("PUT", "/storage/local-lvm", json!({"disable": 1})),
        ("PUT", "/storage/local-lvm", json!({"nodes": "pve3"})),
        ("POST", "/cluster/firewall/rules", drop.clone()),
        ("POST", "/nodes/pve1/firewall/rules", drop.clone()),
        ("POST", "/nodes/pve1/qemu/100/firewall/rules", drop.clone()),
        ("POST", "/cluster/firewall/groups/webserver", drop),
        ("PUT", "/cluster/firewall/rules/0", json!({"enable": 0})),
        (
            "PUT",
            "/cluster/ha/rules/mail-home",
            json!({"type": "node-affinity", "nodes": "pve3", "strict": 1}),
        ),
        (
            "PUT",
            "/cluster/ha/resources/vm:102",
            json!({"state": "stopped"}),
        ),
    ] {
        let args = json!({"method": method, "path": path, "params": params});
        assert_eq!(status(&house, &args).await, "needs_confirmation", "{args}");
    }
    assert_eq!(house.writes(), ["POST /access/ticket"]);
}

#[tokio::test]
async fn guests_that_a_call_does_not_name_are_bound() {
    let house = denying(tagged("prod")).await;
    for (method, path, params) in [
        ("PUT", "/storage/local-lvm", json!({"disable": 1})),
        ("PUT", "/storage/local-lvm", json!({"nodes": "pve3"})),
        (
            "PUT",
            "/cluster/ha/rules/mail-home",
            json!({"type": "node-affinity", "nodes": "pve3", "strict": 1}),
        ),
        ("DELETE", "/cluster/ha/rules/mail-home", json!({})),
    ] {
        denied(
            &house,
            &json!({"method": method, "path": path, "params": params}),
        )
        .await;
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_storage_is_put_back_into_use_by_the_call_that_is_told() {
    let house = House::new().await;
    let args = json!({"method": "PUT", "path": "/storage/tank", "params": {"disable": 1}});
    let off = house.agreed(TOOL, &args.to_string()).await.unwrap();
    assert_eq!(off.data["status"], "applied", "{}", off.text);
    let undo = &off.data["undo"];
    let (tool, arguments) = (
        undo["tool"].as_str().unwrap(),
        undo["arguments"].to_string(),
    );
    let back = house.agreed(tool, &arguments).await.unwrap();
    assert_eq!(back.data["status"], "applied", "{undo}");
}

#[tokio::test]
async fn what_a_post_brings_about_is_found_however_it_is_written() {
    let house = House::new().await;
    for (path, params) in [
        (
            "/cluster/backup",
            json!({"vmid": "105", "storage": "nas", "schedule": "daily", "prune-backups": "keep-last=1"}),
        ),
        (
            "/nodes/pve1/storage/local-lvm/content",
            json!({"vmid": 105, "filename": "vm-105-disk-9", "size": "4M"}),
        ),
    ] {
        let args = json!({"method": "POST", "path": path, "params": params}).to_string();
        let yes = Person::saying_yes();
        let made = done(house.engine.call(call(TOOL, &args), &yes).await).unwrap();
        assert_eq!(made.data["status"], "applied", "{}", made.text);
    }
}
