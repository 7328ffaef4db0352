//! A command for a VM's guest agent or a container's terminal, checked and planned.

use pve::GuestConfig;
use serde::{Deserialize, Deserializer};

use crate::agent::{Obstacle, Right, to_wire};
use crate::area::console;
use crate::clean;
use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::{Action, AgentExec, Effect, Impact, Plan, Step, Undo};
use crate::spec::Spec;
use crate::words;

/// Bytes that PVE takes in one request, a little less.
const MOST: usize = 60_000;
/// Characters of a command that a sentence shows.
const SHOWN: usize = 1_000;

/// What is run.
pub(in crate::area) struct Command {
    /// The program and its arguments, or one line for the guest's shell.
    pub(in crate::area) words: Vec<String>,
    /// What it reads from its standard input.
    pub(in crate::area) input: Option<String>,
    /// Seconds within which it should end; `None` if nobody waits for that.
    pub(in crate::area) within: Option<u64>,
}

impl Command {
    /// Refuses what no guest could run.
    pub(in crate::area) fn check(&self) -> Result<(), Fault> {
        let first = self.words.first();
        if first.is_none_or(|first| first.trim().is_empty()) {
            return Err(Fault::bad_input("the command is empty")
                .hint(r#"send for example command: ["df", "-h", "/"]"#));
        }
        if self.words.iter().any(|word| word.contains('\0')) {
            return Err(Fault::bad_input("a command cannot hold a null character")
                .hint("send such data as input"));
        }
        let texts = self.words.iter().chain(&self.input);
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

    /// The plan that runs it in this VM.
    pub(in crate::area) async fn plan(self, spec: &Spec, guest: &Guest) -> Result<Plan, Fault> {
        let config = guest.config().await?;
        let (command, shown) = self.started(&config);
        let says = format!("Run {shown} in {}", guest.label());
        let summary = format!("{says} on {}", guest.at.node);
        let mut plan = Plan::new(spec, &guest.cluster.name, summary);
        if let Some(obstacle) = Obstacle::to("guest-exec", guest, &config).await? {
            plan.blockers.push(obstacle.blocker(guest));
        }
        guest.bind(&mut plan, &config);
        plan.needs = Right::Unrestricted.needs(guest).await?;
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
            within: self.within,
        };
        plan.steps.push(Step::new(says, Action::AgentExec(exec)));
        Ok(plan)
    }

    /// The same in a container, which has no agent but a shell on its terminal.
    pub(in crate::area) async fn plan_in_container(
        self,
        spec: &Spec,
        guest: &Guest,
    ) -> Result<Plan, Fault> {
        if self.input.is_some() {
            return Err(Fault::bad_input(
                "a command in a container reads no input: it runs on a terminal",
            )
            .hint("put the data into the command, as in: echo data | program"));
        }
        let (command, shown) = self.started(&guest.config().await?);
        let within = self.within.unwrap_or_default();
        console::exec_plan(spec, guest, (command, &shown), within).await
    }

    /// What is started, and how that is said: one text alone goes to the guest's shell.
    fn started(&self, config: &GuestConfig) -> (Vec<String>, String) {
        let [line] = self.words.as_slice() else {
            let shown = clean::marked(&clean::line(&format!("{:?}", self.words)));
            return (self.words.clone(), in_short(&shown));
        };
        let shell = shell(config);
        let shown = in_short(&clean::marked(&clean::line(line)));
        let mut command: Vec<String> = shell.iter().copied().map(str::to_owned).collect();
        command.push(line.clone());
        (command, format!("\"{shown}\" with {}", shell.join(" ")))
    }
}

/// A command in a sentence. One that is too long for it stands whole in the request that a person is asked about.
fn in_short(shown: &str) -> String {
    let left = shown.chars().count().saturating_sub(SHOWN);
    match left {
        0 => shown.to_owned(),
        left => format!("{} and {left} characters more", words::clip(shown, SHOWN)),
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

/// The words of a command. Models send a line of shell as plain text.
pub(in crate::area) fn one_or_many<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a list of words, or one line")]
    enum Words {
        Many(Vec<String>),
        One(String),
    }
    Ok(match Words::deserialize(deserializer)? {
        Words::Many(words) => words,
        Words::One(line) => vec![line],
    })
}
