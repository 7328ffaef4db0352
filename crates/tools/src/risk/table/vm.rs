//! Settings of VMs.

use crate::risk::row::{Properties, Rule, credential, is, properties, safe, setting};
use crate::risk::setting as judge;
use crate::spec::Risk;

const AGENT: Properties = Properties {
    default: Some("enabled"),
    keys: &[safe(&[
        "enabled",
        "freeze-fs",
        "freeze-fs-on-backup",
        "fstrim_cloned_disks",
        "guest-fsfreeze",
        "type",
    ])],
};
const AUDIO: Properties = Properties {
    default: None,
    keys: &[safe(&["device", "driver"])],
};
const CPU: Properties = Properties {
    default: Some("cputype"),
    keys: &[safe(&[
        "cputype",
        "flags",
        "guest-phys-bits",
        "hidden",
        "hv-vendor-id",
        "level",
        "phys-bits",
        "reported-model",
    ])],
};
const ADDRESS: Properties = Properties {
    default: None,
    keys: &[safe(&["gw", "gw6", "ip", "ip6"])],
};
pub(super) const MACHINE: Properties = Properties {
    default: Some("type"),
    keys: &[safe(&[
        "aw-bits",
        "enable-s3",
        "enable-s4",
        "type",
        "viommu",
    ])],
};
const MEMORY: Properties = Properties {
    default: Some("current"),
    keys: &[safe(&["current"])],
};
const NUMA: Properties = Properties {
    default: None,
    keys: &[safe(&["cpus", "hostnodes", "memory", "policy"])],
};
const SMBIOS: Properties = Properties {
    default: None,
    keys: &[safe(&[
        "base64",
        "family",
        "manufacturer",
        "product",
        "serial",
        "sku",
        "uuid",
        "version",
    ])],
};
pub(super) const STARTUP: Properties = Properties {
    default: Some("order"),
    keys: &[safe(&["down", "order", "up"])],
};
const VGA: Properties = Properties {
    default: Some("type"),
    keys: &[safe(&["clipboard", "memory", "type"])],
};
const WATCHDOG: Properties = Properties {
    default: Some("model"),
    keys: &[safe(&["action", "model"])],
};

/// Settings of a VM, as they are sent when it is created and when it is changed.
pub(super) const SETTINGS: &[Rule] = &[
    safe(&[
        "acpi",
        "allow-ksm",
        "autostart",
        "balloon",
        "bios",
        "boot",
        "bootdisk",
        "citype",
        "ciupgrade",
        "cores",
        "cpulimit",
        "cpuunits",
        "description",
        "freeze",
        "hotplug",
        "import-working-storage",
        "keyboard",
        "kvm",
        "localtime",
        "migrate_downtime",
        "migrate_speed",
        "name",
        "nameserver",
        "numa",
        "onboot",
        "ostype",
        "reboot",
        "scsihw",
        "searchdomain",
        "shares",
        "smp",
        "sockets",
        "startdate",
        "tablet",
        "tdf",
        "vcpus",
        "vmstatestorage",
    ]),
    properties(&["agent"], &AGENT),
    properties(&["audio0"], &AUDIO),
    properties(&["cpu"], &CPU),
    properties(&["ipconfig[n]"], &ADDRESS),
    properties(&["machine"], &MACHINE),
    properties(&["memory"], &MEMORY),
    properties(&["numa[n]"], &NUMA),
    properties(&["smbios1"], &SMBIOS),
    properties(&["startup"], &STARTUP),
    properties(&["vga"], &VGA),
    properties(&["watchdog"], &WATCHDOG),
    setting(&["net[n]"], judge::card),
    setting(
        &[
            "cdrom",
            "efidisk0",
            "ide[n]",
            "sata[n]",
            "scsi[n]",
            "tpmstate0",
            "virtio[n]",
        ],
        judge::drive,
    ),
    setting(&["unused[n]"], judge::unused),
    setting(&["vmstate"], judge::saved_state),
    setting(&["hostpci[n]", "usb[n]"], judge::device),
    setting(&["serial[n]"], judge::serial),
    setting(&["rng0"], judge::rng),
    setting(&["protection"], judge::protection),
    setting(&["tags"], judge::tags),
    setting(&["template"], judge::template),
    setting(&["cicustom"], judge::commands),
    setting(
        &[
            "args",
            "hookscript",
            "ivshmem",
            "parallel[n]",
            "virtiofs[n]",
        ],
        judge::node_power,
    ),
    setting(
        &[
            "affinity",
            "amd-sev",
            "arch",
            "hugepages",
            "intel-tdx",
            "keephugepages",
            "spice_enhancements",
            "vmgenid",
        ],
        judge::left_to_root,
    ),
    credential(
        &["cipassword", "ciuser", "sshkeys"],
        "gives access to the guest",
    ),
    is(
        &["lock"],
        Risk::Grant,
        "locks or unlocks the guest for PVE's own tasks",
    ),
];
