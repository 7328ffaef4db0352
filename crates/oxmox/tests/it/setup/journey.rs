//! From nothing to a working call, again without a change, and back to nothing.

use super::{Place, READ_HOME};

fn read<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [READ_HOME, more].concat()
}

#[tokio::test]
async fn from_an_empty_home_to_a_working_call() {
    let place = Place::new().await;
    let ran = place
        .setup(&read(&["--client", "claude-code,cursor"]))
        .await
        .exits(0);
    let ran = ran
        .says("POST /access/roles roleid=oxmox-read")
        .says("oxmox reaches home");
    assert_eq!(ran.stdout, "");
    let config = place.text(".config/oxmox/config.toml");
    assert!(
        config.contains("[clusters.home]") && config.contains(place.sim.fingerprint()),
        "{config}"
    );
    let secret = place.text(".config/oxmox/secrets/home");
    assert_eq!(secret.trim().len(), 36, "a token's secret");
    let all = format!(
        "{}{}{config}",
        ran.stderr,
        place.text("state/setup/home.json")
    );
    assert!(!all.contains(secret.trim()) && !all.contains(sim::worlds::ROOT_PASSWORD));
    for file in [".claude.json", ".cursor/mcp.json"] {
        let text = place.text(file);
        let entry: serde_json::Value = serde_json::from_str(&text).unwrap();
        let program = entry["mcpServers"]["oxmox"]["command"].as_str().unwrap();
        assert!(std::path::Path::new(program).is_file(), "{text}");
    }
    let answer = place.lists().await;
    assert!(
        answer["total"].as_u64().unwrap_or_default() > 20 || !answer["rows"].is_null(),
        "{answer}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_the_secret() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new().await;
    place.setup(READ_HOME).await.exits(0);
    let file = place.home(".config/oxmox/secrets/home");
    let mode = std::fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_second_run_has_nothing_to_do() {
    let place = Place::new().await;
    let words = read(&["--client", "zed"]);
    place.setup(&words).await.exits(0);
    let (files, ours) = (place.files(), place.ours());
    let secret = place.text(".config/oxmox/secrets/home");
    place.sim.clear_requests();
    place.setup(&words).await.exits(0).says("nothing to do");
    assert_eq!((place.files(), place.ours()), (files, ours));
    assert_eq!(place.text(".config/oxmox/secrets/home"), secret);
    let writes = place.sim.requests().into_iter();
    let writes = writes.filter(|it| it.method != "GET" && !it.path.ends_with("/access/ticket"));
    assert_eq!(writes.count(), 0);
}

#[tokio::test]
async fn a_dry_run_shows_everything_and_changes_nothing() {
    let place = Place::new().await;
    let ran = place
        .setup(&read(&["--client", "vscode", "--dry-run"]))
        .await
        .exits(0);
    for words in [
        "POST /access/roles roleid=oxmox-read privs=",
        "POST /access/users userid=oxmox@pve",
        "privsep=1",
        "PUT /access/acl path=/ roles=oxmox-read users=oxmox@pve tokens=oxmox@pve!",
        "+ [clusters.home]",
        ".config/Code/User/mcp.json",
        "+     \"oxmox\": {",
    ] {
        assert!(ran.stdout.contains(words), "no {words} in {}", ran.stdout);
    }
    assert_eq!(place.files(), [""; 0]);
    assert_eq!(place.ours(), [""; 0]);
}

#[tokio::test]
async fn undo_leaves_nothing_behind() {
    let place = Place::new().await;
    place.setup(&read(&["--client", "cursor"])).await.exits(0);
    let words = ["--undo", "--yes", "--password-stdin", "--dry-run"];
    let shown = place.told(&words, sim::worlds::ROOT_PASSWORD).await;
    shown.exits(0).prints("the token oxmox@pve!");
    assert_ne!(place.ours(), [""; 0]);
    place.undo().await.exits(0).says("taken back");
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
    let again = ["--undo", "--yes", "--name=home"];
    let again = place.told(&again, "").await.exits(1);
    again.says("wrote nothing down for home");
}

#[tokio::test]
async fn undo_leaves_what_others_use() {
    let place = Place::new().await;
    place.setup(READ_HOME).await.exits(0);
    place.sim.world(|world| {
        world.add_token("oxmox@pve!elsewhere", "x");
        let rule = sim::world::access::Rule {
            path: "/".to_owned(),
            subject: sim::world::access::Subject::Token("oxmox@pve!elsewhere".to_owned()),
            role: "oxmox-read".to_owned(),
            propagate: true,
        };
        world.access.acl.push(rule);
    });
    let ran = place.undo().await;
    ran.exits(0).says("stays");
    let left = place.ours();
    assert_eq!(
        left,
        [
            "role oxmox-read",
            "user",
            "token elsewhere",
            "oxmox-read on /",
            "oxmox-read on /"
        ]
    );
}

#[tokio::test]
async fn a_token_whose_secret_is_lost_is_made_anew() {
    let place = Place::new().await;
    place.setup(READ_HOME).await.exits(0);
    std::fs::remove_file(place.home(".config/oxmox/secrets/home")).unwrap();
    place
        .setup(READ_HOME)
        .await
        .exits(0)
        .says("its secret is lost");
    place.lists().await;
}

#[tokio::test]
async fn what_a_person_wrote_into_the_configuration_stays() {
    let place = Place::new().await;
    place.write(
        ".config/oxmox/config.toml",
        "# mine\nmode = \"read-only\" # careful\n",
    );
    place.setup(READ_HOME).await.exits(0);
    let text = place.text(".config/oxmox/config.toml");
    assert!(
        text.starts_with("# mine\nmode = \"read-only\" # careful\n"),
        "{text}"
    );
    let kept = place.text(".config/oxmox/config.toml.before-oxmox");
    assert_eq!(kept, "# mine\nmode = \"read-only\" # careful\n");
}

#[tokio::test]
async fn an_existing_token_is_taken_as_it_is() {
    let place = Place::new().await;
    let (user, name, secret) = sim::worlds::ROOT_TOKEN;
    let token = format!("{user}!{name}");
    let more = ["--level=operate", "--name=home", "--secret-store=file"];
    place
        .with_token(&token, &more, secret)
        .await
        .exits(0)
        .says("oxmox reaches home as root@pam!");
    assert_eq!(place.ours(), [""; 0], "nothing was made");
    place.lists().await;
    // Nothing is on the cluster, so nobody has to log in to take it back.
    place.run(&["setup", "--undo", "--yes"]).await.exits(0);
    assert_eq!(place.files(), [""; 0]);
}

#[tokio::test]
async fn a_named_configuration_file_need_not_be_there_yet() {
    let place = Place::new().await;
    let file = place.home("elsewhere/my.toml");
    let file = file.to_str().unwrap();
    place
        .setup(&read(&["--config", file, "--client", "cursor"]))
        .await
        .exits(0);
    let entry: serde_json::Value = serde_json::from_str(&place.text(".cursor/mcp.json")).unwrap();
    assert_eq!(
        entry["mcpServers"]["oxmox"]["args"],
        serde_json::json!(["--config", file, "--state-dir", place.machine.state_dir()])
    );
    place
        .run(&["--config", file, "secret", "test", "home"])
        .await
        .exits(0)
        .says("lets oxmox@pve!");
}
