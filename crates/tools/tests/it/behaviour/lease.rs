//! One approval that covers ten minutes of keys and text on one VM.

use tools::caller::Caller;
use tools::engine::{Answered, Asked, Reply};
use tools::policy::{Mode, Policy, Rule, Verdict};

use crate::house::{Furnish, House, Nobody, Person, call, done};

const PRESS: (&str, &str) = ("send_vm_key", r#"{"vmid": 100, "key": "ret"}"#);
const TYPE: (&str, &str) = ("type_vm_text", r#"{"vmid": 100, "text": "ls"}"#);

/// A person who approves ten minutes of keys with each answer.
fn generous() -> Person {
    Person::saying(Asked::Yes {
        by: "person".to_owned(),
        lease: true,
    })
}

/// The status of a call with nobody to ask.
async fn status(house: &House, (tool, args): (&str, &str)) -> String {
    let answer = house.call(tool, args).await.unwrap();
    answer.data["status"].as_str().unwrap().to_owned()
}

/// A house where one approval has just covered ten minutes of keys on VM 100.
async fn leased() -> House {
    let house = House::logged_in(Mode::Ask).await;
    let person = generous();
    house.ask(PRESS.0, PRESS.1, &person).await.unwrap();
    assert!(person.asked.lock().unwrap()[0].can_lease);
    assert_eq!(status(&house, PRESS).await, "applied");
    house
}

#[tokio::test]
async fn one_approval_may_cover_ten_minutes_of_keys_on_one_guest() {
    let house = leased().await;
    assert_eq!(status(&house, TYPE).await, "applied");
    let several = ("send_vm_key", r#"{"vmid": 100, "key": "a b c"}"#);
    assert_eq!(status(&house, several).await, "applied");
    house.later(9 * 60);
    assert_eq!(status(&house, PRESS).await, "applied");
    house.later(2 * 60);
    for typed in [PRESS, TYPE] {
        assert_eq!(status(&house, typed).await, "needs_confirmation");
    }
}

#[tokio::test]
async fn lease_covers_nothing_but_keys_and_text_on_its_guest() {
    let house = leased().await;
    house.set(100, "serial0", "socket");
    for other in [
        ("send_vm_key", r#"{"vmid": 110, "key": "ret"}"#),
        ("type_vm_text", r#"{"vmid": 106, "text": "ls"}"#),
        ("stop_proxmox_vm", r#"{"vmid": 100}"#),
        (
            "run_proxmox_vm_command",
            r#"{"vmid": 100, "command": "ls"}"#,
        ),
        ("send_vm_terminal_line", r#"{"vmid": 100, "line": "ls"}"#),
    ] {
        assert_eq!(
            status(&house, other).await,
            "needs_confirmation",
            "{other:?}"
        );
    }
}

#[tokio::test]
async fn lease_is_for_its_caller_alone() {
    let house = leased().await;
    let mut other = call(PRESS.0, PRESS.1);
    other.caller = Caller::from("somebody else");
    let answer = done(house.engine.call(other, &Nobody).await).unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
}

#[tokio::test]
async fn lease_ends_when_the_vmid_belongs_to_another_guest() {
    let house = leased().await;
    let uuid = "uuid=00000000-1111-2222-3333-444444444444";
    house.set(100, "smbios1", uuid);
    assert_eq!(status(&house, PRESS).await, "needs_confirmation");
}

/// A text that nobody can read is asked about each time.
#[tokio::test]
async fn lease_does_not_cover_a_secret_text() {
    let house = leased().await;
    let secret = r#"{"vmid": 100, "secret": "hunter2"}"#;
    let person = generous();
    house.ask("type_vm_text", secret, &person).await.unwrap();
    house.ask("type_vm_text", secret, &person).await.unwrap();
    let asked = person.asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    assert!(asked.iter().all(|question| !question.can_lease));
}

#[tokio::test]
async fn each_key_on_a_protected_guest_asks_though_a_lease_was_granted_before() {
    for (key, value) in [("protection", "1"), ("tags", "web;Protected")] {
        let house = leased().await;
        let before = house.config(100, key);
        house.set(100, key, value);
        for typed in [PRESS, TYPE] {
            assert_eq!(status(&house, typed).await, "needs_confirmation", "{key}");
            let person = generous();
            for _ in 0..2 {
                house.ask(typed.0, typed.1, &person).await.unwrap();
            }
            let asked = person.asked.lock().unwrap();
            assert_eq!(asked.len(), 2, "{key}");
            assert!(asked.iter().all(|question| !question.can_lease), "{key}");
        }
        // Nothing was granted while it was protected, and what was granted before is still timed.
        house.later(11 * 60);
        house.set(100, key, before.as_deref().unwrap_or("0"));
        assert_eq!(status(&house, PRESS).await, "needs_confirmation", "{key}");
    }
}

/// What is typed there may destroy the guest, which protection refuses in every mode.
#[tokio::test]
async fn keys_on_a_protected_guest_ask_in_every_mode_and_under_every_rule() {
    let allow = Rule {
        verdict: Some(Verdict::Allow),
        ..Rule::default()
    };
    for mode in [Mode::Ask, Mode::Trusted] {
        let house = House::furnished(Furnish {
            policy: Policy {
                mode,
                rules: vec![allow.clone()],
                ..Policy::default()
            },
            ..Furnish::default()
        })
        .await;
        for typed in [PRESS, TYPE] {
            assert_eq!(status(&house, typed).await, "applied");
        }
        let pressed = house.writes().len();
        house.set(100, "protection", "1");
        for typed in [PRESS, TYPE] {
            assert_eq!(
                status(&house, typed).await,
                "needs_confirmation",
                "{mode:?}"
            );
        }
        assert_eq!(house.writes().len(), pressed);
    }
}

/// A person at the page or at another terminal can grant it with their approval.
#[tokio::test]
async fn lease_can_be_granted_with_an_approval_elsewhere() {
    let house = House::new().await;
    house.call(PRESS.0, PRESS.1).await.unwrap();
    let owner = Caller::from("owner");
    let waiting = house.engine.inbox(&owner).await.unwrap().remove(0);
    assert!(waiting.can_lease);
    let (id, digest) = (&waiting.stored.id, &waiting.stored.digest);
    let decided = house.engine.decide(id, digest, true, &owner).await.unwrap();
    assert!(house.engine.lease_keys(&decided).await.unwrap());
    for typed in [PRESS, TYPE, PRESS] {
        assert_eq!(status(&house, typed).await, "applied");
    }
    let stop = ("stop_proxmox_vm", r#"{"vmid": 100}"#);
    house.call(stop.0, stop.1).await.unwrap();
    let waiting = house.engine.inbox(&owner).await.unwrap().remove(0);
    assert!(!waiting.can_lease);
    assert!(!house.engine.lease_keys(&waiting.stored).await.unwrap());
}

/// Two questions are open; the person lets the first cover ten minutes and rejects the second. The rejection holds.
#[tokio::test]
async fn rejection_holds_though_a_lease_would_cover_the_call() {
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
    let with_lease = Asked::Yes {
        by: "person".to_owned(),
        lease: true,
    };
    house
        .engine
        .call(answer("ret", &states[0], with_lease), &later)
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
