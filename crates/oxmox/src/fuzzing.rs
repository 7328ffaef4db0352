//! The doors for fuzzing of the files of people; `pve::fuzzing` tells how such doors are built and when one passes.

use crate::clients;
use crate::config::{File, token_secret};

/// A configuration file: read or refused, and a secret in it is not repeated.
pub fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(fault) = File::parse(&text) {
        assert!(!fault.message.is_empty());
        assert!(!token_secret::is_in(&fault.to_string()), "{fault}");
    }
}

/// A client's configuration: what was there besides oxmox is there afterwards, and taking oxmox out gives what was before.
pub fn client_file(bytes: &[u8]) {
    clients::fuzzing::client_file(&String::from_utf8_lossy(bytes));
}

#[cfg(test)]
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[cfg(test)]
mod tests {
    use super::replay::replay;

    #[test]
    fn the_corpus_of_configurations_is_read() {
        replay("config", super::config);
    }

    #[test]
    fn the_corpus_of_client_files_is_edited() {
        replay("client_file", super::client_file);
    }
}
