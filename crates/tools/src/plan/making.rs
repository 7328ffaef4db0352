//! What a plan makes.

use pve::NodeName;

use super::{Guard, Plan, Step, Target, Undo};
use crate::hold::Thing;

impl Plan {
    /// It makes a guest, and is taken back by deleting that: policy rules look at the new one as at those that are there
    /// already. `runs`: it is started, too.
    pub fn makes(&mut self, target: Target, runs: bool) {
        self.undo = Undo::deleting(&target, runs);
        self.targets.push(target);
    }

    /// The guests that it makes: those whose ids must be free before.
    pub fn made(&self) -> impl Iterator<Item = &Target> {
        let is_new = |vmid| {
            let free = [Guard::VmidFree(vmid), Guard::NextVmid(vmid)];
            self.guards.iter().any(|guard| free.contains(guard))
        };
        let targets = self.targets.iter();
        targets.filter(move |target| is_new(target.at.vmid))
    }

    /// All that it makes and nobody else may make meanwhile.
    pub(crate) fn makes_once(&self) -> impl Iterator<Item = Thing> {
        let ids = self.guards.iter().filter_map(|guard| match guard {
            Guard::VmidFree(vmid) | Guard::NextVmid(vmid) => Some(*vmid),
            _ => None,
        });
        let guests = ids.map(|vmid| Thing::guest(&self.cluster, vmid));
        let names = self.names.iter();
        guests.chain(names.map(|name| Thing::named(&self.cluster, name)))
    }

    /// The guest that a step makes. Steps after it act on the guest itself.
    pub fn made_by(&self, step: &Step) -> Option<&Target> {
        self.made().find(|target| !step.is_at(&target.at))
    }
}

/// What a volume is called among [`Plan::names`]: a storage of one node alone is another one on every node.
pub(crate) fn volume_name(volid: &str, node: &NodeName, shared: bool) -> String {
    if shared {
        format!("volume {volid}")
    } else {
        format!("volume {volid} on node {node}")
    }
}
