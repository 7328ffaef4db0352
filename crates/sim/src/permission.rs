//! Who may call a route: the permission expressions of PVE's API, and their evaluation.
//!
//! What an identity may do on a path is computed in [`crate::world::access`]; here it is only asked.

use crate::call::{Given, Identity, Params};
use crate::error::ApiError;
use crate::world::World;

/// Every privilege of PVE 9, sorted.
pub const PRIVILEGES: &[&str] = &[
    "Datastore.Allocate",
    "Datastore.AllocateSpace",
    "Datastore.AllocateTemplate",
    "Datastore.Audit",
    "Group.Allocate",
    "Mapping.Audit",
    "Mapping.Modify",
    "Mapping.Use",
    "Permissions.Modify",
    "Pool.Allocate",
    "Pool.Audit",
    "Realm.Allocate",
    "Realm.AllocateUser",
    "SDN.Allocate",
    "SDN.Audit",
    "SDN.Use",
    "Sys.AccessNetwork",
    "Sys.Audit",
    "Sys.Console",
    "Sys.Incoming",
    "Sys.Modify",
    "Sys.PowerMgmt",
    "Sys.Syslog",
    "User.Modify",
    "VM.Allocate",
    "VM.Audit",
    "VM.Backup",
    "VM.Clone",
    "VM.Config.CDROM",
    "VM.Config.CPU",
    "VM.Config.Cloudinit",
    "VM.Config.Disk",
    "VM.Config.HWType",
    "VM.Config.Memory",
    "VM.Config.Network",
    "VM.Config.Options",
    "VM.Console",
    "VM.GuestAgent.Audit",
    "VM.GuestAgent.FileRead",
    "VM.GuestAgent.FileSystemMgmt",
    "VM.GuestAgent.FileWrite",
    "VM.GuestAgent.Unrestricted",
    "VM.Migrate",
    "VM.PowerMgmt",
    "VM.Replicate",
    "VM.Snapshot",
    "VM.Snapshot.Rollback",
];

/// What all that guest agents do took up to version 8, and what QEMU's monitor took.
pub const OLD_AGENT_PRIVILEGE: &str = "VM.Monitor";

/// Whether a privilege is one of the release's.
pub fn is_known(name: &str, before_9: bool) -> bool {
    match name {
        OLD_AGENT_PRIVILEGE => before_9,
        "VM.Replicate" => !before_9,
        _ if name.starts_with("VM.GuestAgent.") => !before_9,
        _ => PRIVILEGES.contains(&name),
    }
}

/// A permission expression, as PVE's API schema has them. Paths may hold parameters: `/vms/{vmid}`.
#[derive(Clone, Copy, Debug)]
pub enum Perm {
    /// Anybody, without a login.
    World,
    /// Anybody who is logged in. Many such handlers check further themselves.
    User,
    /// `root@pam` itself, not one of its tokens.
    RootOnly,
    /// All of these privileges on the path.
    On(&'static str, &'static [&'static str]),
    /// At least one of these privileges on the path.
    AnyOn(&'static str, &'static [&'static str]),
    /// This, and the parameter must have been sent. One way of several.
    IfGiven(&'static str, &'static Perm),
    /// The user in the parameter `userid` is the caller.
    OwnUser,
    /// The realm of the user in the parameter `userid` may be given users.
    RealmOfUser,
    /// One of these privileges on `/access/groups` or on a group of the user in `userid`.
    GroupOfUser(&'static [&'static str]),
    /// The same for a user to be made: on all groups in the parameter `groups`.
    GroupsOfNewUser(&'static [&'static str]),
    /// The same for a user to be changed: on a group it is in, and on all groups in the parameter `groups`.
    GroupsOfChangedUser(&'static [&'static str]),
    /// May change the rules on the path.
    Modify(&'static str),
    /// All of these.
    All(&'static [Perm]),
    /// One of these.
    Either(&'static [Perm]),
}

impl Perm {
    /// Checks the expression for a caller.
    ///
    /// # Errors
    /// 403 with PVE's text. An `Either` that fails does not say what is missing.
    pub fn check(&self, world: &World, who: &Identity, params: &Params) -> Result<(), ApiError> {
        if who.is_root() {
            return Ok(());
        }
        match *self {
            Self::RootOnly => Err(ApiError::root_only()),
            Self::On(path, privs) => {
                require(world, who, &fill(path, params), as_of(world, path, privs))
            }
            Self::AnyOn(path, privs) => {
                require_any(world, who, &fill(path, params), as_of(world, path, privs))
            }
            Self::IfGiven(name, perm) if params.has(name) => perm.check(world, who, params),
            Self::World | Self::User => Ok(()),
            Self::OwnUser if existing_user(world, params)? == who.to_string() => Ok(()),
            Self::OwnUser | Self::IfGiven(..) => Err(ApiError::denied(None)),
            Self::RealmOfUser => {
                let realm = user_param(params)?
                    .rsplit_once('@')
                    .map_or("", |(_, realm)| realm);
                let path = format!("/access/realm/{realm}");
                require(world, who, &path, &["Realm.AllocateUser"])
            }
            Self::GroupOfUser(privs) => {
                group_of_user(world, who, existing_user(world, params)?, privs)
            }
            Self::GroupsOfNewUser(privs) => listed_groups(world, who, params, privs),
            Self::GroupsOfChangedUser(privs) => {
                let user = existing_user(world, params)?;
                listed_groups(world, who, params, privs)?;
                group_of_user(world, who, user, privs)
            }
            Self::Modify(path) => require_modify(world, who, &fill(path, params)),
            Self::All(perms) => perms
                .iter()
                .try_for_each(|perm| perm.check(world, who, params)),
            Self::Either(perms) => {
                let allowed = perms
                    .iter()
                    .any(|perm| perm.check(world, who, params).is_ok());
                if allowed {
                    Ok(())
                } else {
                    Err(ApiError::denied(None))
                }
            }
        }
    }
}

/// The privileges that the release asks for: up to version 8, one was for all that guest agents do, and for QEMU's monitor.
fn as_of<'p>(world: &World, path: &str, privs: &'p [&'p str]) -> &'p [&'p str] {
    let of_agent = privs.iter().any(|name| name.starts_with("VM.GuestAgent."));
    // Nothing else on a guest is the system's to allow.
    let of_monitor = path == "/vms/{vmid}" && privs.iter().any(|name| name.starts_with("Sys."));
    if (of_agent || of_monitor) && world.is_before_9() {
        return &[OLD_AGENT_PRIVILEGE];
    }
    privs
}

/// Requires all of `privs` on `path`.
///
/// # Errors
/// 403 naming path and privileges.
pub fn require(world: &World, who: &Identity, path: &str, privs: &[&str]) -> Result<(), ApiError> {
    let path = valid_path(path);
    if !path.is_empty() && privs.iter().all(|name| world.may(who, path, name)) {
        return Ok(());
    }
    Err(ApiError::denied(Some(&format!(
        "{path}, {}",
        privs.join(",")
    ))))
}

/// Requires one of `privs` on `path`.
///
/// # Errors
/// 403 naming path and privileges.
pub fn require_any(
    world: &World,
    who: &Identity,
    path: &str,
    privs: &[&str],
) -> Result<(), ApiError> {
    let path = valid_path(path);
    if !path.is_empty() && privs.iter().any(|name| world.may(who, path, name)) {
        return Ok(());
    }
    Err(ApiError::denied(Some(&format!(
        "{path}, {}",
        privs.join("|")
    ))))
}

/// The path if it is one PVE accepts, else an empty text: even root has no rights on that.
fn valid_path(path: &str) -> &str {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | '!');
    let valid = path == "/"
        || path.strip_prefix('/').is_some_and(|rest| {
            rest.split('/')
                .all(|part| !part.is_empty() && part.chars().all(word))
        });
    if valid { path } else { "" }
}

/// Replaces `{name}` by the parameter; an absent one leaves nothing, an array something no path may hold.
fn fill(template: &str, params: &Params) -> String {
    let mut path = template.to_owned();
    for (name, given) in params.iter() {
        let value = match given {
            Given::Text(text) => text.as_str(),
            _ => "ARRAY()",
        };
        path = path.replace(&format!("{{{name}}}"), value);
    }
    match path.find('{') {
        Some(unfilled) => path[..unfilled].trim_end_matches('/').to_owned(),
        None => path,
    }
}

fn user_param(params: &Params) -> Result<&str, ApiError> {
    let user = params.text("userid").unwrap_or_default();
    if crate::schema::format::is_user_id(user) {
        Ok(user)
    } else {
        Err(ApiError::fail(format!(
            "value '{user}' does not look like a valid user name"
        )))
    }
}

fn existing_user<'a>(world: &World, params: &'a Params) -> Result<&'a str, ApiError> {
    let user = user_param(params)?;
    if world.access.users.contains_key(user) {
        Ok(user)
    } else {
        Err(ApiError::fail(format!("no such user ('{user}')")))
    }
}

fn may_any(world: &World, who: &Identity, path: &str, privs: &[&str]) -> bool {
    privs.iter().any(|name| world.may(who, path, name))
}

/// Rights on all groups, or on one that the user is in.
fn group_of_user(
    world: &World,
    who: &Identity,
    user: &str,
    privs: &[&str],
) -> Result<(), ApiError> {
    let on_group = |group: &&str| may_any(world, who, &format!("/access/groups/{group}"), privs);
    let allowed = may_any(world, who, "/access/groups", privs)
        || world.access.groups_of(user).iter().any(on_group);
    if allowed {
        Ok(())
    } else {
        Err(ApiError::denied(None))
    }
}

/// Rights on all groups, or on each one in the parameter `groups`, of which there must be one.
fn listed_groups(
    world: &World,
    who: &Identity,
    params: &Params,
    privs: &[&str],
) -> Result<(), ApiError> {
    let groups = params.list("groups");
    if groups.is_empty() || may_any(world, who, "/access/groups", privs) {
        return require_any(world, who, "/access/groups", privs);
    }
    groups
        .iter()
        .try_for_each(|group| require_any(world, who, &format!("/access/groups/{group}"), privs))
}

/// Requires the right to change the rules on `path`, which who may allocate things there has too.
///
/// # Errors
/// 403 naming path and privileges.
pub fn require_modify(world: &World, who: &Identity, path: &str) -> Result<(), ApiError> {
    let below = |prefix: &str| {
        path.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty())
    };
    let privs: &[&str] = if below("/storage/") {
        &["Permissions.Modify", "Datastore.Allocate"]
    } else if below("/vms/") {
        &["Permissions.Modify", "VM.Allocate"]
    } else if below("/pool/") {
        &["Permissions.Modify", "Pool.Allocate"]
    } else {
        &["Permissions.Modify"]
    };
    require_any(world, who, path, privs)
}
