//! The property strings of a machine's options, disks aside.

use super::patterns;
use crate::schema::network::{bridge, ipv4, ipv4_config, ipv6, ipv6_config, mac};
use crate::schema::property::Alias;
use crate::schema::{Properties, flag, format, int, number, properties, text};

/// The models of network cards; each is also a key whose value is the card's address.
pub(super) const NET_MODELS: &[&str] = &[
    "e1000",
    "e1000-82540em",
    "e1000-82544gc",
    "e1000-82545em",
    "e1000e",
    "i82551",
    "i82557b",
    "i82559er",
    "ne2k_isa",
    "ne2k_pci",
    "pcnet",
    "rtl8139",
    "virtio",
    "vmxnet3",
];

pub(super) static NET: Properties = properties(&[
    text("model").one_of(NET_MODELS),
    text("macaddr").is(mac).optional(),
    text("bridge").is(bridge).optional(),
    flag("firewall").optional(),
    flag("link_down").optional(),
    int("mtu").min(1).max(65_520).optional(),
    int("queues").min(0).max(64).optional(),
    number("rate").min(0).optional(),
    int("tag").min(1).max(4094).optional(),
    text("trunks").matching(patterns::ranges).optional(),
])
.default_key("model")
.aliases(&[Alias {
    names: NET_MODELS,
    value: "macaddr",
    key: Some("model"),
}]);

pub(super) static AGENT: Properties = properties(&[
    flag("enabled"),
    flag("freeze-fs").optional(),
    flag("fstrim_cloned_disks").optional(),
    text("type").one_of(&["virtio", "isa"]).optional(),
])
.default_key("enabled")
.aliases(&[Alias {
    names: &["freeze-fs-on-backup", "guest-fsfreeze"],
    value: "freeze-fs",
    key: None,
}]);

pub(super) static SEV: Properties = properties(&[
    text("type").one_of(&["std", "es", "snp"]),
    flag("allow-smt").optional(),
    flag("kernel-hashes").optional(),
    flag("no-debug").optional(),
    flag("no-key-sharing").optional(),
])
.default_key("type");

pub(super) static TDX: Properties = properties(&[
    text("type").one_of(&["tdx"]),
    flag("attestation").optional(),
    int("vsock-cid").min(2).optional(),
    int("vsock-port").min(0).optional(),
])
.default_key("type");

pub(super) static AUDIO: Properties = properties(&[
    text("device").one_of(&["ich9-intel-hda", "intel-hda", "AC97"]),
    text("driver").one_of(&["spice", "none"]).optional(),
]);

pub(super) static BOOT: Properties = properties(&[
    text("legacy").matching(patterns::boot_letters).optional(),
    text("order").list_of(patterns::boot_device).optional(),
])
.default_key("legacy");

pub(super) static CUSTOM_CLOUDINIT: Properties = properties(&[
    text("meta").is(format::volume_id).optional(),
    text("network").is(format::volume_id).optional(),
    text("user").is(format::volume_id).optional(),
    text("vendor").is(format::volume_id).optional(),
]);

pub(super) static IP_CONFIG: Properties = properties(&[
    text("gw").is(ipv4).requires("ip").optional(),
    text("gw6").is(ipv6).requires("ip6").optional(),
    text("ip").is(ipv4_config).optional(),
    text("ip6").is(ipv6_config).optional(),
]);

pub(super) static IVSHMEM: Properties = properties(&[
    int("size").min(1),
    text("name").matching(patterns::plain_name).optional(),
]);

pub(super) static MACHINE: Properties = properties(&[
    text("type")
        .matching(patterns::machine_type)
        .longest(40)
        .optional(),
    number("aw-bits").min(32).max(64).optional(),
    flag("enable-s3").optional(),
    flag("enable-s4").optional(),
    text("viommu").one_of(&["intel", "virtio"]).optional(),
])
.default_key("type");

pub(super) static MEMORY: Properties = properties(&[int("current").min(16)]).default_key("current");

pub(super) static NUMA: Properties = properties(&[
    text("cpus").matching(patterns::ranges),
    text("hostnodes").matching(patterns::ranges).optional(),
    number("memory").optional(),
    text("policy")
        .one_of(&["preferred", "bind", "interleave"])
        .optional(),
]);

pub(super) static PCI: Properties = properties(&[
    text("host").matching(patterns::pci_addresses).optional(),
    text("device-id").matching(patterns::pci_id).optional(),
    text("driver").one_of(&["vfio", "keep"]).optional(),
    flag("legacy-igd").optional(),
    text("mapping").is(format::config_id).optional(),
    text("mdev").matching(patterns::mediated_type).optional(),
    flag("pcie").optional(),
    flag("rombar").optional(),
    text("romfile").matching(patterns::rom_file).optional(),
    text("sub-device-id").matching(patterns::pci_id).optional(),
    text("sub-vendor-id").matching(patterns::pci_id).optional(),
    text("vendor-id").matching(patterns::pci_id).optional(),
    flag("x-vga").optional(),
])
.default_key("host");

pub(super) static RNG: Properties = properties(&[
    text("source").one_of(&["/dev/urandom", "/dev/random", "/dev/hwrng"]),
    int("max_bytes").optional(),
    int("period").optional(),
])
.default_key("source");

pub(super) static SMBIOS: Properties = properties(&[
    flag("base64").optional(),
    text("family").matching(patterns::base64).optional(),
    text("manufacturer").matching(patterns::base64).optional(),
    text("product").matching(patterns::base64).optional(),
    text("serial").matching(patterns::base64).optional(),
    text("sku").matching(patterns::base64).optional(),
    text("uuid").matching(patterns::uuid).optional(),
    text("version").matching(patterns::base64).optional(),
]);

pub(super) static SPICE: Properties = properties(&[
    flag("foldersharing").optional(),
    text("videostreaming")
        .one_of(&["off", "all", "filter"])
        .optional(),
]);

pub(super) static USB: Properties = properties(&[
    text("host").matching(patterns::usb_host).optional(),
    text("mapping").is(format::config_id).optional(),
    flag("usb3").optional(),
])
.default_key("host");

pub(super) static VGA: Properties = properties(&[
    text("type").one_of(DISPLAYS).optional(),
    text("clipboard").one_of(&["vnc"]).optional(),
    int("memory").min(4).max(512).optional(),
])
.default_key("type");

const DISPLAYS: &[&str] = &[
    "cirrus",
    "qxl",
    "qxl2",
    "qxl3",
    "qxl4",
    "none",
    "serial0",
    "serial1",
    "serial2",
    "serial3",
    "std",
    "virtio",
    "virtio-gl",
    "vmware",
];

pub(super) static VIRTIOFS: Properties = properties(&[
    text("dirid").is(format::config_id),
    text("cache")
        .one_of(&["auto", "always", "metadata", "never"])
        .optional(),
    flag("direct-io").optional(),
    flag("expose-acl").optional(),
    flag("expose-xattr").optional(),
])
.default_key("dirid");

pub(super) static WATCHDOG: Properties = properties(&[
    text("model").one_of(&["i6300esb", "ib700"]).optional(),
    text("action")
        .one_of(&["reset", "shutdown", "poweroff", "pause", "debug", "none"])
        .optional(),
])
.default_key("model");

static CPU: Properties = properties(&[
    text("cputype").optional(),
    text("flags").matching(patterns::cpu_flags).optional(),
    int("guest-phys-bits").min(32).max(64).optional(),
    flag("hidden").optional(),
    text("hv-vendor-id").optional(),
    text("phys-bits").is(patterns::address_bits).optional(),
    text("reported-model").optional(),
])
.default_key("cputype");

/// The processors that QEMU and PVE know.
const CPU_TYPES: &str = "486 athlon Broadwell Broadwell-IBRS Broadwell-noTSX Broadwell-noTSX-IBRS \
    Cascadelake-Server Cascadelake-Server-noTSX Cascadelake-Server-v2 Cascadelake-Server-v4 \
    Cascadelake-Server-v5 ClearwaterForest Conroe Cooperlake Cooperlake-v2 core2duo coreduo EPYC \
    EPYC-Genoa EPYC-Genoa-v2 EPYC-IBPB EPYC-Milan EPYC-Milan-v2 EPYC-Milan-v3 EPYC-Rome \
    EPYC-Rome-v2 EPYC-Rome-v3 EPYC-Rome-v4 EPYC-Rome-v5 EPYC-Turin EPYC-v3 EPYC-v4 EPYC-v5 \
    GraniteRapids GraniteRapids-v2 GraniteRapids-v3 Haswell Haswell-IBRS Haswell-noTSX \
    Haswell-noTSX-IBRS host Icelake-Client Icelake-Client-noTSX Icelake-Server \
    Icelake-Server-noTSX Icelake-Server-v3 Icelake-Server-v4 Icelake-Server-v5 Icelake-Server-v6 \
    Icelake-Server-v7 IvyBridge IvyBridge-IBRS KnightsMill kvm32 kvm64 max Nehalem Nehalem-IBRS \
    Opteron_G1 Opteron_G2 Opteron_G3 Opteron_G4 Opteron_G5 Penryn pentium pentium2 pentium3 phenom \
    qemu32 qemu64 SandyBridge SandyBridge-IBRS SapphireRapids SapphireRapids-v2 SapphireRapids-v3 \
    SapphireRapids-v4 SierraForest SierraForest-v2 SierraForest-v3 Skylake-Client \
    Skylake-Client-IBRS Skylake-Client-noTSX-IBRS Skylake-Client-v4 Skylake-Server \
    Skylake-Server-IBRS Skylake-Server-noTSX-IBRS Skylake-Server-v4 Skylake-Server-v5 Westmere \
    Westmere-IBRS x86-64-v2 x86-64-v2-AES x86-64-v3 x86-64-v4 a64fx cortex-a35 cortex-a53 \
    cortex-a55 cortex-a57 cortex-a710 cortex-a72 cortex-a76 neoverse-n1 neoverse-n2 neoverse-v1";

/// `pve-vm-cpu-conf`: a property string, and the type must be known.
pub(super) fn cpu(text: &str) -> Result<(), String> {
    let given = CPU.split(text)?;
    let value = |key: &str| given.iter().find(|(known, _)| *known == key);
    if let Some((_, name)) = value("cputype") {
        if name.starts_with("custom-") {
            return Err(format!("Custom cputype '{name}' not found"));
        }
        if !CPU_TYPES.split_whitespace().any(|known| known == *name) {
            return Err(format!(
                "Built-in cputype '{name}' is not defined (missing 'custom-' prefix?)"
            ));
        }
    }
    if value("reported-model").is_some() {
        return Err("Property 'reported-model' not allowed in VM-specific CPU config.".to_owned());
    }
    CPU.check("cpu", text)
        .map_err(|error| error.trim_end().to_owned())
}
