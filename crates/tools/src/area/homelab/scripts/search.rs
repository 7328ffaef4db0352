//! search_proxmox_scripts

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Category, catalogue};
use crate::context::Context;
use crate::fault::Fault;
use crate::need::Need;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words;

/// How many are shown.
const SHOWN: usize = 15;

/// Finds installation scripts of the Proxmox VE community by name, in a clone on the machine of oxmox.
///
/// Use it to see whether there is a script for an application; get_proxmox_script_info tells what one makes and fetches. It
/// reads the configured clone: nothing is fetched, nothing is run, and no privileges are needed. To make a container
/// without a script use create_proxmox_lxc.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area::homelab) struct SearchScripts {
    /// Such as "pihole" or "home assistant".
    query: String,
    /// Where to look; left out, everywhere.
    category: Option<Category>,
    /// Tell what each needs.
    #[serde(default)]
    include_metadata: bool,
}

/// The scripts that fit.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::area::homelab) struct Found {
    /// How many fit.
    total: usize,
    /// The best first.
    scripts: Vec<Line>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Line {
    name: String,
    category: Category,
    /// In the clone.
    path: String,
    /// Cores, memory, disk and system, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    needs: Option<String>,
}

impl Reads for SearchScripts {
    const SPEC: Spec = Spec {
        name: "search_proxmox_scripts",
        title: "Find community scripts",
        toolset: Toolset::Homelab,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::Nothing,
        examples: &[Example {
            ask: "Is there a script for notes?",
            args: r#"{"query": "notes", "include_metadata": true}"#,
        }],
    };

    type Answer = Found;

    async fn read(self, cx: &Context) -> Result<Found, Fault> {
        let catalogue = catalogue(cx, self.category).await?;
        let query = words::clip(&self.query, 100);
        let found = catalogue.search(&query);
        let mut scripts = Vec::new();
        for script in found.iter().take(SHOWN) {
            let needs = if self.include_metadata {
                Some(catalogue.header(script)?.size())
            } else {
                None
            };
            scripts.push(Line {
                name: script.name().to_owned(),
                category: script.category,
                path: script.path.clone(),
                needs: needs.filter(|needs| !needs.is_empty()),
            });
        }
        Ok(Found {
            total: found.len(),
            scripts,
        })
    }
}

impl Answer for Found {
    fn text(&self) -> String {
        if self.scripts.is_empty() {
            return "no script has such a name".to_owned();
        }
        let rows: Vec<_> = (self.scripts.iter())
            .map(|line| {
                [
                    line.name.clone(),
                    line.path.clone(),
                    line.needs.clone().unwrap_or_default(),
                ]
            })
            .collect();
        let mut text = words::table(["name", "path", "needs"], &rows);
        let more = self.total - self.scripts.len();
        if more > 0 {
            let _ = write!(text, "\n{more} more; say more of the name, or a category");
        }
        text
    }
}
