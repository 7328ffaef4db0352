//! Whatever goes wrong with a write, at whichever step: it is sent once, what came of it is found out or said to be
//! unknown, nothing after it is sent, and the audit trail is closed.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use sim::Fault;
use tools::plan::{Action, Plan, Step, Wait};
use tools::policy::Mode;
use tools::tool::{Ran, Tool};

use crate::house::{House, object};

/// The plan of an example on a fresh demo world.
async fn planned(tool: &'static dyn Tool, args: &str) -> (House, Plan) {
    let house = House::in_mode(Mode::Trusted).await;
    let ran = tool.run(object(args), &house.context()).await;
    match ran {
        Ok(Ran::Plan(plan)) => (house, *plan),
        Ok(Ran::Answer(_)) => panic!("{} gave an answer", tool.spec().name),
        Err(fault) => panic!("{} {args}: {fault}", tool.spec().name),
    }
}

/// "POST /nodes/pve1/qemu/105/clone" of each step, as the simulator tells it: decoded.
fn requests(plan: &Plan) -> Vec<(String, String)> {
    plan.requests()
        .map(|request| (request.method.to_string(), request.path.replace("%2F", "/")))
        .collect()
}

/// Whether what the step begins with only opens the way for what it does.
fn only_opens(step: &Step) -> bool {
    matches!(step.action, Action::Keys(_))
}

/// No write was sent more often than the plan has it.
fn sent_once(house: &House, plan: &Plan, place: &str) {
    let count = |writes: Vec<String>| {
        let mut counts = BTreeMap::new();
        for write in writes {
            *counts.entry(write).or_insert(0) += 1;
        }
        counts
    };
    let allowed = count(
        requests(plan)
            .into_iter()
            .map(|(method, path)| format!("{method} {path}"))
            .collect(),
    );
    for (write, times) in count(house.writes()) {
        let most = allowed.get(&write).copied().unwrap_or(0);
        assert!(times <= most, "{place}: {write} was sent {times} times");
    }
}

/// Whether the line that begins so names this step.
fn lists(said: &str, begin: &str, step: &str) -> bool {
    let mut lines = said.lines().filter_map(|line| line.strip_prefix(begin));
    lines.any(|steps| steps.split("; ").any(|named| named == step))
}

#[tokio::test]
async fn a_refused_step_ends_it_and_says_what_was_done() {
    for (tool, args) in super::changes() {
        let steps = planned(tool, args).await.1.steps.len();
        for refused in 0..steps {
            let (house, plan) = planned(tool, args).await;
            let place = format!("{} {args}, step {refused}", tool.spec().name);
            let (method, path) = &requests(&plan)[refused];
            let fault = Fault::refuse(500, "the sky is falling");
            house.sim.fault(fault.on(method, path));
            let said = house
                .call(tool.spec().name, args)
                .await
                .map_or_else(|fault| fault.to_string(), |answer| answer.text);
            assert!(said.contains("the sky is falling"), "{place}: {said}");
            let group = plan.steps[refused].group;
            for step in &plan.steps {
                let (list, other) = match step.group.cmp(&group) {
                    Ordering::Less => ("done before: ", "not sent: "),
                    Ordering::Equal => continue,
                    Ordering::Greater => ("not sent: ", "done before: "),
                };
                let says = &step.says;
                assert!(
                    lists(&said, list, says) && !lists(&said, other, says),
                    "{place}: {says:?} belongs under {list:?} alone in {said}",
                );
            }
            sent_once(&house, &plan, &place);
            assert_eq!(
                house.audit().await,
                (1, vec!["failed".to_owned()]),
                "{place}"
            );
        }
    }
}

#[tokio::test]
async fn a_lost_answer_is_found_out_or_unknown_and_never_sent_again() {
    for (tool, args) in super::changes() {
        let steps = planned(tool, args).await.1.steps.len();
        for lost in 0..steps {
            let (house, plan) = planned(tool, args).await;
            let place = format!("{} {args}, step {lost}", tool.spec().name);
            let (method, path) = &requests(&plan)[lost];
            house
                .sim
                .fault(Fault::drop_after().on(method, path).times(1));
            let answer = house.call(tool.spec().name, args).await;
            if only_opens(&plan.steps[lost]) {
                let fault = answer.unwrap_err().to_string();
                assert!(fault.contains("no key was pressed"), "{place}: {fault}");
                continue;
            }
            let answer = answer.unwrap_or_else(|fault| panic!("{place}: {fault}"));
            let status = answer.data["status"].as_str().unwrap().to_owned();
            assert!(
                ["applied", "unknown"].contains(&status.as_str()),
                "{place}: {}",
                answer.text
            );
            // A task leaves a trace in the node's own list: there is no excuse for not knowing.
            if matches!(plan.steps[lost].wait, Wait::Task(_)) {
                assert_eq!(status, "applied", "{place}: {}", answer.text);
            }
            sent_once(&house, &plan, &place);
            assert_eq!(house.audit().await, (1, vec![status]), "{place}");
        }
    }
}

#[tokio::test]
async fn what_never_arrived_is_not_called_applied() {
    for (tool, args) in super::changes() {
        let steps = planned(tool, args).await.1.steps.len();
        for lost in 0..steps {
            let (house, plan) = planned(tool, args).await;
            let place = format!("{} {args}, step {lost}", tool.spec().name);
            let (method, path) = &requests(&plan)[lost];
            house.sim.fault(Fault::drop_before().on(method, path));
            let answer = house.call(tool.spec().name, args).await;
            if only_opens(&plan.steps[lost]) {
                let fault = answer.unwrap_err().to_string();
                assert!(fault.contains("no key was pressed"), "{place}: {fault}");
                continue;
            }
            let answer = answer.unwrap_or_else(|fault| panic!("{place}: {fault}"));
            assert_eq!(answer.data["status"], "unknown", "{place}: {}", answer.text);
            assert_eq!(answer.data["steps"][lost]["state"], "unknown", "{place}");
            let write = format!("{method} {path}");
            assert!(!house.writes().contains(&write), "{place}: {write}");
            sent_once(&house, &plan, &place);
            assert_eq!(
                house.audit().await,
                (1, vec!["unknown".to_owned()]),
                "{place}"
            );
        }
    }
}

#[tokio::test]
async fn a_failed_task_is_told_with_its_log() {
    for (tool, args) in super::changes() {
        let steps = planned(tool, args).await.1.steps;
        for step in steps {
            let Wait::Task(trace) = &step.wait else {
                continue;
            };
            let place = format!("{} {args}, {}", tool.spec().name, step.says);
            let (house, plan) = planned(tool, args).await;
            for kind in &trace.types {
                let fault = Fault::fail_task(kind, "the cat sat on it", "no paws left");
                house.sim.fault(match trace.vmid {
                    Some(vmid) => fault.vmid(vmid.get()),
                    None => fault,
                });
            }
            let said = house
                .call(tool.spec().name, args)
                .await
                .map_or_else(|fault| fault.to_string(), |answer| answer.text);
            for part in ["no paws left", "the cat sat on it", step.says.as_str()] {
                assert!(
                    said.contains(part),
                    "{place}: {part:?} is missing in {said}"
                );
            }
            sent_once(&house, &plan, &place);
            assert_eq!(
                house.audit().await,
                (1, vec!["failed".to_owned()]),
                "{place}"
            );
        }
    }
}
