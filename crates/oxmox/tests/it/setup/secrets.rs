//! `oxmox secret`: the secrets that the configuration names.

use super::Place;

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
    // PVE has shown the right one once, and never again.
    let ran = place.fed(words(["secret", "set", "home"]), "canary-wrong\n");
    let ran = ran.await.exits(1).says("it is not kept").says("--no-test");
    assert!(!ran.stderr.contains("canary"));
    assert_eq!(place.text(".config/oxmox/secrets/home"), right);
    let mut untried = words(["secret", "set", "home"]);
    untried.push("--no-test".to_owned());
    place.fed(untried, "canary-wrong\n").await.exits(0);
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
