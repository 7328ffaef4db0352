//! `[http]` and `[limits]`: how oxmox is served over the network.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use tools::fault::Fault;

use crate::http::{Limits, PublicUrl, Settings, TlsFiles};

/// `[http]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpTable {
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    public_url: Option<String>,
}

impl HttpTable {
    /// What it says. `resolve` makes a path of the file a real one.
    pub(super) fn settings(
        &self,
        limits: &Limits,
        resolve: &dyn Fn(&Path) -> PathBuf,
    ) -> Result<Settings, Fault> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(cert), Some(key)) => Some(TlsFiles {
                cert: resolve(cert),
                key: resolve(key),
            }),
            (None, None) => None,
            _ => {
                return Err(
                    Fault::bad_input("[http] has only one of `tls_cert` and `tls_key`")
                        .hint("write both: the certificate with its chain, and its key"),
                );
            }
        };
        let public_url = self
            .public_url
            .as_deref()
            .map(PublicUrl::parse)
            .transpose()?;
        if let Some(key) = limits.fault() {
            return Err(Fault::bad_input(format!("[limits]: `{key}` is 0"))
                .hint("nobody would be answered: write 1 or more, or leave it out"));
        }
        Ok(Settings {
            tls,
            public_url,
            limits: limits.clone(),
        })
    }
}
