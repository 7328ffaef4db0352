//! `oxmox approve` and `oxmox reject`: a person's word on what waits, beside whatever server asked for it.

use std::sync::Arc;

use tools::engine::{lease_with, leased_guest};
use tools::fault::{Fault, Kind};
use tools::store::{PlanState, Store, StoredPlan, cannot_show_secret};
use tools::tool::Answer as _;
use tools::words::{self, continued};

use super::call::every_tool;
use super::exit::Exit;
use super::global::Global;
use super::person::{self, Reply};
use super::runtime::{self, Threads};
use super::{out, state};
use crate::config::{Config, DEMO_STATE};
use crate::session::now;

/// Decides on a change that waits for a person; without an id, lists what waits
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The plan's id, as the answer to the call gave it
    id: Option<String>,
    // Hidden: a program that is to ask a person through this command must not learn from it how to do without one.
    /// Decide without asking, in scripts of a person's own
    #[arg(long, short, hide = true)]
    yes: bool,
}

/// Shows the plan, asks, and records the decision.
pub fn run(args: &Args, approve: bool, global: &Global) -> Result<Exit, Fault> {
    runtime::block_on(Threads::One, decide(args, approve, global))
}

async fn decide(args: &Args, approve: bool, global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let Some(id) = &args.id else {
        return list(&config, global.program()).await;
    };
    let (store, stored) = find(&config, id, global.program()).await?;
    // A no also takes back a yes that was not used yet.
    let open = match stored.state {
        PlanState::Waiting => true,
        PlanState::Approved => !approve,
        PlanState::Rejected | PlanState::Used | PlanState::Replaced => false,
    };
    if !open || stored.expires <= now() {
        return Err(not_waiting(&store, &stored, global.program()).await?);
    }
    let by = person::name();
    if approve {
        config.policy().may_approve(&stored.caller, &by)?;
    }
    out::say(in_words(&stored, &config).await);
    if approve && stored.plan.types_secret() {
        return Err(cannot_show_secret(&stored.id));
    }
    let verb = if approve { "Approve" } else { "Reject" };
    let can_lease = approve && leased_guest(&stored.plan).is_some();
    let mut lease = false;
    if !args.yes {
        if !person::is_there() {
            out::hint("nobody can be asked here: a person has to run this at a terminal");
            return Ok(Exit::NeedsConfirmation);
        }
        let more = if can_lease {
            ", k: yes, and keys on this VM for ten minutes"
        } else {
            ""
        };
        match person::answer(&format!("{verb} it? [y/N{more}] ")) {
            Reply::Yes => {}
            Reply::YesAndMore if can_lease => lease = true,
            Reply::YesAndMore | Reply::No => {
                out::say("nothing decided; it still waits");
                return Ok(Exit::Failed);
            }
        }
    }
    if !store.decide_plan(&stored, approve, &by, now()).await? {
        return Err(not_waiting(&store, &stored, global.program()).await?);
    }
    if approve {
        out::say(format_args!(
            "approved: {}",
            continued(&stored.plan.summary)
        ));
        if lease && lease_with(&store, &stored, now()).await? {
            out::say("also approved: keys and text on this VM's console for ten minutes");
        }
        out::hint(format_args!(
            "it is applied once: at once if the call of {} still waits, else by the same call within {}",
            stored.caller,
            left(&stored)
        ));
    } else {
        out::say(format_args!(
            "rejected: {}",
            continued(&stored.plan.summary)
        ));
    }
    Ok(Exit::Done)
}

async fn list(config: &Config, program: &str) -> Result<Exit, Fault> {
    let waiting = match state::existing(config).await? {
        Some(store) => store.waiting_plans(now()).await?,
        None => Vec::new(),
    };
    if waiting.is_empty() {
        out::say("nothing waits for a person");
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = waiting
        .iter()
        .map(|stored| {
            [
                stored.id.clone(),
                stored.plan.risk().word().to_owned(),
                stored.plan.cluster.clone(),
                stored.caller.clone(),
                left(stored),
                stored.plan.summary.clone(),
            ]
        })
        .collect();
    out::table(&words::table(
        ["id", "risk", "cluster", "asked by", "expires in", "what"],
        &rows,
    ))?;
    out::hint(format_args!(
        "`{program} approve ID` or `{program} reject ID` decides"
    ));
    Ok(Exit::Done)
}

async fn find(config: &Config, id: &str, program: &str) -> Result<(Store, StoredPlan), Fault> {
    if let Some(store) = state::existing(config).await?
        && let Some(stored) = store.plan(id).await?
    {
        return Ok((store, stored));
    }
    let fault = Fault::new(Kind::NotFound, format!("there is no plan {id}"));
    let in_demo = match state::in_dir(&config.state_dir.join(DEMO_STATE))? {
        Some(store) => store.plan(id).await?.is_some(),
        None => false,
    };
    Err(if in_demo {
        fault.hint(format!(
            "it is one of the demo's: `oxmox --demo approve {id}`"
        ))
    } else {
        fault.hint(format!(
            "without an id, `{program} approve` lists what waits; --state-dir must be the server's"
        ))
    })
}

async fn not_waiting(store: &Store, stored: &StoredPlan, program: &str) -> Result<Fault, Fault> {
    // Somebody else may have decided since it was read.
    let current = store.plan(&stored.id).await?;
    let state = current.as_ref().map_or(stored.state, |plan| plan.state);
    let what = state.why_not_open();
    Ok(
        Fault::new(Kind::Conflict, format!("plan {} {what}", stored.id)).hint(format!(
            "`{program} approve` lists what waits, `{program} audit` what became of the rest"
        )),
    )
}

/// The plan as its preview shows it.
async fn in_words(stored: &StoredPlan, config: &Config) -> String {
    let (registry, freeze) = (Arc::new(every_tool()), Some(config.freeze_file()));
    let preview = tools::preview::without_cluster(&stored.plan, registry, freeze, now()).await;
    let text = tools::clean::text(&preview.text());
    let text = text.strip_suffix("nothing was changed\n").unwrap_or(&text);
    format!(
        "plan {} on cluster {}, asked for by {}, expires in {}\n{text}",
        stored.id,
        stored.plan.cluster,
        stored.caller,
        left(stored)
    )
}

fn left(stored: &StoredPlan) -> String {
    words::duration(u64::try_from(stored.expires - now()).unwrap_or(0))
}
