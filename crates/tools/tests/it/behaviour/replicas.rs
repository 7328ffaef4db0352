//! Several processes on one PostgreSQL. `OXMOX_TEST_POSTGRES` is the address of one where tests may make schemas of their
//! own; without it they are skipped, and say so.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use postgres::NoTls;
use tempfile::TempDir;
use tools::engine::State;
use tools::outcome::{Outcome, Status, StepOutcome, StepState};
use tools::store::{
    AuditEntry, Opening, PlanState, Shared, Store, StoredPlan, StoredSession, Verified,
};

use super::store::plan_to_store;
use crate::house::{Furnish, House, call, done};

/// A schema of a test's own. Gone with it.
struct Database {
    admin: String,
    schema: String,
}

impl Database {
    /// `None` where there is no PostgreSQL.
    async fn new(test: &str) -> Option<Self> {
        let Ok(admin) = std::env::var("OXMOX_TEST_POSTGRES") else {
            eprintln!("skipped: {test} needs OXMOX_TEST_POSTGRES");
            return None;
        };
        let schema = format!("{test}_{}", std::process::id());
        let database = Self { admin, schema };
        database
            .sql(&format!("CREATE SCHEMA {}", database.schema))
            .await;
        Some(database)
    }

    fn shared(&self) -> Shared {
        let url = format!(
            "{0}?options=-csearch_path%3D{1}&application_name={1}",
            self.admin, self.schema
        );
        Shared {
            patience: Duration::ZERO,
            ..Shared::at(url)
        }
    }

    fn state(&self, dir: &Path) -> State {
        State::Shared(self.shared(), dir.to_owned())
    }

    async fn store(&self, dir: &Path) -> Store {
        Store::shared(&self.shared(), dir).await.unwrap()
    }

    /// Ends every session of the stores on it; tells how many there were.
    async fn end_sessions(&self) -> usize {
        let (admin, schema) = (self.admin.clone(), self.schema.clone());
        let end = move || {
            let mut client = postgres::Client::connect(&admin, NoTls).unwrap();
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
            client.query(sql, &[&schema]).unwrap().len()
        };
        tokio::task::spawn_blocking(end).await.unwrap()
    }

    /// Whether a session of the stores on it waits for another.
    async fn somebody_waits(&self) -> bool {
        let (admin, schema) = (self.admin.clone(), self.schema.clone());
        let look = move || {
            let mut client = postgres::Client::connect(&admin, NoTls).unwrap();
            let sql = "SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
            !client.query(sql, &[&schema]).unwrap().is_empty()
        };
        tokio::task::spawn_blocking(look).await.unwrap()
    }

    async fn sql(&self, sql: &str) {
        let (admin, sql) = (self.admin.clone(), sql.to_owned());
        let run = move || {
            let mut client = postgres::Client::connect(&admin, NoTls).unwrap();
            client.batch_execute(&sql).unwrap();
        };
        tokio::task::spawn_blocking(run).await.unwrap();
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let (admin, schema) = (self.admin.clone(), self.schema.clone());
        let drop = move || {
            let mut client = postgres::Client::connect(&admin, NoTls).unwrap();
            client
                .batch_execute(&format!("DROP SCHEMA {schema} CASCADE"))
                .unwrap();
        };
        std::thread::spawn(drop).join().unwrap();
    }
}

/// Two state directories with the same keys, as two machines have them.
async fn two_machines(database: &Database) -> (TempDir, TempDir) {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(database.store(one.path()).await);
    std::fs::copy(one.path().join("key"), other.path().join("key")).unwrap();
    (one, other)
}

fn entry(plan: &str) -> AuditEntry {
    AuditEntry::Closed {
        at: 1,
        plan: plan.to_owned(),
        result: "applied".to_owned(),
        reason: None,
        affects: Vec::new(),
        steps: Vec::<StepOutcome>::new(),
    }
}

#[tokio::test]
async fn many_writers_make_one_chain() {
    let Some(database) = Database::new("many_writers").await else {
        return;
    };
    let (one, other) = two_machines(&database).await;
    let stores = [
        database.store(one.path()).await,
        database.store(other.path()).await,
    ];
    let writers = (0..100).map(|number| {
        let store = &stores[number % 2];
        async move { store.append_audit(&entry(&number.to_string())).await }
    });
    for written in join_all(writers).await {
        written.unwrap();
    }
    for store in &stores {
        let Verified::Whole { entries, .. } = store.verify_audit(None).await.unwrap() else {
            panic!("the chain is broken");
        };
        assert_eq!(entries, 100);
    }
}

#[tokio::test]
async fn a_store_made_with_other_keys_or_by_a_newer_oxmox_is_not_touched() {
    let Some(database) = Database::new("other_keys").await else {
        return;
    };
    let (one, stranger) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(database.store(one.path()).await);
    let Err(fault) = Store::shared(&database.shared(), stranger.path()).await else {
        panic!("opened");
    };
    assert!(fault.message.contains("other keys"), "{fault}");

    let newer = format!("UPDATE {}.oxmox_schema SET version = 99", database.schema);
    database.sql(&newer).await;
    let Err(fault) = Store::shared(&database.shared(), one.path()).await else {
        panic!("opened");
    };
    assert!(fault.message.contains("newer oxmox"), "{fault}");
}

#[tokio::test]
async fn whoever_lives_is_seen_from_another_machine() {
    let Some(database) = Database::new("lives").await else {
        return;
    };
    let (one, other) = two_machines(&database).await;
    let here = database.store(one.path()).await;
    let there = database.store(other.path()).await;
    let sign = here.show_life("worker").await.unwrap();
    assert!(there.lives("worker").await && here.lives("worker").await);
    assert!(!there.lives("somebody else").await);
    drop(sign);
    // The server ends the session a moment later.
    while there.lives("worker").await {
        tokio::task::yield_now().await;
    }
}

/// A worker whose session is lost begins another, and is not taken for dead meanwhile.
#[tokio::test]
async fn a_worker_outlives_its_session() {
    let Some(database) = Database::new("outlives").await else {
        return;
    };
    let (one, other) = two_machines(&database).await;
    let here = database.store(one.path()).await;
    let patient = Shared {
        patience: Duration::from_mins(1),
        ..database.shared()
    };
    let there = Store::shared(&patient, other.path()).await.unwrap();
    let sign = here.show_life("worker").await.unwrap();
    assert!(there.lives("worker").await);
    assert!(database.end_sessions().await > 0);
    // It notices by itself, and is seen again; no number of looks in between makes it dead for who is patient.
    while !here.lives("worker").await {
        assert!(there.lives("worker").await);
    }
    while !sign.is_seen() {
        tokio::task::yield_now().await;
    }
    assert!(there.lives("worker").await);
}

/// A database that is started anew, or a firewall that forgets: sessions end in the middle of everything.
#[tokio::test]
async fn a_lost_session_is_begun_anew() {
    let Some(database) = Database::new("lost_session").await else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let store = database.store(dir.path()).await;
    for round in 0..3 {
        store.append_audit(&entry("a")).await.unwrap();
        let ended = database.end_sessions().await;
        assert!(ended > 0);
        let trail = store.audit_trail(100).await.unwrap();
        assert_eq!(trail.len(), round + 1);
    }
}

/// What one replica asks, a person may answer at another, and the agent may call a third time wherever it likes.
#[tokio::test]
async fn a_plan_shown_by_one_replica_is_approved_and_applied_by_others() {
    let Some(database) = Database::new("approved").await else {
        return;
    };
    let (one, other) = two_machines(&database).await;
    let house = House::furnished(Furnish {
        state: database.state(one.path()),
        ..Furnish::default()
    })
    .await;
    let replica = house.replica(database.state(other.path()));
    let delete = || call("delete_proxmox_vm", r#"{"vmid": 105}"#);
    let asked = house.call("delete_proxmox_vm", r#"{"vmid": 105}"#).await;
    let asked = asked.unwrap().data;
    assert_eq!(asked["status"], "needs_confirmation");
    house.approve(asked["plan"].as_str().unwrap()).await;

    // Both replicas are asked at once: one of them takes it.
    let calls = [house.engine.clone(), replica.clone()]
        .map(|engine| async move { done(engine.call(delete(), &tools::engine::Silent).await) });
    let answers = join_all(calls).await;
    let applied = answers
        .iter()
        .filter(|answer| matches!(answer, Ok(answer) if answer.data["status"] == "applied"));
    assert_eq!(applied.count(), 1, "{answers:?}");
    assert_eq!(house.writes(), ["DELETE /nodes/pve1/qemu/105"]);

    let id = asked["plan"].as_str().unwrap();
    let seen = replica.handle(id).await.unwrap();
    assert_eq!(seen.outcome.status, Status::Applied);
    let stored = replica.store().await.unwrap().plan(id).await.unwrap();
    assert_eq!(stored.unwrap().state, PlanState::Used);
    let whole = replica.store().await.unwrap().verify_audit(None).await;
    assert!(matches!(whole.unwrap(), Verified::Whole { .. }));
}

/// A replica that dies while PVE works is found dead by the other, which tells how it ended and sends nothing.
#[tokio::test]
async fn another_replica_tells_how_the_change_of_a_dead_one_ended() {
    let Some(database) = Database::new("dead_one").await else {
        return;
    };
    let (one, other) = two_machines(&database).await;
    let house = House::furnished(Furnish {
        state: database.state(one.path()),
        clock: sim::Clock::Manual,
        ..Furnish::default()
    })
    .await;
    let dying = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let doomed = house.replica(database.state(other.path()));
    let (engine, asked) = (
        doomed.clone(),
        call("start_proxmox_vm", r#"{"vmid": 105, "wait": 0}"#),
    );
    let begun = dying.spawn(async move { done(engine.call(asked, &tools::engine::Silent).await) });
    let begun = begun.await.unwrap().unwrap();
    let plan = begun.data["plan"].as_str().unwrap().to_owned();
    let alive = house.engine.handle(&plan).await.unwrap();
    assert!(!alive.ended);
    while house.writes().is_empty() {
        tokio::task::yield_now().await;
    }
    dying.shutdown_background();
    while Arc::strong_count(&doomed) > 1 {
        tokio::task::yield_now().await;
    }
    drop(doomed);
    let ended = loop {
        house.sim.advance(Duration::from_secs(30));
        let handle = house.engine.handle(&plan).await.unwrap();
        if handle.ended {
            break handle;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(ended.outcome.status, Status::Applied, "{:?}", ended.outcome);
    assert_eq!(house.writes(), ["POST /nodes/pve1/qemu/105/status/start"]);
}

#[tokio::test]
async fn who_signed_in_at_one_is_known_to_the_other() {
    let Some(database) = Database::new("signed_in").await else {
        return;
    };
    let (one, other) = two_machines(&database).await;
    let (one, other) = (
        database.store(one.path()).await,
        database.store(other.path()).await,
    );
    for token in [None, Some("abc".to_owned())] {
        let session = StoredSession {
            token,
            name: "owner".to_owned(),
            expires: 200,
        };
        one.keep_session("secret", &session, 100).await.unwrap();
        let found = other.session("secret", 100).await.unwrap();
        assert_eq!(found, Some(session));
        other.end_session("secret").await.unwrap();
        assert_eq!(one.session("secret", 100).await.unwrap(), None);
    }
}

/// A plan in the store that this worker has begun, and its one step.
async fn begun(store: &Store, worker: &str) -> (StoredPlan, StepOutcome) {
    let stored = StoredPlan {
        state: PlanState::Used,
        ..plan_to_store().await
    };
    let step = StepOutcome::unsent("Delete VM 105");
    let opening = Opening {
        worker,
        steps: std::slice::from_ref(&step),
        opened: &entry(&stored.id),
        now: 1,
    };
    store.begin_unasked(&stored, &opening).await.unwrap();
    (stored, step)
}

/// A worker that was taken for dead, and lives, writes down that it sends a step, while its plan is being closed as never
/// sent: it sends what it has written down.
#[tokio::test]
async fn a_plan_is_not_closed_while_a_step_of_it_goes_out() {
    let Some(database) = Database::new("goes_out").await else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(database.store(dir.path()).await);
    let (stored, unsent) = begun(&store, "worker").await;
    let sent = StepOutcome {
        state: StepState::Running,
        ..unsent.clone()
    };

    // As the worker does, up to the end of its transaction.
    let (admin, schema) = (database.admin.clone(), database.schema.clone());
    let kept = serde_json::to_string(&sent).unwrap();
    let (written, is_written) = tokio::sync::oneshot::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let worker = std::thread::spawn(move || {
        let mut client = postgres::Client::connect(&admin, NoTls).unwrap();
        let mut transaction = client.transaction().unwrap();
        let sql = format!("UPDATE {schema}.steps SET outcome = $1");
        assert_eq!(transaction.execute(&sql, &[&kept]).unwrap(), 1);
        written.send(()).unwrap();
        ended.recv().unwrap();
        transaction.commit().unwrap();
    });
    is_written.await.unwrap();

    let closing = tokio::spawn({
        let (store, seen) = (store.clone(), vec![unsent]);
        let outcome = Outcome::unsent(Status::NotApplied, &stored.id, &stored.plan);
        async move {
            let entry = entry(&outcome.plan);
            let closed = store.finish_plan(&outcome, &entry, Some(&seen));
            closed.await.unwrap()
        }
    });
    while !database.somebody_waits().await {
        tokio::task::yield_now().await;
    }
    end.send(()).unwrap();
    worker.join().unwrap();
    assert!(!closing.await.unwrap(), "it goes on after all");
    assert_eq!(store.steps(&stored.id).await.unwrap()[0].outcome, sent);
    assert!(store.plan_outcome(&stored.id).await.unwrap().is_none());
}

/// Whoever moves the store looks once, and nobody is left who could close the plan.
#[tokio::test]
async fn what_the_dead_left_open_does_not_keep_a_store_from_moving() {
    let Some(database) = Database::new("left_open").await else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let patient = Shared {
        patience: Duration::from_millis(200),
        ..database.shared()
    };
    let store = Store::shared(&patient, dir.path()).await.unwrap();
    begun(&store, "worker").await;
    let mut lines = Vec::new();
    let take = |line| {
        lines.push(line);
        Ok(())
    };
    let rows = store.export(take).await.unwrap();
    assert_eq!(lines.len(), rows + 2);
    assert!(lines.iter().any(|line| line.contains("\"steps\"")));

    let sign = store.show_life("worker").await.unwrap();
    let fault = store.export(|_| Ok(())).await.unwrap_err();
    assert!(fault.message.contains("a change is under way"), "{fault}");
    drop(sign);
}
