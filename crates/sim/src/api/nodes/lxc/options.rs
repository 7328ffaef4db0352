//! The options of a container: the keys of its config, as create and update take them.

use crate::schema::property::{Properties, properties};
use crate::schema::{Param, flag, format, int, network, number, text};

/// A network device: `name=eth0,bridge=vmbr0,ip=dhcp`.
pub(super) static NET: Properties = properties(&[
    text("name").matching(is_name),
    text("bridge").matching(is_name).optional(),
    flag("firewall").optional(),
    text("gw").is(network::ipv4).optional(),
    text("gw6").is(network::ipv6).optional(),
    flag("host-managed").optional(),
    text("hwaddr").is(network::mac).optional(),
    text("ip").is(network::ipv4_config).optional(),
    text("ip6").is(network::ipv6_config).optional(),
    flag("link_down").optional(),
    int("mtu").min(64).max(65535).optional(),
    number("rate").optional(),
    int("tag").min(1).max(4094).optional(),
    text("trunks").matching(is_trunk_list).optional(),
    text("type").one_of(&["veth"]).optional(),
]);

/// The root disk: `local-lvm:vm-200-disk-0,size=8G`, or `local-lvm:8` for a new one.
pub(super) static ROOTFS: Properties = properties(&[
    VOLUME,
    flag("acl").optional(),
    MOUNT_OPTIONS,
    flag("quota").optional(),
    flag("replicate").optional(),
    flag("ro").optional(),
    flag("shared").optional(),
    SIZE,
])
.default_key("volume");

/// A mount point: like the root disk, with a place to be mounted at.
pub(super) static MOUNT: Properties = properties(&[
    VOLUME,
    text("mp").is(mount_string),
    flag("acl").optional(),
    flag("backup").optional(),
    flag("keepattrs").optional(),
    MOUNT_OPTIONS,
    flag("quota").optional(),
    flag("replicate").optional(),
    flag("ro").optional(),
    flag("shared").optional(),
    SIZE,
])
.default_key("volume");

static UNUSED: Properties =
    properties(&[text("volume").is(format::volume_id)]).default_key("volume");

static DEVICE: Properties = properties(&[
    text("path").optional(),
    flag("deny-write").optional(),
    int("gid").min(0).optional(),
    text("mode").matching(is_mode).optional(),
    int("uid").min(0).optional(),
])
.default_key("path");

/// Which of them are turned on; all but `nesting` are for `root@pam` alone.
pub(super) static FEATURES: Properties = properties(&[
    flag("force_rw_sys").optional(),
    flag("fuse").optional(),
    flag("keyctl").optional(),
    flag("mknod").optional(),
    text("mount").matching(is_file_system_list).optional(),
    flag("nesting").optional(),
]);

const VOLUME: Param = text("volume").is(mount_string);
const SIZE: Param = text("size").is(format::disk_size).optional();
const MOUNT_OPTIONS: Param = text("mountoptions")
    .matching(is_mount_option_list)
    .optional();

/// All options.
pub(super) const OPTIONS: &[Param] = &[
    text("arch")
        .one_of(&["amd64", "i386", "arm64", "armhf", "riscv32", "riscv64"])
        .optional(),
    text("cmode")
        .one_of(&["shell", "console", "tty"])
        .optional(),
    flag("console").optional(),
    int("cores").min(1).max(8192).optional(),
    number("cpulimit").min(0).max(8192).optional(),
    int("cpuunits").min(0).max(500_000).optional(),
    flag("debug").optional(),
    text("description").longest(8192).optional(),
    text("dev").properties(&DEVICE).times(256).optional(),
    text("entrypoint").optional(),
    text("env").optional(),
    text("features").properties(&FEATURES).optional(),
    text("hookscript").is(format::volume_id).optional(),
    text("hostname")
        .is(format::dns_name)
        .longest(255)
        .optional(),
    text("lock")
        .one_of(&[
            "backup",
            "create",
            "destroyed",
            "disk",
            "fstrim",
            "migrate",
            "mounted",
            "rollback",
            "snapshot",
            "snapshot-delete",
        ])
        .optional(),
    int("memory").min(16).optional(),
    text("mp").properties(&MOUNT).times(256).optional(),
    text("nameserver")
        .list_of(network::ip_with_interface)
        .optional(),
    text("net").properties(&NET).times(32).optional(),
    flag("onboot").optional(),
    text("ostype").one_of(OS_TYPES).optional(),
    flag("protection").optional(),
    text("rootfs").properties(&ROOTFS).optional(),
    text("searchdomain").list_of(format::dns_name).optional(),
    text("startup").is(format::startup_order).optional(),
    int("swap").min(0).optional(),
    text("tags").list_of(format::tag).optional(),
    flag("template").optional(),
    text("timezone").optional(),
    int("tty").min(0).max(6).optional(),
    flag("unprivileged").optional(),
    text("unused").properties(&UNUSED).times(256).optional(),
];

/// The distributions that PVE knows how to set up.
pub(super) const OS_TYPES: &[&str] = &[
    "debian",
    "devuan",
    "ubuntu",
    "centos",
    "fedora",
    "opensuse",
    "archlinux",
    "alpine",
    "gentoo",
    "nixos",
    "unmanaged",
];

fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.chars().all(word)
}

fn is_trunk_list(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split(';').all(number)
}

fn is_mode(text: &str) -> bool {
    text.len() == 4 && text.starts_with('0') && text.bytes().all(|byte| matches!(byte, b'0'..=b'7'))
}

fn is_file_system_list(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ';' | ' ');
    !text.is_empty() && text.chars().all(word)
}

fn is_mount_option_list(text: &str) -> bool {
    let known = [
        "discard", "lazytime", "noatime", "nodev", "noexec", "nosuid",
    ];
    text.split(';').all(|option| known.contains(&option))
}

/// `pve-lxc-mp-string`: a path without `.` and `..`.
fn mount_string(text: &str) -> Result<(), String> {
    let leaves = text.starts_with("../")
        || text
            .split('/')
            .skip(1)
            .any(|part| matches!(part, "." | ".."));
    if leaves {
        return Err(format!("{text} contains illegal character sequences"));
    }
    Ok(())
}
