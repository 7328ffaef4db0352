//! get_proxmox_script_info

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::header::{self, Header};
use super::{Category, Script, catalogue};
use crate::context::Context;
use crate::fault::Fault;
use crate::need::Need;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words::line;

/// Tells what a script of the Proxmox VE community makes, needs and fetches, from a clone on the machine of oxmox.
///
/// Find its name with search_proxmox_scripts. It is read, never run: a script runs as root on a node, and a person starts it
/// there after having read it. What it says is the script's own word. Nothing is fetched and no privileges are needed. To
/// make such a guest yourself use create_proxmox_lxc or create_proxmox_vm with these sizes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area::homelab) struct ScriptInfo {
    /// Such as "pihole" or "ct/pihole.sh".
    script_name: String,
    /// Where to look; left out, everywhere.
    category: Option<Category>,
}

/// A script as it describes itself.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::area::homelab) struct Info {
    name: String,
    category: Category,
    /// In the clone.
    path: String,
    /// What it says of itself.
    says: Header,
    /// What it runs inside the container, in the clone.
    #[serde(skip_serializing_if = "Option::is_none")]
    installs_with: Option<String>,
    /// The machines whose addresses it contains.
    fetches_from: Vec<String>,
}

impl Reads for ScriptInfo {
    const SPEC: Spec = Spec {
        name: "get_proxmox_script_info",
        title: "Describe a community script",
        toolset: Toolset::Homelab,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::Nothing,
        examples: &[Example {
            ask: "What does the notes script make?",
            args: r#"{"script_name": "notes"}"#,
        }],
    };

    type Answer = Info;

    async fn read(self, cx: &Context) -> Result<Info, Fault> {
        let catalogue = catalogue(cx, None).await?;
        let script = catalogue.named(&self.script_name, self.category)?;
        let text = catalogue.text(&script.path)?;
        let mut fetches_from = header::hosts(&text);
        let installs_with = installer(script).filter(|path| catalogue.has(path));
        if let Some(path) = &installs_with {
            fetches_from.extend(header::hosts(&catalogue.text(path)?));
        }
        Ok(Info {
            name: script.name().to_owned(),
            category: script.category,
            path: script.path.clone(),
            says: Header::of(&text),
            installs_with,
            fetches_from: fetches_from.into_iter().collect(),
        })
    }
}

/// A container's script runs another one inside it.
fn installer(script: &Script) -> Option<String> {
    let inside = script.category == Category::Ct;
    inside.then(|| format!("install/{}-install.sh", script.name()))
}

impl Answer for Info {
    fn text(&self) -> String {
        let app = self.says.app.as_deref().unwrap_or(&self.name);
        let mut text = String::new();
        line!(text, "{app}: {}", self.path);
        let mut add = |word: &str, said: &str| {
            if !said.is_empty() {
                line!(text, "{word}: {said}");
            }
        };
        add("needs", &self.says.size());
        if let Some(unprivileged) = self.says.unprivileged {
            add("unprivileged", if unprivileged { "yes" } else { "no" });
        }
        add("tags", &self.says.tags.join(", "));
        add("source", self.says.source.as_deref().unwrap_or_default());
        add("author", self.says.author.as_deref().unwrap_or_default());
        add(
            "installs with",
            self.installs_with.as_deref().unwrap_or_default(),
        );
        add("fetches from", &self.fetches_from.join(", "));
        text.push_str("It runs as root on a node: a person reads it and starts it there.");
        text
    }
}
