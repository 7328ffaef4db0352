//! `oxmox cluster`: the configuration file of a person, changed in place.

use std::fs;

use crate::doctor::{Clinic, homelab_sim, of_sim, root};

const BEFORE: &str = "# all of mine\nmode = \"ask\" # never trusted\n";

/// The flags that name this simulator.
fn flags(host: &str, token: &str, secret: &str) -> Vec<String> {
    [
        "--host",
        host,
        "--token",
        token,
        "--token-secret-file",
        secret,
    ]
    .map(str::to_owned)
    .into()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_is_tried_and_added_and_taken_out_again() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[BEFORE.to_owned()], secret);
    let secret_file = clinic.file("secret").display().to_string();
    let pinned = format!("{}={}", sim.addr(), sim.fingerprint());
    let mut words = vec![
        "cluster",
        "add",
        "lab",
        "--tags",
        "home,test",
        "--default-node",
        "pve2",
    ];
    let given = flags(&pinned, &token, &secret_file);
    words.extend(given.iter().map(String::as_str));
    let ran = clinic
        .run(&words)
        .exits(0)
        .says("connection")
        .says("is in ");
    assert!(!ran.stderr.contains(secret), "{ran:#?}");
    let config = clinic.file("config.toml");
    let written = fs::read_to_string(&config).unwrap();
    assert!(written.starts_with(BEFORE), "{written}");
    assert!(
        written.contains("[clusters.lab]\nhosts = [{ host = "),
        "{written}"
    );
    assert_eq!(
        fs::read_to_string(config.with_extension("toml.before-oxmox")).unwrap(),
        BEFORE
    );
    clinic
        .run(&["cluster", "list"])
        .exits(0)
        .prints("lab")
        .prints("pinned")
        .prints("home, test");
    let listed = clinic.run(&["cluster", "list", "--json"]).exits(0).json();
    assert_eq!(listed["clusters"][0]["default_node"], "pve2");
    clinic
        .run(&["cluster", "test"])
        .exits(0)
        .prints("PVE ")
        .prints("is let in");
    clinic
        .run(&words)
        .exits(2)
        .says("there is a cluster lab already");
    let there = clinic.run(&["call", "list_proxmox_resources"]).exits(0);
    assert!(there.stdout.contains("105"), "{there:#?}");
    clinic
        .run(&["cluster", "remove", "lab"])
        .exits(0)
        .says("its secret is still in");
    assert_eq!(fs::read_to_string(&config).unwrap(), BEFORE);
    clinic
        .run(&["cluster", "remove", "lab"])
        .exits(2)
        .says("there is no cluster lab");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_cannot_be_used_is_not_written() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[BEFORE.to_owned()], secret);
    let secret_file = clinic.file("secret").display().to_string();
    let add = |host: &str, more: &[&str]| {
        let given = flags(host, &token, &secret_file);
        let given = given.iter().map(String::as_str);
        let words: Vec<_> = ["cluster", "add", "lab"].into_iter().chain(given).collect();
        clinic.run(&[&words, more].concat())
    };
    let address = sim.addr().to_string();
    // Whose certificate nobody vouches for is shown, to be compared.
    add(&address, &[])
        .exits(1)
        .says(sim.fingerprint())
        .says("nothing was written");
    add(&address, &["--default-node", "not a node"])
        .exits(2)
        .says("line ");
    add("http://pve1", &["--no-test"])
        .exits(2)
        .says("PVE speaks only https");
    let written = || fs::read_to_string(clinic.file("config.toml")).unwrap();
    assert_eq!(written(), BEFORE);
    add(&address, &["--no-test"]).exits(0);
    assert!(written().contains("[clusters.lab]"));
    clinic
        .run(&["cluster", "test", "lab"])
        .exits(1)
        .prints("PROBLEM");
    clinic
        .run(&["cluster", "test", "lap"])
        .exits(2)
        .says("did you mean lab?");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_a_rule_names_stays() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let rule = "[[rules]]\ncluster = \"lab\"\nverdict = \"deny\"\n".to_owned();
    clinic.configure(&[of_sim("lab", &sim, &token), rule], secret);
    let before = fs::read_to_string(clinic.file("config.toml")).unwrap();
    clinic
        .run(&["cluster", "remove", "lab"])
        .exits(2)
        .says("rule 1: there is no cluster lab");
    assert_eq!(
        fs::read_to_string(clinic.file("config.toml")).unwrap(),
        before
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_tried_is_what_is_written() {
    let sim = homelab_sim().await;
    let (token, secret) = root();
    let clinic = Clinic::new()
        .with("PROXMOX_HOST", &sim.addr().to_string())
        .with("PROXMOX_FINGERPRINT", sim.fingerprint())
        .with("PROXMOX_TOKEN_NAME", &token)
        .with("PROXMOX_TOKEN_VALUE", secret);
    clinic.configure(&[BEFORE.to_owned()], secret);
    let secret_file = clinic.file("secret").display().to_string();
    let add = |name: &str| {
        let given = flags("nowhere.invalid", &token, &secret_file);
        let given = given.iter().map(String::as_str);
        let words: Vec<_> = ["cluster", "add", name].into_iter().chain(given).collect();
        clinic.run(&words)
    };
    add("default").exits(2).says("PROXMOX_HOST");
    add("lab").exits(1).says("nothing was written");
    let written = fs::read_to_string(clinic.file("config.toml")).unwrap();
    assert_eq!(written, BEFORE);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_kept_once_the_cluster_took_it() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[BEFORE.to_owned()], secret);
    let pinned = format!("{}={}", sim.addr(), sim.fingerprint());
    let add = [
        "cluster", "add", "lab", "--host", &pinned, "--token", &token,
    ];
    let words = [&add[..], &["--secret-store", "file"]].concat();
    let kept = clinic.file("secrets/lab");
    let ran = clinic.fed(&words, "canary-wrong\n").exits(1);
    let ran = ran.says("nothing was written");
    assert!(!kept.exists() && !ran.stderr.contains("canary"), "{ran:#?}");
    clinic.fed(&words, &format!("  {secret} \n")).exits(0);
    assert_eq!(fs::read_to_string(&kept).unwrap(), format!("{secret}\n"));
    clinic.run(&["secret", "test", "lab"]).exits(0);
    clinic.run(&["cluster", "remove", "lab"]).exits(0);
    // What is there may be another's.
    clinic.fed(&words, secret).exits(0).says("secrets/lab-2");
    assert_eq!(fs::read_to_string(&kept).unwrap(), format!("{secret}\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_may_print_the_password() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    clinic.configure(&[BEFORE.to_owned()], sim::worlds::ROOT_PASSWORD);
    let secret = clinic.file("secret").display().to_string();
    let pinned = format!("{}={}", sim.addr(), sim.fingerprint());
    let add = [
        "cluster", "add", "lab", "--host", &pinned, "--user", "root@pam",
    ];
    let words = [&add[..], &["--password-command", "cat", &secret]].concat();
    clinic.run(&words).exits(0);
    // Where it cannot be set, the key is named that could hold it.
    clinic
        .fed(&["secret", "set", "lab"], "x")
        .exits(2)
        .says("by password_file");
}
