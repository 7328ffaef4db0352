//! `oxmox cluster`: which clusters there are, and whether they can be reached.

mod add;
mod section;

use std::time::Duration;

use pve::Trust;
use serde_json::json;
use tools::fault::{Fault, Kind};
use tools::words;

use super::exit::Exit;
use super::global::Global;
use super::out;
use super::runtime::{Threads, block_on};
use crate::config::{ClusterConfig, Config, ENVIRONMENT_CLUSTER, Edit, Environment};
use crate::doctor::{self, Level, Patient};
use crate::files::Lock;

/// Adds, lists, tests and removes clusters in the configuration file
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Add(Box<add::Args>),
    /// Lists the clusters that are configured; contacts none
    List {
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Tries each host of a cluster: connection, certificate, clock, version, token
    Test {
        /// The clusters [default: all]
        names: Vec<String>,
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
        /// How many seconds each may take; they are tried at the same time
        #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=600))]
        timeout: u64,
    },
    /// Takes a cluster out of the configuration file; its secret stays where it is
    Remove {
        /// The cluster's name
        name: String,
    },
}

/// Does one of them.
pub fn run(args: Args, global: &Global) -> Result<Exit, Fault> {
    let environment = Environment::of_process();
    if global.demo {
        return Err(
            Fault::bad_input("the demo has one cluster, and it is not in a file")
                .hint("leave --demo out"),
        );
    }
    match args.command {
        Command::Add(args) => add::run(&args, global, &environment),
        Command::List { json } => list(&global.load_from(&environment)?, json),
        Command::Test {
            names,
            json,
            timeout,
        } => {
            let config = global.load_from(&environment)?;
            let limit = Duration::from_secs(timeout);
            test(
                &doctor::patients(&names, &config, &environment)?,
                limit,
                json,
            )
        }
        Command::Remove { name } => remove(&name, global, &environment),
    }
}

fn list(config: &Config, json: bool) -> Result<Exit, Fault> {
    if json {
        let all: Vec<_> = config
            .clusters
            .iter()
            .map(|it| as_json(it, config))
            .collect();
        out::json(&json!({ "clusters": all }))?;
        return Ok(Exit::Done);
    }
    if config.clusters.is_empty() {
        out::say("no cluster is configured");
        out::hint("`oxmox setup` asks for what is needed, `oxmox cluster add` takes it as flags");
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = config
        .clusters
        .iter()
        .map(|cluster| {
            [
                cluster.name.clone(),
                hosts(cluster).join(", "),
                cluster.identity(),
                trust(cluster),
                words::word(&config.mode_of(&cluster.name)),
                cluster.prefers.tags.join(", "),
            ]
        })
        .collect();
    let heading = ["cluster", "hosts", "as", "certificates", "mode", "tags"];
    out::table(&words::table(heading, &rows))?;
    Ok(Exit::Done)
}

fn hosts(cluster: &ClusterConfig) -> Vec<String> {
    cluster.hosts.iter().map(ToString::to_string).collect()
}

fn trust(cluster: &ClusterConfig) -> String {
    let pinned = cluster
        .hosts
        .iter()
        .filter(|host| host.pin.is_some())
        .count();
    let others = match &cluster.trust {
        Trust::CaFile(file) => file.display().to_string(),
        Trust::CaText(_) => "authority".to_owned(),
        Trust::System => "system".to_owned(),
    };
    match (pinned, cluster.hosts.len() - pinned) {
        (_, 0) => "pinned".to_owned(),
        (0, _) => others,
        _ => format!("{pinned} pinned, {others}"),
    }
}

fn as_json(cluster: &ClusterConfig, config: &Config) -> serde_json::Value {
    let prefers = &cluster.prefers;
    json!({
        "name": cluster.name,
        "hosts": cluster.hosts.iter().map(|host| json!({
            "host": host.to_string(),
            "pin": host.pin,
        })).collect::<Vec<_>>(),
        "as": cluster.identity(),
        "mode": config.mode_of(&cluster.name),
        "tags": prefers.tags,
        "default_node": prefers.node.as_ref().map(ToString::to_string),
        "default_storage": prefers.storage.as_ref().map(ToString::to_string),
        "timeout": prefers.timeout.as_secs(),
    })
}

fn test(patients: &[Patient], limit: Duration, json: bool) -> Result<Exit, Fault> {
    if patients.is_empty() {
        return Err(
            Fault::bad_input("no cluster is configured").hint("`oxmox cluster add` adds one")
        );
    }
    let knocking = async { Ok(doctor::knock(patients, limit).await) };
    let report = block_on(Threads::One, knocking)?;
    if json {
        out::json(&report.json())?;
    } else {
        out::data(&report.text())?;
    }
    Ok(match report.worst() {
        Level::Problem => Exit::Failed,
        _ => Exit::Done,
    })
}

fn remove(name: &str, global: &Global, environment: &Environment) -> Result<Exit, Fault> {
    let file = global.config_file(environment)?;
    let _alone = Lock::on(&file)?;
    let config = global.load_from(environment)?;
    let mut edit = Edit::open(&file)?;
    if !edit.remove_cluster(name) {
        if name == ENVIRONMENT_CLUSTER && config.require_cluster(name).is_ok() {
            return Err(Fault::bad_input(format!(
                "{name} is not in a file: PROXMOX_HOST names it"
            ))
            .hint("`unset PROXMOX_HOST` takes it away"));
        }
        config.require_cluster(name)?;
        return Err(Fault::new(
            Kind::NotFound,
            format!("{name} is in no section of the file"),
        ));
    }
    let secret = config
        .require_cluster(name)
        .ok()
        .and_then(ClusterConfig::secret_file);
    // A rule that names it would be left without a meaning.
    global.load_text(&edit, environment)?;
    edit.write()?;
    out::say(format_args!(
        "{name} is gone from {}",
        edit.path().display()
    ));
    out::hint(format_args!(
        "as it was before: {}",
        edit.backup().display()
    ));
    // Where there is none, its name may be the secret itself, put there by mistake.
    if let Some(file) = secret.filter(|file| file.exists()) {
        out::hint(format_args!("its secret is still in {}", file.display()));
    }
    Ok(Exit::Done)
}
