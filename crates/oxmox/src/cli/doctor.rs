//! `oxmox doctor`: what works, what does not, and what to type about it.

use std::time::Duration;

use tools::fault::{Fault, Kind};

use super::exit::Exit;
use super::global::Global;
use super::out;
use super::runtime::{Threads, block_on};
use crate::config::{Config, Environment};
use crate::demo;
use crate::doctor::{self, Level, Patient, Report};

/// Looks at the configuration, the store and every cluster, and says what does not work and what to type about it
///
/// For each cluster: connection and certificate of each host, clock, version, token, which tools the token can use and
/// the pveum line that would allow the others, guest agents, storages. Never prints a secret.
///
/// On clusters it only reads. In the store it writes a row and takes it away again, to see whether that can be done; a store of
/// an older oxmox is brought forward, as by every command.
///
/// Exit code: 0 it works (perhaps with warnings), 1 something does not, 2 the configuration cannot be used.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Look at these clusters only, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    cluster: Vec<String>,
    /// How many seconds each may take; they are tried at the same time
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
}

/// Looks, and tells.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Fault> {
    let environment = Environment::of_process();
    let config = match global.load_from(&environment) {
        Ok(config) => config,
        Err(fault) if fault.kind == Kind::BadInput => {
            tell(args, &doctor::unusable(fault))?;
            return Ok(Exit::Usage);
        }
        Err(fault) => return Err(fault),
    };
    // The simulator works beside the one who looks.
    let report = block_on(Threads::Several, examine(args, &config, &environment))?;
    tell(args, &report)?;
    Ok(match report.worst() {
        Level::Problem => Exit::Failed,
        _ => Exit::Done,
    })
}

fn tell(args: &Args, report: &Report) -> Result<(), Fault> {
    if args.json {
        out::json(&report.json())
    } else {
        out::table(&report.text())
    }
}

async fn examine(args: &Args, config: &Config, environment: &Environment) -> Result<Report, Fault> {
    let limit = Duration::from_secs(args.timeout);
    if config.is_demo {
        let simulator = demo::simulator().await?;
        let settings = demo::settings(&simulator);
        let name = demo::CLUSTER.to_owned();
        let patients = vec![Patient {
            name,
            settings,
            is_new: false,
        }];
        return Ok(doctor::examine(config, environment, patients, limit).await);
    }
    let patients = doctor::patients(&args.cluster, config, environment)?;
    Ok(doctor::examine(config, environment, patients, limit).await)
}
