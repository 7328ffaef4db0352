//! Firewall rules, which are known by their place and can cut people off.

use serde_json::json;
use tools::fault::Kind;
use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn what_lets_in_is_done_and_what_keeps_out_is_asked_about() {
    let house = House::new().await;
    let rule = |action: &str| json!({"vmid": 100, "type": "in", "action": action}).to_string();
    let opened = house.call("create_vm_firewall_rule", &rule("ACCEPT")).await;
    assert_eq!(opened.unwrap().data["status"], "applied");
    let closed = house.call("create_vm_firewall_rule", &rule("DROP")).await;
    assert_eq!(closed.unwrap().data["status"], "needs_confirmation");
    assert_eq!(house.writes().len(), 1);
}

#[tokio::test]
async fn a_new_rule_is_in_force_unless_it_is_said_otherwise() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, enable) in [
        (json!({"action": "ACCEPT", "type": "in"}), 1),
        (json!({"action": "ACCEPT", "type": "in", "enable": 0}), 0),
    ] {
        let made = house
            .call("create_cluster_firewall_rule", &args.to_string())
            .await
            .unwrap();
        assert_eq!(made.data["undo"]["arguments"]["pos"], 0);
        let first = house
            .call("get_cluster_firewall_rule", r#"{"pos": 0}"#)
            .await
            .unwrap();
        assert_eq!(first.data["item"]["enable"], enable, "{args}");
    }
}

#[tokio::test]
async fn what_would_be_ignored_is_refused() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"pos": 1, "moveto": 0, "enable": 0}"#;
    let fault = house
        .call("update_cluster_firewall_rule", args)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, Kind::BadInput);
    assert!(fault.message.contains("`moveto` goes alone"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_deleted_rule_comes_back_by_its_undo() {
    let house = House::in_mode(Mode::Trusted).await;
    let deleted = house
        .call("delete_cluster_firewall_rule", r#"{"pos": 2}"#)
        .await
        .unwrap();
    let undo = &deleted.data["undo"];
    assert_eq!(undo["tool"], "create_cluster_firewall_rule");
    let back = house
        .call(
            "create_cluster_firewall_rule",
            &undo["arguments"].to_string(),
        )
        .await
        .unwrap();
    assert_eq!(back.data["status"], "applied");
    let first = house
        .call("get_cluster_firewall_rule", r#"{"pos": 0}"#)
        .await
        .unwrap();
    assert_eq!(first.data["item"]["dport"], "9100");
    assert_eq!(first.data["item"]["enable"], 0);
}

#[tokio::test]
async fn a_switch_may_be_a_number() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 105, "enable": 1}"#;
    let answer = house.call("set_vm_firewall_options", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied");
}
