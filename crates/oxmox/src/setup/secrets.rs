//! The secrets that setup keeps on this machine: which of them cannot be cleared from here.

use crate::config::System;
use crate::keep::Keep;

/// A keyring that is locked can be unlocked; one whose program was removed would be in the way of everything else for good.
pub(super) fn is_out_of_reach(keep: &Keep) -> bool {
    matches!(keep, Keep::Keyring { program, .. } if !program.exists())
}

/// How a person clears what is out of reach from here.
pub(super) fn by_hand(keep: &Keep) -> String {
    let Keep::Keyring { program, entry } = keep else {
        return format!("remove {keep}");
    };
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let clear = match System::HERE {
        System::Mac => format!("{name} delete-generic-password -s oxmox -a {entry}"),
        _ => format!("{name} clear service oxmox cluster {entry}"),
    };
    format!(
        "the keyring of your session may still have the token's secret: {} is not there any more, which reaches it; \
         `{clear}` removes it where that program is, or the keyring's own window, under oxmox and {entry}",
        program.display()
    )
}
