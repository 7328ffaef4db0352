//! What a tool asks for cannot be got round by the API: each request that a tool would send, sent by write_proxmox_api, is at
//! least as grave, and about the same guests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tools::fault::Kind;
use tools::plan::Plan;
use tools::policy::Mode;
use tools::spec::Risk;
use tools::tool::{Ran, Tool};

use crate::house::{House, object};

/// Tools that are graver than the requests that they send, and why that lies in something else.
const GRAVER: &[(&str, &str)] = &[];

/// Tools that are about guests that are not in the requests that they send, and why.
const ABOUT_MORE: &[(&str, &str)] = &[];

/// What the API says of what a tool would send.
#[derive(Default)]
struct Raw {
    risk: Option<Risk>,
    guests: BTreeSet<u32>,
    /// Some of it is not sent by the API at all.
    refused: bool,
    wrong: Vec<String>,
}

#[tokio::test]
async fn the_api_is_no_easier_than_the_tools() {
    let token = House::in_mode(Mode::Trusted).await;
    let login = House::logged_in(Mode::Trusted).await;
    let changing = super::login_examples().filter(|(tool, _)| tool.spec().risk > Risk::Read);
    let with_login = changing.map(|(tool, args)| (&login, tool, args));
    let more = super::full::MORE.iter().filter_map(|(name, args)| {
        let tool = tools::registry::find_change(name).ok()?;
        super::changes()
            .any(|(it, _)| it.spec().name == *name)
            .then_some((tool, *args))
    });
    let with_token = super::changes().chain(more);
    let with_token = with_token.map(|(tool, args)| (&token, tool, args));
    let mut wrong = Vec::new();
    let (mut compared, mut used) = (0, BTreeSet::new());
    for (house, tool, args) in with_token.chain(with_login) {
        let name = tool.spec().name;
        let Ok(Ran::Plan(plan)) = tool.run(object(args), &house.context()).await else {
            panic!("{name} {args}: no plan");
        };
        if plan.steps.is_empty() {
            continue;
        }
        let raw = raw(house, &plan).await;
        wrong.extend(raw.wrong.iter().map(|why| format!("{name} {args}: {why}")));
        if raw.refused || !raw.wrong.is_empty() {
            continue;
        }
        compared += 1;
        if raw.risk < Some(plan.risk()) {
            used.insert(("graver", name));
            if GRAVER.iter().all(|(known, _)| *known != name) {
                wrong.push(format!(
                    "{name} {args}: risk {}, by the API {:?}",
                    plan.risk().word(),
                    raw.risk
                ));
            }
        }
        let guests = plan.targets.iter().map(|target| target.at.vmid.get());
        let unbound: Vec<_> = guests.filter(|vmid| !raw.guests.contains(vmid)).collect();
        if !unbound.is_empty() {
            used.insert(("about more", name));
            if ABOUT_MORE.iter().all(|(known, _)| *known != name) {
                wrong.push(format!("{name} {args}: not about {unbound:?} by the API"));
            }
        }
    }
    eprintln!("{compared} plans were compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let graver = GRAVER.iter().map(|(name, _)| ("graver", *name));
    let reviewed = graver.chain(ABOUT_MORE.iter().map(|(name, _)| ("about more", *name)));
    let idle: Vec<_> = reviewed.filter(|it| !used.contains(it)).collect();
    assert!(!super::all_of_them() || idle.is_empty(), "{idle:?}");
}

async fn raw(house: &House, plan: &Plan) -> Raw {
    let mut raw = Raw::default();
    for (at, request) in plan.requests().enumerate() {
        let mut params: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for (name, value) in &request.params {
            let value = match value {
                pve::Value::Bool(flag) => json!(flag),
                pve::Value::Int(number) => json!(number),
                pve::Value::Text(text) => json!(text),
                pve::Value::Hole(_) | pve::Value::Filled(_) => json!("correct-horse-1"),
            };
            params.entry(name).or_default().push(value);
        }
        let one_or_all = |mut values: Vec<Value>| match values.len() {
            1 => values.remove(0),
            _ => Value::Array(values),
        };
        let params: Map<_, _> = params
            .into_iter()
            .map(|(name, values)| (name.to_owned(), one_or_all(values)))
            .collect();
        let args =
            json!({"method": request.method.as_str(), "path": request.path, "params": params});
        let Value::Object(arguments) = args.clone() else {
            continue;
        };
        match write_api().run(arguments, &house.context()).await {
            Ok(Ran::Plan(plan)) => {
                raw.risk = raw.risk.max(Some(plan.risk()));
                let guests = plan.targets.iter().map(|target| target.at.vmid.get());
                raw.guests.extend(guests);
            }
            Ok(Ran::Answer(_)) => raw.wrong.push("an answer".to_owned()),
            Err(fault) if matches!(fault.kind, Kind::Refused | Kind::Conflict) => {
                raw.refused = true;
            }
            // What the steps before it bring about is not there yet.
            Err(_) if at > 0 => {}
            Err(fault) => raw.wrong.push(format!("{args}: {fault}")),
        }
    }
    raw
}

fn write_api() -> &'static dyn Tool {
    let mut tools = tools::registry::all();
    let found = tools.find(|tool| tool.spec().name == "write_proxmox_api");
    found.unwrap()
}
