//! Offline nodes, lost quorum, tasks that fail half-way, tokens that are wrong.

use sim::Fault;
use tools::fault::Kind;
use tools::policy::Mode;

use crate::house::{Furnish, House, Person};

#[tokio::test]
async fn one_offline_node_does_not_break_the_list() {
    let house = House::new().await;
    house.sim.set_online("pve3", false);
    let answer = house.call("list_proxmox_resources", "{}").await.unwrap();
    assert!(answer.data["total"].as_u64().unwrap() > 20);
    assert!(
        answer.text.contains("node pve3 is offline"),
        "{}",
        answer.text
    );
    let guest = house
        .call("get_proxmox_vm_status", r#"{"vmid": 106}"#)
        .await
        .unwrap();
    assert!(guest.text.contains("what was last known"), "{}", guest.text);
    let node = house
        .call("get_proxmox_node_status", r#"{"node": "pve3"}"#)
        .await
        .unwrap();
    assert_eq!(node.data["online"], false);
}

#[tokio::test]
async fn a_change_on_an_offline_node_is_refused_at_once() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.set_online("pve3", false);
    for (tool, args) in [
        ("start_proxmox_vm", r#"{"vmid": 203}"#),
        ("delete_proxmox_vm", r#"{"vmid": 203}"#),
        ("send_vm_key", r#"{"vmid": 106, "key": "ret"}"#),
    ] {
        let fault = house.call(tool, args).await.unwrap_err();
        assert_eq!(fault.kind, Kind::Unreachable, "{tool}: {fault}");
        assert!(fault.message.contains("node pve3"), "{tool}: {fault}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn lost_quorum_is_pves_own_refusal() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.set_online("pve2", false);
    house.sim.set_online("pve3", false);
    let fault = house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap_err();
    assert!(
        fault.message.contains("cluster not ready - no quorum?"),
        "{fault}"
    );
    let hint = fault.hint.unwrap_or_default();
    assert!(hint.contains("more than half of the nodes"), "{hint}");
    let answer = house.call("list_proxmox_resources", "{}").await.unwrap();
    assert!(
        answer.data["total"].as_u64().unwrap() > 0,
        "reading goes on"
    );
}

#[tokio::test]
async fn a_task_that_fails_half_way_shows_its_log() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(Fault::fail_task(
        "qmclone",
        "cannot allocate: no space left",
        "clone failed: no space left on device",
    ));
    let fault = house
        .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 300}"#)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, Kind::Failed);
    assert!(
        fault
            .message
            .contains("clone failed: no space left on device"),
        "{fault}"
    );
    assert!(
        fault.message.contains("cannot allocate: no space left"),
        "the log: {fault}"
    );
    assert!(fault.message.contains("UPID:pve1:"), "the task: {fault}");
    assert_eq!(house.audit().await, (1, vec!["failed".to_owned()]));
}

#[tokio::test]
async fn progress_tells_the_tasks_last_line() {
    let house = House::in_mode(Mode::Trusted).await;
    let person = Person::saying_yes();
    house
        .ask(
            "clone_proxmox_vm",
            r#"{"vmid": 105, "new_vmid": 300}"#,
            &person,
        )
        .await
        .unwrap();
    let progress = person.progress.lock().unwrap();
    assert!(
        progress.iter().any(|progress| progress
            .message
            .contains("Clone VM 105 (staging) to 300 (Copy-of-VM-staging): ")),
        "{progress:?}"
    );
    assert!(
        progress
            .iter()
            .any(|progress| progress.fraction.is_some_and(|share| share > 0.0)),
        "{progress:?}"
    );
}

#[tokio::test]
async fn a_wrong_token_is_not_an_empty_cluster() {
    let furnish = Furnish {
        token: (
            "root@pam".to_owned(),
            "oxmox".to_owned(),
            "wrong".to_owned(),
        ),
        ..Furnish::default()
    };
    let house = House::furnished(furnish).await;
    let fault = house
        .call("list_proxmox_resources", "{}")
        .await
        .unwrap_err();
    assert_eq!(fault.kind, Kind::Forbidden, "{fault}");
    assert!(fault.hint.unwrap().contains("token"));
}

#[tokio::test]
async fn an_empty_list_names_the_missing_privilege() {
    let mut furnish = Furnish::default();
    furnish.world.add_token("nobody@pve!t", "secret");
    furnish.token = ("nobody@pve".to_owned(), "t".to_owned(), "secret".to_owned());
    let house = House::furnished(furnish).await;
    let answer = house.call("list_proxmox_resources", "{}").await.unwrap();
    assert_eq!(answer.data["total"], 0);
    assert!(answer.text.contains("VM.Audit nowhere"), "{}", answer.text);
}

#[tokio::test]
async fn an_old_pve_is_read_but_not_changed() {
    let mut furnish = Furnish::default();
    furnish.policy.mode = Mode::Trusted;
    furnish.world.version = "7.4-3".to_owned();
    let house = House::furnished(furnish).await;
    house
        .call("get_proxmox_vm_status", r#"{"vmid": 105}"#)
        .await
        .unwrap();
    let fault = house
        .call("start_proxmox_vm", r#"{"vmid": 105}"#)
        .await
        .unwrap_err();
    assert!(fault.message.contains("8.4 and newer"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}
