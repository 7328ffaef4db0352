//! The session's keyring, by the program that comes with it.
#![cfg(all(unix, not(target_os = "macos")))]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

use super::Place;
use crate::cli::Machine;

const WORDS: &[&str] = &["--level=read", "--name=home", "--yes"];

/// Behaves as libsecret's does, with files in place of a keyring. Where there is a file `locked`, it stores and tells nothing,
/// clears nothing without saying so, and finds what is there. Where there is a file `deadly`, it kills who asks it to store what was not only a try.
const SECRET_TOOL: &str = r#"#!/bin/sh
act=$1; shift
case $1 in --label=*) shift;; esac
file=$KEYRING/entry-$4
case $act in
store) [ ! -f "$KEYRING/deadly" ] || [ ! -f "$KEYRING/tried" ] || kill -9 $PPID
    [ ! -f "$KEYRING/locked" ] || { echo "Cannot create an item in a locked collection" >&2; exit 1; }
    cat > "$file";;
lookup) [ ! -f "$KEYRING/locked" ] && [ -f "$file" ] && cat "$file";;
search) [ ! -f "$file" ] || echo "[/1]";;
clear) touch "$KEYRING/tried"
    [ -f "$KEYRING/locked" ] || rm -f "$file";;
esac
"#;

async fn place() -> (TempDir, Place) {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("secret-tool");
    std::fs::write(&program, SECRET_TOOL).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let machine = Machine::new()
        .with("PATH", &format!("{}:{path}", dir.path().display()))
        .with("KEYRING", dir.path().to_str().unwrap());
    let place = Place::with(sim::worlds::homelab(), machine).await;
    (dir, place)
}

fn lock(keyring: &TempDir) {
    std::fs::write(keyring.path().join("locked"), "").unwrap();
}

/// What it holds.
fn held(keyring: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(keyring).unwrap().flatten();
    let entries = entries.filter(|it| it.file_name().to_string_lossy().starts_with("entry-"));
    entries
        .map(|it| std::fs::read_to_string(it.path()).unwrap())
        .collect()
}

#[tokio::test]
async fn the_keyring_keeps_it_and_the_configuration_names_the_program() {
    let (keyring, place) = place().await;
    let ran = place.setup(WORDS).await.exits(0);
    ran.says("the keyring of your session");
    let config = place.text(".config/oxmox/config.toml");
    assert!(config.contains("token_secret_command = ["), "{config}");
    assert!(!place.home(".config/oxmox/secrets").exists());
    place.lists().await;
    place.setup(WORDS).await.exits(0).says("nothing to do");
    let secrets = held(keyring.path());
    assert_eq!(secrets.len(), 1);
    let words = ["secret", "set", "home"].map(str::to_owned).to_vec();
    place.fed(words.clone(), &secrets[0]).await.exits(0);
    place.run(&["secret", "test", "home"]).await.exits(0);
    lock(&keyring);
    let again = [words, vec!["--no-test".to_owned()]].concat();
    let ran = place.fed(again.clone(), &secrets[0]).await.exits(1);
    let ran = ran.says("hint: unlock it").says("by token_secret_file");
    assert!(!ran.stderr.contains("--secret-store"), "{ran:#?}");
    std::fs::remove_file(keyring.path().join("locked")).unwrap();
    // What is not there cannot be unlocked.
    let program = keyring.path().join("secret-tool");
    let aside = keyring.path().join("aside");
    std::fs::rename(&program, &aside).unwrap();
    let ran = place.fed(again, &secrets[0]).await.exits(1);
    let ran = ran.says(&format!("hint: see that {} is there", program.display()));
    assert!(!ran.stderr.contains("unlock"), "{ran:#?}");
    std::fs::rename(&aside, &program).unwrap();
    place.undo().await.exits(0);
    assert_eq!(held(keyring.path()), [""; 0]);
}

#[tokio::test]
async fn a_run_that_fails_leaves_what_the_keyring_had() {
    let (keyring, place) = place().await;
    place.setup(WORDS).await.exits(0);
    let before = held(keyring.path());
    let disable = |disabled| {
        place.sim.world(|world| {
            let user = world.access.users.get_mut("oxmox@pve").unwrap();
            user.disabled = disabled;
        });
    };
    disable(true);
    place.setup(WORDS).await.exits(1).says("taken back");
    assert_eq!(held(keyring.path()), before);
    disable(false);
    place.lists().await;
}

#[tokio::test]
async fn a_keyring_that_takes_nothing_is_passed_over() {
    let (keyring, place) = place().await;
    lock(&keyring);
    let ran = place.setup(WORDS).await.exits(0);
    ran.says("in a locked collection").says("goes into a file");
    place.lists().await;
    let words = [WORDS, &["--name=other", "--secret-store=keyring"]].concat();
    let words: Vec<_> = words
        .into_iter()
        .filter(|it| *it != "--name=home")
        .collect();
    place.setup(&words).await.exits(1).says("hint:");
}

#[tokio::test]
async fn a_secret_that_the_keyring_holds_on_to_is_told() {
    let (keyring, place) = place().await;
    place.setup(WORDS).await.exits(0);
    lock(&keyring);
    let ran = place.undo().await.exits(1);
    ran.says("the keyring still has the secret").says("hint:");
    assert_eq!(held(keyring.path()).len(), 1);
    std::fs::remove_file(keyring.path().join("locked")).unwrap();
    place.undo().await.exits(0);
    assert_eq!(held(keyring.path()), [""; 0]);
}

#[tokio::test]
async fn a_keyring_that_is_gone_is_in_nobodys_way() {
    let (keyring, place) = place().await;
    place.setup(WORDS).await.exits(0);
    std::fs::remove_file(keyring.path().join("secret-tool")).unwrap();
    let ran = place.undo().await.exits(0);
    let ran = ran
        .says("stays: the secret in the keyring")
        .says("may still have the token's secret")
        .says("secret-tool clear service oxmox cluster home-")
        .says("it was taken back, but for what is named above as staying");
    assert!(!ran.stderr.contains("all of it"), "{ran:#?}");
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// As long as anything is written down, the secret is, too: its keyring may be reached again by then.
#[tokio::test]
async fn a_keyring_that_comes_back() {
    let (keyring, place) = place().await;
    place.setup(WORDS).await.exits(0);
    let program = keyring.path().join("secret-tool");
    let aside = keyring.path().join("aside");
    std::fs::rename(&program, &aside).unwrap();
    let only_here = ["--undo", "--local-only", "--yes"];
    let ran = place.told(&only_here, "").await.exits(0);
    ran.says("on this machine was taken back, but for what is named above");
    assert_eq!(held(keyring.path()).len(), 1);
    std::fs::rename(&aside, &program).unwrap();
    place.undo().await.exits(0).says("all of it was taken back");
    assert_eq!(held(keyring.path()), [""; 0]);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// The same where another name of the cluster has the rest.
#[tokio::test]
async fn a_keyring_that_comes_back_for_another_name() {
    let (keyring, place) = place().await;
    for name in ["--name=home", "--name=second"] {
        let words = WORDS.iter().filter(|word| **word != "--name=home");
        let words: Vec<_> = words.copied().chain([name]).collect();
        place.setup(&words).await.exits(0);
    }
    let program = keyring.path().join("secret-tool");
    let aside = keyring.path().join("aside");
    std::fs::rename(&program, &aside).unwrap();
    let undo = async |name| {
        let words = ["--undo", "--yes", "--password-stdin", name];
        place
            .told(&words, sim::worlds::ROOT_PASSWORD)
            .await
            .exits(0)
    };
    undo("--name=home").await.says("what stays for second");
    assert_eq!(held(keyring.path()).len(), 2);
    std::fs::rename(&aside, &program).unwrap();
    undo("--name=second").await.says("all of it was taken back");
    assert_eq!(held(keyring.path()), [""; 0]);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// The cluster is asked to vouch, and whoever made things there dies before its authority's certificate is in a file.
#[tokio::test]
async fn killed_before_the_authoritys_file_is_there() {
    let (keyring, place) = place().await;
    let deadly = keyring.path().join("deadly");
    std::fs::write(&deadly, "").unwrap();
    let ran = place.setup(&[WORDS, &["--trust=ca"]].concat()).await;
    assert_eq!(ran.code, -1, "{ran:#?}");
    assert_ne!(place.ours(), [""; 0]);
    let journal = place.text("state/setup/home.json");
    assert!(journal.contains("home-ca.pem"), "{journal}");
    assert!(!place.home(".config/oxmox/home-ca.pem").exists());
    std::fs::remove_file(deadly).unwrap();
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// Nothing of a person's was written yet, and it was written down that it would be.
#[tokio::test]
async fn killed_before_the_files_are_written() {
    let (keyring, place) = place().await;
    let (file, text) = (".cursor/mcp.json", "{\"mcpServers\":{ }}");
    place.write(file, text);
    let words = [WORDS, &["--client=cursor"]].concat();
    std::fs::write(keyring.path().join("deadly"), "").unwrap();
    place.setup(&words).await.exits(-1);
    assert_eq!(place.text(file), text);
    std::fs::remove_file(keyring.path().join("deadly")).unwrap();
    place.setup(&words).await.exits(0);
    assert!(place.text(file).contains("oxmox"));
    place.undo().await.exits(0);
    assert_eq!(place.text(file), text);
    assert_eq!(place.files_but_trail(), [file]);
}
