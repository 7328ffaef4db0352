//! Pressing, typing and seeing, on the demo's VMs.

use tools::policy::Mode;

use crate::house::House;

/// The PNG's own width and height.
fn size(png: &[u8]) -> (u32, u32) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

fn inputs(house: &House, vmid: u32) -> u64 {
    house.sim.world(|world| world.guests[&vmid].display.inputs)
}

async fn at_login(house: &House) {
    house.sim.advance(std::time::Duration::from_mins(10));
    let seen = house.call("capture_vm_screen", r#"{"vmid": 100}"#).await;
    let text = seen.unwrap().text;
    assert!(text.contains("login:"), "{text}");
}

#[tokio::test]
async fn a_screen_is_seen_and_read() {
    let house = House::in_mode(Mode::ReadOnly).await;
    house.sim.advance(std::time::Duration::from_mins(10));
    let seen = house.call("capture_vm_screen", r#"{"vmid": 100}"#).await;
    let seen = seen.unwrap();
    assert!(seen.text.contains("login:"), "{}", seen.text);
    assert_eq!(seen.data["screen_width"], 720);
    assert_eq!(size(&seen.images[0].png), (720, 400));
    let part = r#"{"vmid": 100, "area": "0,0,720,64", "width": 360}"#;
    let part = house.call("capture_vm_screen", part).await.unwrap();
    assert_eq!(size(&part.images[0].png), (360, 32));
    assert_eq!(inputs(&house, 100), 0, "watching sent input");
}

#[tokio::test]
async fn text_is_typed_and_seen_in_one_call() {
    let house = House::in_mode(Mode::Trusted).await;
    at_login(&house).await;
    let typed = r#"{"vmid": 100, "text": "root", "enter": true, "look": true}"#;
    let outcome = house.call("type_vm_text", typed).await.unwrap();
    assert_eq!(outcome.data["status"], "applied", "{}", outcome.text);
    assert!(outcome.text.contains("login: root"), "{}", outcome.text);
    assert!(outcome.text.contains("Password:"), "{}", outcome.text);
    assert_eq!(size(&outcome.images[0].png), (720, 400));
}

#[tokio::test]
async fn a_typed_secret_is_seen_nowhere() {
    const CANARY: &str = "Kanarienvogel7";
    let house = House::in_mode(Mode::Trusted).await;
    at_login(&house).await;
    // At a prompt that echoes what is typed.
    let secret = format!(r#"{{"vmid": 100, "secret": "{CANARY}", "look": true}}"#);
    let preview = house.preview("type_vm_text", &secret).await.unwrap();
    let outcome = house.call("type_vm_text", &secret).await.unwrap();
    assert!(
        outcome.text.contains("QEMU has taken 14 strokes"),
        "{}",
        outcome.text
    );
    // The picture shows it; its text would be kept.
    assert_eq!(outcome.images.len(), 1);
    let store = house.engine.store().await.unwrap();
    let trail = store.audit_trail(100).await.unwrap();
    let trail = serde_json::to_string(&trail.iter().map(|link| &link.entry).collect::<Vec<_>>());
    let plan = format!(r#"{{"upid": {}}}"#, outcome.data["plan"]);
    let kept = house.call("get_proxmox_task", &plan);
    let kept = kept
        .await
        .map_or_else(|fault| fault.to_string(), |kept| kept.text);
    let data = |answer: &tools::tool::Rendered| serde_json::to_string(&answer.data).unwrap();
    let said = [
        data(&preview),
        data(&outcome),
        preview.text,
        outcome.text,
        trail.unwrap(),
        kept,
    ];
    for text in said {
        assert!(!text.contains(CANARY), "{text}");
    }
    let number = house
        .call("type_vm_text", r#"{"vmid": 100, "secret": 48291377}"#)
        .await;
    assert!(!number.unwrap_err().to_string().contains("48291377"));
    let trail = store.audit_trail(100).await.unwrap();
    let trail = serde_json::to_string(&trail.iter().map(|link| &link.entry).collect::<Vec<_>>());
    assert!(!trail.unwrap().contains("48291377"));
}

#[tokio::test]
async fn a_paused_vm_loses_no_keys() {
    let house = House::in_mode(Mode::Trusted).await;
    let pause = r#"{"vmid": 100, "action": "suspend"}"#;
    house.call("stop_proxmox_vm", pause).await.unwrap();
    for (tool, args) in [
        ("type_vm_text", r#"{"vmid": 100, "text": "ls"}"#),
        ("send_vm_key", r#"{"vmid": 100, "key": "ret"}"#),
    ] {
        let fault = house.call(tool, args).await.unwrap_err();
        assert!(fault.to_string().contains("is paused"), "{fault}");
    }
    assert_eq!(inputs(&house, 100), 0);
}

#[tokio::test]
async fn a_look_that_is_broken_off_is_closed_in_the_trail() {
    let house = House::in_mode(Mode::Trusted).await;
    let look = house.call(
        "capture_vm_screen",
        r#"{"vmid": 100, "wait_for_change": 40}"#,
    );
    let patience = std::time::Duration::from_millis(300);
    assert!(tokio::time::timeout(patience, look).await.is_err());
    assert_eq!(house.audit().await, (1, vec!["failed".to_owned()]));
}

#[tokio::test]
async fn a_run_of_keys_is_pressed_in_order() {
    let house = House::in_mode(Mode::Trusted).await;
    at_login(&house).await;
    let keys = r#"{"vmid": 100, "key": "r o o t backspace T", "look": true}"#;
    let outcome = house.call("send_vm_key", keys).await.unwrap();
    assert!(outcome.text.contains("login: rooT"), "{}", outcome.text);
    let held = r#"{"vmid": 100, "key": "ctrl-alt-delete", "hold": 30}"#;
    house.call("send_vm_key", held).await.unwrap();
    let pressed = house.sim.world(|world| world.guests[&100].keys.clone());
    assert_eq!(pressed.last().map(String::as_str), Some("ctrl-alt-delete"));
}

#[tokio::test]
async fn what_cannot_be_typed_is_said_before() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, said) in [
        (
            r#"{"vmid": 100, "text": "grün"}"#,
            "'ü' is not on a us keyboard",
        ),
        (
            r#"{"vmid": 100, "secret": "grün"}"#,
            "character 3 of the secret",
        ),
        (
            r#"{"vmid": 100, "secret": "a", "enter": true}"#,
            "a secret is typed without Enter",
        ),
        (r#"{"vmid": 100, "secret": "a\n"}"#, "holds a line end"),
        (r#"{"vmid": 100, "secret": "a\tb"}"#, "holds a line end"),
        (r#"{"vmid": 100}"#, "nothing to type"),
        (r#"{"vmid": 100, "text": "a", "secret": "b"}"#, "both given"),
        (r#"{"vmid": 100, "text": "a", "pace": 5}"#, "out of range"),
        (r#"{"vmid": 200, "text": "a"}"#, "is a container"),
        (r#"{"vmid": 105, "text": "a"}"#, "is stopped"),
    ] {
        let fault = house.call("type_vm_text", args).await.unwrap_err();
        assert!(fault.message.contains(said), "{args}: {fault}");
        assert!(
            fault.hint.is_some() || fault.message.contains("start it"),
            "{args}: {fault}"
        );
    }
    let dark = house.call("capture_vm_screen", r#"{"vmid": 105}"#).await;
    assert!(dark.unwrap_err().message.contains("is stopped"));
    let outside = r#"{"vmid": 100, "area": "700,0,100,100"}"#;
    let outside = house.call("capture_vm_screen", outside).await.unwrap_err();
    assert!(outside.message.contains("720x400"), "{outside}");
}

#[tokio::test]
async fn a_console_that_does_not_open_takes_no_key() {
    let house = House::in_mode(Mode::Trusted).await;
    house
        .sim
        .fault(sim::Fault::drop_before().on("GET", "/nodes/pve1/qemu/100/vncwebsocket"));
    let fault = house
        .call("type_vm_text", r#"{"vmid": 100, "text": "ls"}"#)
        .await;
    let fault = fault.unwrap_err().to_string();
    assert!(fault.contains("no key was pressed"), "{fault}");
    assert_eq!(inputs(&house, 100), 0);
}

#[tokio::test]
async fn a_console_that_breaks_tells_how_far_it_came_and_claims_nothing() {
    let house = House::in_mode(Mode::Trusted).await;
    let text = r#"{"vmid": 100, "text": "aaaaaaaaaaaaaaaaaaaa", "pace": 50}"#;
    let typing = house.call("type_vm_text", text);
    let breaking = async {
        while inputs(&house, 100) < 6 {
            tokio::task::yield_now().await;
        }
        house.sim.world(|world| {
            world.guests.get_mut(&100).unwrap().stop();
        });
    };
    let (outcome, ()) = tokio::join!(typing, breaking);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.data["status"], "unknown", "{}", outcome.text);
    assert!(
        outcome.text.contains(" of 20 strokes were sent"),
        "{}",
        outcome.text
    );
    assert!(
        outcome.text.contains("capture_vm_screen"),
        "{}",
        outcome.text
    );
}
