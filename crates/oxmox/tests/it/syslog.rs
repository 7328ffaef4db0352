//! A log that is full.

use std::os::unix::net::UnixDatagram;

use tools::store::{AuditEntry, Store, Verified};

fn entry(number: i64) -> AuditEntry {
    AuditEntry::Closed {
        at: number,
        plan: "p".to_owned(),
        result: "applied".to_owned(),
        reason: None,
        affects: Vec::new(),
        steps: Vec::new(),
    }
}

#[tokio::test]
async fn what_nobody_reads_holds_up_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("log");
    let log = UnixDatagram::bind(&socket).unwrap();
    let copyist = oxmox::syslog::copyist(&socket).unwrap();
    let store = Store::in_memory().unwrap().copied_by(Some(copyist));
    // More than any system keeps for a reader.
    for number in 0..2000 {
        store.append_audit(&entry(number)).await.unwrap();
    }
    let whole = store.verify_audit(None).await.unwrap();
    assert!(matches!(whole, Verified::Whole { entries: 2000, .. }));
    let mut message = [0; 4096];
    let length = log.recv(&mut message).unwrap();
    let first = std::str::from_utf8(&message[..length]).unwrap();
    assert!(first.contains("{\"seq\":1,"), "{first}");
}
