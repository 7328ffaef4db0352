//! Why a tool that there is cannot be called here, and what a person can do about it.

use std::fmt::Write as _;

use super::Registry;
use crate::fault::Fault;
use crate::spec::Toolset;
use crate::tool::Tool;
use crate::words;

/// A reason, and what to do about it.
type Reason = (String, String);

impl Registry {
    /// The error for a tool that is not switched on: every reason that holds, and none that does not.
    pub(super) fn off(&self, tool: &dyn Tool) -> Fault {
        let reasons = self.too_much(tool).into_iter();
        let reasons = reasons.chain(self.toolset_off(tool));
        refused(
            &format!("the tool {} is switched off here", tool.spec().name),
            reasons,
        )
    }

    /// The error for a tool that is of no use here, whatever is switched on.
    pub(super) fn useless(&self, tool: &dyn Tool) -> Fault {
        let what = format!("{} is of no use here", tool.spec().name);
        refused(&what, self.too_much(tool).into_iter())
    }

    /// Why even the least that it does is too much.
    fn too_much(&self, tool: &dyn Tool) -> Vec<Reason> {
        let least = tool.least_risk();
        let mut reasons = Vec::new();
        if !self.choices.allow(tool.spec().name) {
            reasons.push((
                "PROXMOX_DISABLE_RAW_API is set".to_owned(),
                "a person can unset it and start oxmox again".to_owned(),
            ));
        }
        // Of the modes only this one holds a tool back altogether.
        if least > self.mode {
            reasons.push((
                "oxmox runs in read-only mode, and it changes something".to_owned(),
                "a person can start oxmox with --mode ask".to_owned(),
            ));
        }
        if least > self.scope.most() {
            let (scope, risk) = (self.scope.word(), least.word());
            reasons.push((
                format!("the scope of this caller is {scope}, and it is {risk}-risk"),
                "a person can give out another token".to_owned(),
            ));
        }
        reasons
    }

    /// Where none of its toolsets is on.
    fn toolset_off(&self, tool: &dyn Tool) -> Option<Reason> {
        let spec = tool.spec();
        if self.toolsets.iter().any(|set| spec.is_in(*set)) {
            return None;
        }
        let sets = [Some(spec.toolset), spec.special.also_in];
        let sets: Vec<_> = sets.into_iter().flatten().map(Toolset::word).collect();
        let what = match &sets[..] {
            [set] => format!("its toolset {set} is not enabled"),
            sets => format!("neither of its toolsets {} is enabled", words::list(sets)),
        };
        let mut instead = if self.hands_on() && self.too_much(tool).is_empty() {
            "call_proxmox_tool calls it".to_owned()
        } else {
            format!("a person can add {} to --toolsets", sets[0])
        };
        let beside = self.named_by(tool);
        if !beside.is_empty() {
            let _ = write!(
                instead,
                "; of those that are on, {} {} nearest to it",
                words::list(&beside),
                if beside.len() == 1 { "is" } else { "are" }
            );
        }
        Some((what, instead))
    }

    /// The tools of this list that its description sends to.
    fn named_by(&self, tool: &dyn Tool) -> Vec<&'static str> {
        let described = self.describe(tool);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let said: Vec<_> = described.description.split(|it| !is_part(it)).collect();
        let on = self.tools().map(|tool| tool.spec().name);
        on.filter(|name| said.contains(name)).collect()
    }
}

fn refused(what: &str, reasons: impl Iterator<Item = Reason>) -> Fault {
    let (why, instead): (Vec<_>, Vec<_>) = reasons.unzip();
    Fault::refused(format!("{what}: {}", why.join("; "))).hint(instead.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::Scope;
    use crate::policy::Mode;

    const MODE: &str = "read-only mode";
    const SCOPE: &str = "the scope of this caller";
    const TOOLSET: &str = "toolset";

    fn off(tool: &str, toolset: Toolset, mode: Mode, scope: Scope) -> String {
        let registry = Registry::new(&[toolset], mode.most(), Vec::new()).within(scope);
        registry.find(tool).err().unwrap().to_string()
    }

    #[test]
    fn raw_api_that_is_disabled_cannot_be_reached_by_any_way() {
        let choices = crate::registry::Choices {
            raw_api: false,
            ..Default::default()
        };
        let sets = Toolset::ALL;
        let registry = Registry::new(sets, Mode::Trusted.most(), Vec::new()).with(choices);
        for name in ["read_proxmox_api", "write_proxmox_api"] {
            assert!(registry.tools().all(|tool| tool.spec().name != name));
            let refusals = [
                registry.find(name).err(),
                registry.reach(name).err(),
                registry
                    .behind(name.to_owned(), crate::tool::Object::new())
                    .err(),
            ];
            for refusal in refusals {
                let said = refusal.unwrap().to_string();
                assert!(said.contains("PROXMOX_DISABLE_RAW_API is set"), "{said}");
            }
            let found = registry.search(name, 20);
            assert!(found.iter().all(|tool| tool.spec().name != name));
        }
    }

    /// One who is told of a reason that does not hold changes what was right.
    #[test]
    fn only_what_holds_is_named() {
        use Mode::{Ask, ReadOnly};
        use Toolset::{Core, Pools};
        for (tool, toolset, mode, scope, because) in [
            (
                "delete_proxmox_vm",
                Core,
                ReadOnly,
                Scope::Full,
                &[MODE][..],
            ),
            ("delete_proxmox_vm", Core, Ask, Scope::Read, &[SCOPE]),
            ("delete_proxmox_vm", Core, Ask, Scope::Operate, &[SCOPE]),
            ("delete_proxmox_vm", Pools, Ask, Scope::Full, &[TOOLSET]),
            (
                "get_proxmox_vm_status",
                Pools,
                ReadOnly,
                Scope::Read,
                &[TOOLSET],
            ),
            (
                "delete_proxmox_vm",
                Core,
                ReadOnly,
                Scope::Read,
                &[MODE, SCOPE],
            ),
            (
                "delete_proxmox_vm",
                Pools,
                Ask,
                Scope::Read,
                &[SCOPE, TOOLSET],
            ),
        ] {
            let said = off(tool, toolset, mode, scope);
            for reason in [MODE, SCOPE, TOOLSET] {
                let named = said.contains(reason);
                assert_eq!(named, because.contains(&reason), "{reason}: {said}");
            }
        }
    }

    /// An agent need not send for a person to do what it can do by another name.
    #[test]
    fn what_is_on_and_near_is_named() {
        for (tool, near) in [
            (
                "delete_vm",
                "delete_proxmox_vm and delete_proxmox_vm_preview are nearest",
            ),
            ("list_vms", "list_proxmox_resources is nearest"),
        ] {
            let said = off(tool, Toolset::Core, Mode::Ask, Scope::Full);
            assert!(said.contains(near), "{said}");
        }
    }

    #[test]
    fn what_is_not_listed_can_be_handed_on_where_that_helps() {
        let lean = |mode, scope| off("delete_proxmox_vm", Toolset::Lean, mode, scope);
        let said = lean(Mode::Ask, Scope::Full);
        assert!(said.contains("call_proxmox_tool calls it"), "{said}");
        let said = lean(Mode::ReadOnly, Scope::Full);
        assert!(!said.contains("call_proxmox_tool"), "{said}");
    }

    #[test]
    fn what_cannot_be_handed_on_says_why() {
        let read_only = Registry::new(&[Toolset::Lean], Mode::ReadOnly.most(), Vec::new());
        let said = read_only
            .reach("delete_proxmox_vm")
            .err()
            .unwrap()
            .to_string();
        assert!(said.contains(MODE) && !said.contains(SCOPE), "{said}");
        let bounded = Registry::new(&[Toolset::Lean], Mode::Ask.most(), Vec::new());
        let bounded = bounded.within(Scope::Operate);
        let said = bounded
            .reach("delete_proxmox_vm")
            .err()
            .unwrap()
            .to_string();
        assert!(
            said.contains("is operate, and it is destroy-risk"),
            "{said}"
        );
        assert!(!said.contains(MODE) && !said.contains(TOOLSET), "{said}");
    }
}
