//! Reading and typing on the terminals of the demo's guests.

use tools::policy::{Mode, Policy};

use crate::house::{CALLER, House, Meanwhile, Nobody, call, done};

/// Somebody at the terminal of a container, by other means.
pub(super) fn somebody_types(house: &House, line: &str) {
    house.set(200, "cmode", "shell");
    house.sim.world(|world| {
        let now = world.now;
        let guest = world.guests.get_mut(&200).unwrap();
        let (place, _) = guest.attach();
        guest.type_on(place, line.as_bytes(), (now, &mut 0), &mut Vec::new());
    });
    assert_eq!(house.typed(), line.len());
}

#[tokio::test]
async fn a_login_is_made_line_by_line() {
    let house = House::logged_in(Mode::Trusted).await;
    let seen = house.call("read_vm_terminal", r#"{"vmid": 200}"#).await;
    let seen = seen.unwrap();
    assert!(seen.text.contains("shows nothing yet"), "{}", seen.text);
    assert!(seen.text.contains("empty line"), "{}", seen.text);
    for (args, came) in [
        (r#"{"vmid": 200, "line": ""}"#, "dns login:"),
        (r#"{"vmid": 200, "line": "root"}"#, "Password:"),
        (r#"{"vmid": 200, "secret": "demo"}"#, "without Enter"),
        (
            r##"{"vmid": 200, "line": "", "wait_for": "# "}"##,
            "root@dns:~#",
        ),
        (
            r#"{"vmid": 200, "line": "echo $((40+2))", "wait_for": "42"}"#,
            "  | 42\n",
        ),
    ] {
        let answer = house.call("send_vm_terminal_line", args).await.unwrap();
        assert_eq!(answer.data["status"], "applied", "{}", answer.text);
        assert!(answer.text.contains(came), "{args}: {}", answer.text);
    }
    let text = house
        .call("read_vm_terminal", r#"{"vmid": 200}"#)
        .await
        .unwrap()
        .text;
    assert!(text.contains("waits for a command"), "{text}");
    assert!(text.contains("  | root@dns:~#"), "{text}");
}

#[tokio::test]
async fn a_serial_port_answers_once_it_is_asked() {
    let house = House::logged_in(Mode::Trusted).await;
    let args = r#"{"vmid": 106, "line": "", "wait_for": "login:"}"#;
    let answer = house.call("send_vm_terminal_line", args).await.unwrap();
    assert!(answer.text.contains("build login:"), "{}", answer.text);
    assert!(
        answer.text.contains("asks for a user's name"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn what_cannot_work_is_said_before() {
    let house = House::logged_in(Mode::Trusted).await;
    for (args, said, way) in [
        (
            r#"{"vmid": 100, "line": "x"}"#,
            "no serial port",
            "serial0=socket",
        ),
        (
            r#"{"vmid": 203, "line": "x"}"#,
            "is stopped",
            "start_proxmox_vm",
        ),
        (r#"{"vmid": 200}"#, "nothing to type", "presses Enter"),
        (
            r#"{"vmid": 200, "secret": "a", "wait_for": "b"}"#,
            "without Enter",
            "line \"\"",
        ),
        (
            r#"{"vmid": 200, "secret": "a\nb"}"#,
            "line end",
            "printable",
        ),
        (r#"{"vmid": 200, "secret": ""}"#, "is empty", "line \"\""),
        (
            r#"{"vmid": 200, "line": "a", "secret": "b"}"#,
            "both given",
            "one of them",
        ),
        (
            r#"{"vmid": 200, "line": "a\nb"}"#,
            "control character",
            "one line",
        ),
    ] {
        let fault = house.call("send_vm_terminal_line", args).await.unwrap_err();
        let text = fault.to_string();
        let text = format!("{text} {}", fault.hint.unwrap_or_default());
        assert!(text.contains(said) && text.contains(way), "{args}: {text}");
    }
    for (args, said) in [
        (r#"{"vmid": 100}"#, "no serial port"),
        (r#"{"vmid": 203}"#, "is stopped"),
    ] {
        let fault = house.call("read_vm_terminal", args).await.unwrap_err();
        assert!(fault.message.contains(said), "{fault}");
    }
    assert_eq!(house.typed(), 0);
}

#[tokio::test]
async fn a_half_typed_line_is_told_and_never_met_by_surprise() {
    let house = House::logged_in(Mode::Trusted).await;
    somebody_types(&house, "rm -r /srv/old");
    let line = r#"{"vmid": 200, "line": "ls"}"#;
    let preview = house.preview("send_vm_terminal_line", line).await.unwrap();
    assert!(preview.text.contains("begun to type"), "{}", preview.text);
    assert!(!preview.text.contains("/srv/old"), "{}", preview.text);
    let cleared = r#"{"vmid": 200, "line": "echo fresh", "ctrl_c": true}"#;
    let answer = house.call("send_vm_terminal_line", cleared).await.unwrap();
    assert!(answer.text.contains("  | fresh"), "{}", answer.text);
    assert!(
        answer.text.contains("before it, the terminal holds"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_terminal_that_somebody_took_meanwhile_is_left_alone() {
    let house = House::logged_in(Mode::Ask).await;
    somebody_types(&house, "\r");
    let person = Meanwhile(|| {
        house.sim.world(|world| {
            let now = world.now;
            let guest = world.guests.get_mut(&200).unwrap();
            let (place, _) = guest.attach();
            guest.type_on(place, b"vi ", (now, &mut 0), &mut Vec::new());
        });
    });
    let line = r#"{"vmid": 200, "line": "ls"}"#;
    let fault = house.ask("send_vm_terminal_line", line, &person).await;
    let fault = fault.unwrap_err().to_string();
    assert!(fault.contains("nothing was typed"), "{fault}");
    assert_eq!(house.typed(), "\rvi ".len());
}

#[tokio::test]
async fn a_text_that_does_not_come_leaves_it_unknown() {
    let house = House::logged_in(Mode::Trusted).await;
    somebody_types(&house, "\r");
    let line = r#"{"vmid": 200, "line": "echo a", "wait_for": "nowhere", "timeout": 1}"#;
    let answer = house.call("send_vm_terminal_line", line).await.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    assert!(
        answer.text.contains("did not come within 1 s"),
        "{}",
        answer.text
    );
}

#[tokio::test]
async fn a_text_that_is_only_typed_has_not_come() {
    let house = House::logged_in(Mode::Trusted).await;
    somebody_types(&house, "\r");
    let line =
        r#"{"vmid": 200, "line": "sleep 500; echo READY", "wait_for": "READY", "timeout": 1}"#;
    let answer = house.call("send_vm_terminal_line", line).await.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    let line = r#"{"vmid": 200, "line": "echo READY", "wait_for": "READY", "ctrl_c": true}"#;
    let answer = house.call("send_vm_terminal_line", line).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
}

/// A look without the right to it names that.
#[tokio::test]
async fn looks_name_the_privilege_that_is_missing() {
    let house = House::new().await;
    let audit = ("/vms/100", &["VM.Audit"][..]);
    let screen = house.call_with(audit, "capture_vm_screen", r#"{"vmid": 100}"#);
    let fault = screen.await.unwrap_err();
    let text = format!("{fault} {}", fault.hint.clone().unwrap_or_default());
    assert!(text.contains("VM.Console on /vms/100"), "{text}");
}

#[tokio::test]
async fn a_secret_that_the_terminal_shows_is_not_passed_on() {
    let house = House::logged_in(Mode::Trusted).await;
    somebody_types(&house, "\r");
    let line = r#"{"vmid": 200, "secret": "hunter2-canary"}"#;
    let preview = house.preview("send_vm_terminal_line", line).await.unwrap();
    assert!(
        preview.text.contains("shown to whoever"),
        "{}",
        preview.text
    );
    let answer = house.call("send_vm_terminal_line", line).await.unwrap();
    let said = format!("{}{:?}", answer.text, answer.data);
    assert!(!said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn a_paused_or_closed_terminal_and_a_template_are_told_before() {
    let house = House::logged_in(Mode::Trusted).await;
    let line = r#"{"vmid": 106, "line": "ls"}"#;
    let pause = r#"{"vmid": 106, "action": "suspend"}"#;
    house.call("stop_proxmox_vm", pause).await.unwrap();
    for (tool, args) in [
        ("send_vm_terminal_line", line),
        ("read_vm_terminal", r#"{"vmid": 106}"#),
    ] {
        let fault = house.call(tool, args).await.unwrap_err().to_string();
        assert!(fault.contains("is paused"), "{fault}");
        assert!(fault.contains("start_proxmox_vm"), "{fault}");
    }
    let template = r#"{"vmid": 900, "line": "ls"}"#;
    let fault = house.call("send_vm_terminal_line", template).await;
    let fault = fault.unwrap_err().to_string();
    assert!(fault.contains("is a template"), "{fault}");
    // A display on a port that is not there: the proxy opens, says so, and closes.
    house.set(100, "vga", "serial1");
    house.set(100, "serial0", "socket");
    let closed = r#"{"vmid": 100, "line": "ls"}"#;
    let fault = house.call("send_vm_terminal_line", closed).await;
    let fault = fault.unwrap_err().to_string();
    assert!(fault.contains("closed at once and said: "), "{fault}");
    assert!(fault.contains("is not configured"), "{fault}");
    assert_eq!(house.typed(), 0);
}

/// Somebody types at the terminal of container 200 while a person thinks.
fn meanwhile(house: &House, typed: &[u8]) {
    house.sim.world(|world| {
        let now = world.now;
        let guest = world.guests.get_mut(&200).unwrap();
        let (place, _) = guest.attach();
        guest.type_on(place, typed, (now, &mut 0), &mut Vec::new());
    });
}

#[tokio::test]
async fn a_secret_meant_for_a_password_is_typed_nowhere_else() {
    const SECRET: &str = r#"{"vmid": 200, "secret": "hunter2-canary"}"#;
    let house = House::logged_in(Mode::Ask).await;
    // It asks for a password; then somebody enters the right one.
    meanwhile(&house, b"root\r");
    let typed = house.typed();
    let person = Meanwhile(|| meanwhile(&house, b"demo\r"));
    let fault = house.ask("send_vm_terminal_line", SECRET, &person).await;
    let fault = fault.unwrap_err().to_string();
    assert!(fault.contains("waits for a command by now"), "{fault}");
    assert!(fault.contains("nothing was typed"), "{fault}");
    assert_eq!(house.typed(), typed + "demo\r".len());
}

#[tokio::test]
async fn ctrl_c_does_not_lead_a_secret_astray() {
    let house = House::logged_in(Mode::Trusted).await;
    meanwhile(&house, b"root\r");
    let typed = house.typed();
    // Ctrl-c ends the question for the password: what comes then shows what is typed.
    let secret = r#"{"vmid": 200, "secret": "hunter2-canary", "ctrl_c": true}"#;
    let fault = house.call("send_vm_terminal_line", secret).await;
    let fault = fault.unwrap_err().to_string();
    assert!(fault.contains("ctrl-c was pressed, then: "), "{fault}");
    assert!(fault.contains("the line was not typed"), "{fault}");
    assert_eq!(house.typed(), typed + 1);
}

#[tokio::test]
async fn the_kill_switch_stops_a_line_after_its_ctrl_c() {
    let dir = tempfile::tempdir().unwrap();
    let switch = dir.path().join("frozen");
    let house = House::logged_in(Mode::Trusted).await;
    somebody_types(&house, "sleep 500\r");
    let policy = Policy {
        mode: Mode::Trusted,
        freeze: Some(switch.clone()),
        ..Policy::default()
    };
    let engine = house.with_password("root@pam", sim::worlds::ROOT_PASSWORD, policy);
    let typed = house.typed();
    let freezing = async {
        while house.typed() == typed {
            tokio::task::yield_now().await;
        }
        std::fs::write(&switch, "").unwrap();
    };
    let line = r#"{"vmid": 200, "line": "reboot", "ctrl_c": true}"#;
    let typing = engine.call(call("send_vm_terminal_line", line), &Nobody);
    let (answer, ()) = tokio::join!(typing, freezing);
    let fault = done(answer).unwrap_err().to_string();
    assert!(fault.contains("oxmox is frozen"), "{fault}");
    assert!(fault.contains("the line was not typed"), "{fault}");
    assert_eq!(house.typed(), typed + 1);
}

#[tokio::test]
async fn whoever_cancels_a_wait_hears_what_was_typed() {
    let house = House::logged_in(Mode::Trusted).await;
    somebody_types(&house, "\r");
    let typed = house.typed();
    let cancelling = async {
        while house.typed() == typed {
            tokio::task::yield_now().await;
        }
        let plans = house.engine.at_work_for(CALLER).await;
        house.engine.cancel(&plans[0], CALLER).await.unwrap();
    };
    let line = r#"{"vmid": 200, "line": "echo a", "wait_for": "nowhere", "timeout": 40}"#;
    let typing = house.call("send_vm_terminal_line", line);
    let (answer, ()) = tokio::join!(typing, cancelling);
    let answer = answer.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    let said = "the line was typed, then test cancelled the wait";
    assert!(answer.text.contains(said), "{}", answer.text);
    let next = answer.data["next"].as_str().unwrap();
    assert!(next.contains("read_vm_terminal"), "{next}");
}
