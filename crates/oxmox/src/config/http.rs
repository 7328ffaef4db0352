//! `[http]`, `[limits]` and `[oauth]`: how oxmox is served over the network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tools::caller::Scope;
use tools::fault::Fault;

use crate::http::{Jwks, Limits, OAuth, PublicUrl, PveTokens, Settings, TlsFiles};

/// `[http]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HttpTable {
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    public_url: Option<String>,
    behind_proxy: bool,
    pve_tokens: PveTokens,
    otlp_url: Option<String>,
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
        if self.behind_proxy && !public_url.as_ref().is_some_and(PublicUrl::is_https) {
            return Err(Fault::bad_input(
                "[http] `behind_proxy` needs a `public_url` that begins with https://",
            )
            .hint(
                "it is what callers know the proxy by: public_url = \"https://oxmox.example.com\"",
            ));
        }
        let is_web = |url: &&String| url.starts_with("http://") || url.starts_with("https://");
        if self.otlp_url.as_ref().is_some_and(|url| !is_web(&url)) {
            return Err(
                Fault::bad_input("[http] `otlp_url` is no address of the web")
                    .hint("http://127.0.0.1:4318/v1/traces is where a collector usually listens"),
            );
        }
        if let Some(key) = limits.fault() {
            return Err(Fault::bad_input(format!("[limits]: `{key}` is 0"))
                .hint("nobody would be answered: write 1 or more, or leave it out"));
        }
        Ok(Settings {
            tls,
            public_url,
            behind_proxy: self.behind_proxy,
            limits: limits.clone(),
            oauth: None,
            pve_tokens: self.pve_tokens,
            otlp_url: self.otlp_url.clone(),
        })
    }
}

/// `[oauth]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthTable {
    issuer: String,
    #[serde(default)]
    audience: Audience,
    jwks_url: Option<String>,
    jwks_file: Option<PathBuf>,
    #[serde(default = "usual_scopes")]
    scopes: BTreeMap<String, Scope>,
    #[serde(default = "usual_claim")]
    name_claim: String,
}

/// One, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Default for Audience {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

fn usual_scopes() -> BTreeMap<String, Scope> {
    Scope::ALL
        .map(|scope| (format!("oxmox:{}", scope.word()), scope))
        .into()
}

fn usual_claim() -> String {
    "sub".to_owned()
}

impl OAuthTable {
    /// What it says.
    pub(super) fn settings(&self, resolve: &dyn Fn(&Path) -> PathBuf) -> Result<OAuth, Fault> {
        let jwks = match (&self.jwks_url, &self.jwks_file) {
            (Some(url), None) => Jwks::Url(url.clone()),
            (None, Some(file)) => Jwks::File(resolve(file)),
            _ => {
                return Err(Fault::bad_input(
                    "[oauth] needs `jwks_url` or `jwks_file`, one of them",
                )
                .hint("the issuer's /.well-known/openid-configuration names its jwks_uri"));
            }
        };
        // They stand in a header, between quotes.
        let is_token = |scope: &String| {
            let fits = |letter: char| letter.is_ascii_graphic() && !"\"\\".contains(letter);
            !scope.is_empty() && scope.chars().all(fits)
        };
        if self.scopes.is_empty() || !self.scopes.keys().all(is_token) {
            return Err(
                Fault::bad_input("[oauth] scopes: a name is none of OAuth").hint(
                    "scopes = { \"oxmox:read\" = \"read\" }: no spaces and no quotes in the name",
                ),
            );
        }
        Ok(OAuth {
            issuer: self.issuer.clone(),
            audience: match &self.audience {
                Audience::One(one) => vec![one.clone()],
                Audience::Several(several) => several.clone(),
            },
            jwks,
            scopes: self.scopes.clone(),
            name_claim: self.name_claim.clone(),
        })
    }
}
