//! The address of a database that several processes share, as a person writes it.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::postgres::Config;
use ::postgres::config::{Host, SslMode};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use secrecy::{ExposeSecret as _, SecretString};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::postgres::Address;
use crate::fault::Fault;

/// Where a shared database is, and how to get in. Prints without its password.
#[derive(Debug, Clone)]
pub struct Shared {
    /// `postgres://USER@HOST/DATABASE`, with a password or without.
    pub url: SecretString,
    /// The password, where it is not in the address.
    pub password: Option<SecretString>,
    /// The certificates of those who may vouch for the server; absent: the system's.
    pub ca_file: Option<PathBuf>,
    /// How long a worker whose session was lost may take to come back before it counts as dead.
    pub patience: Duration,
}

impl Shared {
    /// At this address, with nothing else said.
    pub fn at(url: impl Into<SecretString>) -> Self {
        Self {
            url: url.into(),
            password: None,
            ca_file: None,
            patience: Duration::from_secs(8),
        }
    }
}

impl Shared {
    /// Whether there is a password in an address.
    pub fn has_password(url: &str) -> Result<bool, Fault> {
        Ok(parse(url)?.get_password().is_some())
    }

    /// As the driver takes it.
    pub(super) fn address(&self) -> Result<Address, Fault> {
        let mut config = parse(self.url.expose_secret())?;
        if let Some(password) = &self.password {
            config.password(password.expose_secret());
        }
        // Whoever can read what goes to another machine could read plans, and change them. PostgreSQL's own default
        // would go on in clear where the server has no TLS, and on this machine insist on a certificate that nobody
        // vouches for.
        if config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(if is_local(&config) {
                SslMode::Disable
            } else {
                SslMode::Require
            });
        }
        let tls = MakeRustlsConnect::new(tls(self.ca_file.as_deref())?);
        Ok(Address { config, tls })
    }
}

fn parse(url: &str) -> Result<Config, Fault> {
    let of_postgres = ["postgres://", "postgresql://"];
    let parsed = of_postgres
        .iter()
        .any(|scheme| url.starts_with(scheme))
        .then(|| url.parse().ok());
    parsed.flatten().ok_or_else(|| {
        // The error could quote the password.
        Fault::bad_input("the store's address is none of PostgreSQL's")
            .hint("postgres://USER@HOST:PORT/DATABASE; characters like @ and / in a password are written as %40 and %2F")
    })
}

/// Whether nothing of it leaves this machine.
fn is_local(config: &Config) -> bool {
    let is_here = |address: &IpAddr| address.is_loopback();
    let by_name = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip| is_here(&ip)),
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    match config.get_hostaddrs() {
        [] => by_name,
        addresses => addresses.iter().all(is_here),
    }
}

fn tls(ca_file: Option<&Path>) -> Result<ClientConfig, Fault> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Some(path) => {
            let wrong = |why: String| Fault::bad_input(format!("{}: {why}", path.display()));
            let found = CertificateDer::pem_file_iter(path).map_err(|e| wrong(e.to_string()))?;
            for certificate in found {
                let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
                roots
                    .add(certificate)
                    .map_err(|error| wrong(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(wrong("it holds no certificate".to_owned()));
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::bad_input(format!("TLS: {error}")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        let shared = Shared::at(url);
        shared.address().unwrap().config.get_ssl_mode()
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_unless_somebody_says_otherwise() {
        assert_eq!(mode("postgres://ox@db.example/ox"), SslMode::Require);
        assert_eq!(mode("postgres://ox@10.1.2.3/ox"), SslMode::Require);
        assert_eq!(mode("postgres://ox@127.0.0.1/ox"), SslMode::Disable);
        assert_eq!(
            mode("postgres://ox@%2Frun%2Fpostgresql/ox"),
            SslMode::Disable
        );
        let said = mode("postgres://ox@db.example/ox?sslmode=disable");
        assert_eq!(said, SslMode::Disable);
    }

    #[test]
    fn an_address_that_is_none_is_not_quoted() {
        let shared = Shared::at("postgres://ox:hunter2@[/");
        let Err(fault) = shared.address() else {
            panic!("taken")
        };
        assert!(!format!("{fault} {shared:?}").contains("hunter2"));
    }
}
