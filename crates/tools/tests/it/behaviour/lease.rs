//! One yes that covers a run of key presses.

use tools::engine::{Answered, Asked, Reply};

use crate::house::{House, Person, call};

#[tokio::test]
async fn one_yes_may_cover_ten_minutes_of_keys_on_one_guest() {
    let house = House::new().await;
    let generous = Person::saying(Asked::Yes {
        by: "person".to_owned(),
        lease: true,
    });
    let press = r#"{"vmid": 100, "key": "ret"}"#;
    house.ask("send_vm_key", press, &generous).await.unwrap();
    assert!(generous.asked.lock().unwrap()[0].can_lease);
    assert_eq!(
        house.call("send_vm_key", press).await.unwrap().data["status"],
        "applied"
    );
    let elsewhere = house
        .call("send_vm_key", r#"{"vmid": 110, "key": "ret"}"#)
        .await
        .unwrap();
    assert_eq!(elsewhere.data["status"], "needs_confirmation");
    let other_tool = house
        .call("stop_proxmox_vm", r#"{"vmid": 100}"#)
        .await
        .unwrap();
    assert_eq!(other_tool.data["status"], "needs_confirmation");
    house.later(11 * 60);
    assert_eq!(
        house.call("send_vm_key", press).await.unwrap().data["status"],
        "needs_confirmation"
    );
}

/// Two questions are open; the person lets the first cover ten minutes and says no to the second. The no holds.
#[tokio::test]
async fn a_no_holds_though_an_earlier_yes_would_cover_it() {
    let house = House::new().await;
    let later = Person::saying(Asked::Later);
    let mut states = Vec::new();
    for key in ["ret", "esc"] {
        let call = call(
            "send_vm_key",
            &format!(r#"{{"vmid": 100, "key": "{key}"}}"#),
        );
        match house.engine.call(call, &later).await.unwrap() {
            Reply::Ask(question) => states.push(question.state.clone()),
            other => panic!("no question: {other:?}"),
        }
    }
    let answer = |key: &str, state: &str, said: Asked| {
        let mut call = call(
            "send_vm_key",
            &format!(r#"{{"vmid": 100, "key": "{key}"}}"#),
        );
        call.answer = Some(Answered {
            state: state.to_owned(),
            said,
        });
        call
    };
    let generous = Asked::Yes {
        by: "person".to_owned(),
        lease: true,
    };
    house
        .engine
        .call(answer("ret", &states[0], generous), &later)
        .await
        .unwrap();
    let no = Asked::No {
        by: "person".to_owned(),
    };
    let Reply::Done(answer) = house
        .engine
        .call(answer("esc", &states[1], no), &later)
        .await
        .unwrap()
    else {
        panic!("asked again");
    };
    assert_eq!(answer.data["status"], "not_applied");
    assert_eq!(house.writes().len(), 1);
}
