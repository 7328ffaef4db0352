//! Whom a request was meant for, and which page sent it.
//!
//! A page in somebody's browser can send requests here by a name of its own that resolves to this address, and from its
//! own origin. Both are checked on every route; programs other than browsers send no Origin.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use axum::middleware::Next;
use tokio::sync::watch;
use tools::fault::Fault;

use super::accept::Peer;
use super::settings::Live;
use super::{say, unread};

/// What others call the service by: a scheme, a name, maybe a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// From what a person wrote.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let wrong = || {
            Fault::bad_input("`public_url` is no address of a server")
                .hint("write it without a path: https://oxmox.example.com")
        };
        let text = text.trim();
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let authority = uri.authority().ok_or_else(wrong)?;
        let is_plain = matches!(uri.scheme_str(), Some("http" | "https"))
            && matches!(uri.path(), "" | "/")
            && uri.query().is_none()
            && !authority.as_str().contains('@')
            && !text.contains('#');
        if !is_plain {
            return Err(wrong());
        }
        Ok(Self(text.trim_end_matches('/').to_ascii_lowercase()))
    }

    /// Without a slash at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is called by TLS.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Whether nobody else could call it by this.
    pub(super) fn is_this_machine(&self) -> bool {
        self.authority().parse().is_ok_and(|it| is_loopback(&it))
    }

    fn authority(&self) -> &str {
        self.0.split_once("://").map_or("", |(_, rest)| rest)
    }
}

/// Lets through what was meant for this server, and comes from no page of elsewhere.
pub(super) async fn check(
    State(live): State<watch::Receiver<Arc<Live>>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let live = live.borrow().clone();
    let public = live.public_url.as_ref();
    let local = request.extensions().get::<Peer>().map(|peer| peer.local);
    let Some(host) = host(&request).filter(|host| is_ours(host, local, public)) else {
        let refusal = say(
            StatusCode::FORBIDDEN,
            "this server goes by another name: call it by its address, or let `public_url` name it\n",
        );
        return unread(&request, refusal);
    };
    let trusted = |origin: &str| {
        let (scheme, authority) = origin.split_once("://").unwrap_or_default();
        let is_web = matches!(scheme, "http" | "https");
        // Not those of this machine that have other ports, either: where nobody is asked who they are, each could act.
        let is_own = authority.eq_ignore_ascii_case(host.as_str())
            || public.is_some_and(|public| public.as_str().eq_ignore_ascii_case(origin));
        is_web && is_own
    };
    match origin(request.headers()) {
        Ok(origin) if origin.is_none_or(trusted) => next.run(request).await,
        _ => {
            let text = "this request comes from a page of another server\n";
            unread(&request, say(StatusCode::FORBIDDEN, text))
        }
    }
}

/// Whom the request was sent to, if it says so once.
fn host(request: &Request) -> Option<Authority> {
    let mut named = request.headers().get_all(header::HOST).iter();
    let host: Authority = named.next()?.to_str().ok()?.parse().ok()?;
    let agrees = |target: &Authority| *target == host;
    let once = named.next().is_none() && request.uri().authority().is_none_or(agrees);
    once.then_some(host)
}

/// The page that sent it, if one did.
fn origin(headers: &HeaderMap) -> Result<Option<&str>, ()> {
    let mut named = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = named.next() else {
        return Ok(None);
    };
    match (origin.to_str(), named.next()) {
        (Ok(origin), None) => Ok(Some(origin)),
        _ => Err(()),
    }
}

/// Whether it is this machine by name or address, the address that the connection came in by, or the public name.
fn is_ours(host: &Authority, local: Option<IpAddr>, public: Option<&PublicUrl>) -> bool {
    let by_address = || bare(host).parse().ok() == local && local.is_some();
    let by_name = |public: &PublicUrl| {
        let public: Result<Authority, _> = public.authority().parse();
        public.is_ok_and(|public| public.host().eq_ignore_ascii_case(host.host()))
    };
    !host.as_str().contains('@')
        && (is_loopback(host) || by_address() || public.is_some_and(by_name))
}

fn is_loopback(authority: &Authority) -> bool {
    let host = bare(authority);
    host.eq_ignore_ascii_case("localhost") || matches!(host, "127.0.0.1" | "::1")
}

/// The name without its port, an address without its brackets.
fn bare(authority: &Authority) -> &str {
    let host = authority.host();
    let inside = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    inside.unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_an_origin() {
        for (text, origin) in [
            ("https://oxmox.example.com", "https://oxmox.example.com"),
            ("https://Oxmox.example.com/", "https://oxmox.example.com"),
            ("http://10.0.0.7:8080", "http://10.0.0.7:8080"),
            ("https://[fd00::7]:8443", "https://[fd00::7]:8443"),
        ] {
            assert_eq!(PublicUrl::parse(text).unwrap().as_str(), origin);
        }
        for wrong in [
            "oxmox.example.com",
            "https://oxmox.example.com/mcp",
            "https://me@oxmox.example.com",
            "ftp://oxmox.example.com",
            "https://oxmox.example.com/?x",
            "https://oxmox.example.com/#x",
            "",
        ] {
            assert!(PublicUrl::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_server_is_called_by_its_addresses_and_by_its_name() {
        let local = Some("10.0.0.7".parse().unwrap());
        let public = PublicUrl::parse("https://oxmox.example.com").unwrap();
        let ours = |host: &str, public| is_ours(&host.parse().unwrap(), local, public);
        for host in [
            "localhost:1",
            "LOCALHOST",
            "127.0.0.1",
            "[::1]:8080",
            "10.0.0.7:80",
        ] {
            assert!(ours(host, None), "{host}");
        }
        assert!(ours("Oxmox.example.com:8443", Some(&public)));
        for host in [
            "oxmox.example.com",
            "10.0.0.8",
            "localhost.evil.example",
            "localhost@evil.example",
        ] {
            assert!(!ours(host, None), "{host}");
        }
        assert!(!is_ours(&"evil.example".parse().unwrap(), None, None));
    }
}
