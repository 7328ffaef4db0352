//! The value by which a model confirms what it was shown: once, for a while, and never for what only a person may decide.

use tools::engine::{Asked, Reply};
use tools::policy::Policy;

use crate::house::{Furnish, House, Person, call};

const DELETE: (&str, &str) = ("delete_proxmox_vm", r#"{"vmid": 105}"#);
const STOP: (&str, &str) = ("stop_proxmox_vm", r#"{"vmid": 100}"#);

/// Disrupt-risk: the model may send the confirm value that it was shown.
#[tokio::test]
async fn a_confirm_value_applies_once() {
    let house = House::new().await;
    let shown = house.call(STOP.0, STOP.1).await.unwrap();
    let confirm = shown.data["confirm"].as_str().unwrap();
    let with = |value: &str| format!(r#"{{"vmid": 100, "confirm": "{value}"}}"#);

    let tampered = house
        .call(STOP.0, &with(&format!("{confirm}0")))
        .await
        .unwrap_err();
    assert!(
        tampered.message.contains("is not one that oxmox gave"),
        "{tampered}"
    );
    let elsewhere = house
        .call(
            STOP.0,
            &format!(r#"{{"vmid": 110, "confirm": "{confirm}"}}"#),
        )
        .await
        .unwrap_err();
    assert!(
        elsewhere.message.contains("was given for another call"),
        "{elsewhere}"
    );
    assert_eq!(house.writes(), [""; 0]);

    let done = house.call(STOP.0, &with(confirm)).await.unwrap();
    assert_eq!(done.data["status"], "applied");
    house
        .call("start_proxmox_vm", r#"{"vmid": 100}"#)
        .await
        .unwrap();
    let replayed = house.call(STOP.0, &with(confirm)).await.unwrap_err();
    assert!(replayed.message.contains("was used already"), "{replayed}");
    assert_eq!(
        house
            .writes()
            .iter()
            .filter(|write| write.ends_with("/status/shutdown"))
            .count(),
        1
    );
}

#[tokio::test]
async fn a_confirm_value_expires() {
    let house = House::new().await;
    let shown = house.call(STOP.0, STOP.1).await.unwrap();
    house.later(16 * 60);
    let args = format!(r#"{{"vmid": 100, "confirm": {}}}"#, shown.data["confirm"]);
    let fault = house.call(STOP.0, &args).await.unwrap_err();
    assert!(fault.message.contains("has expired"), "{fault}");
    assert_eq!(house.writes(), [""; 0]);
}

/// Destroy-risk: no value is handed out, and the state of a question is none.
#[tokio::test]
async fn a_model_cannot_confirm_its_own_delete() {
    let house = House::new().await;
    let shown = house.call(DELETE.0, DELETE.1).await.unwrap();
    assert!(shown.data.get("confirm").is_none());
    let Reply::Ask(question) = house
        .engine
        .call(call(DELETE.0, DELETE.1), &Person::saying(Asked::Later))
        .await
        .unwrap()
    else {
        panic!("no question");
    };
    let args = format!(r#"{{"vmid": 105, "confirm": "{}"}}"#, question.state);
    let fault = house.call(DELETE.0, &args).await.unwrap_err();
    assert!(
        fault.message.contains("is not one that oxmox gave"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_model_can_if_a_person_configured_it_so() {
    let policy = Policy {
        allow_model_confirm: true,
        ..Policy::default()
    };
    let house = House::furnished(Furnish {
        policy,
        ..Furnish::default()
    })
    .await;
    let shown = house.call(DELETE.0, DELETE.1).await.unwrap();
    let args = format!(r#"{{"vmid": 105, "confirm": {}}}"#, shown.data["confirm"]);
    assert_eq!(
        house.call(DELETE.0, &args).await.unwrap().data["status"],
        "applied"
    );
}

/// A person who was asked and has not decided is not answered for by the model.
#[tokio::test]
async fn a_dismissed_question_hands_out_no_confirm_value() {
    let house = House::new().await;
    let answer = house
        .ask(STOP.0, STOP.1, &Person::saying(Asked::Undecided))
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    assert!(answer.data.get("confirm").is_none());
    house.approve(answer.data["plan"].as_str().unwrap()).await;
    let done = house.call(STOP.0, STOP.1).await.unwrap();
    assert_eq!(done.data["status"], "applied");
}
