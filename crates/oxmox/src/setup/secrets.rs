//! The secrets that setup keeps on this machine: which of them nobody needs any more, and which cannot be cleared from here.

use super::journal::Journal;
use crate::config::{Reference, System};
use crate::keep::Keep;

/// Those of earlier tokens. `is_new`: whether the one that the configuration will name is yet to be stored. Where that is none
/// of setup's own, somebody has moved it, and may need the others.
pub(super) fn superseded(journal: Option<&Journal>, in_use: &Reference, is_new: bool) -> Vec<Keep> {
    let known = journal.map(|journal| journal.secrets.as_slice());
    let known = known.unwrap_or_default();
    let is_in_use = |keep: &Keep| keep.reference() == *in_use;
    if !is_new && !known.iter().any(is_in_use) {
        return Vec::new();
    }
    let old = known.iter();
    let old = old.filter(|keep| !is_in_use(keep) && !is_out_of_reach(keep));
    let mut superseded: Vec<Keep> = Vec::new();
    for keep in old {
        if !superseded.contains(keep) {
            superseded.push(keep.clone());
        }
    }
    superseded
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> Keep {
        Keep::File { path: name.into() }
    }

    #[test]
    fn what_an_earlier_token_had_goes_where_the_one_in_use_is_known() {
        let gone = Keep::Keyring {
            program: "/no/such/program".into(),
            entry: "home".to_owned(),
        };
        let journal = Journal {
            secrets: vec![file("/old"), file("/old"), gone, file("/new")],
            ..Journal::default()
        };
        let of = |in_use: &Keep, is_new| superseded(Some(&journal), &in_use.reference(), is_new);
        assert_eq!(of(&file("/new"), false), [file("/old")]);
        assert_eq!(of(&file("/newer"), true), [file("/old"), file("/new")]);
        // Somebody has put it elsewhere.
        assert_eq!(of(&file("/theirs"), false), []);
        assert_eq!(superseded(None, &file("/new").reference(), true), []);
    }
}
