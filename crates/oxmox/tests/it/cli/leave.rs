//! Ctrl-C while a change is going on: what is asked, and what becomes of the change.

use std::sync::Mutex;

use futures_util::future::BoxFuture;
use oxmox::cli::leave::{Asks, Left, leave};
use serde_json::{Value, json};
use tools::engine::{Asked, Call, Progress, Question, Reply, State, Talk};

use crate::mcp::{World, slow_world};

const CALLER: &str = "cli:test";

/// Answers with these, in order; then they are gone.
struct Person {
    answers: Mutex<Vec<bool>>,
    asked: Mutex<Vec<String>>,
}

impl Person {
    fn saying(answers: &[bool]) -> Self {
        let mut answers = answers.to_vec();
        answers.reverse();
        Self {
            answers: Mutex::new(answers),
            asked: Mutex::default(),
        }
    }
}

impl Asks for Person {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Option<bool>> {
        self.asked.lock().unwrap().push(question.to_owned());
        let answer = self.answers.lock().unwrap().pop();
        Box::pin(async move { answer })
    }
}

/// Agrees to the change itself.
struct Agrees;

impl Talk for Agrees {
    fn progress(&self, _: Progress) {}

    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Asked> {
        let by = "test".to_owned();
        Box::pin(async { Asked::Yes { by, lease: false } })
    }
}

/// Begins a change and waits until PVE runs a task for it.
async fn begun(world: &World, tool: &str, arguments: &Value) -> String {
    let arguments = arguments.as_object().unwrap().clone();
    let call = Call::new(tool, arguments, CALLER);
    let Reply::Running(_, plan) = world.engine.call(call, &Agrees).await.unwrap() else {
        panic!("it does not go on");
    };
    while world.engine.handle(&plan).await.unwrap().outcome.steps[0]
        .task
        .is_none()
    {
        tokio::task::yield_now().await;
    }
    assert!(world.engine.at_work_for(CALLER).await.contains(&plan));
    plan
}

async fn left(tool: &str, arguments: &Value, answers: &[bool]) -> (Left, usize, Vec<String>) {
    let world = slow_world(State::Memory).await;
    let plan = begun(&world, tool, arguments).await;
    let person = Person::saying(answers);
    let left = leave(&world.engine, &plan, CALLER, &person).await.unwrap();
    let asked = person.asked.into_inner().unwrap();
    (left, world.writes().len(), asked)
}

#[tokio::test]
async fn without_a_yes_it_goes_on_and_its_task_is_told() {
    let start = json!({"vmid": 105, "wait": 0});
    for answers in [&[false][..], &[]] {
        let (left, writes, asked) = left("start_proxmox_vm", &start, answers).await;
        let Left::GoesOn(tasks) = left else {
            panic!("{left:?}");
        };
        assert!(tasks[0].contains("[UPID:pve1:"), "{tasks:?}");
        assert_eq!((writes, asked.len()), (1, 1));
    }
}

#[tokio::test]
async fn a_yes_stops_it() {
    let start = json!({"vmid": 105, "wait": 0});
    let (left, writes, asked) = left("start_proxmox_vm", &start, &[true]).await;
    assert_eq!((left, writes), (Left::Stopped, 2));
    assert!(asked[0].contains("Start VM 105"), "{asked:?}");
}

#[tokio::test]
async fn what_is_unsafe_to_stop_is_asked_twice() {
    let delete = json!({"vmid": 105, "wait": 0});
    let (stopped, writes, asked) = left("delete_proxmox_vm", &delete, &[true, true]).await;
    assert_eq!((stopped, writes, asked.len()), (Left::Stopped, 2, 2));
    assert!(asked[1].contains("unsafe"), "{asked:?}");
    let (on, writes, _) = left("delete_proxmox_vm", &delete, &[true, false]).await;
    assert!(matches!(on, Left::GoesOn(_)));
    assert_eq!(writes, 1);
}

/// PVE takes the wish, and the task runs on.
#[tokio::test]
async fn what_does_not_stop_is_not_called_stopped() {
    let world = slow_world(State::Memory).await;
    let delete = json!({"vmid": 105, "wait": 0});
    let plan = begun(&world, "delete_proxmox_vm", &delete).await;
    let deaf = sim::Fault::answer("DELETE", "/nodes/*/tasks/*", Value::Null);
    world.sim.fault(deaf);
    let person = Person::saying(&[true, true]);
    let left = leave(&world.engine, &plan, CALLER, &person).await.unwrap();
    assert!(matches!(left, Left::GoesOn(_)), "{left:?}");
}
