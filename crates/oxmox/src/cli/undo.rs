//! `oxmox undo ID`: takes a change back with the call that its plan knows for that. It is a call like any other: planned
//! from how things are now, decided on, asked about, and in the audit trail.

use tools::fault::{Fault, Kind};
use tools::outcome::{Outcome, Status};
use tools::plan::Undo;
use tools::store::StoredPlan;
use tools::tool::Object;
use tools::words::continued;

use super::call::{self, Flags};
use super::exit::Exit;
use super::global::Global;
use super::runtime::{Threads, block_on};
use super::{out, state};
use crate::config::Config;

/// Takes back a change, where there is a way
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan's id: `oxmox audit` shows it
    id: String,
    /// Print the structured answer
    #[arg(long)]
    json: bool,
    /// Show what it would do, and stop there
    #[arg(long)]
    preview: bool,
    /// Confirm without asking
    #[arg(long, short)]
    yes: bool,
}

/// Finds the reverse call and makes it.
pub fn run(args: &Args, global: Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let program = global.program();
    let (stored, outcome) = block_on(Threads::One, find(&config, &args.id, program))?;
    let (tool, arguments) = reverse(&stored, outcome.as_ref())?;
    out::say(format_args!(
        "to take back: {}",
        continued(&stored.plan.summary)
    ));
    let flags = Flags::new(args.json, args.preview, args.yes);
    call::perform(&tool, arguments, flags, global)
}

async fn find(
    config: &Config,
    id: &str,
    program: &str,
) -> Result<(StoredPlan, Option<Outcome>), Fault> {
    if let Some(store) = state::existing(config).await?
        && let Some(stored) = store.plan(id).await?
    {
        let outcome = store.plan_outcome(id).await?;
        return Ok((stored, outcome));
    }
    Err(
        Fault::new(Kind::NotFound, format!("there is no plan {id}")).hint(format!(
            "`{program} audit` lists what was done; plans are kept for 90 days"
        )),
    )
}

/// The call that takes a plan back.
fn reverse(stored: &StoredPlan, outcome: Option<&Outcome>) -> Result<(String, Object), Fault> {
    let refused = |why: String| Fault::new(Kind::Refused, format!("plan {} {why}", stored.id));
    let Some(outcome) = outcome else {
        return Err(refused("has not come to an end".to_owned())
            .hint("wait for its end; if it waits for a person, reject it instead"));
    };
    if outcome.status == Status::NotApplied {
        return Err(refused(
            "was not applied: there is nothing to take back".to_owned(),
        ));
    }
    let (tool, arguments) = match (&outcome.undo, &stored.plan.undo) {
        (Some(undo), _) => (undo.tool.clone(), undo.arguments.clone()),
        (None, Undo::Impossible { because }) => {
            return Err(refused(format!("cannot be taken back: {because}")));
        }
        (None, Undo::Call { tool, .. }) => {
            return Err(
                refused(format!("ended as {}", outcome.status.word())).hint(format!(
                    "look at what was done of it first; {tool} takes back what there is"
                )),
            );
        }
    };
    let mut arguments = arguments;
    let cluster = stored.plan.cluster.clone();
    arguments.insert("cluster".to_owned(), cluster.into());
    Ok((tool, arguments))
}
