//! What the service is told: plain data, and what is made of it before anybody calls.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tools::fault::Fault;

use super::estate::{Estates, PveTokens};
use super::limit::Limits;
use super::oauth::{OAuth, Verifier};
use super::origin::PublicUrl;
use super::tls;
use crate::mcp;

/// How the service is run. Where the values come from is the configuration's matter.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The certificate and its key; without them, connections are not encrypted.
    pub tls: Option<TlsFiles>,
    /// What others call it by.
    pub public_url: Option<PublicUrl>,
    /// Whether those who come to it come through a proxy, which speaks TLS with them.
    pub behind_proxy: bool,
    /// What a caller may ask for.
    pub limits: Limits,
    /// The OAuth server whose word counts.
    pub oauth: Option<OAuth>,
    /// Whether callers may bring their own token of PVE along.
    pub pve_tokens: PveTokens,
    /// Where the spans of calls are sent.
    pub otlp_url: Option<String>,
}

/// How long the service waits for whom, and how many it serves.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long the greeting of TLS may take.
    pub greeting: Duration,
    /// How long a connection may take to send the head of a request; it may be idle for as long, too.
    pub head: Duration,
    /// How long the body of a request may take to come, and an answer may wait until more of it is taken.
    pub body: Duration,
    /// How many connections there are at a time. Who comes then waits until one ends.
    pub connections: usize,
    /// How often it is looked whether somebody may still hear what they are being told.
    pub look_again: Duration,
    /// How often a cluster is looked at while somebody listens to its resources.
    pub look_at_clusters: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            greeting: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            connections: 1024,
            look_again: Duration::from_millis(250),
            look_at_clusters: mcp::Pace::default().look_again,
        }
    }
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
    pub(super) behind_proxy: bool,
    pub(super) limits: Limits,
    pub(super) oauth: Option<Verifier>,
    pub(super) pve_tokens: PveTokens,
    pub(super) otlp_url: Option<String>,
    pub(super) estates: Arc<Estates>,
    /// Cancelled when callers may not act by their own tokens any more.
    pub(super) until_off: CancellationToken,
    /// Cancelled when they may not act without one any more.
    pub(super) until_required: CancellationToken,
    pub(super) pace: Pace,
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
            behind_proxy: settings.behind_proxy,
            limits: settings.limits.clone(),
            pve_tokens: settings.pve_tokens,
            otlp_url: settings.otlp_url.clone(),
            estates: Arc::default(),
            until_off: CancellationToken::new(),
            until_required: CancellationToken::new(),
            pace: Pace::default(),
        })
    }

    /// Puts these in the place of those that hold.
    pub fn put(self, live: &watch::Sender<Arc<Self>>) {
        let now = Arc::new(self);
        let before = live.send_replace(now.clone());
        // Afterwards: nobody new comes by them.
        before.end_for(&now);
    }

    /// Whoever came by what is not allowed any more has to end.
    pub(super) fn end_for(&self, now: &Self) {
        match now.pve_tokens {
            PveTokens::Off => {
                self.until_off.cancel();
                self.estates.clear();
            }
            PveTokens::Required => self.until_required.cancel(),
            PveTokens::Allowed => {}
        }
    }

    /// These settings in the place of those, if they can take it: encryption, a proxy and OAuth are there from the start, or
    /// not at all. Clients know the address by the first, whether it may be served unencrypted was decided by the second,
    /// and whether anybody is let in unasked by the third.
    pub fn following(self, before: &Self) -> Result<Self, Fault> {
        for (same, what) in [
            (self.tls.is_some() == before.tls.is_some(), "TLS"),
            (self.behind_proxy == before.behind_proxy, "behind_proxy"),
            (self.oauth.is_some() == before.oauth.is_some(), "[oauth]"),
        ] {
            if !same {
                let message = format!("{what} cannot be switched on or off while oxmox serves");
                return Err(Fault::refused(message).hint("start it anew"));
            }
        }
        let oauth = match (self.oauth, &before.oauth) {
            (Some(verifier), Some(before)) => Some(verifier.after(before)),
            (verifier, _) => verifier,
        };
        // One that is about to be cancelled holds for nobody who comes by these.
        let lasting = |until: &CancellationToken, ends: PveTokens| {
            if self.pve_tokens == ends {
                CancellationToken::new()
            } else {
                until.clone()
            }
        };
        Ok(Self {
            until_off: lasting(&before.until_off, PveTokens::Off),
            until_required: lasting(&before.until_required, PveTokens::Required),
            estates: before.estates.clone(),
            pace: before.pace,
            oauth,
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

    /// At another pace.
    #[must_use]
    pub fn at_pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// Whether nobody between the server and this caller can read along.
    pub(super) fn is_private_for(&self, caller: IpAddr) -> bool {
        self.tls.is_some() || self.behind_proxy || caller.to_canonical().is_loopback()
    }

    /// Whether it is meant for others than this machine, though they reach it through something that runs here.
    pub(super) fn is_behind_others(&self) -> bool {
        let named = self.public_url.as_ref();
        self.behind_proxy || named.is_some_and(|named| !named.is_this_machine())
    }

    /// Whether browsers come by TLS, to the server itself or to the proxy in front of it.
    pub(super) fn is_secure(&self) -> bool {
        self.tls.is_some() || self.behind_proxy
    }

    /// How its address begins.
    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }
}
