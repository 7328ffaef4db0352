//! The connection drops after a write was processed: it is never sent twice, and what became of it is found out or said
//! to be unknown.

use sim::Fault;
use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn the_task_is_found_in_the_nodes_own_list() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(
        Fault::drop_after()
            .on("POST", "/nodes/*/qemu/*/clone")
            .times(1),
    );
    let answer = house
        .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 300}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert!(
        answer.data["steps"][0]["task"]
            .as_str()
            .unwrap()
            .contains(":qmclone:105:")
    );
    assert_eq!(
        house.writes(),
        ["POST /nodes/pve1/qemu/105/clone"],
        "sent once"
    );
}

#[tokio::test]
async fn an_old_task_of_the_same_kind_is_not_taken_for_it() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 300}"#)
        .await
        .unwrap();
    house
        .sim
        .fault(Fault::drop_before().on("POST", "/nodes/*/qemu/*/clone"));
    let answer = house
        .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 301}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    // The simulator never saw the second one: it was lost on the way, and was not sent again.
    assert_eq!(house.writes().len(), 1);
}

#[tokio::test]
async fn without_a_task_it_is_unknown_and_says_what_would_tell() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(
        Fault::drop_after()
            .on("PUT", "/nodes/*/qemu/*/sendkey")
            .times(1),
    );
    let answer = house
        .call("send_vm_key", r#"{"vmid": 100, "key": "ret"}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    assert!(
        answer.text.contains("do not send it again before looking"),
        "{}",
        answer.text
    );
    assert_eq!(house.writes().len(), 1, "sent once");
    assert_eq!(house.audit().await, (1, vec!["unknown".to_owned()]));
}

/// Where nobody can be asked for its task, the id that was still taken a moment before tells.
#[tokio::test]
async fn what_can_be_read_back_is_done_even_without_an_answer() {
    for has_tasks in [true, false] {
        let house = House::in_mode(Mode::Trusted).await;
        if !has_tasks {
            let hidden = Fault::refuse(500, "no list");
            house.sim.fault(hidden.on("GET", "/nodes/*/tasks"));
        }
        let lost = Fault::drop_after().on("DELETE", "/nodes/*/qemu/105");
        house.sim.fault(lost.times(1));
        let deleted = house.call("delete_proxmox_vm", r#"{"vmid": 105}"#);
        let answer = deleted.await.unwrap();
        assert_eq!(answer.data["status"], "applied", "{}", answer.text);
        let task = &answer.data["steps"][0]["task"];
        assert_eq!(task.is_string(), has_tasks, "{}", answer.text);
        assert_eq!(house.writes().len(), 1, "sent once");
    }
}

/// A reset leaves nothing to be seen, so a reset that was lost on the way is not called done.
#[tokio::test]
async fn what_was_true_before_proves_nothing() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .fault(Fault::drop_before().on("POST", "/nodes/*/qemu/*/status/reset"));
    let answer = house
        .call("stop_proxmox_vm", r#"{"vmid": 100, "action": "reset"}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
}

/// If the tasks before the request could not be listed, none found afterwards is taken for its own.
#[tokio::test]
async fn an_old_task_is_not_adopted_when_the_list_failed() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 300}"#)
        .await
        .unwrap();
    house.sim.fault(
        Fault::refuse(500, "no list")
            .on("GET", "/nodes/pve1/tasks")
            .times(1),
    );
    house
        .sim
        .fault(Fault::drop_before().on("POST", "/nodes/*/qemu/*/clone"));
    let answer = house
        .call("clone_proxmox_vm", r#"{"vmid": 105, "new_vmid": 301}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
}

/// PVE answers a task's start with something that names no task.
#[tokio::test]
async fn an_answer_without_a_task_is_as_good_as_none() {
    let house = House::in_mode(Mode::Trusted).await;
    house.sim.fault(Fault::answer(
        "POST",
        "/nodes/*/qemu/*/status/reset",
        "garbage",
    ));
    let answer = house
        .call("stop_proxmox_vm", r#"{"vmid": 100, "action": "reset"}"#)
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
}
