//! Taking back what is on a cluster that does not answer any more, or not as it did.

use std::net::SocketAddr;

use sim::world::factor::Factor;
use sim::worlds::ROOT_PASSWORD;
use sim::{Fault, Sim};

use super::certificates::Relay;
use super::{Place, READ_HOME};
use crate::cli::Ran;

/// Set up at an address behind which something else can be put.
async fn set_up(more: &[&str]) -> (Place, Relay) {
    let place = Place::new().await;
    let relay = Relay::to(place.sim.addr(), "127.0.0.1").await;
    set_up_at(&place, &relay, more).await.exits(0);
    (place, relay)
}

async fn set_up_at(place: &Place, relay: &Relay, more: &[&str]) -> Ran {
    let mut words = vec![
        "--only-host",
        "--user=root@pam",
        "--password-stdin",
        "--level=read",
        "--name=home",
        "--secret-store=file",
    ];
    if !more.contains(&"--pin") {
        words.push("--accept-pin");
    }
    words.extend(more);
    place.at(relay.address, &words, ROOT_PASSWORD).await
}

/// A port at which nobody is.
fn nobody() -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

async fn undo(place: &Place, more: &[&str]) -> Ran {
    let words = ["--undo", "--password-stdin", "--yes"];
    place.told(&[&words, more].concat(), ROOT_PASSWORD).await
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_can_wait() {
    let (place, relay) = set_up(&["--client=cursor"]).await;
    let before = place.files();
    relay.now_to(nobody());
    let ran = place.undo().await.exits(1);
    let ran = ran.says("--undo --name home --local-only");
    assert_eq!(ran.stderr.matches("--local-only").count(), 1, "{ran:#?}");
    assert!(!ran.stderr.contains("run setup again"), "{ran:#?}");
    // Nobody has said yes.
    let words = ["--undo", "--local-only"];
    let ran = place.told(&words, "").await.exits(2);
    ran.says("nobody is at a terminal").says("--yes");
    assert_eq!(place.files(), before);

    let ran = place.told(&["--undo", "--local-only", "--yes"], "").await;
    let mut ran = ran.exits(0);
    for line in [
        "pveum acl delete / --roles oxmox-read --users 'oxmox@pve'\n",
        "pveum acl delete / --roles oxmox-read --tokens 'oxmox@pve!",
        "pveum user token remove oxmox@pve ",
        "pveum user delete oxmox@pve",
        "pveum role delete oxmox-read",
        "`oxmox setup --undo --name home`",
    ] {
        ran = ran.says(line);
    }
    assert_eq!(place.files_but_trail(), ["state/setup/home.json"]);
    assert_ne!(place.ours(), [""; 0], "it is still there");

    relay.now_to(place.sim.addr());
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// The database was in a VM of it, perhaps: where nothing is sent, nobody has to know whether replicas are stopped.
#[tokio::test]
async fn a_store_that_went_with_the_cluster_is_in_nobodys_way() {
    let (place, _relay) = set_up(&["--client=cursor"]).await;
    let store = format!("--store=postgres://oxmox@{}/oxmox", nobody());
    let before = place.files();
    place.sim.clear_requests();
    let ran = undo(&place, &[&store]).await.exits(1);
    let store_flag = store.replace('=', " ");
    ran.says("whether somebody has stopped all changes")
        .says(&format!(
            "`oxmox {store_flag} setup --undo --local-only` takes"
        ));
    assert_eq!(place.sim.requests().len(), 0, "nothing was sent");
    assert_eq!(place.files(), before);

    let (user, name, secret) = sim::worlds::ROOT_TOKEN;
    let words = ["--name=second", "--secret-store=file", &store];
    let token = format!("{user}!{name}");
    place.with_token(&token, &words, secret).await.exits(0);
    for name in ["second", "home"] {
        let words = ["--undo", "--local-only", "--yes", "--name", name, &store];
        place.told(&words, "").await.exits(0);
    }
    assert_eq!(place.files_but_trail(), ["state/setup/home.json"]);
    // What sends has to know, though there is no configuration yet that would name the store.
    let ran = place.setup(&[READ_HOME, &[&store]].concat()).await.exits(1);
    let ran = ran.says("whether somebody has stopped all changes");
    assert!(!ran.stderr.contains("--local-only"), "{ran:#?}");
}

/// Nobody is asked for a password in vain.
#[tokio::test]
async fn who_cannot_be_asked_has_to_agree_beforehand() {
    let (place, _relay) = set_up(&[]).await;
    place.sim.clear_requests();
    let words = ["--undo", "--password-stdin"];
    let ran = place.told(&words, ROOT_PASSWORD).await.exits(2);
    ran.says("nobody is at a terminal to agree").says("--yes");
    assert_eq!(place.sim.requests().len(), 0, "nothing was sent");
}

/// A way in that undo does not have is not offered, and not passed over in silence.
#[tokio::test]
async fn undo_logs_in() {
    let (place, _relay) = set_up(&[]).await;
    let words = ["--undo", "--yes", "--token=root@pam!x"];
    let ran = place.told(&words, "").await.exits(2);
    ran.says("cannot be used with");
    place.sim.world(|world| {
        let root = world.access.users.get_mut("root@pam").unwrap();
        root.factors = vec![Factor::WebAuthn];
    });
    let ran = undo(&place, &[]).await.exits(1);
    let ran = ran.says("takes a browser");
    let ran = ran.says("`oxmox setup --undo --name home --user USER@REALM --totp CODE`");
    assert!(!ran.stderr.contains("--token"), "{ran:#?}");
}

#[tokio::test]
async fn what_was_left_is_found_by_the_next_setup() {
    let (place, relay) = set_up(&[]).await;
    place
        .told(&["--undo", "--local-only", "--yes"], "")
        .await
        .exits(0);
    let ran = set_up_at(&place, &relay, &[]).await.exits(0);
    ran.says("its secret is lost");
    place.lists().await;
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

#[tokio::test]
async fn a_client_stays_with_the_cluster_that_is_still_in_use() {
    let (place, _relay) = set_up(&["--client=cursor"]).await;
    let second = [
        "--level=read",
        "--name=second",
        "--secret-store=file",
        "--client=cursor",
        "--yes",
    ];
    place.setup(&second).await.exits(0);
    place
        .told(&["--undo", "--local-only", "--yes", "--name=home"], "")
        .await
        .exits(0);
    assert!(place.text(".cursor/mcp.json").contains("oxmox"));
    // Of the first one only what is on the cluster is left: the client goes with the second.
    undo(&place, &["--name=second"]).await.exits(0);
    assert!(!place.home(".cursor").exists());
    undo(&place, &["--name=home"]).await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// Another certificate of the same cluster: that of another node stands for a renewed one.
#[tokio::test]
async fn a_renewed_certificate_has_to_be_said_yes_to() {
    for trust in ["--trust=pins", "--trust=ca"] {
        let (place, relay) = set_up(&[trust]).await;
        let names: Vec<_> = place
            .sim
            .world(|world| world.nodes.keys().cloned().collect());
        let mut nodes = names.iter().map(ToString::to_string);
        let node = nodes
            .find(|node| place.sim.node_fingerprint(node) != Some(place.sim.fingerprint()))
            .unwrap();
        let new = place.sim.node_fingerprint(&node).unwrap();
        relay.now_to(place.sim.node_addr(&node).unwrap());
        if trust == "--trust=pins" {
            place.sim.clear_requests();
            let ran = place.undo().await.exits(1);
            ran.says("presents another certificate than it should")
                .says(place.sim.fingerprint())
                .says(&format!("--undo --name home --pin {new}"));
            assert_eq!(place.sim.requests().len(), 0, "nothing was sent");
            let wrong = format!("--pin={}", ["AA"; 32].join(":"));
            undo(&place, &[&wrong]).await.exits(1);
            undo(&place, &["--pin", new]).await.exits(0);
        } else {
            // The authority vouches for the new one as it did for the old one.
            place.undo().await.exits(0);
        }
        assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
    }
}

#[tokio::test]
async fn another_cluster_at_that_address_is_not_taken_for_it() {
    let (place, relay) = set_up(&[]).await;
    let before = (place.ours(), place.files_but_trail());
    let other = Sim::start(sim::worlds::homelab()).await.unwrap();
    relay.now_to(other.addr());
    let ran = undo(&place, &["--pin", other.fingerprint()]).await;
    ran.exits(1).says("another cluster answers there");
    assert_eq!((place.ours(), place.files_but_trail()), before);
    relay.now_to(place.sim.addr());
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// A node that was installed anew: what was made on it went with it.
#[tokio::test]
async fn a_cluster_that_is_gone_for_good_is_forgotten_when_that_is_said_twice() {
    let (place, relay) = set_up(&[]).await;
    let other = Sim::start(sim::worlds::homelab()).await.unwrap();
    relay.now_to(other.addr());
    let new = ["--pin", other.fingerprint()];
    let again = || set_up_at(&place, &relay, &new);
    again().await.exits(1).says("--undo --name home");
    let only_here = ["--undo", "--local-only", "--yes"];
    let ran = place.told(&only_here, "").await.exits(0);
    ran.says("--local-only once more forgets it");
    again().await.exits(1).says("--local-only");
    let ran = place.told(&only_here, "").await.exits(0);
    ran.says("knows nothing of home any more").says("pveum");
    again().await.exits(0);
}

#[tokio::test]
async fn what_is_done_is_not_done_again_after_a_failure() {
    let place = Place::new().await;
    place.setup(READ_HOME).await.exits(0);
    place
        .sim
        .fault(Fault::refuse(500, "got no lock").on("DELETE", "/access/roles/*"));
    place.undo().await.exits(1).says("got no lock");
    assert_eq!(place.ours(), ["role oxmox-read"]);
    let journal = place.text("state/setup/home.json");
    assert!(!journal.contains("\"token\""), "{journal}");
    place.sim.clear_faults();
    place.sim.clear_requests();
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
    let gone = place.sim.requests().into_iter();
    assert_eq!(gone.filter(|it| it.method == "DELETE").count(), 1);
}

/// A certificate that the journal of an earlier oxmox knows by its file only.
#[tokio::test]
async fn a_journal_that_names_the_authoritys_file_only() {
    let (place, relay) = set_up(&["--trust=ca"]).await;
    let text = place.text("state/setup/home.json");
    let mut journal: serde_json::Value = serde_json::from_str(&text).unwrap();
    journal.as_object_mut().unwrap().remove("ca").unwrap();
    place.write("state/setup/home.json", &journal.to_string());
    relay.now_to(nobody());
    place
        .told(&["--undo", "--local-only", "--yes"], "")
        .await
        .exits(0);
    assert!(!place.home(".config/oxmox/home-ca.pem").exists());
    relay.now_to(place.sim.addr());
    place.undo().await.exits(0);
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}
