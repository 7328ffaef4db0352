//! The options of a virtual machine: the keys of its config, as create and update take them.

use super::{devices, drive, patterns};
use crate::schema::network::address;
use crate::schema::{Param, flag, format, int, number, text};

/// Every option. What is a number or a boolean here is a number in answers too; everything else is text.
pub(super) const OPTIONS: &[Param] = &[
    flag("acpi").optional(),
    text("affinity").is(patterns::cpu_set).optional(),
    text("agent").properties(&devices::AGENT).optional(),
    flag("allow-ksm").optional(),
    text("amd-sev").properties(&devices::SEV).optional(),
    text("arch").one_of(&["x86_64", "aarch64"]).optional(),
    text("args").optional(),
    text("audio0").properties(&devices::AUDIO).optional(),
    flag("autostart").optional(),
    int("balloon").min(0).optional(),
    text("bios").one_of(&["seabios", "ovmf"]).optional(),
    text("boot").properties(&devices::BOOT).optional(),
    text("bootdisk").is(patterns::boot_disk).optional(),
    text("cdrom").properties(&drive::IDE).optional(),
    text("cicustom")
        .properties(&devices::CUSTOM_CLOUDINIT)
        .optional(),
    text("cipassword").optional(),
    text("citype")
        .one_of(&["configdrive2", "nocloud", "opennebula"])
        .optional(),
    flag("ciupgrade").optional(),
    text("ciuser").optional(),
    int("cores").min(1).optional(),
    text("cpu").is(devices::cpu).optional(),
    number("cpulimit").min(0).max(128).optional(),
    int("cpuunits").min(1).max(262_144).optional(),
    text("description").longest(8192).optional(),
    text("efidisk0").properties(&drive::EFI).optional(),
    flag("freeze").optional(),
    text("hookscript").is(format::volume_id).optional(),
    text("hostpci")
        .properties(&devices::PCI)
        .times(16)
        .optional(),
    text("hotplug").is(patterns::hotplug).optional(),
    text("hugepages").one_of(&["any", "2", "1024"]).optional(),
    text("ide").properties(&drive::IDE).times(4).optional(),
    text("intel-tdx").properties(&devices::TDX).optional(),
    text("ipconfig")
        .properties(&devices::IP_CONFIG)
        .times(32)
        .optional(),
    text("ivshmem").properties(&devices::IVSHMEM).optional(),
    flag("keephugepages").optional(),
    text("keyboard").one_of(KEYBOARDS).optional(),
    flag("kvm").optional(),
    flag("localtime").optional(),
    text("lock").one_of(LOCKS).optional(),
    text("machine").properties(&devices::MACHINE).optional(),
    text("memory").properties(&devices::MEMORY).optional(),
    number("migrate_downtime").min(0).optional(),
    int("migrate_speed").min(0).optional(),
    text("name").is(format::dns_name).optional(),
    text("nameserver").list_of(address).optional(),
    text("net").properties(&devices::NET).times(32).optional(),
    flag("numa").optional(),
    text("numa").properties(&devices::NUMA).times(8).optional(),
    flag("onboot").optional(),
    text("ostype").one_of(OS_TYPES).optional(),
    text("parallel")
        .matching(patterns::parallel_port)
        .times(3)
        .optional(),
    flag("protection").optional(),
    flag("reboot").optional(),
    text("rng0").properties(&devices::RNG).optional(),
    text("sata").properties(&drive::SATA).times(6).optional(),
    text("scsi").properties(&drive::SCSI).times(31).optional(),
    text("scsihw").one_of(SCSI_CONTROLLERS).optional(),
    text("searchdomain").optional(),
    text("serial")
        .matching(patterns::serial_port)
        .times(4)
        .optional(),
    int("shares").min(0).max(50_000).optional(),
    text("smbios1")
        .properties(&devices::SMBIOS)
        .longest(512)
        .optional(),
    int("smp").min(1).optional(),
    int("sockets").min(1).optional(),
    text("spice_enhancements")
        .properties(&devices::SPICE)
        .optional(),
    text("sshkeys").is(format::urlencoded).optional(),
    text("startdate").matching(patterns::start_date).optional(),
    text("startup").is(format::startup_order).optional(),
    flag("tablet").optional(),
    text("tags").list_of(format::tag).optional(),
    flag("tdf").optional(),
    flag("template").optional(),
    text("tpmstate0").properties(&drive::TPM).optional(),
    text("unused")
        .properties(&drive::UNUSED)
        .times(256)
        .optional(),
    text("usb").properties(&devices::USB).times(14).optional(),
    int("vcpus").min(1).optional(),
    text("vga").properties(&devices::VGA).optional(),
    text("virtio")
        .properties(&drive::VIRTIO)
        .times(16)
        .optional(),
    text("virtiofs")
        .properties(&devices::VIRTIOFS)
        .times(10)
        .optional(),
    text("vmgenid").matching(patterns::generation_id).optional(),
    text("vmstatestorage").is(format::storage_id).optional(),
    text("watchdog").properties(&devices::WATCHDOG).optional(),
];

/// Keys of the config that no call may set, but that a call may delete.
const INTERNAL: &[&str] = &[
    "meta",
    "parent",
    "running-nets-host-mtu",
    "runningcpu",
    "runningmachine",
    "snaptime",
    "vmstate",
];

/// Whether a config may have this key.
pub(super) fn exists(key: &str) -> bool {
    INTERNAL.contains(&key) || OPTIONS.iter().any(|option| option.covers(key))
}

const KEYBOARDS: &[&str] = &[
    "de", "de-ch", "da", "en-gb", "en-us", "es", "fi", "fr", "fr-be", "fr-ca", "fr-ch", "hu", "is",
    "it", "ja", "lt", "mk", "nl", "no", "pl", "pt", "pt-br", "sv", "sl", "tr",
];

const LOCKS: &[&str] = &[
    "backup",
    "clone",
    "create",
    "migrate",
    "rollback",
    "snapshot",
    "snapshot-delete",
    "suspending",
    "suspended",
];

const OS_TYPES: &[&str] = &[
    "other", "wxp", "w2k", "w2k3", "w2k8", "wvista", "win7", "win8", "win10", "win11", "l24",
    "l26", "solaris",
];

const SCSI_CONTROLLERS: &[&str] = &[
    "lsi",
    "lsi53c810",
    "virtio-scsi-pci",
    "virtio-scsi-single",
    "megasas",
    "pvscsi",
];
