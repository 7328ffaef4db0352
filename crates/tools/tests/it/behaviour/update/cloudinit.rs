//! Users, keys and passwords for the system inside.

use serde_json::json;
use tools::policy::Mode;

use super::{UPDATE, apply, preview, refused, set_now};
use crate::house::{House, Person, call};

#[tokio::test]
async fn cloud_init_is_written_anew() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .call("start_proxmox_vm", r#"{"vmid": 111}"#)
        .await
        .unwrap();
    let args = json!({"vmid": 111, "set": {"ciuser": "deploy"}});
    let answer = apply(&house, &args).await;
    assert!(
        answer
            .text
            .contains("regenerate_cloudinit: true writes it now"),
        "{}",
        answer.text
    );
    assert!(
        house
            .sim
            .world(|world| !world.guests[&111].cloudinit.is_empty())
    );
    apply(&house, &json!({"vmid": 111, "regenerate_cloudinit": true})).await;
    assert!(
        house
            .sim
            .world(|world| world.guests[&111].cloudinit.is_empty())
    );
    let none = preview(&house, &json!({"vmid": 105, "set": {"ciuser": "me"}})).await;
    assert!(
        none.text.contains("it has no cloud-init drive"),
        "{}",
        none.text
    );
}

#[tokio::test]
async fn keys_are_encoded_once_however_they_come() {
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI+x/y== me@home";
    for given in [json!(key), json!([key]), json!(pve::encode_value(key))] {
        let house = House::in_mode(Mode::Trusted).await;
        apply(&house, &json!({"vmid": 111, "set": {"sshkeys": given}})).await;
        assert_eq!(
            set_now(&house, 111, "sshkeys").unwrap(),
            pve::encode_value(key)
        );
    }
}

/// The password reaches PVE and nobody else: not the preview, the question, the answer, the undo or the audit trail.
#[tokio::test]
async fn the_password_is_seen_nowhere() {
    let canary = "canary-Pa55word";
    let house = House::new().await;
    let args = json!({"vmid": 111, "set": {"cipassword": canary, "ciuser": "me"}});
    let person = Person::saying_yes();
    let shown = preview(&house, &args).await;
    let answer = house.ask(UPDATE, &args.to_string(), &person).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let number = json!({"vmid": 111, "set": {"cipassword": 5_550_123}});
    let wrong = refused(&house, number).await;
    let trail = house
        .engine
        .store()
        .await
        .unwrap()
        .audit_trail(1000)
        .await
        .unwrap();
    let questions = person.asked.lock().unwrap();
    let seen = format!("{shown:?} {answer:?} {wrong:?} {trail:?} {questions:?}");
    assert!(!seen.contains(canary), "{seen}");
    assert!(!seen.contains("5550123"), "{seen}");
    assert!(shown.text.contains("(not shown)"), "{}", shown.text);
    let stored = set_now(&house, 111, "cipassword").unwrap();
    assert!(stored.starts_with("$5$"), "it arrived: {stored}");
}

/// So does the environment of a container, where programs are given their secrets; also once it is set.
#[tokio::test]
async fn the_environment_is_seen_nowhere() {
    let (old, new) = ("canary-0ld", "canary-n3w");
    let house = House::new().await;
    house.set(200, "env", &format!("DB_PASSWORD={old}"));
    let args = json!({"vmid": 200, "set": {"env": format!("DB_PASSWORD={new}")}});
    let person = Person::saying_yes();
    let shown = preview(&house, &args).await;
    let answer = house.ask(UPDATE, &args.to_string(), &person).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let gone = preview(&house, &json!({"vmid": 200, "delete": ["env"]})).await;
    let status = r#"{"vmid": 200, "include": ["config", "pending"]}"#;
    let status = house.call("get_proxmox_vm_status", status).await.unwrap();
    let store = house.engine.store().await.unwrap();
    let trail = store.audit_trail(1000).await.unwrap();
    let plan = store
        .plan(answer.data["plan"].as_str().unwrap())
        .await
        .unwrap();
    let questions = person.asked.lock().unwrap();
    let sent = call(UPDATE, &args.to_string());
    let seen = format!(
        "{shown:?} {answer:?} {gone:?} {status:?} {trail:?} {plan:?} {questions:?} {sent:?}"
    );
    assert!(!seen.contains(old) && !seen.contains(new), "{seen}");
    assert!(status.text.contains("env: (not shown)"), "{}", status.text);
    let waiting = house
        .sim
        .world(|world| world.guests[&200].pending["env"].clone());
    assert_eq!(waiting.unwrap(), format!("DB_PASSWORD={new}"), "it arrived");
}
