//! A person at a terminal, played through `script`, which gives a program a terminal of its own. Skipped where it is not
//! installed.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::Place;

/// Nothing else on the screen is like it.
const PASSWORD: &str = "canary-7Q";

fn has_script() -> bool {
    let found = Command::new("script").arg("--version").output();
    found.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux"))
}

/// What a person sees, and what they type.
struct Session {
    child: Child,
    keyboard: ChildStdin,
    screen: ChildStdout,
    shown: String,
    /// How much of that was looked at.
    seen: usize,
}

impl Session {
    fn start(place: &Place, line: &str) -> Self {
        let mut child = Command::new("script")
            .args([
                "--quiet",
                "--return",
                "--echo",
                "never",
                "--command",
                line,
                "/dev/null",
            ])
            .env_clear()
            .env("HOME", place.machine.home_dir())
            .env("TERM", "xterm")
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("OXMOX_STATE_DIR", place.machine.state_dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            keyboard: child.stdin.take().unwrap(),
            screen: child.stdout.take().unwrap(),
            child,
            shown: String::new(),
            seen: 0,
        }
    }

    /// Reads until the words are on the screen, then types.
    fn answer(&mut self, question: &str, keys: &str) {
        let at = loop {
            if let Some(at) = self.shown[self.seen..].find(question) {
                break at;
            }
            let mut some = [0; 1024];
            let read = self.screen.read(&mut some).unwrap();
            assert_ne!(
                read, 0,
                "it ended before it asked \"{question}\": {}",
                self.shown
            );
            self.shown.push_str(&String::from_utf8_lossy(&some[..read]));
        };
        self.seen += at + question.len();
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Reads to the end: whether it ended well, and all that was shown.
    fn end(mut self) -> (bool, String) {
        let mut rest = Vec::new();
        self.screen.read_to_end(&mut rest).unwrap();
        self.shown.push_str(&String::from_utf8_lossy(&rest));
        (self.child.wait().unwrap().success(), self.shown)
    }
}

fn line(place: &Place) -> String {
    let program = env!("CARGO_BIN_EXE_oxmox");
    let port = place.sim.addr().port();
    format!(
        "{program} setup --port {port} --only-host --secret-store file --name home --client cursor"
    )
}

#[tokio::test]
async fn questions_are_asked_and_answered() {
    if !has_script() {
        eprintln!("skipped: there is no `script` of util-linux");
        return;
    }
    let place = Place::new().await;
    place.sim.world(|world| {
        let root = world.access.users.get_mut("root@pam").unwrap();
        root.password = Some(PASSWORD.to_owned());
    });
    let mut session = Session::start(&place, &line(&place));
    let played = tokio::task::spawn_blocking(move || {
        session.answer("A node of the cluster", "127.0.0.1\r");
        session.answer("Is this its certificate?", "y");
        session.answer("How does oxmox get in?", "\r");
        session.answer("Who logs in", "\r");
        session.answer("Password of root@pam", "wrong\r");
        session.answer("PVE refused the login", "");
        session.answer("Password of root@pam", &format!("{PASSWORD}\r"));
        session.answer("How far may oxmox go?", "\r");
        session.answer("Only on these pools?", "\r");
        session.answer("Do it?", "y");
        session.end()
    });
    let (ended_well, shown) = played.await.unwrap();
    assert!(ended_well, "{shown}");
    assert!(shown.contains("SHA-256"), "{shown}");
    assert!(!shown.contains(PASSWORD), "{shown}");
    place.lists().await;
}

#[tokio::test]
async fn a_no_changes_nothing() {
    if !has_script() {
        eprintln!("skipped: there is no `script` of util-linux");
        return;
    }
    let place = Place::new().await;
    let mut session = Session::start(&place, &line(&place));
    let played = tokio::task::spawn_blocking(move || {
        session.answer("A node of the cluster", "127.0.0.1\r");
        session.answer("Is this its certificate?", "n");
        session.end()
    });
    let (ended_well, shown) = played.await.unwrap();
    assert!(
        !ended_well && shown.contains("the certificate was not accepted"),
        "{shown}"
    );
    assert_eq!((place.ours(), place.files()), (vec![], vec![]));
    assert_eq!(place.sim.requests().len(), 0);
}
