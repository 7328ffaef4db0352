//! Certificates that setup has seen before, and names that they are not for.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use sim::Sim;
use sim::worlds::ROOT_PASSWORD;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use super::Place;
use crate::cli::{Machine, Ran};

const WORDS: &[&str] = &[
    "--only-host",
    "--user=root@pam",
    "--password-stdin",
    "--level=read",
    "--name=home",
    "--secret-store=file",
    "--yes",
];

/// An address behind which there is now one machine, now another.
pub(super) struct Relay {
    pub(super) address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    _serving: AbortOnDropHandle<()>,
}

impl Relay {
    pub(super) async fn to(target: SocketAddr, at: &str) -> Self {
        let listener = TcpListener::bind((at, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = Arc::new(Mutex::new(target));
        let goes_to = Arc::clone(&target);
        let serving = tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let to = *goes_to.lock().unwrap();
                tokio::spawn(async move {
                    let Ok(mut server) = TcpStream::connect(to).await else {
                        return;
                    };
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                });
            }
        });
        Self {
            address,
            target,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    pub(super) fn now_to(&self, target: SocketAddr) {
        *self.target.lock().unwrap() = target;
    }
}

async fn setup(place: &Place, at: SocketAddr, more: &[&str]) -> Ran {
    let (host, port) = (at.ip().to_string(), at.port().to_string());
    let address = ["setup", "--host", &host, "--port", &port];
    let words = address.iter().chain(WORDS).chain(more);
    let words = words.map(|word| (*word).to_owned()).collect();
    place.fed(words, ROOT_PASSWORD).await
}

#[tokio::test]
async fn another_certificate_than_the_pinned_one_is_refused() {
    let place = Place::new().await;
    let relay = Relay::to(place.sim.addr(), "127.0.0.1").await;
    setup(&place, relay.address, &["--accept-pin"])
        .await
        .exits(0);
    let other = Sim::start(sim::worlds::homelab()).await.unwrap();
    relay.now_to(other.addr());
    let ran = setup(&place, relay.address, &["--accept-pin"])
        .await
        .exits(1);
    ran.says("presents another certificate than it should")
        .says(place.sim.fingerprint())
        .says(&format!("add --pin {}", other.fingerprint()));
    assert_eq!(other.requests().len(), 0, "nothing was sent");
}

#[tokio::test]
async fn a_certificate_that_the_clusters_authority_does_not_know_is_refused() {
    let place = Place::new().await;
    let relay = Relay::to(place.sim.addr(), "127.0.0.1").await;
    let words = ["--accept-pin", "--trust=ca"];
    setup(&place, relay.address, &words).await.exits(0);
    // What the authority vouches for needs no other word.
    let ran = setup(&place, relay.address, &[]).await.exits(0);
    ran.says("nothing to do");
    let other = Sim::start(sim::worlds::homelab()).await.unwrap();
    relay.now_to(other.addr());
    let ran = setup(&place, relay.address, &words).await.exits(1);
    ran.says("home-ca.pem does not vouch for that");
    assert_eq!(other.requests().len(), 0, "nothing was sent");
}

#[tokio::test]
async fn a_pin_stays_where_the_system_trusts_the_host_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let roots = dir.path().join("roots.pem");
    let machine = Machine::new().with("SSL_CERT_FILE", roots.to_str().unwrap());
    let place = Place::with(sim::worlds::homelab(), machine).await;
    std::fs::write(&roots, place.sim.ca_pem()).unwrap();
    let pin = format!("--pin={}", place.sim.fingerprint());
    setup(&place, place.sim.addr(), &[&pin]).await.exits(0);
    let ran = setup(&place, place.sim.addr(), &[]).await.exits(0);
    ran.says("nothing to do");
    let config = place.text(".config/oxmox/config.toml");
    assert!(config.contains(place.sim.fingerprint()), "{config}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_host_that_the_authority_does_not_vouch_for_keeps_its_pin() {
    let place = Place::new().await;
    // An address that stands in no certificate.
    let relay = Relay::to(place.sim.addr(), "127.0.0.2").await;
    setup(&place, relay.address, &["--accept-pin"])
        .await
        .exits(0);
    let ran = setup(&place, relay.address, &["--trust=ca"]).await.exits(0);
    ran.says("does not vouch for 127.0.0.2");
    place.lists().await;
}

#[tokio::test]
async fn the_authoritys_file_goes_with_the_wish_for_it() {
    let place = Place::new().await;
    let pin = format!("--pin={}", place.sim.fingerprint());
    setup(&place, place.sim.addr(), &[&pin, "--trust=ca"])
        .await
        .exits(0);
    let ran = setup(&place, place.sim.addr(), &[&pin, "--trust=pins"]).await;
    ran.exits(0)
        .says("remove the certificate of the cluster's authority");
    place.lists().await;
    place.undo().await.exits(0);
    assert_eq!(place.files_but_trail(), [""; 0]);
}
