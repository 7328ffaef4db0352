//! A program inside of a guest, which writes what it likes where somebody looks.

use serde_json::Value;
use sim::world::agent::Program;
use sim::world::shell::Outcome;
use tools::tool::Rendered;

use super::marks;
use crate::house::{House, Person};

/// What the program is called. It is typed on keyboards, so that every letter is a key.
pub(super) const PROGRAM: &str = "spew";
/// What it ends with, for those who wait for it.
pub(super) const END: &str = "spewed all";

/// Gives the program to a guest, with this text to write.
pub(super) fn install(house: &House, vmid: u32, text: &str) {
    let outcome = Outcome {
        out: format!("{text}\n{END}\n").into_bytes(),
        ..Outcome::default()
    };
    let line = PROGRAM.to_owned();
    house.sim.world(|world| {
        let guest = world.guests.get_mut(&vmid).unwrap();
        guest.agent.programs.push(Program { line, outcome });
    });
}

/// What a look gave.
pub(super) struct Look {
    /// The text that was recognised, or that came.
    pub(super) shown: String,
    /// What is wrong with what was said about it.
    pub(super) wrong: Vec<String>,
    /// Which texts of the corpus it tells.
    pub(super) told: Vec<usize>,
}

/// Calls a tool that shows what is inside, with somebody who agrees to it.
pub(super) async fn look(house: &House, tool: &str, args: &str) -> Look {
    let person = Person::saying_yes();
    let answer = house.ask(tool, args, &person).await;
    let answer = answer.unwrap_or_else(|fault| panic!("{tool} {args}: {fault}"));
    let data = Value::Object(answer.data.clone());
    let shown = shown(&data).unwrap_or_else(|| panic!("{tool} {args} shows nothing: {data:#}"));
    let told = marks::told(&Value::from(shown));
    let mut wrong = marks::not_set_off(&answer.text, shown);
    let shown = shown.to_owned();
    wrong.extend(kept(house, &answer).await);
    wrong.extend(super::wrong(Ok(answer), &person));
    let wrong = wrong.into_iter().map(|it| format!("{tool} {args}: {it}"));
    Look {
        shown,
        wrong: wrong.collect(),
        told,
    }
}

/// The text of the guest in the data of an answer: of a look, or of what came of a change.
fn shown(data: &Value) -> Option<&str> {
    let result = &data["steps"][0]["result"];
    let places = ["screen", "terminal", "output"].map(|name| &result[name]);
    let mut places = places.into_iter().chain([&data["text"]]);
    places.find_map(Value::as_str)
}

/// What is wrong with what is told later of a change whose outcome was kept.
async fn kept(house: &House, answer: &Rendered) -> Vec<String> {
    let Some(plan) = answer.data.get("plan") else {
        return Vec::new();
    };
    let args = format!(r#"{{"upid": {plan}}}"#);
    let answer = house.call("get_proxmox_task", &args).await;
    super::wrong(answer, &Person::saying_no())
}
