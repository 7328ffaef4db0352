//! What the agent answers to commands without parameters.

use std::time::Duration;

use serde_json::{Value, json};

use super::disabled;
use crate::clock::Time;
use crate::error::ApiError;
use crate::world::config::property;
use crate::world::guest::Guest;
use crate::world::node::Node;
use crate::world::shell::{KERNEL, KERNEL_BUILD};

/// Bytes of a block of memory that can be plugged.
const MEMORY_BLOCK: u64 = 128 << 20;
/// How long an operating system takes to go down.
const SHUTDOWN: Duration = Duration::from_secs(2);
/// The version of the agent.
const VERSION: &str = "10.0.2";

/// What the agent can do; of a few it does not say whether they worked.
const SUPPORTED: &str = "guest-sync-delimited guest-sync guest-ping guest-get-time guest-set-time guest-info \
    guest-shutdown! guest-file-open guest-file-close guest-file-read guest-file-write guest-file-seek \
    guest-file-flush guest-fsfreeze-status guest-fsfreeze-freeze guest-fsfreeze-freeze-list \
    guest-fsfreeze-thaw guest-fstrim guest-suspend-disk! guest-suspend-ram! guest-suspend-hybrid! \
    guest-network-get-interfaces guest-get-vcpus guest-set-vcpus guest-get-disks guest-get-fsinfo \
    guest-set-user-password guest-get-memory-blocks guest-set-memory-blocks \
    guest-get-memory-block-info guest-exec-status guest-exec guest-get-host-name guest-get-users \
    guest-get-timezone guest-get-osinfo guest-ssh-get-authorized-keys guest-ssh-add-authorized-keys \
    guest-ssh-remove-authorized-keys guest-get-diskstats guest-get-cpustats guest-get-load \
    guest-network-get-route";

/// The answer to a command.
///
/// # Errors
/// For commands that this agent does not allow.
pub(super) fn to(
    guest: &mut Guest,
    command: &str,
    now: Time,
    node: Option<&Node>,
) -> Result<Value, ApiError> {
    Ok(match command {
        "get-fsinfo" => file_systems(guest),
        "get-host-name" => json!({ "host-name": guest.name() }),
        "get-memory-block-info" => json!({ "size": MEMORY_BLOCK }),
        "get-memory-blocks" => (0..guest.max_memory() / MEMORY_BLOCK)
            .map(|index| json!({ "phys-index": index, "online": true, "can-offline": true }))
            .collect(),
        "get-osinfo" => os_info(),
        "get-time" => json!(now.secs() * 1_000_000_000),
        "get-timezone" => json!({ "zone": "UTC", "offset": 0 }),
        "get-users" => json!([]),
        "get-vcpus" => (0..guest.cpus(node))
            .map(|id| json!({ "logical-id": id, "online": true, "can-offline": id > 0 }))
            .collect(),
        "info" => info(guest),
        "network-get-interfaces" => interfaces(guest),
        "fsfreeze-freeze" => {
            guest.agent.frozen = true;
            json!(1)
        }
        "fsfreeze-thaw" => {
            let frozen = std::mem::take(&mut guest.agent.frozen);
            json!(u8::from(frozen))
        }
        "fsfreeze-status" if guest.agent.frozen => json!("frozen"),
        "fsfreeze-status" => json!("thawed"),
        "fstrim" => {
            let trimmed = guest.max_disk() / 2;
            json!({ "paths": [{ "path": "/", "trimmed": trimmed, "minimum": 0 }] })
        }
        "shutdown" => {
            guest.off_at = Some(now + SHUTDOWN);
            json!({})
        }
        "suspend-disk" | "suspend-hybrid" | "suspend-ram" => return Err(disabled(command)),
        _ => json!({}),
    })
}

fn os_info() -> Value {
    json!({
        "id": "debian",
        "name": "Debian GNU/Linux",
        "pretty-name": "Debian GNU/Linux 13 (trixie)",
        "version": "13 (trixie)",
        "version-id": "13",
        "machine": "x86_64",
        "kernel-release": KERNEL,
        "kernel-version": KERNEL_BUILD,
    })
}

fn info(guest: &Guest) -> Value {
    let commands = SUPPORTED.split_whitespace().map(|name| {
        let (name, answers) = match name.strip_suffix('!') {
            Some(name) => (name, false),
            None => (name, true),
        };
        let enabled = !name.starts_with("guest-suspend") && guest.agent.allows(name);
        json!({ "name": name, "enabled": enabled, "success-response": answers })
    });
    json!({ "version": VERSION, "supported_commands": commands.collect::<Value>() })
}

fn file_systems(guest: &Guest) -> Value {
    let total = guest.max_disk() / 100 * 94;
    json!([{
        "name": "sda1",
        "mountpoint": "/",
        "type": "ext4",
        "total-bytes": total,
        "total-bytes-privileged": guest.max_disk() / 100 * 99,
        "used-bytes": total / 5,
        "disk": [{
            "dev": "/dev/sda1",
            "serial": "0QEMU_QEMU_HARDDISK_drive-scsi0",
            "bus-type": "scsi",
            "bus": 0,
            "target": 0,
            "unit": 0,
            "pci-controller": { "domain": 0, "bus": 1, "slot": 1, "function": 0 },
        }],
    }])
}

/// The loopback device, and one for each network card.
fn interfaces(guest: &Guest) -> Value {
    let statistics = |bytes: u64| {
        json!({
            "rx-bytes": bytes, "rx-packets": bytes / 100, "rx-errs": 0, "rx-dropped": 0,
            "tx-bytes": bytes / 2, "tx-packets": bytes / 200, "tx-errs": 0, "tx-dropped": 0,
        })
    };
    let loopback = json!({
        "name": "lo",
        "hardware-address": "00:00:00:00:00:00",
        "ip-addresses": [address("127.0.0.1/8"), address("::1/128")],
        "statistics": statistics(0),
    });
    let cards = (0..32).filter_map(|number| {
        let key = format!("net{number}");
        let card = guest.config.get(&key)?;
        let (_, mac) = card.split(',').next()?.split_once('=')?;
        let mut entry = json!({
            "name": format!("eth{number}"),
            "hardware-address": mac.to_ascii_lowercase(),
        });
        let addresses = addresses(guest, &key, number);
        if !addresses.is_empty() {
            entry["ip-addresses"] = addresses.iter().map(|text| address(text)).collect();
            entry["statistics"] = statistics(1 << 20);
        }
        Some(entry)
    });
    std::iter::once(loopback).chain(cards).collect()
}

/// The addresses of a card: those of the world file, or else the fixed ones of cloud-init.
fn addresses(guest: &Guest, key: &str, number: u8) -> Vec<String> {
    if let Some(known) = guest.agent.addresses.get(key) {
        return known.clone();
    }
    let Some(config) = guest.config.get(&format!("ipconfig{number}")) else {
        return Vec::new();
    };
    let fixed = ["ip", "ip6"].iter().filter_map(|key| property(config, key));
    fixed
        .filter(|text| text.contains('/'))
        .map(str::to_owned)
        .collect()
}

/// `10.0.0.5/24` as the agent tells it.
fn address(text: &str) -> Value {
    let (ip, prefix) = text.split_once('/').unwrap_or((text, "32"));
    let kind = if ip.contains(':') { "ipv6" } else { "ipv4" };
    json!({
        "ip-address": ip,
        "ip-address-type": kind,
        "prefix": prefix.parse::<u8>().unwrap_or_default(),
    })
}
