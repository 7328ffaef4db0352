//! Services, tasks and all guests of a node.

use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn what_the_api_runs_on_is_restarted_and_never_stopped() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"node": "pve1", "service": "pveproxy", "action": "stop"}"#;
    let fault = house.call("manage_node_service", args).await.unwrap_err();
    assert!(fault.to_string().contains("restart"), "{fault}");
    let args = r#"{"node": "pve1", "service": "pveproxy", "action": "restart"}"#;
    let preview = house.preview("manage_node_service", args).await.unwrap();
    assert!(preview.text.contains("does not answer"), "{}", preview.text);
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_reload_may_be_a_restart() {
    let house = House::new().await;
    let reload = |service: &str| {
        format!(r#"{{"node": "pve1", "service": "{service}", "action": "reload"}}"#)
    };
    let args = reload("corosync");
    let preview = house.preview("manage_node_service", &args).await.unwrap();
    assert_eq!(preview.data["risk"], "disrupt", "{}", preview.text);
    assert!(preview.text.contains("it is fenced"), "{}", preview.text);
    house.sim.world(|world| {
        let node = world.nodes.get_mut("pve1").unwrap();
        node.services.get_mut("chrony").unwrap().set_running(false);
    });
    let fault = house.agreed("manage_node_service", &reload("chrony")).await;
    let fault = fault.unwrap_err();
    assert!(fault.message.contains("reload does nothing"), "{fault}");
    let api = r#"{"method": "POST", "path": "/nodes/pve1/services/corosync/reload"}"#;
    let preview = house.preview("write_proxmox_api", api).await.unwrap();
    assert_eq!(preview.data["risk"], "disrupt", "{}", preview.text);
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn an_unknown_service_is_answered_with_those_there_are() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"node": "pve1", "service": "pveprxy", "action": "restart"}"#;
    let fault = house.call("manage_node_service", args).await.unwrap_err();
    assert!(fault.to_string().contains("pveproxy"), "{fault}");
    let args = r#"{"node": "pve1", "service": "syslog", "action": "start"}"#;
    let fault = house.call("manage_node_service", args).await.unwrap_err();
    assert!(fault.message.contains("is not installed"), "{fault}");
}

#[tokio::test]
async fn a_task_that_has_ended_is_not_stopped() {
    let house = House::in_mode(Mode::Trusted).await;
    let upid = "UPID:pve3:000003FA:000186A0:6AF83F30:vzdump:107:root@pam:";
    let args = format!(r#"{{"node": "pve3", "upid": "{upid}"}}"#);
    let fault = house.call("stop_task", &args).await.unwrap_err();
    assert!(fault.message.contains("job errors"), "{fault}");
    let args = format!(r#"{{"node": "pve1", "upid": "{upid}"}}"#);
    let fault = house.call("stop_task", &args).await.unwrap_err();
    assert!(fault.to_string().contains("pve3"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn stopping_all_names_each_guest_and_leaves_those_under_ha() {
    let house = House::in_mode(Mode::Trusted).await;
    let preview = house.preview("stopall_node", r#"{"node": "pve2"}"#).await;
    let text = preview.unwrap().text;
    assert!(!text.contains("mail"), "{text}");
    let named = house.preview("stopall_node", r#"{"node": "pve2", "vms": "102"}"#);
    let text = named.await.unwrap().text;
    assert!(text.contains("mail"), "{text}");
}

#[tokio::test]
async fn a_guest_of_another_node_is_not_taken_for_one_of_this() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"node": "pve1", "vms": "100,106"}"#;
    let fault = house.call("stopall_node", args).await.unwrap_err();
    assert!(fault.message.contains("is on node pve3"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn only_what_starts_at_boot_is_started_without_force() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"node": "pve1", "vms": "105"}"#;
    let fault = house.call("startall_node", args).await.unwrap_err();
    assert!(fault.to_string().contains("force"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

/// A packet is sent by another node, so that the one that sleeps need not answer.
#[tokio::test]
async fn a_node_that_is_off_is_woken() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.world(|world| world.set_online("pve3", false));
    let args = r#"{"node": "pve3"}"#;
    let fault = house.call("get_node_time", args).await.unwrap_err();
    assert!(fault.message.contains("is offline"), "{fault}");
    let answer = house.call("wakeonlan_node", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(house.sim.world(|world| world.nodes["pve3"].is_online()));
}

#[tokio::test]
async fn a_look_that_connects_out_is_a_change() {
    let house = House::new().await;
    let args = r#"{"node": "pve1", "scan_type": "nfs", "server": "192.168.1.5"}"#;
    let fault = house.call("get_node_storage_scan", args).await.unwrap_err();
    assert!(fault.to_string().contains("scan_type"), "{fault}");
    let found = house.call("search_storage_server", args).await.unwrap();
    assert_eq!(found.data["status"], "applied", "{}", found.text);
    assert!(found.text.contains("/volume1"), "{}", found.text);
    assert_eq!(house.audit().await, (1, vec!["applied".to_owned()]));
}

/// PVE tells tasks node by node.
#[tokio::test]
async fn the_newest_task_of_all_nodes_comes_first() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    let newest = house.call("get_cluster_tasks", r#"{"limit": 1}"#).await;
    let newest = newest.unwrap();
    assert_eq!(newest.data["rows"][0]["type"], "qmstart", "{}", newest.text);
    let all = house.call("get_cluster_tasks", "{}").await.unwrap();
    let began = |row: &serde_json::Value| row["starttime"].as_u64().unwrap();
    let rows = all.data["rows"].as_array().unwrap();
    assert!(
        rows.is_sorted_by(|a, b| began(a) >= began(b)),
        "{}",
        all.text
    );
}
