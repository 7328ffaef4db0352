//! What a call asks to change, checked as far as that needs no machine.

use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;

use super::disks;
use super::rights::Owner;
use crate::api::nodes::guest::access::check_bridges;
use crate::api::nodes::guest::only_root;
use crate::api::nodes::qemu::devices;
use crate::api::nodes::qemu::options;
use crate::call::{Call, Given, Identity};
use crate::error::ApiError;
use crate::world::World;
use crate::world::config::{Config, property};
use crate::world::guest::Guest;

/// Parameters that say how to change, not what.
const NOT_OPTIONS: &[&str] = &[
    "node",
    "vmid",
    "digest",
    "background_delay",
    "import-working-storage",
    "skiplock",
    "delete",
    "revert",
    "force",
];
/// Those of them that task logs leave out.
const NOT_LOGGED: &[&str] = &[
    "node",
    "vmid",
    "digest",
    "background_delay",
    "import-working-storage",
];

/// A change of a config.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) who: Identity,
    pub(super) set: BTreeMap<String, String>,
    pub(super) delete: Vec<String>,
    revert: BTreeSet<String>,
    /// Deleted disks are destroyed, not kept as unused.
    pub(super) force: bool,
    pub(super) digest: Option<String>,
    skiplock: bool,
    /// The first line of a task's log.
    pub(super) line: String,
}

impl Change {
    /// Reads and checks a call, in PVE's order.
    ///
    /// # Errors
    /// What PVE answers before it looks at the machine.
    pub(super) fn of(world: &mut World, call: &Call) -> Result<Self, ApiError> {
        let line = log_line(call);
        if call.flag("skiplock") {
            only_root(call, &["skiplock"])?;
        }
        let mut set = given_options(call, NOT_OPTIONS);
        check_ssh_keys(&set)?;
        clamp_cpu_units(&mut set);
        let delete_list = call.params.list("delete");
        let revert_list = call.params.list("revert");
        if set.is_empty() && delete_list.is_empty() && revert_list.is_empty() {
            return Err(ApiError::fail("no options specified"));
        }
        resolve_cdrom(&mut set);
        let revert = check_revert(&revert_list, &set)?;
        let delete = check_delete(&delete_list, &set, &revert)?;
        disks::normalize(world, call.vmid(), &mut set)?;
        fill_in(world, call.node(), &mut set)?;
        let owner = Owner {
            who: &call.who,
            vmid: call.vmid(),
            pool: None,
        };
        owner.check_options(world, delete.iter().map(String::as_str))?;
        owner.check_options(world, set.keys().map(String::as_str))?;
        disks::check_access(world, &owner, &set)?;
        check_bridges_of(world, call, &set)?;
        Ok(Self {
            who: call.who.clone(),
            set,
            delete,
            revert,
            force: call.flag("force"),
            digest: call
                .text("digest")
                .filter(|digest| !digest.is_empty())
                .map(str::to_owned),
            skiplock: call.flag("skiplock"),
            line,
        })
    }

    /// Checks what depends on the config of the moment, and turns reverts into sets and deletes.
    ///
    /// # Errors
    /// A lock, or a balloon larger than the memory.
    pub(super) fn check_against(&mut self, guest: &Guest) -> Result<(), ApiError> {
        let mut lock = guest.config.get("lock");
        if self.delete.iter().any(|key| key == "vmstate") {
            // Giving up the saved RAM ends hibernation.
            let also = [
                "runningmachine",
                "runningcpu",
                "running-nets-host-mtu",
                "lock",
            ];
            let hibernated = lock == Some("suspended");
            lock = lock.filter(|_| !hibernated);
            let set = also
                .iter()
                .filter(|key| guest.config.get(key).is_some() && (**key != "lock" || hibernated));
            self.delete.extend(set.map(|key| (*key).to_owned()));
        }
        if let Some(lock) = lock.filter(|_| !self.skiplock) {
            return Err(ApiError::fail(format!("VM is locked ({lock})")));
        }
        for key in &self.revert {
            match (guest.config.get(key), guest.pending.get(key)) {
                (Some(value), _) => {
                    self.set.insert(key.clone(), value.to_owned());
                }
                (None, Some(Some(_))) => self.delete.push(key.clone()),
                _ => {}
            }
        }
        self.check_balloon(guest)
    }

    fn check_balloon(&self, guest: &Guest) -> Result<(), ApiError> {
        if !self.set.contains_key("memory") && !self.set.contains_key("balloon") {
            return Ok(());
        }
        let value = |key: &str| {
            let waiting = guest.pending.get(key).and_then(Option::as_deref);
            let sent = self.set.get(key).map(String::as_str);
            sent.or(waiting).or_else(|| guest.config.get(key))
        };
        let mebibytes = |text: &str| property(text, "current").unwrap_or(text).parse().ok();
        let memory: u64 = value("memory").and_then(mebibytes).unwrap_or(512);
        let balloon: u64 = value("balloon").and_then(mebibytes).unwrap_or(0);
        if balloon > memory {
            let text = "balloon value too large (must be smaller than assigned memory)";
            return Err(ApiError::fail(text));
        }
        Ok(())
    }
}

/// The options among a call's parameters.
pub(in super::super) fn given_options(call: &Call, without: &[&str]) -> BTreeMap<String, String> {
    let sent = call.params.iter().filter(|(key, _)| !without.contains(key));
    sent.map(|(key, value)| (key.to_owned(), as_text(value)))
        .collect()
}

fn as_text(value: &Given) -> String {
    match value {
        Given::Text(text) => text.clone(),
        Given::List(items) => items.join(","),
        Given::Hash | Given::Null => String::new(),
    }
}

fn log_line(call: &Call) -> String {
    let sent = call
        .params
        .iter()
        .filter(|(key, _)| !NOT_LOGGED.contains(key));
    let words = sent.map(|(key, value)| match key {
        "cipassword" => " -cipassword <hidden>".to_owned(),
        _ => format!(" -{key} {}", as_text(value)),
    });
    format!("update VM {}:{}", call.vmid(), words.collect::<String>())
}

/// Fails unless every line is a public key.
pub(in super::super) fn check_ssh_keys(set: &BTreeMap<String, String>) -> Result<(), ApiError> {
    let Some(keys) = set.get("sshkeys") else {
        return Ok(());
    };
    let text = percent_decode_str(keys).decode_utf8_lossy().into_owned();
    let lines = text.lines().map(str::trim);
    let is_key = |line: &str| {
        line.split_whitespace().any(|word| {
            ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"]
                .iter()
                .any(|start| word.starts_with(start))
        }) && line.contains(' ')
    };
    let mut wanted = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    if wanted.all(is_key) {
        Ok(())
    } else {
        Err(ApiError::fail("SSH public key validation error"))
    }
}

/// Control groups take weights up to 10000.
pub(in super::super) fn clamp_cpu_units(set: &mut BTreeMap<String, String>) {
    if let Some(units) = set.get_mut("cpuunits") {
        let clamped = units
            .parse()
            .map_or(100, |units: u32| units.clamp(1, 10_000));
        *units = clamped.to_string();
    }
}

/// `cdrom` is another name for `ide2`.
pub(in super::super) fn resolve_cdrom(set: &mut BTreeMap<String, String>) {
    if let Some(mut value) = set.remove("cdrom") {
        if !value.contains("media=") {
            value += ",media=cdrom";
        }
        set.insert("ide2".to_owned(), value);
    }
}

fn check_revert(
    list: &[&str],
    set: &BTreeMap<String, String>,
) -> Result<BTreeSet<String>, ApiError> {
    for key in list {
        if !options::exists(key) {
            return Err(ApiError::param("revert", format!("unknown option '{key}'")));
        }
        if set.contains_key(*key) {
            let text = format!("you can't use '-{key}' and -revert {key}' at the same time");
            return Err(ApiError::param("delete", text));
        }
    }
    Ok(list.iter().map(|key| (*key).to_owned()).collect())
}

fn check_delete(
    list: &[&str],
    set: &BTreeMap<String, String>,
    revert: &BTreeSet<String>,
) -> Result<Vec<String>, ApiError> {
    let mut delete = Vec::new();
    for key in list {
        let key = if *key == "cdrom" { "ide2" } else { key };
        if set.contains_key(key) {
            let text = format!("you can't use '-{key}' and -delete {key}' at the same time");
            return Err(ApiError::param("delete", text));
        }
        if revert.contains(key) {
            let text = format!("you can't use '-delete {key}' and -revert {key}' at the same time");
            return Err(ApiError::param("revert", text));
        }
        if !options::exists(key) {
            return Err(ApiError::param("delete", format!("unknown option '{key}'")));
        }
        delete.push(key.to_owned());
    }
    Ok(delete)
}

/// Adds what PVE makes up itself: addresses of network cards, generation ids.
fn fill_in(
    world: &mut World,
    node: &str,
    set: &mut BTreeMap<String, String>,
) -> Result<(), ApiError> {
    add_mac_addresses(world, set);
    if set.get("vmgenid").is_some_and(|value| value == "1") {
        set.insert("vmgenid".to_owned(), world.new_uuid());
    }
    match set.get("hookscript") {
        Some(script) if world.volume(node, script).is_none() => Err(ApiError::param(
            "hookscript",
            format!("script '{script}' does not exist\n"),
        )),
        _ => Ok(()),
    }
}

/// Writes network cards as configs hold them, each with an address.
pub(in super::super) fn add_mac_addresses(world: &mut World, set: &mut BTreeMap<String, String>) {
    let is_card = |key: &str| {
        key.strip_prefix("net")
            .is_some_and(|number| number.parse::<u8>().is_ok())
    };
    for (_, value) in set.iter_mut().filter(|(key, _)| is_card(key)) {
        let mac = world.new_mac();
        if let Ok(mut pairs) = devices::NET.split(value) {
            if !pairs.iter().any(|(key, _)| *key == "macaddr") {
                pairs.push(("macaddr", &mac));
            }
            let printed = devices::NET.join(&pairs);
            *value = printed;
        }
    }
}

/// Requires the use of every bridge among the options.
pub(in super::super) fn check_bridges_of(
    world: &World,
    call: &Call,
    set: &BTreeMap<String, String>,
) -> Result<(), ApiError> {
    if call.who.is_root() {
        return Ok(());
    }
    let config: Config = set.iter().collect();
    check_bridges(world, call, &config)
}
