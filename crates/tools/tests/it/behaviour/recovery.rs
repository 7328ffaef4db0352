//! What is said of a plan whose sender died while a step was on its way: what is found is only taken for its own if it can
//! be nobody else's, and what cannot be read now is read another time.

use std::time::Duration;

use serde_json::{Value, json};
use sim::Fault;
use tools::engine::{Handle, State};
use tools::outcome::{Outcome, Status, StepOutcome, StepState};
use tools::plan::Plan;
use tools::policy::Policy;
use tools::store::{AuditEntry, OpenLook, Opening, PlanState, StoredPlan};

use crate::house::{CALLER, Furnish, House, Nobody, call, done, object};

const START: (&str, &str) = ("start_proxmox_vm", r#"{"vmid": 105}"#);
const OXMOX: &str = "root@pam!oxmox";
const ALICE: (&str, &str, &str) = ("alice@pve", "own", "secret");

/// A house where alice may start guests, and PVE shows her nobody else's tasks.
async fn house(token: Option<(&str, &str, &str)>) -> House {
    let mut furnish = Furnish::default();
    if let Some((user, name, secret)) = token {
        furnish.token = (user.to_owned(), name.to_owned(), secret.to_owned());
    }
    for user in ["alice@pve", "bob@pve"] {
        furnish.world.add_token(&format!("{user}!own"), "secret");
        let may = ["VM.Audit", "VM.PowerMgmt"];
        furnish.world.grant(user, "/vms", &may);
    }
    House::furnished(furnish).await
}

/// Somebody starts guest 105 without this oxmox, by that token; gives the task.
async fn started(house: &House, (user, name, secret): (&str, &str, &str)) -> String {
    let token = (user.to_owned(), name.to_owned(), secret.to_owned());
    let engine = house.with_token(&token, Policy::default());
    let answer = done(engine.call(call(START.0, START.1), &Nobody).await).unwrap();
    let task = &answer.data["steps"][0]["task"];
    task.as_str().unwrap().to_owned()
}

/// A plan to start guest 105, which does not run yet.
async fn planned(house: &House) -> Plan {
    let tool = tools::registry::find_change(START.0).unwrap();
    let Ok(tools::tool::Ran::Plan(plan)) = tool.run(object(START.1), &house.context()).await else {
        panic!("no plan");
    };
    *plan
}

/// As somebody leaves a plan behind who dies while its step is on its way: nothing of it was heard since.
async fn left_behind(house: &House, id: &str, plan: &Plan, before: &Value) {
    left_behind_at(house.context().now, house, (id, plan), before).await;
}

/// The same at this time.
async fn left_behind_at(now: i64, house: &House, (id, plan): (&str, &Plan), before: &Value) {
    let stored = StoredPlan {
        id: id.to_owned(),
        caller: CALLER.to_owned(),
        arguments: String::new(),
        digest: plan.digest(),
        plan: plan.clone(),
        state: PlanState::Used,
        expires: now,
        decided_by: None,
    };
    let store = house.engine.store().await.unwrap();
    let opened = opened(now, id, START.0);
    let unsent = Outcome::unsent(Status::Running, id, &stored.plan).steps;
    let opening = Opening {
        worker: "dead",
        steps: &unsent,
        opened: &opened,
        now,
    };
    store.begin_unasked(&stored, &opening).await.unwrap();
    let sending = StepOutcome {
        state: StepState::Running,
        ..unsent[0].clone()
    };
    let before = before.to_string();
    let kept = store.keep_step(id, 0, &sending, Some(&before), now);
    assert!(kept.await.unwrap());
}

/// What was written down when it began.
fn opened(at: i64, id: &str, tool: &str) -> AuditEntry {
    AuditEntry::Opened {
        at,
        plan: id.to_owned(),
        caller: CALLER.to_owned(),
        cluster: None,
        tool: tool.to_owned(),
        arguments: Value::Null,
        summary: None,
        risk: None,
        digest: None,
        confirmed_by: None,
        pve_identity: None,
    }
}

/// How things stood before: no task was there, and only a task can tell what came of it.
fn before(house: &House, by: &str) -> Value {
    json!({"tasks": [], "already": true, "sent": house.context().now, "by": by})
}

fn task(handle: &Handle) -> Option<&str> {
    handle.outcome.steps[0].task.as_deref()
}

#[tokio::test]
async fn the_task_of_a_caller_with_a_token_of_their_own_is_found() {
    let house = house(None).await;
    let plan = planned(&house).await;
    let theirs = started(&house, ALICE).await;
    left_behind(&house, "p", &plan, &before(&house, "alice@pve!own")).await;
    let handle = house.engine.handle("p").await.unwrap();
    assert_eq!(handle.outcome.status, Status::Applied, "{handle:?}");
    assert_eq!(task(&handle), Some(theirs.as_str()));
}

/// Its sender did not see it in the list, since PVE shows nobody the tasks of others.
#[tokio::test]
async fn a_task_of_oxmox_is_not_taken_for_a_callers_own() {
    let house = house(None).await;
    let plan = planned(&house).await;
    started(&house, sim::worlds::ROOT_TOKEN).await;
    left_behind(&house, "p", &plan, &before(&house, "alice@pve!own")).await;
    let handle = house.engine.handle("p").await.unwrap();
    assert_eq!(handle.outcome.status, Status::Unknown, "{handle:?}");
    assert_eq!(task(&handle), None);
}

#[tokio::test]
async fn a_task_of_last_week_is_not_taken_for_a_new_one() {
    let house = house(None).await;
    let plan = planned(&house).await;
    started(&house, sim::worlds::ROOT_TOKEN).await;
    house.sim.advance(Duration::from_hours(7 * 24));
    left_behind(&house, "p", &plan, &before(&house, OXMOX)).await;
    let handle = house.engine.handle("p").await.unwrap();
    assert_eq!(handle.outcome.status, Status::Unknown, "{handle:?}");
}

/// A client whose call broke off makes it again, elsewhere.
#[tokio::test]
async fn the_task_of_another_plan_is_not_taken_for_its_own() {
    let house = house(None).await;
    let plan = planned(&house).await;
    left_behind(&house, "p", &plan, &before(&house, OXMOX)).await;
    let again = house.call(START.0, START.1).await.unwrap();
    assert_eq!(again.data["status"], "applied", "{}", again.text);
    let handle = house.engine.handle("p").await.unwrap();
    assert_eq!(handle.outcome.status, Status::Unknown, "{handle:?}");
    let (_, closed) = house.audit().await;
    assert_eq!(closed, ["applied", "unknown"]);
}

/// One task, two plans that may have started it, and nobody left to ask.
#[tokio::test]
async fn a_task_that_may_be_of_either_plan_is_taken_for_neithers() {
    let house = house(None).await;
    let plan = planned(&house).await;
    started(&house, sim::worlds::ROOT_TOKEN).await;
    for id in ["one", "other"] {
        left_behind(&house, id, &plan, &before(&house, OXMOX)).await;
    }
    for id in ["one", "other"] {
        let handle = house.engine.handle(id).await.unwrap();
        assert_eq!(handle.outcome.status, Status::Unknown, "{handle:?}");
    }
}

/// A request is answered within minutes or not at all: one that was sent an hour before cannot have started it, and one
/// that was sent a moment later can.
#[tokio::test]
async fn a_task_is_contested_by_what_was_sent_about_then() {
    for (seconds, status) in [
        (-3_600, Status::Applied),
        (150, Status::Unknown),
        (3_600, Status::Applied),
    ] {
        let house = house(None).await;
        let plan = planned(&house).await;
        started(&house, sim::worlds::ROOT_TOKEN).await;
        let then = house.context().now + seconds;
        let mut theirs = before(&house, OXMOX);
        theirs["sent"] = then.into();
        left_behind_at(then, &house, ("other", &plan), &theirs).await;
        left_behind(&house, "p", &plan, &before(&house, OXMOX)).await;
        let handle = house.engine.handle("p").await.unwrap();
        assert_eq!(handle.outcome.status, status, "{seconds}: {handle:?}");
    }
}

/// Without Sys.Audit the node's clock is not told. Whoever sent it has seen what was there before: what is new at once after it
/// is its own, and later it may be of anything that they sent since.
#[tokio::test]
async fn who_cannot_ask_for_the_time_finds_what_came_at_once() {
    for (later, status) in [(0, Status::Applied), (3_600, Status::Unknown)] {
        let house = house(Some(ALICE)).await;
        let plan = planned(&house).await;
        left_behind(&house, "p", &plan, &before(&house, "alice@pve!own")).await;
        started(&house, ALICE).await;
        house.later(later);
        let handle = house.engine.handle("p").await.unwrap();
        assert!(handle.ended, "{handle:?}");
        assert_eq!(handle.outcome.status, status, "{handle:?}");
    }
    // A clock that does not answer may answer another time.
    let house = house(Some(ALICE)).await;
    let plan = planned(&house).await;
    left_behind(&house, "p", &plan, &before(&house, "alice@pve!own")).await;
    house.later(3_600);
    let refused = Fault::refuse(595, "no route to host");
    house.sim.fault(refused.on("GET", "/nodes/*/time"));
    let handle = house.engine.handle("p").await.unwrap();
    assert!(!handle.ended, "{handle:?}");
}

/// PVE has begun it and says so late: whose task it is will be known once that is said.
#[tokio::test]
async fn a_task_that_may_be_of_a_change_on_its_way_is_left_open() {
    let house = house(None).await;
    let plan = planned(&house).await;
    let late = Fault::delay(Duration::from_mins(10));
    let path = "/nodes/pve1/qemu/105/status/start";
    house.sim.fault(late.on("POST", path));
    let other = house.call(START.0, START.1);
    let look = async {
        while !house.sim.arrivals().contains(&format!("POST {path}")) {
            tokio::task::yield_now().await;
        }
        left_behind(&house, "p", &plan, &before(&house, OXMOX)).await;
        house.engine.handle("p").await.unwrap()
    };
    let handle = tokio::select! {
        answer = other => panic!("{answer:?}"),
        handle = look => handle,
    };
    assert!(!handle.ended, "{handle:?}");
    assert_eq!(task(&handle), None);
}

/// What stood behind a step that was on its way was not sent, and never will be.
#[tokio::test]
async fn what_was_not_sent_is_told_with_why() {
    let house = house(None).await;
    let mut plan = planned(&house).await;
    plan.steps.push(plan.steps[0].clone());
    left_behind(&house, "p", &plan, &before(&house, OXMOX)).await;
    let handle = house.engine.handle("p").await.unwrap();
    let [sent, unsent] = handle.outcome.steps.as_slice() else {
        panic!("{handle:?}");
    };
    let why = "oxmox ended before this was sent";
    assert_eq!(unsent.detail.as_deref(), Some(why));
    assert_ne!(sent.detail.as_deref(), Some(why));
}

#[tokio::test]
async fn a_look_that_was_left_open_is_closed_as_unknown() {
    let house = house(None).await;
    let look = OpenLook {
        id: "l".to_owned(),
        worker: "dead".to_owned(),
        summary: "look inside a guest".to_owned(),
    };
    let opened = opened(house.context().now, "l", "read_vm_terminal");
    let store = house.engine.store().await.unwrap();
    store.open_look(&look, &opened).await.unwrap();
    let closed = house.engine.close_left_open().await.unwrap();
    assert_eq!(closed.len(), 1);
    assert_eq!(
        (closed[0].plan.as_str(), closed[0].result),
        ("l", "unknown")
    );
    assert_eq!(house.audit().await, (1, vec!["unknown".to_owned()]));
    assert!(house.engine.close_left_open().await.unwrap().is_empty());
}

/// Whoever may not see the tasks of others cannot tell that there is none.
#[tokio::test]
async fn who_does_not_see_all_tasks_settles_nothing_for_others() {
    let house = house(Some(("bob@pve", "own", "secret"))).await;
    let plan = planned(&house).await;
    let theirs = started(&house, ALICE).await;
    left_behind(&house, "p", &plan, &before(&house, "alice@pve!own")).await;
    assert!(house.engine.close_left_open().await.unwrap().is_empty());
    let handle = house.engine.handle("p").await.unwrap();
    assert!(!handle.ended, "{handle:?}");
    let detail = handle.outcome.steps[0].detail.as_deref().unwrap();
    assert!(detail.contains("cannot be read yet"), "{detail}");
    assert_eq!(house.audit().await, (1, vec![]));
    // She herself does.
    let alice = house.on_behalf(&house.engine, ALICE);
    let handle = alice.handle("p").await.unwrap();
    assert_eq!(handle.outcome.status, Status::Applied, "{handle:?}");
    assert_eq!(task(&handle), Some(theirs.as_str()));
}

/// By a token that sees nothing, brought along or made up.
#[tokio::test]
async fn no_caller_closes_what_they_cannot_see() {
    let house = house(None).await;
    let plan = planned(&house).await;
    started(&house, sim::worlds::ROOT_TOKEN).await;
    left_behind(&house, "p", &plan, &before(&house, OXMOX)).await;
    for secret in ["secret", "wrong"] {
        let bob = house.on_behalf(&house.engine, ("bob@pve", "own", secret));
        let handle = bob.handle("p").await.unwrap();
        assert!(!handle.ended, "{secret}: {handle:?}");
    }
    let handle = house.engine.handle("p").await.unwrap();
    assert_eq!(handle.outcome.status, Status::Applied, "{handle:?}");
}

/// Whatever of it does not answer: the node with its tasks, or what would show that it came about.
#[tokio::test]
async fn what_cannot_be_read_now_is_left_open() {
    for (path, by_state) in [
        ("/nodes/pve1/tasks", false),
        ("/nodes/pve1/*", false),
        ("/nodes/*/qemu/105/*", true),
    ] {
        let house = house(None).await;
        let plan = planned(&house).await;
        let mut before = before(&house, OXMOX);
        if by_state {
            before["tasks"] = Value::Null;
            before["already"] = false.into();
        }
        left_behind(&house, "p", &plan, &before).await;
        started(&house, sim::worlds::ROOT_TOKEN).await;
        house
            .sim
            .fault(Fault::refuse(595, "no route to host").on("GET", path));
        let handle = house.engine.handle("p").await.unwrap();
        assert!(!handle.ended, "{path}: {handle:?}");
        assert!(house.engine.close_left_open().await.unwrap().is_empty());
        assert_eq!(house.audit().await, (1, vec![]), "{path}");
        house.sim.clear_faults();
        let closed = house.engine.close_left_open().await.unwrap();
        assert_eq!(closed.len(), 1, "{path}");
        assert_eq!(closed[0].result, Status::Applied.word(), "{path}");
    }
}

/// The same store, seen by a process that began later.
#[tokio::test]
async fn a_restarted_oxmox_closes_it_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::furnished(Furnish {
        state: State::Dir(dir.path().to_owned()),
        ..Furnish::default()
    })
    .await;
    let plan = planned(&house).await;
    started(&house, sim::worlds::ROOT_TOKEN).await;
    left_behind(&house, "p", &plan, &before(&house, OXMOX)).await;
    let restarted = house.beside(dir.path());
    let closed = restarted.close_left_open().await.unwrap();
    assert_eq!(closed.len(), 1);
    assert_eq!(closed[0].result, Status::Applied.word());
}

/// The guest is gone: that can be read, and nothing more will come to be known.
#[tokio::test]
async fn a_guest_that_is_gone_leaves_nothing_open() {
    let house = house(None).await;
    let plan = planned(&house).await;
    let mut before = before(&house, OXMOX);
    before["tasks"] = Value::Null;
    before["already"] = false.into();
    left_behind(&house, "p", &plan, &before).await;
    house.sim.world(|world| world.guests.remove(&105));
    let handle = house.engine.handle("p").await.unwrap();
    assert!(handle.ended, "{handle:?}");
    assert_eq!(handle.outcome.status, Status::Unknown, "{handle:?}");
}

#[tokio::test]
async fn one_round_closes_100_plans_of_a_dead_process() {
    let house = house(None).await;
    let plan = planned(&house).await;
    for index in 0..100 {
        let id = format!("p{index:03}");
        left_behind(&house, &id, &plan, &before(&house, OXMOX)).await;
    }
    house.later(3600);
    let closed = house.engine.close_left_open().await.unwrap();
    assert_eq!(closed.len(), 100);
    let store = house.engine.store().await.unwrap();
    assert_eq!(store.open_handles().await.unwrap(), []);
    let (opened, ends) = house.audit().await;
    assert_eq!((opened, ends.len()), (100, 100));
    assert_eq!(house.writes(), [""; 0]);
}
