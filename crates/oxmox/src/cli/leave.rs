//! Ctrl-C while a change is going on. It ends the waiting; whether it also ends the change is asked.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tools::engine::{Cancelled, Engine};
use tools::fault::Fault;
use tools::outcome::StepState;
use tools::words::continued;

use super::out;
use super::person::{self, Reply};

/// Somebody who may be asked. `None`: nobody is there, or they left.
pub trait Asks: Sync {
    /// Puts a question.
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Option<bool>>;
}

/// The person at this terminal. A second Ctrl-C is no answer.
#[derive(Debug)]
pub struct AtTerminal;

impl Asks for AtTerminal {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Option<bool>> {
        let question = format!("{question} [y/N] ");
        Box::pin(async move {
            if !person::is_there() {
                return None;
            }
            let answer = tokio::task::spawn_blocking(move || person::answer(&question));
            tokio::select! {
                answer = answer => answer.ok().map(|reply| reply != Reply::No),
                _ = tokio::signal::ctrl_c() => None,
            }
        })
    }
}

/// Asks about every change that this process is making for `caller`, and says how to follow what goes on.
pub async fn interrupted(engine: &Arc<Engine>, caller: &str, program: &str, person: &dyn Asks) {
    for plan in engine.at_work_for(caller).await {
        match leave(engine, &plan, caller, person).await {
            Ok(Left::Over) => {}
            Ok(Left::Stopped) => out::say("stopped"),
            Ok(Left::GoesOn(tasks)) => {
                for task in tasks {
                    out::say(format_args!("PVE goes on: {task}"));
                }
                out::hint(format_args!(
                    "`{program} call get_proxmox_task --upid {plan}` tells how it ends"
                ));
            }
            Err(fault) => out::fault(&fault),
        }
    }
}

/// How a change was left.
#[derive(Debug, PartialEq, Eq)]
pub enum Left {
    /// It had come to its end.
    Over,
    /// It was stopped.
    Stopped,
    /// PVE goes on with these steps, each with its task.
    GoesOn(Vec<String>),
}

/// Asks whether to stop a change, and again where that is unsafe.
pub async fn leave(
    engine: &Arc<Engine>,
    plan: &str,
    caller: &str,
    person: &dyn Asks,
) -> Result<Left, Fault> {
    let handle = engine.handle(plan).await?;
    if handle.ended {
        return Ok(Left::Over);
    }
    let question = format!(
        "\n{} is going on. Stop it too?",
        continued(&handle.outcome.summary)
    );
    if person.ask(&question).await != Some(true) {
        return goes_on(engine, plan).await;
    }
    let mut cancelled = engine.cancel(plan, caller).await?;
    if let Cancelled::Undecided(steps) = cancelled {
        let question = format!(
            "This is unsafe to stop, and may leave a guest or disk half-done: {}. Stop it all the same?",
            steps.join("; ")
        );
        let stop = person.ask(&question).await == Some(true);
        cancelled = engine.insist(plan, caller, stop).await?;
    }
    match cancelled {
        Cancelled::Over => Ok(Left::Over),
        Cancelled::Stopped => Ok(Left::Stopped),
        Cancelled::GoesOn(_) | Cancelled::Undecided(_) => goes_on(engine, plan).await,
    }
}

async fn goes_on(engine: &Arc<Engine>, plan: &str) -> Result<Left, Fault> {
    let steps = engine.handle(plan).await?.outcome.steps;
    let running = steps
        .into_iter()
        .filter(|step| step.state == StepState::Running)
        .map(|step| match step.task {
            Some(task) => format!("{} [{task}]", step.step),
            None => step.step,
        });
    Ok(Left::GoesOn(running.collect()))
}
