//! run_proxmox_vm_command

use pve::{GuestConfig, GuestKind, Vmid};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::agent::{Obstacle, Right, to_wire};
use crate::clean;
use crate::context::{Context, Guest};
use crate::fault::Fault;
use crate::plan::{Action, AgentExec, Effect, Impact, Plan, Step, Undo};
use crate::spec::{Example, Risk, Spec, Toolset};
use crate::tool::Changes;
use crate::words;

/// Seconds that a program gets if the caller does not say.
const WITHIN: u64 = 30;
/// Bytes that PVE takes in one request, a little less.
const MOST: usize = 60_000;
/// Characters of a command that a sentence shows.
const SHOWN: usize = 1_000;

/// Runs a command inside a running VM as root, through its guest agent, and returns exit code and output.
///
/// It asks for a confirmation. Without an agent type_vm_text works, without an exit code. A program that outlives
/// timeout runs on: get_proxmox_task reads its end. Needs VM.GuestAgent.Unrestricted (PVE 8: VM.Monitor). No undo.
#[derive(Debug, Deserialize, JsonSchema)]
pub(in crate::area) struct RunCommand {
    /// The VM's id.
    vmid: Vmid,
    /// Program and arguments; one text alone is a shell line.
    #[serde(deserialize_with = "one_or_many")]
    command: Vec<String>,
    /// Its stdin.
    input: Option<String>,
    /// Seconds; 30 if left out.
    #[schemars(range(max = 600))]
    timeout: Option<u64>,
}

impl Changes for RunCommand {
    const SPEC: Spec = Spec {
        name: "run_proxmox_vm_command",
        title: "Run a command inside a guest",
        toolset: Toolset::Core,
        risk: Risk::Grant,
        idempotent: false,
        takes_host: false,
        leasable: false,
        looks_inside: false,
        examples: &[
            Example {
                ask: "How full is the build server's disk?",
                args: r#"{"vmid": 106, "command": ["df", "-h", "/"]}"#,
            },
            Example {
                ask: "Which kernel runs on the web server, and since when?",
                args: r#"{"vmid": 100, "command": ["uname -r; hostname"], "timeout": 10}"#,
            },
        ],
    };

    async fn plan(self, cx: &Context) -> Result<Plan, Fault> {
        self.check()?;
        let guest = cx.guest(self.vmid, None, None).await?;
        if guest.at.kind == GuestKind::Lxc {
            return Err(container(&guest));
        }
        guest.require_online()?;
        let config = guest.config().await?;
        let (command, shown) = self.words(&config);
        let says = format!("Run {shown} in {}", guest.label());
        let summary = format!("{says} on {}", guest.at.node);
        let mut plan = Plan::new(&Self::SPEC, &guest.cluster.name, Risk::Grant, summary);
        if let Some(obstacle) = Obstacle::to("guest-exec", &guest, &config).await? {
            plan.blockers.push(obstacle.blocker(&guest));
        }
        guest.bind(&mut plan, &config);
        plan.needs = Right::Unrestricted.needs(&guest).await?;
        plan.impact.push(
            Impact::new(Effect::Changed, "VM", guest.at.vmid.to_string())
                .note("whatever the command does, with all rights inside"),
        );
        plan.undo = Undo::Impossible {
            because: "what a command does inside is not known here; snapshot_proxmox_vm before it gives a way back"
                .to_owned(),
        };
        let exec = AgentExec {
            at: guest.at.clone(),
            command,
            input: self.input,
            within: self.timeout.unwrap_or(WITHIN),
        };
        plan.steps.push(Step::new(says, Action::AgentExec(exec)));
        Ok(plan)
    }
}

impl RunCommand {
    /// Refuses what no guest could run.
    fn check(&self) -> Result<(), Fault> {
        if self
            .command
            .first()
            .is_none_or(|first| first.trim().is_empty())
        {
            return Err(Fault::bad_input("the command is empty")
                .hint(r#"send for example command: ["df", "-h", "/"]"#));
        }
        if self.command.iter().any(|word| word.contains('\0')) {
            return Err(Fault::bad_input("a command cannot hold a null character")
                .hint("send such data as input"));
        }
        let texts = self.command.iter().chain(&self.input);
        let size: usize = texts
            .map(|text| pve::encode_value(&to_wire(text)).len())
            .sum();
        if size > MOST {
            return Err(Fault::bad_input(format!(
                "command and input together are {size} bytes on the way; PVE takes {MOST}"
            ))
            .hint("send less at once, or let the guest fetch it"));
        }
        Ok(())
    }

    /// What is started, and how that is said: one text alone goes to the guest's shell.
    fn words(&self, config: &GuestConfig) -> (Vec<String>, String) {
        let line = match self.command.as_slice() {
            [line] => line,
            words => {
                let shown = words::clip(&clean::line(&format!("{words:?}")), SHOWN);
                return (words.to_vec(), shown);
            }
        };
        let shell = shell(config);
        let shown = words::clip(&clean::line(line), SHOWN);
        let mut command: Vec<String> = shell.iter().copied().map(str::to_owned).collect();
        command.push(line.clone());
        (command, format!("\"{shown}\" with {}", shell.join(" ")))
    }
}

/// The shell of the system that the VM's settings speak of.
fn shell(config: &GuestConfig) -> [&'static str; 2] {
    let system = config.text("ostype").unwrap_or_default();
    if system.starts_with('w') {
        ["cmd.exe", "/c"]
    } else {
        ["sh", "-c"]
    }
}

fn container(guest: &Guest) -> Fault {
    Fault::refused(format!(
        "{} is a container: commands are run in VMs only, through the guest agent",
        guest.label()
    ))
    .hint(format!(
        "a person can run it on node {}: pct exec {} -- COMMAND",
        guest.at.node, guest.at.vmid
    ))
}

/// Models send a line of shell as plain text.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a list of words, or one line")]
    enum Command {
        Many(Vec<String>),
        One(String),
    }
    Ok(match Command::deserialize(deserializer)? {
        Command::Many(words) => words,
        Command::One(line) => vec![line],
    })
}
