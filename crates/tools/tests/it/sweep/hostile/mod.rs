//! Text that guests or people chose comes back as data, and secrets come back nowhere.

mod corpus;
mod inside;
mod marks;
mod nodes;
mod places;
mod screens;
mod secrets;
mod terminals;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tools::fault::Fault;
use tools::policy::{Mode, Policy, Rule, Verdict};
use tools::spec::Toolset;
use tools::tool::{Answer as _, Rendered};

use sim::world::task::{TaskFault, TaskTrouble};

use crate::house::{House, Person};

/// What a pass over all tools gave.
#[derive(Default)]
struct Pass {
    /// What each call asked PVE for.
    asked: BTreeMap<String, BTreeSet<String>>,
    /// What was wrong with what was said.
    wrong: Vec<String>,
    /// Which texts were told, by which tools.
    told: BTreeSet<(usize, &'static str)>,
    /// The calls that were answered.
    answered: BTreeSet<String>,
}

/// A house in which every change asks, and who logs in, since terminals want that.
async fn asking() -> House {
    let everything = Rule {
        verdict: Some(Verdict::Ask),
        ..Rule::default()
    };
    House::logged_in_under(Policy {
        mode: Mode::Trusted,
        rules: vec![everything],
        ..Policy::default()
    })
    .await
}

/// What passes for more than data in an answer, and in what somebody was asked and told meanwhile.
fn wrong(answer: Result<Rendered, Fault>, person: &Person) -> Vec<String> {
    let mut wrong = Vec::new();
    match answer {
        Ok(answer) => {
            wrong.extend(marks::of_text(&answer.text));
            wrong.extend(marks::of_data(&Value::Object(answer.data)));
        }
        Err(fault) => {
            wrong.extend(marks::of_text(&fault.to_string()));
            let hint = fault.hint.unwrap_or_default();
            wrong.extend(marks::has_any(&hint).then(|| format!("in a hint: {hint}")));
        }
    }
    for question in person.asked.lock().unwrap().iter() {
        wrong.extend(marks::of_text(&question.outcome.text()));
    }
    for progress in person.progress.lock().unwrap().iter() {
        wrong.extend(marks::of_text(&progress.message));
    }
    wrong
}

/// Calls every tool there is with these texts in all places, and has the person say this to every change.
async fn pass(texts: &[String], person: fn() -> Person) -> Pass {
    let house = asking().await;
    places::fill(&house.sim, texts);
    pass_over(&house, person).await
}

/// Calls every tool there is in this house, and has the person say this to every change.
async fn pass_over(house: &House, person: fn() -> Person) -> Pass {
    let mut pass = Pass::default();
    for (tool, args) in super::examples().chain(super::login_examples()) {
        let name = tool.spec().name;
        let whose = format!("{name} {args}");
        house.sim.clear_requests();
        let person = person();
        let answer = house.ask(name, args, &person).await;
        pass.asked.insert(whose.clone(), requests(house));
        if let Ok(answer) = &answer {
            let data = Value::Object(answer.data.clone());
            let told = marks::told(&data).into_iter().map(|text| (text, name));
            pass.told.extend(told);
            pass.answered.insert(whose.clone());
        }
        let mut wrong = wrong(answer, &person);
        wrong.sort();
        wrong.dedup();
        pass.wrong
            .extend(wrong.into_iter().map(|it| format!("{whose}: {it}")));
    }
    pass
}

/// What PVE was asked for, without what tells the time: two runs do not keep the same. Once something was changed, how often
/// and when it is looked at is a matter of time, too; what is sent is not.
fn requests(house: &House) -> BTreeSet<String> {
    let requests = house.sim.requests();
    let has_changed = requests.iter().any(|it| is_write(&it.method, &it.path));
    let told = requests
        .iter()
        .filter(|it| !has_changed || is_write(&it.method, &it.path));
    let shown = told.map(|it| {
        let timeless = it.params.iter().filter(|(name, _)| *name != "since");
        let params: BTreeMap<_, _> = timeless.collect();
        format!("{} {} {params:?}", it.method, it.path)
    });
    shown.collect()
}

fn is_write(method: &str, path: &str) -> bool {
    method != "GET" && !path.starts_with("/access/ticket")
}

/// A pass with these texts, held against one with texts that want nothing.
async fn hold(texts: Vec<String>, person: fn() -> Person) -> Pass {
    let harmless: Vec<String> = texts.iter().map(|text| corpus::harmless(text)).collect();
    let (hostile, harmless) = (pass(&texts, person).await, pass(&harmless, person).await);
    let tools: BTreeSet<_> = hostile.told.iter().map(|(_, tool)| tool).collect();
    eprintln!(
        "{} texts, {} calls, {} answers, {} pairs of text and tool, {} tools tell them",
        corpus::CORPUS.len(),
        hostile.asked.len(),
        hostile.answered.len(),
        hostile.told.len(),
        tools.len()
    );
    assert!(hostile.wrong.is_empty(), "{}", hostile.wrong.join("\n"));
    for (whose, asked) in &hostile.asked {
        let differ: Vec<_> = asked.symmetric_difference(&harmless.asked[whose]).collect();
        assert!(
            differ.is_empty(),
            "{whose} asks for something else: {differ:#?}"
        );
    }
    hostile
}

#[tokio::test]
async fn hostile_text_is_data_in_answers_and_questions() {
    hold(corpus::singly(), Person::saying_no).await;
}

#[tokio::test]
async fn hostile_text_is_data_in_what_came_of_changes() {
    let pass = hold(corpus::in_company(), Person::saying_yes).await;
    for (number, (trick, _)) in corpus::CORPUS.iter().enumerate() {
        let tools = pass.told.iter().filter(|(text, _)| *text == number);
        let tools = tools.count();
        assert!(
            tools >= 5 || !super::all_of_them(),
            "{trick} is told by {tools} tools"
        );
    }
}

/// Tasks that fail, with these texts as their last line and as what they failed with.
#[tokio::test]
async fn hostile_text_is_data_in_what_went_wrong() {
    let mut failed = 0;
    let mut bad = Vec::new();
    let is_core = |tool: &&'static dyn tools::tool::Tool| tool.spec().toolset == Toolset::Core;
    let calls = super::changes().filter(|(tool, _)| is_core(tool));
    for ((tool, args), texts) in calls.zip(corpus::CORPUS.chunks(2).cycle()) {
        let house = asking().await;
        let [(_, line), .., (_, exit)] = texts else {
            panic!("the corpus has an odd number of texts");
        };
        house.sim.fault(sim::Fault::Task(TaskFault {
            kind: None,
            vmid: None,
            trouble: TaskTrouble::Fail {
                line: (*line).to_owned(),
                exit: (*exit).to_owned(),
            },
            times: None,
        }));
        let name = tool.spec().name;
        let person = Person::saying_yes();
        let answer = house.ask(name, args, &person).await;
        failed += usize::from(answer.is_err());
        let wrong = wrong(answer, &person).into_iter();
        bad.extend(wrong.map(|it| format!("{name} {args}: {it}")));
    }
    eprintln!("{failed} changes failed");
    assert!(failed > 10 || !super::all_of_them(), "{failed}");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
