//! What makes a guest this one, though another may later bear its number.

use serde::{Deserialize, Serialize};

use super::config::GuestConfig;
use crate::id::GuestKind;

/// The lasting marks of a guest. A vmid is reused after a deletion; these are not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Identity {
    /// Of a VM.
    Vm {
        /// The UUID of `smbios1`.
        #[serde(default)]
        uuid: Option<String>,
        /// The generation id, new after a clone, a restore or a rollback.
        #[serde(default)]
        vmgenid: Option<String>,
        /// When it was created, in Unix seconds.
        #[serde(default)]
        ctime: Option<u64>,
    },
    /// Of a container.
    Container {
        /// The MAC addresses, by card.
        #[serde(default)]
        macs: Vec<String>,
        /// The root file system's volume.
        #[serde(default)]
        rootfs: Option<String>,
    },
}

impl Identity {
    /// Reads the marks from a configuration.
    pub fn of(kind: GuestKind, config: &GuestConfig) -> Self {
        match kind {
            GuestKind::Qemu => Self::Vm {
                uuid: config
                    .properties("smbios1")
                    .and_then(|smbios| smbios.get("uuid").map(str::to_ascii_lowercase)),
                vmgenid: config.text("vmgenid"),
                ctime: config
                    .properties("meta")
                    .and_then(|meta| meta.get("ctime")?.parse().ok()),
            },
            GuestKind::Lxc => Self::Container {
                macs: config
                    .nets()
                    .into_iter()
                    .filter_map(|nic| nic.mac)
                    .collect(),
                rootfs: config
                    .properties("rootfs")
                    .and_then(|root| root.default_or("volume").map(str::to_owned)),
            },
        }
    }

    /// False if the guest bears no mark at all (a very old VM), so that two such cannot be told apart.
    pub fn is_known(&self) -> bool {
        match self {
            Self::Vm {
                uuid,
                vmgenid,
                ctime,
            } => uuid.is_some() || vmgenid.is_some() || ctime.is_some(),
            Self::Container { macs, rootfs } => !macs.is_empty() || rootfs.is_some(),
        }
    }

    /// Which mark differs from `other`, with both values; `None` if it is the same guest.
    pub fn difference(&self, other: &Self) -> Option<String> {
        match (self, other) {
            (
                Self::Vm {
                    uuid,
                    vmgenid,
                    ctime,
                },
                Self::Vm {
                    uuid: other_uuid,
                    vmgenid: other_vmgenid,
                    ctime: other_ctime,
                },
            ) => differs("smbios uuid", uuid.as_ref(), other_uuid.as_ref())
                .or_else(|| differs("creation time", ctime.as_ref(), other_ctime.as_ref()))
                .or_else(|| differs("vmgenid", vmgenid.as_ref(), other_vmgenid.as_ref())),
            (
                Self::Container { macs, rootfs },
                Self::Container {
                    macs: other_macs,
                    rootfs: other_rootfs,
                },
            ) => differs("root volume", rootfs.as_ref(), other_rootfs.as_ref()).or_else(|| {
                let (ours, theirs) = (macs.join(", "), other_macs.join(", "));
                differs("MAC addresses", some(&ours), some(&theirs))
            }),
            (Self::Vm { .. }, Self::Container { .. }) => {
                Some("it was a VM, now a container".into())
            }
            (Self::Container { .. }, Self::Vm { .. }) => {
                Some("it was a container, now a VM".into())
            }
        }
    }
}

fn some(text: &String) -> Option<&String> {
    Some(text).filter(|text| !text.is_empty())
}

fn differs<T: PartialEq + ToString>(
    what: &str,
    before: Option<&T>,
    now: Option<&T>,
) -> Option<String> {
    let show = |value: Option<&T>| value.map_or_else(|| "none".to_owned(), T::to_string);
    (before != now).then(|| format!("its {what} was {}, now {}", show(before), show(now)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn vm(uuid: &str, genid: &str) -> Identity {
        let config: GuestConfig = serde_json::from_value(json!({
            "smbios1": format!("uuid={uuid}"), "vmgenid": genid, "meta": "creation-qemu=10.0,ctime=1794768839"
        }))
        .unwrap();
        Identity::of(GuestKind::Qemu, &config)
    }

    fn container(mac: &str, root: &str) -> Identity {
        let config: GuestConfig = serde_json::from_value(json!({
            "net0": format!("name=eth0,hwaddr={mac}"), "rootfs": format!("{root},size=1G")
        }))
        .unwrap();
        Identity::of(GuestKind::Lxc, &config)
    }

    #[test]
    fn the_same_guest_has_no_difference() {
        assert_eq!(vm("A", "g").difference(&vm("a", "g")), None);
        let ct = container("BC:24:11:00:00:01", "local:1");
        assert_eq!(ct.difference(&ct.clone()), None);
    }

    #[test]
    fn the_difference_is_named() {
        assert_eq!(
            vm("a", "g").difference(&vm("b", "g")).unwrap(),
            "its smbios uuid was a, now b"
        );
        assert_eq!(
            vm("a", "g").difference(&vm("a", "h")).unwrap(),
            "its vmgenid was g, now h"
        );
        let ct = container("BC:24:11:00:00:01", "local:1");
        assert!(
            ct.difference(&container("BC:24:11:00:00:02", "local:1"))
                .unwrap()
                .contains("MAC")
        );
        assert!(
            ct.difference(&container("BC:24:11:00:00:01", "local:2"))
                .unwrap()
                .contains("root")
        );
        assert_eq!(
            vm("a", "g").difference(&ct).unwrap(),
            "it was a VM, now a container"
        );
    }

    #[test]
    fn a_guest_without_marks_is_not_known() {
        assert!(vm("a", "g").is_known());
        for kind in [GuestKind::Qemu, GuestKind::Lxc] {
            assert!(!Identity::of(kind, &GuestConfig::default()).is_known());
        }
    }

    #[test]
    fn json_round_trips() {
        for identity in [vm("a", "g"), container("BC:24:11:00:00:01", "local:1")] {
            let json = serde_json::to_string(&identity).unwrap();
            assert_eq!(serde_json::from_str::<Identity>(&json).unwrap(), identity);
        }
    }
}
