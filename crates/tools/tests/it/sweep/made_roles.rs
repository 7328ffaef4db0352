//! The roles exactly as `oxmox setup` makes them: read back from the cluster where it made them, by the binary's own tests
//! (`crates/oxmox/tests/it/setup/sweep.rs`), which hold `made_roles.json` to that and write it anew with INSTA_UPDATE=always.

use std::collections::{BTreeMap, BTreeSet};

use tools::registry::privileges::{self, Purpose};
use tools::spec::{Risk, Toolset};
use tools::tool::Tool;

use crate::house::{Furnish, House};

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct Role {
    /// Where it was made.
    pub(super) version: String,
    /// For which tools.
    pub(super) toolsets: &'static [Toolset],
    /// How far it goes.
    pub(super) most: Risk,
    /// What it holds.
    pub(super) privileges: BTreeSet<String>,
    /// What was taken out of it.
    lacks: Option<String>,
}

/// All of them: by version, toolsets and level.
pub(super) fn all() -> Vec<Role> {
    type Levels = BTreeMap<String, BTreeSet<String>>;
    let file: BTreeMap<String, BTreeMap<String, Levels>> =
        serde_json::from_str(include_str!("made_roles.json")).unwrap();
    let mut roles = Vec::new();
    for (version, sets) in file {
        for (set, levels) in sets {
            for (name, privileges) in levels {
                roles.push(Role {
                    version: version.clone(),
                    toolsets: match set.as_str() {
                        "core" => &[Toolset::Core],
                        _ => Toolset::ALL,
                    },
                    most: match name.as_str() {
                        "oxmox-read" => Risk::Read,
                        "oxmox-operate" => Risk::Disrupt,
                        _ => Risk::Grant,
                    },
                    privileges,
                    lacks: None,
                });
            }
        }
    }
    assert_eq!(roles.len(), 2 * 2 * 3, "versions, toolsets, levels");
    roles
}

impl Role {
    /// What it is, for messages.
    pub(super) fn label(&self) -> String {
        let sets = self.toolsets.len();
        format!("{} {:?} of {sets} toolsets", self.version, self.most)
    }

    /// Whether it is for this tool. One that takes what the path takes that it is told to write has no role of its own.
    pub(super) fn is_for(&self, tool: &dyn Tool) -> bool {
        if tool.relays() || tool.spec().name == "write_proxmox_api" {
            return false;
        }
        let purpose = Purpose {
            toolsets: self.toolsets,
            most: self.most,
            screens: false,
        };
        privileges::tools_for(purpose).any(|other| other.spec().name == tool.spec().name)
    }

    /// A cluster of its version.
    pub(super) async fn house(&self) -> House {
        let mut furnish = Furnish::default();
        furnish.world.version.clone_from(&self.version);
        House::furnished(furnish).await
    }

    /// The same without one of its privileges.
    pub(super) fn without(&self, privilege: &str) -> Self {
        let mut less = self.clone();
        assert!(less.privileges.remove(privilege));
        less.lacks = Some(privilege.to_owned());
        less
    }

    /// A token in this house that holds it on everything.
    pub(super) fn token(&self, house: &House) -> (String, String, String) {
        let user = match &self.lacks {
            None => "role@pve".to_owned(),
            Some(privilege) => format!("without-{privilege}@pve"),
        };
        let held: Vec<_> = self.privileges.iter().map(String::as_str).collect();
        house.sim.world(|world| {
            world.add_token(&format!("{user}!t"), "role-secret");
            world.grant(&user, "/", &held);
        });
        (user, "t".to_owned(), "role-secret".to_owned())
    }
}
