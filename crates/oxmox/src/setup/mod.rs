//! `oxmox setup`: from nothing to a client that reaches a cluster.
//!
//! | module | what it is about |
//! |---|---|
//! | [`wishes`], [`talk`], `keyboard` | what a person said beforehand, what they are asked, and how they answer |
//! | `probe` | whether this machine can keep what setup will write |
//! | [`look`] | the certificate, before anything is sent |
//! | [`login`] | a login, with its second factor, or a token that is there already |
//! | [`facts`], [`nodes`] | what the cluster is and has |
//! | [`role`], `rights` | which privileges, and where; whether whoever asks may hand them out |
//! | `inherited` | what a role takes the place of |
//! | `choices`, `remembered`, [`tokens`], `secrets`, `trusted`, `prepare` | from there to a plan |
//! | [`plan`], [`words`] | what will be done, as data and for people |
//! | [`apply`], [`trial`], `last`, `made`, [`journal`], `trail` | doing it, trying it, writing down what was made |
//! | [`written`] | what it takes to put a person's files back exactly |
//! | [`undo`], `reached`, `withdrawn`, `handed` | taking it back: the way to the cluster, what goes there, and who needs the rest |
//! | `restored`, `shared`, `closed` | the same on this machine: files, who else needs them, and what is forgotten |
//! | `signals`, `dead` | what ends it in the middle, and what is left of one that was killed |

pub mod apply;
mod choices;
mod closed;
mod dead;
pub mod facts;
mod handed;
mod inherited;
pub mod journal;
pub mod keyboard;
mod last;
pub mod login;
pub mod look;
mod made;
pub mod nodes;
pub mod plan;
mod prepare;
mod probe;
mod reached;
mod remembered;
mod restored;
mod rights;
pub mod role;
mod secrets;
mod shared;
mod signals;
pub mod talk;
pub mod tokens;
pub mod trail;
pub mod trial;
mod trusted;
pub mod undo;
pub mod wishes;
mod withdrawn;
pub mod words;
pub mod written;

use std::path::PathBuf;

use pve::{Host, Settings, Trust, Writer};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;
use tools::fault::{Fault, Kind};

use crate::cli::brake::Brake;
use crate::cli::commands::Commands;
use crate::cli::exit::Exit;
use crate::cli::out;
use crate::config::{Config, Environment};
use crate::files::Locks;
use apply::Work;
use choices::Choices;
use facts::Facts;
use journal::At;
use look::Known;
use plan::Plan;
use prepare::{Reach, Settled, Way, prepare};
use talk::Talk;
use trail::{Recorded, Trail};
use trial::Trial;
use wishes::{Here, Wishes};

pub use dead::clear_dead;

/// Asks what was not said, shows what it will do, and does it.
pub async fn run(
    wishes: Wishes,
    config: &Config,
    environment: &Environment,
    here: &Here,
    locks: Locks,
) -> Result<Exit, Fault> {
    let talk = Talk::new(wishes.yes);
    let leaving = keyboard::may_leave();
    probe::files(&wishes, environment, here, talk)?;
    let host = host(&wishes, talk).await?;
    let shelf = probe::shelf(&wishes, &host, (config, environment), here)?;
    let known = Known::of(&host, config);
    let host = look::decide(host, known, &wishes, talk).await?;
    let (way, writer) = enter(host, &wishes, talk).await?;
    let asking = (talk, way.entered.token.is_some());
    let choices = Choices::make(
        &wishes,
        &way.facts,
        (&way.host, config),
        environment,
        asking,
    )
    .await?;
    let settled = Settled {
        config,
        environment,
        here,
        shelf,
    };
    let files = choices.files(environment)?.into_iter();
    let files = files.filter(|_| !wishes.dry_run);
    let locks = locked(locks, files.collect()).await?;
    let (plan, reach) = prepare(&way, &choices, &wishes, &settled).await?;
    let trial = trial(&plan, &reach, &way, &choices);
    let place = format!(
        "{} (PVE {}), as {}",
        Choices::title(&way.facts),
        way.facts.version,
        way.reader.identity()
    );
    if plan.is_empty() {
        if let Some(journal) = reach.journal.filter(|_| !wishes.dry_run) {
            last::tidy(&plan, journal, &here.state)?;
        }
        return nothing_to_do(&plan, &trial, reach.secret.as_ref()).await;
    }
    if let Some(exit) = agreed(&plan, &place, &wishes, talk).await? {
        return Ok(exit);
    }
    let is_first_run = reach.journal.is_none();
    let way_out = wishes.commands.after_failure(&plan.cluster, is_first_run);
    let stop = signals::stop(way_out.clone());
    drop(leaving);
    let sent = Sent {
        writer: &writer,
        trial: &trial,
        commands: &wishes.commands,
        dirs: locks.dirs(),
        way_out,
        stop: stop.clone(),
    };
    match perform(&plan, reach, way, sent, &settled).await {
        Ok(()) => {}
        Err(fault) if stop.is_cancelled() => {
            out::fault(&fault);
            return Ok(Exit::Interrupted);
        }
        Err(fault) => return Err(fault),
    }
    finished(&plan, &wishes.commands);
    Ok(Exit::Done)
}

/// What the plan is carried out with.
struct Sent<'a> {
    writer: &'a Writer,
    trial: &'a Trial,
    commands: &'a Commands,
    dirs: Vec<PathBuf>,
    way_out: String,
    stop: CancellationToken,
}

/// No other oxmox changes these files, too. On a thread of its own: meanwhile somebody has to hear Ctrl-C.
async fn locked(mut locks: Locks, files: Vec<PathBuf>) -> Result<Locks, Fault> {
    let taking = tokio::task::spawn_blocking(move || {
        for file in &files {
            locks.add(file)?;
        }
        Ok(locks)
    });
    let taken = taking.await;
    taken.map_err(|error| Fault::new(Kind::Internal, error.to_string()))?
}

/// How the token will be used, and what it must be able to do.
fn trial(plan: &Plan, reach: &Reach, way: &Way, choices: &Choices) -> Trial {
    let credentials = way.entered.settings.credentials.clone();
    let mut settings = Settings::new(reach.hosts.clone(), credentials);
    settings.trust = reach.ca_file.clone().map_or(Trust::System, Trust::CaFile);
    settings.hidden.clone_from(&way.entered.settings.hidden);
    Trial {
        settings,
        token: plan.token.clone(),
        // What a token that was brought along lacks is its owner's matter, and said before.
        grant: Some(choices.grant.clone()).filter(|_| way.entered.token.is_none()),
    }
}

/// Everything is there. Whether it works is tried all the same.
async fn nothing_to_do(
    plan: &Plan,
    trial: &Trial,
    secret: Option<&SecretString>,
) -> Result<Exit, Fault> {
    for note in &plan.notes {
        out::say(format_args!("note: {note}"));
    }
    if let Some(secret) = secret {
        for note in trial.run(secret).await? {
            out::warn(note);
        }
    }
    out::say("everything is as it should be; there is nothing to do");
    Ok(Exit::Done)
}

async fn enter(host: Host, wishes: &Wishes, talk: Talk) -> Result<(Way, Writer), Fault> {
    let entered = login::enter(vec![host.clone()], Trust::System, wishes, talk).await?;
    let (reader, writer) = pve::connect(entered.settings.clone())?;
    if let Some((token, _)) = &entered.token {
        rights::has_some(&reader, &token.to_string()).await?;
    }
    let facts = Facts::read(&reader).await.map_err(|fault| Fault {
        message: format!("{host} let us in, and then: {}", fault.message),
        ..fault
    })?;
    let way = Way {
        host,
        entered,
        reader,
        facts,
    };
    Ok((way, writer))
}

async fn perform(
    plan: &Plan,
    reach: Reach,
    way: Way,
    sent: Sent<'_>,
    settled: &Settled<'_>,
) -> Result<(), Fault> {
    let Sent { writer, trial, .. } = sent;
    let here = settled.here;
    let mut journal = reach.journal.clone().unwrap_or_default();
    journal.cluster.clone_from(&plan.cluster);
    let authority = way.facts.authority.as_ref();
    journal.authority = authority
        .and_then(|it| it.fingerprint)
        .or(journal.authority);
    // The way back, good whatever becomes of the files.
    journal.hosts = reach.hosts.iter().map(At::from).collect();
    let authority = plan.authority.as_ref();
    journal.ca = authority.and_then(|draft| draft.after.clone());
    if way.entered.token.is_none() {
        journal.login = Some(way.reader.identity());
    }
    let identity = way.reader.identity();
    let trail = if plan.steps.is_empty() && plan.last.is_empty() {
        Trail::unneeded()
    } else {
        Trail::open(settled.config, sent.commands, &plan.cluster, identity).await
    };
    let given = way.entered.token.map(|(_, secret)| secret);
    let work = Work {
        plan,
        writer: Recorded {
            writer,
            trail,
            brake: Brake::of(settled.config, sent.commands),
        },
        state: &here.state,
        way_out: sent.way_out,
        trial,
        written: reach.written,
        secret: given.or(reach.secret),
        dirs: sent.dirs,
        stop: sent.stop,
    };
    let secret = work.run(reach.journal.as_ref(), journal).await?;
    if let Some(secret) = secret {
        trial.remember(&plan.cluster, &secret, &here.state).await;
    }
    Ok(())
}

/// Shows the plan and asks. `Some`: it ends here.
async fn agreed(
    plan: &Plan,
    place: &str,
    wishes: &Wishes,
    talk: Talk,
) -> Result<Option<Exit>, Fault> {
    let text = words::plan(plan, place);
    if wishes.dry_run {
        out::data(&text)?;
        out::say("nothing was changed");
        return Ok(Some(Exit::Done));
    }
    out::say(text);
    if wishes.yes {
        return Ok(None);
    }
    talk.can_agree()?;
    if talk.agree("Do it?").await? {
        return Ok(None);
    }
    out::say("nothing was changed");
    Ok(Some(Exit::Failed))
}

fn finished(plan: &Plan, commands: &Commands) {
    out::say(format_args!(
        "oxmox reaches {} as {}",
        plan.cluster, plan.token
    ));
    for (client, _) in plan.entered() {
        out::say(format_args!(
            "restart {} to let it find oxmox",
            client.title()
        ));
    }
    out::hint(format_args!(
        "`{}` shows what it sees; `{}` takes all of this back",
        commands.with("call list_proxmox_resources"),
        commands.undo(&plan.cluster)
    ));
}

async fn host(wishes: &Wishes, talk: Talk) -> Result<Host, Fault> {
    let text = match &wishes.host {
        Some(host) => host.clone(),
        None => {
            talk.line("A node of the cluster, by name or address", None, "--host")
                .await?
        }
    };
    let mut host: Host =
        (text.parse()).map_err(|error: pve::IdError| Fault::bad_input(error.to_string()))?;
    if let Some(port) = wishes.port {
        host.port = port;
    }
    Ok(host)
}
