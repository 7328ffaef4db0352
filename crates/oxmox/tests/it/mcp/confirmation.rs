//! Changes that a person decides on: asked in the call (2025), between two calls (2026), or out of band.

use std::time::Duration;

use oxmox::mcp::{Pace, Server};
use serde_json::{Value, json};

use super::wire::{BOTH, Era, Person, Wire, is_error, says, text, yes};
use super::{World, world};

const STOP: &str = "stop_proxmox_vm";
const STOPPED: [&str; 1] = ["POST /nodes/pve2/qemu/110/status/stop"];

fn stop() -> Value {
    json!({"vmid": 110, "action": "stop"})
}

fn status(result: &Value) -> &str {
    result["structuredContent"]["status"].as_str().unwrap()
}

/// The first half of a 2026 call: the question.
async fn question(world: &World) -> (Wire, Value) {
    let mut wire = Wire::new(world, Era::Y2026, Person::Silent).await;
    let asked = wire.call(STOP, stop()).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert_eq!(world.writes(), Vec::<String>::new());
    (wire, asked)
}

/// The second half, with any answers and state.
fn retry(state: &Value, answers: &Value) -> Value {
    json!({"name": STOP, "arguments": stop(), "requestState": state, "inputResponses": answers})
}

fn approval() -> Value {
    json!({"confirm": {"action": "accept", "content": {"approve": true}}})
}

#[tokio::test]
async fn a_yes_applies_it_and_the_form_says_what_to() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::new(&world, era, yes()).await;
        let result = wire.call(STOP, stop()).await;
        assert_eq!(status(&result), "applied", "{}", text(&result));
        assert_eq!(world.writes(), STOPPED);
        let [form] = wire.forms.as_slice() else {
            panic!("asked {} times", wire.forms.len())
        };
        let message = form["message"].as_str().unwrap();
        assert!(message.contains("VM 110 (desktop)"), "{message}");
        assert!(message.contains("Risk: disrupt"), "{message}");
        let schema = &form["requestedSchema"];
        assert_eq!(schema["properties"]["approve"]["type"], "boolean");
        assert_eq!(schema["required"], json!(["approve"]));
    }
}

#[tokio::test]
async fn anything_but_a_yes_sends_nothing() {
    let answers = [
        says("decline", &json!(null)),
        says("accept", &json!({"approve": false})),
        says("accept", &json!({})),
        says("accept", &json!({"approve": "true"})),
    ];
    for era in BOTH {
        for person in answers.clone() {
            let world = world().await;
            let mut wire = Wire::new(&world, era, person).await;
            let result = wire.call(STOP, stop()).await;
            assert_eq!(status(&result), "not_applied");
            assert!(text(&result).contains("a person said no"));
            assert_eq!(wire.forms.len(), 1);
            assert_eq!(world.writes(), Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn a_question_put_away_is_neither_a_no_nor_the_models_to_answer() {
    let put_away = says("cancel", &json!(null));
    for (era, person) in BOTH
        .map(|era| (era, put_away.clone()))
        .into_iter()
        .chain([(Era::Y2025, Person::Unreachable)])
    {
        let world = world().await;
        let mut wire = Wire::new(&world, era, person).await;
        let result = wire.call(STOP, stop()).await;
        assert_eq!(status(&result), "needs_confirmation", "{}", text(&result));
        assert_eq!(result["structuredContent"].get("confirm"), None);
        assert_eq!(wire.forms.len(), 1);
        assert_eq!(world.writes(), Vec::<String>::new());
        let waiting = world
            .engine
            .store()
            .await
            .unwrap()
            .waiting_plans(0)
            .await
            .unwrap();
        assert_eq!(waiting.len(), 1);
    }
}

#[tokio::test]
async fn nobody_to_ask_leaves_it_waiting() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let result = wire.call(STOP, stop()).await;
        assert_eq!(status(&result), "needs_confirmation");
        assert!(text(&result).contains("oxmox approve"));
        assert_eq!(world.writes(), Vec::<String>::new());
        // A disruption may be confirmed by the model itself.
        let mut again = stop();
        again["confirm"] = result["structuredContent"]["confirm"].clone();
        let result = wire.call(STOP, again).await;
        assert_eq!(status(&result), "applied", "{}", text(&result));
    }
}

#[tokio::test]
async fn a_person_who_takes_too_long_has_not_said_no() {
    let world = world().await;
    let pace = Pace {
        patience: Duration::from_millis(20),
        ..Pace::default()
    };
    let server = Server::at_pace(world.engine.clone(), pace);
    let mut wire = Wire::on(server, Era::Y2025, Person::Silent).await;
    let result = wire.call(STOP, stop()).await;
    assert_eq!(status(&result), "needs_confirmation");
    assert_eq!(wire.forms.len(), 1);
    assert_eq!(world.writes(), Vec::<String>::new());
    let plan = result["structuredContent"]["plan"].as_str().unwrap();
    let store = world.engine.store().await.unwrap();
    let waiting = store.waiting_plans(0).await.unwrap();
    assert_eq!(
        waiting.iter().map(|plan| &plan.id).collect::<Vec<_>>(),
        [plan]
    );
}

#[tokio::test]
async fn a_cancelled_call_stops_waiting_for_a_person() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2025, Person::Silent).await;
    let call = json!({"name": STOP, "arguments": stop()});
    let id = wire.send("tools/call", call).await;
    let asked = wire.receive().await;
    assert_eq!(asked["method"], "elicitation/create");
    wire.notify("notifications/cancelled", json!({"requestId": id}))
        .await;
    wire.hang_up().await.unwrap();
    assert_eq!(world.writes(), Vec::<String>::new());
    let waiting = world
        .engine
        .store()
        .await
        .unwrap()
        .waiting_plans(0)
        .await
        .unwrap();
    assert_eq!(waiting.len(), 1);
}

#[tokio::test]
async fn a_state_counts_once() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Silent).await;
    // A reset leaves the guest as it was: a second one would be sent if it could.
    let reset = json!({"vmid": 110, "action": "reset"});
    let asked = wire.call(STOP, reset.clone()).await;
    let mut again = retry(&asked["requestState"], &approval());
    again["arguments"] = reset;
    let first = wire.result("tools/call", again.clone()).await;
    assert_eq!(status(&first), "applied", "{}", text(&first));
    let second = wire.result("tools/call", again).await;
    assert!(is_error(&second), "{second}");
    assert!(text(&second).contains("was used already"), "{second}");
    assert_eq!(world.writes(), ["POST /nodes/pve2/qemu/110/status/reset"]);
}

#[tokio::test]
async fn a_tampered_state_is_refused() {
    let world = world().await;
    let (mut wire, asked) = question(&world).await;
    let state = asked["requestState"].as_str().unwrap();
    let (id, seal) = state.split_once('.').unwrap();
    let flipped = if seal.starts_with('0') { "1" } else { "0" };
    let forged = [
        format!("{id}.{flipped}{}", &seal[1..]),
        format!("{id}."),
        format!("00000000.{seal}"),
        "nonsense".to_owned(),
        String::new(),
    ];
    for state in forged {
        let answer = wire
            .request("tools/call", retry(&json!(state), &approval()))
            .await;
        // The client's fault and not the model's, so it is a protocol error.
        assert_eq!(answer["error"]["code"], -32602, "{state}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("confirmation"), "{message}");
    }
    assert_eq!(world.writes(), Vec::<String>::new());
    // The real one is none the worse for it.
    let result = wire.result("tools/call", retry(&json!(state), &approval()));
    assert_eq!(status(&result.await), "applied");
}

#[tokio::test]
async fn a_state_is_for_its_own_call_only() {
    let world = world().await;
    let (mut wire, asked) = question(&world).await;
    let mut other_guest = retry(&asked["requestState"], &approval());
    other_guest["arguments"]["vmid"] = json!(100);
    let mut other_action = retry(&asked["requestState"], &approval());
    other_action["arguments"]["action"] = json!("reset");
    let mut other_client = retry(&asked["requestState"], &approval());
    other_client["_meta"] = json!({});
    for params in [other_guest, other_action] {
        let result = wire.result("tools/call", params).await;
        assert!(is_error(&result), "{result}");
    }
    let mut stranger = Wire::new(&world, Era::Y2026, Person::Silent).await;
    stranger.name = "stranger".to_owned();
    let result = stranger.result("tools/call", other_client).await;
    assert!(is_error(&result), "{result}");
    assert_eq!(world.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_state_without_a_readable_answer_decides_nothing() {
    let world = world().await;
    let (mut wire, asked) = question(&world).await;
    for answers in [
        json!({}),
        json!({"confirm": 7}),
        json!({"other": approval()["confirm"]}),
    ] {
        let params = retry(&asked["requestState"], &answers);
        let result = wire.result("tools/call", params).await;
        assert_eq!(status(&result), "needs_confirmation", "{result}");
    }
    assert_eq!(world.writes(), Vec::<String>::new());
}

/// A key: whoever agrees must see whose it is.
fn key(length: usize) -> String {
    format!("ssh-rsa AAAAB3Nz{} me@laptop", "Q".repeat(length))
}

#[tokio::test]
async fn what_is_granted_is_seen_in_full() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::new(&world, era, yes()).await;
        let update = json!({"vmid": 111, "set": {"sshkeys": key(700)}});
        let result = wire.call("update_proxmox_vm", update).await;
        assert_eq!(status(&result), "applied", "{}", text(&result));
        let message = wire.forms[0]["message"].as_str().unwrap();
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        assert!(bare(message).contains(&bare(&key(700))), "{message}");
    }
}

#[tokio::test]
async fn what_no_form_can_hold_is_left_to_the_terminal() {
    for era in BOTH {
        let world = world().await;
        let mut wire = Wire::new(&world, era, yes()).await;
        let update = json!({"vmid": 111, "set": {"sshkeys": key(9_000)}});
        let result = wire.call("update_proxmox_vm", update).await;
        assert_eq!(status(&result), "needs_confirmation", "{result}");
        assert!(text(&result).contains("approve"), "{}", text(&result));
        assert_eq!(result["structuredContent"].get("confirm"), None);
        assert_eq!(wire.forms.len(), 0);
        assert_eq!(world.writes(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_answer_without_a_state_is_no_answer() {
    let world = world().await;
    let mut wire = Wire::new(&world, Era::Y2026, Person::Silent).await;
    let params = json!({"name": STOP, "arguments": stop(), "inputResponses": approval()});
    let result = wire.result("tools/call", params).await;
    assert_eq!(result["resultType"], "input_required");
    // And a 2025 client has no such thing as an answer in the call.
    let mut wire = Wire::new(&world, Era::Y2025, Person::Absent).await;
    let params = retry(&result["requestState"], &approval());
    let result = wire.result("tools/call", params).await;
    assert_eq!(status(&result), "needs_confirmation");
    assert_eq!(world.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn one_yes_may_cover_ten_minutes_of_keys() {
    for (era, ticked) in BOTH.into_iter().flat_map(|era| [(era, true), (era, false)]) {
        let world = world().await;
        let answer = json!({"approve": true, "ten_minutes": ticked});
        let mut wire = Wire::new(&world, era, says("accept", &answer)).await;
        for key in ["enter", "tab"] {
            let press = json!({"vmid": 110, "key": key});
            let result = wire.call("send_vm_key", press).await;
            assert_eq!(status(&result), "applied", "{}", text(&result));
        }
        assert_eq!(wire.forms.len(), if ticked { 1 } else { 2 });
        let offered = &wire.forms[0]["requestedSchema"]["properties"]["ten_minutes"];
        assert_eq!(offered["default"], false);
        assert_eq!(world.writes().len(), 2);
    }
}
