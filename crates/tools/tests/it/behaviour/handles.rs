//! A change that outlives the call, the wait or the process that began it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sim::{Clock, Fault};
use tools::engine::{Engine, State};
use tools::outcome::{Status, StepState};

use crate::house::{Furnish, House, Nobody, call, done};

pub(super) const START: (&str, &str) = ("start_proxmox_vm", r#"{"vmid": 105, "wait": 0}"#);
pub(super) const CLONE: (&str, &str) = (
    "clone_proxmox_vm",
    r#"{"vmid": 900, "new_vmid": 300, "name": "web2", "start": true, "wait": 0}"#,
);

/// A house whose tasks take until the test lets time pass, with its state in `dir`.
pub(super) async fn slow_house(dir: &Path) -> House {
    House::furnished(Furnish {
        state: State::Dir(dir.to_owned()),
        clock: Clock::Manual,
        ..Furnish::default()
    })
    .await
}

/// Begins a change whose task goes on; gives its plan.
pub(super) async fn begun(house: &House, tool: &str, arguments: &str) -> String {
    let answer = house.call(tool, arguments).await.unwrap();
    assert_eq!(answer.data["status"], "running", "{}", answer.text);
    let plan = answer.data["plan"].as_str().unwrap().to_owned();
    until_task(&house.engine, &plan).await;
    plan
}

/// Waits until PVE has named the task of a plan's first step.
pub(super) async fn until_task(engine: &Engine, plan: &str) {
    while engine.handle(plan).await.unwrap().outcome.steps[0]
        .task
        .is_none()
    {
        tokio::task::yield_now().await;
    }
}

/// Lets PVE finish what it does.
pub(super) async fn until_ended(
    house: &House,
    engine: &Engine,
    plan: &str,
) -> tools::engine::Handle {
    loop {
        let handle = engine.handle(plan).await.unwrap();
        if handle.ended {
            return handle;
        }
        house.sim.advance(Duration::from_secs(30));
        tokio::task::yield_now().await;
    }
}

/// Begins a change in a process that is killed while PVE works on it; gives its plan.
async fn orphaned(house: &House, dir: &Path, tool: &str, arguments: &str) -> String {
    let process = Process::begin(house, dir, tool, arguments).await;
    // Asked in the process itself, whose connections these are.
    let (engine, id) = (process.engine.clone(), process.plan.clone());
    let looked = process
        .runtime
        .spawn(async move { until_task(&engine, &id).await });
    looked.await.unwrap();
    process.kill().await
}

/// Another process, which can be killed.
struct Process {
    runtime: tokio::runtime::Runtime,
    engine: Arc<Engine>,
    plan: String,
}

impl Process {
    async fn begin(house: &House, dir: &Path, tool: &str, arguments: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let engine = house.beside(dir);
        let (work, asked) = (engine.clone(), call(tool, arguments));
        let answer = runtime.spawn(async move { done(work.call(asked, &Nobody).await) });
        let answer = answer.await.unwrap().unwrap();
        let plan = answer.data["plan"].as_str().unwrap().to_owned();
        Self {
            runtime,
            engine,
            plan,
        }
    }

    async fn kill(self) -> String {
        self.runtime.shutdown_background();
        // The runtime drops its tasks on a thread of its own.
        while Arc::strong_count(&self.engine) > 1 {
            tokio::task::yield_now().await;
        }
        self.plan
    }
}

#[tokio::test]
async fn a_restart_loses_nothing_that_pve_finishes() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = orphaned(&house, dir.path(), START.0, START.1).await;
    let running = house.engine.handle(&plan).await.unwrap();
    assert!(!running.ended);
    assert_eq!(running.outcome.status, Status::Running);
    assert_eq!(house.audit().await, (1, vec![]));
    let ended = until_ended(&house, &house.engine, &plan).await;
    assert_eq!(ended.outcome.status, Status::Applied, "{:?}", ended.outcome);
    assert_eq!(house.audit().await, (1, vec!["applied".to_owned()]));
    // Asking again closes nothing again, and nothing was ever sent again.
    let again = house.engine.handle(&plan).await.unwrap();
    assert_eq!(again.outcome, ended.outcome);
    assert_eq!(house.audit().await.1.len(), 1);
    assert_eq!(house.writes(), ["POST /nodes/pve1/qemu/105/status/start"]);
}

#[tokio::test]
async fn after_a_restart_the_steps_left_are_not_sent() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = orphaned(&house, dir.path(), CLONE.0, CLONE.1).await;
    let ended = until_ended(&house, &house.engine, &plan).await;
    let states: Vec<_> = ended.outcome.steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [StepState::Done, StepState::NotSent]);
    assert_eq!(ended.outcome.status, Status::Failed);
    assert!(ended.outcome.next.unwrap().contains("not sent by itself"));
    assert_eq!(house.writes().len(), 1, "{:?}", house.writes());
    assert_eq!(house.audit().await, (1, vec!["failed".to_owned()]));
}

#[tokio::test]
async fn after_a_restart_a_failed_task_is_a_failure_with_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let fault = Fault::fail_task("qmclone", "no space left", "clone failed: no space left");
    house.sim.fault(fault);
    let plan = orphaned(&house, dir.path(), CLONE.0, CLONE.1).await;
    let ended = until_ended(&house, &house.engine, &plan).await;
    assert_eq!(ended.outcome.status, Status::Failed);
    let fault = ended.fault.unwrap();
    assert!(fault.message.contains("no space left"), "{fault}");
    assert!(fault.message.contains("not sent: "), "{fault}");
}

#[tokio::test]
async fn a_node_that_does_not_answer_leaves_it_open() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = orphaned(&house, dir.path(), START.0, START.1).await;
    house
        .sim
        .fault(Fault::refuse(500, "not now").on("GET", "/nodes/*/tasks/*"));
    let handle = house.engine.handle(&plan).await.unwrap();
    assert!(!handle.ended);
    assert_eq!(handle.outcome.steps[0].state, StepState::Unknown);
    assert_eq!(house.audit().await.1.len(), 0);
    house.sim.clear_faults();
    let ended = until_ended(&house, &house.engine, &plan).await;
    assert_eq!(ended.outcome.status, Status::Applied);
}

/// Another process looks while this one works: it sees how far it is, and closes nothing.
#[tokio::test]
async fn a_second_process_leaves_a_living_one_its_work() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = begun(&house, CLONE.0, CLONE.1).await;
    let other = house.beside(dir.path());
    assert!(!other.handle(&plan).await.unwrap().ended);
    assert_eq!(house.audit().await.1.len(), 0);
    let ended = until_ended(&house, &other, &plan).await;
    assert_eq!(ended.outcome.status, Status::Applied);
    assert_eq!(house.audit().await, (1, vec!["applied".to_owned()]));
}

/// Whoever comes back sees which step it is at, what its task said last, and how to go on looking.
#[tokio::test]
async fn a_plan_that_goes_on_tells_what_it_is_doing() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = begun(&house, START.0, START.1).await;
    let handle = house.engine.handle(&plan).await.unwrap();
    let task = handle.outcome.steps[0].task.as_deref().unwrap();
    let next = handle.outcome.next.as_deref().unwrap();
    assert!(next.contains(task), "{next}");
    assert_eq!(handle.unsafe_to_stop, [""; 0]);
    let plan = begun(&house, CLONE.0, CLONE.1).await;
    house.sim.advance(Duration::from_secs(3));
    let handle = house.engine.handle(&plan).await.unwrap();
    let doing = handle.doing.unwrap();
    let (step, line) = doing.split_once(": ").unwrap_or((&doing, ""));
    assert!(step.starts_with("Clone VM 900"), "{doing}");
    assert!(!line.is_empty(), "{doing}");
}

/// Of an id that is taken only the plan that makes that very guest is said to be to blame.
#[tokio::test]
async fn an_earlier_call_is_blamed_for_its_own_guest_alone() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    begun(&house, CLONE.0, CLONE.1).await;
    for (vmid, blamed) in [(300, true), (101, false)] {
        let args = format!(r#"{{"vmid": 900, "new_vmid": {vmid}}}"#);
        let fault = house.call(CLONE.0, &args).await.unwrap_err();
        let said = fault.message.contains("an earlier call of yours");
        assert_eq!(said, blamed, "{vmid}: {fault}");
    }
}

/// It dies between sending a request and hearing which task that started.
#[tokio::test]
async fn a_request_whose_sender_died_is_found_by_its_task_and_not_sent_again() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = unanswered_start(&house, dir.path()).await;
    let ended = until_ended(&house, &house.engine, &plan).await;
    assert_eq!(ended.outcome.status, Status::Applied, "{:?}", ended.outcome);
    assert!(ended.outcome.steps[0].task.is_some());
    assert_eq!(house.writes().len(), 1);
}

/// The same, and the request never arrived.
#[tokio::test]
async fn a_request_that_may_have_been_sent_stays_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = unanswered_start(&house, dir.path()).await;
    // As a node that lost its task list with its power.
    let lost = Fault::answer("GET", "/nodes/*/tasks", serde_json::json!([]));
    house.sim.fault(lost);
    let handle = house.engine.handle(&plan).await.unwrap();
    assert!(handle.ended);
    assert_eq!(handle.outcome.status, Status::Unknown);
    assert_eq!(house.audit().await, (1, vec!["unknown".to_owned()]));
}

/// A start whose sender died before PVE named its task; gives its plan.
async fn unanswered_start(house: &House, dir: &Path) -> String {
    let late = Fault::delay(Duration::from_hours(1)).on("POST", "*/status/start");
    house.sim.fault(late);
    let process = Process::begin(house, dir, START.0, START.1).await;
    while house.writes().is_empty() {
        tokio::task::yield_now().await;
    }
    process.kill().await
}

/// Both clocks move on.
fn pass(house: &House, time: Duration) {
    house.sim.advance(time);
    house.later(i64::try_from(time.as_secs()).unwrap());
}

#[tokio::test]
async fn a_task_is_found_a_day_after_its_sender_died() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = unanswered_start(&house, dir.path()).await;
    pass(&house, Duration::from_hours(24));
    let handle = house.engine.handle(&plan).await.unwrap();
    assert_eq!(handle.outcome.status, Status::Applied, "{handle:?}");
    assert!(handle.outcome.steps[0].task.is_some());
}

/// The guest runs a day later: by another user's task, by one of ours that began much later, or by nobody knows what.
#[tokio::test]
async fn what_others_did_since_is_not_taken_for_ours() {
    for found in ["another user's", "late", "none"] {
        let dir = tempfile::tempdir().unwrap();
        let house = slow_house(dir.path()).await;
        let plan = unanswered_start(&house, dir.path()).await;
        pass(&house, Duration::from_hours(24));
        let last = |world: &mut sim::World| world.tasks.iter().next_back().unwrap().upid.clone();
        let mut upid = house.sim.world(last);
        upid.start += 23 * 3600 * u64::from(found == "late");
        let mut upid = upid.to_string();
        if found == "another user's" {
            upid = upid.replace("root@pam!oxmox", "alice@pam");
        }
        let rows = match found {
            "none" => serde_json::json!([]),
            _ => serde_json::json!([{"upid": upid}]),
        };
        house
            .sim
            .fault(Fault::answer("GET", "/nodes/*/tasks", rows));
        let handle = house.engine.handle(&plan).await.unwrap();
        let status = handle.outcome.status;
        assert_eq!(status, Status::Unknown, "{found}: {handle:?}");
        let detail = handle.outcome.steps[0].detail.as_deref().unwrap();
        assert!(detail.contains("by now VM 105"), "{detail}");
    }
}

#[tokio::test]
async fn a_plan_that_waits_says_since_when() {
    let house = House::new().await;
    let shown = house.context().now;
    let asked = house.call("stop_proxmox_vm", r#"{"vmid": 100}"#).await;
    let asked = asked.unwrap();
    house.later(60);
    let plan = asked.data["plan"].as_str().unwrap();
    let handle = house.engine.handle(plan).await.unwrap();
    assert_eq!(handle.outcome.status, Status::NeedsConfirmation);
    assert_eq!((handle.begun, handle.updated), (shown, shown));
}

/// In the store it stays as it was. Nobody may take it for one that can still be decided on, or begun.
#[tokio::test]
async fn a_plan_that_has_expired_neither_waits_nor_is_approved() {
    for approved in [false, true] {
        let house = House::new().await;
        let asked = house.call("stop_proxmox_vm", r#"{"vmid": 100}"#).await;
        let asked = asked.unwrap();
        let plan = asked.data["plan"].as_str().unwrap();
        if approved {
            house.approve(plan).await;
        }
        house.later(15 * 60 - 1);
        let handle = house.engine.handle(plan).await.unwrap();
        assert_eq!(handle.outcome.status, Status::NeedsConfirmation);
        assert_eq!((handle.ended, handle.approved), (false, approved));
        house.later(1);
        let handle = house.engine.handle(plan).await.unwrap();
        assert_eq!(handle.outcome.status, Status::NotApplied, "{approved}");
        assert_eq!((handle.ended, handle.approved), (true, false));
        let told = house
            .call("get_proxmox_task", &format!(r#"{{"upid": "{plan}"}}"#))
            .await
            .unwrap();
        assert_eq!(told.data["state"], "failed", "{}", told.text);
        assert!(told.text.contains("has expired"), "{}", told.text);
    }
}

#[tokio::test]
async fn outcomes_are_kept_for_a_quarter_of_a_year() {
    const DAY: i64 = 24 * 3600;
    let house = House::new().await;
    let start = |vmid: u32| {
        let asked = format!(r#"{{"vmid": {vmid}}}"#);
        let house = &house;
        async move {
            let answer = house.call("start_proxmox_vm", &asked).await.unwrap();
            answer.data["plan"].as_str().unwrap().to_owned()
        }
    };
    let first = start(105).await;
    house.later(60 * DAY);
    start(203).await;
    assert!(house.engine.handle(&first).await.is_ok());
    house.later(31 * DAY);
    start(208).await;
    assert!(house.engine.handle(&first).await.is_err());
    assert_eq!(house.audit().await.0, 3, "the trail keeps them all");
}

/// Whoever was cut off asks again; the id is taken by what the first call made, and a second one is not wanted.
#[tokio::test]
async fn an_id_that_an_unended_plan_took_is_told_with_that_plan() {
    let dir = tempfile::tempdir().unwrap();
    let house = slow_house(dir.path()).await;
    let plan = orphaned(&house, dir.path(), CLONE.0, CLONE.1).await;
    let fault = house.call(CLONE.0, CLONE.1).await.unwrap_err();
    let said = fault.to_string();
    assert!(said.contains("the vmid 300 is taken"), "{said}");
    assert!(
        said.contains(&format!("get_proxmox_task with upid \"{plan}\"")),
        "{said}"
    );
    assert!(said.contains("Clone VM 900"), "{said}");
    assert!(!said.contains("is free"), "{said}");
    // Another caller learns nothing of it.
    let theirs = tools::engine::Call::new(CLONE.0, crate::house::object(CLONE.1), "other");
    let fault = done(house.engine.call(theirs, &Nobody).await).unwrap_err();
    assert!(!fault.to_string().contains(&plan), "{fault}");
    // What is told leads to what became of it; then there is nothing open any more.
    until_ended(&house, &house.engine, &plan).await;
    let fault = house.call(CLONE.0, CLONE.1).await.unwrap_err();
    assert!(
        fault.to_string().contains("is free; send new_vmid"),
        "{fault}"
    );
}
