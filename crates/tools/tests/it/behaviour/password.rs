//! A person's login: a ticket instead of a token, and what PVE lets nobody but root@pam do.

use sim::worlds::ROOT_PASSWORD;
use tools::policy::{Mode, Policy};

use crate::house::{House, Nobody, call, done};

fn trusting() -> Policy {
    Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    }
}

#[tokio::test]
async fn a_change_is_made_with_a_ticket() {
    let house = House::new().await;
    let engine = house.with_password("root@pam", ROOT_PASSWORD, trusting());
    for (tool, args) in [
        ("start_proxmox_vm", r#"{"vmid": 105}"#),
        ("snapshot_proxmox_vm", r#"{"vmid": 105, "name": "by-hand"}"#),
        ("clone_proxmox_vm", r#"{"vmid": 105, "name": "copy"}"#),
    ] {
        let answer = done(engine.call(call(tool, args), &Nobody).await).unwrap();
        assert_eq!(answer.data["status"], "applied", "{tool}: {}", answer.text);
    }
    assert!(house.runs(105));
    let logins = house.writes();
    let tickets = logins.iter().filter(|it| *it == "POST /access/ticket");
    assert_eq!(tickets.count(), 1, "one ticket does for all: {logins:?}");
}

#[tokio::test]
async fn a_wrong_password_changes_nothing() {
    let house = House::new().await;
    let engine = house.with_password("root@pam", "wrong", trusting());
    let start = call("start_proxmox_vm", r#"{"vmid": 105}"#);
    let fault = engine.call(start, &Nobody).await.unwrap_err();
    assert!(!fault.to_string().contains("wrong\""), "{fault}");
    assert!(!house.runs(105));
}

/// Not even a token of root@pam may set these.
#[tokio::test]
async fn only_root_itself_sets_what_is_roots() {
    let house = House::in_mode(Mode::Trusted).await;
    let args = r#"{"vmid": 105, "set": {"args": "-no-hpet"}}"#;
    let fault = house.call("update_proxmox_vm", args).await.unwrap_err();
    assert!(
        fault
            .message
            .contains("PVE lets only root@pam itself change `args`"),
        "{fault}"
    );
    assert_eq!(house.config(105, "args"), None);
    let engine = house.with_password("root@pam", ROOT_PASSWORD, trusting());
    let update = call("update_proxmox_vm", args);
    let answer = done(engine.call(update, &Nobody).await).unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(house.config(105, "args").as_deref(), Some("-no-hpet"));
}
