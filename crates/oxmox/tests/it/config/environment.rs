//! A cluster that the environment describes.

use std::path::Path;

use oxmox::config::{Config, Environment, Login, Overrides};
use pve::{Credentials, Trust};
use secrecy::ExposeSecret as _;

use super::{CANARY, PIN, cluster, of_environment, only, refused};

#[test]
fn the_usual_variables_describe_a_cluster() {
    let config = of_environment([
        ("PROXMOX_PORT", "443"),
        ("PROXMOX_USER", "me@pve"),
        ("PROXMOX_TOKEN_NAME", "ox"),
        ("PROXMOX_TOKEN_VALUE", CANARY),
        ("PROXMOX_FINGERPRINT", PIN),
        ("PROXMOX_CA_FILE", "/ca.pem"),
        ("PROXMOX_VERIFY_SSL", "False"),
    ])
    .unwrap();
    let cluster = only(&config);
    assert_eq!(cluster.name, "default");
    assert_eq!(cluster.hosts[0].to_string(), "pve1:443");
    assert_eq!(cluster.hosts[0].pin, Some(PIN.parse().unwrap()));
    assert_eq!(cluster.trust, Trust::CaFile("/ca.pem".into()));
    assert!(config.warnings[0].contains("never turns the check of certificates off"));
    assert!(!format!("{config:?}").contains(CANARY));
    let settings = cluster.settings(&Environment::default());
    assert_eq!(settings.credentials.id(), "me@pve!ox");
    assert!(!format!("{settings:?}").contains(CANARY));
}

#[test]
fn a_tokens_full_name_is_understood_and_a_password_too() {
    let config = of_environment([
        ("PROXMOX_TOKEN_NAME", "root@pam!ox"),
        ("PROXMOX_TOKEN_VALUE", CANARY),
    ])
    .unwrap();
    assert!(matches!(&only(&config).login, Login::Token { user, .. } if user == "root@pam"));
    let config =
        of_environment([("PROXMOX_USER", "root@pam"), ("PROXMOX_PASSWORD", CANARY)]).unwrap();
    assert!(matches!(&only(&config).login, Login::Password { .. }));
    assert!(config.warnings.is_empty());
}

/// It is told of when the cluster is asked: the others can do without it.
#[tokio::test]
async fn a_secret_is_checked_as_one_from_anywhere_else() {
    for (value, says) in [
        (format!("{CANARY}\u{1b}[A"), "(U+001B)"),
        (format!("\u{200b}{CANARY}"), "(U+200B)"),
        ("  ".to_owned(), "is empty"),
    ] {
        for (name, secret, what) in [
            ("PROXMOX_TOKEN_NAME", "PROXMOX_TOKEN_VALUE", "token secret"),
            ("PROXMOX_USER", "PROXMOX_PASSWORD", "password"),
        ] {
            let config = of_environment([
                (
                    name,
                    if what == "password" {
                        "a@pve"
                    } else {
                        "a@pve!b"
                    },
                ),
                (secret, &value),
            ]);
            let config = config.unwrap();
            let settings = only(&config).settings(&Environment::default());
            let told = settings.credentials.fetch().await.unwrap_err().to_string();
            assert!(
                told.contains(&format!("the {what} of cluster default")),
                "{told}"
            );
            assert!(told.contains(says) && !told.contains(CANARY), "{told}");
        }
    }
    // A line end behind it, as one from a file has it, is no part of it.
    let value = format!("{CANARY}\n");
    let config = of_environment([
        ("PROXMOX_TOKEN_NAME", "a@pve!b"),
        ("PROXMOX_TOKEN_VALUE", &value),
    ]);
    let config = config.unwrap();
    let settings = only(&config).settings(&Environment::default());
    let Credentials::Token { secret, .. } = settings.credentials else {
        panic!("a token was described");
    };
    assert_eq!(secret.get().await.unwrap().expose_secret(), CANARY);
}

#[test]
fn a_secret_in_the_wrong_variable_is_not_quoted() {
    let whole = format!("root@pam!oxmox={CANARY}");
    let (half, address) = (
        format!("oxmox={CANARY}"),
        format!("https://root:{CANARY}@pve1"),
    );
    let sound = [
        ("PROXMOX_USER", "root@pam"),
        ("PROXMOX_TOKEN_NAME", "oxmox"),
        ("PROXMOX_TOKEN_VALUE", "x"),
    ];
    for (name, value, why) in [
        ("PROXMOX_USER", whole.as_str(), "a whole token"),
        ("PROXMOX_TOKEN_NAME", &whole, "a whole token"),
        ("PROXMOX_TOKEN_NAME", &half, "a whole token"),
        ("PROXMOX_USER", CANARY, "the name of an API token"),
        ("PROXMOX_HOST", &address, "PROXMOX_HOST"),
        ("PROXMOX_HOST", &whole, "PROXMOX_HOST"),
        ("PROXMOX_PORT", CANARY, "PROXMOX_PORT"),
        ("PROXMOX_FINGERPRINT", CANARY, "PROXMOX_FINGERPRINT"),
    ] {
        let pairs = [("HOME", "/home/ox"), ("PROXMOX_HOST", "pve1")]
            .into_iter()
            .chain(sound)
            .chain([(name, value)]);
        let environment: Environment = pairs.collect();
        let fault = Config::load(&Overrides::default(), &environment).unwrap_err();
        let told = format!("{fault} {fault:?}");
        assert!(!told.contains(CANARY) && told.contains(why), "{told}");
    }
    for user in [whole.as_str(), CANARY] {
        let fault = of_environment([("PROXMOX_USER", user), ("PROXMOX_PASSWORD", "x")]);
        let told = format!("{:?}", fault.unwrap_err());
        assert!(!told.contains(CANARY), "{told}");
    }
    let told = refused(&cluster("").replace("root@pam!oxmox", &whole));
    assert!(
        !told.contains(CANARY) && told.contains("a whole token"),
        "{told}"
    );
}

#[test]
fn half_an_environment_says_what_is_missing() {
    let told = of_environment([]).unwrap_err().to_string();
    assert!(told.contains("PROXMOX_USER is not"), "{told}");
    let told = of_environment([("PROXMOX_USER", "root@pam"), ("PROXMOX_TOKEN_NAME", "ox")]);
    assert!(
        told.unwrap_err()
            .message
            .contains("PROXMOX_TOKEN_VALUE is not")
    );
}

#[test]
fn the_demo_reaches_nothing_that_is_configured() {
    let environment = Environment::from([
        ("HOME", "/home/ox"),
        ("PROXMOX_HOST", "pve1"),
        ("OXMOX_STATE_DIR", "/state"),
        ("OXMOX_CONFIG", "/nowhere"),
    ]);
    let config = Config::demo(&Overrides::default(), &environment).unwrap();
    assert!(config.clusters.is_empty());
    assert_eq!(config.state_dir, Path::new("/state/demo"));
    assert_eq!(config.freeze_file(), Path::new("/state/demo/frozen"));
}
