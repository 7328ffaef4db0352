//! Typing on a VM's console that is broken off, looked at in vain, or cannot be at all.

use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use tools::engine::{Asked, Progress, Question, Talk};
use tools::fault::Fault;
use tools::policy::{Mode, Policy};
use tools::tool::Rendered;

use crate::house::{CALLER, Furnish, House, Person};

/// Long enough to be broken off, with a shift key in every stroke.
const TEXT: &str =
    r#"{"vmid": 100, "text": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "pace": 40}"#;
const STROKES: u64 = 40;

fn inputs(house: &House) -> u64 {
    house.sim.world(|world| world.guests[&100].display.inputs)
}

fn held(house: &House) -> Vec<&'static str> {
    house
        .sim
        .world(|world| world.guests[&100].display.keyboard.held().to_vec())
}

/// Waits until some keys were pressed.
async fn until_typing(house: &House) {
    while inputs(house) < 12 {
        tokio::task::yield_now().await;
    }
}

/// Typing that something stops: told how far it came, nothing pressed from then on, no key left down.
async fn assert_stopped(house: &House, outcome: Result<Rendered, Fault>, why: &str) {
    let said = outcome.unwrap_err().to_string();
    assert!(said.contains(why), "{said}");
    assert!(said.contains(" of 40 strokes were sent"), "{said}");
    assert!(said.contains("capture_vm_screen"), "{said}");
    let pressed = inputs(house);
    assert!(pressed < STROKES * 4, "{pressed} events");
    assert_eq!(pressed % 4, 0, "a stroke was broken off");
    assert_eq!(held(house), [""; 0]);
    // Nothing comes later.
    let _ = house.call("capture_vm_screen", r#"{"vmid": 100}"#).await;
    assert_eq!(inputs(house), pressed);
    assert_eq!(house.audit().await.1[0], "failed");
}

#[tokio::test]
async fn how_far_it_is_is_told_with_every_stroke() {
    let house = House::in_mode(Mode::Trusted).await;
    let person = Person::saying_yes();
    let text = r#"{"vmid": 100, "text": "abcd"}"#;
    house.ask("type_vm_text", text, &person).await.unwrap();
    let told = person.progress.lock().unwrap();
    let shares: Vec<_> = told.iter().filter_map(|it| it.fraction).collect();
    assert_eq!(shares, [0.25, 0.5, 0.75, 1.0]);
}

#[tokio::test]
async fn the_kill_switch_stops_it_between_two_strokes() {
    let dir = tempfile::tempdir().unwrap();
    let switch = dir.path().join("frozen");
    let house = House::furnished(Furnish {
        policy: Policy {
            mode: Mode::Trusted,
            freeze: Some(switch.clone()),
            ..Policy::default()
        },
        ..Furnish::default()
    })
    .await;
    let freezing = async {
        until_typing(&house).await;
        std::fs::write(&switch, "").unwrap();
    };
    let (outcome, ()) = tokio::join!(house.call("type_vm_text", TEXT), freezing);
    assert_stopped(&house, outcome, "oxmox is frozen").await;
}

#[tokio::test]
async fn whoever_cancels_it_stops_it() {
    let house = House::in_mode(Mode::Trusted).await;
    let cancelling = async {
        until_typing(&house).await;
        let plans = house.engine.at_work_for(CALLER).await;
        house.engine.cancel(&plans[0], CALLER).await.unwrap()
    };
    let (outcome, cancelled) = tokio::join!(house.call("type_vm_text", TEXT), cancelling);
    assert!(
        !matches!(cancelled, tools::engine::Cancelled::Undecided(_)),
        "{cancelled:?}"
    );
    assert_stopped(&house, outcome, "cancelled by test").await;
}

/// A caller who takes the call back.
#[derive(Default)]
struct Fickle(AtomicBool);

impl Talk for Fickle {
    fn progress(&self, _: Progress) {}

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        Box::pin(async { Asked::Nobody })
    }

    fn gone(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_caller_who_goes_away_stops_it() {
    let house = House::in_mode(Mode::Trusted).await;
    let caller = Fickle::default();
    let leaving = async {
        until_typing(&house).await;
        caller.0.store(true, Ordering::Relaxed);
    };
    let typing = house.ask("type_vm_text", TEXT, &caller);
    let (outcome, ()) = tokio::join!(typing, leaving);
    assert_stopped(&house, outcome, "the caller has gone").await;
}

#[tokio::test]
async fn a_call_that_is_dropped_stops_it() {
    let house = House::in_mode(Mode::Trusted).await;
    tokio::select! {
        _ = house.call("type_vm_text", TEXT) => panic!("it ended"),
        () = until_typing(&house) => {}
    }
    while !house.engine.at_work_for(CALLER).await.is_empty() {
        tokio::task::yield_now().await;
    }
    let pressed = inputs(&house);
    assert!(pressed < STROKES * 4, "{pressed} events");
    assert_eq!(house.audit().await, (1, vec!["failed".to_owned()]));
    assert_eq!(held(&house), [""; 0]);
}

#[tokio::test]
async fn a_caller_who_does_not_want_to_wait_does_not_stop_it() {
    let house = House::in_mode(Mode::Trusted).await;
    let text = r#"{"vmid": 100, "text": "AAAAAAAAAA", "wait": 0}"#;
    let begun = house.call("type_vm_text", text).await.unwrap();
    assert_eq!(begun.data["status"], "running", "{}", begun.text);
    let task = serde_json::json!({"upid": begun.data["plan"], "wait": 20}).to_string();
    let ended = house.call("get_proxmox_task", &task).await.unwrap();
    assert!(ended.text.contains("taken 10 strokes"), "{}", ended.text);
    assert_eq!(inputs(&house), 40);
}

#[tokio::test]
async fn interrupted_secret_is_reported_by_its_strokes() {
    let house = House::in_mode(Mode::Trusted).await;
    let caller = Fickle::default();
    let secret = TEXT.replace("\"text\"", "\"secret\"");
    let leaving = async {
        until_typing(&house).await;
        caller.0.store(true, Ordering::Relaxed);
    };
    let typing = house.ask("type_vm_text", &secret, &caller);
    let (outcome, ()) = tokio::join!(typing, leaving);
    assert!(!format!("{outcome:?}").contains("AAA"));
    assert_stopped(&house, outcome, "the caller has gone").await;
}

#[tokio::test]
async fn a_screen_that_cannot_be_seen_afterwards_takes_no_key_back() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in [
        (
            "type_vm_text",
            r#"{"vmid": 100, "text": "aaaaaaaaaaaaaaaaaaaa", "look": true}"#,
        ),
        (
            "send_vm_key",
            r#"{"vmid": 100, "key": "down", "look": true}"#,
        ),
    ] {
        let before = house.sim.world(|world| world.guests[&100].keys.len());
        let pressed = || house.sim.world(|world| world.guests[&100].keys.len()) > before;
        let breaking = async {
            while !pressed() {
                tokio::task::yield_now().await;
            }
            let refused = sim::Fault::refuse(500, "the lamp is broken");
            house
                .sim
                .fault(refused.on("POST", "/nodes/pve1/qemu/100/vncproxy"));
        };
        let (outcome, ()) = tokio::join!(house.call(tool, args), breaking);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.data["status"], "applied", "{}", outcome.text);
        let unseen = "the screen cannot be seen (";
        assert!(outcome.text.contains(unseen), "{}", outcome.text);
        assert!(
            outcome.text.contains("the lamp is broken"),
            "{}",
            outcome.text
        );
        assert!(outcome.images.is_empty());
        house.sim.clear_faults();
    }
}

#[tokio::test]
async fn a_key_whose_answer_is_lost_is_looked_for_on_the_screen() {
    let house = House::in_mode(Mode::Trusted).await;
    let lost = sim::Fault::drop_after().on("PUT", "/nodes/pve1/qemu/100/sendkey");
    house.sim.fault(lost);
    let key = r#"{"vmid": 100, "key": "ret"}"#;
    let outcome = house.call("send_vm_key", key).await.unwrap();
    assert_eq!(outcome.data["status"], "unknown", "{}", outcome.text);
    let next = outcome.data["next"].as_str().unwrap();
    assert!(next.contains("capture_vm_screen with vmid 100"), "{next}");
}

#[tokio::test]
async fn a_template_is_not_told_to_be_started() {
    let house = House::in_mode(Mode::Trusted).await;
    for (tool, args) in [
        ("type_vm_text", r#"{"vmid": 900, "text": "a"}"#),
        ("send_vm_key", r#"{"vmid": 900, "key": "ret"}"#),
        ("capture_vm_screen", r#"{"vmid": 900}"#),
    ] {
        let fault = house.call(tool, args).await.unwrap_err().to_string();
        assert!(fault.contains("is a template"), "{fault}");
        assert!(fault.contains("clone_proxmox_vm"), "{fault}");
        assert!(!fault.contains("start_proxmox_vm"), "{fault}");
    }
}

#[tokio::test]
async fn a_clumsy_key_is_answered_with_what_to_send() {
    let house = House::in_mode(Mode::Trusted).await;
    let many = ["a"; 51].join(" ");
    let wide = ["a"; 11].join("-");
    for (key, said) in [
        ("ctrl*alt*del", "join QEMU's names with"),
        ("Return", ""),
        ("contrl-c", "did you mean"),
        ("", "no key was given"),
        (" \t ", "no key was given"),
        (&many, "51 strokes at once are too many"),
        (&wide, "11 keys at once are too many"),
        ("audiomute a", "only alone"),
        ("ctrl--", "is no key"),
    ] {
        let args = serde_json::json!({"vmid": 100, "key": key}).to_string();
        let answer = house.call("send_vm_key", &args).await;
        let text = answer.map_or_else(
            |fault| format!("{fault} {}", fault.hint.clone().unwrap_or_default()),
            |answer| answer.text,
        );
        assert!(text.contains(said), "{key:?}: {text}");
    }
}

#[tokio::test]
async fn a_vm_with_a_serial_port_for_a_screen_says_where_to_look_and_type() {
    let house = House::in_mode(Mode::Trusted).await;
    house.set(100, "vga", "type=serial0,memory=16");
    house.set(100, "serial0", "socket");
    let seen = house.call("capture_vm_screen", r#"{"vmid": 100}"#).await;
    let seen = seen.unwrap();
    assert_eq!(seen.images.len(), 1);
    assert!(seen.text.contains("interface serial0"), "{}", seen.text);
    let note = seen.data["note"].as_str().unwrap();
    assert!(note.contains("read_vm_terminal"), "{note}");
    for (tool, args) in [
        ("type_vm_text", r#"{"vmid": 100, "text": "root"}"#),
        ("send_vm_key", r#"{"vmid": 100, "key": "down down"}"#),
    ] {
        let fault = house.call(tool, args).await.unwrap_err().to_string();
        assert!(fault.contains("the serial port serial0"), "{fault}");
        assert!(fault.contains("send_vm_terminal_line"), "{fault}");
    }
    assert_eq!(inputs(&house), 0);
    let one = r#"{"vmid": 100, "key": "ret"}"#;
    let pressed = house.call("send_vm_key", one).await.unwrap();
    assert_eq!(pressed.data["status"], "applied", "{}", pressed.text);
    assert!(
        pressed.text.contains("may read no keyboard"),
        "{}",
        pressed.text
    );
}
