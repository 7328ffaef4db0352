//! The role: what oxmox may do on the cluster, and where.

use std::collections::BTreeSet;

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
    /// What looking would take that also changes something, and is left out.
    pub without: Privileges,
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
        let reads = privileges::of_reads(toolsets, &knows);
        Self {
            role: format!("oxmox-{}", level.word()),
            without: reads.difference(&privileges).copied().collect(),
            privileges,
            paths,
        }
    }
}

/// What a level means, for people.
pub fn meaning(level: Scope) -> &'static str {
    match level {
        Scope::Read => "look at everything, change nothing",
        Scope::Operate => "also create, change, start, stop, back up and migrate guests",
        Scope::Full => "also delete, roll back and run commands inside guests",
    }
}
