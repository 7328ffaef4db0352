//! What protects a guest holds for HA as well.

use tools::policy::Mode;

use crate::house::House;

#[tokio::test]
async fn a_protected_guest_stays_under_ha() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(102, "tags", "protected");
    let fault = house
        .call("delete_ha_resource", r#"{"sid": "vm:102"}"#)
        .await
        .unwrap_err();
    assert!(fault.to_string().contains("protected"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_guest_is_named_by_its_kind() {
    let house = House::in_mode(Mode::Trusted).await;
    for (sid, says) in [("105", "vm:100 or ct:100"), ("ct:105", "vm:105")] {
        let args = format!(r#"{{"sid": "{sid}"}}"#);
        let fault = house.call("delete_ha_resource", &args).await.unwrap_err();
        let text = format!("{fault} {:?}", fault.hint);
        assert!(text.contains(says), "{text}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn what_can_stop_a_guest_asks() {
    let house = House::new().await;
    for (args, status) in [
        (r#"{"sid": "vm:102", "comment": "mail"}"#, "applied"),
        (
            r#"{"sid": "vm:102", "max_restart": 1}"#,
            "needs_confirmation",
        ),
        (
            r#"{"sid": "vm:102", "state": "stopped"}"#,
            "needs_confirmation",
        ),
    ] {
        let answer = house.call("update_ha_resource", args).await.unwrap();
        assert_eq!(answer.data["status"], status, "{args}");
    }
}
