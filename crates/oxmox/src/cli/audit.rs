//! `oxmox audit`: what was attempted, by whom, and what became of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tools::fault::{Fault, Kind};
use tools::spec::Risk;
use tools::store::{AuditEntry, Link, Store, Verified};
use tools::words;

use super::exit::Exit;
use super::global::Global;
use super::runtime::{Threads, block_on};
use super::{out, state};
use crate::config::Config;

/// How much of a reason the table has room for; `--json` has all of it.
const WHY: usize = 160;

/// Shows the audit trail, or checks that nobody tampered with it
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Print one JSON object per entry
    #[arg(long)]
    json: bool,
    /// How many attempts to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Prints every entry as it was written, one JSON object per line
    Export {
        /// Only entries after this number, such as the last one of an earlier export
        #[arg(long, value_name = "SEQ", default_value_t = 0)]
        since: i64,
    },
    /// Checks the whole chain of entries
    Verify {
        /// A head that an earlier check printed and that was kept elsewhere: finds a tail that was cut off
        #[arg(long, value_name = "LINK")]
        head: Option<String>,
    },
}

/// Shows or checks.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    block_on(Threads::One, async {
        match &args.command {
            Some(Command::Export { since }) => export(&config, *since).await,
            Some(Command::Verify { head }) => verify(&config, head.as_deref()).await,
            None => show(args, &config).await,
        }
    })
}

async fn show(args: &Args, config: &Config) -> Result<Exit, Fault> {
    let Some(store) = state::existing(config).await? else {
        out::say(format_args!(
            "nothing was recorded yet in {}",
            config.state_dir.display()
        ));
        return Ok(Exit::Done);
    };
    // Each attempt has two entries.
    let trail = store.audit_trail(args.limit.saturating_mul(2)).await?;
    if args.json {
        for link in &trail {
            out::data(&line(link)?.to_string())?;
        }
    } else {
        out::table(&table(&trail))?;
    }
    Ok(Exit::Done)
}

async fn export(config: &Config, since: i64) -> Result<Exit, Fault> {
    let Some(store) = state::existing(config).await? else {
        return Err(no_trail(config));
    };
    let mut after = since;
    loop {
        let page = store.audit_since(after).await?;
        let Some((last, ..)) = page.last() else {
            return Ok(Exit::Done);
        };
        after = *last;
        for (seq, entry, link) in page {
            // One that somebody broke is printed all the same; `verify` names it.
            let entry = serde_json::from_str(&entry).unwrap_or(Value::String(entry));
            out::data(&placed(seq, entry, &link).to_string())?;
        }
    }
}

/// An entry with its place in the chain.
fn line(link: &Link) -> Result<Value, Fault> {
    let entry = serde_json::to_value(&link.entry)
        .map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    Ok(placed(link.seq, entry, &link.link))
}

fn placed(seq: i64, entry: Value, link: &str) -> Value {
    let Value::Object(entry) = entry else {
        return json!({ "seq": seq, "unreadable": entry, "link": link });
    };
    let mut whole = tools::tool::Object::new();
    whole.insert("seq".to_owned(), json!(seq));
    whole.extend(entry);
    whole.insert("link".to_owned(), json!(link));
    Value::Object(whole)
}

fn no_trail(config: &Config) -> Fault {
    Fault::new(
        Kind::NotFound,
        format!("there is no audit trail in {}", config.state_dir.display()),
    )
    .hint("if there was one, it was removed; if not, --state-dir must be the server's")
}

/// One row of the table.
struct Row<'a> {
    /// The plan of an attempt, by which its closing entry is known.
    open: Option<&'a str>,
    cluster: &'a str,
    result: String,
    why: Option<&'a str>,
    cells: [String; 4],
    who: String,
    what: String,
}

/// One row per attempt, newest last; with the clusters if there are several.
pub fn table(trail: &[Link]) -> String {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for Link { seq, entry, .. } in trail {
        let cells = |at: &i64, plan: &str, risk: Option<Risk>| {
            let risk = risk.map(|risk| risk.word().to_owned()).unwrap_or_default();
            [seq.to_string(), words::time(*at), plan.to_owned(), risk]
        };
        match entry {
            AuditEntry::Opened {
                at,
                plan,
                caller,
                cluster,
                tool,
                summary,
                risk,
                confirmed_by,
                pve_identity,
                ..
            } => rows.push(Row {
                open: Some(plan),
                cluster: cluster.as_deref().unwrap_or_default(),
                result: "open: may have been sent".to_owned(),
                why: None,
                cells: cells(at, plan, *risk),
                who: who(caller, pve_identity.as_deref(), confirmed_by.as_deref()),
                what: summary.clone().unwrap_or_else(|| tool.clone()),
            }),
            AuditEntry::Decided {
                at,
                plan,
                decision,
                decided_by,
                caller,
                cluster,
                summary,
                risk,
                ..
            } => rows.push(Row {
                // Nothing closes it: it is no attempt.
                open: None,
                cluster: cluster.as_deref().unwrap_or_default(),
                result: decision.clone(),
                why: None,
                cells: cells(at, plan, Some(*risk)),
                who: format!("{decided_by}, asked by {caller}"),
                what: summary.clone(),
            }),
            AuditEntry::Closed {
                plan,
                result,
                reason,
                ..
            } => {
                // The entry that it closes; one that is too old to be shown is passed over.
                if let Some(row) = rows.iter_mut().rev().find(|row| row.open == Some(plan)) {
                    row.result = result.replace('_', " ");
                    row.why = reason.as_deref();
                }
            }
        }
    }
    let named = rows.iter().map(|row| row.cluster);
    let clusters: BTreeSet<_> = named.filter(|name| !name.is_empty()).collect();
    let mut heading = vec!["entry", "when", "plan", "risk", "result", "who", "what"];
    if clusters.len() > 1 {
        heading.insert(5, "cluster");
    }
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let mut cells = row.cells.to_vec();
            cells.push(row.result);
            cells.extend((clusters.len() > 1).then(|| row.cluster.to_owned()));
            let why = row.why.and_then(|why| why.lines().next());
            let why = why.map(|why| format!(": {}", words::clip(why, WHY)));
            cells.extend([row.who, row.what + &why.unwrap_or_default()]);
            cells
        })
        .collect();
    words::grid(&heading, &rows)
}

/// Who asked, as whom PVE knows them if that is their own affair, and who said yes.
fn who(caller: &str, identity: Option<&str>, confirmed_by: Option<&str>) -> String {
    let mut who = caller.to_owned();
    if let Some(identity) = identity {
        let _ = write!(who, " as {identity}");
    }
    if let Some(by) = confirmed_by.filter(|by| !caller.ends_with(&format!(":{by}"))) {
        let _ = write!(who, ", yes by {by}");
    }
    who
}

async fn verify(config: &Config, head: Option<&str>) -> Result<Exit, Fault> {
    let Some(store) = state::existing(config).await? else {
        return Err(no_trail(config));
    };
    report(&store, head).await
}

async fn report(store: &Store, head: Option<&str>) -> Result<Exit, Fault> {
    match store.verify_audit(head).await? {
        Verified::Broken { seq } => Err(Fault::new(
            Kind::Failed,
            format!(
                "the audit trail is broken at entry {seq}: it was edited, removed or put elsewhere"
            ),
        )
        .hint("entries before it hold; what follows cannot be trusted")),
        Verified::Whole {
            anchored: Some(false),
            ..
        } => Err(Fault::new(
            Kind::Failed,
            "the audit trail does not contain that head: entries at its end were removed, or it is another trail",
        )),
        Verified::Whole {
            entries,
            head: last,
            anchored,
        } => {
            out::data(&format!("whole: {entries} entries\nhead: {last}\n"))?;
            if anchored.is_none() {
                out::hint(
                    "a tail that was cut off cannot be seen without a head from before: keep this one elsewhere and give it as --head",
                );
            }
            Ok(Exit::Done)
        }
    }
}
