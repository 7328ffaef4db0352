//! Users, tokens and rights: what is handed out, and what of it is told.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sim::Fault as Trouble;
use tools::engine::State;
use tools::policy::{Mode, Policy};

use crate::house::{Furnish, House};

fn trusted() -> Policy {
    Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    }
}

async fn keeping(dir: &Path) -> House {
    House::furnished(Furnish {
        policy: trusted(),
        state: State::Dir(dir.to_owned()),
        ..Furnish::default()
    })
    .await
}

const TOKEN: &str = r#"{"userid": "bob@pve", "tokenid": "ci"}"#;

fn secret(house: &House) -> String {
    house.sim.world(|world| {
        let token = &world.access.users["bob@pve"].tokens["ci"];
        token.secret.clone()
    })
}

/// Every file below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[tokio::test]
async fn the_secret_of_a_new_token_is_in_one_file_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let house = keeping(dir.path()).await;
    let answer = house.call("create_user_token", TOKEN).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    let secret = secret(&house);
    let trail = house
        .engine
        .store()
        .await
        .unwrap()
        .audit_trail(100)
        .await
        .unwrap();
    let trail: Vec<_> = trail.iter().map(|link| &link.entry).collect();
    let said = [
        answer.text.clone(),
        Value::Object(answer.data.clone()).to_string(),
        serde_json::to_string(&trail).unwrap(),
    ];
    for text in &said {
        assert!(!text.contains(&secret), "{text}");
    }
    let holds = |path: &&PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes())
    };
    let all = files(dir.path());
    let [file] = all.iter().filter(holds).collect::<Vec<_>>()[..] else {
        panic!("{all:?}");
    };
    assert!(
        answer.text.contains(file.to_str().unwrap()),
        "{}",
        answer.text
    );
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("create_user_token-bob@pve-ci-1800000"),
        "{name}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let kept: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(kept["full-tokenid"], "bob@pve!ci");
}

#[tokio::test]
async fn without_a_place_for_the_secret_no_token_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let house = keeping(dir.path()).await;
    std::fs::write(dir.path().join("secrets"), "in the way").unwrap();
    let fault = house.call("create_user_token", TOKEN).await.unwrap_err();
    assert!(
        fault.to_string().contains("no place for its secret"),
        "{fault}"
    );
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_refused_token_leaves_no_file_and_a_lost_answer_says_what_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let house = keeping(dir.path()).await;
    let path = "/access/users/bob@pve/token/ci";
    house.sim.fault(Trouble::refuse(500, "no").on("POST", path));
    house.call("create_user_token", TOKEN).await.unwrap_err();
    assert!(files(&dir.path().join("secrets")).is_empty());
    let house = keeping(dir.path()).await;
    house.sim.fault(Trouble::drop_after().on("POST", path));
    let answer = house.call("create_user_token", TOKEN).await.unwrap();
    assert!(
        answer
            .text
            .contains("its secret was in the answer and is lost"),
        "{}",
        answer.text
    );
    assert!(files(&dir.path().join("secrets")).is_empty());
}

#[tokio::test]
async fn tokens_are_listed_by_name() {
    let house = House::new().await;
    let answer = house
        .call("list_user_tokens", r#"{"userid": "bob@pve"}"#)
        .await
        .unwrap();
    assert!(answer.text.contains("power"), "{}", answer.text);
    let answer = house.call("list_users", r#"{"full": true}"#).await.unwrap();
    let bob = answer.data["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["userid"] == "bob@pve");
    assert_eq!(bob.unwrap()["tokens"][0]["tokenid"], "power");
}

#[tokio::test]
async fn a_user_without_a_realm_is_refused_before_anything_is_read() {
    let house = House::new().await;
    let fault = house
        .call("get_user", r#"{"userid": "bob"}"#)
        .await
        .unwrap_err();
    assert!(fault.to_string().contains("bob") && fault.hint.unwrap().contains("bob@pve"));
    assert!(house.sim.requests().is_empty());
}

/// Sends the undo of an answer.
async fn undo(house: &House, answer: &tools::tool::Rendered) {
    let undo = &answer.data["undo"];
    let tool = undo["tool"]
        .as_str()
        .unwrap_or_else(|| panic!("{}", answer.text));
    let answer = house
        .call(tool, &undo["arguments"].to_string())
        .await
        .unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
}

#[tokio::test]
async fn groups_are_added_or_replaced_and_go_back() {
    let house = House::in_mode(Mode::Trusted).await;
    let groups = |user: &str| {
        house
            .sim
            .world(|world| world.access.groups_of(user).join(","))
    };
    house
        .call("create_group", r#"{"groupid": "lab"}"#)
        .await
        .unwrap();
    let added = r#"{"userid": "alice@pve", "groups": "lab", "append": true}"#;
    let answer = house.call("update_user", added).await.unwrap();
    assert_eq!(
        (answer.data["status"].clone(), groups("alice@pve")),
        (json!("applied"), "family,lab".to_owned())
    );
    undo(&house, &answer).await;
    assert_eq!(groups("alice@pve"), "family");
    let answer = house
        .call("update_user", r#"{"userid": "alice@pve", "groups": "lab"}"#)
        .await
        .unwrap();
    assert_eq!(groups("alice@pve"), "lab", "{}", answer.text);
}

#[tokio::test]
async fn a_detail_that_was_not_there_is_cleared_again() {
    let house = House::in_mode(Mode::Trusted).await;
    let email = || {
        house
            .sim
            .world(|world| world.access.users["bob@pve"].email.clone())
    };
    let answer = house
        .call(
            "update_user",
            r#"{"userid": "bob@pve", "email": "bob@home.lan"}"#,
        )
        .await
        .unwrap();
    assert_eq!(email().as_deref(), Some("bob@home.lan"));
    undo(&house, &answer).await;
    assert_eq!(email(), None);
}

#[tokio::test]
async fn only_what_hands_out_power_asks() {
    let house = House::new().await;
    for (args, status) in [
        (r#"{"userid": "bob@pve", "comment": "x"}"#, "applied"),
        (
            r#"{"userid": "bob@pve", "groups": "family"}"#,
            "needs_confirmation",
        ),
        (
            r#"{"userid": "bob@pve", "enable": false}"#,
            "needs_confirmation",
        ),
    ] {
        let answer = house.call("update_user", args).await.unwrap();
        assert_eq!(answer.data["status"], status, "{args}");
    }
}

#[tokio::test]
async fn a_rule_is_given_read_back_and_taken_again() {
    let house = House::in_mode(Mode::Trusted).await;
    let rules = || house.sim.world(|world| world.access.acl.len());
    let before = rules();
    let args = r#"{"path": "//pool/lab/", "roles": "PVEAuditor,PowerUser", "groups": "family", "users": "bob@pve", "propagate": false}"#;
    let answer = house.call("update_acl", args).await.unwrap();
    assert_eq!(answer.data["status"], "applied", "{}", answer.text);
    assert_eq!(rules(), before + 4);
    undo(&house, &answer).await;
    assert_eq!(rules(), before);
}

#[tokio::test]
async fn what_a_rule_hands_out_is_told_before() {
    let house = House::new().await;
    let args = r#"{"path": "/vms/105", "roles": "PowerUser", "users": "alice@pve"}"#;
    let answer = house.call("update_acl", args).await.unwrap();
    assert_eq!(answer.data["status"], "needs_confirmation");
    assert!(
        answer
            .text
            .contains("PowerUser for user alice@pve on /vms/105"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("VM.PowerMgmt"), "{}", answer.text);
}

#[tokio::test]
async fn a_rule_that_cannot_be_is_refused_with_what_can() {
    let house = House::in_mode(Mode::Trusted).await;
    for (args, says) in [
        (
            r#"{"path": "/vms", "roles": "Nobody", "users": "bob@pve"}"#,
            "PVEAuditor",
        ),
        (
            r#"{"path": "/vms", "roles": "PVEAuditor"}"#,
            "users, groups and tokens",
        ),
        (
            r#"{"path": "vms", "roles": "PVEAuditor", "users": "bob@pve"}"#,
            "/vms/105",
        ),
        (
            r#"{"path": "/vms", "roles": "PVEAuditor", "users": "bob@pve", "delete": true}"#,
            "get_acl",
        ),
    ] {
        let fault = house.call("update_acl", args).await.unwrap_err();
        assert!(fault.hint.unwrap().contains(says), "{args}");
    }
    assert_eq!(house.writes(), [""; 0]);
}

#[tokio::test]
async fn a_dry_sync_changes_nothing_and_a_real_one_adds_people() {
    let house = House::in_mode(Mode::Trusted).await;
    let known = || {
        house
            .sim
            .world(|world| world.access.users.contains_key("dora@home"))
    };
    let dry = r#"{"realm": "home", "scope": "both", "dry_run": true}"#;
    house.call("sync_auth_domain", dry).await.unwrap();
    assert!(!known());
    house
        .call("sync_auth_domain", r#"{"realm": "home", "scope": "users"}"#)
        .await
        .unwrap();
    assert!(known());
}
