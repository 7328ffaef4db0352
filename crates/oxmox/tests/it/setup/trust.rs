//! Second factors, the cluster's authority, other nodes.

use sim::world::factor::Factor;
use sim::worlds::ROOT_PASSWORD;

use super::{Place, READ_HOME};

fn guard_root(place: &Place, factor: Factor) {
    place.sim.world(|world| {
        world.access.users.get_mut("root@pam").unwrap().factors = vec![factor];
    });
}

fn code(place: &Place) -> String {
    place.sim.world(|world| {
        let factor = &world.access.users["root@pam"].factors[0];
        factor.code(world.now).unwrap()
    })
}

#[tokio::test]
async fn a_code_from_an_authenticator() {
    let place = Place::new().await;
    guard_root(&place, Factor::totp(*b"12345678901234567890"));
    let ran = place.setup(READ_HOME).await.exits(2);
    ran.says("--totp CODE");
    assert_eq!(place.ours(), [""; 0]);
    let right = code(&place);
    let wrong = if right == "000000" {
        "000001"
    } else {
        "000000"
    };
    let ran = place
        .setup(&[READ_HOME, &["--totp", wrong]].concat())
        .await
        .exits(1);
    ran.says("the password is right, and PVE refused the code")
        .says("hint:");
    assert_eq!((place.ours(), place.files()), (vec![], vec![]));
    place
        .setup(&[READ_HOME, &["--totp", &right]].concat())
        .await
        .exits(0);
    place.lists().await;
}

#[tokio::test]
async fn a_factor_that_takes_a_browser() {
    let place = Place::new().await;
    guard_root(&place, Factor::WebAuthn);
    let ran = place.setup(READ_HOME).await.exits(1).says("webauthn");
    ran.says("oxmox setup --token USER!NAME");
    assert_eq!((place.ours(), place.files()), (vec![], vec![]));
}

#[tokio::test]
async fn a_recovery_key_takes_a_terminal() {
    let place = Place::new().await;
    guard_root(&place, Factor::Recovery(vec![Some("1f2e".to_owned())]));
    let ran = place.setup(READ_HOME).await.exits(1);
    ran.says("a recovery key").says("run setup at a terminal");
    assert_eq!((place.ours(), place.files()), (vec![], vec![]));
}

#[tokio::test]
async fn the_clusters_own_authority() {
    let place = Place::new().await;
    place
        .setup(&[READ_HOME, &["--trust", "ca"]].concat())
        .await
        .exits(0);
    let config = place.text(".config/oxmox/config.toml");
    assert!(
        config.contains("ca_file = ") && !config.contains("pin"),
        "{config}"
    );
    assert_eq!(place.text(".config/oxmox/home-ca.pem"), place.sim.ca_pem());
    place.lists().await;
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

#[tokio::test]
async fn other_nodes_count_only_if_they_present_what_the_cluster_says() {
    let place = Place::new().await;
    // All nodes of the simulator are at one address, on ports of their own: under the first one's port it is the first.
    place.sim.world(|world| {
        for node in world.nodes.values_mut() {
            node.ip = "127.0.0.1".to_owned();
        }
    });
    let mut words = place.address();
    words.retain(|word| word != "--only-host");
    words.extend(["--user=root@pam", "--password-stdin"].map(str::to_owned));
    words.extend(READ_HOME.iter().map(|word| (*word).to_owned()));
    let ran = place.fed(words, ROOT_PASSWORD).await.exits(0);
    ran.says("and not its certificate");
    let config = place.text(".config/oxmox/config.toml");
    assert_eq!(config.matches("pin = ").count(), 1, "{config}");
}
