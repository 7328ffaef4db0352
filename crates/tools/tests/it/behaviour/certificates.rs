//! Certificates from outside: what must be there before one is ordered, and who may make an account for it.

use tools::engine::Call;
use tools::policy::{Mode, Policy};
use tools::tool::Rendered;

use crate::house::{House, Nobody, call, done};

const ORDER: &str = "order_node_certificate";

#[tokio::test]
async fn an_order_names_its_domains_and_who_is_shut_out() {
    let house = House::in_mode(Mode::Trusted).await;
    let shown = house
        .preview(ORDER, r#"{"node": "pve2"}"#)
        .await
        .unwrap()
        .text;
    for part in [
        "risk: disrupt",
        "pve2.example.org",
        "by account default",
        "oxmox pins",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
}

#[tokio::test]
async fn what_is_missing_for_an_order_is_told_beforehand() {
    let house = House::in_mode(Mode::Trusted).await;
    let fault = house.call(ORDER, r#"{"node": "pve1"}"#).await.unwrap_err();
    assert!(fault.message.contains("names no domain"), "{fault}");
    house.sim.world(|world| world.acme_accounts.clear());
    let fault = house.call(ORDER, r#"{"node": "pve2"}"#).await.unwrap_err();
    assert!(
        fault.to_string().contains("register_acme_account"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_certificate_that_is_there_is_replaced_only_when_told_to() {
    let house = House::in_mode(Mode::Trusted).await;
    house.call(ORDER, r#"{"node": "pve2"}"#).await.unwrap();
    let fault = house.call(ORDER, r#"{"node": "pve2"}"#).await.unwrap_err();
    assert!(fault.to_string().contains("force: true"), "{fault}");
    let forced = r#"{"node": "pve2", "force": true}"#;
    let shown = house.preview(ORDER, forced).await.unwrap().text;
    assert!(shown.contains("risk: destroy"), "{shown}");
    let first = fingerprint(&house);
    let answer = house.call(ORDER, forced).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_ne!(fingerprint(&house), first);
}

fn fingerprint(house: &House) -> String {
    house
        .sim
        .world(|world| world.nodes["pve2"].ordered.as_ref().unwrap().fingerprint())
}

async fn as_root(house: &House, call: Call) -> Result<Rendered, tools::fault::Fault> {
    let policy = Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    };
    let engine = house.with_password("root@pam", sim::worlds::ROOT_PASSWORD, policy);
    done(engine.call(call, &Nobody).await)
}

#[tokio::test]
async fn an_authority_wants_its_terms_agreed_to() {
    let house = House::new().await;
    let args = r#"{"contact": "a@example.org", "name": "other"}"#;
    let register = call("register_acme_account", args);
    let fault = as_root(&house, register).await.unwrap_err();
    assert!(
        fault.message.contains("must agree to terms of service"),
        "{fault}"
    );
    let args = r#"{"contact": "a@example.org"}"#;
    let register = call("register_acme_account", args);
    let fault = as_root(&house, register).await.unwrap_err();
    assert!(fault.message.contains("default exists already"), "{fault}");
    let shown = as_root(&house, call("get_acme_account", "{}"))
        .await
        .unwrap();
    assert!(shown.text.contains("admin@example.org"), "{}", shown.text);
}
