//! Where secrets are kept: `oxmox secret`, and the keyring by its own program.

use super::Place;
use crate::cli::Machine;

const WORDS: &[&str] = &["--level=read", "--name=home", "--yes"];

#[tokio::test]
async fn a_secret_is_set_and_tried() {
    let place = Place::new().await;
    place
        .setup(&[WORDS, &["--secret-store=file"]].concat())
        .await
        .exits(0);
    let right = place.text(".config/oxmox/secrets/home");
    let words = |words: [&str; 3]| words.map(str::to_owned).to_vec();
    place
        .fed(words(["secret", "set", "home"]), "canary-wrong\n")
        .await
        .exits(0);
    let ran = place.run(&["secret", "test", "home"]).await.exits(1);
    let ran = ran.says("does not take it").says("oxmox secret set home");
    assert!(!ran.stderr.contains("canary"));
    place
        .fed(words(["secret", "set", "home"]), &right)
        .await
        .exits(0);
    place
        .run(&["secret", "test", "home"])
        .await
        .exits(0)
        .says("lets oxmox@pve!");
    place
        .run(&["secret", "test", "other"])
        .await
        .exits(2)
        .says("there is no cluster other");
}

/// A program that behaves as libsecret's does, with files in place of a keyring.
#[cfg(unix)]
const SECRET_TOOL: &str = r#"#!/bin/sh
act=$1; shift
case $1 in --label=*) shift;; esac
file=$KEYRING/$4
case $act in
store) cat > "$file";;
lookup) [ -f "$file" ] && cat "$file";;
clear) rm -f "$file";;
esac
"#;

#[cfg(all(unix, not(target_os = "macos")))]
#[tokio::test]
async fn the_keyring_keeps_it_and_the_configuration_names_the_program() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("secret-tool");
    std::fs::write(&program, SECRET_TOOL).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        dir.path().display(),
        std::env::var("PATH").unwrap()
    );
    let machine = Machine::new()
        .with("PATH", &path)
        .with("KEYRING", dir.path().to_str().unwrap());
    let place = Place::with(sim::worlds::homelab(), machine).await;
    place
        .setup(WORDS)
        .await
        .exits(0)
        .says("the keyring of your session");
    let config = place.text(".config/oxmox/config.toml");
    assert!(config.contains("token_secret_command = ["), "{config}");
    assert!(!place.home(".config/oxmox/secrets").exists());
    place.lists().await;
    let words = ["secret", "set", "home"].map(str::to_owned).to_vec();
    let secret = std::fs::read_to_string(dir.path().join("home")).unwrap();
    place.fed(words, &secret).await.exits(0);
    place.run(&["secret", "test", "home"]).await.exits(0);
    place.undo().await.exits(0);
    assert!(!dir.path().join("home").exists());
}
