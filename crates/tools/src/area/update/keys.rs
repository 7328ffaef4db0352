//! The settings that VMs and containers have, by name: how each is written, which privilege it takes, and when a running
//! guest takes it over.

use pve::GuestKind;

use crate::fault::Fault;
use crate::schema::nearest;

use super::table::{CONTAINER, VM};

/// One setting, or a numbered family of them.
#[derive(Debug)]
pub(super) struct Key {
    /// Its name; without the number if it is a family.
    pub(super) stem: &'static str,
    /// How many there are of a family (`net0` to `net31` are 32); 0 for a single setting.
    pub(super) count: u16,
    /// How its value is written.
    pub(super) form: Form,
    /// What changing it takes.
    pub(super) takes: Takes,
    /// When a running guest takes it over.
    pub(super) plug: Plug,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// 0 or 1.
    Flag,
    /// A whole number, at least this and, where PVE has a bound, at most that.
    Whole(u64, Option<u64>),
    /// Anything else.
    Text,
}

/// What changing a setting takes. PVE decides by the name for most, by the value for some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// This privilege on the guest.
    On(&'static str),
    /// `VM.Config.Cloudinit` or `VM.Config.Network` on the guest.
    Cloudinit,
    /// `VM.Config.CPU`, and the use of a custom model.
    CpuModel,
    /// `VM.Config.Options`, and `Sys.Modify` on `/`, because it changes how the node boots.
    Startup,
    /// `VM.Config.Network`, and the use of the bridge.
    Card,
    /// A VM's drive: by what is in it, and the storage it is on.
    Drive,
    /// A container's volume: `VM.Config.Disk`, and the storage it is on.
    Mount,
    /// A detached volume, which goes for good.
    Unused,
    /// Where memory is saved: `VM.Config.Disk`, and space on that storage.
    StateStorage,
    /// The saved memory of a hibernated VM.
    SavedState,
    /// `VM.Config.HWType`; devices of the node by a mapping, or by root alone.
    Device(&'static str),
    /// `VM.Allocate` for nesting; the other features are root's.
    Features,
    /// `root@pam` alone, by its password: not even its tokens.
    Root,
}

/// When a running guest takes a changed setting over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plug {
    /// At once.
    AtOnce,
    /// When it is started the next time.
    AtRestart,
    /// At once if the VM's `hotplug` names this; otherwise at a restart.
    Feature(&'static str),
    /// A device that is plugged in at once, but not changed or taken out.
    Added,
    /// By what is changed of it.
    Balloon,
    /// By what is changed of it.
    Agent,
    /// By what is changed of it.
    HotplugList,
    /// By what is changed of it.
    Card,
    /// By what is changed of it.
    Drive,
    /// If the VM's `hotplug` and operating system allow it.
    Usb,
}

/// What people call a setting, and what PVE calls it for a VM and for a container.
const OTHER_NAMES: &[(&str, &str, &str)] = &[
    ("hostname", "name", "hostname"),
    ("name", "name", "hostname"),
    ("ram", "memory", "memory"),
    ("mem", "memory", "memory"),
    ("cpus", "cores", "cores"),
    ("notes", "description", "description"),
    ("comment", "description", "description"),
    ("user", "ciuser", ""),
    ("password", "cipassword", ""),
    ("ssh_keys", "sshkeys", ""),
    ("dns", "nameserver", "nameserver"),
    ("bridge", "net0", "net0"),
    ("disk", "scsi0", "rootfs"),
    ("iso", "ide2", ""),
];

impl Key {
    fn is(&self, name: &str) -> bool {
        if self.count == 0 {
            return self.stem == name;
        }
        let number = name.strip_prefix(self.stem).unwrap_or_default();
        let plain = number == "0" || !number.starts_with('0');
        plain && number.parse::<u16>().is_ok_and(|at| at < self.count)
    }

    /// As an example of it is written: `net0`.
    fn example(&self) -> String {
        let number = if self.count == 0 { "" } else { "0" };
        format!("{}{number}", self.stem)
    }
}

/// The settings of a kind of guest.
fn table(kind: GuestKind) -> &'static [Key] {
    match kind {
        GuestKind::Qemu => VM,
        GuestKind::Lxc => CONTAINER,
    }
}

/// The setting of that name; otherwise what was probably meant.
pub(super) fn find(kind: GuestKind, name: &str) -> Result<&'static Key, Fault> {
    if let Some(key) = table(kind).iter().find(|key| key.is(name)) {
        return Ok(key);
    }
    let shown = crate::words::clip(name, 40);
    let fault = Fault::bad_input(format!("a {} has no setting `{shown}`", kind.noun()));
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if let Some(key) = table(kind)
        .iter()
        .find(|key| key.count > 0 && key.stem == stem)
    {
        return Err(fault.hint(format!("there are {stem}0 to {stem}{}", key.count - 1)));
    }
    let other = OTHER_NAMES.iter().find(|(said, ..)| *said == name);
    let other = other.map(|(_, vm, container)| match kind {
        GuestKind::Qemu => *vm,
        GuestKind::Lxc => *container,
    });
    if let Some(meant) = other.filter(|meant| !meant.is_empty()) {
        return Err(fault.hint(format!("it is called `{meant}`")));
    }
    let names: Vec<String> = table(kind).iter().map(Key::example).collect();
    Err(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => fault.hint(format!("did you mean `{near}`?")),
        None => fault.hint(format!("it has {}", names.join(", "))),
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::Value;

    use super::*;

    #[test]
    fn families_have_their_numbers() {
        for name in ["net0", "net31", "scsi30", "memory", "numa", "numa7"] {
            assert!(find(GuestKind::Qemu, name).is_ok(), "{name}");
        }
        for name in ["net", "net32", "net01", "scsi31", "mp0", "numa8"] {
            assert!(find(GuestKind::Qemu, name).is_err(), "{name}");
        }
        assert!(find(GuestKind::Lxc, "mp255").is_ok());
    }

    #[test]
    fn a_wrong_name_leads_to_the_right_one() {
        let hint = |kind, name| find(kind, name).unwrap_err().hint.unwrap();
        assert_eq!(hint(GuestKind::Qemu, "hostname"), "it is called `name`");
        assert_eq!(hint(GuestKind::Lxc, "name"), "it is called `hostname`");
        assert_eq!(hint(GuestKind::Qemu, "memroy"), "did you mean `memory`?");
        assert_eq!(hint(GuestKind::Qemu, "net40"), "there are net0 to net31");
        assert!(hint(GuestKind::Lxc, "zzz").contains("rootfs"));
    }

    /// Reference data beside the repository; without it nothing is compared.
    fn schema(version: &str) -> Option<Vec<Value>> {
        let root = std::env::var_os("OXMOX_REFERENCE").map_or_else(
            || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
            PathBuf::from,
        );
        let file = root.join(format!("pve-api/apidoc-{version}.json"));
        let text = std::fs::read_to_string(file).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn every_setting_of_every_supported_version_is_known() {
        /// Arguments of the call, aliases, and what is not a person's to set.
        const OTHERS: &[&str] = &[
            "cdrom",
            "delete",
            "digest",
            "force",
            "lock",
            "node",
            "revert",
            "skiplock",
            "unprivileged",
            "vmid",
        ];
        for version in ["8.4", "9.1", "9.2"] {
            let Some(methods) = schema(version) else {
                eprintln!("skipped: the schemas of PVE are not beside this repository");
                return;
            };
            for kind in [GuestKind::Qemu, GuestKind::Lxc] {
                let path = format!("/nodes/{{node}}/{kind}/{{vmid}}/config");
                let is_update =
                    |method: &&Value| method["path"] == *path && method["method"] == "PUT";
                let update = methods.iter().find(is_update).unwrap();
                let options = update["parameters"]["properties"].as_object().unwrap();
                for (name, option) in options {
                    if OTHERS.contains(&name.as_str()) {
                        continue;
                    }
                    let key = find(kind, &name.replace("[n]", "0"))
                        .unwrap_or_else(|_| panic!("{kind} {version}: {name} is missing"));
                    let form = match option["type"].as_str() {
                        Some("boolean") => Form::Flag,
                        Some("integer") => Form::Whole(
                            option["minimum"].as_u64().unwrap_or_default(),
                            option["maximum"].as_u64(),
                        ),
                        _ => Form::Text,
                    };
                    assert_eq!(key.form, form, "{kind} {version}: {name}");
                }
            }
        }
    }
}
