//! `oxmox freeze` and `oxmox thaw`: a person's emergency brake, for every server with this state directory, and for every
//! replica on a shared store.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use tools::fault::{Fault, Kind};
use tools::store::create_private_dir;

use super::exit::Exit;
use super::global::Global;
use super::runtime::{Threads, block_on};
use super::{out, person, state};

/// From now on no step is sent.
pub fn freeze(global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let file = config.freeze_file();
    // The file first: it holds on this machine though the database does not answer.
    create_private_dir(&config.state_dir)
        .and_then(|()| {
            fs::write(
                &file,
                format!("`{} thaw` removes this file\n", global.program()),
            )
        })
        .map_err(|error| trouble(&file, &error))?;
    let everywhere = block_on(Threads::One, async {
        match state::shared(&config).await? {
            Some(store) => store.freeze(&person::name()).await.map(|()| true),
            None => Ok(false),
        }
    });
    let everywhere = everywhere.map_err(|fault| Fault {
        message: format!(
            "this machine is frozen, but not the other replicas: {}",
            fault.message
        ),
        ..fault
    })?;
    out::say(if everywhere {
        "frozen: no change is sent any more, by any oxmox on this store or with this state directory"
    } else {
        "frozen: no change is sent any more, by any oxmox with this state directory"
    });
    out::hint(format_args!(
        "tasks that PVE has started go on; `{} thaw` lets changes run again",
        global.program()
    ));
    Ok(Exit::Done)
}

/// Changes may run again.
pub fn thaw(global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let everywhere = block_on(Threads::One, async {
        match state::shared(&config).await? {
            Some(store) => store.thaw().await,
            None => Ok(false),
        }
    })?;
    let file = config.freeze_file();
    let here = match fs::remove_file(&file) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => return Err(trouble(&file, &error)),
    };
    out::say(if here || everywhere {
        "thawed: changes run again"
    } else {
        "it was not frozen"
    });
    if everywhere && config.has_shared_store() {
        out::hint(
            "a replica on another machine that was frozen there stays so until it is thawed there",
        );
    }
    Ok(Exit::Done)
}

fn trouble(file: &Path, error: &std::io::Error) -> Fault {
    Fault::new(Kind::Internal, format!("{}: {error}", file.display()))
}
