//! The disk of the store is full from some moment of a call on. What was done is done whether or not it can be written down;
//! what cannot be written down beforehand is not sent. Once there is room again, the audit trail is closed by looking.

use std::path::Path;
use std::time::Instant;

use futures_util::{StreamExt as _, stream};
use rusqlite::Connection;
use tools::engine::State;
use tools::outcome::StepState;
use tools::plan::Plan;
use tools::policy::Policy;

use super::said::Said;
use super::truth::Truth;
use super::{Case, Cell, Held, LONG, SIDE_BY_SIDE, cells, heal, report, waiting};
use crate::house::{House, Person, Ways};

/// When the disk becomes full.
pub(super) struct Moment {
    /// As in docs/reliability.md.
    pub(super) name: &'static str,
    /// The same.
    pub(super) comes: &'static str,
    /// What cannot be written from then on: an event of a table, and when it counts.
    fails: &'static [(&'static str, &'static str)],
    /// Whether it is before anything was sent.
    is_before: bool,
    /// Whether what comes after the first step is held back.
    ends_there: bool,
    /// How many entries the audit trail has opened, once there is room again.
    opened: usize,
}

/// The closing entry, and what is kept with it.
const CLOSING: [(&str, &str); 2] = [
    ("UPDATE OF outcome ON plans", "1"),
    ("INSERT ON audit", "NEW.entry LIKE '%\"kind\":\"closed\"%'"),
];

pub(super) const AT_FIRST: Moment = Moment {
    name: "full store: before the opening entry",
    comes: "nothing is sent, and that is said.",
    fails: &[
        ("INSERT ON plans", "1"),
        ("INSERT ON handles", "1"),
        ("INSERT ON audit", "1"),
    ],
    is_before: true,
    ends_there: true,
    opened: 0,
};

pub(super) const AT_TAKING: Moment = Moment {
    name: "full store: right before a step is sent",
    comes: "`failed`: it is not sent, as nobody could tell later that it may have been.",
    fails: &[("UPDATE ON steps", "1"), CLOSING[0], CLOSING[1]],
    is_before: true,
    ends_there: true,
    opened: 1,
};

pub(super) const AFTER_SENDING: Moment = Moment {
    name: "full store: after the first step was sent",
    comes: "what was done is said to be done, and that it could not be written down; no further step is sent.",
    fails: &[
        (
            "UPDATE ON steps",
            "EXISTS (SELECT 1 FROM steps WHERE plan = NEW.plan AND before IS NOT NULL)",
        ),
        CLOSING[0],
        CLOSING[1],
    ],
    is_before: false,
    ends_there: true,
    opened: 1,
};

pub(super) const AT_CLOSING: Moment = Moment {
    name: "full store: at the closing entry",
    comes: "what was done is said to be done, and that it could not be written down.",
    fails: &CLOSING,
    is_before: false,
    ends_there: false,
    opened: 1,
};

/// Leaves no room for what the moment names.
fn fill(dir: &Path, moment: &Moment) {
    let database = Connection::open(dir.join("oxmox.db")).unwrap();
    for (number, (event, when)) in moment.fails.iter().enumerate() {
        let trigger = format!(
            "CREATE TRIGGER full_{number} BEFORE {event} WHEN {when}
             BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        );
        database.execute_batch(&trigger).unwrap();
    }
}

/// There is room again.
fn empty(dir: &Path, moment: &Moment) {
    let database = Connection::open(dir.join("oxmox.db")).unwrap();
    for number in 0..moment.fails.len() {
        let drop = format!("DROP TRIGGER full_{number}");
        database.execute_batch(&drop).unwrap();
    }
}

/// Each plan once: the store knows nothing of what its steps are.
pub(super) async fn plans() -> Vec<Cell> {
    cells(|plan, step| std::ptr::eq(step, &raw const plan.steps[0])).await
}

async fn hold(moment: &Moment) {
    let begun = Instant::now();
    let cells = plans().await;
    let all = cells.len();
    let running = stream::iter(cells).map(async |cell| (cell, happen(cell.case, moment).await));
    let ended: Vec<_> = running.buffer_unordered(SIDE_BY_SIDE).collect().await;
    eprintln!("{}: {all} cells in {:.1?}", moment.name, begun.elapsed());
    report(moment.name, &ended, &[]);
}

async fn happen(case: &Case, moment: &Moment) -> Result<Held, String> {
    let Case { tool, args, plan } = case;
    let dir = tempfile::tempdir().unwrap();
    let ways = Ways {
        logs_in: case.logs_in(),
        ..Ways::default()
    };
    let state = State::Dir(dir.path().to_owned());
    let house = case.house().await.going(&ways, Policy::default(), state);
    house.engine.store().await.unwrap();
    fill(dir.path(), moment);
    let before = Truth::before(&house.sim);
    let person = Person::saying_yes();
    let answer = house
        .ask(tool.spec().name, &waiting(args, LONG), &person)
        .await;
    let said = Said::of(answer, plan);
    empty(dir.path(), moment);
    heal(&house);
    let truth = Truth::after(&house, &before, case).await;
    truth.bears_out(&said, plan, None)?;
    truth.was_sent_once(plan, &plan.steps[0], 1)?;
    tells_of_it(&said, plan, moment)?;
    closes(&house, &said, moment).await?;
    Ok(Held::Right)
}

/// What is true and what to do about the disk are said.
fn tells_of_it(said: &Said, plan: &Plan, moment: &Moment) -> Result<(), String> {
    let wrong = |what: &str| Err(format!("{what}\n{}", said.text));
    let mut states = said.steps.iter().map(|step| step.state);
    let both = plan.steps.iter().zip(&said.steps);
    let mut later = both.filter(|(step, _)| step.group > plan.steps[0].group);
    if moment.ends_there && later.any(|(_, known)| known.state == StepState::Done) {
        return wrong("something was sent that could not be written down beforehand");
    }
    let words: &[&str] = if moment.is_before {
        if states.any(|state| state != StepState::NotSent && state != StepState::Failed) {
            return wrong("something was sent");
        }
        &["disk is full", "not", "sent"]
    } else {
        let first = states.next();
        if first != Some(StepState::Done) {
            return wrong("what was done is not said to be done");
        }
        let is_all_done = states.all(|state| state == StepState::Done);
        if plan.steps.len() == 1 && !is_all_done {
            return wrong("what was done is not said to be done");
        }
        &["disk is full", "could not be written into the audit trail"]
    };
    match words.iter().find(|word| !said.text.contains(**word)) {
        Some(word) => wrong(&format!("{word:?} is not said")),
        None => Ok(()),
    }
}

/// The trail has an end, and no other than the call has told.
async fn closes(house: &House, said: &Said, moment: &Moment) -> Result<(), String> {
    let left_open = house.engine.close_left_open().await;
    left_open.map_err(|fault| format!("it cannot be closed: {fault}"))?;
    let (opened, closed) = house.audit().await;
    // Whoever looks later may know less than the one who sent it, and never the opposite.
    let allowed: &[&str] = match said.word() {
        "applied" => &["applied", "unknown"],
        "failed" if moment.is_before => &["not_applied", "failed"],
        "failed" => &["failed", "unknown"],
        other => &[other],
    };
    let fits = closed.iter().all(|word| allowed.contains(&word.as_str()));
    if opened != moment.opened || closed.len() != opened || !fits {
        return Err(format!(
            "the audit trail has {opened} opened and closed {closed:?}\n{}",
            said.text
        ));
    }
    Ok(())
}

#[tokio::test]
async fn full_at_first() {
    hold(&AT_FIRST).await;
}

#[tokio::test]
async fn full_at_taking() {
    hold(&AT_TAKING).await;
}

#[tokio::test]
async fn full_after_sending() {
    hold(&AFTER_SENDING).await;
}

#[tokio::test]
async fn full_at_closing() {
    hold(&AT_CLOSING).await;
}
