//! `oxmox freeze` and `oxmox thaw`: a person's emergency brake, for every server with this state directory.

use std::fs;
use std::io::ErrorKind;

use tools::fault::{Fault, Kind};
use tools::store::create_private_dir;

use super::exit::Exit;
use super::global::Global;
use super::out;

/// From now on no step is sent.
pub fn freeze(global: &Global) -> Result<Exit, Fault> {
    let config = global.load()?;
    let file = config.freeze_file();
    create_private_dir(&config.state_dir)
        .and_then(|()| {
            fs::write(
                &file,
                format!("`{} thaw` removes this file\n", global.program()),
            )
        })
        .map_err(|error| Fault::new(Kind::Internal, format!("{}: {error}", file.display())))?;
    out::say("frozen: no change is sent any more, by any oxmox with this state directory");
    out::hint(format_args!(
        "tasks that PVE has started go on; `{} thaw` lets changes run again",
        global.program()
    ));
    Ok(Exit::Done)
}

/// Changes may run again.
pub fn thaw(global: &Global) -> Result<Exit, Fault> {
    let file = global.load()?.freeze_file();
    match fs::remove_file(&file) {
        Ok(()) => out::say("thawed: changes run again"),
        Err(error) if error.kind() == ErrorKind::NotFound => out::say("it was not frozen"),
        Err(error) => {
            return Err(Fault::new(
                Kind::Internal,
                format!("{}: {error}", file.display()),
            ));
        }
    }
    Ok(Exit::Done)
}
