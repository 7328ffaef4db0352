//! Secrets that cannot be had: the trouble of one cluster, told as its own, while the others work.

use std::fs;

use serde_json::Value;

use crate::doctor::{Clinic, homelab_sim, of_sim, root};

/// The section with another way to the secret.
fn by(section: &str, way: &str) -> String {
    section.replace("token_secret_file = \"secret\"", way)
}

/// A program that prints the secret, and notes that it was run.
fn noting(clinic: &Clinic) -> String {
    let at = |name: &str| clinic.file(name).display().to_string();
    let script = format!("echo run >> {}; cat {}", at("runs"), at("secret"));
    format!("token_secret_command = [\"sh\", \"-c\", \"{script}\"]")
}

fn runs(clinic: &Clinic) -> usize {
    let text = fs::read_to_string(clinic.file("runs")).unwrap_or_default();
    text.lines().count()
}

fn notes(listed: &Value) -> String {
    listed["notes"].to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_others_work_and_tell_who_is_missing() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let of = |name: &str, way: &str| by(&of_sim(name, &sim, &token), way);
    clinic.configure(
        &[
            of_sim("lab", &sim, &token),
            of("lost", "token_secret_file = \"nowhere\""),
            of("fails", "token_secret_command = [\"false\"]"),
            of("unset", "token_secret_env = \"OXMOX_NOT_SET\""),
        ],
        secret,
    );
    let listed = clinic
        .run(&["call", "list_proxmox_resources", "--json"])
        .exits(0)
        .json();
    assert!(listed["total"].as_u64().unwrap() > 0, "{listed:#}");
    let notes = notes(&listed);
    for words in [
        "cluster lost is left out: the token secret of cluster lost: ",
        "nowhere cannot be read",
        "`oxmox secret set lost` puts it there",
        "cluster fails is left out: the token secret of cluster fails: false failed",
        "run false by hand",
        "OXMOX_NOT_SET is not set",
    ] {
        assert!(notes.contains(words), "no \"{words}\" in {notes}");
    }
    let show = ["call", "list_proxmox_resources", "--cluster"];
    clinic.run(&[&show[..], &["lab"]].concat()).exits(0);
    clinic
        .run(&[&show[..], &["lost"]].concat())
        .exits(1)
        .says("nowhere cannot be read")
        .says("hint: `oxmox secret set lost`");
    // Asked again as soon as somebody asks.
    crate::private::write(clinic.file("nowhere"), secret);
    clinic.run(&[&show[..], &["lost"]].concat()).exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_elsewhere_needs_no_secret_that_is_not_to_be_had() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let lost = by(
        &of_sim("lost", &sim, &token),
        "token_secret_file = \"nowhere\"",
    );
    clinic.configure(&[of_sim("lab", &sim, &token), lost], secret);
    let start = ["call", "--yes", "start_proxmox_vm", "--vmid", "105"];
    clinic
        .run(&start)
        .exits(1)
        .says("cluster lost: the token secret of cluster lost")
        .says("say which cluster it is for")
        .says("oxmox secret set lost");
    clinic
        .run(&[&start[..], &["--cluster", "lab"]].concat())
        .exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_is_run_for_who_asks_and_once() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let vault = by(&of_sim("vault", &sim, &token), &noting(&clinic));
    clinic.configure(&[of_sim("lab", &sim, &token), vault], secret);
    clinic
        .run(&["call", "list_proxmox_resources", "--cluster", "lab"])
        .exits(0);
    clinic.run(&["tools"]).exits(0);
    clinic.run(&["cluster", "list"]).exits(0);
    // A server that nobody calls.
    clinic.fed(&[], "").exits(0);
    assert_eq!(runs(&clinic), 0);
    clinic
        .run(&["call", "list_proxmox_resources", "--resource-type", "all"])
        .exits(0);
    assert_eq!(runs(&clinic), 1);
    // Each host and each look of it, by one secret.
    clinic.run(&["doctor", "--cluster", "vault"]).exits(0);
    assert_eq!(runs(&clinic), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cluster_is_told_of_by_those_who_look() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let of = |name: &str, way: &str| by(&of_sim(name, &sim, &token), way);
    clinic.configure(
        &[
            of_sim("lab", &sim, &token),
            of("lost", "token_secret_file = \"nowhere\""),
            of(
                "hangs",
                "token_secret_command = [\"sleep\", \"600\"]\nsecret_timeout = 1",
            ),
        ],
        secret,
    );
    for words in [["cluster", "test", "--json"], ["doctor", "--json", "-v"]] {
        let report = clinic.run(&words).exits(1).json();
        let all = report["findings"].as_array().unwrap();
        let of = |cluster: &str| -> Vec<&Value> {
            let of = |one: &&Value| one["cluster"] == cluster;
            all.iter().filter(of).collect()
        };
        assert!(of("lab").iter().all(|one| one["level"] != "problem"));
        for (cluster, says) in [
            ("lost", "nowhere cannot be read"),
            ("hangs", "sleep did not answer within 1 s"),
        ] {
            let [one] = of(cluster)[..] else {
                panic!("{report:#}");
            };
            assert_eq!(
                (&one["check"], &one["level"]),
                (&"secret".into(), &"problem".into())
            );
            assert!(one["says"].as_str().unwrap().contains(says), "{one:#}");
            assert!(one["hint"].is_string(), "{one:#}");
        }
    }
    clinic
        .run(&["secret", "test", "hangs"])
        .exits(1)
        .says("the token secret of cluster hangs: sleep did not answer within 1 s")
        .says("hint: ");
    clinic.run(&["secret", "test", "lab"]).exits(0);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_a_program_says_besides_is_shown_to_nobody() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let says = |name: &str, then: &str| {
        let script = format!("echo {secret} >&2; {then}");
        let way = format!("token_secret_command = [\"sh\", \"-c\", \"{script}\"]");
        by(&of_sim(name, &sim, &token), &way)
    };
    // What it leaves running does not count.
    let good = says("good", &format!("echo {secret}; sleep 20 &"));
    clinic.configure(&[good, says("bad", "exit 3")], secret);
    let ran = clinic.run(&["secret", "test", "good"]).exits(0);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(secret));
    let ran = clinic.run(&["secret", "test", "bad"]).exits(1);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(secret));
    ran.says("sh failed (exit status: 3)")
        .says("hint: run sh by hand");
}

/// Whatever oxmox is asked to do, by whatever way it is served.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn file_with_a_key_or_secret_that_others_may_read_stops_the_start() {
    use std::os::unix::fs::PermissionsExt as _;
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], secret);
    clinic.run(&["token", "add", "ci"]).exits(0);
    let key = clinic.machine.state_dir().join("key");
    for file in [clinic.file("secret"), key] {
        for mode in [0o644, 0o666, 0o640, 0o660] {
            let rights = fs::Permissions::from_mode(mode);
            fs::set_permissions(&file, rights).unwrap();
            for words in [
                &["serve"][..],
                &["serve", "--http", "127.0.0.1:0"],
                &["call", "list_proxmox_resources"],
            ] {
                let ran = clinic.run(words);
                assert_ne!(ran.code, 0, "{ran:?}");
                ran.says(&format!("`chmod 600 {}`", file.display()));
            }
        }
        crate::private::restrict(&file);
        clinic.run(&["serve"]).exits(0);
    }
    assert!(sim.requests().is_empty(), "nothing is sent before");
}
