//! Signals in the middle of it: Ctrl-C, the end of a service, a terminal that is closed.
#![cfg(unix)]

use std::process::{Child, Command, Output};
use std::time::Duration;

use sim::Fault;
use sim::worlds::ROOT_PASSWORD;

use super::{Place, READ_HOME};

const SIGNALS: [&str; 3] = ["-INT", "-TERM", "-HUP"];

/// Begins it, with the password in a file.
fn begin(place: &Place, more: &[&str]) -> (tempfile::TempDir, Child) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("password");
    std::fs::write(&file, ROOT_PASSWORD).unwrap();
    let file = format!("--password-file={}", file.display());
    let words: Vec<&str> = more.iter().copied().chain([file.as_str()]).collect();
    let child = place.machine.command(&words).spawn().unwrap();
    (dir, child)
}

/// `setup` with all that it needs.
fn words(place: &Place) -> Vec<String> {
    let mut words = place.address();
    words.push("--user=root@pam".to_owned());
    words.extend(READ_HOME.iter().map(|word| (*word).to_owned()));
    words
}

/// Waits for it, as long as somebody is there who may bring it about.
async fn until(child: &mut Child, holds: impl Fn() -> bool) {
    while !holds() {
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none() || holds(), "it came to an end: {ended:?}");
        tokio::task::yield_now().await;
    }
}

async fn signalled(child: Child, signal: &str) -> (Output, String) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status();
    assert!(sent.unwrap().success());
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = output.await.unwrap();
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    (output, said)
}

fn slow(method: &str, path: &str) -> Fault {
    Fault::delay(Duration::from_millis(1500)).on(method, path)
}

/// It said so, nothing is left, and whoever started it can tell.
fn is_taken_back(place: &Place, (output, said): (Output, String)) {
    assert!(
        said.contains("interrupted; what was made so far has been taken back"),
        "{said}"
    );
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

#[tokio::test]
async fn in_the_middle_everything_is_taken_back() {
    for signal in SIGNALS {
        let place = Place::new().await;
        place.sim.fault(slow("PUT", "/access/acl"));
        let words = words(&place);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (_password, mut child) = begin(&place, &words);
        // As soon as the token is there, the slow step is next or under way.
        until(&mut child, || {
            place.ours().iter().any(|it| it.starts_with("token"))
        })
        .await;
        is_taken_back(&place, signalled(child, signal).await);
    }
}

#[tokio::test]
async fn while_the_token_is_tried_everything_is_taken_back() {
    for signal in SIGNALS {
        let place = Place::new().await;
        // The first is asked with a password, to see what it is; the second is the trial.
        let words = words(&place);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        place.sim.fault(slow("GET", "/version"));
        let (_password, mut child) = begin(&place, &words);
        let config = place.home(".config/oxmox/config.toml");
        let is_tried = || {
            let requests = place.sim.requests();
            let made = requests.iter().position(|it| it.method == "PUT");
            made.is_some_and(|at| {
                requests[at..]
                    .iter()
                    .any(|it| it.path.ends_with("/version"))
            })
        };
        until(&mut child, || config.exists() && is_tried()).await;
        is_taken_back(&place, signalled(child, signal).await);
    }
}

#[tokio::test]
async fn before_anything_was_changed_it_ends_with_a_word() {
    for signal in SIGNALS {
        let place = Place::new().await;
        place.sim.fault(slow("GET", "/access/acl"));
        let words = words(&place);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (_password, mut child) = begin(&place, &words);
        let is_reading = || {
            let requests = place.sim.requests();
            requests.iter().any(|it| it.path.ends_with("/access/users"))
        };
        until(&mut child, is_reading).await;
        let (output, said) = signalled(child, signal).await;
        assert!(
            said.contains("interrupted; nothing was changed"),
            "{signal}: {said}"
        );
        assert_eq!(output.status.code(), Some(130), "{signal}: {said}");
        assert_eq!((place.ours(), place.files()), (vec![], vec![]));
    }
}

/// What was not taken back yet is still written down.
#[tokio::test]
async fn an_interrupted_undo_goes_on_where_it_was() {
    let place = Place::new().await;
    place.setup(READ_HOME).await.exits(0);
    place.sim.fault(slow("DELETE", "/access/users/*").times(1));
    let (_password, mut child) = begin(&place, &["setup", "--undo", "--yes"]);
    // The rule goes first, and the slow token next.
    until(&mut child, || {
        !place.ours().iter().any(|it| it.contains(" on /"))
    })
    .await;
    let (_, said) = signalled(child, "-HUP").await;
    assert!(said.contains("some of it is still there"), "{said}");
    assert!(place.ours().contains(&"user".to_owned()));
    let config = place.text(".config/oxmox/config.toml");
    assert!(config.contains("clusters.home"), "{config}");
    place.sim.clear_requests();
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
    let rules = place.sim.requests().into_iter();
    assert_eq!(rules.filter(|it| it.method == "PUT").count(), 0);
}

/// Killed where nothing can be cleared any more: whoever comes next does it.
#[tokio::test]
async fn what_a_killed_one_left_goes_with_the_next() {
    let place = Place::new().await;
    let mut all = words(&place);
    all.push("--client=zed,cursor".to_owned());
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let lock = place.home(".config/zed/.settings.json.oxmox-lock");
    let again = [
        "--name=home",
        "--client=cursor",
        "--level=read",
        "--secret-store=file",
        "--yes",
    ];
    // Before anything was written down, and in the middle of what is sent.
    for (method, path) in [("GET", "/access/acl"), ("PUT", "/access/acl")] {
        place.sim.clear_faults();
        place.sim.fault(slow(method, path));
        let (_password, mut child) = begin(&place, &all);
        let is_there = || method == "GET" || place.ours().iter().any(|it| it.starts_with("token"));
        until(&mut child, || lock.exists() && is_there()).await;
        let (output, _) = signalled(child, "-KILL").await;
        assert_eq!(output.status.code(), None);
        assert!(lock.exists());
        place.sim.clear_faults();
        let ran = place.undo().await;
        assert_eq!(ran.code, i32::from(method == "GET"), "{ran:#?}");
        assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
    }
    // By a setup of something else.
    place.sim.fault(slow("GET", "/access/acl"));
    let (_password, mut child) = begin(&place, &all);
    until(&mut child, || lock.exists()).await;
    signalled(child, "-KILL").await;
    place.sim.clear_faults();
    place.setup(&again).await.exits(0);
    let left: Vec<_> = place
        .files()
        .into_iter()
        .filter(|it| it.contains("zed") || it.contains("lock"))
        .collect();
    assert_eq!(left, [""; 0]);
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// Of one that lives nothing goes.
#[tokio::test]
async fn what_a_living_one_holds_stays() {
    let place = Place::new().await;
    let file = place.home(".config/zed/settings.json");
    let _living = oxmox::files::Lock::on(&file).unwrap();
    let held = place.files();
    place.undo().await.exits(1).says("nothing to take back");
    assert_eq!(place.files(), held);
}

/// The changes that have come to the cluster, by path.
fn sent(place: &Place) -> Vec<String> {
    let requests = place.sim.requests().into_iter();
    let changes = requests.filter(|it| it.method != "GET" && !it.path.ends_with("/ticket"));
    changes.map(|it| it.path).collect()
}

/// What it says when somebody pulls the brake after this change, and before it is answered.
async fn frozen_at(place: &Place, words: &[&str], (method, path): (&str, &str)) -> String {
    place.sim.clear_requests();
    place.sim.fault(slow(method, path).times(1));
    // The answer waits for the clock, and that for the brake.
    tokio::time::pause();
    let (_password, mut child) = begin(place, words);
    let has_come = || sent(place).iter().any(|it| it.ends_with(path));
    until(&mut child, has_come).await;
    std::fs::write(place.machine.state_dir().join("frozen"), "").unwrap();
    tokio::time::resume();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let said = String::from_utf8(output.await.unwrap().stderr).unwrap();
    assert!(said.contains("oxmox is frozen"), "{said}");
    said
}

/// Somebody pulls the brake meanwhile: nothing more is sent, and what was made can be taken back later.
#[tokio::test]
async fn when_it_is_frozen_nothing_more_is_sent() {
    let place = Place::new().await;
    let words = words(&place);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = frozen_at(&place, &words, ("POST", "/access/users")).await;
    assert!(said.contains("left behind: "), "{said}");
    let hint = "`oxmox thaw` lets changes run again; then `oxmox setup --undo --name home` takes";
    assert!(said.contains(hint), "{said}");
    assert_eq!(sent(&place).len(), 2, "{said}");
    let frozen = place.machine.state_dir().join("frozen");
    let refused = async || place.told(&["--undo", "--yes"], "").await.exits(1);
    refused().await.says("`oxmox thaw`");
    // What cannot be looked at counts as frozen, too.
    std::fs::remove_file(&frozen).unwrap();
    std::os::unix::fs::symlink("frozen", &frozen).unwrap();
    refused()
        .await
        .says("whether somebody has stopped all changes");
    std::fs::remove_file(&frozen).unwrap();
    place.undo().await.exits(0);
    assert_eq!(place.ours(), [""; 0]);
}

/// The same while it is taken back: some of it is changed by then, which is said.
#[tokio::test]
async fn when_an_undo_is_frozen_the_rest_is_still_there() {
    let place = Place::new().await;
    place.setup(READ_HOME).await.exits(0);
    let undo = ["setup", "--undo", "--yes"];
    let said = frozen_at(&place, &undo, ("PUT", "/access/acl")).await;
    assert!(said.contains("some of it is still there"), "{said}");
    let hint = "`oxmox thaw` lets changes run again; then run the command again";
    assert!(said.contains(hint), "{said}");
    assert_eq!(sent(&place).len(), 1, "{said}");
    place.run(&["thaw"]).await.exits(0);
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}
