//! write_proxmox_api: plans by the schema, shows old and new, reads back, and hands over what others do better.

use serde_json::{Value, json};
use sim::Fault;
use tools::tool::Rendered;

use crate::house::House;

const TOOL: &str = "write_proxmox_api";

async fn write(house: &House, args: Value) -> Result<Rendered, String> {
    let answer = house.agreed(TOOL, &args.to_string()).await;
    answer.map_err(|fault| fault.to_string())
}

async fn preview(house: &House, args: Value) -> Rendered {
    let shown = house.preview(TOOL, &args.to_string()).await;
    shown.unwrap_or_else(|fault| panic!("{args}: {fault}"))
}

#[tokio::test]
async fn a_setting_is_shown_old_and_new_read_back_and_taken_back() {
    let house = House::new().await;
    let args = json!({"method": "PUT", "path": "/cluster/options", "params": {"keyboard": "de", "bwlimit": "clone=1000"}});
    let shown = preview(&house, args.clone()).await;
    assert!(shown.text.contains("-> de"), "{}", shown.text);
    assert_eq!(shown.data["risk"], "change");
    let done = write(&house, args).await.unwrap();
    assert_eq!(done.data["status"], "applied");
    assert!(done.text.contains("it reads back so"), "{}", done.text);
    let undo = &done.data["undo"];
    assert_eq!(undo["tool"], TOOL);
    let back = write(&house, undo["arguments"].clone()).await.unwrap();
    assert_eq!(back.data["status"], "applied", "{}", back.text);
}

#[tokio::test]
async fn what_is_made_is_listed_and_deleted_again() {
    let house = House::new().await;
    let args = json!({"method": "POST", "path": "/cluster/sdn/vnets", "params": {"vnet": "cams", "zone": "lab", "isolate-ports": 1}});
    let made = write(&house, args).await.unwrap();
    assert!(
        made.text.contains("read back: it is listed"),
        "{}",
        made.text
    );
    let undo = made.data["undo"]["arguments"].clone();
    let path = "/cluster/sdn/vnets/cams";
    assert_eq!(undo, json!({"method": "DELETE", "path": path}));
    let gone = write(&house, undo).await.unwrap();
    assert_eq!(gone.data["status"], "applied", "{}", gone.text);
    let list = json!({"path": "/cluster/sdn/vnets"}).to_string();
    let list = house.call("read_proxmox_api", &list).await.unwrap();
    assert!(!list.text.contains("cams"), "{}", list.text);
}

#[tokio::test]
async fn wrong_parameters_are_told_and_nothing_is_sent() {
    let house = House::new().await;
    let rules = "/nodes/pve1/qemu/105/firewall/rules";
    for (args, says) in [
        (
            json!({"method": "POST", "path": rules, "params": {"type": "in"}}),
            "action: must be given",
        ),
        (
            json!({"method": "POST", "path": rules, "params": {"type": "inn", "action": "ACCEPT"}}),
            "type: must be one of",
        ),
        (
            json!({"method": "POST", "path": rules, "params": {"type": "in", "action": "ACCEPT", "dprt": "1"}}),
            "there is dport",
        ),
        (
            json!({"method": "PUT", "path": "/cluster/backupx"}),
            "has no path",
        ),
        (
            json!({"method": "PUT", "path": "/cluster/resources"}),
            "only GET",
        ),
        (
            json!({"method": "GET", "path": "/cluster/resources"}),
            "read_proxmox_api",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/../pve2/startall"}),
            "'..'",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/qemu", "params": {"vmid": 990, "net0": "virtio,brige=vmbr0"}}),
            "net0: it has no key brige; there is bridge",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/qemu", "params": {"vmid": 105, "name": "x", "scsi0": "local-lvm:1", "net0": "virtio,bridge=vmbr0"}}),
            "the vmid 105 is taken",
        ),
    ] {
        let said = write(&house, args.clone()).await.unwrap_err();
        assert!(said.contains(says), "{args}: {said}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn streams_logins_and_cluster_membership_are_not_sent() {
    let house = House::new().await;
    for (method, path, params, instead) in [
        (
            "POST",
            "/nodes/pve1/qemu/105/vncproxy",
            json!({}),
            "capture_vm_screen",
        ),
        (
            "POST",
            "/access/ticket",
            json!({"username": "root@pam", "password": "x"}),
            "its own credentials",
        ),
    ] {
        let args = json!({"method": method, "path": path, "params": params});
        let said = write(&house, args).await.unwrap_err();
        assert!(said.contains(instead), "{method} {path}: {said}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn risk_goes_by_path_and_parameters() {
    let house = House::new().await;
    for (args, risk) in [
        (
            json!({"method": "POST", "path": "/access/roles", "params": {"roleid": "Ops", "privs": "VM.Audit"}}),
            "grant",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/stopall"}),
            "disrupt",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/status", "params": {"command": "reboot"}}),
            "disrupt",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/qemu/105/status/start"}),
            "change",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/qemu/100/status/stop"}),
            "disrupt",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/qemu", "params": {"vmid": 990, "cores": 1, "name": "x", "scsi0": "local-lvm:1", "net0": "virtio,bridge=vmbr0"}}),
            "change",
        ),
        (
            json!({"method": "DELETE", "path": "/cluster/firewall/groups/none"}),
            "destroy",
        ),
        (
            json!({"method": "PUT", "path": "/cluster/firewall/options", "params": {"policy_in": "DROP"}}),
            "disrupt",
        ),
        (
            json!({"method": "PUT", "path": "/nodes/pve1/firewall/options", "params": {"enable": 1}}),
            "disrupt",
        ),
        (
            json!({"method": "POST", "path": "/nodes/pve1/startall", "params": {"force": 1}}),
            "change",
        ),
    ] {
        let shown = preview(&house, args.clone()).await;
        assert_eq!(shown.data["risk"], risk, "{args}: {}", shown.text);
    }
    let stop = preview(
        &house,
        json!({"method": "POST", "path": "/nodes/pve1/stopall"}),
    )
    .await;
    assert!(stop.text.contains("interrupted"), "{}", stop.text);
}

#[tokio::test]
async fn a_look_that_connects_out_is_a_change_with_its_answer() {
    let house = House::new().await;
    let args = json!({"method": "GET", "path": "/nodes/pve1/scan/nfs", "params": {"server": "192.168.1.5"}});
    let done = write(&house, args).await.unwrap();
    assert_eq!(done.data["status"], "applied", "{}", done.text);
    assert!(done.text.contains("answer"), "{}", done.text);
}

#[tokio::test]
async fn without_a_schema_nothing_is_written() {
    let house = House::new().await;
    let schema = "/pve-docs/api-viewer/apidoc.js";
    house
        .sim
        .fault(Fault::refuse(404, "not here").on("GET", schema));
    let args = json!({"method": "POST", "path": "/pools", "params": {"poolid": "x1"}});
    let said = write(&house, args).await.unwrap_err();
    assert!(said.contains("nothing is written unchecked"), "{said}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn secrets_are_sent_and_shown_nowhere() {
    let house = House::new().await;
    let args = json!({"method": "POST", "path": "/access/users", "params": {"userid": "eve@pve", "password": "canary-77"}});
    let shown = preview(&house, args.clone()).await;
    assert!(shown.text.contains("password=<password>"), "{}", shown.text);
    let done = write(&house, args).await.unwrap();
    assert_eq!(done.data["status"], "applied", "{}", done.text);
    let sent = house.sim.requests();
    let made = sent
        .iter()
        .find(|it| it.method == "POST" && it.path == "/access/users")
        .unwrap();
    assert_eq!(made.params.text("password"), Some("canary-77"));
    let trail = format!(
        "{:?}",
        house
            .engine
            .store()
            .await
            .unwrap()
            .audit_trail(100)
            .await
            .unwrap()
    );
    for text in [shown.text, done.text, format!("{:?}", done.data), trail] {
        assert!(!text.contains("canary-77"), "{text}");
    }
}

#[tokio::test]
async fn a_method_that_takes_no_token_is_refused_before_sending() {
    let house = House::new().await;
    let args = json!({"method": "PUT", "path": "/access/password", "params": {"userid": "root@pam", "password": "12345678"}});
    let said = write(&house, args).await.unwrap_err();
    assert!(said.contains("API token"), "{said}");
    assert_eq!(house.writes(), [""; 0]);
}
