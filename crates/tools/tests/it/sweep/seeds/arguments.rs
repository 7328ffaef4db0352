//! What it takes is what the other server takes, and left out it means the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tools::context::Context;
use tools::policy::Mode;
use tools::registry;
use tools::tool::{Ran, Tool};

use super::{Argument, Seed, seeds, shape};
use crate::house::{House, object};

/// Where ours differs, in what, and why.
const DIFFERENT: &[(&str, &str, &str)] = &[
    (
        "bulk_migrate_guests",
        "vms",
        "never all there are: which must be said",
    ),
    (
        "bulk_shutdown_guests",
        "vms",
        "never all there are: which must be said",
    ),
    (
        "bulk_start_guests",
        "vms",
        "never all there are: which must be said",
    ),
    (
        "create_backup_job",
        "all_guests",
        "never all there are unless it is said",
    ),
    (
        "create_backup_job",
        "compress",
        "the node's vzdump.conf says, as PVE has it; a job made again after its deletion is as it was",
    ),
    (
        "create_backup_job",
        "maxfiles",
        "PVE 9.2 knows no maxfiles any more; prune_backups says what is kept",
    ),
    (
        "create_backup_job",
        "schedule",
        "PVE 9.2 wants one; which is for the caller to choose",
    ),
    (
        "create_cluster_firewall_rule",
        "pos",
        "PVE takes pos and ignores it: a new rule is the first",
    ),
    (
        "create_container",
        "hostname",
        "a container here always has a name",
    ),
    (
        "create_container",
        "storage",
        "one that takes disks of containers is chosen: local seldom does",
    ),
    (
        "create_node_network_interface",
        "autostart",
        "as PVE has it; an interface made again after its deletion is as it was",
    ),
    ("create_storage", "maxfiles", "PVE 9 knows no maxfiles"),
    ("create_vm", "cores", "two, as core's tool has it"),
    (
        "create_vm",
        "cpu",
        "a type that every node of the last years has, so that the VM can move",
    ),
    ("create_vm", "ide2", "cdrom is the same"),
    ("create_vm", "name", "a VM here always has a name"),
    (
        "create_vzdump",
        "all_guests",
        "never all there are: one guest, whose lock and space are looked at",
    ),
    (
        "create_vzdump",
        "compress",
        "always zstd, which is their default",
    ),
    ("create_vzdump", "stdout", "a backup is no answer"),
    (
        "create_vzdump",
        "vmid",
        "never all there are: one guest, whose lock and space are looked at",
    ),
    (
        "delete_container",
        "destroy_unreferenced_disks",
        "disks that the configuration does not name stay, whoever asks",
    ),
    (
        "delete_vm",
        "destroy_unreferenced_disks",
        "disks that the settings do not name are nobody's to delete unseen",
    ),
    (
        "get_node_journal",
        "lastentries",
        "PVE takes it without a range only; long answers come in pages",
    ),
    ("get_node_journal", "since", "PVE takes Unix seconds"),
    ("get_node_journal", "until", "PVE takes Unix seconds"),
    (
        "get_node_storage_scan",
        "server",
        "what asks another machine is search_storage_server",
    ),
    (
        "get_node_syslog",
        "limit",
        "50 is PVE's own, which its schema does not say",
    ),
    (
        "list_node_storage",
        "enabled",
        "all are shown, and which are in use is said of each",
    ),
    (
        "list_storage",
        "enabled",
        "PVE knows no such parameter there",
    ),
    (
        "list_tfa",
        "userid",
        "of one user; those of all are another path",
    ),
    (
        "list_users",
        "full",
        "groups and tokens of all users are long; they are shown if asked for",
    ),
    (
        "migrate_container",
        "online",
        "PVE moves no container online, so that there is no such argument",
    ),
    (
        "shutdown_container",
        "force_stop",
        "off unless asked for: it can lose data",
    ),
    (
        "shutdown_vm",
        "force_stop",
        "off unless asked for: it can lose data",
    ),
    (
        "start_vm",
        "timeout",
        "it waits as long as PVE does; the engine's wait bounds the call",
    ),
    ("stop_vm", "skiplock", "a lock is not skipped"),
    ("stop_vm", "timeout", "at once, so there is no timeout"),
];

/// Where ours chooses itself what is left out, so that PVE's default plays no part.
const CHOSEN: &[(&str, &str)] = &[("create_container", "storage")];

/// PVE's own defaults, by method and shape of the path.
struct Pve(BTreeMap<(String, String), Value>);

impl Pve {
    fn read() -> Option<Self> {
        let methods = crate::schemas::schema("9.2")?.into_iter().map(|method| {
            let word = |name: &str| method[name].as_str().unwrap_or_default().to_owned();
            let key = (word("method"), shape(&word("path")));
            (key, method["parameters"]["properties"].clone())
        });
        Some(Self(methods.collect()))
    }

    /// What PVE takes where the only request of a tool has no such parameter.
    fn default(&self, seed: &Seed, parameter: &str) -> Option<Value> {
        let [(method, path, _)] = seed.requests.as_slice() else {
            return None;
        };
        let parameters = self.0.get(&(method.clone(), shape(path)))?;
        parameters[parameter].get("default").cloned()
    }
}

/// What the examples of a tool come to: the arguments of each, and the parameters that are sent for it.
type Planned = Vec<(Map<String, Value>, BTreeMap<String, Value>)>;

async fn planned(tool: &dyn Tool, cx: &Context) -> Planned {
    let mut planned = Vec::new();
    for example in tool.spec().examples {
        let args = object(example.args);
        if let Ok(Ran::Plan(plan)) = tool.run(args.clone(), cx).await {
            let requests: Vec<_> = plan.requests().collect();
            let params = requests.iter().flat_map(|request| &request.params);
            let params = params.map(|(name, value)| (name.clone(), json!(value)));
            planned.push((args, params.collect()));
        }
    }
    planned
}

/// True and 1 are the same to PVE, and so are numbers and their digits.
fn plain(value: &Value) -> String {
    match value {
        Value::Bool(flag) => u8::from(*flag).to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What is taken for an argument that is left out: as it is declared, or as it is sent, or as PVE has it where nothing is.
fn default_of(tool: &dyn Tool, name: &str, planned: &Planned, pve: (&Pve, &Seed)) -> Option<Value> {
    let declared = |tool: &dyn Tool| tool.input()["properties"][name].get("default").cloned();
    if let Some(default) = declared(tool).or_else(|| declared(tool.alias_of()?)) {
        return Some(default);
    }
    let known = tool.sent_as();
    let known = known.iter().find(|(argument, _)| *argument == name);
    let sent = known.map_or(name, |(_, sent)| sent);
    let names = [sent.to_owned(), sent.replace('_', "-")];
    let without = planned.iter().filter(|(args, _)| !args.contains_key(name));
    let mut sent = without.flat_map(|(_, params)| names.iter().filter_map(|it| params.get(it)));
    let (pve, seed) = pve;
    let is_chosen = CHOSEN.contains(&(seed.name.as_str(), name));
    let of_pve = |it: &String| pve.default(seed, it).filter(|_| !is_chosen);
    sent.next()
        .cloned()
        .or_else(|| names.iter().find_map(of_pve))
}

fn difference(
    tool: &dyn Tool,
    theirs: &Argument,
    planned: &Planned,
    pve: (&Pve, &Seed),
) -> Option<String> {
    let input = Value::Object(tool.input());
    let (properties, name) = (&input["properties"], theirs.name.as_str());
    let Some(ours) = properties.get(name) else {
        // Where a guest is stands in no schema, and is taken all the same.
        let claimed = name == "node" && properties.get("vmid").is_some();
        return (!claimed).then(|| "is not there".to_owned());
    };
    let default = theirs.default.as_ref()?;
    let required = input["required"].as_array();
    if required.is_some_and(|names| names.contains(&json!(name))) {
        return Some("must be sent".to_owned());
    }
    let kind = ours["type"].as_str().unwrap_or_default();
    // 1 and 0 are taken for yes and no.
    if kind != theirs.kind && (theirs.kind.as_str(), kind) != ("integer", "boolean") {
        return Some(format!("is of type {kind}, not {}", theirs.kind));
    }
    let ours = default_of(tool, name, planned, pve);
    let off = |value: &Value| value.is_null() || ["0", "off"].contains(&plain(value).as_str());
    let same = match &ours {
        _ if theirs.is_blank() => true,
        Some(ours) => plain(ours) == plain(default) || off(ours) && off(default),
        None => off(default),
    };
    let ours = ours.map_or_else(|| "nothing".to_owned(), |ours| ours.to_string());
    (!same).then(|| format!("is {ours} if left out, not {default}"))
}

#[tokio::test]
async fn a_tool_of_the_same_name_takes_the_same() {
    let (Some(seeds), Some(pve)) = (seeds(), Pve::read()) else {
        return;
    };
    let house = House::logged_in(Mode::Trusted).await;
    let cx = house.context();
    let mut differences = BTreeMap::new();
    let mut same = 0;
    for seed in &seeds {
        let Some(tool) = registry::all().find(|tool| tool.spec().name == seed.name) else {
            continue;
        };
        let planned = planned(tool, &cx).await;
        for argument in &seed.arguments {
            match difference(tool, argument, &planned, (&pve, seed)) {
                Some(difference) => {
                    let at = (seed.name.as_str(), argument.name.as_str());
                    differences.insert(at, difference);
                }
                None => same += 1,
            }
        }
    }
    let reviewed: BTreeSet<_> = DIFFERENT
        .iter()
        .map(|(tool, name, _)| (*tool, *name))
        .collect();
    let stale: Vec<_> = reviewed
        .iter()
        .filter(|it| !differences.contains_key(*it))
        .collect();
    eprintln!(
        "{same} arguments are the same, {} differ",
        differences.len()
    );
    differences.retain(|at, _| !reviewed.contains(at));
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(stale.is_empty(), "the same by now: {stale:?}");
}
