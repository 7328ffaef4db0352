//! A route as data: method, path, parameters, permission, handler. The tables themselves stand with the handlers in
//! [`crate::api`]; the checks that run before a handler stand in `crate::dispatch`.

use crate::call::{Call, Given, Params};
use crate::error::Reply;
use crate::permission::Perm;
use crate::schema::Param;
use crate::world::World;

/// What a route does. Pure: it changes the world and nothing else.
pub type Handler = fn(&mut World, &Call) -> Reply;

/// One method of one path. Built with [`get`], [`post`], [`put`] and [`delete`].
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Route {
    /// `GET`, `POST`, `PUT` or `DELETE`.
    pub method: &'static str,
    /// The path below `/api2/json`, with captures: `/nodes/{node}/qemu/{vmid}/config`.
    pub path: &'static str,
    /// What it accepts. A capture must be listed too: it is verified like any other parameter.
    pub params: &'static [Param],
    /// Further parameters, for tables that several routes share (the options of a guest).
    pub more: &'static [Param],
    /// Who may call it. As in PVE, the default is `root@pam` alone.
    pub perm: Perm,
    /// Runs on the node that the path names, so it fails when that node is unknown or down.
    pub proxied: bool,
    /// The last capture takes the rest of the path, slashes included (volume ids).
    pub takes_rest: bool,
    /// May be called with an API token.
    pub token: bool,
    /// The handler.
    pub run: Handler,
}

/// A route for `GET`.
pub const fn get(path: &'static str, run: Handler) -> Route {
    Route::new("GET", path, run)
}

/// A route for `POST`.
pub const fn post(path: &'static str, run: Handler) -> Route {
    Route::new("POST", path, run)
}

/// A route for `PUT`.
pub const fn put(path: &'static str, run: Handler) -> Route {
    Route::new("PUT", path, run)
}

/// A route for `DELETE`.
pub const fn delete(path: &'static str, run: Handler) -> Route {
    Route::new("DELETE", path, run)
}

impl Route {
    const fn new(method: &'static str, path: &'static str, run: Handler) -> Self {
        Self {
            method,
            path,
            params: &[],
            more: &[],
            perm: Perm::RootOnly,
            proxied: false,
            takes_rest: false,
            token: true,
            run,
        }
    }

    /// The parameters it accepts, captures included.
    pub const fn params(mut self, params: &'static [Param]) -> Self {
        self.params = params;
        self
    }

    /// Adds a shared table of parameters.
    pub const fn and(mut self, more: &'static [Param]) -> Self {
        self.more = more;
        self
    }

    /// Who may call it.
    pub const fn allow(mut self, perm: Perm) -> Self {
        self.perm = perm;
        self
    }

    /// Marks it as running on the node that the path names.
    pub const fn proxied(mut self) -> Self {
        self.proxied = true;
        self
    }

    /// Lets the last capture take the rest of the path.
    pub const fn takes_rest(mut self) -> Self {
        self.takes_rest = true;
        self
    }

    /// Refuses API tokens.
    pub const fn no_token(mut self) -> Self {
        self.token = false;
        self
    }

    /// All parameters, its own and shared ones.
    pub fn all_params(&self) -> impl Iterator<Item = &'static Param> {
        self.params.iter().chain(self.more)
    }

    /// The captures, if this route serves `method` on the path made of `segments`.
    pub fn captures(&self, method: &str, segments: &[&str]) -> Option<Params> {
        if self.method != method {
            return None;
        }
        let mut found = Params::default();
        let mut left = segments;
        for part in self.path.split('/').filter(|part| !part.is_empty()) {
            let (segment, rest) = left.split_first()?;
            match part
                .strip_prefix('{')
                .and_then(|name| name.strip_suffix('}'))
            {
                None if part == *segment => left = rest,
                None => return None,
                Some(name) if self.takes_rest && self.path.ends_with(part) => {
                    found.set(name, Given::Text(left.join("/")));
                    left = &[];
                }
                // A blank never matches a capture: PVE answers 501 then.
                Some(_) if segment.contains(char::is_whitespace) => return None,
                Some(name) => {
                    found.set(name, Given::from(*segment));
                    left = rest;
                }
            }
        }
        left.is_empty().then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::done;

    fn nothing(_: &mut World, _: &Call) -> Reply {
        done()
    }

    #[test]
    fn captures_and_rest() {
        let route = get("/nodes/{node}/storage/{storage}/content/{volume}", nothing).takes_rest();
        let path = [
            "nodes",
            "pve1",
            "storage",
            "local",
            "content",
            "local:iso",
            "t.iso",
        ];
        let found = route.captures("GET", &path).expect("matches");
        assert_eq!(found.text("node"), Some("pve1"));
        assert_eq!(found.text("volume"), Some("local:iso/t.iso"));
        assert!(route.captures("PUT", &path).is_none());
        assert!(route.captures("GET", &path[..5]).is_none());
    }

    #[test]
    fn a_blank_matches_no_capture() {
        let route = get("/nodes/{node}", nothing);
        assert!(route.captures("GET", &["nodes", "a b"]).is_none());
    }
}
