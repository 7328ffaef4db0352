//! The node and type of a guest as the caller states them, besides its vmid. Every guest is found by its vmid alone, so both
//! may be left out, and tools need not list them. A wrong one is refused with the right one: a caller who is wrong about the
//! node may be wrong about the guest.

use std::fmt::Write as _;

use pve::{GuestKind, NodeName};

use crate::context::Guest;
use crate::fault::Fault;
use crate::inherited::InheritedArgument;
use crate::schema;
use crate::tool::Object;

/// A node and a kind that a guest must have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claim {
    /// The node that it is on.
    pub node: Option<NodeName>,
    /// What it is.
    pub kind: Option<GuestKind>,
    /// Whether the tool is also told a node to go to, which is easily mistaken for this one.
    pub has_target: bool,
    /// What to do about a guest of the other kind, where the caller did not say what it is.
    pub instead: Option<String>,
}

impl Claim {
    /// Takes `node` and `vm_type` out of the arguments of a tool that is about guests, unless they are the tool's own: in
    /// its `schema`, and not among those that it lists as `inherited`.
    pub(crate) fn take(
        args: &mut Object,
        schema: &Object,
        inherited: &[InheritedArgument],
    ) -> Result<Self, Fault> {
        let lists = |name: &str| schema["properties"].get(name).is_some();
        let owns =
            |argument: InheritedArgument| lists(argument.name()) && !inherited.contains(&argument);
        let mut claim = Self::default();
        if !lists("vmid") {
            return Ok(claim);
        }
        claim.has_target = lists("target");
        if !owns(InheritedArgument::Node) {
            claim.node = parsed(args, InheritedArgument::Node)?;
        }
        if !owns(InheritedArgument::VmType) {
            claim.kind = parsed(args, InheritedArgument::VmType)?;
        }
        Ok(claim)
    }

    /// The same for a tool that is for guests of this kind only.
    pub(crate) fn only(&self, kind: GuestKind, tool: &str) -> Self {
        let instead = match crate::registry::twin(tool) {
            Some(twin) => format!("{twin} is the tool for it"),
            None => "get_proxmox_vm_status tells what it is".to_owned(),
        };
        Self {
            node: self.node.clone(),
            has_target: self.has_target,
            kind: Some(kind),
            instead: Some(instead),
        }
    }

    /// Says what is true instead if it is wrong.
    pub(crate) fn check(&self, guest: &Guest) -> Result<(), Fault> {
        let at = &guest.at;
        if let Some(kind) = self.kind.filter(|kind| *kind != at.kind) {
            let is = format!(
                "guest {} is a {}, not a {}",
                at.vmid,
                at.kind.noun(),
                kind.noun()
            );
            let right = || format!("send vm_type: \"{}\", or leave vm_type out", at.kind);
            return Err(Fault::bad_input(is).hint(self.instead.clone().unwrap_or_else(right)));
        }
        if let Some(node) = self.node.as_ref().filter(|node| **node != at.node) {
            let is = format!("{} is on node {}, not on {node}", guest.label(), at.node);
            let mut hint = format!("send node: \"{}\", or leave node out", at.node);
            if self.has_target {
                let _ = write!(hint, "; the node to go to is target: \"{node}\"");
            }
            return Err(Fault::bad_input(is).hint(hint));
        }
        Ok(())
    }

    /// With what the tool itself was told instead, where it was.
    pub(crate) fn or(&self, node: Option<&NodeName>, kind: Option<GuestKind>) -> Self {
        Self {
            node: node.or(self.node.as_ref()).cloned(),
            kind: kind.or(self.kind),
            has_target: self.has_target,
            instead: self.instead.clone(),
        }
    }
}

/// The argument's value; a blank counts as left out. Fails with the argument's own hint.
fn parsed<T: serde::de::DeserializeOwned>(
    args: &mut Object,
    argument: InheritedArgument,
) -> Result<Option<T>, Fault> {
    schema::unlisted(args, argument.name()).map_err(|fault| fault.hint(argument.hint()))
}
