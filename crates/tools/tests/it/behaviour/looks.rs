//! A look inside a guest is in the audit trail from its beginning to its end, whoever comes upon it meanwhile.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sim::Fault;
use tools::engine::Engine;
use tools::policy::Policy;
use tools::store::AuditEntry;

use crate::house::{House, Nobody, call};

const PATH: &str = "*/file-restore/list";

async fn closed(engine: &Engine) -> Vec<(String, Option<String>)> {
    let trail = engine.store().await.unwrap().audit_trail(10).await.unwrap();
    let closed = trail.into_iter().filter_map(|link| match link.entry {
        AuditEntry::Closed { result, reason, .. } => Some((result, reason)),
        AuditEntry::Opened { .. } | AuditEntry::Decided { .. } => None,
    });
    closed.collect()
}

/// A look that PVE does not answer, once PVE has it.
async fn begun(house: &House, engine: &Arc<Engine>) -> tokio::task::JoinHandle<()> {
    house
        .sim
        .fault(Fault::delay(Duration::from_hours(1)).on("GET", PATH));
    let volume = "vault:backup/ct/202/2026-11-15T01:00:04Z";
    let arguments = json!({"node": "pve1", "storage": "vault", "volume": volume, "filepath": "/root.pxar.didx/etc"});
    let look = call("list_file_restore", &arguments.to_string());
    let taking = engine.clone();
    let looking = tokio::spawn(async move {
        let _ = taking.call(look, &Nobody).await;
    });
    let is_asked = || {
        let mut requests = house.sim.requests().into_iter();
        requests.any(|request| request.path.ends_with("/file-restore/list"))
    };
    while !is_asked() {
        assert!(!looking.is_finished(), "it was answered");
        tokio::task::yield_now().await;
    }
    looking
}

#[tokio::test]
async fn nobody_closes_one_that_is_being_taken() {
    let house = House::new().await;
    let dir = tempfile::tempdir().unwrap();
    let engine = house.kept_in(dir.path(), Policy::default());
    let looking = begun(&house, &engine).await;
    for looker in [&engine, &house.beside(dir.path())] {
        assert_eq!(looker.close_left_open().await.unwrap(), []);
    }
    assert_eq!(closed(&engine).await, []);
    looking.abort();
}

#[tokio::test]
async fn one_whose_caller_went_away_is_closed_once() {
    let house = House::new().await;
    let dir = tempfile::tempdir().unwrap();
    let engine = house.kept_in(dir.path(), Policy::default());
    let looking = begun(&house, &engine).await;
    looking.abort();
    assert!(looking.await.unwrap_err().is_cancelled());
    // Either of them may be first.
    engine.close_left_open().await.unwrap();
    house.beside(dir.path()).close_left_open().await.unwrap();
    let closed = closed(&engine).await;
    assert_eq!(closed.len(), 1, "{closed:?}");
    assert!(closed[0].1.is_some(), "{closed:?}");
}
