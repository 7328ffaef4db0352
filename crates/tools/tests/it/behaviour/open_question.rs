//! A question that is open when the same call comes again: it stands, or is asked anew.

use tools::policy::{Mode, Verdict};

use crate::ruled::{rule, with_rules};

/// An agent that calls again while a person looks at the question does not take it from them: how much is free and what
/// time it is are no reason for another one.
#[tokio::test]
async fn words_that_move_leave_an_open_question_alone() {
    for (tool, args) in [
        (
            "update_proxmox_vm",
            r#"{"vmid": 105, "grow": {"scsi0": "+1G"}}"#,
        ),
        ("snapshot_proxmox_vm", r#"{"vmid": 105}"#),
        ("migrate_proxmox_vm", r#"{"vmid": 105}"#),
    ] {
        let house = with_rules(Mode::Ask, vec![rule(Verdict::Ask)]).await;
        let shown = house.call(tool, args).await.unwrap();
        house.later(61);
        house.sim.world(|world| {
            for storage in world.storages.values_mut() {
                storage.capacity *= 2;
            }
            for node in world.nodes.values_mut() {
                node.memory *= 2;
            }
        });
        let again = house.call(tool, args).await.unwrap();
        assert_eq!(again.data["plan"], shown.data["plan"], "{}", again.text);
        house.approve(shown.data["plan"].as_str().unwrap()).await;
        let applied = house.call(tool, args).await.unwrap();
        assert_eq!(applied.data["status"], "applied", "{}", applied.text);
        // What is applied is what was shown.
        assert_eq!(applied.data["summary"], shown.data["summary"]);
    }
}

/// What would be sent, or to what, has moved: that is another question.
#[tokio::test]
async fn a_guest_that_has_changed_is_asked_about_anew() {
    let house = with_rules(Mode::Ask, vec![rule(Verdict::Ask)]).await;
    let (tool, args) = ("snapshot_proxmox_vm", r#"{"vmid": 105}"#);
    let shown = house.call(tool, args).await.unwrap();
    house.set(105, "cores", "7");
    let again = house.call(tool, args).await.unwrap();
    assert_ne!(again.data["plan"], shown.data["plan"], "{}", again.text);
}
