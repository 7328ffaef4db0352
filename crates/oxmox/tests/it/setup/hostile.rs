//! A PVE that is not one's friend: what it says is shown, and does nothing to a terminal; what it was told stays secret.

use sim::Fault;
use sim::world::factor::Factor;
use sim::worlds::ROOT_PASSWORD;

use super::{Place, READ_HOME};
use crate::cli::Ran;

/// What a terminal would act on; C1 controls need no escape character.
const ACTS: &str = "\u{9b}2J\u{9d}0;owned\u{9c}\u{202e}\u{2066}";

#[track_caller]
fn harmless(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let hostile = |c: char| {
            c.is_control() && c != '\n'
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!text.contains(hostile), "{ran:#?}");
    }
}

#[tokio::test]
async fn names_do_nothing() {
    let place = Place::new().await;
    let status = serde_json::json!([
        {"type": "cluster", "name": format!("home{ACTS}\u{1b}[2J"), "nodes": 1, "quorate": 1, "id": "cluster"},
        {"type": "node", "name": "pve1", "online": 1, "local": 1, "id": "node/pve1"},
    ]);
    place
        .sim
        .fault(Fault::answer("GET", "/cluster/status", status));
    let ran = place.setup(&[READ_HOME, &["--dry-run"]].concat()).await;
    harmless(&ran.exits(0).prints("home2J"));
    let pools = serde_json::json!([{"poolid": format!("lab{ACTS}\u{1b}[31m")}]);
    place.sim.fault(Fault::answer("GET", "/pools", pools));
    let ran = place
        .setup(&[READ_HOME, &["--pools", "nosuch"]].concat())
        .await
        .exits(1);
    harmless(&ran.says("lab2J"));
}

#[tokio::test]
async fn names_do_nothing_when_it_is_taken_back() {
    let place = Place::new().await;
    place.setup(READ_HOME).await.exits(0);
    let rules = serde_json::json!([
        {"path": "/", "type": "user", "ugid": format!("eve{ACTS}\u{1b}[2J@pve"), "roleid": "oxmox-read", "propagate": 1},
    ]);
    place.sim.fault(Fault::answer("GET", "/access/acl", rules));
    for flag in ["--dry-run", "--yes"] {
        let words = ["--undo", flag, "--password-stdin"];
        let ran = place.told(&words, ROOT_PASSWORD).await.exits(0);
        harmless(&ran);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("used by eve2J"), "{said}");
    }
}

#[tokio::test]
async fn what_it_was_told_is_not_repeated() {
    let place = Place::new().await;
    place.sim.world(|world| {
        let root = world.access.users.get_mut("root@pam").unwrap();
        root.factors = vec![Factor::totp(*b"12345678901234567890")];
    });
    let code = place.sim.world(|world| {
        let factor = &world.access.users["root@pam"].factors[0];
        factor.code(world.now).unwrap()
    });
    let says = format!("you said {ROOT_PASSWORD} and {code}");
    place
        .sim
        .fault(Fault::refuse(500, &says).on("PUT", "/access/acl"));
    let words = [READ_HOME, &["--totp", &code]].concat();
    let ran = place.setup(&words).await.exits(1);
    for secret in [ROOT_PASSWORD, &code] {
        assert!(!ran.stderr.contains(secret), "{ran:#?}");
    }
    ran.says("you said <redacted> and <redacted>");
    // While it is told, too.
    place.sim.clear_faults();
    place
        .sim
        .fault(Fault::refuse(500, &says).on("POST", "/access/ticket"));
    let ran = place.setup(&words).await.exits(1);
    assert!(!ran.stderr.contains(ROOT_PASSWORD), "{ran:#?}");
}
