//! `oxmox secret`: the secrets that the configuration names.

use sim::world::factor::Factor;
use sim::worlds::ROOT_PASSWORD;

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
    let ran = ran.says("does not take the secret: PVE refused");
    let ran = ran.says("oxmox secret set home");
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

/// Not every login that comes to nothing has a wrong secret.
#[tokio::test]
async fn a_right_password_is_not_blamed() {
    let place = Place::new().await;
    place.write("password", ROOT_PASSWORD);
    crate::private::restrict(place.home("password"));
    let config = format!(
        "[clusters.home]\nhosts = [\"{}\"]\npin = \"{}\"\nuser = \"root@pam\"\npassword_file = \"{}\"\n",
        place.sim.addr(),
        place.sim.fingerprint(),
        place.home("password").display()
    );
    place.write(".config/oxmox/config.toml", &config);
    place.run(&["secret", "test", "home"]).await.exits(0);
    let is_told = async |why: &str| {
        for act in ["set", "test"] {
            let words = ["secret", act, "home"].map(str::to_owned).to_vec();
            let ran = place.fed(words, ROOT_PASSWORD).await.exits(1).says(why);
            assert!(!ran.stderr.contains("does not take"), "{ran:#?}");
            assert!(!ran.stderr.contains("in its place"), "{ran:#?}");
        }
    };
    let trouble = sim::Fault::refuse(500, "got no lock").on("POST", "/access/ticket");
    place.sim.fault(trouble);
    is_told("got no lock").await;
    place.sim.clear_faults();
    place.sim.world(|world| {
        let root = world.access.users.get_mut("root@pam").unwrap();
        root.factors = vec![Factor::totp(*b"12345678901234567890")];
    });
    is_told("needs a second factor").await;
}

/// Somebody has put it where the name of its file belongs: whatever shows that line, or names that file, does not repeat it.
#[tokio::test]
async fn a_secret_in_the_place_of_its_file_is_not_shown() {
    const SECRET: &str = "01234567-89ab-cdef-0123-456789abcdef";
    let place = Place::new().await;
    let config = format!(
        "[clusters.home]\nhosts = [\"{}\"]\ntoken = \"a@pve!b\"\ntoken_secret_file = \"{SECRET}\"\n",
        place.sim.addr()
    );
    place.write(".config/oxmox/config.toml", &config);
    let dry = [WORDS, &["--secret-store=file", "--dry-run"]].concat();
    let shown = place.setup(&dry).await.exits(0);
    let shown = shown.prints("- token_secret_file = \"…\"");
    let removed = place.run(&["cluster", "remove", "home"]).await.exits(0);
    for ran in [shown, removed] {
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains(SECRET), "{said}");
    }
}
