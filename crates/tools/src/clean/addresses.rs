//! Which parameters hold an address, reviewed by hand, and where the password stands in one.

use std::ops::Range;

use super::REDACTED;
use crate::paths::fits;

/// Names that hold an address at these paths. One may have a password in it, as in `http://user:password@host`. What is run
/// or written into a file is none, whatever stands in it: who agrees to that must see all of it.
const ADDRESSES: &[(&str, &[&str])] = &[
    ("/access/domains/**", &["issuer-url"]),
    ("/access/openid/**", &["redirect-url"]),
    ("/cluster/acme/**", &["directory", "tos_url"]),
    ("/cluster/notifications/endpoints/**", &["server", "url"]),
    ("/cluster/options", &["http_proxy"]),
    ("/cluster/sdn/dns/**", &["url"]),
    ("/cluster/sdn/ipams/**", &["url"]),
    ("/nodes/*/query-url-metadata", &["url"]),
    ("/nodes/*/storage/*/download-url", &["url"]),
];

/// Whether a parameter of this name holds an address at this path.
pub fn is_address_at(name: &str, path: &str) -> bool {
    let here = |(at, names): &(&str, &[&str])| names.contains(&name) && fits(at, path);
    ADDRESSES.iter().any(here)
}

/// Whether a name is that of an address at any path: among the arguments of a tool whose path nobody knows yet.
pub(super) fn is_address_somewhere(name: &str) -> bool {
    ADDRESSES.iter().any(|(_, names)| names.contains(&name))
}

/// Whether a text has the password of an address in it. What it means is for who knows whether it is an address.
pub(crate) fn has_password(text: &str) -> bool {
    !passwords_in(text).is_empty()
}

/// Without the passwords of addresses such as `http://user:password@host`, and the tokens of such as `https://token@host`.
pub fn without_passwords(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut shown = 0;
    for at in passwords_in(text) {
        out.push_str(&text[shown..at.start]);
        out.push_str(REDACTED);
        shown = at.end;
    }
    out + &text[shown..]
}

/// Where the passwords of addresses stand. Takes as long as the text is, whatever is in it: each address is looked through once,
/// also where others begin inside of it.
pub(crate) fn passwords_in(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut address = Address::default();
    for start in text.match_indices("://").map(|(at, sign)| at + sign.len()) {
        if start > address.end {
            address = Address::from(text, start);
        }
        let is_inside = found.last().is_some_and(|last| start < last.end);
        if !is_inside && let Some(password) = address.password(text, start) {
            found.push(password);
        }
    }
    found
}

/// Where the address that is looked at ends, and where the last `@` of it stands.
#[derive(Default)]
struct Address {
    end: usize,
    at_sign: Option<usize>,
}

impl Address {
    /// The one that goes on here.
    fn from(text: &str, start: usize) -> Self {
        let end = start + end_of(&text[start..]);
        let at_sign = text[start..end].rfind('@').map(|at| start + at);
        Self { end, at_sign }
    }

    /// Where the password stands in what follows a `://`. Who is named without a password may be a token. A password may have a
    /// slash in it, and then looks like a port and a path: rather too much is hidden than too little.
    fn password(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let address = text.get(start..self.end)?;
        let host = address.split('/').next().unwrap_or_default();
        let who = match host.rsplit_once('@') {
            Some((who, _)) => who,
            // [fd00::1] is a host, and what stands before a colon is a user or one.
            None if host.starts_with('[') || !host.contains(':') => return None,
            // A port: what follows is a path, and whoever looks must see which host it is on.
            None if has_port(host) => return None,
            None => text.get(start..self.at_sign?)?,
        };
        let begin = who.split_once(':').map_or(0, |(user, _)| user.len() + 1);
        let is_hidden = &who[begin..] == REDACTED;
        (begin < who.len() && !is_hidden).then_some(start + begin..start + who.len())
    }
}

/// Where an address ends. What stands in for a secret is a part of it: a second look must not take the rest for another.
fn end_of(rest: &str) -> usize {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
    let mut end = 0;
    loop {
        end += rest[end..].find(ends).unwrap_or(rest.len() - end);
        if !rest[end..].starts_with(REDACTED) {
            return end;
        }
        end += REDACTED.len();
    }
}

fn has_port(host: &str) -> bool {
    let port = host.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use pve::apidoc::Schema;

    use super::*;
    use crate::reference::schemas;

    #[test]
    fn an_address_with_a_password_is_found() {
        for (text, without) in [
            (
                "http://joe:s3@proxy:3128/",
                "http://joe:<redacted>@proxy:3128/",
            ),
            (
                "http://a/ https://joe:p@ss@b c://d:e@f",
                "http://a/ https://joe:<redacted>@b c://d:<redacted>@f",
            ),
            (
                "http://joe:pa/s@s@proxy:3128 x@y",
                "http://joe:<redacted>@proxy:3128 x@y",
            ),
            ("http://joe:c://d:e@proxy", "http://joe:<redacted>@proxy"),
            ("https://T0k3n@host/x", "https://<redacted>@host/x"),
            (
                r#"{"a":"http://b:80/","c":"d@e"}"#,
                r#"{"a":"http://b:80/","c":"d@e"}"#,
            ),
            ("http://proxy:3128/", "http://proxy:3128/"),
            ("http://joe:@proxy", "http://joe:@proxy"),
            ("http://[fd00::1]:3128/x@y", "http://[fd00::1]:3128/x@y"),
            ("https://a/b:c@d", "https://a/b:c@d"),
            ("https://evil:443/x@good/z", "https://evil:443/x@good/z"),
        ] {
            assert_eq!(without_passwords(text), without);
            assert_eq!(has_password(text), text != without);
        }
    }

    /// Whoever sends nothing but beginnings of addresses gets them back soon.
    #[test]
    fn a_long_text_takes_as_long_as_it_is() {
        for part in ["://", "a://b:", "a://b:c/", "://x:/", "://@"] {
            let text = part.repeat(1_000_000);
            assert!(without_passwords(&text).len() >= text.len() / 2);
        }
        let nested = "http://a/?to=https://joe:s3@b";
        let without = "http://a/?to=https://joe:<redacted>@b";
        assert_eq!(without_passwords(nested), without);
    }

    #[test]
    fn what_is_run_is_no_address() {
        assert!(is_address_at("http_proxy", "/cluster/options"));
        assert!(is_address_at(
            "url",
            "/nodes/{node}/storage/{storage}/download-url"
        ));
        for (name, path) in [
            ("command", "/nodes/{node}/qemu/{vmid}/agent/exec"),
            ("content", "/nodes/{node}/qemu/{vmid}/agent/file-write"),
            ("args", "/nodes/{node}/qemu"),
            ("data", "/nodes/{node}/hosts"),
            ("url", "/nodes/{node}/qemu"),
        ] {
            assert!(!is_address_at(name, path), "{name} at {path}");
        }
    }

    /// Parameters that speak of addresses and hold none: at which paths, and what they hold instead.
    const NO_ADDRESS: &[(&str, &[&str], &str)] = &[
        ("/access/tfa/**", &["totp", "value"], "a secret"),
        (
            "/cluster/options",
            &["u2f", "webauthn"],
            "names of hosts, among other settings",
        ),
    ];

    #[test]
    fn every_parameter_that_speaks_of_addresses_was_looked_at() {
        let schemas = schemas();
        let mut unseen = BTreeMap::new();
        let mut used = BTreeSet::new();
        for method in schemas.iter().flat_map(Schema::methods) {
            for parameter in method.own_parameters() {
                let name = parameter.name.as_str();
                let texts = format!("{name} {}", parameter.description).to_lowercase();
                let mut words = texts.split(|c: char| !c.is_alphanumeric());
                let speaks = words.any(|word| matches!(word, "url" | "uri"));
                if is_address_at(name, &method.path) {
                    used.insert(name);
                } else if speaks
                    && !NO_ADDRESS
                        .iter()
                        .any(|(at, names, _)| names.contains(&name) && fits(at, &method.path))
                {
                    unseen.insert(name, method.to_string());
                }
            }
        }
        assert!(unseen.is_empty(), "{unseen:#?}");
        let listed = ADDRESSES.iter().flat_map(|(_, names)| names.iter());
        let stale: Vec<_> = listed.filter(|name| !used.contains(**name)).collect();
        assert!(schemas.is_empty() || stale.is_empty(), "{stale:?}");
    }
}
