//! Every setting of PVE 8.4 to 9.2, one line each.

use super::keys::Form::{self, Flag, Text, Whole};
use super::keys::Plug::{self, AtOnce, AtRestart};
use super::keys::{Key, Takes};

const CPU: Takes = Takes::On("VM.Config.CPU");
const MEMORY: Takes = Takes::On("VM.Config.Memory");
const HARDWARE: Takes = Takes::On("VM.Config.HWType");
const OPTIONS: Takes = Takes::On("VM.Config.Options");
const NETWORK: Takes = Takes::On("VM.Config.Network");
const DISK: Takes = Takes::On("VM.Config.Disk");

const fn key(stem: &'static str, form: Form, takes: Takes, plug: Plug) -> Key {
    Key {
        stem,
        count: 0,
        form,
        takes,
        plug,
    }
}

const fn family(stem: &'static str, count: u16, takes: Takes, plug: Plug) -> Key {
    Key {
        stem,
        count,
        form: Text,
        takes,
        plug,
    }
}

/// Every setting of a VM.
pub(super) const VM: &[Key] = &[
    key("acpi", Flag, HARDWARE, AtRestart),
    key("affinity", Text, Takes::Root, AtRestart),
    key("agent", Text, OPTIONS, Plug::Agent),
    key("allow-ksm", Flag, MEMORY, AtRestart),
    key("amd-sev", Text, Takes::Root, AtRestart),
    key("arch", Text, Takes::Root, AtRestart),
    key("args", Text, Takes::Root, AtRestart),
    key("audio0", Text, HARDWARE, AtRestart),
    key("autostart", Flag, OPTIONS, AtRestart),
    key("balloon", Whole(0, None), MEMORY, Plug::Balloon),
    key("bios", Text, OPTIONS, AtRestart),
    key("boot", Text, DISK, AtRestart),
    key("bootdisk", Text, DISK, AtRestart),
    key("cicustom", Text, Takes::Cloudinit, AtOnce),
    key("cipassword", Text, Takes::Cloudinit, AtOnce),
    key("citype", Text, Takes::Cloudinit, AtOnce),
    key("ciupgrade", Flag, Takes::Cloudinit, AtOnce),
    key("ciuser", Text, Takes::Cloudinit, AtOnce),
    key("cores", Whole(1, None), CPU, AtRestart),
    key("cpu", Text, Takes::CpuModel, AtRestart),
    key("cpulimit", Text, CPU, AtOnce),
    key("cpuunits", Whole(1, Some(262_144)), CPU, AtOnce),
    key("description", Text, OPTIONS, AtOnce),
    key("efidisk0", Text, Takes::Drive, Plug::Drive),
    key("freeze", Flag, Takes::On("VM.PowerMgmt"), AtRestart),
    key("hookscript", Text, Takes::Root, AtOnce),
    family("hostpci", 16, Takes::Device("pci"), AtRestart),
    key("hotplug", Text, HARDWARE, Plug::HotplugList),
    key("hugepages", Text, Takes::Root, AtRestart),
    family("ide", 4, Takes::Drive, Plug::Drive),
    key("intel-tdx", Text, Takes::Root, AtRestart),
    family("ipconfig", 32, Takes::Cloudinit, AtRestart),
    key("ivshmem", Text, Takes::Root, AtRestart),
    key("keephugepages", Flag, Takes::Root, AtRestart),
    key("keyboard", Text, OPTIONS, AtRestart),
    key("kvm", Flag, HARDWARE, AtRestart),
    key("localtime", Flag, OPTIONS, AtRestart),
    key("machine", Text, HARDWARE, AtRestart),
    key("memory", Text, MEMORY, Plug::Feature("memory")),
    key("migrate_downtime", Text, OPTIONS, AtOnce),
    key("migrate_speed", Whole(0, None), OPTIONS, AtOnce),
    key("name", Text, OPTIONS, AtOnce),
    key("nameserver", Text, Takes::Cloudinit, AtOnce),
    family("net", 32, Takes::Card, Plug::Card),
    key("numa", Flag, CPU, AtRestart),
    family("numa", 8, CPU, AtRestart),
    key("onboot", Flag, OPTIONS, AtOnce),
    key("ostype", Text, OPTIONS, AtRestart),
    family("parallel", 3, Takes::Root, AtRestart),
    key("protection", Flag, OPTIONS, AtOnce),
    key("reboot", Flag, OPTIONS, AtRestart),
    key("rng0", Text, Takes::Device("hwrng"), AtRestart),
    family("sata", 6, Takes::Drive, Plug::Drive),
    family("scsi", 31, Takes::Drive, Plug::Drive),
    key("scsihw", Text, HARDWARE, AtRestart),
    key("searchdomain", Text, Takes::Cloudinit, AtOnce),
    family("serial", 4, Takes::Device("serial"), AtRestart),
    key("shares", Whole(0, Some(50_000)), MEMORY, AtOnce),
    key("smbios1", Text, HARDWARE, AtRestart),
    key("smp", Whole(1, None), CPU, AtRestart),
    key("sockets", Whole(1, None), CPU, AtRestart),
    key("spice_enhancements", Text, Takes::Root, AtRestart),
    key("sshkeys", Text, Takes::Cloudinit, AtOnce),
    key("startdate", Text, OPTIONS, AtRestart),
    key("startup", Text, Takes::Startup, AtOnce),
    key("tablet", Flag, HARDWARE, Plug::Feature("usb")),
    key("tags", Text, OPTIONS, AtOnce),
    key("tdf", Flag, OPTIONS, AtRestart),
    key("template", Flag, OPTIONS, AtRestart),
    key("tpmstate0", Text, Takes::Drive, Plug::Drive),
    family("unused", 256, Takes::Unused, AtOnce),
    family("usb", 14, Takes::Device("usb"), Plug::Usb),
    key("vcpus", Whole(1, None), CPU, Plug::Feature("cpu")),
    key("vga", Text, HARDWARE, AtRestart),
    family("virtio", 16, Takes::Drive, Plug::Drive),
    family("virtiofs", 10, Takes::Device("dir"), AtRestart),
    key("vmgenid", Text, Takes::Root, AtRestart),
    key("vmstate", Text, Takes::SavedState, AtOnce),
    key("vmstatestorage", Text, Takes::StateStorage, AtOnce),
    key("watchdog", Text, HARDWARE, AtRestart),
];

/// Every setting of a container.
pub(super) const CONTAINER: &[Key] = &[
    key("arch", Text, OPTIONS, AtRestart),
    key("cmode", Text, OPTIONS, AtRestart),
    key("console", Flag, OPTIONS, AtRestart),
    key("cores", Whole(1, Some(8_192)), CPU, AtOnce),
    key("cpulimit", Text, CPU, AtOnce),
    key("cpuunits", Whole(0, Some(500_000)), CPU, AtOnce),
    key("debug", Flag, OPTIONS, AtRestart),
    key("description", Text, OPTIONS, AtOnce),
    family("dev", 256, Takes::Root, Plug::Added),
    key("entrypoint", Text, OPTIONS, AtRestart),
    key("env", Text, OPTIONS, AtRestart),
    key("features", Text, Takes::Features, AtRestart),
    key("hookscript", Text, Takes::Root, AtOnce),
    key("hostname", Text, NETWORK, AtOnce),
    key("memory", Whole(16, None), MEMORY, AtOnce),
    family("mp", 256, Takes::Mount, Plug::Added),
    key("nameserver", Text, NETWORK, AtRestart),
    family("net", 32, Takes::Card, AtOnce),
    key("onboot", Flag, OPTIONS, AtOnce),
    key("ostype", Text, OPTIONS, AtRestart),
    key("protection", Flag, OPTIONS, AtOnce),
    key("rootfs", Text, Takes::Mount, AtRestart),
    key("searchdomain", Text, NETWORK, AtRestart),
    key("startup", Text, OPTIONS, AtOnce),
    key("swap", Whole(0, None), MEMORY, AtOnce),
    key("tags", Text, OPTIONS, AtOnce),
    key("template", Flag, OPTIONS, AtRestart),
    key("timezone", Text, OPTIONS, AtRestart),
    key("tty", Whole(0, Some(6)), OPTIONS, AtRestart),
    family("unused", 256, Takes::Unused, AtOnce),
];
