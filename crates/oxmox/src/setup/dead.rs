//! What a setup that was killed leaves behind: locks, half-written files, and notes that nobody will ever read.

use super::journal::Journal;
use super::wishes::Here;
use super::written::Written;
use crate::clients::Client;
use crate::config::{Environment, System};
use crate::files;

/// Clears what one that was killed left behind, wherever it may have been at work. What it wrote down stays: that is taken
/// back on demand.
pub fn clear_dead(environment: &Environment, here: &Here) {
    let clients = environment.places(System::HERE).into_iter();
    let clients = clients.flat_map(|places| Client::ALL.map(|client| client.file(&places)));
    for file in clients.chain([here.config.clone()]) {
        files::clear_file(&file);
    }
    for dir in [here.state.join("setup"), here.config_dir().join("secrets")] {
        files::clear_dir(&dir);
    }
    let is_quiet = |journal: &Journal| journal.changed().next().is_none();
    let names_no_file = |all: Vec<Journal>| all.iter().all(is_quiet);
    if Journal::all_of(&here.state).is_ok_and(names_no_file)
        && let Ok(mut written) = Written::read(&here.state)
    {
        // It was about to forget them.
        for copy in written
            .forget_untouched()
            .into_iter()
            .filter_map(|it| it.copy)
        {
            let _ = std::fs::remove_file(copy);
        }
        // What others have written since is theirs: how it was once says nothing of what a later setup finds there.
        let _ = Written::default().write(&here.state);
    }
}
