//! The community's installation scripts, read from a clone on this machine. Nothing is fetched and nothing is run: a script
//! runs as root on a node, and a person should start it there after having read it.

mod catalogue;
mod header;
mod info;
mod search;

pub(super) use info::ScriptInfo;
pub(super) use search::SearchScripts;

use catalogue::{Catalogue, Script};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::fault::{Fault, Kind};

/// What a script is for: the directory of the clone that it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Category {
    Ct,
    Vm,
    Tools,
    Turnkey,
    Install,
    Misc,
}

impl Category {
    const ALL: [Self; 6] = [
        Self::Ct,
        Self::Vm,
        Self::Tools,
        Self::Turnkey,
        Self::Install,
        Self::Misc,
    ];

    fn directory(self) -> &'static str {
        match self {
            Self::Ct => "ct",
            Self::Vm => "vm",
            Self::Tools => "tools",
            Self::Turnkey => "turnkey",
            Self::Install => "install",
            Self::Misc => "misc",
        }
    }
}

/// The scripts of the configured clone.
async fn catalogue(cx: &Context, only: Option<Category>) -> Result<Catalogue, Fault> {
    let Some(clone) = cx.scripts.clone() else {
        return Err(Fault::refused("no clone of the community's scripts is configured").hint(
            "a person clones https://github.com/community-scripts/ProxmoxVE and sets community_scripts = \"/path/to/the/clone\" in the configuration",
        ));
    };
    let read = move || Catalogue::read(&clone, only);
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|_| Fault::new(Kind::Internal, "reading the scripts failed"))?
}
