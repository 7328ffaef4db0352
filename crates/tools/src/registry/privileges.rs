//! Which privileges of PVE the tools take, whatever their arguments: what a role has to hold, and what a token lacks.
//!
//! A plan knows what it takes with its arguments, and where. This is the same without either, before anything is asked of
//! anybody, from what each tool declares. A sweep holds it against what their examples really take.

use super::all;
use crate::need::Need;
pub use crate::need::demand::Privileges;
use crate::need::demand::{Bounds, Demands};
use crate::spec::{Risk, Toolset};
use crate::tool::{Nature, Tool};

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
    demands([tool], most, knows).by_first_ways()
}

/// The privileges of a role for this purpose, on a PVE that `knows` these. Of privileges that PVE takes instead of each other
/// it is one that the role holds anyhow, if there is one: no privilege could be taken out of it.
pub fn of_role(purpose: Purpose<'_>, knows: &dyn Fn(&str) -> bool) -> Privileges {
    let Purpose { most, screens, .. } = purpose;
    let is_for_it = |privilege: &str| {
        most > Risk::Read || only_looks(privilege) || (screens && privilege == CONSOLE)
    };
    let may_hold = |privilege: &str| knows(privilege) && is_for_it(privilege);
    demands(tools_for(purpose), most, &may_hold).least()
}

/// All that these tools can take where nothing worse than `most` may happen.
fn demands<'t>(
    tools: impl IntoIterator<Item = &'t dyn Tool>,
    most: Risk,
    knows: &dyn Fn(&str) -> bool,
) -> Demands {
    let mut demands = Demands::default();
    let bounds = Bounds {
        most,
        knows,
        each_call: true,
    };
    for tool in tools {
        demands.add(declared(tool), bounds);
    }
    demands
}

/// Not `tool.needs()`: a role is for seeing what PVE would leave out of its answers, too.
fn declared(tool: &dyn Tool) -> Need {
    match tool.nature() {
        Nature::AliasOf(other) => declared(other),
        Nature::Relays => Need::Nothing,
        Nature::Method(_) | Nature::Thinks => tool.spec().needs,
    }
}

/// Whether a role that holds these on everything is enough for a tool: for what every call takes, and for each of the ways
/// that different calls go.
pub fn is_enough(held: &Privileges, tool: &dyn Tool, knows: &dyn Fn(&str) -> bool) -> bool {
    let mut demands = Demands::default();
    let bounds = Bounds {
        most: Risk::Grant,
        knows,
        each_call: false,
    };
    demands.add(tool.needs(), bounds);
    demands.are_met_by(held)
}

/// The tools that a role for this purpose is for.
pub fn tools_for(purpose: Purpose<'_>) -> impl Iterator<Item = &'static dyn Tool> {
    let Purpose { toolsets, most, .. } = purpose;
    switched_on(toolsets).filter(move |tool| tool.least_risk() <= most)
}

/// What would have to come to these, if everything that PVE can show to the tools that only look were to be seen.
pub fn unseen_with(
    held: &Privileges,
    toolsets: &[Toolset],
    knows: &dyn Fn(&str) -> bool,
) -> Privileges {
    let reads = switched_on(toolsets).filter(|tool| tool.spec().risk == Risk::Read);
    demands(reads, Risk::Grant, knows).beyond(held)
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
    fn each_level_is_enough_for_the_one_below() {
        let levels = [Risk::Read, Risk::Disrupt, Risk::Grant];
        for toolsets in [&[Toolset::Core][..], Toolset::ALL] {
            for knows in [version_8, version_9] {
                for pair in levels.windows(2) {
                    let [below, above] = [pair[0], pair[1]].map(|most| Purpose {
                        toolsets,
                        most,
                        screens: false,
                    });
                    let (low, high) = (of_role(below, &knows), of_role(above, &knows));
                    let usable = tools_for(below).filter(|tool| is_enough(&low, *tool, &knows));
                    for tool in usable {
                        let name = tool.spec().name;
                        assert!(is_enough(&high, tool, &knows), "{name}: {high:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn only_a_full_role_commands_guests_or_hands_out_rights() {
        for (toolsets, most) in [
            (&[Toolset::Core][..], Risk::Disrupt),
            (Toolset::ALL, Risk::Disrupt),
            (&[Toolset::Core][..], Risk::Grant),
            (Toolset::ALL, Risk::Grant),
        ] {
            let purpose = Purpose {
                toolsets,
                most,
                screens: true,
            };
            let held = of_role(purpose, &version_9);
            let is_full = most == Risk::Grant;
            assert_eq!(held.contains("VM.GuestAgent.Unrestricted"), is_full);
            // No tool of the core hands out rights.
            let rights = is_full && toolsets.len() > 1;
            for privilege in ["Permissions.Modify", "User.Modify", "Realm.AllocateUser"] {
                assert_eq!(held.contains(privilege), rights, "{privilege}: {held:?}");
            }
        }
    }

    #[test]
    fn versions_name_the_agent_differently() {
        assert!(role(Risk::Grant, false, &version_8).contains("VM.Monitor"));
        assert!(!role(Risk::Grant, false, &version_9).contains("VM.Monitor"));
    }

    #[test]
    fn the_lean_tools_read_what_all_others_do() {
        let unseen = |toolsets: &[Toolset]| unseen_with(&Privileges::new(), toolsets, &version_9);
        let lean = unseen(&[Toolset::Lean]);
        assert!(lean.is_superset(&unseen(Toolset::ALL)));
        let core = unseen(&[Toolset::Core]);
        let beyond = unseen_with(&lean, &[Toolset::Core], &version_9);
        assert!(beyond.is_empty() && core != lean, "{core:?}");
    }

    #[test]
    fn what_is_held_instead_is_not_missed() {
        let core = [Toolset::Core];
        let unseen =
            |held: &[&'static str]| unseen_with(&held.iter().copied().collect(), &core, &version_9);
        assert!(unseen(&[]).contains("VM.GuestAgent.Audit"));
        let instead = unseen(&["VM.GuestAgent.Unrestricted"]);
        assert!(!instead.contains("VM.GuestAgent.Audit"), "{instead:?}");
    }
}
