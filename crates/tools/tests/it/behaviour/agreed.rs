//! A yes is a yes to what was shown: if the same call would do something else by now, it is shown again.

use crate::house::House;

/// The plan's id and the confirm value, if a model may confirm.
async fn shown(house: &House, tool: &str, args: &str) -> (String, Option<String>) {
    let answer = house.call(tool, args).await.unwrap();
    assert_eq!(
        answer.data["status"], "needs_confirmation",
        "{}",
        answer.text
    );
    let text = |name: &str| answer.data.get(name)?.as_str().map(ToOwned::to_owned);
    (text("plan").unwrap(), text("confirm"))
}

/// Retention destroys, also where nothing is old enough yet when the plan is shown.
#[tokio::test]
async fn a_model_cannot_confirm_a_backup_that_prunes() {
    let house = House::new().await;
    let args = r#"{"vmid": 100, "storage": "vault", "mode": "stop", "keep_last": 3}"#;
    let (_, confirm) = shown(&house, "backup_proxmox_vm", args).await;
    assert_eq!(confirm, None);
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn an_approval_does_not_cover_a_guest_that_runs_by_now() {
    let house = House::new().await;
    let args = r#"{"vmid": 100, "snapshot": "weekly"}"#;
    house
        .agreed("stop_proxmox_vm", r#"{"vmid": 100}"#)
        .await
        .unwrap();
    let (plan, _) = shown(&house, "rollback_proxmox_vm", args).await;
    house.approve(&plan).await;
    house
        .call("start_proxmox_vm", r#"{"vmid": 100}"#)
        .await
        .unwrap();
    let sent = house.writes().len();
    let again = house.call("rollback_proxmox_vm", args).await.unwrap();
    assert_eq!(again.data["status"], "needs_confirmation", "{}", again.text);
    assert_ne!(again.data["plan"], plan.as_str());
    assert!(again.text.contains("interrupted"), "{}", again.text);
    assert_eq!(house.writes().len(), sent, "nothing was sent");
}

/// Figures that move from minute to minute do not replace the question that a person is looking at.
#[tokio::test]
async fn calling_again_keeps_the_question() {
    let house = House::new().await;
    let args = r#"{"vmid": 105, "delete": ["scsi0"], "grow": {}}"#;
    let (first, _) = shown(&house, "update_proxmox_vm", args).await;
    house.later(60);
    let (second, _) = shown(&house, "update_proxmox_vm", args).await;
    assert_eq!(first, second);
}
