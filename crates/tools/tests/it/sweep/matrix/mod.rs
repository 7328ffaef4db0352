//! The fault matrix: every step of every tool that changes something, times everything that can go wrong with it.
//!
//! A column is one thing that goes wrong, a cell one step of one example that it happens to. Each cell has a simulator of its
//! own; what the call says is held against what the simulator knows to be true. A tool is in here by being in the registry.
//!
//! docs/reliability.md says what the columns are and what comes of them; the test of the document holds it to that.

mod answers;
mod cases;
mod document;
mod places;
mod said;
mod store;
mod tasks;
mod truth;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use sim::Sim;
use tools::engine::State;
use tools::outcome::StepState;
use tools::plan::{Action, Plan, Step, Wait};
use tools::policy::Policy;
use tools::spec::Risk;

use cases::{Case, cases};
use said::Said;
use truth::Truth;

use crate::house::{House, Meanwhile, Ways, object};

/// How many cells run side by side: most of what each does is waiting.
const SIDE_BY_SIDE: usize = 8;

/// Longer than any cell takes, in seconds, however slow this machine is.
const LONG: u64 = 600;

/// One thing that goes wrong.
struct Column {
    /// As in docs/reliability.md.
    name: &'static str,
    /// What is said and done then, as in docs/reliability.md.
    comes: &'static str,
    /// The steps that it can happen to.
    meets: fn(&Plan, &Step) -> bool,
    /// How the engine reaches its cluster.
    ways: fn(&Step) -> Ways,
    /// Makes it happen to a step of a plan, once planning is over.
    strike: fn(&Sim, &Plan, &Step),
    /// What may be said of the step that it happens to.
    allows: fn(&Plan, &Step) -> Vec<StepState>,
    /// Whether the step has no effect though PVE says that it has.
    is_void: bool,
    /// What has to be said of a step that is not done, besides what always has.
    words: &'static [&'static str],
    /// For how many seconds the call is waited for. Past that, it goes on until everything works again.
    wait: u64,
    /// Tools of which it may be said that it is done all the same, and why nobody can know better.
    excuses: &'static [(&'static str, &'static str)],
    /// How often the request may come: more than once only where PVE has certainly not carried it out before.
    most: usize,
}

impl Column {
    const PLAIN: Self = Self {
        name: "",
        comes: "",
        meets: |_, _| true,
        ways: |_| Ways::default(),
        strike: |_, _, _| {},
        allows: |_, _| Vec::new(),
        is_void: false,
        words: &[],
        wait: LONG,
        excuses: &[],
        most: 1,
    };
}

/// A step of a plan that something happens to.
#[derive(Clone, Copy)]
struct Cell {
    case: &'static Case,
    index: usize,
}

impl Cell {
    fn step(&self) -> &'static Step {
        &self.case.plan.steps[self.index]
    }

    /// What it has in common with others: the tool, what it sends to which node, and what is waited for and read. Which
    /// guest it is makes no difference.
    fn sort(&self) -> String {
        let step = self.step();
        let (method, path) = request_of(step);
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let parts = path.split('/').map(|part| match part {
            part if is_number(part) => "#",
            part => part,
        });
        let path = parts.collect::<Vec<_>>().join("/");
        let types = match &step.wait {
            Wait::Task(trace) => trace.types.join(" "),
            Wait::Nothing => String::new(),
        };
        let reads = step.after.is_some();
        let tool = self.case.tool.spec().name;
        format!("{tool} {method} {path} {types} {reads}")
    }

    fn name(&self) -> String {
        let Case { tool, args, .. } = self.case;
        format!("{} {args}, step {}", tool.spec().name, self.index + 1)
    }
}

/// Every step of every tool that something can happen to; of those that are alike, one.
async fn cells(meets: fn(&Plan, &Step) -> bool) -> Vec<Cell> {
    let mut seen = BTreeSet::new();
    let cases = cases().await.iter();
    let cells = cases.flat_map(|case| {
        let indices = 0..case.plan.steps.len();
        indices.map(move |index| Cell { case, index })
    });
    cells
        .filter(|cell| meets(&cell.case.plan, cell.step()))
        .filter(|cell| seen.insert(cell.sort()))
        .collect()
}

/// Runs a column and says of every cell that is not as it should be what is wrong with it.
async fn hold(column: &Column) {
    let begun = Instant::now();
    let cells = cells(column.meets).await;
    let all = cells.len();
    let running = stream::iter(cells).map(async |cell| (cell, happen(cell, column).await));
    let ended: Vec<_> = running.buffer_unordered(SIDE_BY_SIDE).collect().await;
    eprintln!("{}: {all} cells in {:.1?}", column.name, begun.elapsed());
    report(column.name, &ended, column.excuses);
}

/// What became of a cell that is as it should be.
#[derive(PartialEq, Eq)]
enum Held {
    Right,
    /// It is not, and nobody can know.
    Excused,
}

fn report(column: &str, ended: &[(Cell, Result<Held, String>)], excuses: &[(&str, &str)]) {
    let mut wrong: Vec<_> = ended
        .iter()
        .filter_map(|(cell, held)| Some(format!("{}: {}", cell.name(), held.as_ref().err()?)))
        .collect();
    if super::all_of_them() {
        let used: BTreeSet<_> = ended
            .iter()
            .filter(|(_, held)| held == &Ok(Held::Excused))
            .map(|(cell, _)| cell.case.tool.spec().name)
            .collect();
        let needless = excuses.iter().filter(|(tool, _)| !used.contains(tool));
        wrong.extend(needless.map(|(tool, _)| format!("{tool} is excused and need not be")));
    }
    assert!(
        wrong.is_empty(),
        "{column}: {} of {} cells are wrong\n\n{}",
        wrong.len(),
        ended.len(),
        wrong.join("\n\n")
    );
}

/// One cell: a call during which something goes wrong, and what it says of it.
async fn happen(cell: Cell, column: &Column) -> Result<Held, String> {
    let Case { tool, args, plan } = cell.case;
    let step = cell.step();
    let mut ways = (column.ways)(step);
    ways.logs_in |= cell.case.logs_in();
    let house = cell.case.house().await;
    let house = house.going(&ways, Policy::default(), State::Memory);
    let before = Truth::before(&house.sim);
    let strike = || (column.strike)(&house.sim, plan, step);
    // What asks a person has been planned by then, and looking is over.
    if plan.risk() <= Risk::Change && !plan.raw {
        strike();
    }
    let name = tool.spec().name;
    let answer = house
        .ask(name, &waiting(args, column.wait), &Meanwhile(strike))
        .await;
    let said = Said::of(answer, plan);
    heal(&house);
    // What PVE works on by itself is closed as that; nobody of ours goes on with it.
    if said.goes_on() && house.audit().await.1.is_empty() {
        let plan = serde_json::json!({"upid": said.plan, "wait": LONG});
        let ended = house.call("get_proxmox_task", &plan.to_string()).await;
        ended.map_err(|fault| format!("its end cannot be seen: {fault}"))?;
    }
    let truth = Truth::after(&house, &before, cell.case).await;
    said.is_clear(step, cell.index, column.words)?;
    let is_excusable = column.excuses.iter().any(|(tool, _)| *tool == name);
    let is_excused = is_excusable && said.steps[cell.index].state == StepState::Done;
    if !is_excused {
        said.fits(&(column.allows)(plan, step), cell.index)?;
        truth.bears_out(&said, plan, column.is_void.then_some(step))?;
    }
    truth.was_sent_once(plan, step, column.most)?;
    let audit = house.audit().await;
    let is_closed = match audit.1.as_slice() {
        [end] => *end == said.word() || said.goes_on(),
        _ => false,
    };
    if audit.0 != 1 || !is_closed {
        return Err(format!("the audit trail has {audit:?}\n{}", said.text));
    }
    Ok(if is_excused {
        Held::Excused
    } else {
        Held::Right
    })
}

/// The same call by somebody who waits so many seconds for its end.
fn waiting(args: &str, seconds: u64) -> String {
    let mut args = object(args);
    // What calls another tool hands it over.
    let whose = match args.get_mut("arguments") {
        Some(serde_json::Value::Object(inner)) => inner,
        _ => &mut args,
    };
    whose.insert("wait".to_owned(), seconds.into());
    serde_json::Value::Object(args).to_string()
}

/// Everything works again, and whatever was under way has come to its end.
fn heal(house: &House) {
    house.sim.clear_faults();
    let nodes: Vec<String> = house
        .sim
        .world(|world| world.nodes.keys().cloned().collect());
    for node in nodes {
        house.sim.set_online(&node, true);
    }
    house.sim.world(|world| world.quorum_lost = false);
    house.sim.advance(Duration::from_hours(1));
}

/// "POST" and "/nodes/pve1/qemu/105/clone", as the simulator tells it: decoded.
fn request_of(step: &Step) -> (String, String) {
    let request = step.action.request();
    (request.method.to_string(), pve::decode_value(&request.path))
}

fn has_task(_: &Plan, step: &Step) -> bool {
    matches!(step.wait, Wait::Task(_))
}

/// Whether it is sent as soon as anything is.
fn is_first(plan: &Plan, step: &Step) -> bool {
    step.group == plan.steps[0].group
}

/// Whether what the step begins with only opens the way for what it does.
fn only_opens(step: &Step) -> bool {
    matches!(
        step.action,
        Action::Keys(_) | Action::TerminalLine(_) | Action::TerminalExec(_)
    )
}

/// Whether it is a look, and changes nothing on the cluster.
fn only_looks(step: &Step) -> bool {
    request_of(step).0 == "GET"
}
