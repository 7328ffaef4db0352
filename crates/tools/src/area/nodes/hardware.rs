//! What a node is built of, and what its hardware can do for guests.

use pve::{Method, NodeName, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AUDIT, AUDIT_ALL};
use crate::context::Context;
use crate::fault::Fault;
use crate::plain::{NODE, Need, Plain, an, change, choice, flag, read, text};
use crate::spec::{Example, Risk, Spec, Special, Toolset};
use crate::tool::{Answer, Read, Reads, Tool};
use crate::words::{self, line};

/// The tools of this subject.
pub(in crate::area) const TOOLS: &[&dyn Tool] = &[
    &DISKS,
    &SMART,
    &PCI,
    &USB,
    &Read::<GetCapabilities>::NEW,
    &SCAN,
    &SCAN_SERVER,
    &APPLIANCES,
];

const ALLOCATE: Need = Need::On("/storage", "Datastore.Allocate");

const DISKS: Plain = read(
    Toolset::Nodes,
    "get_node_disks",
    "List a node's disks",
    "/nodes/{node}/disks/list",
)
.says(
    "Lists the physical disks of a node: size, model, serial, health, wear, and what each is used for.\n\nUse it to find a failing disk, or an unused one for create_zfs_pool, create_lvm and the like; get_disk_smart shows one in detail. Needs Sys.Audit on /nodes/NAME.",
)
.takes(&[
    NODE,
    choice("type", &["unused", "journal_disks"], "Only those free for this."),
    flag("skipsmart", "Faster, without health."),
    flag("include-partitions", "Their partitions, too."),
])
.needs(AUDIT)
.rows(&["devpath", "type", "size|bytes", "model", "serial", "used", "health", "wearout"])
.examples(&[Example {
    ask: "Which disks of pve3 are unused?",
    args: r#"{"node": "pve3", "type": "unused"}"#,
}]);

const SMART: Plain = read(
    Toolset::Nodes,
    "get_disk_smart",
    "Show a disk's SMART values",
    "/nodes/{node}/disks/smart",
)
.says(
    "Shows the SMART values of one disk: health, wear, and each attribute with its threshold.\n\nUse it on a disk that get_node_disks shows as failing or worn. Reading wakes a sleeping disk. Needs Sys.Audit on /.",
)
.takes(&[
    NODE,
    text("disk", "The device, like /dev/sda.")
        .shaped(|disk| disk.starts_with("/dev/"))
        .required(),
    flag("healthonly", "Only whether it passes."),
])
.needs(AUDIT_ALL)
.item(&["health", "wearout", "type", "text"])
.examples(&[Example {
    ask: "How bad is sdb of pve2?",
    args: r#"{"node": "pve2", "disk": "/dev/sdb"}"#,
}]);

const PCI: Plain = read(
    Toolset::Nodes,
    "get_node_hardware_pci",
    "List PCI devices",
    "/nodes/{node}/hardware/pci",
)
.says(
    "Lists the PCI devices of a node with their IOMMU groups; memory, bridges and processors are left out.\n\nUse it to find a card to pass through to a VM with update_proxmox_vm: it goes with all others of its group. Needs Sys.Audit or Sys.Modify on /.",
)
.takes(&[
    NODE,
    text("pci-class-blacklist", "Classes to leave out; 05;06;0b."),
])
.needs(Need::Any(&[AUDIT_ALL, Need::On("/", "Sys.Modify")]))
.rows(&["id", "device_name", "vendor_name", "class", "iommugroup", "mdev"])
.examples(&[Example {
    ask: "Which graphics card does pve1 have?",
    args: r#"{"node": "pve1"}"#,
}]);

const USB: Plain = read(
    Toolset::Nodes,
    "get_node_hardware_usb",
    "List USB devices",
    "/nodes/{node}/hardware/usb",
)
.says(
    "Lists the USB devices plugged into a node, with vendor and product id, bus and port.\n\nUse it to find a stick or dongle to hand to a VM with update_proxmox_vm (usb0); get_node_hardware_pci lists cards. Needs Sys.Modify on /.",
)
.takes(&[NODE])
.needs(Need::On("/", "Sys.Modify"))
.rows(&["vendid", "prodid", "product", "manufacturer", "busnum", "usbpath", "speed"])
.examples(&[Example {
    ask: "What is plugged into pve1?",
    args: r#"{"node": "pve1"}"#,
}]);

const SCAN: Plain = read(
    Toolset::Nodes,
    "get_node_storage_scan",
    "Look for storage to use",
    "/nodes/{node}/scan/{scan_type}",
)
.says(
    "Lists the volume groups, thin pools or ZFS pools of a node's own that a storage could lie on.\n\nUse it before create_storage; search_storage_server looks for what another host offers. Needs Datastore.Allocate on /storage.",
)
.takes(&[
    NODE,
    choice("scan_type", &["lvm", "lvmthin", "zfs"], "What to look for.").required(),
    text("vg", "For lvmthin: the volume group."),
])
.needs(ALLOCATE)
.rows(&["vg", "lv", "pool"])
.examples(&[Example {
    ask: "Which volume groups does pve1 have?",
    args: r#"{"node": "pve1", "scan_type": "lvm"}"#,
}]);

const SCAN_SERVER: Plain = change(
    (Toolset::Nodes, Risk::Change),
    "search_storage_server",
    "Look for storage on a server",
    Method::Get,
    "/nodes/{node}/scan/{scan_type}",
)
.says(
    "Lets a node ask a server what storage it offers: the exports of NFS, the shares of CIFS, the targets of iSCSI.\n\nUse it before create_storage. The node connects to whatever host is named, so that it counts as a change though nothing is altered; get_node_storage_scan looks at the node's own disks. Needs Datastore.Allocate on /storage. Undo: not needed.",
)
.takes(&[
    NODE,
    choice("scan_type", &["nfs", "cifs", "iscsi"], "What to look for.").required(),
    text("server", "For nfs and cifs: name or address."),
    text("portal", "For iscsi: address, with port if unusual."),
])
.needs(ALLOCATE)
.tells()
.does(
    "Let node {node} look for {scan_type} storage on {server}{portal}",
    an("storage server", &["server", "portal"]).not_undone("nothing is altered"),
)
.examples(&[Example {
    ask: "What does the NAS export?",
    args: r#"{"node": "pve1", "scan_type": "nfs", "server": "192.168.1.5"}"#,
}]);

const APPLIANCES: Plain = read(
    Toolset::Nodes,
    "get_node_aplinfo",
    "List container templates to download",
    "/nodes/{node}/aplinfo",
)
.says(
    "Lists the container templates that a node can download from Proxmox and TurnKey.\n\nUse it for the exact name that download_appliance_template takes; those downloaded already are in list_storage_content with content vztmpl. Any login may see them.",
)
.takes(&[NODE])
.rows(&["template", "os", "version", "section", "headline"])
.examples(&[Example {
    ask: "Which container templates are there?",
    args: r#"{"node": "pve1"}"#,
}]);

/// Lists the CPU models and machine types that QEMU on a node can give to VMs.
///
/// Use it before setting cpu or machine with update_proxmox_vm, or where VMs are to move between unlike nodes; of the
/// machine types the newest of each kind are shown. Any login may see them; custom models need Sys.Audit on /nodes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetCapabilities {
    /// The node.
    node: NodeName,
}

/// What QEMU can do.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Capabilities {
    /// CPU models by vendor.
    cpus: Vec<Models>,
    /// Machine types, the newest first.
    machines: Vec<String>,
    /// How many older machine types there are besides.
    older_machines: usize,
}

/// The CPU models of one vendor.
#[derive(Debug, Serialize, JsonSchema)]
struct Models {
    /// Its name, as the CPU tells it; "custom" for those of the cluster.
    vendor: String,
    /// Their names.
    models: Vec<String>,
}

/// How many machine types are shown: the newest of both kinds.
const MACHINES: usize = 12;

impl Reads for GetCapabilities {
    const SPEC: Spec = Spec {
        name: "get_node_capabilities_qemu",
        title: "Show QEMU's capabilities",
        toolset: Toolset::Nodes,
        risk: Risk::Read,
        idempotent: true,
        special: Special::NONE,
        needs: Need::Nothing,
        examples: &[Example {
            ask: "Which CPU models can VMs on pve1 have?",
            args: r#"{"node": "pve1"}"#,
        }],
    };

    type Answer = Capabilities;

    async fn read(self, cx: &Context) -> Result<Capabilities, Fault> {
        let cluster = cx.online_node(&self.node).await?;
        let list = |what: &str| {
            let path = format!("/nodes/{}/capabilities/qemu/{what}", self.node);
            cluster.pve.list::<Value>(Request::get(path))
        };
        let (cpus, machines) = tokio::try_join!(list("cpu"), list("machines"))?;
        let names: Vec<String> = machines.iter().filter_map(|row| word(row, "id")).collect();
        Ok(Capabilities {
            cpus: by_vendor(&cpus),
            older_machines: names.len().saturating_sub(MACHINES),
            machines: names.into_iter().take(MACHINES).collect(),
        })
    }
}

fn word(row: &Value, field: &str) -> Option<String> {
    let text = row.get(field).and_then(pve::lenient::as_text)?;
    Some(words::clip(&text, 60))
}

/// The models of each vendor, sorted.
fn by_vendor(rows: &[Value]) -> Vec<Models> {
    let mut found = std::collections::BTreeMap::<String, Vec<String>>::new();
    for row in rows {
        let custom = row.get("custom").and_then(pve::lenient::as_bool) == Some(true);
        let vendor = match word(row, "vendor") {
            _ if custom => "custom".to_owned(),
            Some(vendor) => vendor,
            None => "any".to_owned(),
        };
        found.entry(vendor).or_default().extend(word(row, "name"));
    }
    let sorted = |(vendor, mut models): (String, Vec<String>)| {
        models.sort();
        models.truncate(80);
        Models { vendor, models }
    };
    found.into_iter().map(sorted).take(10).collect()
}

impl Answer for Capabilities {
    fn text(&self) -> String {
        let mut text = String::new();
        for Models { vendor, models } in &self.cpus {
            line!(text, "CPU models, {vendor}: {}", models.join(", "));
        }
        line!(text, "machine types: {}", self.machines.join(", "));
        if self.older_machines > 0 {
            line!(text, "and {} older ones", self.older_machines);
        }
        text
    }
}
