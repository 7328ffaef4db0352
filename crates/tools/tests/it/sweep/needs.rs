//! What a tool declares to take holds for its plans: who can make one of them is not told to have no use for the tool, and no
//! plan takes what was not declared.

use std::collections::BTreeMap;

use pve::Permissions;
use serde_json::json;
use tools::plan::Needs;
use tools::tool::{Ran, Tool};

use crate::house::{House, object};

/// Every right that a tree names.
fn rights(needs: &Needs) -> Vec<(String, String)> {
    match needs {
        Needs::Nothing => Vec::new(),
        Needs::Has { privilege, path } => vec![(path.clone(), privilege.clone())],
        Needs::All(parts) | Needs::Any(parts) => parts.iter().flat_map(rights).collect(),
    }
}

/// Rights on just these paths, not below them.
fn exactly(rights: &[(String, String)]) -> Permissions {
    let mut paths: BTreeMap<&str, BTreeMap<&str, u8>> = BTreeMap::new();
    for (path, privilege) in rights {
        paths.entry(path).or_default().insert(privilege, 0);
    }
    serde_json::from_value(json!(paths)).unwrap()
}

async fn needs(house: &House, tool: &'static dyn Tool, args: &str) -> Needs {
    match tool.run(object(args), &house.context()).await {
        Ok(Ran::Plan(plan)) => plan.needs,
        Ok(Ran::Answer(_)) => panic!("{} gave an answer", tool.spec().name),
        Err(fault) => panic!("{} {args}: {fault}", tool.spec().name),
    }
}

#[tokio::test]
async fn what_a_plan_takes_was_declared() {
    let house = House::new().await;
    let mut wrong = Vec::new();
    for (tool, args) in super::changes() {
        let name = tool.spec().name;
        // Takes what the path that is named takes, which only the cluster's own schema tells.
        if tool.relays() || name == "write_proxmox_api" {
            continue;
        }
        let taken = rights(&needs(&house, tool, args).await);
        let declared = tool.needs().every_right();
        for (path, privilege) in &taken {
            if !declared.iter().any(|right| right.covers(path, privilege)) {
                wrong.push(format!(
                    "{name} {args}: {privilege} on {path} is not declared"
                ));
            }
        }
        let lacks = tool.needs().lacking(&exactly(&taken), &|_| true);
        if !lacks.is_empty() {
            wrong.push(format!("{name} {args} takes no {lacks:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
