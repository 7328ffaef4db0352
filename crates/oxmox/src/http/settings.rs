//! What the service is told: plain data, and what is made of it before anybody calls.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use tools::fault::Fault;

use super::estate::{Estates, PveTokens};
use super::limit::Limits;
use super::oauth::{OAuth, Verifier};
use super::origin::PublicUrl;
use super::tls;

/// How the service is run. Where the values come from is the configuration's matter.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The certificate and its key; without them, connections are not encrypted.
    pub tls: Option<TlsFiles>,
    /// What others call it by.
    pub public_url: Option<PublicUrl>,
    /// What a caller may ask for.
    pub limits: Limits,
    /// The OAuth server whose word counts.
    pub oauth: Option<OAuth>,
    /// Whether callers may bring their own token of PVE along.
    pub pve_tokens: PveTokens,
    /// Where the spans of calls are sent.
    pub otlp_url: Option<String>,
}

/// A certificate with the chain that leads to it, and its key, both in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain, the server's own certificate first.
    pub cert: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// The settings, read and checked. What calls meanwhile keeps those that it began with.
#[derive(Debug, Default)]
pub struct Live {
    pub(super) tls: Option<Arc<ServerConfig>>,
    pub(super) public_url: Option<PublicUrl>,
    pub(super) limits: Limits,
    pub(super) oauth: Option<Verifier>,
    pub(super) pve_tokens: PveTokens,
    pub(super) otlp_url: Option<String>,
    pub(super) estates: Arc<Estates>,
}

impl Live {
    /// Reads the files that the settings name.
    pub fn new(settings: &Settings) -> Result<Self, Fault> {
        let public_url = settings.public_url.clone();
        let verifier = |oauth: &OAuth| Verifier::new(oauth, public_url.as_ref());
        Ok(Self {
            oauth: settings.oauth.as_ref().map(verifier).transpose()?,
            tls: settings.tls.as_ref().map(tls::config).transpose()?,
            public_url,
            limits: settings.limits.clone(),
            pve_tokens: settings.pve_tokens,
            otlp_url: settings.otlp_url.clone(),
            estates: Arc::default(),
        })
    }

    /// These settings in the place of those, if they can take it: encryption and OAuth are there from the start, or not at all.
    /// Clients know the address by the one, and whether anybody is let in unasked was decided by the other.
    pub fn following(self, before: &Self) -> Result<Self, Fault> {
        for (same, what) in [
            (self.tls.is_some() == before.tls.is_some(), "TLS"),
            (self.oauth.is_some() == before.oauth.is_some(), "[oauth]"),
        ] {
            if !same {
                let message = format!("{what} cannot be switched on or off while oxmox serves");
                return Err(Fault::refused(message).hint("start it anew"));
            }
        }
        Ok(Self {
            estates: before.estates.clone(),
            ..self
        })
    }

    /// With the clusters that callers may act on by their own tokens.
    #[must_use]
    pub fn for_clusters(self, clusters: Vec<(String, pve::Settings)>) -> Self {
        Self {
            estates: Arc::new(Estates::new(clusters)),
            ..self
        }
    }

    /// How its address begins.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}
