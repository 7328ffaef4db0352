//! The database that the replicas of a service share. Without one, the state directory holds everything.

use std::path::{Path, PathBuf};

use secrecy::SecretString;
use tools::engine::State;
use tools::fault::Fault;
use tools::store::Shared;

use super::Environment;
use super::file::{File, one_at_most};
use super::paths;
use super::secret::SecretSource;
use crate::program;

/// Where it is, and how to get in.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    url: SecretString,
    password: Option<SecretSource>,
    ca_file: Option<PathBuf>,
}

/// Where an address may come from, and whether a password may be part of it there.
const PLACES: [(&str, bool); 3] = [("--store", false), ("OXMOX_STORE", true), ("store", false)];

impl StoreConfig {
    /// As the command line, the environment and the file say, in this order.
    pub(super) fn find(
        flag: Option<&str>,
        environment: &Environment,
        (file, dir): (&File, &Path),
    ) -> Result<Option<Self>, Fault> {
        let said = [flag, environment.get("OXMOX_STORE"), file.store.as_deref()];
        let password = Self::password(environment, file, dir)?;
        let ca_file = environment
            .get("OXMOX_STORE_CA_FILE")
            .map(PathBuf::from)
            .or_else(|| {
                let named = file.store_ca_file.as_ref()?;
                Some(paths::resolve(dir, named, environment))
            });
        let mut places = PLACES.into_iter().zip(said);
        let Some(((place, may_hold_password), url)) =
            places.find_map(|(place, url)| Some((place, url?)))
        else {
            if password.is_some() || ca_file.is_some() {
                return Err(Fault::bad_input(
                    "there is a password or a certificate for a store, and no store",
                )
                .hint("set `store`, OXMOX_STORE or --store to postgres://USER@HOST/DATABASE"));
            }
            return Ok(None);
        };
        if Shared::has_password(url)? && !may_hold_password {
            let what = format!("a password in {place} can be read by others");
            return Err(Fault::bad_input(what).hint(
                "leave it out of the address and name where it is: store_password_file, store_password_env or \
                 store_password_command in the configuration file, or OXMOX_STORE_PASSWORD",
            ));
        }
        Ok(Some(Self {
            url: url.into(),
            password,
            ca_file,
        }))
    }

    fn password(
        environment: &Environment,
        file: &File,
        dir: &Path,
    ) -> Result<Option<SecretSource>, Fault> {
        if file.store_password.is_some() {
            return Err(Fault::bad_input("`store_password` does not belong into the file").hint(
                "keep it in a file, a variable or a password manager and name that: store_password_file, \
                 store_password_env or store_password_command",
            ));
        }
        if let Some(password) = environment.get("OXMOX_STORE_PASSWORD") {
            return Ok(Some(SecretSource::Held(password.into())));
        }
        let in_file = file.store_password_file.as_ref();
        let sources = [
            in_file.map(|path| SecretSource::File(paths::resolve(dir, path, environment))),
            file.store_password_env.clone().map(SecretSource::Variable),
            file.store_password_command
                .clone()
                .map(SecretSource::Command),
        ];
        one_at_most(sources, "store_password")
    }

    /// The file that its password is in, if it is in one.
    pub(super) fn secret_file(&self) -> Option<&Path> {
        match &self.password {
            Some(SecretSource::File(path)) => Some(path),
            _ => None,
        }
    }

    /// With its password, for an engine or a command on this machine.
    pub(super) fn state(&self, dir: &Path, environment: &Environment) -> Result<State, Fault> {
        let read = |source: &SecretSource| {
            let what = "the password of the store";
            source.read((what, "store_password"), environment, program::LIMIT)
        };
        let shared = Shared {
            password: self.password.as_ref().map(read).transpose()?,
            ca_file: self.ca_file.clone(),
            ..Shared::at(self.url.clone())
        };
        Ok(State::Shared(shared, dir.to_owned()))
    }
}
