//! Firewall rules, which are known by their place and can cut people off.

use serde_json::json;
use tools::fault::Kind;
use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn a_rule_that_opens_is_a_grant_and_one_that_shuts_interrupts() {
    let house = House::new().await;
    let rule = |action: &str, enable: u8| {
        json!({"vmid": 100, "type": "in", "action": action, "enable": enable}).to_string()
    };
    for (action, risk) in [("ACCEPT", "grant"), ("DROP", "disrupt")] {
        let asked = house
            .call("create_vm_firewall_rule", &rule(action, 1))
            .await;
        let asked = asked.unwrap();
        assert_eq!(asked.data["status"], "needs_confirmation", "{}", asked.text);
        assert_eq!(asked.data["risk"], risk, "{}", asked.text);
    }
    assert_eq!(house.writes(), [""; 0]);
    // A rule that is not enabled lets nothing through and holds nothing up.
    let idle = house
        .call("create_vm_firewall_rule", &rule("ACCEPT", 0))
        .await;
    assert_eq!(idle.unwrap().data["status"], "applied");
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
