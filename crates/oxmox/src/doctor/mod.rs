//! `oxmox doctor`: what works, what does not, and what to type about it.
//!
//! | module | what it looks at |
//! |---|---|
//! | `configuration`, `files` | the configuration, and who else may read what is secret |
//! | `store`, `brake` | plans, approvals and the audit trail; whether changes are stopped |
//! | `cluster` | one cluster, in the order of what depends on what |
//! | `reach`, `tls`, `clock`, `version` | each of its hosts |
//! | `token`, `rights`, `holder`, `allow` | who we are there, which tools that is enough for, and what would be |
//! | `quorum`, `agents`, `storages` | what is on it |
//! | `finding`, `show` | what was found, and how it is told |
//!
//! On clusters it only reads. The store it opens as every command does, which brings one of an older oxmox forward, and
//! writes to it what it takes away again: nothing else tells whether that can be done. One cluster that does not answer
//! takes nothing away from what is said of the others, and secrets are in nothing that it says.

mod agents;
mod allow;
mod brake;
mod clock;
mod cluster;
mod configuration;
mod files;
mod finding;
mod holder;
mod quorum;
mod reach;
mod rights;
mod show;
mod storages;
mod store;
mod tls;
mod token;
mod version;

use std::time::Duration;

use futures_util::future::join_all;
use tools::fault::Fault;
use tools::registry::Registry;

pub use cluster::Patient;
pub use finding::{Finding, Level, Report};

use crate::config::{Config, Environment};

/// Everything: the configuration, what is kept, and each cluster, for so long at most.
pub async fn examine(
    config: &Config,
    environment: &Environment,
    patients: Vec<Patient>,
    limit: Duration,
) -> Report {
    let mut report = Report::default();
    report.extend(configuration::check(config, environment));
    report.extend(files::check(config));
    let names: Vec<_> = patients.iter().map(|one| one.name.clone()).collect();
    let registry = Registry::new(&config.toolsets, config.most(), names).with(config.choices);
    let examined = patients
        .iter()
        .map(|patient| cluster::check(patient, Some(&registry), limit));
    let (kept, examined) = tokio::join!(store::check(config, environment), join_all(examined));
    for found in examined {
        report.extend(found);
    }
    report.extend(kept);
    report
}

/// Only the doors: connection, certificate, clock, version and token of each cluster.
pub async fn knock(patients: &[Patient], limit: Duration) -> Report {
    let knocking = patients
        .iter()
        .map(|patient| cluster::check(patient, None, limit));
    let mut report = Report::default();
    for found in join_all(knocking).await {
        report.extend(found);
    }
    report
}

/// The clusters of these names, or all.
pub fn patients(
    names: &[String],
    config: &Config,
    environment: &Environment,
) -> Result<Vec<Patient>, Fault> {
    for name in names {
        config.require_cluster(name)?;
    }
    let wanted = (config.clusters.iter())
        .filter(|cluster| names.is_empty() || names.contains(&cluster.name));
    Ok(wanted
        .map(|cluster| Patient {
            name: cluster.name.clone(),
            // Who may read a file that holds a secret is told by itself.
            settings: Ok(cluster.settings(environment)),
            is_new: false,
        })
        .collect())
}

/// What is left to say where the configuration cannot be used.
pub fn unusable(fault: Fault) -> Report {
    let mut report = Report::default();
    report.extend([configuration::unusable(fault)]);
    report
}
