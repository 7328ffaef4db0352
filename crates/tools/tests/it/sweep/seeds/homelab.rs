//! The tools of homelab_mcp that are here by name list every argument that they have there, with every word that it takes
//! there, and require none that the other server does not require.

use serde_json::Value;
use tools::registry::Registry;
use tools::spec::{Risk, Toolset};

const ON_GUEST: &str = "node! vmid! vm_type=qemu|lxc host";

/// A tool, and its arguments there: `!` is required, `=` lists the words that it takes.
const TOOLS: &[(&str, &[&str])] = &[
    (
        "search_proxmox_scripts",
        &["query! category=ct|vm|install|misc include_metadata"],
    ),
    (
        "get_proxmox_script_info",
        &["script_name! category=ct|vm|install|misc"],
    ),
    (
        "list_proxmox_resources",
        &["host resource_type=vm|lxc|node|storage|pool"],
    ),
    ("get_proxmox_node_status", &["node! host"]),
    ("get_proxmox_vm_status", &[ON_GUEST]),
    (
        "manage_proxmox_vm",
        &[
            ON_GUEST,
            "action!=start|stop|shutdown|reboot|reset|suspend|resume",
        ],
    ),
    (
        "create_proxmox_lxc",
        &[
            "node! vmid! hostname! ostemplate storage memory swap cores rootfs_size",
            "password ssh_public_keys unprivileged start host",
        ],
    ),
    (
        "create_proxmox_vm",
        &[
            "node! vmid! name! memory cores disk_size storage sockets",
            "iso cdrom net0 ostype start host",
        ],
    ),
    ("clone_proxmox_vm", &[ON_GUEST, "new_vmid! name full"]),
    ("delete_proxmox_vm", &[ON_GUEST, "purge"]),
    ("delete_proxmox_vm_preview", &[ON_GUEST, "purge"]),
    // Of proxmox-mcp.
    ("send_vm_key", &["node! vmid! key!"]),
];

#[test]
fn every_argument_of_the_other_server_is_listed_with_its_words() {
    let registry = Registry::new(Toolset::ALL, Risk::Grant, Vec::new());
    for (name, arguments) in TOOLS {
        let input = &registry.describe(registry.find(name).unwrap()).input;
        let mut theirs = Vec::new();
        for argument in arguments.iter().flat_map(|line| line.split(' ')) {
            let (argument, words) = argument.split_once('=').unwrap_or((argument, ""));
            let plain = argument.trim_end_matches('!');
            let property = &input["properties"][plain];
            let says = property["description"].as_str().unwrap_or_default();
            assert!(!says.is_empty(), "{name} does not list {plain}");
            let listed = property["enum"].as_array().cloned().unwrap_or_default();
            for word in words.split('|').filter(|word| !word.is_empty()) {
                assert!(
                    listed.contains(&Value::from(word)),
                    "{name} {plain}: {word}"
                );
            }
            theirs.push(argument);
        }
        let required = input.get("required").and_then(Value::as_array);
        for required in required.into_iter().flatten() {
            let required = format!("{}!", required.as_str().unwrap());
            assert!(theirs.contains(&required.as_str()), "{name}: {required}");
        }
    }
}
