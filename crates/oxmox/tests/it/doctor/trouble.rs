//! Each thing that can be wrong is told with what to type about it; secrets are in none of it.

use sim::Sim;

use super::{Clinic, chmod, findings, homelab_sim, of_sim, root, section};

const CANARY: &str = "canary-77aa";

/// A port that takes connections and never says a word.
fn silent() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// A port at which nobody is.
fn nobody() -> String {
    silent().1
}

#[tokio::test(flavor = "multi_thread")]
async fn one_cluster_that_is_down_takes_nothing_from_the_other() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let (_kept, hangs) = silent();
    let sections = [
        of_sim("lab", &sim, &token),
        section("down", &nobody(), sim.fingerprint(), &token),
        section("hangs", &hangs, sim.fingerprint(), &token),
    ];
    clinic.configure(&sections, secret);
    let report = clinic.doctor(&["--json", "--timeout", "2"]).exits(1).json();
    let of = |cluster: &str, check: &str| -> Vec<String> {
        let found = findings(&report, check).into_iter();
        found
            .filter(|one| one["cluster"] == cluster)
            .map(|one| one["level"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(of("lab", "storage"), ["ok"], "{report:#}");
    assert_eq!(of("down", "connection"), ["problem"], "{report:#}");
    assert_eq!(of("down", "more"), ["skipped"], "{report:#}");
    assert_eq!(of("hangs", "time"), ["problem"], "{report:#}");
    let ran = clinic.doctor(&["--cluster", "lab"]).exits(0);
    assert!(!ran.stdout.contains("hangs"), "{ran:#?}");
    clinic
        .doctor(&["--cluster", "lap"])
        .exits(2)
        .says("did you mean lab?");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_down_is_a_warning_while_another_answers() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let two = format!(
        "[clusters.lab]\nhosts = [\"{}\", {{ host = \"{}\", pin = \"{}\" }}]\ntoken = \"{token}\"\ntoken_secret_file = \"secret\"\n",
        nobody(),
        sim.addr(),
        sim.fingerprint()
    );
    clinic.configure(&[two], secret);
    let report = clinic.doctor(&["--json"]).exits(0).json();
    let levels: Vec<_> = findings(&report, "connection")
        .iter()
        .map(|one| &one["level"])
        .collect();
    assert_eq!(levels, ["warning", "ok"], "{report:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_certificate_names_the_setting() {
    let (sim, other) = (homelab_sim().await, homelab_sim().await);
    let clinic = Clinic::new();
    let (token, secret) = root();
    let address = sim.addr().to_string();
    clinic.configure(
        &[section("lab", &address, other.fingerprint(), &token)],
        secret,
    );
    clinic
        .doctor(&[])
        .exits(1)
        .prints("IS NOT THE PINNED ONE")
        .prints("hint: compare it with")
        .prints(&format!("pin = \"{}\"", sim.fingerprint()));
    assert!(sim.requests().is_empty(), "nothing is sent to a stranger");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_refused_is_not_shown() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, _) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], CANARY);
    let ran = clinic
        .doctor(&[])
        .exits(1)
        .prints("PVE refused the API token");
    let ran = ran.prints("hint: `pveum user token list");
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(CANARY), "{ran:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_is_refused_is_no_matter_of_tokens() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let section = of_sim("lab", &sim, "x@pam!y")
        .replace("token = \"x@pam!y\"", "user = \"root@pam\"")
        .replace("token_secret_file", "password_file");
    clinic.configure(&[section], CANARY);
    let ran = clinic.doctor(&[]).exits(1);
    let ran = ran.prints("hint: `oxmox secret set lab`");
    assert!(!ran.stdout.contains("pveum user token list"), "{ran:#?}");
    // One that is yet to be added has no secret that a command could find.
    let pinned = format!("{}={}", sim.addr(), sim.fingerprint());
    let secret = clinic.file("secret").display().to_string();
    let add = ["cluster", "add", "new", "--user=root@pam", "--host"];
    let words = [&add[..], &[&pinned, "--password-file", &secret]].concat();
    let ran = clinic.run(&words).exits(1).says("hint: `pveum user list`");
    assert!(!ran.stderr.contains("oxmox secret set"), "{ran:#?}");
}

/// The password may be right.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_factor_is_no_matter_of_the_password() {
    let sim = homelab_sim().await;
    sim.world(|world| {
        let root = world.access.users.get_mut("root@pam").unwrap();
        root.factors = vec![sim::world::factor::Factor::WebAuthn];
    });
    let clinic = Clinic::new();
    let section = of_sim("lab", &sim, "x@pam!y")
        .replace("token = \"x@pam!y\"", "user = \"root@pam\"")
        .replace("token_secret_file", "password_file");
    clinic.configure(&[section], sim::worlds::ROOT_PASSWORD);
    let ran = clinic.doctor(&[]).exits(1).prints("second factor");
    let ran = ran.prints("hint: `pveum user list`");
    assert!(!ran.stdout.contains("oxmox secret set"), "{ran:#?}");
}

/// Nothing repeats it, and no command makes a file of that name.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_in_the_place_of_its_file_is_not_repeated() {
    let secret = "01234567-89ab-cdef-0123-456789abcdef";
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, _) = root();
    let section = of_sim("lab", &sim, &token).replace("\"secret\"", &format!("\"{secret}\""));
    clinic.configure(&[section], "");
    let ran = clinic.doctor(&[]).exits(1);
    let ran = ran.prints("token_secret_file holds what looks like the secret itself");
    let set = clinic.fed(&["secret", "set", "lab", "--no-test"], secret);
    let set = set.exits(2).says("token_secret_file holds what looks");
    for text in [&ran.stdout, &ran.stderr, &set.stdout, &set.stderr] {
        assert!(!text.contains(secret), "{ran:#?} {set:#?}");
    }
    assert!(!clinic.file(secret).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_others_may_read_are_told() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], secret);
    chmod(&clinic.file("secret"), 0o644);
    chmod(&clinic.file("config.toml"), 0o666);
    let shown = |name: &str| clinic.file(name).display().to_string();
    clinic
        .doctor(&[])
        .exits(1)
        .prints(&format!("hint: `chmod 600 {}`", shown("secret")))
        .prints(&format!("hint: `chmod go-w {}`", shown("config.toml")));
}

#[test]
fn a_configuration_that_cannot_be_used_is_the_finding() {
    let clinic = Clinic::new();
    clinic.write(
        "config.toml",
        "mode = \"ask\"\ntoolset = [\"canary-77aa\"]\n",
    );
    let ran = clinic
        .doctor(&[])
        .exits(2)
        .prints("PROBLEM")
        .prints("line 2");
    let ran = ran.prints("hint: did you mean `toolsets`?");
    assert!(!ran.stdout.contains(CANARY), "{ran:#?}");
    clinic.write("config.toml", "");
    clinic
        .doctor(&[])
        .exits(1)
        .prints("there is nothing to talk to")
        .prints("oxmox setup");
}

#[test]
fn a_secret_in_a_comment_is_told_by_its_line() {
    let clinic = Clinic::new();
    let secret = "01234567-89ab-cdef-0123-456789abcdef";
    clinic.write("config.toml", &format!("# it was\n# {secret}\n"));
    let ran = clinic
        .doctor(&[])
        .exits(1)
        .prints("line 2: this looks like the secret");
    assert!(!ran.stdout.contains(secret), "{ran:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_is_not_there_is_one_clusters_matter() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    let lost = of_sim("lost", &sim, &token).replace("\"secret\"", "\"nowhere\"");
    clinic.configure(&[of_sim("lab", &sim, &token), lost], secret);
    let report = clinic.doctor(&["--json"]).exits(1).json();
    let found = findings(&report, "secret");
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!(found[0]["cluster"], "lost");
    assert!(!findings(&report, "storage").is_empty(), "{report:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_trail_is_found() {
    let sim: Sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], secret);
    let start = ["call", "--yes", "start_proxmox_vm", "--vmid", "105"];
    clinic.run(&start).exits(0);
    clinic
        .doctor(&[])
        .exits(0)
        .prints("is whole")
        .prints("can be written");
    let database = clinic.machine.state_dir().join("oxmox.db");
    let connection = rusqlite::Connection::open(database).unwrap();
    connection
        .execute("UPDATE audit SET entry = replace(entry, '105', '106')", [])
        .unwrap();
    drop(connection);
    clinic
        .doctor(&[])
        .exits(1)
        .prints("the chain is broken at entry 1")
        .prints("hint: `oxmox audit export`");
}

#[tokio::test(flavor = "multi_thread")]
async fn directories_that_others_may_write_to_are_told() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], secret);
    let dir = clinic.file("");
    let dir = dir.to_str().unwrap().trim_end_matches('/');
    for mode in [0o777, 0o770] {
        chmod(std::path::Path::new(dir), mode);
        let ran = clinic.doctor(&[]).exits(0);
        ran.prints(&format!("may replace files in {dir} (mode {mode:o})"))
            .prints(&format!("chmod go-w {dir}"));
    }
    chmod(std::path::Path::new(dir), 0o700);
    let ran = clinic.doctor(&[]).exits(0);
    assert!(!ran.stdout.contains("may replace"), "{ran:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_oxmox_left_is_told() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], secret);
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let left = clinic.write(&format!("secret.oxmox-{}.new", ended.id()), CANARY);
    let lives = clinic.write(&format!("secret.oxmox-{}.new", std::process::id()), "");
    let ran = clinic.doctor(&[]).exits(0);
    let ran = ran.prints(&format!("rm {}", left.display()));
    assert!(!ran.stdout.contains(lives.to_str().unwrap()), "{ran:#?}");
    assert!(!ran.stdout.contains(CANARY), "{ran:#?}");
}

/// With it nothing can be recorded, whether or not something was before.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_cannot_be_used_is_told_by_its_file() {
    let sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], secret);
    let key = clinic.machine.state_dir().join("key");
    std::fs::create_dir_all(key.parent().unwrap()).unwrap();
    chmod(key.parent().unwrap(), 0o700);
    std::fs::write(&key, "abc").unwrap();
    chmod(&key, 0o600);
    let report = clinic.doctor(&["--json"]).exits(1).json();
    let found = findings(&report, "store");
    assert_eq!(found[0]["level"], "problem", "{found:?}");
    let hint = found[0]["hint"].as_str().unwrap();
    assert!(hint.contains(key.to_str().unwrap()), "{hint}");
}

/// Whatever is asked and not answered is named.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_pve_does_not_answer() {
    for path in [
        "/access/permissions",
        "/cluster/resources",
        "/nodes/pve1/storage",
    ] {
        let sim = homelab_sim().await;
        sim.fault(sim::Fault::refuse(500, "no").on("GET", path));
        let clinic = Clinic::new();
        let (token, secret) = root();
        clinic.configure(&[of_sim("lab", &sim, &token)], secret);
        let ran = clinic.doctor(&[]).exits(1);
        assert!(
            ran.stdout.contains(&format!("GET {path}: ")),
            "{}",
            ran.stdout
        );
    }
}

/// All else works, and nothing can be changed.
#[tokio::test(flavor = "multi_thread")]
async fn what_stops_every_change_is_told() {
    let sim: Sim = homelab_sim().await;
    let clinic = Clinic::new();
    let (token, secret) = root();
    clinic.configure(&[of_sim("lab", &sim, &token)], secret);
    clinic.doctor(&[]).exits(0).prints("3 of 3 nodes are there");
    clinic.run(&["freeze"]).exits(0);
    let ran = clinic.doctor(&[]).exits(0);
    ran.prints("a person stopped all changes")
        .prints("`oxmox thaw`");
    // Somebody may look just because the store is in trouble, too.
    let key = clinic.machine.state_dir().join("key");
    crate::private::write(&key, "no key");
    let ran = clinic.doctor(&[]).exits(1);
    ran.prints("cannot be used")
        .prints("a person stopped all changes");
    std::fs::remove_file(&key).unwrap();
    clinic.run(&["thaw"]).exits(0);
    sim.world(|world| world.quorum_lost = true);
    let ran = clinic.doctor(&[]).exits(1);
    ran.prints("no quorum (3 of 3 nodes are there)")
        .prints("still stops guests and deletes volumes")
        .prints("pvecm status");
}

#[test]
fn a_demo_that_is_frozen_is_thawed_as_one() {
    let machine = crate::cli::Machine::new();
    machine.demo(&["freeze"]).exits(0);
    let ran = machine.demo(&["doctor"]);
    ran.prints("`oxmox --demo thaw`");
}
