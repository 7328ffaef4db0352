//! Running a command in a container, through a shell on its terminal.

use pve::Value;
use pve::console::Program;

use crate::context::Guest;
use crate::fault::Fault;
use crate::plan::{Action, Blocker, Plan, Step, TerminalExec, Undo};
use crate::spec::Spec;

/// Bytes of a line that every terminal takes at once, a little less.
const MOST: usize = 4000;
/// As long as every mark.
const MARK: &str = "0123456789abcdef";

/// A plan that runs a command in a container and reads its output and exit code. The container must have `cmode: shell`:
/// only that gives a shell without a login.
pub(in crate::area) async fn exec_plan(
    spec: &Spec,
    guest: &Guest,
    (command, shown): (Vec<String>, &str),
    within: u64,
) -> Result<Plan, Fault> {
    super::require_login(guest)?;
    guest.require_online()?;
    check(&command)?;
    let says = format!("Run {shown} in {}", guest.label());
    let summary = format!("{says} on {}", guest.at.node);
    let config = guest.config().await?;
    let does = "whatever the command does, with all rights inside";
    let mut plan = super::frame(spec, guest, &config, (summary, does)).await?;
    if config.text("cmode").as_deref() != Some("shell") {
        plan.blockers.push(no_shell(guest));
    }
    plan.undo = Undo::Impossible {
        because: "what a command does inside is not known here; snapshot_proxmox_vm before it gives a way back"
            .to_owned(),
    };
    let exec = TerminalExec {
        at: guest.at.clone(),
        command: command.into_iter().map(Value::from).collect(),
        within,
    };
    plan.steps.push(Step::new(says, Action::TerminalExec(exec)));
    Ok(plan)
}

fn check(command: &[String]) -> Result<(), Fault> {
    // Quotes make a line longer than its words.
    let length = Program::new(command, MARK).line().len();
    if length > MOST {
        return Err(Fault::bad_input(format!(
            "the command makes a line of {length} bytes; the terminal of a container takes {MOST}"
        ))
        .hint("send less at once"));
    }
    if command.iter().any(|word| word.contains(char::is_control)) {
        return Err(Fault::bad_input(
            "the command holds a line end or another control character, which the terminal of a container would take \
             for a key",
        )
        .hint("join lines of a script by \";\", and write other ones as escapes that the program itself reads"));
    }
    Ok(())
}

fn no_shell(guest: &Guest) -> Blocker {
    Blocker::new(
        format!(
            "{} asks for a login on its terminal: commands run there only with cmode: shell",
            guest.label()
        ),
        format!(
            "update_proxmox_vm {{\"vmid\": {}, \"set\": {{\"cmode\": \"shell\"}}}}, then stop_proxmox_vm with action \
             reboot: it takes effect at a restart, and a login session that is open stays attached until then",
            guest.at.vmid
        ),
    )
}
