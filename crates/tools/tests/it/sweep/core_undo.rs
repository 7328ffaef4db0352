//! An undo is a call that its reader can make: with the toolset core alone, what undoes an example is callable and would
//! not be refused.

use std::sync::Arc;

use serde_json::{Value, json};
use tools::context::Context;
use tools::plan::Undo;
use tools::policy::{Mode, Policy};
use tools::registry::Registry;
use tools::spec::{Risk, Toolset};
use tools::tool::Ran;

use crate::house::{House, call, done, object};

/// Changes of which an example cannot be undone at once on the demo world, and why.
const LATER: &[(&str, &str)] = &[(
    "move_vm_disk",
    "a running VM lets go of no disk; once it is stopped, it does",
)];

#[tokio::test]
async fn with_core_alone_the_undo_of_every_example_can_be_planned() {
    let policy = Policy {
        mode: Mode::Trusted,
        ..Policy::default()
    };
    let (mut wrong, mut planned) = (Vec::new(), 0);
    for (tool, args) in super::changes() {
        let house = House::in_mode(Mode::Trusted).await;
        let name = tool.spec().name;
        let core = Context {
            registry: Arc::new(Registry::new(&[Toolset::Core], Risk::Grant, Vec::new())),
            ..house.context()
        };
        let Ok(Ran::Plan(plan)) = tool.run(object(args), &core).await else {
            panic!("{name} {args}: no plan");
        };
        let Undo::Call { tool, arguments } = &plan.undo else {
            continue;
        };
        if LATER.iter().any(|(later, _)| *later == name) {
            continue;
        }
        planned += 1;
        if !core.registry.can_call(tool) {
            wrong.push(format!("{name} {args}: {tool} cannot be called"));
            continue;
        }
        house.call(name, args).await.unwrap();
        let engine = house.engine_offering(&[Toolset::Core], policy.clone());
        let mut undo = call(tool, &Value::Object(arguments.clone()).to_string());
        undo.preview = true;
        match done(engine.call(undo, &crate::house::Nobody).await) {
            Ok(shown) if shown.data["blockers"] != json!([]) => {
                wrong.push(format!("{name} {args}: {tool}: {}", shown.text));
            }
            Ok(_) => {}
            Err(fault) => wrong.push(format!("{name} {args}: {tool}: {fault}")),
        }
    }
    eprintln!("{planned} undos were planned");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
