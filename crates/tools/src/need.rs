//! The privileges that a tool takes, as data: what every call takes whatever its arguments, and what only some take.
//!
//! A plan's [`Needs`](crate::plan::Needs) are exact, for these arguments on this cluster. A declaration is what can be told before any call: which
//! tools a token has no use for, and which privileges would change that.

pub(crate) mod demand;

use std::collections::BTreeSet;
use std::fmt;

use pve::Permissions;

pub use crate::plain::Need;
use crate::spec::Risk;

/// A privilege on a path that may hold `{argument}`s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Right {
    /// `/vms/{vmid}`
    pub path: &'static str,
    /// `VM.Clone`
    pub privilege: &'static str,
}

impl Right {
    /// Whether this is what a plan calls for.
    pub fn covers(self, path: &str, privilege: &str) -> bool {
        self.privilege == privilege && can_give(path, self.path)
    }
}

/// "VM.Clone on /vms/VMID"
impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.privilege, shown(self.path))
    }
}

/// `/vms/VMID`
fn shown(path: &str) -> String {
    let parts = path.split('/').map(|part| match part.strip_prefix('{') {
        Some(name) => name.trim_end_matches('}').to_uppercase(),
        None => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// "VM.Audit, VM.Clone on /vms/VMID and Sys.Audit on /nodes": each path once.
pub fn listed(rights: &[Right]) -> String {
    let mut by_path: Vec<(&str, Vec<&str>)> = Vec::new();
    for right in rights {
        match by_path.iter_mut().find(|(path, _)| *path == right.path) {
            Some((_, privileges)) => privileges.push(right.privilege),
            None => by_path.push((right.path, vec![right.privilege])),
        }
    }
    let groups = by_path
        .iter()
        .map(|(path, privileges)| format!("{} on {}", privileges.join(", "), shown(path)));
    groups.collect::<Vec<_>>().join(" and ")
}

/// This privilege on the guest that the call is about.
pub(crate) const fn guest(privilege: &'static str) -> Need {
    Need::On("/vms/{vmid}", privilege)
}

/// This privilege on the storage that is used.
pub(crate) const fn storage(privilege: &'static str) -> Need {
    Need::On("/storage/{storage}", privilege)
}

/// This privilege on the node that is meant.
pub(crate) const fn node(privilege: &'static str) -> Need {
    Need::On("/nodes/{node}", privilege)
}

/// Whoever looks at a storage's volumes has one of these.
pub(crate) const SEES_VOLUMES: Need = Need::Any(&[
    storage("Datastore.Audit"),
    storage("Datastore.AllocateSpace"),
]);

/// A volume of a storage goes: a guest's backup by the rights on that guest, anything by those on the storage.
pub(crate) const REMOVES_VOLUMES: Need = Need::All(&[
    Need::AtLeastOne(&[
        Need::All(&[storage("Datastore.AllocateSpace"), guest("VM.Backup")]),
        Need::All(&[storage("Datastore.Allocate"), SEES_VOLUMES]),
    ]),
    Need::May(&[SEES_GUEST]),
]);

/// The use of a bridge or a virtual network.
pub(crate) const NETWORK: Need = Need::On("/sdn/zones/{zone}/{bridge}", "SDN.Use");

/// The settings of a guest, which PVE has a privilege each for.
pub(crate) const SETTINGS: &[Need] = &[
    guest("VM.Config.CDROM"),
    guest("VM.Config.CPU"),
    guest("VM.Config.Cloudinit"),
    guest("VM.Config.Disk"),
    guest("VM.Config.HWType"),
    guest("VM.Config.Memory"),
    guest("VM.Config.Network"),
    guest("VM.Config.Options"),
];

/// A look at a guest.
pub(crate) const SEES_GUEST: Need = guest("VM.Audit");

/// A look at a guest, and the use of its screen, keyboard or terminal.
pub(crate) const CONSOLE: Need = Need::All(&[SEES_GUEST, guest("VM.Console")]);

/// A look at a guest, and its power.
pub(crate) const POWER: Need = Need::All(&[SEES_GUEST, guest("VM.PowerMgmt")]);

/// What was one privilege before PVE 9: the guest agent. Whoever holds it runs commands inside.
pub(crate) const OLD_AGENT: Need = Need::At(Risk::Grant, &guest("VM.Monitor"));

/// The whole of the guest agent, commands included.
pub(crate) const WHOLE_AGENT: Need = Need::At(Risk::Grant, &guest("VM.GuestAgent.Unrestricted"));

impl Need {
    /// What calls take and this token has on no path. Empty: some call can succeed. Of alternatives that are all lacking, the
    /// first one that PVE knows; `known` tells that, for privileges come and go with its versions. Of what different calls
    /// take, all that it knows: with one of them, only a few calls could succeed.
    pub fn lacking(self, held: &Permissions, known: &dyn Fn(&str) -> bool) -> Vec<Right> {
        match self {
            Self::On(path, privilege) if is_granted(held, path, privilege) => Vec::new(),
            Self::On(path, privilege) => vec![Right { path, privilege }],
            Self::All(parts) => {
                let parts = parts.iter();
                each_once(parts.flat_map(|part| part.lacking(held, known)))
            }
            Self::Any(parts) | Self::First(parts) | Self::AtLeastOne(parts) => {
                let lacks: Vec<_> = parts.iter().map(|part| part.lacking(held, known)).collect();
                if lacks.iter().any(Vec::is_empty) {
                    return Vec::new();
                }
                let exists = |lack: &&Vec<Right>| lack.iter().all(|right| known(right.privilege));
                let most = if matches!(self, Self::AtLeastOne(_)) {
                    lacks.len()
                } else {
                    1
                };
                let mut best: Vec<_> = lacks.iter().filter(exists).take(most).collect();
                if best.is_empty() {
                    best.extend(lacks.first());
                }
                each_once(best.into_iter().flatten().copied())
            }
            Self::At(_, need) => need.lacking(held, known),
            Self::Nothing | Self::If(..) | Self::IfIs(..) | Self::Each(..) | Self::May(_) => {
                Vec::new()
            }
        }
    }

    /// Whether some call could succeed with these rights.
    pub fn can_be_met(self, held: &Permissions) -> bool {
        self.lacking(held, &|_| true).is_empty()
    }

    /// Every right that occurs in it, what only some calls take too.
    pub fn every_right(self) -> Vec<Right> {
        match self {
            Self::Nothing => Vec::new(),
            Self::On(path, privilege) => vec![Right { path, privilege }],
            Self::All(parts)
            | Self::Any(parts)
            | Self::First(parts)
            | Self::AtLeastOne(parts)
            | Self::May(parts) => parts.iter().flat_map(|part| part.every_right()).collect(),
            Self::If(_, need)
            | Self::Each(_, need)
            | Self::IfIs(_, _, need)
            | Self::At(_, need) => need.every_right(),
        }
    }
}

fn each_once(rights: impl Iterator<Item = Right>) -> Vec<Right> {
    let mut seen = BTreeSet::new();
    rights.filter(|right| seen.insert(*right)).collect()
}

/// Whether a privilege is held on any path of this form.
fn is_granted(held: &Permissions, form: &str, privilege: &str) -> bool {
    // The form itself stands for every path of it that has no entry of its own.
    held.has(form, privilege)
        || held
            .paths()
            .filter(|path| can_give(path, form))
            .any(|path| held.has(path, privilege))
}

/// Whether a right on this path can be one on a path of this form: a pool gives its rights to the guests and storages that are
/// in it, or will be.
fn can_give(path: &str, form: &str) -> bool {
    let by_pool = form.starts_with("/vms/") || form.starts_with("/storage/");
    has_form(path, form) || by_pool && path.starts_with("/pool/")
}

/// Whether a path is of this form. The last `{argument}` may stand for several parts: paths of access rules do.
fn has_form(path: &str, form: &str) -> bool {
    let is_hole = |part: &str| part.starts_with('{');
    let (mut path, mut form) = (path.split('/'), form.split('/').peekable());
    loop {
        match (path.next(), form.next()) {
            (None, None) => return true,
            (Some(_), Some(hole)) if is_hole(hole) && form.peek().is_none() => return true,
            (Some(part), Some(wanted)) if part == wanted || is_hole(wanted) => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::demand::{Bounds, Demands};
    use super::*;

    fn rights(raw: Value) -> Permissions {
        serde_json::from_value(raw).unwrap()
    }

    const CLONE: Need = Need::All(&[
        guest("VM.Clone"),
        Need::Any(&[guest("VM.GuestAgent.Audit"), OLD_AGENT]),
        Need::If("storage", &storage("Datastore.AllocateSpace")),
    ]);

    #[test]
    fn one_guest_is_enough() {
        let one = json!({"/vms/105": {"VM.Clone": 0, "VM.Monitor": 0}});
        assert!(CLONE.can_be_met(&rights(one)));
        let all = json!({"/": {"VM.Clone": 1, "VM.GuestAgent.Audit": 1}});
        assert!(CLONE.can_be_met(&rights(all)));
        let only_here = json!({"/vms": {"VM.Clone": 0, "VM.Monitor": 0}});
        assert!(!CLONE.can_be_met(&rights(only_here)));
    }

    #[test]
    fn a_pool_gives_its_rights_to_what_is_in_it() {
        let pool = json!({"/pool/lab": {"VM.Clone": 1, "VM.Monitor": 1}});
        assert!(CLONE.can_be_met(&rights(pool)));
        let on_node = Need::On("/nodes/{node}", "VM.Clone");
        assert!(!on_node.can_be_met(&rights(json!({"/pool/lab": {"VM.Clone": 1}}))));
    }

    #[test]
    fn a_nearer_entry_hides_the_farther_one() {
        let held = json!({"/": {"VM.Clone": 1, "VM.Monitor": 1}, "/vms": {"VM.Audit": 1}});
        assert!(!CLONE.can_be_met(&rights(held)));
    }

    #[test]
    fn of_what_is_lacking_it_names_what_pve_knows() {
        let lacks = |known: &dyn Fn(&str) -> bool| -> Vec<&str> {
            let lacking = CLONE.lacking(&Permissions::default(), known);
            lacking.iter().map(|right| right.privilege).collect()
        };
        assert_eq!(lacks(&|_| true), ["VM.Clone", "VM.GuestAgent.Audit"]);
        let is_old = |privilege: &str| !privilege.contains("GuestAgent");
        assert_eq!(lacks(&is_old), ["VM.Clone", "VM.Monitor"]);
    }

    #[test]
    fn of_what_different_calls_take_all_is_lacking() {
        const UPDATE: Need = Need::AtLeastOne(&[
            guest("VM.Config.CPU"),
            Need::All(&[guest("VM.Config.CPU"), guest("VM.Config.Memory")]),
            OLD_AGENT,
            storage("Datastore.Audit"),
        ]);
        let known = |privilege: &str| privilege != "VM.Monitor";
        let lacks = UPDATE.lacking(&Permissions::default(), &known);
        assert_eq!(
            listed(&lacks),
            "VM.Config.CPU, VM.Config.Memory on /vms/VMID and Datastore.Audit on /storage/STORAGE"
        );
        assert!(UPDATE.can_be_met(&rights(json!({"/": {"VM.Config.CPU": 1}}))));
    }

    #[test]
    fn a_role_holds_what_calls_can_take_at_its_level() {
        const TOOL: Need = Need::All(&[
            Need::AtLeastOne(&[guest("VM.Config.CPU"), guest("VM.Config.Memory")]),
            Need::Any(&[WHOLE_AGENT, guest("VM.GuestAgent.Audit")]),
            Need::May(&[Need::At(Risk::Destroy, &storage("Datastore.Allocate"))]),
        ]);
        let role = |most| {
            let mut demands = Demands::default();
            let bounds = Bounds {
                most,
                knows: &|_| true,
                each_call: true,
            };
            demands.add(TOOL, bounds);
            demands.by_first_ways().into_iter().collect::<Vec<_>>()
        };
        let settings = ["VM.Config.CPU", "VM.Config.Memory"];
        assert_eq!(
            role(Risk::Disrupt),
            [&settings[..], &["VM.GuestAgent.Audit"]].concat()
        );
        assert_eq!(
            role(Risk::Grant),
            [
                &["Datastore.Allocate"],
                &settings[..],
                &["VM.GuestAgent.Unrestricted"]
            ]
            .concat()
        );
        let held = json!({"/": {"VM.Config.CPU": 1, "VM.GuestAgent.Audit": 1}});
        assert!(
            TOOL.can_be_met(&rights(held)),
            "calls that take no more are calls, too"
        );
    }

    #[test]
    fn paths_have_a_form() {
        for (path, form, fits) in [
            ("/vms/105", "/vms/{vmid}", true),
            ("/vms", "/vms/{vmid}", false),
            ("/access/realm/pve", "/{path}", true),
            ("/access/realm/pve", "/access/realm", false),
            ("/nodes/pve1", "/vms/{vmid}", false),
            (
                "/sdn/zones/localnetwork/vmbr0",
                "/sdn/zones/{zone}/{bridge}",
                true,
            ),
        ] {
            assert_eq!(has_form(path, form), fits, "{path} {form}");
        }
    }
}
