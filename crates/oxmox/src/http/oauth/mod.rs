//! Callers whom an OAuth server vouches for: oxmox as a resource server of OAuth 2.1, as MCP wants it.
//!
//! | module | what lives there |
//! |---|---|
//! | `keys` | the server's keys |
//! | `signatures` | ring behind jsonwebtoken |
//! | `reach` | what a caller's scope does not reach, told as OAuth tells it |

mod keys;
pub(super) mod reach;
mod signatures;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tools::caller::{Bounds, Caller, Scope};
use tools::fault::Fault;

use super::origin::PublicUrl;
use super::{PATH, data, say};
use crate::token::Holder;
use keys::Keys;

/// Where the metadata is: RFC 9728 puts the resource's path behind this.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";
/// What tokens may be signed with. Nothing with a shared secret: the keys are public.
const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];
/// By how many seconds clocks may differ.
const LEEWAY: u64 = 30;
/// What the names of those who are vouched for begin with, which no name of a token of oxmox's own does.
pub(super) const NAMED: &str = "oauth:";
/// Longest name of a caller that is taken.
const LONGEST_NAME: usize = 128;

/// `[oauth]`: whom to believe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OAuth {
    /// Who gives out the tokens: their `iss`.
    pub issuer: String,
    /// Whom they are for: their `aud`. Empty: this server's own address.
    pub audience: Vec<String>,
    /// Where the issuer's keys are.
    pub jwks: Jwks,
    /// What its scopes let callers do.
    pub scopes: BTreeMap<String, Scope>,
    /// The claim that names the caller.
    pub name_claim: String,
}

/// Where the keys of an issuer are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Jwks {
    /// At this address.
    Url(String),
    /// In this file.
    File(PathBuf),
}

/// Among a request's extensions: an OAuth server vouches for its caller.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vouched;

/// Why a token does not count.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// It is none of this issuer's for this server, or none any more.
    Wrong,
    /// None of its scopes means anything here.
    NoScope,
    /// The keys cannot be had just now.
    NoKeys,
}

/// Checks tokens.
#[derive(Debug)]
pub(super) struct Verifier {
    settings: OAuth,
    /// The address of the server's MCP endpoint.
    resource: String,
    metadata_url: String,
    keys: Arc<Keys>,
}

#[derive(Deserialize)]
struct Claims {
    #[serde(flatten)]
    all: Map<String, Value>,
}

impl Verifier {
    /// For the server that others call by this address.
    pub(super) fn new(settings: &OAuth, public: Option<&PublicUrl>) -> Result<Self, Fault> {
        let public = public.ok_or_else(|| {
            Fault::bad_input(
                "[oauth] needs `public_url`: tokens are for one server, by its address",
            )
            .hint("[http] public_url = \"https://oxmox.example.com\"")
        })?;
        let public = public.as_str();
        signatures::install();
        Ok(Self {
            keys: Arc::new(Keys::new(&settings.jwks)?),
            settings: settings.clone(),
            resource: format!("{public}{PATH}"),
            metadata_url: format!("{public}{METADATA}{PATH}"),
        })
    }

    /// With what is known of the issuer's keys already: a configuration that is read again must not lock callers out because
    /// the issuer does not answer just then.
    pub(super) fn after(self, before: &Self) -> Self {
        Self {
            keys: self.keys.after(&before.keys),
            ..self
        }
    }

    /// The holder of a token.
    pub(super) async fn holder(&self, token: &SecretString) -> Result<Holder, Doubt> {
        let token = token.expose_secret();
        let header = decode_header(token).map_err(|_| Doubt::Wrong)?;
        let is_access = header.typ.as_deref().is_none_or(|typ| {
            let typ = typ.strip_prefix("application/").unwrap_or(typ);
            typ.eq_ignore_ascii_case("JWT") || typ.eq_ignore_ascii_case("at+jwt")
        });
        // What an issuer calls critical must be understood, and nothing is here.
        if !is_access || !ALGORITHMS.contains(&header.alg) || header.crit.is_some() {
            return Err(Doubt::Wrong);
        }
        let key = self.keys.find(header.kid.as_deref(), header.alg).await?;
        let claims: Claims = decode(token, &key, &self.validation(header.alg))
            .map_err(|error| {
                tracing::debug!(%error, "a token of OAuth does not count");
                Doubt::Wrong
            })?
            .claims;
        self.named(&claims.all)
    }

    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[&self.settings.issuer]);
        if self.settings.audience.is_empty() {
            validation.set_audience(&[&self.resource]);
        } else {
            validation.set_audience(&self.settings.audience);
        }
        validation
    }

    /// Who it is by their claims.
    fn named(&self, claims: &Map<String, Value>) -> Result<Holder, Doubt> {
        let name = claims
            .get(&self.settings.name_claim)
            .and_then(Value::as_str);
        // Two names that look alike would be two callers, and one person with two of them would be two people.
        let name = name.filter(|name| {
            let is_seen = |it: char| it.is_ascii_graphic() || it == ' ';
            let is_plain = name.chars().all(is_seen) && name.trim() == *name;
            !name.is_empty() && name.chars().count() <= LONGEST_NAME && is_plain
        });
        let name = format!("{NAMED}{}", name.ok_or(Doubt::Wrong)?);
        let granted = scopes(claims);
        let known = granted.filter_map(|scope| self.settings.scopes.get(scope));
        let scope = known.max_by_key(|scope| **scope as usize);
        let bounds = Bounds {
            scope: *scope.ok_or(Doubt::NoScope)?,
            ..Bounds::default()
        };
        Ok(Holder {
            caller: Caller { name, bounds },
            // A token that programs call with is no person's word.
            person: false,
        })
    }

    /// What the issuer calls the least that would do.
    pub(super) fn scope_for(&self, needed: Scope) -> Option<&str> {
        let enough = |(_, scope): &(&String, &Scope)| **scope as usize >= needed as usize;
        let enough = self.settings.scopes.iter().filter(enough);
        enough
            .min_by_key(|(_, scope)| **scope as usize)
            .map(|(name, _)| name.as_str())
    }

    /// What a refusal says of itself: what was wrong, the scope that would do, and where to learn more.
    pub(super) fn challenge(&self, error: Option<&str>, needed: Scope) -> String {
        let error = error.map_or_else(String::new, |error| format!("error=\"{error}\", "));
        let scope = self.scope_for(needed).unwrap_or_default();
        let scope = match scope {
            "" => String::new(),
            scope => format!("scope=\"{scope}\", "),
        };
        let metadata = &self.metadata_url;
        format!("Bearer {error}{scope}resource_metadata=\"{metadata}\"")
    }

    /// RFC 9728: where tokens for this server come from.
    fn metadata(&self) -> Value {
        json!({
            "resource": self.resource,
            "resource_name": "oxmox",
            "authorization_servers": [self.settings.issuer],
            "scopes_supported": self.settings.scopes.keys().collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
        })
    }
}

/// The metadata, where there is an OAuth server.
pub(super) fn metadata(verifier: Option<&Verifier>) -> Response {
    match verifier {
        Some(verifier) => data(StatusCode::OK, &verifier.metadata()),
        None => say(
            StatusCode::NOT_FOUND,
            "no OAuth server is configured here: callers have tokens of oxmox's own\n",
        ),
    }
}

/// The scopes of a token: one string, or a list.
fn scopes(claims: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let given = ["scope", "scp"]
        .into_iter()
        .filter_map(|key| claims.get(key));
    given.flat_map(|value| {
        let (one, several) = match value {
            Value::Array(several) => (None, Some(several.iter().filter_map(Value::as_str))),
            value => (value.as_str(), None),
        };
        let words = one.into_iter().flat_map(str::split_whitespace);
        words.chain(several.into_iter().flatten())
    })
}
