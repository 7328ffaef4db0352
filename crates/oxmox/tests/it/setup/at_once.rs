//! Several of them at once: nobody loses what another one did.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, Stdio};

use oxmox::files::Lock;
use sim::worlds::{ROOT_PASSWORD, ROOT_TOKEN};

use super::{Place, READ_HOME};

const CONFIG: &str = ".config/oxmox/config.toml";

/// A process that waits for a lock.
struct Waiting {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Waiting {
    /// Starts it, and comes back when it says that it waits.
    fn start(place: &Place, words: &[String], input: &str) -> Self {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = place.machine.command(&words);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let holder = format!("another oxmox (process {})", std::process::id());
        assert!(
            line.contains("waiting for") && line.contains(&holder),
            "{line}"
        );
        Self { child, stderr }
    }

    /// How it ends, and what it says.
    async fn end(mut self) -> (Option<i32>, String) {
        let ending = tokio::task::spawn_blocking(move || {
            let mut said = String::new();
            self.stderr.read_to_string(&mut said).unwrap();
            (self.child.wait().unwrap().code(), said)
        });
        ending.await.unwrap()
    }
}

fn setup(place: &Place, more: &[&str]) -> Vec<String> {
    let mut words = place.address();
    words.extend(["--user=root@pam", "--password-stdin"].map(str::to_owned));
    words.extend(more.iter().map(|word| (*word).to_owned()));
    words
}

/// What another one writes while it has the lock.
const MEANWHILE: &str = "[clusters.meanwhile]\nhosts = [\"elsewhere\"]\ntoken = \"a@pve!b\"\ntoken_secret_env = \"X\"\n";

#[tokio::test]
async fn what_another_one_wrote_meanwhile_stays() {
    let place = Place::new().await;
    let (user, name, _) = ROOT_TOKEN;
    let host = format!("{}={}", place.sim.addr(), place.sim.fingerprint());
    let add = [
        "cluster",
        "add",
        "home",
        "--host",
        &host,
        "--token",
        &format!("{user}!{name}"),
        "--secret-store=file",
        "--no-test",
    ];
    for words in [setup(&place, READ_HOME), add.map(str::to_owned).to_vec()] {
        let lock = Lock::on(&place.home(CONFIG)).unwrap();
        let waiting = Waiting::start(&place, &words, ROOT_PASSWORD);
        place.write(CONFIG, MEANWHILE);
        drop(lock);
        let (code, said) = waiting.end().await;
        assert_eq!(code, Some(0), "{said}");
        let config = place.text(CONFIG);
        for section in ["[clusters.meanwhile]", "[clusters.home]"] {
            assert!(config.contains(section), "{config}");
        }
        std::fs::remove_dir_all(place.home(".config")).unwrap();
        std::fs::remove_dir_all(place.machine.state_dir()).unwrap_or_default();
    }
}

#[tokio::test]
async fn a_secret_goes_where_the_configuration_says_in_the_end() {
    let place = Place::new().await;
    let section = |file: &str| {
        format!(
            "[clusters.home]\nhosts = [\"elsewhere\"]\ntoken = \"a@pve!b\"\ntoken_secret_file = \"{file}\"\n"
        )
    };
    place.write(CONFIG, &section("old"));
    let lock = Lock::on(&place.home(CONFIG)).unwrap();
    let words = ["secret", "set", "home", "--no-test"].map(str::to_owned);
    let waiting = Waiting::start(&place, &words, "hush");
    place.write(CONFIG, &section("new"));
    drop(lock);
    let (code, said) = waiting.end().await;
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(place.text(".config/oxmox/new"), "hush\n");
    assert_eq!(place.files(), [CONFIG, ".config/oxmox/new"]);
}

#[tokio::test]
async fn whoever_waits_for_too_long_says_for_whom_and_changes_nothing() {
    let place = Place::new().await;
    let file = ".cursor/mcp.json";
    place.write(file, "{}");
    let lock = Lock::on(&place.home(file)).unwrap();
    let words = [READ_HOME, &["--client=cursor"]].concat();
    let ran = place.setup(&words).await.exits(1);
    ran.says(&format!(
        "another oxmox (process {}) is changing",
        std::process::id()
    ))
    .says(".cursor/mcp.json; nothing was changed")
    .says("hint:");
    drop(lock);
    assert_eq!(
        (place.ours(), place.files()),
        (vec![], vec![file.to_owned()])
    );
}

/// All at the same moment. Who comes too late says so; who says that it is done has done it.
#[tokio::test]
async fn several_setups_into_one_configuration() {
    let place = Place::new().await;
    let names = ["one", "two", "three"];
    let words = names.map(|name| {
        setup(
            &place,
            &[
                "--level=read",
                "--name",
                name,
                "--secret-store=file",
                "--client=cursor",
                "--yes",
            ],
        )
    });
    let runs = words.map(|words| place.fed(words, ROOT_PASSWORD));
    let runs = futures_util::future::join_all(runs).await;
    assert!(runs.iter().any(|ran| ran.code == 0), "{runs:#?}");
    for (name, ran) in names.into_iter().zip(runs) {
        if ran.code == 0 {
            place.run(&["secret", "test", name]).await.exits(0);
            let journal = place.text(&format!("state/setup/{name}.json"));
            assert!(journal.contains("secrets"), "{journal}");
        } else {
            ran.says("another oxmox").says("nothing was changed");
            assert!(!place.text(CONFIG).contains(name));
        }
    }
    let left = place.files().into_iter();
    let left: Vec<_> = left
        .filter(|file| file.contains("lock") || file.contains(".new"))
        .collect();
    assert_eq!(left, [""; 0]);
}
