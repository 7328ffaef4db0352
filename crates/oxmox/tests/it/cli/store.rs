//! A store that moves, and one that is refused.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::Machine;

/// A machine with a trail, a token and a plan that waits, all in the demo's store.
pub(crate) fn machine_with_a_store() -> Machine {
    let machine = Machine::new();
    machine
        .demo(&["call", "start_proxmox_vm", "--vmid", "105"])
        .exits(0);
    machine
        .demo(&["call", "send_vm_key", "--vmid", "110", "--key", "ret"])
        .exits(4);
    machine.demo(&["token", "add", "ci"]).exits(0);
    machine.demo(&["baseline", "save"]).exits(0);
    machine
}

/// Everything in the demo's store, in a file.
pub(crate) fn exported(machine: &Machine) -> PathBuf {
    let file = machine.state_dir().join("export.jsonl");
    machine
        .demo(&["store", "export", file.to_str().unwrap()])
        .exits(0)
        .says("written");
    file
}

/// A state directory for the demo with the keys of another.
fn beside(machine: &Machine) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let demo = dir.path().join("demo");
    std::fs::create_dir(&demo).unwrap();
    std::fs::copy(machine.state_dir().join("demo/key"), demo.join("key")).unwrap();
    let path = dir.path().to_str().unwrap().to_owned();
    (dir, path)
}

fn words(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_store_moves_with_all_that_is_in_it() {
    let machine = machine_with_a_store();
    let file = exported(&machine);
    let (dir, other) = beside(&machine);
    let import = ["--state-dir", &other, "store", "import", words(&file)];
    machine
        .demo(&import)
        .exits(0)
        .says("the audit trail is whole: 4 entries");
    let again = dir.path().join("again.jsonl");
    let export = ["--state-dir", &other, "store", "export", words(&again)];
    machine.demo(&export).exits(0);
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert_eq!(read(&file), read(&again));
    machine
        .demo(&["--state-dir", &other, "token", "list"])
        .exits(0)
        .prints("ci");
    machine
        .demo(&["--state-dir", &other, "audit", "verify"])
        .exits(0)
        .prints("whole: 4 entries");
    // Two trails cannot become one.
    machine
        .demo(&import)
        .exits(1)
        .says("the store is not empty");
    machine.demo(&export).exits(1).says("is there already");
}

#[cfg(unix)]
#[test]
fn an_export_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let machine = machine_with_a_store();
    let file = std::fs::metadata(exported(&machine)).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_is_not_whole_is_not_imported() {
    let machine = machine_with_a_store();
    let file = exported(&machine);
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    let cut = lines[..lines.len() - 2].join("\n");
    let unmarked = lines[..lines.len() - 1].join("\n");
    let forged = whole.replace("start_proxmox_vm", "list_proxmox_vms");
    let newer = whole.replacen("\"oxmox_store\":", "\"oxmox_store\":9", 1);
    let foreign = whole.replacen("\"keys\":\"", "\"keys\":\"0", 1);
    let other_table = whole.replacen("\"table\":\"plans\"", "\"table\":\"users\"", 1);
    for (text, says) in [
        (&cut, "cut off"),
        (&unmarked, "cut off"),
        (&forged, "audit trail is broken"),
        (&newer, "newer oxmox"),
        (&foreign, "other keys"),
        (&other_table, "a table that oxmox does not have"),
        (&"{}".to_owned(), "line 1 is none of an export"),
        (&String::new(), "does not begin as an export"),
    ] {
        let (dir, other) = beside(&machine);
        let changed = dir.path().join("changed.jsonl");
        std::fs::write(&changed, text).unwrap();
        let import = ["--state-dir", &other, "store", "import", words(&changed)];
        let ran = machine.demo(&import);
        assert_ne!(ran.code, 0, "{says}");
        ran.says(says);
        let trail = machine.demo(&["--state-dir", &other, "audit"]);
        assert!(!trail.stdout.contains("105"), "{says}: {trail:?}");
    }
}

#[test]
fn a_store_of_a_newer_oxmox_is_not_touched() {
    let machine = machine_with_a_store();
    let database = machine.state_dir().join("demo/oxmox.db");
    let connection = Connection::open(database).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    for command in [&["audit"][..], &["token", "list"], &["approve"]] {
        let ran = machine.demo(command);
        assert_ne!(ran.code, 0, "{command:?}");
        ran.says("written by a newer oxmox (schema 99");
    }
    let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
    assert_eq!(version, Ok(99));
}

/// It would be made with new keys, and then the right ones could not be put there any more.
#[test]
fn an_import_without_the_keys_makes_nothing() {
    let machine = machine_with_a_store();
    let file = exported(&machine);
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().to_str().unwrap();
    let import = ["--state-dir", other, "store", "import", words(&file)];
    let ran = machine.demo(&import).exits(1);
    ran.says("there is no file `key`")
        .says("copy the one from the state directory");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
