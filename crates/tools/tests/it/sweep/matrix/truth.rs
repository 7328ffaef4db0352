//! What really happened, as only the simulator knows it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use sim::Sim;
use tools::outcome::StepState;
use tools::plan::{Action, Check, Plan, Step, Wait};

use super::cases::Case;
use super::said::Said;
use super::{only_looks, only_opens, request_of};
use crate::house::House;

/// How things stood before the call.
pub(super) struct Before {
    tasks: BTreeSet<String>,
}

/// How things stand once everything works again.
pub(super) struct Truth {
    /// How often each request came, whatever became of it.
    arrived: BTreeMap<String, usize>,
    /// How often each was carried out.
    carried_out: BTreeMap<String, usize>,
    /// How often each was answered with 595: it never came to the node that it was for.
    unreached: BTreeMap<String, usize>,
    /// Kind, id and end of each new task.
    tasks: Vec<(String, String, String)>,
    /// Whether what each step should bring about is so.
    is_so: Vec<bool>,
    /// How many bytes came to terminals.
    typed: usize,
    /// Whether a client was let in to a screen.
    console_joined: bool,
}

impl Truth {
    pub(super) fn before(sim: &Sim) -> Before {
        let tasks = sim.world(|world| world.tasks.iter().map(|it| it.upid.to_string()).collect());
        Before { tasks }
    }

    pub(super) async fn after(house: &House, before: &Before, case: &Case) -> Self {
        let mut arrived = BTreeMap::new();
        for request in house.sim.arrivals() {
            *arrived.entry(request).or_default() += 1;
        }
        let (mut carried_out, mut unreached) = (BTreeMap::new(), BTreeMap::new());
        for request in house.sim.requests() {
            let counted = match request.status {
                200..300 => &mut carried_out,
                595 => &mut unreached,
                _ => continue,
            };
            let name = format!("{} {}", request.method, request.path);
            *counted.entry(name).or_default() += 1;
        }
        let tasks = house.sim.world(|world| {
            let new = world
                .tasks
                .iter()
                .filter(|it| !before.tasks.contains(&it.upid.to_string()));
            let told = new.map(|it| {
                let end = it.end.as_ref().map(|end| end.status.clone());
                let end = end.unwrap_or_default();
                (it.upid.kind.clone(), it.upid.id.clone(), end)
            });
            told.collect()
        });
        let console_joined = house
            .sim
            .requests()
            .iter()
            .any(|request| request.status == 101);
        let reader = house.reader(case.logs_in());
        let mut is_so = Vec::new();
        for step in &case.plan.steps {
            is_so.push(match &step.after {
                None => true,
                Some(check) => holds(&reader, check).await,
            });
        }
        Self {
            arrived,
            carried_out,
            unreached,
            tasks,
            is_so,
            typed: house.typed(),
            console_joined,
        }
    }

    /// Whether what was said is true: done is what was done, failed what was not, and what was not sent never came. `void` is
    /// a step that has no effect, whatever PVE says.
    pub(super) fn bears_out(
        &self,
        said: &Said,
        plan: &Plan,
        void: Option<&Step>,
    ) -> Result<(), String> {
        let wrong = |what: &str, step: &Step| {
            let tasks = &self.tasks;
            Err(format!(
                "{what}: {}\ntasks: {tasks:?}\n{}",
                step.says, said.text
            ))
        };
        let mut stopped_at = None;
        for (index, (step, known)) in plan.steps.iter().zip(&said.steps).enumerate() {
            let is_void = void.is_some_and(|void| request_of(void) == request_of(step));
            // A later step may undo what an earlier one brought about, as a start does with a stop.
            let mut later = plan.steps.iter().filter(|it| it.group > step.group);
            let is_last = !later.any(|it| self.came(it, plan));
            let is_so = self.is_so[index] || !is_last;
            let was_done = !is_void && self.was_carried_out(step) && is_so;
            match known.state {
                StepState::Done if !was_done => return wrong("said to be done, and is not", step),
                // What only looks has not failed PVE, but whoever wanted to see it.
                StepState::Failed if was_done && !only_looks(step) => {
                    return wrong("said to have failed, and is done", step);
                }
                StepState::NotSent if self.came(step, plan) => {
                    return wrong("said not to be sent, and came", step);
                }
                _ => {}
            }
            if let Some(group) = stopped_at
                && step.group > group
                && known.state != StepState::NotSent
            {
                return wrong("sent after a step that was not done", step);
            }
            if known.state != StepState::Done {
                stopped_at = stopped_at.or(Some(step.group));
            }
        }
        Ok(())
    }

    /// Whether nothing came more often than the plan has it; the step that something happened to, `most` times. What never
    /// came to its node may be sent once more: a node that goes down takes the steps beside the struck one with it.
    pub(super) fn was_sent_once(
        &self,
        plan: &Plan,
        struck: &Step,
        most: usize,
    ) -> Result<(), String> {
        for (name, times) in &self.arrived {
            if name.starts_with("GET ") || is_no_change(name) {
                continue;
            }
            let planned = plan.steps.iter().filter(|step| name_of(step) == *name);
            let each = if name_of(struck) == *name { most } else { 1 };
            let planned = planned.count();
            let unreached = self.unreached.get(name).copied().unwrap_or_default();
            let allowed = planned * each + unreached.min(planned);
            if *times > allowed {
                return Err(format!("{name} came {times} times instead of {allowed}"));
            }
        }
        Ok(())
    }

    fn was_carried_out(&self, step: &Step) -> bool {
        match step.action {
            // Looking at a terminal opens it, too; only typing types.
            Action::TerminalLine(_) | Action::TerminalExec(_) => return self.typed > 0,
            Action::Keys(_) => return self.console_joined,
            _ => {}
        }
        self.carried_out.contains_key(&name_of(step)) && self.had_good_end(step)
    }

    /// Whether the task of a step, if it has one, ended well.
    fn had_good_end(&self, step: &Step) -> bool {
        let Wait::Task(trace) = &step.wait else {
            return true;
        };
        let vmid = trace.vmid.map(|vmid| vmid.to_string());
        let mut own = self.tasks.iter().filter(|(kind, id, _)| {
            trace.types.contains(kind) && vmid.as_ref().is_none_or(|vmid| vmid == id)
        });
        own.any(|(.., end)| end == "OK" || end.starts_with("WARNINGS"))
    }

    /// Whether anything of a step came that only this one sends.
    fn came(&self, step: &Step, plan: &Plan) -> bool {
        if only_opens(step) {
            return self.was_carried_out(step);
        }
        let alike = plan.steps.iter().filter(|it| name_of(it) == name_of(step));
        alike.count() == 1 && self.arrived.contains_key(&name_of(step)) && !is_get(step)
    }
}

fn name_of(step: &Step) -> String {
    let (method, path) = request_of(step);
    format!("{method} {path}")
}

fn is_get(step: &Step) -> bool {
    request_of(step).0 == "GET"
}

/// Logins, and consoles that are opened to look at.
fn is_no_change(name: &str) -> bool {
    ["/access/ticket", "/vncproxy", "/termproxy"]
        .iter()
        .any(|end| name.ends_with(end))
}

/// Whether all of it is so.
async fn holds(reader: &pve::Reader, check: &Check) -> bool {
    for part in check.all() {
        match reader.get::<Value>(part.read.clone()).await {
            Ok(answer) if part.holds(&answer) => {}
            _ => return false,
        }
    }
    true
}
