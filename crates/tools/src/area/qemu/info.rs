//! vm_agent_get_info

use pve::{NodeName, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::vm;
use crate::agent::{capped, is_frozen};
use crate::context::Context;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Reads};
use crate::words;

/// Bytes of the agent's answer that the text shows.
const SHOWN: usize = 8 << 10;

/// Asks a VM's guest agent about the system inside: its version, addresses, file systems with their use, users, time.
///
/// Use it for what PVE does not see from outside; get_proxmox_vm_status has load, addresses and settings without it,
/// and vm_agent_file_read reads files. It changes nothing. The VM must run with an agent that answers; if not, the error
/// says what is missing. Needs VM.GuestAgent.Audit (PVE 8: VM.Monitor).
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetInfo {
    /// The VM's id.
    vmid: Vmid,
    /// What to ask; get-osinfo if left out.
    #[serde(default)]
    info_type: InfoType,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

/// What an agent can be asked.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
enum InfoType {
    #[default]
    GetOsinfo,
    NetworkGetInterfaces,
    GetFsinfo,
    GetHostName,
    GetUsers,
    GetTime,
    GetTimezone,
    GetVcpus,
    GetMemoryBlocks,
    GetMemoryBlockInfo,
    FsfreezeStatus,
    Ping,
    Info,
}

/// What the agent says.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Told {
    /// The VM's id.
    vmid: Vmid,
    /// The VM's name.
    name: String,
    /// What was asked.
    info_type: InfoType,
    /// The agent's answer, in its own fields.
    #[schemars(schema_with = "anything")]
    result: Value,
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({})
}

impl Reads for GetInfo {
    const SPEC: Spec = Spec {
        name: "vm_agent_get_info",
        title: "Ask a VM's guest agent",
        toolset: Toolset::Qemu,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::Any(&[
                need::guest("VM.GuestAgent.Audit"),
                need::WHOLE_AGENT,
                need::OLD_AGENT,
            ]),
        ]),
        examples: &[
            Example {
                ask: "Which system runs on the build server?",
                args: r#"{"node": "pve3", "vmid": 106}"#,
            },
            Example {
                ask: "How full are the web server's file systems?",
                args: r#"{"vmid": 100, "info_type": "get-fsinfo"}"#,
            },
        ],
    };
    type Answer = Told;

    async fn read(self, cx: &Context) -> Result<Told, Fault> {
        let guest = vm::vm(cx, self.vmid, self.node.as_ref()).await?;
        let asked = match self.info_type {
            // PVE takes these as changes only; what the agent says of itself tells the same.
            InfoType::FsfreezeStatus | InfoType::Ping => "info".to_owned(),
            other => words::word(&other),
        };
        let path = guest.at.path(&format!("agent/{asked}"));
        let answer: Value = guest.pve().get(path).await.map_err(vm::unasked)?;
        let result = match self.info_type {
            InfoType::Ping => json!({}),
            InfoType::FsfreezeStatus if is_frozen(&answer) => json!("frozen"),
            InfoType::FsfreezeStatus => json!("thawed"),
            _ => answer["result"].clone(),
        };
        Ok(Told {
            vmid: self.vmid,
            name: guest.name().to_owned(),
            info_type: self.info_type,
            result,
        })
    }
}

impl Answer for Told {
    fn text(&self) -> String {
        let asked = words::word(&self.info_type);
        let mut out = format!(
            "{asked} of VM {} ({}):\n",
            self.vmid,
            crate::clean::line(&self.name)
        );
        let rows = match &self.result {
            Value::Array(rows) => rows.iter().map(Value::to_string).collect(),
            Value::Object(fields) => {
                let field = |(name, value): (&String, &Value)| format!("{name}: {value}");
                fields.iter().map(field).collect()
            }
            other => vec![other.to_string()],
        };
        let shown = capped(&rows.join("\n"), SHOWN).0;
        out.push_str(&words::each_set_off(shown.lines()));
        out
    }
}
