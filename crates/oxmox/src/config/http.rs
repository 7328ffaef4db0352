//! `[http]`, `[limits]` and `[oauth]`: how oxmox is served over the network.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use tools::caller::Scope;
use tools::fault::Fault;

use crate::http::{Jwks, Limits, OAuth, PublicUrl, PveTokens, Settings, TlsFiles};

/// `[http]`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpTable {
    /// The server's certificate in PEM, with the chain that leads to it; needs `tls_key`.
    #[schemars(extend("flag" = "--tls-cert", "toml" = "\"/etc/oxmox/cert.pem\""))]
    tls_cert: Option<PathBuf>,
    /// Its key in PEM, without a passphrase.
    #[schemars(extend("flag" = "--tls-key", "toml" = "\"/etc/oxmox/key.pem\""))]
    tls_key: Option<PathBuf>,
    /// What others call the server by. Requests for other names than this one, its own addresses and localhost are refused,
    /// and so are those of pages of other servers, on every route.
    #[schemars(extend("toml" = "\"https://oxmox.example.com:8443\""))]
    public_url: Option<String>,
    /// `true`: a proxy in front speaks TLS with callers and is the only one that comes to the server itself, so that an
    /// address that other machines can reach may be served without a certificate. Needs a `public_url` with `https://`. The
    /// page's cookie goes by TLS only then, `X-Forwarded-For` is believed (its last address, which is the proxy's own word),
    /// and nobody is let in without a token, not even from this machine. The network between the two is yours to keep closed.
    #[schemars(extend("toml" = "true"))]
    behind_proxy: bool,
    /// Whether callers may act by their own token of PVE, sent along in the header `X-PVE-API-Token`: `off` refuses a request
    /// that brings one, `allowed` lets who brings none act with the rights of oxmox, `required` lets them do nothing. Over
    /// TLS (the proxy's counts) or from this machine only.
    #[schemars(extend("default" = "off", "toml" = "\"allowed\""))]
    pve_tokens: PveTokens,
    /// A collector of OpenTelemetry that takes OTLP over HTTP in JSON: each call of a tool becomes a span, in the trace that
    /// the client names in `_meta` (`traceparent`, `tracestate`).
    #[schemars(extend("toml" = "\"http://127.0.0.1:4318/v1/traces\""))]
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
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OAuthTable {
    /// Who gives out the tokens: their `iss`, letter by letter.
    #[schemars(extend("toml" = "\"https://id.example.com/realms/team\""))]
    issuer: String,
    /// Whom they are for: their `aud`, one or a list. The default is `public_url` with `/mcp` behind it.
    #[serde(default)]
    #[schemars(with = "String", extend("toml" = "\"https://oxmox.example.com/mcp\""))]
    audience: Audience,
    /// Where the issuer's keys are; looked at again when a token names an unknown one, at most once a minute. Either this or
    /// `jwks_file`.
    #[schemars(extend("toml" = "\"https://id.example.com/realms/team/protocol/openid-connect/certs\""))]
    jwks_url: Option<String>,
    /// A file with them.
    #[schemars(extend("toml" = "\"jwks.json\""))]
    jwks_file: Option<PathBuf>,
    /// What each of its scopes lets a caller do: `read`, `operate` or `full`.
    #[serde(default = "usual_scopes")]
    #[schemars(with = "BTreeMap<String, String>", extend("default" = usual_scopes(), "toml" = "{ \"proxmox.look\" = \"read\" }"))]
    scopes: BTreeMap<String, Scope>,
    /// The claim that names the caller: one that users cannot choose for themselves, in plain ASCII, since letters that look
    /// alike would be two callers.
    #[serde(default = "usual_claim")]
    #[schemars(extend("toml" = "\"preferred_username\""))]
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
