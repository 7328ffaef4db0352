//! The roles every PVE comes with.

use std::collections::{BTreeMap, BTreeSet};

use crate::permission::{OLD_AGENT_PRIVILEGE, PRIVILEGES, is_known};
use crate::world::access::Role;

/// What a role holds before version 9, which has finer privileges for guest agents, and one for replication. Who could do
/// all of it with an agent could before, and nobody else.
pub fn as_of(mut privs: BTreeSet<String>, before_9: bool) -> BTreeSet<String> {
    if before_9 {
        if privs.remove("VM.GuestAgent.Unrestricted") {
            privs.insert(OLD_AGENT_PRIVILEGE.to_owned());
        }
        privs.retain(|name| is_known(name, true));
    }
    privs
}

/// The built-in roles by name.
pub(super) fn built_in_roles() -> BTreeMap<String, Role> {
    let starting = |prefixes: &[&str]| -> Vec<&'static str> {
        let fits = |name: &&&str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        PRIVILEGES.iter().filter(fits).copied().collect()
    };
    let without = |names: &[&'static str]| -> Vec<&'static str> {
        PRIVILEGES
            .iter()
            .filter(|name| !names.contains(*name))
            .copied()
            .collect()
    };
    let reserved = [
        "Mapping.Modify",
        "Permissions.Modify",
        "Realm.Allocate",
        "Sys.AccessNetwork",
        "Sys.Incoming",
        "Sys.Modify",
        "Sys.PowerMgmt",
    ];
    let audit: Vec<&str> = PRIVILEGES
        .iter()
        .filter(|name| name.ends_with(".Audit"))
        .copied()
        .collect();
    let vm_user = vec![
        "VM.Audit",
        "VM.Backup",
        "VM.Config.CDROM",
        "VM.Config.Cloudinit",
        "VM.Console",
        "VM.GuestAgent.Audit",
        "VM.GuestAgent.FileRead",
        "VM.GuestAgent.FileSystemMgmt",
        "VM.GuestAgent.FileWrite",
        "VM.PowerMgmt",
    ];
    let roles = [
        ("Administrator", PRIVILEGES.to_vec()),
        ("NoAccess", vec![]),
        ("PVEAdmin", without(&reserved)),
        ("PVEAuditor", audit),
        ("PVEDatastoreAdmin", starting(&["Datastore."])),
        (
            "PVEDatastoreUser",
            vec!["Datastore.AllocateSpace", "Datastore.Audit"],
        ),
        ("PVEMappingAdmin", starting(&["Mapping."])),
        ("PVEMappingUser", vec!["Mapping.Audit", "Mapping.Use"]),
        ("PVEPoolAdmin", starting(&["Pool."])),
        ("PVEPoolUser", vec!["Pool.Audit"]),
        ("PVESDNAdmin", starting(&["SDN."])),
        ("PVESDNUser", vec!["SDN.Audit", "SDN.Use"]),
        (
            "PVESysAdmin",
            vec!["Sys.Audit", "Sys.Console", "Sys.Syslog"],
        ),
        ("PVETemplateUser", vec!["VM.Audit", "VM.Clone"]),
        (
            "PVEUserAdmin",
            vec!["Group.Allocate", "Realm.AllocateUser", "User.Modify"],
        ),
        ("PVEVMAdmin", starting(&["VM."])),
        ("PVEVMUser", vm_user),
    ];
    let role = |(name, privs): (&str, Vec<&str>)| {
        let privs = privs.into_iter().map(str::to_owned).collect();
        (
            name.to_owned(),
            Role {
                privs,
                special: true,
            },
        )
    };
    roles.into_iter().map(role).collect()
}
