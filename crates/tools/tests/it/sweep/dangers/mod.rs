//! No dangerous request goes unasked, whichever tool sends it: every danger of the risk table is asked of every tool, alias
//! and raw call that can send it.

mod generator;
mod raw;

use std::collections::BTreeSet;

use tools::fault::Kind;
use tools::plan::Guard;
use tools::policy::{Decision, Mode, Policy};
use tools::registry;
use tools::risk::{Danger, dangers};
use tools::spec::Risk;
use tools::tool::{Ran, Tool};

use crate::house::House;
use generator::Generator;

/// Pairs of a tool and a danger for which nobody has found a call that works on the demo world. It may only shrink.
const WITHOUT_CALL: &str = include_str!("without_call.txt");

/// What became of asking a tool for a danger.
enum Asked {
    /// The plan that would send it asks, or it is refused.
    Held,
    /// It would be sent unasked.
    Unasked(String),
    /// No call of the tool sends it.
    NotSent,
}

#[tokio::test]
async fn no_tool_sends_a_danger_unasked() {
    let house = House::new().await;
    let generator = Generator::new(&house).await;
    let dangers = dangers();
    let (mut pairs, mut unasked, mut not_sent) = (0, Vec::new(), BTreeSet::new());
    let changes = registry::all().filter(|tool| tool.spec().risk > Risk::Read && !tool.relays());
    for tool in changes {
        for danger in dangers.iter().filter(|it| generator.can_send(tool, it)) {
            pairs += 1;
            match ask(&house, &generator, tool, danger).await {
                Asked::Held => {}
                Asked::Unasked(how) => unasked.push(how),
                Asked::NotSent => drop(not_sent.insert(pair(tool, danger))),
            }
        }
    }
    eprintln!(
        "{pairs} pairs of {} dangers, {} without a call",
        dangers.len(),
        not_sent.len()
    );
    assert!(dangers.len() >= 200, "{}", dangers.len());
    assert!(unasked.is_empty(), "unasked:\n{}", unasked.join("\n"));
    let known: BTreeSet<String> = WITHOUT_CALL.lines().map(str::to_owned).collect();
    let new: Vec<_> = not_sent.difference(&known).cloned().collect();
    assert!(new.is_empty(), "no call for\n{}", new.join("\n"));
    let done: Vec<_> = known.difference(&not_sent).cloned().collect();
    assert!(done.is_empty(), "there is a call for\n{}", done.join("\n"));
    assert!(
        not_sent.len() * 20 <= pairs,
        "{} of {pairs}",
        not_sent.len()
    );
}

/// "TOOL VERB PATH PARAM VALUE"
fn pair(tool: &dyn Tool, danger: &Danger) -> String {
    let mut words = vec![tool.spec().name.to_owned(), danger.verb.to_string()];
    words.push(danger.path.clone());
    words.extend(danger.param.clone());
    // Each value of a setting is a separate danger.
    if let [value] = danger.values.as_slice() {
        words.push(value.clone());
    }
    words.join(" ")
}

async fn ask(
    house: &House,
    generator: &Generator,
    tool: &'static dyn Tool,
    danger: &Danger,
) -> Asked {
    let policy = Policy {
        mode: Mode::Ask,
        ..Policy::default()
    };
    let mut held = false;
    for arguments in generator.calls(tool, danger) {
        let shown = serde_json::to_string(&arguments).unwrap();
        let plan = match tool.run(arguments, &house.context()).await {
            Ok(Ran::Plan(plan)) => plan,
            Err(fault) if fault.kind == Kind::Refused => return Asked::Held,
            // The cluster's own schema takes no such value.
            Err(fault) if fault.message.contains("would be refused") => {
                held = true;
                continue;
            }
            Ok(Ran::Answer(_)) | Err(_) => continue,
        };
        // A raw request can become another one, by the tool whose endpoint it is.
        let is_routed = tool.spec().name == raw::NAME && plan.proper.is_some();
        if !is_routed && !plan.requests().any(|it| generator::is_sent(danger, &it)) {
            continue;
        }
        // A guest that does not run is not interrupted, and is looked at again before anything is sent.
        if plan.guards.iter().any(|it| matches!(it, Guard::Stopped(_))) {
            held = true;
            continue;
        }
        return match policy.decide(&plan) {
            Decision::Run => Asked::Unasked(format!("{}: {shown}", pair(tool, danger))),
            Decision::Ask | Decision::Deny(_) => Asked::Held,
        };
    }
    if held { Asked::Held } else { Asked::NotSent }
}
