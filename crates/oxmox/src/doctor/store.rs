//! Plans, approvals and the audit trail: reachable, of a version that this oxmox knows, writable, and whole.

use std::path::Path;

use tools::engine::State;
use tools::fault::{Fault, Kind};
use tools::keys::Keys;
use tools::store::{Store, Verified};
use tools::words;

use super::brake;
use super::finding::Finding;
use crate::config::{Config, Environment};

const STORE: &str = "store";
const AUDIT: &str = "audit";

pub(super) async fn check(config: &Config, environment: &Environment) -> Vec<Finding> {
    let state = config.state(environment);
    let is_shared = matches!(state, Ok(State::Shared(..)));
    let (mut found, store) = opened(state, config).await;
    // Also where the store is in trouble: that may be just when somebody has stopped all changes.
    let stopped = brake::check(config, store.as_ref().filter(|_| is_shared)).await;
    found.extend(stopped);
    found
}

/// What there is to say of the store and the trail, and the store, if it can be used.
async fn opened(state: Result<State, Fault>, config: &Config) -> (Vec<Finding>, Option<Store>) {
    let unusable = |found| vec![found, Finding::skipped(AUDIT, "the store cannot be used")];
    if let Ok(State::Dir(dir) | State::Shared(_, dir)) = &state
        && let Some(found) = key(dir)
    {
        return (unusable(found), None);
    }
    let opened = match state {
        Ok(State::Dir(dir)) if !Store::is_in(&dir) => return (vec![not_yet(&dir)], None),
        Ok(State::Dir(dir)) => Store::open(&dir),
        Ok(State::Shared(at, dir)) => Store::shared(&at, &dir).await,
        Ok(State::Memory) => return (vec![Finding::note(STORE, "nothing is kept")], None),
        Err(fault) => Err(fault),
    };
    match opened {
        Ok(store) => {
            let found = vec![kept(&store, config).await, trail(&store).await];
            (found, Some(store))
        }
        Err(fault) => (unusable(broken(fault)), None),
    }
}

/// A key that cannot be used, with which nothing can be recorded. One that is not there yet is made when it is needed.
fn key(dir: &Path) -> Option<Finding> {
    let file = dir.join("key");
    if !file.exists() {
        return None;
    }
    let fault = Keys::load(&file).err()?;
    if fault.kind == Kind::Refused {
        // Opening the store says so.
        return None;
    }
    let (file, dir) = (file.display(), dir.display());
    let what = format!(
        "{}; no change could be recorded, so none would be sent",
        fault.message
    );
    Some(Finding::problem(
        STORE,
        what,
        format!(
            "bring {file} back from a backup; if it is lost, stop oxmox and move it and the database {dir}/oxmox.db away: \
             new ones are made, and what was recorded can no longer be checked"
        ),
    ))
}

fn broken(fault: Fault) -> Finding {
    Finding::failed(
        STORE,
        fault,
        "set --state-dir or --store to where the server keeps it",
    )
}

/// Nothing was kept yet; the question is whether it could be.
fn not_yet(dir: &Path) -> Finding {
    let there = dir.ancestors().find(|dir| dir.is_dir());
    let shown = dir.display();
    match there.map(can_write) {
        Some(true) => Finding::ok(
            STORE,
            format!("nothing was recorded yet; it will be in {shown}"),
        ),
        _ => Finding::problem(
            STORE,
            format!("{shown} cannot be made: no change could be recorded, so none would be sent"),
            format!("`mkdir -p {shown}` as a user who may, or set --state-dir"),
        ),
    }
}

fn can_write(dir: &Path) -> bool {
    let probe = dir.join(format!(".oxmox-doctor-{}", std::process::id()));
    let made = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&probe);
    let _ = std::fs::remove_file(&probe);
    made.is_ok()
}

async fn kept(store: &Store, config: &Config) -> Finding {
    let place = if config.has_shared_store() {
        "the shared database".to_owned()
    } else {
        config.state_dir.display().to_string()
    };
    match store.try_writing().await {
        Ok(schema) => Finding::ok(STORE, format!("{place}, schema {schema}, can be written")),
        Err(fault) => Finding::failed(
            STORE,
            fault,
            "no change is sent that cannot be recorded: free some room, or mend the rights of the directory",
        ),
    }
}

async fn trail(store: &Store) -> Finding {
    match store.verify_audit(None).await {
        Ok(Verified::Whole { entries, .. }) => Finding::ok(
            AUDIT,
            format!("the chain of {} is whole", entries_of(entries)),
        ),
        Ok(Verified::Broken { seq }) => Finding::problem(
            AUDIT,
            format!("the chain is broken at entry {seq}: it was edited, removed or put elsewhere"),
            "`oxmox audit export` shows what is there; entries before it hold, what follows cannot be trusted",
        ),
        Err(fault) => Finding::failed(AUDIT, fault, "`oxmox audit verify` tells more"),
    }
}

fn entries_of(entries: impl TryInto<usize>) -> String {
    match entries.try_into() {
        Ok(1) => "1 entry".to_owned(),
        Ok(number) => format!("{number} entries"),
        Err(_) => words::count(0, "entry"),
    }
}
