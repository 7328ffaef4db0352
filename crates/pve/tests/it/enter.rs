//! A look at a certificate, and a person's login with what it asks for.

use std::time::Duration;

use pve::{Credentials, Entry, Error, Factor, Host, Request, Settings, connect};
use sim::Sim;
use sim::world::factor;
use sim::worlds::homelab;

use crate::simulated::root_password;

const LIMIT: Duration = Duration::from_secs(10);

async fn sim_with(factors: Vec<factor::Factor>) -> (Sim, Settings) {
    let mut world = homelab();
    world.access.users.get_mut("root@pam").unwrap().factors = factors;
    let sim = Sim::start(world).await.unwrap();
    let host: Host = sim.addr().to_string().parse().unwrap();
    let host = host.with_pin(sim.fingerprint().parse().unwrap());
    (sim, Settings::new(vec![host], root_password()))
}

fn code(sim: &Sim) -> String {
    sim.world(|world| {
        let factor = &world.access.users["root@pam"].factors[0];
        factor.code(world.now).unwrap()
    })
}

#[tokio::test]
async fn a_look_sees_the_certificate_and_sends_nothing() {
    let (sim, settings) = sim_with(Vec::new()).await;
    let seen = pve::look(&settings.hosts[0], &pve::Trust::System, LIMIT)
        .await
        .unwrap();
    assert_eq!(seen.fingerprint.to_string(), sim.fingerprint());
    assert!(!seen.trusted);
    assert_eq!(sim.requests().len(), 0);
}

#[tokio::test]
async fn a_login_gives_a_ticket_that_reads_and_writes() {
    let (_sim, mut settings) = sim_with(Vec::new()).await;
    let Entry::In(credentials) = pve::log_in(&settings).await.unwrap() else {
        panic!("nothing more is asked for");
    };
    assert!(matches!(credentials, Credentials::Ticket { .. }));
    settings.credentials = credentials;
    let (reader, writer) = connect(settings).unwrap();
    reader.version().await.unwrap();
    let request = Request::post("/pools").with("poolid", "made-by-ticket");
    writer.send(&request).await.unwrap();
}

#[tokio::test]
async fn a_code_is_asked_for_and_taken_once() {
    let key = *b"12345678901234567890";
    let (sim, settings) = sim_with(vec![factor::Factor::totp(key)]).await;
    let Entry::Half(challenge) = pve::log_in(&settings).await.unwrap() else {
        panic!("a code is asked for");
    };
    assert!(challenge.totp && !challenge.recovery && challenge.others.is_empty());
    let right = code(&sim);
    let wrong = if right == "000000" {
        "000001"
    } else {
        "000000"
    };
    let wrong = Factor::Totp(wrong.into());
    let refused = pve::answer_challenge(&settings, &challenge, &wrong).await;
    assert!(matches!(refused, Err(Error::Auth { .. })), "{refused:?}");
    // As people read it out.
    let right = Factor::Totp(format!(" {right}\n").into());
    let credentials = pve::answer_challenge(&settings, &challenge, &right).await;
    let settings = Settings {
        credentials: credentials.unwrap(),
        ..settings
    };
    connect(settings).unwrap().0.version().await.unwrap();
}

#[tokio::test]
async fn what_takes_a_browser_is_named() {
    let (_sim, settings) = sim_with(vec![factor::Factor::WebAuthn]).await;
    let Entry::Half(challenge) = pve::log_in(&settings).await.unwrap() else {
        panic!("a second factor is asked for");
    };
    assert!(!challenge.totp);
    assert_eq!(challenge.others, ["webauthn"]);
}

#[tokio::test]
async fn a_recovery_key_is_used_up() {
    let keys = factor::Factor::Recovery(vec![Some("1f2e-3d4c".to_owned())]);
    let (_sim, settings) = sim_with(vec![factor::Factor::WebAuthn, keys]).await;
    let Entry::Half(challenge) = pve::log_in(&settings).await.unwrap() else {
        panic!("a second factor is asked for");
    };
    assert!(challenge.recovery && !challenge.totp);
    let key = Factor::Recovery("1f2e-3d4c".into());
    pve::answer_challenge(&settings, &challenge, &key)
        .await
        .unwrap();
    let Entry::Half(challenge) = pve::log_in(&settings).await.unwrap() else {
        panic!("a second factor is asked for");
    };
    assert!(!challenge.recovery, "none is left");
}

#[tokio::test]
async fn a_wrong_password_is_no_challenge() {
    let (_sim, mut settings) = sim_with(vec![factor::Factor::WebAuthn]).await;
    settings.credentials = Credentials::Password {
        user: "root@pam".to_owned(),
        password: "canary".into(),
    };
    let refused = pve::log_in(&settings).await.unwrap_err();
    assert!(matches!(refused, Error::Auth { .. }), "{refused}");
    assert!(!format!("{refused:?}").contains("canary"));
}
