//! `oxmox cluster add`

use std::path::Path;
use std::time::Duration;

use secrecy::SecretString;
use tools::fault::Fault;

use super::super::exit::Exit;
use super::super::global::Global;
use super::super::runtime::{Threads, block_on};
use super::super::{out, secret};
use super::section;
use crate::config::{
    Config, ENVIRONMENT_CLUSTER, Edit, Environment, SecretSource, check_cluster_name,
};
use crate::doctor::{self, Level};
use crate::files::Lock;
use crate::keep::{Keep, Wanted};
use crate::setup::keyboard::Leaving;

/// Adds a cluster to the configuration file, after trying it
///
/// Secrets are never given here: name the file, the variable or the program that holds them, or let oxmox keep them by
/// --secret-store. A certificate that is not
/// trusted is shown with its fingerprint; compare that with the one on the node, and add it: --host pve1:8006=AA:BB:…
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What callers and rules will know it by
    pub(super) name: String,
    /// A node, and the fingerprint that its certificate must have; several stand in for each other
    #[arg(long, value_name = "HOST[=PIN]", required = true)]
    pub(super) host: Vec<String>,
    /// Who may vouch for certificates without a pin: a copy of /etc/pve/pve-root-ca.pem
    #[arg(long, value_name = "FILE")]
    pub(super) ca_file: Option<String>,
    /// An API token without its secret: root@pam!oxmox
    #[arg(
        long,
        value_name = "ID",
        conflicts_with = "user",
        required_unless_present = "user"
    )]
    pub(super) token: Option<String>,
    /// The file with the token's secret
    #[arg(long, value_name = "FILE", requires = "token", group = "secret")]
    pub(super) token_secret_file: Option<String>,
    /// The variable with the token's secret
    #[arg(long, value_name = "NAME", requires = "token", group = "secret")]
    pub(super) token_secret_env: Option<String>,
    /// The program that prints the token's secret, with its arguments
    #[arg(long, value_name = "WORDS", requires = "token", group = "secret", num_args = 1.., value_terminator = ";")]
    pub(super) token_secret_command: Option<Vec<String>>,
    /// A user with a password, for terminals: root@pam
    #[arg(long, value_name = "ID")]
    pub(super) user: Option<String>,
    /// The file with the password
    #[arg(long, value_name = "FILE", requires = "user", group = "secret")]
    pub(super) password_file: Option<String>,
    /// The variable with the password
    #[arg(long, value_name = "NAME", requires = "user", group = "secret")]
    pub(super) password_env: Option<String>,
    /// The program that prints the password, with its arguments
    #[arg(long, value_name = "WORDS", requires = "user", group = "secret", num_args = 1.., value_terminator = ";")]
    pub(super) password_command: Option<Vec<String>>,
    /// Take the secret from stdin or a question, and keep it there once the cluster has let it in
    #[arg(long, value_enum, value_name = "WHERE", group = "secret")]
    secret_store: Option<Wanted>,
    /// Where new guests go if nobody says
    #[arg(long, value_name = "NODE")]
    pub(super) default_node: Option<String>,
    /// Where their disks go
    #[arg(long, value_name = "STORAGE")]
    pub(super) default_storage: Option<String>,
    /// How much oxmox may do there without asking
    #[arg(long = "cluster-mode", value_name = "MODE", value_parser = ["read-only", "ask", "trusted"])]
    pub(super) cluster_mode: Option<String>,
    /// Words that rules can name it by, separated by commas
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub(super) tags: Vec<String>,
    /// Seconds after which lists over several clusters go on without it [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub(super) answer_within: Option<u16>,
    /// Write it without trying it
    #[arg(long)]
    no_test: bool,
}

/// How long the trial may take.
const LIMIT: Duration = Duration::from_secs(20);

pub(super) fn run(args: &Args, global: &Global, environment: &Environment) -> Result<Exit, Fault> {
    let name = &args.name;
    check_cluster_name(name)?;
    if name == ENVIRONMENT_CLUSTER && environment.has_cluster() {
        // The trial would be of that one, and this one would be written.
        let what = format!(
            "{name} is the cluster that PROXMOX_HOST names, which hides one of that name in the file"
        );
        return Err(
            Fault::bad_input(what).hint("choose another name, or `unset PROXMOX_HOST` first")
        );
    }
    let file = global.config_file(environment)?;
    let _alone = Lock::on(&file)?;
    let mut edit = Edit::open(&file)?;
    if edit.has_cluster(name) {
        return Err(
            Fault::bad_input(format!("there is a cluster {name} already"))
                .hint(format!("`oxmox cluster remove {name}` takes it out")),
        );
    }
    let trial = tried(args, global, &mut edit, environment);
    let (new, worst) = block_on(Threads::One, trial)?;
    if worst == Level::Problem {
        out::say("nothing was written");
        out::hint("--no-test writes it all the same");
        return Ok(Exit::Failed);
    }
    if let Some(new) = &new {
        new.keep.store(&new.secret)?;
        out::say(format_args!("its secret is in {}", new.keep));
    }
    edit.write().inspect_err(|_| {
        // What nothing names is of no use.
        let _ = new.as_ref().map(|new| new.keep.remove());
    })?;
    out::say(format_args!("{name} is in {}", edit.path().display()));
    out::hint(
        "`oxmox doctor` shows what its token can do; a server that runs has to be started anew",
    );
    Ok(Exit::Done)
}

/// Puts the cluster into the edit and tries it, perhaps with a secret that is still to be kept. Until the end of this, a
/// person can leave.
async fn tried(
    args: &Args,
    global: &Global,
    edit: &mut Edit,
    environment: &Environment,
) -> Result<(Option<New>, Level), Fault> {
    let name = &args.name;
    let (new, _leaving) = match args.secret_store {
        Some(wanted) => {
            let (new, leaving) = New::take(wanted, name, edit, environment).await?;
            (Some(new), leaving)
        }
        None => (None, None),
    };
    edit.set_cluster(name, section::of(args, new.as_ref().map(|new| &new.keep))?)?;
    // As oxmox itself will read it.
    let mut config = global.load_text(edit, environment)?;
    if let Some(new) = &new {
        new.stand_in(name, &mut config);
    }
    if args.no_test {
        return Ok((new, Level::Ok));
    }
    let mut patients = doctor::patients(std::slice::from_ref(name), &config, environment)?;
    for patient in &mut patients {
        patient.is_new = true;
    }
    let report = doctor::knock(&patients, LIMIT).await;
    out::say(report.text());
    Ok((new, report.worst()))
}

/// A secret that is not kept anywhere yet, and where it will be.
struct New {
    keep: Keep,
    secret: SecretString,
}

impl New {
    async fn take(
        wanted: Wanted,
        cluster: &str,
        edit: &Edit,
        environment: &Environment,
    ) -> Result<(Self, Option<Leaving>), Fault> {
        let dir = edit.path().parent().unwrap_or(Path::new("."));
        let (keep, why) = Keep::find(wanted, cluster, dir, environment)?;
        if let Some(why) = why {
            out::say(format_args!("the secret is kept in a file: {why}"));
        }
        let (secret, leaving) = secret::taken().await?;
        Ok((Self { keep, secret }, leaving))
    }

    /// For the trial: nothing is where the configuration says yet.
    fn stand_in(&self, cluster: &str, config: &mut Config) {
        let mut clusters = config.clusters.iter_mut();
        if let Some(cluster) = clusters.find(|known| known.name == cluster) {
            *cluster.login.source_mut() = SecretSource::Held(self.secret.clone());
        }
    }
}
