//! Which of the tools that are switched on the token can use at all, and what is missing for the others.

use std::collections::BTreeSet;

use pve::{Permissions, Reader};
use serde_json::{Map, Value, json};
use tools::caller::Scope;
use tools::need::{self, Right};
use tools::registry::Registry;
use tools::registry::privileges::{self, Purpose};
use tools::spec::{Toolset, Wants};
use tools::tool::Tool;
use tools::words;

use super::allow;
use super::finding::Finding;
use super::holder::Holder;
use crate::cli::rights::NOW_AND_THEN;

const CHECK: &str = "privileges";

/// How many tools are named in the table; `--json` has all.
const NAMED: usize = 8;

/// A tool that no call of can succeed.
struct Useless {
    tool: &'static dyn Tool,
    lacks: Vec<Right>,
}

pub(super) async fn check(pve: &Reader, registry: &Registry, holder: &Holder) -> Finding {
    let held = match pve.permissions().await {
        Ok(held) => held,
        Err(error) => {
            let hint = "`pveum user permissions USER` on a node tells them";
            return Finding::unanswered(CHECK, "GET /access/permissions", error, hint);
        }
    };
    // Whoever may do everything has every privilege that this version knows.
    let all: Map<String, Value> = pve
        .get("/access/roles/Administrator")
        .await
        .unwrap_or_default();
    let known = |privilege: &str| all.is_empty() || all.contains_key(privilege);
    let (mut can, mut useless, mut logins) = (Vec::new(), Vec::new(), Vec::new());
    for tool in registry.tools() {
        let name = tool.spec().name;
        let lacks = tool.needs().lacking(&held, &known);
        if !lacks.is_empty() {
            useless.push(Useless { tool, lacks });
        } else if holder.is_token() && wants_login(tool) {
            logins.push(name);
        } else {
            can.push(name);
        }
    }
    let lacking = every(&useless);
    let allowing = Allowing {
        line: allow::line(holder, &held, &lacking, &roles(pve).await),
        level: level(registry.toolsets(), &useless, &known).filter(|_| holder.is_of_setup()),
        caution: holder.caution(),
    };
    tell(&can, &useless, &logins, &held, &allowing)
}

/// What would allow all of them.
struct Allowing {
    line: Option<String>,
    /// The level by which setup would.
    level: Option<Scope>,
    caution: Option<String>,
}

impl Allowing {
    fn hint(&self) -> String {
        let Some(line) = &self.line else {
            return "`pveum acl modify` on a node gives rights".to_owned();
        };
        let by_hand = match &self.caution {
            Some(caution) => format!("on a node: {line} ({caution})"),
            None => format!("on a node: {line}"),
        };
        let how = match self.level {
            Some(level) => format!(
                "to allow all of them: `oxmox setup --level {}`, or {by_hand}",
                level.word()
            ),
            None => format!("to allow all of them, {by_hand}"),
        };
        let within = words::duration(NOW_AND_THEN.as_secs());
        format!("{how}; a server that runs learns of it within {within}")
    }
}

/// The lowest level of setup whose role is enough for all of them.
fn level(toolsets: &[Toolset], useless: &[Useless], known: &dyn Fn(&str) -> bool) -> Option<Scope> {
    Scope::ALL.into_iter().find(|level| {
        let purpose = Purpose {
            toolsets,
            most: level.most(),
            screens: false,
        };
        let role = privileges::of_role(purpose, known);
        let mut tools = useless.iter().map(|one| one.tool);
        tools.all(|tool| privileges::is_enough(&role, tool, known))
    })
}

fn wants_login(tool: &dyn Tool) -> bool {
    tool.spec().wants(Wants::Login)
}

fn every(useless: &[Useless]) -> BTreeSet<Right> {
    useless
        .iter()
        .flat_map(|one| one.lacks.iter().copied())
        .collect()
}

/// The names of the roles there are, as far as they are told.
async fn roles(pve: &Reader) -> BTreeSet<String> {
    let listed: Vec<Value> = pve.list("/access/roles").await.unwrap_or_default();
    let names = listed.iter().filter_map(|role| role["roleid"].as_str());
    names.map(str::to_owned).collect()
}

fn tell(
    can: &[&str],
    useless: &[Useless],
    logins: &[&str],
    held: &Permissions,
    allowing: &Allowing,
) -> Finding {
    let all = can.len() + useless.len() + logins.len();
    let detail = json!({
        "can": can,
        "cannot": useless.iter().map(|one| json!({
            "tool": one.tool.spec().name,
            "lacks": one.lacks.iter().map(Right::to_string).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "want_a_login": logins,
        "allow": allowing.line,
        "setup_level": allowing.level.map(Scope::word),
    });
    let mut text = format!("{} of {} tools can be used", can.len(), all);
    if !logins.is_empty() {
        let names = words::list(logins);
        text = format!("{text}; for {names} PVE wants a user with a password, and no token");
    }
    if held.is_empty() {
        text = format!("there is no right anywhere; {text}");
    }
    if useless.is_empty() {
        return Finding::ok(CHECK, text).detail(detail);
    }
    let mut named: Vec<_> = useless
        .iter()
        .take(NAMED)
        .map(|one| {
            format!(
                "{} (lacks {})",
                one.tool.spec().name,
                need::listed(&one.lacks)
            )
        })
        .collect();
    if useless.len() > NAMED {
        named.push(format!(
            "{} more, which --json names",
            useless.len() - NAMED
        ));
    }
    let text = format!("{text}; not {}", named.join("; "));
    let hint = allowing.hint();
    // Whoever gave it few rights mostly meant that; no right at all is hardly meant.
    if held.is_empty() {
        return Finding::problem(CHECK, text, hint).detail(detail);
    }
    Finding::note(CHECK, text).hint(hint).detail(detail)
}
