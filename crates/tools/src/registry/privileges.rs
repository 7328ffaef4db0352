//! Which privileges of PVE the tools take, whatever their arguments: what a role has to hold, and what a token lacks.
//!
//! A plan knows what it takes with its arguments, and where. This is the same without either, before anything is asked of
//! anybody, from what each tool declares. A sweep holds it against what their examples really take.

use std::collections::BTreeSet;

use super::all;
use crate::spec::{Risk, Toolset};
use crate::tool::{Nature, Tool};

/// Privileges by name.
pub type Privileges = BTreeSet<&'static str>;

/// What a role is for.
#[derive(Debug, Clone, Copy)]
pub struct Purpose<'a> {
    /// The tools that are switched on.
    pub toolsets: &'a [Toolset],
    /// The worst that may happen.
    pub most: Risk,
    /// Whether screens and terminals may be looked at, where nothing may be changed: PVE has one privilege for looking and
    /// typing.
    pub screens: bool,
}

/// The privileges that a tool can take where nothing worse than `most` may happen. Of privileges that PVE takes instead of
/// each other it is the first that this PVE `knows`.
pub fn of_tool(tool: &dyn Tool, most: Risk, knows: &dyn Fn(&str) -> bool) -> Privileges {
    match tool.nature() {
        Nature::AliasOf(other) => of_tool(other, most, knows),
        Nature::Relays => Privileges::new(),
        // Not `tool.needs()`: a role is for seeing what PVE would leave out of its answers, too.
        Nature::Method(_) | Nature::Thinks => tool.spec().needs.privileges(most, knows),
    }
}

/// The privileges of a role for this purpose, on a PVE that `knows` these.
pub fn of_role(purpose: Purpose<'_>, knows: &dyn Fn(&str) -> bool) -> Privileges {
    let Purpose { most, screens, .. } = purpose;
    let tools = tools_for(purpose);
    let mut privileges: Privileges = tools.flat_map(|tool| of_tool(tool, most, knows)).collect();
    if most == Risk::Read {
        privileges.retain(|privilege| only_looks(privilege) || (screens && *privilege == CONSOLE));
    }
    privileges
}

/// The tools that a role for this purpose is for.
pub fn tools_for(purpose: Purpose<'_>) -> impl Iterator<Item = &'static dyn Tool> {
    let Purpose { toolsets, most, .. } = purpose;
    switched_on(toolsets).filter(move |tool| tool.least_risk() <= most)
}

/// What the tools that only look could take, if everything that PVE shows them were to be seen.
pub fn of_reads(toolsets: &[Toolset], knows: &dyn Fn(&str) -> bool) -> Privileges {
    let reads = switched_on(toolsets).filter(|tool| tool.spec().risk == Risk::Read);
    reads
        .flat_map(|tool| of_tool(tool, Risk::Read, knows))
        .collect()
}

/// The tools that can be called where these toolsets are on: the three lean ones call all the others.
fn switched_on(toolsets: &[Toolset]) -> impl Iterator<Item = &'static dyn Tool> {
    let everything = toolsets.contains(&Toolset::Lean);
    all().filter(move |tool| everything || toolsets.iter().any(|set| tool.spec().is_in(*set)))
}

/// Looking at a screen, and typing on it.
pub const CONSOLE: &str = "VM.Console";

/// Whether a privilege lets nobody change anything. PVE shows some things only to those who may change them (a storage's
/// backups, in version 8 what a guest agent says); a role that is for looking goes without.
pub fn only_looks(privilege: &str) -> bool {
    privilege.ends_with(".Audit") || privilege == "Sys.Syslog"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(most: Risk, screens: bool, knows: &dyn Fn(&str) -> bool) -> Privileges {
        let toolsets = &[Toolset::Core];
        let purpose = Purpose {
            toolsets,
            most,
            screens,
        };
        of_role(purpose, knows)
    }

    fn version_9(privilege: &str) -> bool {
        privilege != "VM.Monitor"
    }

    fn version_8(privilege: &str) -> bool {
        !privilege.starts_with("VM.GuestAgent") && privilege != "VM.Replicate"
    }

    #[test]
    fn a_role_to_look_with_can_change_nothing() {
        for knows in [version_8, version_9] {
            let held = role(Risk::Read, false, &knows);
            assert!(
                held.iter().all(|privilege| only_looks(privilege)),
                "{held:?}"
            );
            assert!(held.contains("VM.Audit") && held.contains("Sys.Audit"));
            let with_screens = role(Risk::Read, true, &knows);
            let more: Vec<_> = with_screens.difference(&held).collect();
            assert_eq!(more, [&CONSOLE]);
        }
    }

    #[test]
    fn each_level_holds_the_one_below() {
        let [read, operate, full] =
            [Risk::Read, Risk::Disrupt, Risk::Grant].map(|most| role(most, true, &version_9));
        assert!(read.is_subset(&operate) && operate.is_subset(&full));
        assert!(
            !operate.contains("VM.GuestAgent.Unrestricted"),
            "{operate:?}"
        );
        assert!(full.contains("VM.GuestAgent.Unrestricted"));
        assert!(
            !full.contains("Permissions.Modify"),
            "no tool of the core hands out rights"
        );
    }

    #[test]
    fn versions_name_the_agent_differently() {
        assert!(role(Risk::Grant, false, &version_8).contains("VM.Monitor"));
        assert!(!role(Risk::Grant, false, &version_9).contains("VM.Monitor"));
    }

    #[test]
    fn the_lean_tools_read_what_all_others_do() {
        let lean = of_reads(&[Toolset::Lean], &version_9);
        assert!(lean.is_superset(&of_reads(Toolset::ALL, &version_9)));
        let core = of_reads(&[Toolset::Core], &version_9);
        assert!(core.is_subset(&lean) && core != lean, "{core:?}");
    }
}
