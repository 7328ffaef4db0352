//! What is shown of VMs, and what is not.

use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn no_password_is_shown() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(111, "cipassword", "hunter2");
    house
        .call("create_vm_snapshot", r#"{"vmid": 111, "snapname": "s1"}"#)
        .await
        .unwrap();
    for (tool, args) in [
        ("get_vm_config", r#"{"vmid": 111}"#),
        ("get_vm_pending", r#"{"vmid": 111}"#),
        ("get_vm_cloudinit", r#"{"vmid": 111}"#),
        ("dump_vm_cloudinit", r#"{"vmid": 111}"#),
        (
            "get_vm_snapshot_config",
            r#"{"vmid": 111, "snapname": "s1"}"#,
        ),
    ] {
        let answer = house.call(tool, args).await.unwrap();
        let all = format!("{} {:?}", answer.text, answer.data);
        assert!(!all.contains("hunter2"), "{tool}: {all}");
        assert!(all.contains("password"), "{tool}: {all}");
    }
}

#[tokio::test]
async fn a_new_password_is_set_and_told_nowhere() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 111, "ciuser": "deploy", "cipassword": "hunter2"}"#;
    let preview = house.preview("update_vm_cloudinit", args).await.unwrap();
    let answer = house.call("update_vm_cloudinit", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    for said in [preview, answer] {
        let all = format!("{} {:?}", said.text, said.data);
        assert!(!all.contains("hunter2"), "{all}");
    }
    assert!(house.config(111, "cipassword").is_some());
}

/// A ticket lets its holder in, so that it goes into a file and nowhere else.
#[tokio::test]
async fn a_ticket_goes_into_a_file_and_nowhere_else() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in [
        ("get_vm_vncproxy", r#"{"vmid": 100}"#),
        ("get_vm_spiceproxy", r#"{"vmid": 110}"#),
    ] {
        let answer = house.call(tool, args).await.unwrap();
        let all = format!("{} {:?}", answer.text, answer.data);
        assert!(!all.contains("PVEVNC"), "{tool}: {all}");
        let path = answer
            .text
            .split_whitespace()
            .find(|word| word.contains(tool));
        let path = path.expect("a file is named").trim_end_matches(',');
        let kept = std::fs::read_to_string(path).unwrap();
        assert!(kept.contains("PVEVNC"), "{tool}: {kept}");
    }
}
