//! The trail, and what a check of it finds.

use std::os::unix::net::UnixDatagram;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use super::Machine;

/// A machine on which two changes were attempted, one of them refused.
fn machine_with_a_trail() -> Machine {
    let machine = Machine::new();
    machine
        .demo(&["call", "start_proxmox_vm", "--vmid", "105"])
        .exits(0);
    machine
        .demo(&["call", "delete_proxmox_vm", "--vmid", "101", "--stop"])
        .exits(1);
    machine
}

fn tamper(machine: &Machine, sql: &str) {
    let file = machine.state_dir().join("demo/oxmox.db");
    let changed = Connection::open(file).unwrap().execute(sql, []).unwrap();
    assert_eq!(changed, 1, "{sql}");
}

fn head(machine: &Machine) -> String {
    let ran = machine.demo(&["audit", "verify"]).exits(0);
    let line = ran.stdout.lines().find(|line| line.starts_with("head: "));
    line.unwrap()["head: ".len()..].to_owned()
}

#[test]
fn each_attempt_is_one_row_and_two_entries() {
    let machine = machine_with_a_trail();
    let table = machine.demo(&["audit"]).exits(0).stdout;
    let rows: Vec<_> = table.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(rows[0].contains("applied") && rows[0].contains("Start VM 105"));
    assert!(rows[1].contains("refused") && rows[1].contains("Delete VM 101"));
    // Why, too.
    assert!(rows[1].contains("protect"), "{table}");
    let entries = machine.demo(&["audit", "--json"]).exits(0).stdout;
    let entries: Vec<Value> = entries
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(entries.len(), 4);
    assert_eq!(entries[0]["kind"], "opened");
    assert!(entries[0]["cluster"].is_string(), "{}", entries[0]);
    assert_eq!(entries[3]["kind"], "closed");
    let last = machine.demo(&["audit", "--limit", "1"]).exits(0).stdout;
    assert_eq!(last.lines().count(), 2, "{last}");
}

#[test]
fn a_whole_trail_is_said_to_be_whole() {
    let machine = machine_with_a_trail();
    machine
        .demo(&["audit", "verify"])
        .exits(0)
        .prints("whole: 4 entries")
        .says("cannot be seen without a head");
    let head = head(&machine);
    let ran = machine.demo(&["audit", "verify", "--head", &head]).exits(0);
    assert_eq!(ran.stderr, "");
}

#[test]
fn an_edited_entry_is_found() {
    let machine = machine_with_a_trail();
    tamper(
        &machine,
        "UPDATE audit SET entry = replace(entry, '105', '106') WHERE seq = 1",
    );
    machine
        .demo(&["audit", "verify"])
        .exits(1)
        .says("broken at entry 1");
}

#[test]
fn a_cut_tail_is_found_by_an_earlier_head_only() {
    let machine = machine_with_a_trail();
    let head = head(&machine);
    tamper(&machine, "DELETE FROM audit WHERE seq = 4");
    machine
        .demo(&["audit", "verify"])
        .exits(0)
        .says("cannot be seen");
    machine
        .demo(&["audit", "verify", "--head", &head])
        .exits(1)
        .says("does not contain that head");
}

#[test]
fn no_trail_is_not_a_whole_trail() {
    Machine::new()
        .run(&["audit", "verify"])
        .exits(1)
        .says("there is no audit trail");
}

#[test]
fn an_export_goes_on_where_the_last_one_ended() {
    let machine = machine_with_a_trail();
    let export = |since: &str| -> Vec<Value> {
        let ran = machine.demo(&["audit", "export", "--since", since]);
        let lines = ran.exits(0).stdout;
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    };
    let all = export("0");
    let numbers: Vec<_> = all.iter().map(|entry| entry["seq"].as_i64()).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3), Some(4)]);
    assert_eq!(all[0]["caller"], all[2]["caller"]);
    assert_eq!(all[3]["link"], head(&machine));
    assert_eq!(export("3"), all[3..]);
    assert!(export("4").is_empty());
    // An entry that somebody broke is not left out.
    tamper(&machine, "UPDATE audit SET entry = 'x' WHERE seq = 2");
    assert_eq!(export("0")[1]["unreadable"], "x");
}

#[test]
fn values_before_and_after_stand_in_the_closing_entry() {
    let machine = Machine::new();
    let set = r#"--set={"memory": 4096}"#;
    machine
        .demo(&["call", "update_proxmox_vm", "--vmid", "105", set, "--yes"])
        .exits(0);
    let lines = machine.demo(&["audit", "export"]).exits(0).stdout;
    let closed: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(closed["result"], "applied", "{closed:#}");
    let affects = closed["affects"].to_string();
    assert!(affects.contains("2048 -> 4096"), "{closed:#}");
}

/// A machine whose trail is copied to this socket. Its cluster does not answer, which is written down, too.
fn copying_to(socket: &Path) -> Machine {
    let config = socket.with_extension("toml");
    let text = format!(
        "audit_copy = \"syslog\"\naudit_copy_socket = \"{}\"\n[clusters.gone]\nhosts = [\"127.0.0.1:1\"]\n\
         token = \"root@pam!oxmox\"\ntoken_secret_env = \"SECRET\"\n",
        socket.display()
    );
    std::fs::write(&config, text).unwrap();
    Machine::new()
        .with("OXMOX_CONFIG", config.to_str().unwrap())
        .with("SECRET", "canary-4be1")
}

#[test]
fn each_entry_is_copied_to_the_log_of_the_system_with_its_place_in_the_chain() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("log");
    let log = UnixDatagram::bind(&socket).unwrap();
    log.set_nonblocking(true).unwrap();
    let machine = copying_to(&socket);
    machine
        .run(&["call", "start_proxmox_vm", "--vmid", "105"])
        .exits(1);
    let mut copies = Vec::new();
    let mut message = [0; 16384];
    while let Ok(length) = log.recv(&mut message) {
        let text = std::str::from_utf8(&message[..length]).unwrap();
        // As the C library sends it: authpriv.notice, the time, who.
        assert!(text.starts_with("<85>"), "{text}");
        let (head, entry) = text.split_once("]: ").unwrap();
        assert!(head.contains(" oxmox["), "{head}");
        copies.push(entry.to_owned());
    }
    let exported = machine.run(&["audit", "export"]).exits(0).stdout;
    assert_eq!(copies, exported.lines().collect::<Vec<_>>());
    assert_eq!(copies.len(), 2);
    assert!(!copies.concat().contains("canary-4be1"));
    // Any copy shows later whether the trail still holds it.
    for copy in copies {
        let copy: Value = serde_json::from_str(&copy).unwrap();
        let link = copy["link"].as_str().unwrap();
        machine.run(&["audit", "verify", "--head", link]).exits(0);
    }
}

#[test]
fn a_log_that_is_not_there_is_told_once_and_holds_up_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let machine = copying_to(&dir.path().join("log"));
    let ran = machine
        .run(&["call", "start_proxmox_vm", "--vmid", "105"])
        .exits(1)
        .says("cannot be copied to the system's log");
    assert_eq!(ran.stderr.matches("cannot be copied").count(), 1);
    machine
        .run(&["audit", "verify"])
        .exits(0)
        .prints("whole: 2 entries");
}
