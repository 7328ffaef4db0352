//! Which node a guest goes to, and what speaks against it.

use std::cmp::Reverse;

use pve::NodeName;

use super::How;
use super::ha;
use super::scene::{Node, Scene};
use crate::fault::{Fault, Kind};
use crate::plan::Blocker;
use crate::words;

/// The node that was named, or the best one with the reason.
pub(super) fn choose<'a>(
    scene: &'a Scene,
    wanted: Option<&NodeName>,
    how: &How,
) -> Result<(&'a Node, Option<String>), Fault> {
    match wanted {
        Some(wanted) => named(scene, wanted).map(|node| (node, None)),
        None => best(scene, how).map(|(node, why)| (node, Some(why))),
    }
}

fn named<'a>(scene: &'a Scene, wanted: &NodeName) -> Result<&'a Node, Fault> {
    let own = &scene.guest.at.node;
    let online: Vec<_> = scene
        .nodes
        .iter()
        .filter(|node| node.online)
        .map(|node| node.name.as_str())
        .collect();
    let others = match online.as_slice() {
        [] => format!("no node but {own} is online"),
        _ => format!("it can go to {}", words::list(&online)),
    };
    let wrong = match scene.nodes.iter().find(|node| node.name == *wanted) {
        Some(node) if node.online => return Ok(node),
        Some(_) => Fault::new(Kind::Unreachable, format!("the node {wanted} is offline")),
        None if wanted == own => {
            Fault::bad_input(format!("{} is on {own} already", scene.guest.label()))
        }
        None => Fault::new(Kind::NotFound, format!("there is no node {wanted}")),
    };
    Err(wrong.hint(others))
}

/// The online node with the most free memory of those that nothing speaks against.
fn best<'a>(scene: &'a Scene, how: &How) -> Result<(&'a Node, String), Fault> {
    let mut fit: Vec<_> = scene
        .nodes
        .iter()
        .filter(|node| node.online && blockers(scene, node, how).is_empty())
        .collect();
    // The order of names decides between equals.
    fit.sort_by_key(|node| (ha::preference(scene, node).is_some(), Reverse(node.free)));
    let Some(first) = fit.first() else {
        let why: Vec<_> = scene
            .nodes
            .iter()
            .map(|node| why_not(scene, node, how))
            .collect();
        let label = scene.guest.label();
        return Err(Fault::new(
            Kind::Conflict,
            format!("no node can take {label}: {}", why.join("; ")),
        )
        .hint("mend what stands in the way, or name a target to see it all"));
    };
    let why = match (fit.as_slice(), first.free) {
        ([only], _) => format!("{} is the only node that can take it", only.name),
        (_, None) => format!(
            "{} can take it; which node has the most free memory is hidden without Sys.Audit on /nodes",
            first.name
        ),
        (several, Some(free)) => {
            let names: Vec<_> = several.iter().map(|node| node.name.as_str()).collect();
            format!(
                "{} has the most free memory, {}, of {}",
                first.name,
                words::size(free),
                words::list(&names)
            )
        }
    };
    Ok((first, why))
}

fn why_not(scene: &Scene, node: &Node, how: &How) -> String {
    if !node.online {
        return format!("{} is offline", node.name);
    }
    let because: Vec<_> = blockers(scene, node, how)
        .into_iter()
        .map(|blocker| blocker.because)
        .collect();
    because.join("; ")
}

/// What speaks against a node, whatever else there is.
pub(super) fn blockers(scene: &Scene, node: &Node, how: &How) -> Vec<Blocker> {
    let (label, name) = (scene.guest.label(), &node.name);
    let mut blockers = ha::blockers(scene, node);
    let missing: Vec<_> = scene
        .missing_storages(node)
        .into_iter()
        .filter(|storage| how.storage.is_none() || is_shared(scene, storage))
        .collect();
    if !missing.is_empty() {
        let there: Vec<_> = node.storages.iter().map(String::as_str).collect();
        let instead = match there.as_slice() {
            [] => "choose another target, or send target_storage".to_owned(),
            _ => format!(
                "choose another target, or send target_storage; {name} has {}",
                words::list(&there)
            ),
        };
        blockers.push(Blocker::new(
            format!(
                "{name} does not have the storage {} of {label}",
                words::list(&missing)
            ),
            instead,
        ));
    }
    let devices = scene
        .obstacles(name)
        .and_then(|it| it.unavailable_devices.clone());
    if let Some(devices) = devices.filter(|devices| !devices.is_empty()) {
        blockers.push(Blocker::new(
            format!(
                "{name} lacks the mapped devices {} of {label}",
                words::list(&devices)
            ),
            "choose another target, or have a person map them there",
        ));
    }
    blockers.extend(not_replicated(scene, node, how));
    blockers
}

fn is_shared(scene: &Scene, storage: &str) -> bool {
    scene.storages.get(storage).is_some_and(|row| row.shared)
}

/// A running VM that is replicated moves to where its replica is, and nowhere else.
fn not_replicated(scene: &Scene, node: &Node, how: &How) -> Option<Blocker> {
    let to: Vec<_> = scene
        .replicas
        .iter()
        .map(|(_, target)| target.as_str())
        .collect();
    if !how.live || to.is_empty() || to.contains(&node.name.as_str()) {
        return None;
    }
    Some(Blocker::new(
        format!(
            "{} runs and is replicated to {}, so it moves nowhere else while it runs",
            scene.guest.label(),
            words::list(&to)
        ),
        format!("send target: \"{}\", or restart: true", to[0]),
    ))
}
