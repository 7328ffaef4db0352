//! What goes wrong ends in a clear message, and leaves nothing half-written.

use sim::Fault;
use sim::worlds::ROOT_PASSWORD;

use super::Place;
use crate::cli::{Machine, Ran};

const WORDS: &[&str] = &[
    "--level",
    "operate",
    "--name",
    "home",
    "--secret-store",
    "file",
    "--yes",
];

/// Insists that there is a hint, and that nothing was left anywhere.
#[track_caller]
fn nothing_left(place: &Place, ran: Ran) -> Ran {
    let ran = ran.says("hint:");
    assert_eq!(place.ours(), [""; 0], "{ran:#?}");
    assert_eq!(place.files(), [""; 0], "{ran:#?}");
    ran
}

/// The same after something was made, and taken back again.
#[track_caller]
fn taken_back(place: &Place) {
    assert_eq!((place.ours(), place.files_but_trail()), (vec![], vec![]));
}

/// Logs in where the certificate is taken as it comes.
const TRUSTING: &[&str] = &["--accept-pin", "--user=root@pam", "--password-stdin"];

#[tokio::test]
async fn a_wrong_password() {
    let place = Place::new().await;
    let ran = place.setup_with(WORDS, "canary-wrong").await.exits(1);
    let ran = nothing_left(&place, ran).says("PVE refused the login of root@pam");
    assert!(!ran.stderr.contains("canary"));
}

/// Something in between that says yes to everything: the password may be right.
#[tokio::test]
async fn a_login_that_brings_no_ticket() {
    let place = Place::new().await;
    let empty = Fault::answer("POST", "/access/ticket", serde_json::json!({}));
    place.sim.fault(empty);
    let ran = place.setup(WORDS).await.exits(1);
    let ran = nothing_left(&place, ran).says("gave no ticket");
    assert!(!ran.stderr.contains("refused"), "{ran:#?}");
    assert!(!ran.stderr.contains("is wrong"), "{ran:#?}");
}

#[tokio::test]
async fn a_certificate_that_nobody_vouched_for() {
    let place = Place::new().await;
    let ran = place
        .at(place.sim.addr(), &TRUSTING[1..], ROOT_PASSWORD)
        .await
        .exits(1);
    let ran = nothing_left(&place, ran).says(&format!("--pin {}", place.sim.fingerprint()));
    ran.says("subject").says("valid");
    assert_eq!(place.sim.requests().len(), 0, "the password was not sent");
}

#[tokio::test]
async fn another_certificate_than_the_pin() {
    let place = Place::new().await;
    let pin = format!("--pin={}", ["AA"; 32].join(":"));
    let words = [&[pin.as_str()], &TRUSTING[1..]].concat();
    let ran = place.at(place.sim.addr(), &words, ROOT_PASSWORD).await;
    nothing_left(&place, ran.exits(1)).says("does not present the certificate of --pin");
    assert_eq!(place.sim.requests().len(), 0);
}

#[tokio::test]
async fn another_certificate_than_the_one_that_is_configured() {
    let place = Place::new().await;
    let address = place.sim.addr();
    let config = format!(
        "[clusters.home]\nhosts = [{{ host = \"{address}\", pin = \"{}\" }}]\ntoken = \"a@pve!b\"\ntoken_secret_env = \"X\"\n",
        ["AA"; 32].join(":")
    );
    place.write(".config/oxmox/config.toml", &config);
    let ran = place.at(address, TRUSTING, ROOT_PASSWORD).await.exits(1);
    ran.says("presents ANOTHER certificate")
        .says("before     AA:AA")
        .says(&format!("--pin {}", place.sim.fingerprint()));
    assert_eq!(place.text(".config/oxmox/config.toml"), config);
    assert_eq!(place.sim.requests().len(), 0, "the password was not sent");
}

#[tokio::test]
async fn nobody_listens_there() {
    let place = Place::new().await;
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let ran = place.at(address, &["--accept-pin"], "").await.exits(1);
    nothing_left(&place, ran).says("nothing listens there");
}

#[tokio::test]
async fn something_else_listens_there() {
    let place = Place::new().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt as _;
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"220 mail.example ESMTP\r\n")
            .await
            .unwrap();
    });
    let ran = place.at(address, &["--accept-pin"], "").await.exits(1);
    serving.await.unwrap();
    nothing_left(&place, ran).says("something else answers there");
}

#[tokio::test]
async fn a_name_that_means_nothing() {
    let place = Place::new().await;
    let words = ["--host=no.such.host.invalid", "--accept-pin", "--yes"];
    let ran = place.told(&words, "").await;
    nothing_left(&place, ran.exits(1)).says("was not reached");
}

#[tokio::test]
async fn another_certificate_between_look_and_login() {
    let place = Place::new().await;
    let other = sim::Sim::start(sim::worlds::homelab()).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let targets = [place.sim.addr(), other.addr()];
    let relay = tokio::spawn(async move {
        for target in targets.into_iter().chain(std::iter::repeat(targets[1])) {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut server = tokio::net::TcpStream::connect(target).await.unwrap();
            tokio::spawn(async move {
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    let ran = place.at(address, TRUSTING, ROOT_PASSWORD).await.exits(1);
    relay.abort();
    nothing_left(&place, ran).says("presents another certificate than the one that was accepted");
    assert_eq!(other.requests().len(), 0, "nothing was sent");
}

#[tokio::test]
async fn a_token_that_may_do_nothing() {
    let place = Place::new().await;
    place
        .sim
        .world(|world| world.add_token("poor@pve!t", "poor-secret"));
    let ran = place
        .with_token("poor@pve!t", &[], "poor-secret")
        .await
        .exits(1);
    nothing_left(&place, ran)
        .says("may do nothing")
        .says("pveum acl modify");
    let ran = place
        .with_token("poor@pve!t", &[], "canary-wrong")
        .await
        .exits(1);
    nothing_left(&place, ran).says("PVE refused the token poor@pve!t");
}

#[tokio::test]
async fn a_login_that_may_not_hand_out_rights() {
    let place = Place::new().await;
    place.sim.world(|world| {
        world.grant("ann@pve", "/", &["VM.Audit", "Sys.Audit"]);
        world.access.users.get_mut("ann@pve").unwrap().password = Some("ann-secret".to_owned());
    });
    let mut words = place.address();
    words.extend(["--user=ann@pve", "--password-stdin", "--yes"].map(str::to_owned));
    let ran = place.fed(words, "ann-secret").await.exits(1);
    nothing_left(&place, ran)
        .says("Sys.Modify on /access")
        .says("Permissions.Modify on /");
}

#[tokio::test]
async fn a_step_that_fails_takes_the_others_back() {
    let place = Place::new().await;
    place
        .sim
        .fault(Fault::refuse(500, "got no lock").on("PUT", "/access/acl"));
    let ran = place.setup(WORDS).await.exits(1);
    ran.says("got no lock").says("has been taken back");
    taken_back(&place);
}

#[tokio::test]
async fn an_answer_that_got_lost_is_taken_back_too() {
    let place = Place::new().await;
    place
        .sim
        .fault(Fault::drop_after().on("POST", "/access/users/*"));
    place.setup(WORDS).await.exits(1);
    taken_back(&place);
}

#[tokio::test]
async fn what_cannot_be_taken_back_is_named_with_the_command_that_does() {
    let place = Place::new().await;
    place
        .sim
        .fault(Fault::refuse(500, "got no lock").on("PUT", "/access/acl"));
    place
        .sim
        .fault(Fault::refuse(500, "got no lock").on("DELETE", "/access/*"));
    let ran = place.setup(WORDS).await.exits(1);
    ran.says("left behind: the token oxmox@pve!")
        .says("the role oxmox-operate")
        .says("oxmox setup --undo --name home");
    place.sim.clear_faults();
    place.undo().await.exits(0);
    taken_back(&place);
}

/// What takes back what is left takes back what was there before as well: whoever ran it again wants to go on.
#[tokio::test]
async fn what_a_second_run_leaves_behind_is_gone_on_with() {
    let place = Place::new().await;
    let read = [&["--level=read"], &WORDS[2..]].concat();
    place.setup(&read).await.exits(0);
    let stuck = || Fault::refuse(500, "got no lock");
    place.sim.fault(stuck().on("PUT", "/access/acl"));
    place.sim.fault(stuck().on("DELETE", "/access/*"));
    let ran = place.setup(WORDS).await.exits(1);
    ran.says("left behind: the role oxmox-operate")
        .says("hint: run the same command again")
        .says("`oxmox setup --undo --name home` takes back all of home");
    place.sim.clear_faults();
    place.setup(WORDS).await.exits(0);
    place.undo().await.exits(0);
    taken_back(&place);
}

/// The cluster tells it well enough.
#[tokio::test]
async fn a_place_that_takes_no_certificate() {
    let place = Place::new().await;
    let file = place.home(".config/oxmox/home-ca.pem");
    std::fs::create_dir_all(&file).unwrap();
    let by_authority = [WORDS, &["--trust=ca"]].concat();
    let ran = place.setup(&by_authority).await.exits(2);
    let ran = ran.says("home-ca.pem is a directory").says("hint:");
    assert!(!ran.stderr.contains("does not tell"), "{ran:#?}");
    assert_eq!(place.ours(), [""; 0]);
    std::fs::remove_dir(&file).unwrap();
    place.setup(&by_authority).await.exits(0);
    // In the way of nothing where it is not asked any more.
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let ran = place.setup(&[WORDS, &["--trust=pins"]].concat()).await;
    ran.exits(0)
        .says("is not asked any more, and stays: ")
        .says("home-ca.pem is a directory");
}

#[cfg(unix)]
#[tokio::test]
async fn a_directory_that_cannot_be_written() {
    let place = Place::new().await;
    // A file where the directory should be: root is stopped by that as well.
    std::fs::write(place.home(".config"), "").unwrap();
    let ran = place.setup(WORDS).await.exits(1).says("hint:");
    ran.says("cannot be");
    assert_eq!(place.ours(), [""; 0]);
    assert_eq!(place.sim.requests().len(), 0, "it is found out first");
}

#[cfg(unix)]
#[tokio::test]
async fn a_place_that_keeps_no_secrets_and_one_that_keeps_no_notes() {
    for taken in [".config/oxmox/secrets", "state"] {
        let place = Place::new().await;
        place.write(taken, "");
        let ran = place.setup(WORDS).await.exits(1).says("hint:");
        ran.says("cannot be");
        assert_eq!(place.files(), [taken]);
        assert_eq!(place.sim.requests().len(), 0, "it is found out first");
    }
}

#[tokio::test]
async fn a_client_file_that_is_not_understood() {
    let place = Place::new().await;
    place.write(".cursor/mcp.json", "{ broken");
    let ran = place
        .setup(&[WORDS, &["--client", "cursor"]].concat())
        .await
        .exits(2);
    ran.says("not understood").says("hint:");
    assert_eq!(place.sim.requests().len(), 0, "it is found out first");
    assert_eq!(place.ours(), [""; 0]);
    assert_eq!(place.files(), [".cursor/mcp.json"]);
}

#[tokio::test]
async fn no_keyring() {
    let machine = Machine::new().with("PATH", "/nowhere");
    let place = Place::with(sim::worlds::homelab(), machine).await;
    let words = [
        "--level=read",
        "--name=home",
        "--secret-store=keyring",
        "--yes",
    ];
    let ran = place.setup(&words).await.exits(1);
    nothing_left(&place, ran).says("there is no keyring");
    assert_eq!(place.sim.requests().len(), 0, "it is found out first");
    place
        .setup(&["--level=read", "--name=home", "--yes"])
        .await
        .exits(0)
        .says("there is no keyring (secret-tool is not installed): the secret goes into a file");
    assert!(
        place.home(".config/oxmox/secrets/home").exists(),
        "a file takes its place"
    );
}

#[tokio::test]
async fn another_cluster_of_that_name() {
    let place = Place::new().await;
    let text =
        "[clusters.home]\nhosts = [\"elsewhere\"]\ntoken = \"a@pve!b\"\ntoken_secret_env = \"X\"\n";
    place.write(".config/oxmox/config.toml", text);
    place
        .setup(WORDS)
        .await
        .exits(1)
        .says("another cluster home")
        .says("--name");
    assert_eq!(place.text(".config/oxmox/config.toml"), text);
    assert_eq!(place.ours(), [""; 0]);
}

#[tokio::test]
async fn a_pool_that_is_not_there() {
    let place = Place::new().await;
    let ran = place
        .setup(&[WORDS, &["--pools", "nosuch"]].concat())
        .await
        .exits(1);
    nothing_left(&place, ran).says("there is no pool nosuch");
    let more = ["--pools", "lab", "--storages", "nosuch"];
    let ran = place.setup(&[WORDS, &more].concat()).await.exits(1);
    nothing_left(&place, ran).says("there is no storage nosuch");
}

#[tokio::test]
async fn a_clients_file_that_is_none() {
    let place = Place::new().await;
    let words = [WORDS, &["--client=cursor"]].concat();
    std::fs::create_dir_all(place.home(".cursor/mcp.json")).unwrap();
    let ran = place.setup(&words).await.exits(2);
    ran.says("is a directory").says("leave cursor out");
    std::fs::remove_dir(place.home(".cursor/mcp.json")).unwrap();
    let pipe = place.home(".cursor/mcp.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let ran = place.setup(&words).await.exits(2);
    ran.says("is a pipe").says("leave cursor out");
    std::fs::remove_file(&pipe).unwrap();
    std::fs::write(&pipe, b"{ \"a\": \"\xe9\" }").unwrap();
    let ran = place.setup(&words).await.exits(2);
    ran.says("not text in UTF-8").says("leave cursor out");
    assert_eq!(place.ours(), [""; 0]);
}

#[tokio::test]
async fn a_user_without_a_realm() {
    let place = Place::new().await;
    let words = ["--host=127.0.0.1", "--user=nobody", "--yes"];
    let ran = place.told(&words, "").await.exits(2);
    nothing_left(&place, ran).says("--user nobody@pam");
}

/// Whatever is asked and not answered is named.
#[tokio::test]
async fn a_question_that_pve_does_not_answer() {
    for (status, path, hint) in [
        (500, "/pools", "journalctl"),
        (403, "/access/acl", "root@pam"),
        (500, "/access/roles", "journalctl"),
        (500, "/access/permissions", "journalctl"),
    ] {
        let place = Place::new().await;
        place.sim.fault(Fault::refuse(status, "no").on("GET", path));
        let ran = place.setup(WORDS).await.exits(1);
        nothing_left(&place, ran)
            .says(&format!("GET {path}"))
            .says(hint);
    }
}

/// Nothing that can be understood, and what may be behind that.
#[tokio::test]
async fn an_answer_that_says_nothing() {
    for path in ["/version", "/access/acl", "/access/permissions"] {
        let place = Place::new().await;
        place
            .sim
            .fault(Fault::answer("GET", path, serde_json::json!("x")));
        let ran = place.setup(WORDS).await.exits(1);
        nothing_left(&place, ran)
            .says(&format!("the answer to GET {path} cannot be read"))
            .says("such as a proxy");
    }
}

/// This client can be left out: no other place for oxmox's own files helps here.
#[tokio::test]
async fn a_clients_directory_that_cannot_be_written() {
    let place = Place::new().await;
    std::fs::write(place.home(".cursor"), "").unwrap();
    let words = [WORDS, &["--client=cursor"]].concat();
    let ran = place
        .setup(&words)
        .await
        .says("leave cursor out of --client");
    assert_eq!(ran.code, 1, "{ran:#?}");
    assert_eq!(place.sim.requests().len(), 0, "it is found out first");
}

/// What a terminal adds, or what has no end, is no secret, whichever way it comes.
#[tokio::test]
async fn a_secret_that_is_none() {
    let place = Place::new().await;
    let ran = place.setup_with(WORDS, "simulated\u{1b}[D").await.exits(2);
    nothing_left(&place, ran)
        .says("the password: it holds a character that cannot be seen (U+001B)");
    let ran = place
        .with_token("root@pam!oxmox", &["--name=home"], "\u{feff}x")
        .await;
    nothing_left(&place, ran.exits(2)).says("the token's secret: it holds a character that");
    let endless = ["--user=root@pam", "--password-file=/dev/zero", "--yes"];
    let words = place.address().into_iter();
    let words = words.chain(endless.map(str::to_owned)).collect();
    let ran = place.fed(words, "").await.exits(2);
    nothing_left(&place, ran).says("the password: /dev/zero: longer than 64 KiB");
}

/// Nor is it told to everybody where it stands in the place of its file.
#[tokio::test]
async fn a_secret_in_the_place_of_its_file() {
    let place = Place::new().await;
    let secret = "01234567-89ab-cdef-0123-456789abcdef";
    let mut words = place.address();
    words.extend(["--token=root@pam!oxmox", "--token-secret-file", secret].map(str::to_owned));
    let ran = place.fed(words, "").await.exits(2);
    let ran = nothing_left(&place, ran)
        .says("--token-secret-file holds what looks like the secret itself");
    assert!(!ran.stderr.contains(secret), "{ran:#?}");
}

/// What a PVE, or something in between, tells for a secret goes into no file and no command.
#[tokio::test]
async fn a_secret_of_pve_that_is_none() {
    let place = Place::new().await;
    let answer = serde_json::json!({ "value": "a\nb", "full-tokenid": "x", "info": {} });
    place
        .sim
        .fault(Fault::answer("POST", "/access/users/*", answer));
    let ran = place.setup(WORDS).await.exits(2);
    ran.says("the secret that PVE told: it holds a character that cannot be seen (U+000A)")
        .says("taken back");
}
