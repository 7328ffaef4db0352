//! What setup changes on a cluster stands in the audit trail: as it is made, as it fails, and as it is taken back.

use sim::Fault;
use tools::store::{AuditEntry, Store};

use super::Place;

const WORDS: &[&str] = &[
    "--level=read",
    "--name=home",
    "--secret-store=file",
    "--yes",
];

/// Each request with what became of it, in order.
async fn told(place: &Place) -> Vec<(String, String)> {
    let store = Store::open(&place.machine.state_dir()).unwrap();
    let trail = store.audit_trail(100).await.unwrap();
    let mut told = Vec::new();
    let mut open = None;
    for link in trail {
        match link.entry {
            AuditEntry::Opened {
                plan,
                tool,
                arguments,
                caller,
                confirmed_by,
                pve_identity,
                ..
            } => {
                assert_eq!((open, tool.as_str()), (None, "setup"));
                assert_eq!(pve_identity.as_deref(), Some("root@pam"));
                assert_eq!(Some(caller), confirmed_by.map(|name| format!("cli:{name}")));
                let request = arguments["request"].as_str().unwrap();
                let words: Vec<_> = request.split(' ').take(2).collect();
                let words = words.join(" ");
                // A token is called as this machine is.
                let words = match words.split_once("/token/") {
                    Some((before, _)) => format!("{before}/token/*"),
                    None => words,
                };
                told.push((words, "open".to_owned()));
                open = Some(plan);
            }
            AuditEntry::Closed { plan, result, .. } => {
                assert_eq!(open.take(), Some(plan));
                told.last_mut().unwrap().1 = result;
            }
            AuditEntry::Decided { .. } => panic!("nobody else was asked"),
        }
    }
    told
}

const MADE: [&str; 4] = [
    "POST /access/roles",
    "POST /access/users",
    "POST /access/users/oxmox@pve/token/*",
    "PUT /access/acl",
];

const UNMADE: [&str; 4] = [
    "PUT /access/acl",
    "DELETE /access/users/oxmox@pve/token/*",
    "DELETE /access/users/oxmox@pve",
    "DELETE /access/roles/oxmox-read",
];

fn all(requests: &[&str], result: &str) -> Vec<(String, String)> {
    let each = requests.iter();
    each.map(|request| ((*request).to_owned(), result.to_owned()))
        .collect()
}

#[tokio::test]
async fn what_is_made_and_what_is_taken_back() {
    let place = Place::new().await;
    place.setup(WORDS).await.exits(0);
    assert_eq!(told(&place).await, all(&MADE, "applied"));
    place.undo().await.exits(0);
    let both = [all(&MADE, "applied"), all(&UNMADE, "applied")].concat();
    assert_eq!(told(&place).await, both);
    let secret = sim::worlds::ROOT_PASSWORD;
    let ran = place.run(&["audit", "--json"]).await.exits(0);
    assert!(!ran.stdout.contains(secret), "{}", ran.stdout);
    place.run(&["audit", "verify"]).await.exits(0);
}

#[tokio::test]
async fn what_fails_and_what_nobody_knows() {
    let place = Place::new().await;
    let lost = Fault::drop_after().on("PUT", "/access/acl").times(1);
    place.sim.fault(lost);
    place.setup(WORDS).await.exits(1);
    let mut expected = all(&MADE, "applied");
    expected[3].1 = "unknown".to_owned();
    expected.extend(all(&UNMADE, "applied"));
    assert_eq!(told(&place).await, expected);
    let refused = Fault::refuse(500, "got no lock").on("POST", "/access/roles");
    place.sim.fault(refused);
    place.setup(WORDS).await.exits(1);
    expected.extend(all(&MADE[..1], "failed"));
    assert_eq!(told(&place).await, expected);
}

#[tokio::test]
async fn nothing_is_written_down_where_nothing_is_done() {
    let place = Place::new().await;
    place.setup_with(WORDS, "wrong").await.exits(1);
    let dry = [WORDS, &["--dry-run"]].concat();
    place.setup(&dry).await.exits(0);
    assert_eq!(place.files(), [""; 0]);
}

/// A state directory in which there can be no store.
#[tokio::test]
async fn without_a_trail_it_goes_on_and_says_so() {
    let place = Place::new().await;
    std::fs::create_dir_all(place.machine.state_dir().join("oxmox.db")).unwrap();
    let ran = place.setup(WORDS).await.exits(0);
    ran.says("what is changed on the cluster is not in the audit trail");
    place.undo().await.exits(0);
    assert_eq!(place.ours(), [""; 0]);
}

/// What it says to type is about the same state.
#[tokio::test]
async fn a_command_that_is_shown_finds_the_same_state() {
    let place = Place::new().await;
    let (frozen, broken) = (place.home("frozen"), place.home("broken"));
    let oxmox = |state: &std::path::Path| format!("oxmox --state-dir {}", state.display());
    let flag = |state: &std::path::Path| format!("--state-dir={}", state.display());
    place.run(&[&flag(&frozen), "freeze"]).await.exits(0);
    let ran = place.setup(&[WORDS, &[&flag(&frozen)]].concat()).await;
    ran.exits(1).says(&format!("`{} thaw`", oxmox(&frozen)));
    // There can be no store.
    std::fs::create_dir_all(broken.join("oxmox.db")).unwrap();
    let ran = place.setup(&[WORDS, &[&flag(&broken)]].concat()).await;
    ran.exits(0).says(&format!("`{} doctor`", oxmox(&broken)));
}
