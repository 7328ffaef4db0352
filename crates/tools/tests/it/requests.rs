//! What the examples of all tools ask of PVE: reads as the simulator saw them, changes as they were planned. With
//! OXMOX_REQUESTS set it is written to that file, for judges that have schemas of their own.

use serde_json::{Value, json};
use tools::policy::Mode;
use tools::spec::Risk;
use tools::tool::{Ran, Tool};

use crate::house::{House, object};

/// A request, and the tool whose it is.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) tool: &'static str,
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) params: Vec<(String, String)>,
}

/// The requests of every example that runs on the demo world. What is read only to plan a change does not count.
pub(crate) async fn all() -> Vec<Asked> {
    let house = House::in_mode(Mode::Trusted).await;
    let mut asked = Vec::new();
    for (tool, args) in crate::sweep::examples() {
        house.sim.clear_requests();
        let ran = tool.run(object(args), &house.context()).await;
        match ran {
            Ok(Ran::Plan(plan)) => asked.extend(plan.requests().map(|request| {
                Asked {
                    tool: tool.spec().name,
                    verb: request.method.to_string(),
                    path: request.path.clone(),
                    params: (request.params.iter())
                        .map(|(name, value)| (name.clone(), written(value)))
                        .collect(),
                }
            })),
            _ if tool.spec().risk == Risk::Read => asked.extend(seen(&house, tool)),
            _ => {}
        }
    }
    asked
}

fn seen(house: &House, tool: &'static dyn Tool) -> Vec<Asked> {
    let requests = house.sim.requests();
    let reads = requests.iter().filter(|request| request.method == "GET");
    let asked = reads.map(|request| Asked {
        tool: tool.spec().name,
        verb: request.method.clone(),
        path: request.path.clone(),
        params: (request.params.iter())
            .flat_map(|(name, value)| values(value).map(move |value| (name.to_owned(), value)))
            .collect(),
    });
    asked.collect()
}

/// A list came in as the same name several times.
fn values(given: &sim::call::Given) -> impl Iterator<Item = String> {
    match given {
        sim::call::Given::Text(text) => vec![text.clone()],
        sim::call::Given::List(items) => items.clone(),
        sim::call::Given::Hash | sim::call::Given::Null => Vec::new(),
    }
    .into_iter()
}

/// A parameter as it goes out, with something in the place of a secret.
fn written(value: &pve::Value) -> String {
    match value {
        pve::Value::Bool(flag) => u8::from(*flag).to_string(),
        pve::Value::Int(number) => number.to_string(),
        pve::Value::Text(text) => text.clone(),
        pve::Value::Hole(_) | pve::Value::Filled(_) => "not-the-secret-1".to_owned(),
    }
}

#[tokio::test]
async fn they_are_written_down_for_other_judges() {
    let Some(file) = std::env::var_os("OXMOX_REQUESTS") else {
        return;
    };
    let lines = all().await.into_iter().map(|asked| {
        let Asked {
            tool,
            verb,
            path,
            params,
        } = asked;
        json!({"tool": tool, "method": verb, "path": path, "params": params})
    });
    let lines: Vec<Value> = lines.collect();
    assert!(lines.len() > 200, "{} requests", lines.len());
    std::fs::write(file, serde_json::to_string(&lines).unwrap()).unwrap();
}
