//! What an agent is told to do to the VM's file systems: tools that take nothing but the VM, declared as data.

use futures_util::future::BoxFuture;
use pve::{NodeName, Request, Vmid};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::vm;
use crate::agent::Right;
use crate::context::{Context, arguments};
use crate::deed::Deed;
use crate::fault::Fault;
use crate::need::{self, Need};
use crate::outcome::Outcome;
use crate::plan::{Effect, Impact, Plan, Step, Undo};
use crate::schema;
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Object, Ran, Tool};

/// A tool that gives an agent one command without parameters.
pub(super) struct Order {
    spec: &'static Spec,
    description: &'static str,
    /// As PVE and, behind `guest-`, the agent call it.
    command: (&'static str, &'static str),
    /// The same, in both ways that PVE has for it.
    deeds: &'static [Deed],
    /// "Trim the file systems of"
    says: &'static str,
    /// What becomes of the VM.
    effect: (Effect, &'static str),
    /// What a person should know.
    warning: Option<&'static str>,
    /// The tool that takes it back, or why none does.
    undo: Result<&'static str, &'static str>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ThatVm {
    /// The VM's id.
    vmid: Vmid,
    /// Its node; looked up if left out.
    node: Option<NodeName>,
}

const FILE_SYSTEMS: Need = Need::All(&[
    need::SEES_GUEST,
    Need::Any(&[
        need::guest("VM.GuestAgent.FileSystemMgmt"),
        need::WHOLE_AGENT,
        need::OLD_AGENT,
    ]),
]);

const fn spec(
    name: &'static str,
    title: &'static str,
    risk: Risk,
    examples: &'static [Example],
) -> Spec {
    Spec {
        name,
        title,
        toolset: Toolset::Qemu,
        risk,
        idempotent: true,
        special: Special::NONE,
        needs: FILE_SYSTEMS,
        examples,
    }
}

pub(super) const FSTRIM: Order = Order {
    spec: &spec(
        "vm_agent_fstrim",
        "Trim a VM's file systems",
        Risk::Change,
        &[Example {
            ask: "Give the space back that the build server no longer uses",
            args: r#"{"vmid": 106}"#,
        }],
    ),
    description: "Has a VM's guest agent trim its file systems, so that storage gets back what the guest deleted.\n\nUse it on thin storage after much was deleted inside; the disks must have discard=on, which update_proxmox_vm sets. vm_agent_get_info with get-fsinfo shows what is used. Nothing that is in use is touched, nothing is interrupted; disks are busy for a while. Needs VM.GuestAgent.FileSystemMgmt (PVE 8: VM.Monitor). There is nothing to undo.",
    command: ("fstrim", "guest-fstrim"),
    deeds: &[
        Deed::post("/nodes/{}/{guest}/agent/fstrim"),
        Deed::agent(&["fstrim"]),
    ],
    says: "Trim the file systems of",
    effect: (Effect::Changed, "unused space goes back to the storage"),
    warning: None,
    undo: Err("unused space that was given back is taken again when it is needed"),
};

pub(super) const FREEZE: Order = Order {
    spec: &spec(
        "vm_agent_fsfreeze_freeze",
        "Freeze a VM's file systems",
        Risk::Disrupt,
        &[Example {
            ask: "Hold the build server's file systems still for a storage snapshot",
            args: r#"{"vmid": 106}"#,
        }],
    ),
    description: "Has a VM's guest agent freeze its file systems: what was written is flushed, and every write inside waits until they are thawed.\n\nUse it around a snapshot that the storage itself takes; snapshot_proxmox_vm and backup_proxmox_vm freeze by themselves. Services inside stall meanwhile, and the agent does nothing else: thaw within seconds. It asks for a confirmation. Needs VM.GuestAgent.FileSystemMgmt (PVE 8: VM.Monitor). Undo: vm_agent_fsfreeze_thaw.",
    command: ("fsfreeze-freeze", "guest-fsfreeze-freeze"),
    deeds: &[
        Deed::post("/nodes/{}/{guest}/agent/fsfreeze-freeze"),
        Deed::agent(&["fsfreeze-freeze"]),
    ],
    says: "Freeze the file systems of",
    effect: (Effect::Interrupted, "every write inside waits"),
    warning: Some("whatever writes inside the VM stalls until its file systems are thawed"),
    undo: Ok("vm_agent_fsfreeze_thaw"),
};

pub(super) const THAW: Order = Order {
    spec: &spec(
        "vm_agent_fsfreeze_thaw",
        "Thaw a VM's file systems",
        Risk::Change,
        &[Example {
            ask: "Let the build server write again",
            args: r#"{"vmid": 106}"#,
        }],
    ),
    description: "Has a VM's guest agent thaw its file systems, so that what waited for them goes on.\n\nUse it after vm_agent_fsfreeze_freeze, or where a backup broke off and left them frozen: then run_proxmox_vm_command and most else of the agent is refused. vm_agent_get_info with fsfreeze-status tells. File systems that are not frozen stay as they are. Needs VM.GuestAgent.FileSystemMgmt (PVE 8: VM.Monitor). There is nothing to undo.",
    command: ("fsfreeze-thaw", "guest-fsfreeze-thaw"),
    deeds: &[
        Deed::post("/nodes/{}/{guest}/agent/fsfreeze-thaw"),
        Deed::agent(&["fsfreeze-thaw"]),
    ],
    says: "Thaw the file systems of",
    effect: (Effect::Changed, "what waited to write goes on"),
    warning: None,
    undo: Err("freezing again would only stall the guest"),
};

impl Tool for Order {
    fn spec(&self) -> &Spec {
        self.spec
    }

    fn input(&self) -> Object {
        let mut schema = schema::input::<ThatVm>();
        schema.insert("description".to_owned(), self.description.into());
        schema
    }

    fn output(&self) -> Object {
        schema::output::<Outcome>()
    }

    fn deeds(&self) -> &'static [Deed] {
        self.deeds
    }

    fn run<'a>(&'a self, args: Object, cx: &'a Context) -> BoxFuture<'a, Result<Ran, Fault>> {
        Box::pin(async move {
            let mut plan = self.plan(schema::parse(args)?, cx).await?;
            cx.settle(&mut plan).await?;
            Ok(Ran::Plan(Box::new(plan)))
        })
    }
}

impl Order {
    async fn plan(&self, asked: ThatVm, cx: &Context) -> Result<Plan, Fault> {
        let guest = vm::vm(cx, asked.vmid, asked.node.as_ref()).await?;
        let config = guest.config().await?;
        let says = format!("{} {}", self.says, guest.label());
        let summary = format!("{says} on {}", guest.at.node);
        let (path, command) = self.command;
        let right = (Right::FileSystems, command);
        let about = (&guest, &config);
        let mut plan = vm::plan(self.spec, about, right, summary).await?;
        let (effect, note) = self.effect;
        let id = guest.at.vmid.to_string();
        plan.impact.push(Impact::new(effect, "VM", id).note(note));
        plan.warnings.extend(self.warning.map(str::to_owned));
        plan.undo = match self.undo {
            Ok(tool) => Undo::Call {
                tool: tool.to_owned(),
                arguments: arguments([("vmid", json!(guest.at.vmid))]),
            },
            Err(because) => Undo::Impossible {
                because: because.to_owned(),
            },
        };
        let request = Request::post(guest.at.path(&format!("agent/{path}")));
        plan.steps.push(Step::request(says, request));
        Ok(plan)
    }
}
