//! What was there before setup came is there again after it was taken back.

use serde_json::json;
use sim::world::access::{Role, Subject};

use super::Place;

const WORDS: &[&str] = &[
    "--level=read",
    "--name=home",
    "--secret-store=file",
    "--yes",
];

const CONFIG: &str = ".config/oxmox/config.toml";

#[tokio::test]
async fn a_section_by_hand() {
    let place = Place::new().await;
    let text = format!(
        "mode = \"ask\"\n\n# at home\n[clusters.home]\nhosts = [\"{}\"] # under the stairs\ntoken = \"a@pve!b\"\ntoken_secret_file = \"secrets/home\"\n\n[clusters.other]\nhosts = [\"elsewhere\"]\ntoken = \"c@pve!d\"\ntoken_secret_env = \"X\"\n",
        place.sim.addr()
    );
    place.write(CONFIG, &text);
    place.write(".config/oxmox/secrets/home", "mine\n");
    place.setup(WORDS).await.exits(0);
    assert_ne!(place.text(CONFIG), text);
    assert_eq!(place.text(".config/oxmox/secrets/home"), "mine\n");
    // Again, with something to do: it is still the first state that counts.
    std::fs::remove_file(place.home(".config/oxmox/secrets/home-2")).unwrap();
    place.setup(WORDS).await.exits(0);
    place.undo().await.exits(0);
    assert_eq!(place.text(CONFIG), text);
    assert_eq!(place.text(".config/oxmox/secrets/home"), "mine\n");
    assert_eq!(
        place.files_but_trail(),
        [CONFIG, ".config/oxmox/secrets/home"]
    );
}

#[tokio::test]
async fn what_failed_gives_a_secret_back() {
    let place = Place::new().await;
    place.write(".config/oxmox/secrets/home", "mine\n");
    // The last thing that is done fails: the new token does not get in.
    place
        .sim
        .fault(sim::Fault::refuse(500, "got no lock").on("GET", "/version"));
    place.write(".cursor/mcp.json", "{}");
    let words = [WORDS, &["--client=cursor"]].concat();
    place.setup(&words).await.exits(1);
    assert_eq!(place.text(".config/oxmox/secrets/home"), "mine\n");
    assert_eq!(place.text(".cursor/mcp.json"), "{}");
    assert_eq!(place.ours(), [""; 0]);
}

#[tokio::test]
async fn an_entry_by_hand() {
    let place = Place::new().await;
    let text = "{\n  // my servers\n  \"mcpServers\": {\n    \"oxmox\": { \"command\": \"/opt/mine\", \"args\": [\"--demo\"] },\n    \"other\": { \"command\": \"x\" }\n  }\n}\n";
    place.write(".cursor/mcp.json", text);
    let words = [WORDS, &["--client=cursor"]].concat();
    place.setup(&words).await.exits(0);
    assert!(!place.text(".cursor/mcp.json").contains("/opt/mine"));
    place.undo().await.exits(0);
    let after = place.text(".cursor/mcp.json");
    assert!(after.contains("// my servers"), "{after}");
    let plain = after.replace("// my servers", "");
    let after: serde_json::Value = serde_json::from_str(&plain).unwrap();
    let before = json!({ "command": "/opt/mine", "args": ["--demo"] });
    assert_eq!(after["mcpServers"]["oxmox"], before);
    assert_eq!(after["mcpServers"]["other"]["command"], "x");
}

/// One that somebody has made.
fn a_role() -> Role {
    Role {
        privs: ["VM.Audit".to_owned()].into(),
        special: false,
    }
}

#[tokio::test]
async fn a_user_and_a_role_of_these_names() {
    let place = Place::new().await;
    place.sim.world(|world| {
        world.add_token("oxmox@pve!mine", "x");
        world.access.users.get_mut("oxmox@pve").unwrap().comment = Some("mine".to_owned());
        let roles = &mut world.access.roles;
        roles.insert("oxmox-read".to_owned(), a_role());
    });
    let before = place.ours();
    place.setup(WORDS).await.exits(0).says("PUT /access/roles");
    assert_ne!(place.ours(), before);
    place.undo().await.exits(0);
    assert_eq!(place.ours(), before);
    place.sim.world(|world| {
        let role = &world.access.roles["oxmox-read"];
        assert_eq!(role.privs.iter().collect::<Vec<_>>(), ["VM.Audit"]);
        let user = &world.access.users["oxmox@pve"];
        assert_eq!(user.comment.as_deref(), Some("mine"));
    });
}

/// Somebody has revoked the token in PVE: what the user was given for it goes all the same. A role that was there before does
/// not take its rules along.
#[tokio::test]
async fn a_token_that_is_gone_already() {
    let place = Place::new().await;
    place.sim.world(|world| {
        world.add_token("oxmox@pve!mine", "x");
        let roles = &mut world.access.roles;
        roles.insert("oxmox-read".to_owned(), a_role());
    });
    let before = place.ours();
    place.setup(WORDS).await.exits(0);
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        user.tokens.retain(|name, _| name == "mine");
        let is_its =
            |whom: &Subject| matches!(whom, Subject::Token(id) if id.starts_with("oxmox@pve!"));
        world.access.acl.retain(|rule| !is_its(&rule.subject));
    });
    let ran = place.undo().await.exits(0);
    ran.says("all of it was taken back");
    assert_eq!((place.ours(), place.files_but_trail()), (before, vec![]));
}

/// Two clusters, one client: it knows oxmox until the last of them is taken back.
#[tokio::test]
async fn the_last_cluster_takes_the_clients_along() {
    let place = Place::new().await;
    let other = sim::Sim::start(sim::worlds::homelab()).await.unwrap();
    let words = [WORDS, &["--client=cursor"]].concat();
    place.setup(&words).await.exits(0);
    let address = other.addr().to_string();
    let words = [
        "--host",
        &address,
        "--accept-pin",
        "--only-host",
        "--user=root@pam",
        "--password-stdin",
        "--level=read",
        "--name=second",
        "--secret-store=file",
        "--client=cursor",
        "--yes",
    ];
    let password = sim::worlds::ROOT_PASSWORD;
    let ran = place.told(&words, password).await.exits(0);
    let undo = |name: &'static str| ["--undo", "--yes", "--password-stdin", "--name", name];
    // Without a name, nobody could tell which of them is meant.
    ran.says("`oxmox setup --undo --name second`");
    let ran = place.told(&undo("home"), password).await.exits(0);
    let ran = ran.says("stays: oxmox in cursor").says(", for second");
    assert!(!ran.stderr.contains("all of it"), "{}", ran.stderr);
    assert!(place.text(".cursor/mcp.json").contains("oxmox"));
    assert!(!place.text(CONFIG).contains("clusters.home"));
    place.told(&undo("second"), password).await.exits(0);
    assert_eq!(place.files_but_trail(), [""; 0]);
}

/// Two people on one machine, or two machines of one name.
#[tokio::test]
async fn a_token_of_this_name() {
    let place = Place::new().await;
    place.setup(WORDS).await.exits(0);
    let first = place.ours();
    let beside = Place {
        machine: crate::cli::Machine::new().into(),
        ..place
    };
    let ran = beside.setup(WORDS).await.exits(0);
    assert!(!ran.stderr.contains("its secret is lost"), "{}", ran.stderr);
    beside.lists().await;
    // Again, it is known which of them is one's own.
    beside.setup(WORDS).await.exits(0).says("nothing to do");
    beside.undo().await.exits(0);
    assert_eq!(beside.ours(), first);
}

fn named(name: &str) -> Vec<&str> {
    vec![
        "--level=read",
        "--secret-store=file",
        "--yes",
        "--name",
        name,
    ]
}

async fn undo(place: &Place, name: &str) -> crate::cli::Ran {
    let words = ["--undo", "--yes", "--password-stdin", "--name", name];
    place.told(&words, sim::worlds::ROOT_PASSWORD).await
}

/// One cluster under two names: the second lives on what was made for the first, and takes it along at last.
#[tokio::test]
async fn what_stays_for_another_name_goes_with_it() {
    for order in [["first", "second"], ["second", "first"]] {
        let place = Place::new().await;
        for name in ["first", "second"] {
            place.setup(&named(name)).await.exits(0);
        }
        let ran = undo(&place, order[0]).await.exits(0);
        if order[0] == "first" {
            assert!(!ran.stderr.contains("all of it"), "{}", ran.stderr);
            let mut stays = ran.stderr.lines().filter(|line| line.contains("stays: "));
            let rule = stays.find(|line| line.contains(" on / for ")).unwrap();
            let whom = rule.split(": ").nth(1).unwrap();
            assert!(
                whom.ends_with("for oxmox@pve"),
                "its token's part goes: {rule}"
            );
            ran.says("but for what stays for second")
                .says("`oxmox setup --undo --name second`");
        }
        place.lists().await;
        let ran = undo(&place, order[1]).await.exits(0);
        ran.says("all of it was taken back");
        assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
    }
}

/// Another machine's token cannot be handed anything: what it lives on stays written down here.
#[tokio::test]
async fn what_stays_for_another_machine_can_be_taken_back_later() {
    let place = Place::new().await;
    place.setup(&named("home")).await.exits(0);
    place
        .sim
        .world(|world| world.add_token("oxmox@pve!elsewhere", "x"));
    let ran = undo(&place, "home").await.exits(0);
    assert!(!ran.stderr.contains("all of it"), "{}", ran.stderr);
    ran.says("but for what others use by now")
        .says("pveum user delete oxmox@pve");
    assert_eq!(place.files_but_trail(), ["state/setup/home.json"]);
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        user.tokens.clear();
    });
    undo(&place, "home").await.exits(0).says("all of it");
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// A yes from something in between, or from a node that has lost its quorum meanwhile.
#[tokio::test]
async fn a_yes_is_not_believed() {
    let place = Place::new().await;
    place.setup(&named("home")).await.exits(0);
    let lie = sim::Fault::answer("DELETE", "/access/users/oxmox@pve", serde_json::Value::Null);
    place.sim.fault(lie.times(1));
    let ran = undo(&place, "home").await.exits(1);
    ran.says("still has the user oxmox@pve").says("hint:");
    undo(&place, "home").await.exits(0).says("all of it");
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// A cluster that setup knows nothing of needs the client's entry as well.
#[tokio::test]
async fn a_client_stays_for_a_cluster_that_was_added_by_hand() {
    for (how, end) in [
        ("--password-stdin", "it was taken back, but for"),
        ("--local-only", "on this machine was taken back, but for"),
    ] {
        let place = Place::new().await;
        let words = [WORDS, &["--client=cursor"]].concat();
        place.setup(&words).await.exits(0);
        let pinned = format!("{}={}", place.sim.addr(), place.sim.fingerprint());
        let add = [
            "cluster",
            "add",
            "branch",
            "--host",
            &pinned,
            "--token=a@pve!b",
            "--token-secret-env=X",
            "--no-test",
        ];
        place.run(&add).await.exits(0);
        let undo = ["--undo", "--yes", how];
        let ran = place.told(&undo, sim::worlds::ROOT_PASSWORD).await;
        ran.exits(0)
            .says("stays: oxmox in cursor")
            .says(&format!("{end} what is named above"));
        assert!(place.text(".cursor/mcp.json").contains("oxmox"));
        let config = place.text(".config/oxmox/config.toml");
        assert!(
            config.contains("branch") && !config.contains("home"),
            "{config}"
        );
        // It is theirs from now on.
        let left = place.files_but_trail();
        let known = left.iter().any(|file| file == "state/setup/home.json");
        assert_eq!(known, how == "--local-only", "{left:?}");
        assert!(!place.home("state/setup/written").exists());
    }
}

/// One that somebody adds by hand.
const BRANCH: &str =
    "\n[clusters.branch]\nhosts = [\"x\"]\ntoken = \"a@pve!b\"\ntoken_secret_env = \"X\"\n";

/// The same though setup has met that cluster before: with the second one, the client of the first is taken over.
#[tokio::test]
async fn a_client_stays_for_a_cluster_that_came_between_two() {
    for order in [["first", "second"], ["second", "first"]] {
        let place = Place::new().await;
        let first = [&named("first")[..], &["--client=cursor"]].concat();
        place.setup(&first).await.exits(0);
        place.write(CONFIG, &(place.text(CONFIG) + BRANCH));
        place.setup(&named("second")).await.exits(0);
        undo(&place, order[0]).await.exits(0);
        let ran = undo(&place, order[1]).await.exits(0);
        ran.says("stays: oxmox in cursor");
        assert!(place.text(".cursor/mcp.json").contains("oxmox"));
    }
}

/// It goes where that cluster was there before the client was entered, by whichever setup.
#[tokio::test]
async fn a_client_goes_for_a_cluster_that_came_before_it() {
    let client = |name| [&named(name)[..], &["--client=cursor"]].concat();
    for (entering, order) in [
        ("second", &["first", "second"][..]),
        ("second", &["second", "first"]),
        ("first", &["first"]),
    ] {
        let place = Place::new().await;
        place.setup(&named("first")).await.exits(0);
        place.write(CONFIG, &(place.text(CONFIG) + BRANCH));
        place.setup(&client(entering)).await.exits(0);
        assert!(place.text(".cursor/mcp.json").contains("oxmox"));
        for name in order {
            undo(&place, name).await.exits(0);
        }
        assert!(!place.home(".cursor").exists(), "{entering}, {order:?}");
        assert!(place.text(CONFIG).contains("clusters.branch"));
    }
}

/// Entered by both, with that cluster in between: it went by the first of them.
#[tokio::test]
async fn a_client_that_both_entered_stays_for_a_cluster_that_came_between() {
    for order in [["first", "second"], ["second", "first"]] {
        let place = Place::new().await;
        let client = |name| [&named(name)[..], &["--client=cursor"]].concat();
        place.setup(&client("first")).await.exits(0);
        place.write(CONFIG, &(place.text(CONFIG) + BRANCH));
        place.setup(&client("second")).await.exits(0);
        undo(&place, order[0]).await.exits(0);
        let ran = undo(&place, order[1]).await.exits(0);
        assert_eq!(ran.stderr.matches("stays: oxmox in").count(), 1, "{ran:#?}");
        assert!(place.text(".cursor/mcp.json").contains("oxmox"));
    }
}

/// One state directory, two configurations: the entry names the first one, and is of no use to the second unless that has
/// entered itself there, too.
#[tokio::test]
async fn a_client_stays_for_no_cluster_of_another_configuration() {
    for also_entered in [false, true] {
        let place = Place::new().await;
        let first = [&named("first")[..], &["--client=cursor"]].concat();
        place.setup(&first).await.exits(0);
        let config = format!("--config={}", place.home("other.toml").display());
        let mut second = [&named("second")[..], &[&config]].concat();
        if also_entered {
            second.push("--client=cursor");
        }
        place.setup(&second).await.exits(0);
        let ran = undo(&place, "first").await.exits(0);
        let stays = ran.stderr.contains("stays: oxmox in cursor");
        assert_eq!(stays, also_entered, "{ran:#?}");
        assert_eq!(place.home(".cursor/mcp.json").exists(), also_entered);
        undo(&place, "second").await.exits(0);
        assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
    }
}

/// The other way round: with the configuration that the entry names it would start nothing.
#[tokio::test]
async fn a_client_goes_back_to_the_configuration_that_it_named_before() {
    const CURSOR: &str = ".cursor/mcp.json";
    let place = Place::new().await;
    let first = [&named("first")[..], &["--client=cursor"]].concat();
    place.setup(&first).await.exits(0);
    let before = place.text(CURSOR);
    let config = format!("--config={}", place.home("other.toml").display());
    let second = [&named("second")[..], &["--client=cursor", &config]].concat();
    place.setup(&second).await.exits(0);
    assert_ne!(place.text(CURSOR), before);
    let ran = undo(&place, "second").await.exits(0);
    ran.says("stays: oxmox in cursor")
        .says("as it was before, for first");
    assert_eq!(place.text(CURSOR), before);
    undo(&place, "first").await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// Nobody has added a cluster by a comment: the one that was there went without the client.
#[tokio::test]
async fn a_client_goes_though_the_configuration_was_edited() {
    let place = Place::new().await;
    let old =
        "[clusters.old]\nhosts = [\"elsewhere\"]\ntoken = \"a@pve!b\"\ntoken_secret_env = \"X\"\n";
    place.write(CONFIG, old);
    let words = [WORDS, &["--client=cursor"]].concat();
    place.setup(&words).await.exits(0);
    place.write(CONFIG, &format!("{}# mine\n", place.text(CONFIG)));
    place.undo().await.exits(0);
    assert!(!place.home(".cursor/mcp.json").exists());
    assert!(place.text(CONFIG).contains("[clusters.old]"));
}
