//! The value by which a model confirms what it was shown: once, for a while, and never for what only a person may decide.

use tools::engine::{Asked, Reply};
use tools::policy::{Confirm, Mode, Policy};

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
async fn confirm_person_leaves_interruptions_to_a_person() {
    let house = House::furnished(Furnish::default()).await;
    let shown = house.call(STOP.0, STOP.1).await.unwrap();
    let with_value = format!(r#"{{"vmid": 100, "confirm": {}}}"#, shown.data["confirm"]);
    let policy = Policy {
        confirm: Confirm::Person,
        ..Policy::default()
    };
    house.engine.decide_by(policy).unwrap();
    // A value that was given before does not count any more.
    let fault = house.call(STOP.0, &with_value).await.unwrap_err();
    assert!(fault.message.contains("a person must approve"), "{fault}");
    let shown = house.call(STOP.0, STOP.1).await.unwrap();
    assert_eq!(shown.data["status"], "needs_confirmation");
    assert!(shown.data.get("confirm").is_none(), "{}", shown.text);
    assert_eq!(house.writes(), [""; 0]);
    house.approve(shown.data["plan"].as_str().unwrap()).await;
    let done = house.call(STOP.0, STOP.1).await.unwrap();
    assert_eq!(done.data["status"], "applied");
}

/// Keys on a console can do anything in the guest.
#[tokio::test]
async fn keys_and_text_are_never_confirmed_by_the_client() {
    let house = House::logged_in(Mode::Ask).await;
    for (tool, args) in [
        ("send_vm_key", r#"{"vmid": 100, "key": "ret"}"#),
        ("send_vm_key", r#"{"vmid": 100, "key": "a b ret"}"#),
        ("type_vm_text", r#"{"vmid": 100, "text": "reboot"}"#),
        ("type_vm_text", r#"{"vmid": 101, "text": "reboot"}"#),
        (
            "send_vm_terminal_line",
            r#"{"vmid": 200, "line": "reboot"}"#,
        ),
    ] {
        let shown = house.call(tool, args).await.unwrap();
        assert_eq!(shown.data["status"], "needs_confirmation", "{tool} {args}");
        assert_eq!(shown.data["risk"], "grant", "{tool} {args}");
        assert!(shown.data.get("confirm").is_none(), "{}", shown.text);
        let later = Person::saying(Asked::Later);
        let asked = house.engine.call(call(tool, args), &later).await.unwrap();
        let Reply::Ask(question) = asked else {
            panic!("no question");
        };
        let mut confirmed = call(tool, args);
        let state = question.state.clone().into();
        confirmed.arguments.insert("confirm".to_owned(), state);
        let fault = house.engine.call(confirmed, &later).await.unwrap_err();
        let forged = "is not one that oxmox gave";
        assert!(fault.message.contains(forged), "{fault}");
    }
    let pressed = |vmid: u32| house.sim.world(|world| world.guests[&vmid].keys.len());
    assert_eq!((pressed(100), pressed(101), house.typed()), (0, 0, 0));
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
