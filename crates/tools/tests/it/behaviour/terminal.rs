//! Reading and typing on the terminals of the demo's guests.

use tools::policy::Mode;

use crate::house::{House, Meanwhile};

/// Somebody at the terminal of a container, by other means.
fn somebody_types(house: &House, line: &str) {
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
        (
            r##"{"vmid": 200, "secret": "demo", "wait_for": "# "}"##,
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
        (r#"{"vmid": 200}"#, "nothing to type", "presses enter"),
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
async fn a_command_in_a_container_gives_its_output_and_exit_code() {
    let house = House::logged_in(Mode::Trusted).await;
    house.set(200, "cmode", "shell");
    for (args, code, output) in [
        (
            r#"{"vmid": 200, "command": ["echo", "it's; $HOME"]}"#,
            0,
            "it's; $HOME\n",
        ),
        (
            r#"{"vmid": 200, "command": ["echo out; echo err >&2; exit 3"]}"#,
            3,
            "out\nerr\n",
        ),
        (
            r#"{"vmid": 200, "command": ["nosuch", "x"]}"#,
            127,
            "bash: nosuch: command not found\n",
        ),
    ] {
        let answer = house.call("run_proxmox_vm_command", args).await.unwrap();
        let result = &answer.data["steps"][0]["result"];
        assert_eq!(result["exit_code"], code, "{args}: {}", answer.text);
        assert_eq!(result["output"], output, "{args}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_command_in_a_container_needs_a_shell_that_waits() {
    let house = House::logged_in(Mode::Trusted).await;
    let run = r#"{"vmid": 200, "command": ["id"]}"#;
    let fault = house.call("run_proxmox_vm_command", run).await.unwrap_err();
    assert!(fault.to_string().contains("cmode: shell"), "{fault}");
    assert!(
        fault.to_string().contains(r#""set": {"cmode": "shell"}"#),
        "{fault}"
    );
    // A login session that is open stays, whatever is configured since.
    let login = r#"{"vmid": 200, "line": "", "wait_for": "login:"}"#;
    house.call("send_vm_terminal_line", login).await.unwrap();
    let typed = house.typed();
    house.set(200, "cmode", "shell");
    let fault = house.call("run_proxmox_vm_command", run).await.unwrap_err();
    assert!(
        fault.to_string().contains("stays attached until it ends"),
        "{fault}"
    );
    assert!(fault.to_string().contains("nothing was typed"), "{fault}");
    assert_eq!(house.typed(), typed);
}

#[tokio::test]
async fn a_command_does_not_join_what_somebody_types() {
    let house = House::logged_in(Mode::Trusted).await;
    somebody_types(&house, "rm -r /srv/old");
    let run = r#"{"vmid": 200, "command": ["id"]}"#;
    let fault = house.call("run_proxmox_vm_command", run).await.unwrap_err();
    assert!(fault.to_string().contains("begun to type"), "{fault}");
    assert_eq!(house.typed(), "rm -r /srv/old".len());
    let input = r#"{"vmid": 200, "command": ["cat"], "input": "x"}"#;
    let fault = house
        .call("run_proxmox_vm_command", input)
        .await
        .unwrap_err();
    assert!(fault.message.contains("reads no input"), "{fault}");
}

#[tokio::test]
async fn a_command_that_does_not_end_runs_on_and_is_told_so() {
    let house = House::logged_in(Mode::Trusted).await;
    house.set(200, "cmode", "shell");
    let run = r#"{"vmid": 200, "command": ["sleep", "500"], "timeout": 1}"#;
    let answer = house.call("run_proxmox_vm_command", run).await.unwrap();
    assert_eq!(answer.data["status"], "unknown", "{}", answer.text);
    assert!(
        answer.text.contains("runs on in the terminal"),
        "{}",
        answer.text
    );
}
