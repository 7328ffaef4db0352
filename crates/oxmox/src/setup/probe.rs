//! What can be found out on this machine, before a password is typed and anything is made: whether all that setup will write
//! can be written.

use tools::fault::Fault;

use super::choices::entered;
use super::journal::Journal;
use super::talk::Talk;
use super::wishes::{Here, Wishes};
use crate::cli::out;
use crate::clients::Client;
use crate::config::{Config, Environment, System};
use crate::files::Draft;
use crate::keep::Shelf;

/// The files of oxmox and of the clients that were named.
pub(super) fn files(
    wishes: &Wishes,
    environment: &Environment,
    here: &Here,
    talk: Talk,
) -> Result<(), Fault> {
    Draft::open(&here.config)?.check()?;
    Draft::open(&Journal::path(&here.state, "probe"))?.check()?;
    let Some(clients) = &wishes.clients else {
        if talk.is_there() {
            warn_of_clients(environment, here);
        }
        return Ok(());
    };
    for (client, draft) in entered(clients, environment, here)? {
        client.check(&draft)?;
    }
    Ok(())
}

/// Which of them shall know oxmox is asked later, and not all of them may be meant.
fn warn_of_clients(environment: &Environment, here: &Here) {
    let Some(places) = environment.places(System::HERE) else {
        return;
    };
    for client in Client::ALL.into_iter().filter(|it| it.is_here(&places)) {
        if let Err(fault) = entered(&[client], environment, here) {
            out::warn(fault.message);
        }
    }
}

/// Where the secret of a new token will go. `None`: the configuration has this host already, and perhaps a token that is kept;
/// then whether a keyring has to be asked at all shows later.
pub(super) fn shelf(
    wishes: &Wishes,
    host: &pve::Host,
    (config, environment): (&Config, &Environment),
    here: &Here,
) -> Result<Option<Shelf>, Fault> {
    let mut hosts = config.clusters.iter().flat_map(|cluster| &cluster.hosts);
    if hosts.any(|known| (&known.name, known.port) == (&host.name, host.port)) {
        return Ok(None);
    }
    Shelf::find(wishes.secret, here.config_dir(), environment).map(Some)
}
