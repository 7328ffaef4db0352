//! vm_agent_file_read and vm_agent_file_write

use pve::{NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;

use super::vm;
use crate::agent::{Right, to_wire};
use crate::clean;
use crate::context::Context;
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::plan::{Action, AgentFile, Effect, Impact, Plan, Step, Undo};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::Changes;
use crate::words;

/// Bytes of a file that are shown if the caller does not say.
const SHOWN: u32 = 16 << 10;
/// Bytes that PVE writes at once.
const MOST: usize = 60 << 10;
/// What a request may take on its way, a little less than PVE takes.
const MOST_ON_THE_WAY: usize = 64_000;

/// Reads a text file inside a VM as root, through its guest agent, without network or login.
///
/// Use it to look at logs and settings; run_proxmox_vm_command has tail and grep for long ones. The beginning and the
/// end of what is longer than count are shown. It changes nothing, but can show what is nobody's business: a person
/// confirms. Needs VM.GuestAgent.FileRead or VM.GuestAgent.Unrestricted (PVE 8: VM.Monitor). Undo: none.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FileRead {
    /// The VM's id.
    vmid: Vmid,
    /// The file's whole path.
    file: String,
    /// Show at most so many bytes; 16384 if left out.
    #[schemars(range(min = 16, max = 131_072))]
    count: Option<u32>,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

impl Changes for FileRead {
    const SPEC: Spec = Spec {
        name: "vm_agent_file_read",
        title: "Read a file inside a VM",
        toolset: Toolset::Qemu,
        risk: Risk::Grant,
        idempotent: true,
        special: Special::ALWAYS,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::Any(&[
                need::guest("VM.GuestAgent.FileRead"),
                need::WHOLE_AGENT,
                need::OLD_AGENT,
            ]),
        ]),
        examples: &[Example {
            ask: "What is in the build server's /etc/hostname?",
            args: r#"{"node": "pve3", "vmid": 106, "file": "/etc/hostname"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::get("/nodes/{}/{guest}/agent/file-read")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let guest = vm::vm(cx, self.vmid, self.node.as_ref()).await?;
        let config = guest.config().await?;
        let file = clean::line(&self.file);
        let says = format!("Read {file} in {}", guest.label());
        let summary = format!("{says} on {}", guest.at.node);
        let asked = (Right::FileRead, "guest-file-open");
        let about = (&guest, &config);
        let mut plan = vm::plan(&Self::SPEC, about, asked, summary).await?;
        plan.impact
            .push(Impact::new(Effect::Kept, "file", file).note("what it holds is shown"));
        plan.undo = Undo::Impossible {
            because: "what was seen was seen; nothing is changed".to_owned(),
        };
        let read = AgentFile {
            at: guest.at.clone(),
            file: self.file,
            most: self.count.unwrap_or(SHOWN) as usize,
        };
        plan.steps.push(Step::new(says, Action::AgentFile(read)));
        Ok(plan)
    }
}

/// Writes a text file inside a VM as root, through its guest agent; what the file held before is overwritten.
///
/// Use it to put a script or a setting in place; read what is there first with vm_agent_file_read. The directory must
/// exist; the owner is root, and nothing is made executable: run_proxmox_vm_command does such things. At most 60 KiB.
/// It asks for a confirmation. Needs VM.GuestAgent.FileWrite or VM.GuestAgent.Unrestricted (PVE 8: VM.Monitor). No undo.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FileWrite {
    /// The VM's id.
    vmid: Vmid,
    /// The file's whole path.
    file: String,
    /// All that the file shall hold.
    content: String,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

impl Changes for FileWrite {
    const SPEC: Spec = Spec {
        name: "vm_agent_file_write",
        title: "Write a file inside a VM",
        toolset: Toolset::Qemu,
        risk: Risk::Grant,
        idempotent: true,
        special: Special::ALWAYS,
        needs: Need::All(&[
            need::SEES_GUEST,
            Need::Any(&[
                need::guest("VM.GuestAgent.FileWrite"),
                need::WHOLE_AGENT,
                need::OLD_AGENT,
            ]),
        ]),
        examples: &[Example {
            ask: "Put a note into /root on the build server",
            args: r#"{"node": "pve3", "vmid": 106, "file": "/etc/motd", "content": "moved to pve3\n"}"#,
        }],
    };

    const DEEDS: &'static [Deed] = &[Deed::post("/nodes/{}/{guest}/agent/file-write")];

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        let content = to_wire(&self.content);
        let on_the_way = pve::encode_value(&content).len();
        if self.content.len() > MOST || on_the_way > MOST_ON_THE_WAY {
            return Err(Fault::bad_input(format!(
                "content has {} bytes; PVE writes {MOST} at once, fewer of other than plain letters",
                self.content.len()
            ))
            .hint("write it in parts and join them with run_proxmox_vm_command"));
        }
        let guest = vm::vm(cx, self.vmid, self.node.as_ref()).await?;
        let config = guest.config().await?;
        let file = clean::line(&self.file);
        let size = words::size(self.content.len() as u64);
        let says = format!("Write {size} to {file} in {}", guest.label());
        let summary = format!("{says} on {}", guest.at.node);
        let asked = (Right::FileWrite, "guest-file-open");
        let about = (&guest, &config);
        let mut plan = vm::plan(&Self::SPEC, about, asked, summary).await?;
        plan.impact
            .push(Impact::new(Effect::Changed, "file", file).note("what it held is overwritten"));
        plan.undo = Undo::Impossible {
            because: "what the file held is not kept; vm_agent_file_read before shows it"
                .to_owned(),
        };
        let request = Request::post(guest.at.path("agent/file-write"))
            .with("file", to_wire(&self.file))
            .with("content", content);
        plan.steps.push(Step::request(says, request));
        Ok(plan)
    }
}
