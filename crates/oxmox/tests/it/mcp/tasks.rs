//! The tasks extension: a change that goes on is a task, which outlives its call and its process.

use std::sync::Arc;
use std::time::Duration;

use oxmox::mcp::Server;
use serde_json::{Value, json};
use tools::engine::{Call, Engine, Reply, Silent, State};

use super::wire::{BOTH, Era, Person, Wire, says, text, yes};
use super::{World, engine, slow_world, world};

/// Begins a change that PVE takes its time for; gives the task.
async fn begun(wire: &mut Wire, tool: &str, arguments: Value) -> Value {
    let task = wire.call(tool, arguments).await;
    assert_eq!(task["resultType"], "task", "{task}");
    assert_eq!(task["status"], "working");
    assert_eq!(task["ttlMs"], Value::Null);
    assert!(task["pollIntervalMs"].is_u64());
    for time in ["createdAt", "lastUpdatedAt"] {
        assert!(task[time].as_str().unwrap().ends_with('Z'), "{task}");
    }
    json!({"taskId": task["taskId"]})
}

async fn start(wire: &mut Wire) -> Value {
    begun(wire, "start_proxmox_vm", json!({"vmid": 105, "wait": 0})).await
}

/// Asks until the task has another status than `working`; time passes for PVE meanwhile.
async fn settled(world: &World, wire: &mut Wire, task: &Value) -> Value {
    loop {
        let state = wire.result("tasks/get", task.clone()).await;
        if state["status"] != "working" {
            return state;
        }
        world.sim.advance(Duration::from_secs(30));
    }
}

/// Asks until PVE has named the task that it runs. The world has one of its own that hangs, about no guest.
async fn until_task(wire: &mut Wire, world: &World, task: &Value) {
    while world.sim.world(|world| {
        let mut tasks = world.tasks.iter();
        tasks.all(|task| task.end.is_some() || task.upid.id.is_empty())
    }) {
        wire.result("tasks/get", task.clone()).await;
    }
}

#[tokio::test]
async fn a_change_that_goes_on_is_a_task_with_its_result_at_the_end() {
    for era in BOTH {
        let world = slow_world(State::Memory).await;
        let server = Server::new(world.engine.clone());
        let mut wire = Wire::following_tasks(server, era, Person::Absent).await;
        let task = start(&mut wire).await;
        let state = wire.result("tasks/get", task.clone()).await;
        assert_eq!(state["status"], "working");
        assert!(state["statusMessage"].as_str().unwrap().contains("105"));
        let ended = settled(&world, &mut wire, &task).await;
        assert_eq!(ended["status"], "completed", "{ended}");
        let result = &ended["result"];
        assert_eq!(result["structuredContent"]["status"], "applied", "{result}");
        assert!(text(result).contains("applied"));
        // Cancelling what is over changes nothing.
        wire.result("tasks/cancel", task.clone()).await;
        let again = wire.result("tasks/get", task).await;
        assert_eq!(again["status"], "completed");
        assert_eq!(world.writes().len(), 1);
    }
}

#[tokio::test]
async fn who_has_no_tasks_gets_an_answer() {
    for era in BOTH {
        let world = slow_world(State::Memory).await;
        let mut wire = Wire::new(&world, era, Person::Absent).await;
        let arguments = json!({"vmid": 105, "wait": 0});
        let result = wire.call("start_proxmox_vm", arguments).await;
        assert_eq!(result["structuredContent"]["status"], "running");
        let refused = wire.request("tasks/get", json!({"taskId": "x"})).await;
        assert_eq!(refused["error"]["code"], -32021, "{refused}");
    }
}

#[tokio::test]
async fn what_is_done_in_time_is_no_task() {
    let world = world().await;
    let server = Server::new(world.engine.clone());
    let mut wire = Wire::following_tasks(server, Era::Y2026, Person::Absent).await;
    let result = wire.call("start_proxmox_vm", json!({"vmid": 105})).await;
    assert_eq!(result["structuredContent"]["status"], "applied");
}

#[tokio::test]
async fn a_task_is_its_callers_alone() {
    let world = slow_world(State::Memory).await;
    let server = Server::new(world.engine.clone());
    let mut wire = Wire::following_tasks(server, Era::Y2026, Person::Absent).await;
    let task = start(&mut wire).await;
    let altered = format!("{}0", task["taskId"].as_str().unwrap());
    wire.name = "somebody else".to_owned();
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let mut params = task.clone();
        params["inputResponses"] = json!({});
        let refused = wire.request(method, params).await;
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
    }
    wire.name = "test".to_owned();
    for wrong in [altered.as_str(), "nonexistent", "a.b", ""] {
        let refused = wire.request("tasks/get", json!({"taskId": wrong})).await;
        assert_eq!(refused["error"]["code"], -32602, "{wrong}: {refused}");
    }
    let stops = |write: &String| write.starts_with("DELETE");
    assert!(!world.writes().iter().any(stops));
}

#[tokio::test]
async fn a_cancelled_task_is_stopped_and_the_rest_is_not_sent() {
    for era in BOTH {
        let world = slow_world(State::Memory).await;
        let server = Server::new(world.engine.clone());
        let mut wire = Wire::following_tasks(server, era, Person::Absent).await;
        let clone = json!({"vmid": 900, "new_vmid": 300, "start": true, "wait": 0});
        let task = begun(&mut wire, "clone_proxmox_vm", clone).await;
        until_task(&mut wire, &world, &task).await;
        let acknowledged = wire.result("tasks/cancel", task.clone()).await;
        assert!(acknowledged.get("status").is_none(), "{acknowledged}");
        let ended = settled(&world, &mut wire, &task).await;
        assert_eq!(ended["status"], "cancelled", "{ended}");
        let message = ended["statusMessage"].as_str().unwrap();
        assert!(message.contains("not sent"), "{message}");
        let writes = world.writes();
        assert_eq!(writes.len(), 2, "{writes:?}");
        assert!(writes[1].starts_with("DELETE /nodes/pve1/tasks/"));
    }
}

/// Deletes a guest and cancels that while PVE is at it.
async fn cancelled_delete(world: &World, wire: &mut Wire) -> Value {
    let task = begun(wire, "delete_proxmox_vm", json!({"vmid": 105, "wait": 0})).await;
    until_task(wire, world, &task).await;
    wire.result("tasks/cancel", task.clone()).await;
    task
}

#[tokio::test]
async fn what_is_unsafe_to_stop_is_asked_about() {
    for era in BOTH {
        for (answer, status, writes) in [
            (json!({"approve": true}), "cancelled", 2),
            (json!({"approve": false}), "completed", 1),
        ] {
            let world = slow_world(State::Memory).await;
            let server = Server::new(world.engine.clone());
            let mut wire = Wire::following_tasks(server, era, yes()).await;
            let task = cancelled_delete(&world, &mut wire).await;
            let asked = wire.result("tasks/get", task.clone()).await;
            assert_eq!(asked["status"], "input_required", "{asked}");
            let form = &asked["inputRequests"]["stop"];
            assert_eq!(form["method"], "elicitation/create");
            let message = form["params"]["message"].as_str().unwrap();
            assert!(
                message.contains("unsafe") && message.contains("105"),
                "{message}"
            );
            // What answers nothing decides nothing.
            for nothing in [
                json!({"other": {"action": "accept", "content": {"approve": true}}}),
                json!({"stop": {"action": "cancel"}}),
                json!({"stop": 7}),
            ] {
                let mut update = task.clone();
                update["inputResponses"] = nothing;
                wire.result("tasks/update", update).await;
            }
            assert_eq!(world.writes().len(), 1);
            let mut update = task.clone();
            update["inputResponses"] = json!({"stop": {"action": "accept", "content": answer}});
            wire.result("tasks/update", update).await;
            let ended = settled(&world, &mut wire, &task).await;
            assert_eq!(ended["status"], status, "{ended}");
            assert_eq!(world.writes().len(), writes);
        }
    }
}

#[tokio::test]
async fn who_cannot_be_asked_is_told_that_it_goes_on() {
    let world = slow_world(State::Memory).await;
    let server = Server::new(world.engine.clone());
    // The same client, once with a person to agree and once without one.
    let mut wire = Wire::following_tasks(server.clone(), Era::Y2026, yes()).await;
    let task = cancelled_delete(&world, &mut wire).await;
    let mut wire = Wire::following_tasks(server, Era::Y2026, Person::Absent).await;
    let state = wire.result("tasks/get", task.clone()).await;
    assert_eq!(state["status"], "working");
    let message = state["statusMessage"].as_str().unwrap();
    assert!(message.contains("unsafe"), "{message}");
    let ended = settled(&world, &mut wire, &task).await;
    assert_eq!(ended["status"], "completed");
    assert_eq!(world.writes().len(), 1);
}

#[tokio::test]
async fn a_lost_client_stops_nothing() {
    let world = slow_world(State::Memory).await;
    let server = Server::new(world.engine.clone());
    let mut wire =
        Wire::following_tasks(server.clone(), Era::Y2026, says("decline", &json!({}))).await;
    let params = json!({"name": "start_proxmox_vm", "arguments": {"vmid": 105, "wait": 1}});
    let id = wire.send("tools/call", params).await;
    while world.writes().is_empty() {
        tokio::task::yield_now().await;
    }
    wire.notify("notifications/cancelled", json!({"requestId": id}))
        .await;
    wire.hang_up().await.unwrap();
    let plan = world.engine.at_work_for("stdio:test").await.pop().unwrap();
    let task = json!({"taskId": world.engine.task_id(&plan).await.unwrap()});
    let mut wire = Wire::following_tasks(server, Era::Y2026, Person::Absent).await;
    let ended = settled(&world, &mut wire, &task).await;
    assert_eq!(ended["status"], "completed");
    assert_eq!(world.writes().len(), 1);
}

/// The process that began it dies; the next one on the same state knows the task.
#[tokio::test]
async fn a_task_outlives_its_process() {
    let dir = tempfile::tempdir().unwrap();
    let state = State::Dir(dir.path().to_owned());
    let world = slow_world(state.clone()).await;
    let task = dead_task(&world, engine(&world.sim, state)).await;
    let server = Server::new(world.engine.clone());
    let mut wire = Wire::following_tasks(server, Era::Y2026, Person::Absent).await;
    let alive = wire.result("tasks/get", task.clone()).await;
    assert_eq!(alive["status"], "working");
    let ended = settled(&world, &mut wire, &task).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(ended["result"]["structuredContent"]["status"], "applied");
    assert_eq!(world.writes().len(), 1);
}

async fn dead_task(world: &World, engine: Arc<Engine>) -> Value {
    let process = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let arguments = json!({"vmid": 105, "wait": 0});
    let arguments = arguments.as_object().unwrap().clone();
    let call = Call::new("start_proxmox_vm", arguments, "stdio:test");
    let work = engine.clone();
    let reply = process.spawn(async move { work.call(call, &Silent).await });
    let Reply::Running(_, plan) = reply.await.unwrap().unwrap() else {
        panic!("it does not go on");
    };
    let task = json!({"taskId": engine.task_id(&plan).await.unwrap()});
    while world.writes().is_empty() {
        tokio::task::yield_now().await;
    }
    process.shutdown_background();
    while Arc::strong_count(&engine) > 1 {
        tokio::task::yield_now().await;
    }
    task
}
