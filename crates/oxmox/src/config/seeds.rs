//! The variables that homelab_mcp and proxmox-mcp document: what they mean here, and which of them oxmox does not read.

use std::time::Duration;

use tools::fault::Fault;
use tools::registry::Choices;

use super::{Environment, VARIABLES};

/// Says that changes are refused.
const READ_ONLY: &str = "PROXMOX_READ_ONLY";
/// Says that the tools for any method of the API are refused.
const DISABLE_RAW_API: &str = "PROXMOX_DISABLE_RAW_API";
/// Says that few tools are listed, which find and call the others.
const TOOL_ROUTING: &str = "TOOL_ROUTING";
/// Says how many tools a search returns.
const ROUTER_TOP_K: &str = "ROUTER_TOP_K";
/// Where a model is kept that oxmox does not use.
const FASTEMBED_CACHE_DIR: &str = "FASTEMBED_CACHE_DIR";
/// Seconds for a request.
const TIMEOUT: &str = "PROXMOX_TIMEOUT";
/// Most tools that a search returns: more would fill an answer.
const MOST_FOUND: usize = 50;
/// Longest time for a request, in seconds.
const LONGEST: u64 = 3600;

/// Variables by which homelab_mcp serves HTTP, and whether one is a switch, which counts only if it is on.
const OTHER_SERVER: [(&str, bool); 5] = [
    ("MCP_HTTP_ENABLED", true),
    ("MCP_HTTP_HOST", false),
    ("MCP_HTTP_PORT", false),
    ("MCP_API_KEY", false),
    ("MCP_AUTH_ENABLED", true),
];

impl Environment {
    /// Whether `PROXMOX_READ_ONLY` says so.
    pub(super) fn is_read_only(&self) -> Result<bool, Fault> {
        self.is_on(READ_ONLY)
    }

    /// Whether `TOOL_ROUTING` asks for the toolset `lean`.
    pub(super) fn routes_tools(&self) -> Result<bool, Fault> {
        self.is_on(TOOL_ROUTING)
    }

    /// Which tools are offered, beside the toolsets.
    pub(super) fn choices(&self) -> Result<Choices, Fault> {
        let found = self.get(ROUTER_TOP_K).map(|text| {
            let number = text.trim().parse().ok();
            let number = number.filter(|number| (1..=MOST_FOUND).contains(number));
            number.ok_or_else(|| wrong(ROUTER_TOP_K, &format!("a whole number, 1 to {MOST_FOUND}")))
        });
        Ok(Choices {
            raw_api: !self.is_on(DISABLE_RAW_API)?,
            found: found.transpose()?,
        })
    }

    /// How long `PROXMOX_TIMEOUT` lets a request take.
    pub(super) fn request_timeout(&self) -> Result<Option<Duration>, Fault> {
        let Some(text) = self.get(TIMEOUT) else {
            return Ok(None);
        };
        let seconds = text.trim().parse().ok();
        let seconds = seconds.filter(|seconds| (1..=LONGEST).contains(seconds));
        let seconds = seconds.ok_or_else(|| {
            wrong(
                TIMEOUT,
                &format!("seconds as a whole number, 1 to {LONGEST}"),
            )
        })?;
        Ok(Some(Duration::from_secs(seconds)))
    }

    /// What a person should hear about variables that have no effect.
    pub(super) fn warn(&self, warnings: &mut Vec<String>) {
        if self.get(FASTEMBED_CACHE_DIR).is_some() {
            warnings.push(format!(
                "{FASTEMBED_CACHE_DIR} has no effect: oxmox finds tools without a model"
            ));
        }
        let is_off = |value: &str| matches!(value, "false" | "0" | "no" | "off");
        let verify = self.get("PROXMOX_VERIFY_SSL").map(str::to_ascii_lowercase);
        if verify.as_deref().is_some_and(is_off) {
            warnings.push(
                "PROXMOX_VERIFY_SSL=false has no effect: oxmox never turns the check of certificates off. For a \
                 self-signed one set PROXMOX_FINGERPRINT to its SHA-256 (Node > System > Certificates in PVE's web \
                 page), or PROXMOX_CA_FILE to a copy of /etc/pve/pve-root-ca.pem"
                    .to_owned(),
            );
        }
        let is_read = |name: &str| VARIABLES.iter().any(|(read, _)| *read == name);
        let unread = self.names().filter(|name| name.starts_with("PROXMOX_"));
        let unread: Vec<_> = unread.filter(|name| !is_read(name)).collect();
        if !unread.is_empty() {
            let hint = if unread.contains(&"PROXMOX_CA_CERT") {
                "; PROXMOX_CA_FILE names a CA certificate"
            } else {
                ""
            };
            warnings.push(format!(
                "oxmox does not read {}{hint}; docs/CONFIG.md lists the variables that it reads",
                unread.join(", ")
            ));
        }
    }

    /// Fails if the variables by which homelab_mcp serves HTTP are set: the person who set them expects a server that
    /// asks for a key.
    pub fn refuse_other_server(&self) -> Result<(), Fault> {
        for (name, is_switch) in OTHER_SERVER {
            if self.get(name).is_none() || is_switch && !self.is_on(name).unwrap_or(true) {
                continue;
            }
            return Err(Fault::bad_input(format!("oxmox does not read {name}")).hint(format!(
                "`oxmox serve --http 127.0.0.1:8765` serves over HTTP, and `oxmox token add NAME` gives each caller a \
                 token; then unset {name}"
            )));
        }
        Ok(())
    }

    /// Whether a variable is switched on, in the words of those servers. Any other word is an error: a typing error must
    /// not switch a protection off.
    fn is_on(&self, name: &str) -> Result<bool, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(false);
        };
        match value.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(true),
            "" | "0" | "false" | "no" | "off" => Ok(false),
            _ => Err(wrong(name, "1, true or yes; or 0, false or no")),
        }
    }
}

fn wrong(name: &str, takes: &str) -> Fault {
    Fault::bad_input(format!("{name} takes {takes}")).hint(format!("correct {name}, or unset it"))
}
