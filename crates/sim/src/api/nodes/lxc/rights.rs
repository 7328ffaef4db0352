//! Who may set which option of a container.

use super::options::FEATURES;
use super::volumes::{Source, is_mount_key, source};
use crate::api::nodes::guest::access::{check_bridges, is_network_device};
use crate::api::nodes::storage::may_use;
use crate::call::Call;
use crate::error::ApiError;
use crate::permission::require;
use crate::world::World;
use crate::world::config::Config;

/// A change of options to be judged.
pub(super) struct Change<'a> {
    pub(super) vmid: u32,
    /// The pool that a new container goes into: rights on it count too.
    pub(super) pool: Option<&'a str>,
    /// What is there now.
    pub(super) old: &'a Config,
    pub(super) unprivileged: bool,
}

impl Change<'_> {
    /// Checks that the caller may set these options.
    ///
    /// # Errors
    /// 403 for the first option that the caller may not set.
    pub(super) fn check_set<'a>(
        &self,
        world: &World,
        call: &Call,
        options: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<(), ApiError> {
        let mut options = options;
        if call.who.is_root() {
            return Ok(());
        }
        options.try_for_each(|(key, value)| self.check(world, call, key, Some(value)))
    }

    /// Checks that the caller may delete or revert these options.
    ///
    /// # Errors
    /// 403 for the first option that the caller may not touch.
    pub(super) fn check_removed(
        &self,
        world: &World,
        call: &Call,
        keys: &[&str],
    ) -> Result<(), ApiError> {
        if call.who.is_root() {
            return Ok(());
        }
        keys.iter()
            .try_for_each(|key| self.check(world, call, key, None))
    }

    fn check(
        &self,
        world: &World,
        call: &Call,
        key: &str,
        value: Option<&str>,
    ) -> Result<(), ApiError> {
        let need = |privilege: &str| self.require(world, call, privilege);
        match key {
            "cores" | "cpuunits" | "cpulimit" => need("VM.Config.CPU"),
            "memory" | "swap" => need("VM.Config.Memory"),
            "nameserver" | "searchdomain" | "hostname" => need("VM.Config.Network"),
            "features" => self.check_features(world, call, value),
            "hookscript" => Err(only_root("changing the hookscript")),
            _ if is_mount_key(key) => {
                need("VM.Config.Disk")?;
                value.map_or(Ok(()), |value| self.check_mount(world, call, value))
            }
            _ if is_network_device(key) => {
                need("VM.Config.Network")?;
                let devices = self.old.get(key).into_iter().chain(value);
                let devices: Config = devices
                    .zip(0..)
                    .map(|(net, at)| (format!("net{at}"), net))
                    .collect();
                check_bridges(world, call, &devices)
            }
            _ if key
                .strip_prefix("dev")
                .is_some_and(|rest| rest.parse::<u8>().is_ok()) =>
            {
                Err(only_root("configuring device passthrough"))
            }
            _ => need("VM.Config.Options"),
        }
    }

    fn require(&self, world: &World, call: &Call, privilege: &str) -> Result<(), ApiError> {
        let by_pool = self
            .pool
            .is_some_and(|pool| world.may(&call.who, &format!("/pool/{pool}"), privilege));
        if by_pool {
            return Ok(());
        }
        require(
            world,
            &call.who,
            &format!("/vms/{}", self.vmid),
            &[privilege],
        )
    }

    fn check_mount(&self, world: &World, call: &Call, value: &str) -> Result<(), ApiError> {
        match source(value) {
            Source::New(storage, _) => {
                let path = format!("/storage/{storage}");
                require(world, &call.who, &path, &["Datastore.AllocateSpace"])
            }
            Source::Volume(volid) => may_use(world, &call.who, volid, self.vmid, "rootdir"),
            other => Err(only_root(&format!("mount point type {}", other.sort()))),
        }
    }

    /// `nesting` takes the right to create containers, the others take `root@pam`.
    fn check_features(
        &self,
        world: &World,
        call: &Call,
        value: Option<&str>,
    ) -> Result<(), ApiError> {
        if !self.unprivileged {
            return Err(only_root("changing feature flags for privileged container"));
        }
        let split = |text: &str| -> Vec<(String, String)> {
            let pairs = FEATURES.split(text).unwrap_or_default();
            pairs
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect()
        };
        let old = self.old.get("features").map(split).unwrap_or_default();
        let new = value.map(split).unwrap_or_default();
        let changed: Vec<&str> = old
            .iter()
            .filter(|pair| !new.contains(pair))
            .chain(new.iter().filter(|pair| !old.contains(pair)))
            .map(|(key, _)| key.as_str())
            .collect();
        if changed.iter().any(|key| *key != "nesting") {
            return Err(only_root("changing feature flags (except nesting)"));
        }
        if changed.is_empty() {
            return Ok(());
        }
        self.require(world, call, "VM.Allocate")
    }
}

fn only_root(what: &str) -> ApiError {
    ApiError::denied(Some(&format!("{what} is only allowed for root@pam")))
}
