//! `oxmox serve --http` as a service manager runs it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use tempfile::TempDir;

use super::Machine;

struct Service {
    child: Child,
    manager: UnixDatagram,
    address: String,
    config: PathBuf,
    _dir: TempDir,
}

impl Service {
    fn start(config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("notify");
        let manager = UnixDatagram::bind(&socket).unwrap();
        let patience = Some(Duration::from_mins(1));
        manager.set_read_timeout(patience).unwrap();
        let file = dir.path().join("config.toml");
        std::fs::write(&file, config).unwrap();
        let machine = Machine::new()
            .with("NOTIFY_SOCKET", socket.to_str().unwrap())
            .with("OXMOX_CONFIG", file.to_str().unwrap());
        let state = dir.path().join("state");
        let mut child = machine
            .command(&["serve", "--http", "127.0.0.1:0", "--state-dir"])
            .arg(state)
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let (_, url) = line
            .split_once("http://")
            .unwrap_or_else(|| panic!("{line}"));
        let address = url.split('/').next().unwrap().to_owned();
        // Somebody has to read what it says, or it would have to wait.
        std::thread::spawn(move || {
            let mut rest = Vec::new();
            let _ = stderr.read_to_end(&mut rest);
        });
        let service = Self {
            child,
            manager,
            address,
            config: file,
            _dir: dir,
        };
        service.tells("READY=1");
        service
    }

    fn tells(&self, news: &str) {
        let mut told = [0; 256];
        let length = self.manager.recv(&mut told).unwrap();
        assert_eq!(std::str::from_utf8(&told[..length]).unwrap(), news);
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &id])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Reads its configuration again.
    fn reload(&self, config: &str) {
        std::fs::write(&self.config, config).unwrap();
        self.signal("HUP");
        self.tells("RELOADING=1");
        self.tells("READY=1");
    }

    /// What it answers to a message of so many bytes.
    fn status_for(&self, bytes: usize) -> u16 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {bytes}\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'x'; bytes]).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        std::str::from_utf8(&status[9..]).unwrap().parse().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_tells_the_service_manager_how_it_is_and_reads_its_configuration_again() {
    let mut service = Service::start("mode = \"ask\"");
    assert_ne!(service.status_for(2000), 413);
    service.reload("[limits]\nrequest_bytes = 1000");
    assert_eq!(service.status_for(2000), 413);
    // What cannot be taken changes nothing.
    for wrong in [
        "[limits]\nrequest_bytes = 0",
        "what is this",
        "[http]\ntls_cert = \"x\"",
    ] {
        service.reload(wrong);
        assert_eq!(service.status_for(2000), 413, "{wrong}");
    }
    service.reload("mode = \"read-only\"");
    assert_ne!(service.status_for(2000), 413);
    service.signal("TERM");
    service.tells("STOPPING=1");
    assert_eq!(service.child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_served_is_never_ready() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_nonblocking(true).unwrap();
    let machine = Machine::new().with("NOTIFY_SOCKET", socket.to_str().unwrap());
    let serve = ["serve", "--http", "0.0.0.0:0"];
    machine.run(&serve).exits(2).says("no caller has a token");
    machine.run(&["token", "add", "ci"]).exits(0);
    let refused = machine.run(&serve).exits(2);
    let refused = refused.says("would not be encrypted").says("behind_proxy");
    assert!(!refused.stderr.contains("is served at"), "{refused:?}");
    let told = manager.recv(&mut [0; 64]).unwrap_err();
    assert_eq!(told.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn the_unit_starts_it_as_it_can_be_started() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/oxmox.service");
    let unit = std::fs::read_to_string(unit).unwrap();
    let start = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart=/usr/bin/oxmox "))
        .unwrap();
    let words: Vec<_> = start.split_whitespace().chain(["--help"]).collect();
    Machine::new().run(&words).exits(0);
}
