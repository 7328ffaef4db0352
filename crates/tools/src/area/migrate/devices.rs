//! Devices of the node that a VM uses.

use super::How;
use super::scene::Scene;
use crate::plan::Blocker;
use crate::words;

/// What keeps the VM on its node. A mapped device lets a stopped VM go, and a running one if it is marked for that.
pub(super) fn blockers(scene: &Scene, how: &How) -> Vec<Blocker> {
    let (label, node) = (scene.guest.label(), &scene.guest.at.node);
    let mapped = scene.says.mapped.clone().unwrap_or_default();
    let own: Vec<_> = scene
        .says
        .local_resources
        .iter()
        .flatten()
        .filter(|key| !mapped.contains_key(*key))
        .collect();
    let mut blockers = Vec::new();
    // HA moves a VM in spite of them.
    if !own.is_empty() && !scene.state.managed {
        blockers.push(Blocker::new(
            format!("{label} uses devices of {node}: {}", words::list(&own)),
            "take them out with update_proxmox_vm, or have a person map them on both nodes",
        ));
    }
    let bound: Vec<_> = mapped
        .iter()
        .filter(|(_, device)| how.live && !device.moves_live)
        .map(|(key, device)| match &device.name {
            Some(name) => format!("{key} ({})", crate::clean::line(name)),
            None => key.clone(),
        })
        .collect();
    if !bound.is_empty() {
        blockers.push(Blocker::new(
            format!("{label} runs with mapped devices: {}", words::list(&bound)),
            "send restart: true; stopped it can move",
        ));
    }
    blockers
}
