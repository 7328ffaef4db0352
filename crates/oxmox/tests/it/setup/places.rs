//! The places of secrets on this machine: one that is empty is free, and whoever has it next does not lose theirs.

use serde_json::json;
use sim::worlds::ROOT_TOKEN;

use super::exactly::{setup, undo};
use super::{Place, READ_HOME};

const JOURNAL: &str = "state/setup/home.json";
const SECOND: &str = ".config/oxmox/secrets/home-2";

/// What it stored is taken back, though not all of the rest is.
#[tokio::test]
async fn a_run_that_fails_claims_no_place() {
    let place = Place::new().await;
    setup(&place, "home", &[]).await;
    place.sim.world(|world| {
        let user = world.access.users.get_mut("oxmox@pve").unwrap();
        user.disabled = true;
    });
    let stuck = sim::Fault::refuse(500, "got no lock");
    place.sim.fault(stuck.on("DELETE", "/access/users/*"));
    let ran = place.setup(READ_HOME).await.exits(1);
    ran.says("left behind: the token");
    assert!(!place.home(SECOND).exists());
    let journal = place.text(JOURNAL);
    assert!(journal.contains("secrets/home\""), "{journal}");
    assert!(!journal.contains("secrets/home-2"), "{journal}");
}

/// As one leaves it that was killed before the secret was there.
fn claim(place: &Place) {
    let mut journal: serde_json::Value = serde_json::from_str(&place.text(JOURNAL)).unwrap();
    let secrets = journal["secrets"].as_array_mut().unwrap();
    secrets.push(json!({ "file": { "path": place.home(SECOND) } }));
    place.write(JOURNAL, &journal.to_string());
}

#[tokio::test]
async fn a_place_that_another_cluster_has_by_now() {
    for is_by_hand in [false, true] {
        let place = Place::new().await;
        setup(&place, "home", &[]).await;
        claim(&place);
        if is_by_hand {
            let (user, name, secret) = ROOT_TOKEN;
            let token = format!("{user}!{name}");
            let host = format!("{}={}", place.sim.addr(), place.sim.fingerprint());
            let words = ["cluster", "add", "home-2", "--host", &host];
            let more = ["--token", &token, "--secret-store", "file"];
            let words = [&words[..], &more].concat();
            let words = words.into_iter().map(str::to_owned).collect();
            place.fed(words, secret).await.exits(0);
        } else {
            setup(&place, "home-2", &[]).await;
        }
        let held = place.text(SECOND);
        assert_ne!(held, "");
        setup(&place, "home", &[]).await;
        assert_eq!(place.text(SECOND), held);
        let ran = undo(&place, "home").await;
        ran.says("secrets/home-2").says(", for home-2");
        assert_eq!(place.text(SECOND), held);
        place.run(&["secret", "test", "home-2"]).await.exits(0);
        if !is_by_hand {
            undo(&place, "home-2").await;
            assert!(!place.home(SECOND).exists());
        }
    }
}

/// Whoever only claimed it is no reason to leave it there.
#[tokio::test]
async fn a_place_goes_with_the_cluster_that_has_it() {
    let place = Place::new().await;
    setup(&place, "home", &[]).await;
    claim(&place);
    setup(&place, "home-2", &[]).await;
    undo(&place, "home-2").await;
    assert!(!place.home(SECOND).exists());
}

/// A configuration that is named once by way of a link, and once as it is.
#[cfg(unix)]
#[tokio::test]
async fn a_place_behind_a_link() {
    let place = Place::new().await;
    for dir in ["real", ".config"] {
        std::fs::create_dir_all(place.home(dir)).unwrap();
    }
    std::os::unix::fs::symlink(place.home("real"), place.home(".config/oxmox")).unwrap();
    setup(&place, "home", &[]).await;
    std::fs::remove_file(place.home("real/secrets/home")).unwrap();
    let config = format!("--config={}", place.home("real/config.toml").display());
    setup(&place, "home", &[&config]).await;
    assert_ne!(place.text("real/secrets/home"), "");
    place.lists().await;
}
