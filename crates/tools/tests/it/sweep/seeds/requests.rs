//! What it sends is what the other server sends.

use std::collections::{BTreeMap, BTreeSet};

use tools::registry;
use tools::tool::Ran;

use super::{seeds, shape};
use crate::house::{House, object};

/// Where ours differs, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "get_pool",
        "the path with the pool in it knows no nested pools",
    ),
    (
        "update_pool",
        "the path with the pool in it knows no nested pools",
    ),
    (
        "delete_pool",
        "the path with the pool in it knows no nested pools",
    ),
    ("create_storage", "PVE 9 knows no maxfiles"),
    (
        "prune_storage_backups",
        "the other one only looks; with dry_run false ours deletes",
    ),
    (
        "get_ha_status",
        "theirs is a list of paths; ours is the state",
    ),
    (
        "create_backup_job",
        "PVE 9.2 knows no maxfiles any more; prune_backups says what is kept",
    ),
    (
        "create_cluster_firewall_rule",
        "PVE takes pos and ignores it: a new rule is the first",
    ),
    (
        "update_cluster_options",
        "PVE calls them email_from and http_proxy",
    ),
    (
        "bulk_start_guests",
        "a request per guest, so that each result is known, also where PVE has no bulk actions",
    ),
    (
        "bulk_shutdown_guests",
        "a request per guest, so that each result is known, also where PVE has no bulk actions",
    ),
    (
        "shutdown_container",
        "theirs switches off after the timeout; ours only with force_stop",
    ),
    (
        "migrate_container",
        "PVE moves no container online, so that there is no such argument",
    ),
    (
        "delete_container",
        "disks that the configuration does not name stay, whoever asks",
    ),
    (
        "bulk_migrate_guests",
        "a request per guest, so that each result is known; vms says which, never all there are",
    ),
    (
        "create_vm",
        "cdrom is the drive; ide2 is the same. It has a name, as a VM here always does",
    ),
    (
        "update_vm_config",
        "POST does the same in a task, which can be found again if the answer is lost",
    ),
    (
        "update_vm_cloudinit",
        "PVE takes settings with the configuration only; the other request writes the drive anew",
    ),
    (
        "delete_vm",
        "disks that the settings do not name are nobody's to delete unseen",
    ),
    (
        "start_vm",
        "it waits as long as PVE does; the engine's wait bounds the call",
    ),
    (
        "stop_vm",
        "at once, so there is no timeout; a lock is not skipped",
    ),
    (
        "shutdown_vm",
        "force_stop is off unless asked for: it can lose data",
    ),
    (
        "get_vm_rrddata",
        "the figures in sum; so many rows fit no answer",
    ),
    (
        "send_vm_key",
        "a key is pressed after the VM was looked up; look and hold go another way",
    ),
    (
        "vm_agent_exec",
        "the line goes to a shell, so that it is not one long program name",
    ),
    (
        "vm_agent_file_write",
        "content may be base64, which PVE calls encode",
    ),
    (
        "vm_agent_get_info",
        "the words of PVE, one tool for all of them",
    ),
];

/// Names that are there under another one.
const ELSEWHERE: &[(&str, &str)] = &[("proxmox_api_raw", "write_proxmox_api")];

fn fits(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) =
        (template.split('/').collect(), path.split('/').collect());
    template.len() == path.len()
        && template
            .iter()
            .zip(&path)
            .all(|(part, word)| part.starts_with('{') || part == word)
}

#[tokio::test]
async fn a_tool_of_the_same_name_sends_the_same() {
    let Some(seeds) = seeds() else {
        return;
    };
    let house = House::in_mode(tools::policy::Mode::Trusted).await;
    let different: BTreeMap<_, _> = DIFFERENT.iter().copied().collect();
    let (mut wrong, mut missing, mut same) = (Vec::new(), Vec::new(), 0);
    for seed in &seeds {
        let Some(tool) = registry::all().find(|tool| tool.spec().name == seed.name) else {
            if !ELSEWHERE.iter().any(|(name, _)| *name == seed.name) {
                missing.push(seed.name.as_str());
            }
            continue;
        };
        let [(method, path, params)] = seed.requests.as_slice() else {
            continue;
        };
        let said = if let [ours] = &tool.methods()[..] {
            let sent: BTreeSet<String> = ours
                .params
                .iter()
                .map(|param| param.name.to_owned())
                .collect();
            let lacks: Vec<_> = params.difference(&sent).cloned().collect();
            let right = ours.method.as_str() == method && shape(&ours.path) == shape(path);
            (!right || !lacks.is_empty())
                .then(|| format!("{} {} without {lacks:?}", ours.method, ours.path))
        } else {
            let mut planned = None;
            for example in tool.spec().examples {
                if let Ok(Ran::Plan(plan)) = tool.run(object(example.args), &house.context()).await
                {
                    planned = Some(plan);
                }
            }
            planned.and_then(|plan| {
                let sent: Vec<_> = plan.requests().collect();
                let right = sent
                    .iter()
                    .any(|ours| ours.method.as_str() == method && fits(path, &ours.path));
                (!right).then(|| {
                    format!(
                        "{:?}",
                        sent.iter().map(ToString::to_string).collect::<Vec<_>>()
                    )
                })
            })
        };
        match (said, different.get(seed.name.as_str())) {
            (Some(said), None) => wrong.push(format!(
                "{}: {method} {path} {params:?}, ours {said}",
                seed.name
            )),
            // What is more than one method is only compared as far as its examples go.
            (None, Some(_)) if !tool.methods().is_empty() => {
                wrong.push(format!("{}: does not differ any more", seed.name));
            }
            (None, _) => same += 1,
            (Some(_), Some(_)) => {}
        }
    }
    eprintln!(
        "{same} of {} send the same; not there yet: {} {missing:?}",
        seeds.len(),
        missing.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
