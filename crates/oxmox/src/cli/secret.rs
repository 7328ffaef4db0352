//! `oxmox secret`: the secrets that the configuration names, and never holds.

use secrecy::SecretString;
use tools::fault::{Fault, Kind, explain};

use super::exit::Exit;
use super::global::Global;
use super::runtime::{Threads, block_on};
use super::{out, setup};
use crate::config::secret::variable;
use crate::config::{ClusterConfig, Environment, SecretSource, secret_file, token_secret};
use crate::files::Lock;
use crate::keep::{Keep, Keyring};
use crate::setup::keyboard::{self, Leaving};
use crate::setup::talk::Talk;

/// Puts a cluster's secret where the configuration says it is, or tries it
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Takes a new secret, from stdin or a question, and puts it in the old one's place
    Set {
        /// The cluster's name
        name: String,
        /// Keep it without trying it
        #[arg(long)]
        no_test: bool,
    },
    /// Fetches the secret and tries whether the cluster takes it; prints neither
    Test {
        /// The cluster's name
        name: String,
    },
}

/// Sets or tests.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Fault> {
    let environment = Environment::of_process();
    let _alone = match &args.command {
        // Where the secret belongs must not change meanwhile.
        Command::Set { .. } => Some(Lock::on(&global.config_file(&environment)?)?),
        Command::Test { .. } => None,
    };
    let config = global.load()?;
    match &args.command {
        Command::Set { name, no_test } => {
            let cluster = config.require_cluster(name)?;
            block_on(Threads::One, set(cluster, &environment, !no_test))
        }
        Command::Test { name } => {
            let cluster = config.require_cluster(name)?;
            block_on(Threads::One, test(cluster, &environment))
        }
    }
}

async fn set(
    cluster: &ClusterConfig,
    environment: &Environment,
    is_tried: bool,
) -> Result<Exit, Fault> {
    let elsewhere = |place: String| {
        Fault::bad_input(format!(
            "the secret of {} is not kept by oxmox: {place}",
            cluster.name
        ))
        .hint(format!(
            "set it there; or name a file in the configuration instead, by {}_file",
            cluster.login.key()
        ))
    };
    let keep = match cluster.login.source() {
        SecretSource::File(path) => {
            // A file of that name would hold it, and everybody who lists the directory would see it.
            let key = format!("{}_file", cluster.login.key());
            secret_file::misplaced(path, &key).map_or(Ok(()), Err)?;
            Keep::File { path: path.clone() }
        }
        SecretSource::Command(words) => Keep::named(words).ok_or_else(|| {
            let program = words.first().map_or("", String::as_str);
            let program = token_secret::veiled(program);
            elsewhere(format!("the program {program} prints it"))
        })?,
        SecretSource::Variable(name) => {
            let variable = variable(name, cluster.login.key());
            return Err(elsewhere(format!("it is in {variable}")));
        }
        SecretSource::Held(_) => return Err(elsewhere("it is in the environment".to_owned())),
    };
    let (secret, leaving) = taken().await?;
    if is_tried {
        // PVE shows a secret once: the old one may be nowhere else.
        let mut new = cluster.clone();
        *new.login.source_mut() = SecretSource::Held(secret.clone());
        tried(&new, environment).await.map_err(|fault| {
            // What there is to do about a refusal is for one that is kept.
            let hint = fault.hint.filter(|_| fault.kind != Kind::Forbidden);
            let hint = hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
            Fault::new(fault.kind, format!("{}; it is not kept", fault.message))
                .hint(format!("{hint}--no-test keeps it all the same"))
        })?;
    }
    drop(leaving);
    keep.store(&secret).map_err(|fault| match &keep {
        Keep::Keyring(Keyring { program, .. }) => {
            // One without a path is looked for in many places.
            let first = if program.is_absolute() && !program.exists() {
                format!("see that {} is there", program.display())
            } else {
                "unlock it".to_owned()
            };
            fault.hint(format!(
                "{first}, and run the command again; or name a file in the configuration instead, by {}_file",
                cluster.login.key()
            ))
        }
        Keep::File { .. } => fault,
    })?;
    out::say(format_args!("the secret of {} is in {keep}", cluster.name));
    Ok(Exit::Done)
}

/// The secret as somebody gives it: by a question if they are there, else on stdin. Whoever was asked can leave until that is
/// dropped.
pub(super) async fn taken() -> Result<(SecretString, Option<Leaving>), Fault> {
    if super::person::is_there() {
        let leaving = keyboard::may_leave();
        let secret = Talk::new(false).secret("The secret", "stdin").await?;
        return Ok((secret, Some(leaving)));
    }
    let secret = setup::secret(true, None, ("secret", "stdin"))?;
    Ok((secret.unwrap_or_default(), None))
}

async fn test(cluster: &ClusterConfig, environment: &Environment) -> Result<Exit, Fault> {
    let told = tried(cluster, environment).await?;
    out::say(told);
    Ok(Exit::Done)
}

/// Whether the cluster takes it, in words.
async fn tried(cluster: &ClusterConfig, environment: &Environment) -> Result<String, Fault> {
    let settings = cluster.settings(environment);
    settings.credentials.fetch().await?;
    let (reader, _) = pve::connect(settings)?;
    let name = &cluster.name;
    let version = reader.version().await.map_err(|error| match error {
        error if error.is_refused_login() => {
            let what = format!("{name} does not take the secret: {}", explain(&error));
            Fault::new(Kind::Forbidden, what).hint(format!(
                "`oxmox secret set {name}` puts another in its place"
            ))
        }
        // The secret may be right, so that nothing is said of it.
        pve::Error::Auth { .. } => Fault::new(Kind::Failed, explain(&error)),
        other => Fault::from(other),
    })?;
    Ok(format!(
        "{name} lets {} in (PVE {version})",
        reader.identity()
    ))
}
