//! Who is signed in, and which requests are the page's own.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Response, StatusCode, header};
use axum::middleware::Next;
use axum::response::IntoResponse as _;
use tools::caller::Caller;
use tools::fault::Fault;
use tools::keys::Keys;
use tools::store::Store;

use super::Page;
use super::answer::Failure;
use crate::http::SignedIn;
use crate::lasting;
use crate::session::now;

/// The header that only our own page sends: other origins would have to ask first, and get no answer. Whoever is signed in
/// sends in it what proves that.
pub(super) const OWN: &str = "x-oxmox-page";

/// A person who is signed in; the handlers find it among the request's extensions.
#[derive(Clone)]
pub(super) struct Person {
    pub(super) caller: Caller,
    /// What their browser holds.
    pub(super) secret: String,
}

impl Page {
    /// The cookie's name. Under TLS the prefix has browsers take it from this very host alone. Cookies know no ports: of two
    /// servers on one host, with a store each, neither overwrites the other's.
    pub(super) fn cookie(&self, keys: &Keys) -> String {
        let prefix = if self.secure { "__Host-" } else { "" };
        format!("{prefix}oxmox-{}", keys.name())
    }

    /// Whose session the request brings along. What their token may do is looked up each time, so that one that was taken
    /// back ends its sessions.
    async fn person(&self, headers: &HeaderMap) -> Result<Option<Person>, Fault> {
        let store = self.engine.store().await?;
        let Some(secret) = cookie(headers, &self.cookie(&store.keys)) else {
            return Ok(None);
        };
        let Some(session) = store.session(secret, now()).await? else {
            return Ok(None);
        };
        let caller = match &session.token {
            // Whoever came by the link of a server that asked nobody who they are.
            None if store.has_tokens().await? => {
                store.end_session(secret).await?;
                return Ok(None);
            }
            None => Caller::unbound(session.name),
            Some(id) => match store.token(id).await? {
                Some(token) if token.person && token.expires.is_none_or(|end| end > now()) => {
                    Caller {
                        name: token.name,
                        bounds: token.bounds,
                    }
                }
                _ => return Ok(None),
            },
        };
        Ok(Some(Person {
            caller,
            secret: secret.to_owned(),
        }))
    }

    /// Whether the request brings along what goes with its cookie. Costs no look into the store.
    async fn is_proved(&self, headers: &HeaderMap) -> Result<bool, Fault> {
        let keys = &self.engine.store().await?.keys;
        let given = headers.get(OWN).and_then(|value| value.to_str().ok());
        let secret = cookie(headers, &self.cookie(keys));
        Ok(given
            .zip(secret)
            .is_some_and(|(given, secret)| keys.is_sealed(&proved(secret), given)))
    }

    /// What the page is told ends when whoever it is for is signed out, or their token was taken back.
    fn as_long_as_signed_in(self: &Arc<Self>, body: Body, brought: HeaderMap) -> Body {
        let page = self.clone();
        lasting::while_true(body, self.look_again, move || {
            let (page, brought) = (page.clone(), brought.clone());
            async move {
                match page.person(&brought).await {
                    Ok(person) => person.is_some(),
                    // A store that cannot be read now is read again later; one whose file was replaced is not trusted.
                    Err(_) => page.engine.store().await.is_ok_and(Store::is_in_place),
                }
            }
        })
    }
}

/// Sees who is signed in before it is counted what they ask for: they are no strangers, whose doings could keep them from
/// deciding. Whoever has the cookie alone is a stranger; the page's streams, which go by it, count with those.
pub(crate) async fn recognize(
    State(page): State<Arc<Page>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    if let Ok(true) = page.is_proved(request.headers()).await
        && let Ok(Some(person)) = page.person(request.headers()).await
    {
        let signed_in = SignedIn(person.caller.name);
        request.extensions_mut().insert(signed_in);
    }
    next.run(request).await
}

/// Lets in who is signed in: now, when all of the request has come, which may take its time. Whoever was signed in at its
/// beginning may have been shut out since.
pub(super) async fn require_person(
    State(page): State<Arc<Page>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    match page.person(request.headers()).await {
        Ok(Some(person)) => {
            request.extensions_mut().insert(person);
            let mut brought = HeaderMap::new();
            for cookie in request.headers().get_all(header::COOKIE) {
                brought.append(header::COOKIE, cookie.clone());
            }
            let answer = next.run(request).await;
            answer.map(|body| page.as_long_as_signed_in(body, brought))
        }
        Ok(None) => signed_out(),
        Err(fault) => Failure::from(fault).into_response(),
    }
}

fn signed_out() -> Response<Body> {
    Failure::new(StatusCode::UNAUTHORIZED, "sign in first").into_response()
}

/// What the page proves its sign-in by, beside the cookie. Browsers send a cookie to every port of its host, so that any other
/// server there can read it and come with it; the page keeps this where only its own origin, which has a port, can read it.
pub(super) fn proof(keys: &Keys, secret: &str) -> String {
    keys.seal(&proved(secret))
}

fn proved(secret: &str) -> [&[u8]; 2] {
    [b"page", secret.as_bytes()]
}

/// Refuses whoever is signed in by the cookie alone.
pub(super) async fn require_proof(
    State(page): State<Arc<Page>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    match page.is_proved(request.headers()).await {
        Ok(true) => next.run(request).await,
        Ok(false) => signed_out(),
        Err(fault) => Failure::from(fault).into_response(),
    }
}

/// Refuses what another site makes the browser send. The cookie does not come along then either (`SameSite=Strict`); this
/// does not rely on it.
pub(super) async fn require_own_page(request: Request, next: Next) -> Response<Body> {
    if is_own(request.method(), request.headers()) {
        next.run(request).await
    } else {
        let error = "this request does not come from oxmox's own page";
        Failure::new(StatusCode::FORBIDDEN, error).into_response()
    }
}

fn is_own(method: &Method, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    // Browsers say where a request comes from, and no script can make them say otherwise.
    let site = text("sec-fetch-site");
    if site.is_some_and(|site| site != "same-origin") {
        return false;
    }
    if method == Method::GET {
        return true;
    }
    let from_here = match (text("origin"), site) {
        (_, Some(_)) | (None, None) => true,
        // An older browser: the page's origin is the host that it asked.
        (Some(origin), None) => origin
            .split_once("://")
            .is_some_and(|(_, host)| Some(host) == text("host")),
    };
    from_here && text(OWN).is_some()
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter();
    let mut pairs = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        given.iter().map(pair).collect()
    }

    #[test]
    fn only_the_page_itself_changes_anything() {
        let post = |given: &[_]| is_own(&Method::POST, &headers(given));
        let host = ("host", "127.0.0.1:8765");
        assert!(post(&[(OWN, "1"), ("sec-fetch-site", "same-origin")]));
        assert!(post(&[
            (OWN, "1"),
            host,
            ("origin", "http://127.0.0.1:8765")
        ]));
        assert!(!post(&[("sec-fetch-site", "same-origin")]));
        assert!(!post(&[(OWN, "1"), ("sec-fetch-site", "cross-site")]));
        assert!(!post(&[(OWN, "1"), ("sec-fetch-site", "same-site")]));
        assert!(!post(&[
            (OWN, "1"),
            host,
            ("origin", "http://evil.example")
        ]));
        assert!(!post(&[(OWN, "1"), host, ("origin", "null")]));
        assert!(!post(&[]));
        assert!(!is_own(
            &Method::GET,
            &headers(&[("sec-fetch-site", "cross-site")])
        ));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let given = headers(&[("cookie", "a=1; oxmox=secret; xoxmox=2")]);
        assert_eq!(cookie(&given, "oxmox"), Some("secret"));
        assert_eq!(cookie(&given, "mox"), None);
    }
}
