//! The role: what oxmox may do on the cluster, and where.

use std::collections::BTreeSet;

use pve::Permissions;
use tools::caller::Scope;
use tools::registry::privileges::{self, Privileges, Purpose};
use tools::spec::Toolset;

/// The user whose tokens oxmox uses.
pub const USER: &str = "oxmox@pve";

/// What oxmox shall be able to do.
#[derive(Debug, Clone)]
pub struct Grant {
    /// `oxmox-read`
    pub role: String,
    /// What it holds.
    pub privileges: Privileges,
    /// Where it is given.
    pub paths: Vec<String>,
    /// What PVE shows some things only with, and is left out, since it also changes something.
    pub without: Privileges,
    /// The tools that these paths are not enough for.
    pub out_of_reach: Vec<&'static str>,
    /// Whether it is given no storage but those in pools.
    pub no_storages: bool,
}

impl Grant {
    /// For this level, on these pools or on everything.
    pub fn new(
        level: Scope,
        (toolsets, screens): (&[Toolset], bool),
        (pools, storages): (&[String], &[String]),
        release: &BTreeSet<String>,
    ) -> Self {
        let knows = |name: &str| release.contains(name);
        let purpose = Purpose {
            toolsets,
            most: level.most(),
            screens,
        };
        let privileges = privileges::of_role(purpose, &knows);
        let mut paths: Vec<String> = pools.iter().map(|pool| format!("/pool/{pool}")).collect();
        if paths.is_empty() {
            paths.push("/".to_owned());
        } else {
            paths.extend(storages.iter().map(|storage| format!("/storage/{storage}")));
            if privileges.contains("SDN.Use") {
                // Bridges belong to no pool, and a guest without a network is of little use.
                paths.push("/sdn/zones/localnetwork".to_owned());
            }
        }
        Self {
            role: named(level),
            out_of_reach: out_of_reach(purpose, &privileges, &paths),
            no_storages: !pools.is_empty() && storages.is_empty(),
            without: privileges::unseen_with(&privileges, toolsets, &knows),
            privileges,
            paths,
        }
    }
}

/// The tools of this purpose that find what they take on none of these paths, though the role holds it.
fn out_of_reach(
    purpose: Purpose<'_>,
    privileges: &Privileges,
    paths: &[String],
) -> Vec<&'static str> {
    let held_on = |paths: &[&str]| {
        let all: serde_json::Map<_, _> = (privileges.iter())
            .map(|privilege| ((*privilege).to_owned(), 1.into()))
            .collect();
        let rules: serde_json::Map<_, _> = (paths.iter())
            .map(|path| ((*path).to_owned(), all.clone().into()))
            .collect();
        serde_json::from_value::<Permissions>(rules.into()).unwrap_or_default()
    };
    let everywhere = held_on(&["/"]);
    let here = held_on(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    let tools = privileges::tools_for(purpose);
    let tools = tools
        .filter(|tool| tool.needs().can_be_met(&everywhere) && !tool.needs().can_be_met(&here));
    tools.map(|tool| tool.spec().name).collect()
}

/// The role of a level.
fn named(level: Scope) -> String {
    format!("oxmox-{}", level.word())
}

/// Whether it is a role of setup's own. `oxmox-more` and the like are not: people make these, as the doctor tells them.
pub fn is_own(role: &str) -> bool {
    Scope::ALL.into_iter().any(|level| named(level) == role)
}

/// What a level means, for people.
pub fn meaning(level: Scope) -> &'static str {
    match level {
        Scope::Read => "look at everything, change nothing",
        Scope::Operate => {
            "also create, change, start, stop, back up and migrate guests; to PVE that includes deleting them, which oxmox asks you about"
        }
        Scope::Full => "also run commands inside guests, and whatever else the tools can do",
    }
}
