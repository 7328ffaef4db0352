//! The way back to the cluster that a journal is about: under the addresses that it had, if what answers there is still it.

use futures_util::future::join_all;
use pve::{Host, Presented, Reader, Trust, look};
use tools::fault::{Fault, Kind};

use super::journal::Journal;
use super::look::{LIMIT, unreached};
use super::nodes;
use super::wishes::Wishes;
use crate::cli::commands::Commands;

/// The nodes that present what they presented then, or what `--pin` says. Nothing is sent to any other.
pub(super) async fn hosts(journal: &Journal, wishes: &Wishes) -> Result<Vec<Host>, Fault> {
    let (pin, commands) = (wishes.pin, &wishes.commands);
    let trust = journal.trust();
    let hosts = journal.hosts()?;
    let seen = join_all(hosts.iter().map(|host| look(host, &trust, LIMIT))).await;
    let (mut right, mut others, mut silent) = (Vec::new(), Vec::new(), Vec::new());
    for (host, seen) in hosts.into_iter().zip(seen) {
        match seen {
            Ok(seen) if is_known(&host, &seen) => right.push(host),
            Ok(seen) if pin == Some(seen.fingerprint) => {
                right.push(host.with_pin(seen.fingerprint));
            }
            Ok(seen) => others.push(changed((&host, &seen), &trust, (journal, commands))),
            Err(error) => silent.push(unreached(&host, &error)),
        }
    }
    if !right.is_empty() {
        return Ok(right);
    }
    let mut faults = others.into_iter().chain(silent);
    let none = || {
        Fault::new(
            Kind::Failed,
            "setup has not written down where the cluster is",
        )
    };
    let fault = faults.next().unwrap_or_else(none);
    Err(or_only_here(fault, journal, commands))
}

fn is_known(host: &Host, seen: &Presented) -> bool {
    match host.pin {
        Some(pin) => pin == seen.fingerprint,
        None => seen.trusted,
    }
}

/// Another certificate than then, which must never look like the same.
fn changed(
    (host, seen): (&Host, &Presented),
    trust: &Trust,
    (journal, commands): (&Journal, &Commands),
) -> Fault {
    let before = match (host.pin, trust) {
        (Some(pin), _) => format!("it presented {pin} when setup was run"),
        (None, Trust::System) => "this system does not trust that one".to_owned(),
        (None, _) => "the cluster's authority does not vouch for that one".to_owned(),
    };
    let what = format!(
        "{host} presents another certificate than it should: {}, and {before}; nothing was sent",
        seen.fingerprint
    );
    Fault::new(Kind::Refused, what).hint(format!(
        "it was renewed, or somebody is in between: compare it with the one that `pvenode cert info` shows on the node \
         itself; if the new one is right, `{} --pin {}` accepts it",
        commands.undo(&journal.cluster),
        seen.fingerprint
    ))
}

/// Certificates come and go, the authority behind them stays: what another cluster has is not taken back, and what this one
/// has is not forgotten.
pub(super) async fn is_the_same(
    reader: &Reader,
    journal: &Journal,
    commands: &Commands,
) -> Result<(), Fault> {
    let Some(then) = journal.authority else {
        return Ok(());
    };
    let status = reader.cluster_status().await?;
    let now = nodes::authority(reader, &status.nodes).await;
    match now.and_then(|authority| authority.fingerprint) {
        Some(now) if now != then => {
            let what = format!(
                "another cluster answers there than the one that setup made {} on: its authority has the fingerprint {now}, and \
                 not {then}; nothing was changed",
                journal.cluster
            );
            let hint = "start the right one";
            Err(or_only_here(
                Fault::new(Kind::Conflict, what).hint(hint),
                journal,
                commands,
            ))
        }
        _ => Ok(()),
    }
}

/// The way round, for a cluster that is not there any more, or not now.
pub(super) fn or_only_here(fault: Fault, journal: &Journal, commands: &Commands) -> Fault {
    let is_said = |hint: &String| hint.contains("--local-only");
    if fault.hint.as_ref().is_some_and(is_said) {
        return fault;
    }
    let first = fault
        .hint
        .clone()
        .map(|hint| format!("{hint}; "))
        .unwrap_or_default();
    fault.hint(format!(
        "{first}where the cluster is out of reach, `{} --local-only` takes back what is on this machine, and keeps the rest \
         for later",
        commands.undo(&journal.cluster)
    ))
}
