//! Which names hold a secret, reviewed by hand over all parameters of PVE's API. A test holds the review against PVE's own
//! schemas: what looks like a secret and was never looked at fails it.

use crate::paths::fits;

/// Parts of names of fields whose value is a secret wherever they stand. PVE itself returns `cipassword` in clear from a
/// snapshot's configuration.
const PARTS: &[&str] = &["password", "passwd", "secret", "ticket", "csrf", "token"];

/// Ends of names that have such a part and hold none: they tell which token is meant (`tokenid`, `full-tokenid`, the
/// `tokens` of a user or an access rule), name a lock that whoever took it must be told of, or tune corosync.
const NO_SECRETS: &[&str] = &["tokenid", "tokens", "lock-token", "token-coefficient"];

/// Names that hold a secret wherever they stand.
const NAMES: &[&str] = &[
    // The environment of a container is where its programs are given their secrets.
    "env",
    // OpenID, PBS, Ceph, ACME; the key of a cluster's own traffic.
    "client-key",
    "encryption-key",
    "keyring",
    "private-key",
    "eab-hmac-key",
    "corosync_authkey",
    // The password or token of another cluster is a part of it.
    "target-endpoint",
    // A bearer stands in them.
    "otel-headers",
    // Second factors.
    "otp",
    "totp",
];

/// Names that hold a secret at these paths, and elsewhere something that must be seen, such as the key that is pressed.
const AT: &[(&str, &[&str])] = &[
    ("/access/tfa/**", &["challenge", "recovery", "value"]),
    ("/access/users/**", &["keys", "value"]),
    ("/cluster/acme/plugins/**", &["data"]),
    ("/cluster/notifications/endpoints/**", &["header", "value"]),
    ("/cluster/sdn/dns/**", &["key"]),
    ("/nodes/*/certificates/custom", &["key"]),
];

/// Whether a field of this name holds a secret wherever it stands.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    if NO_SECRETS.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    name.starts_with("lxc.environment")
        || NAMES.contains(&name.as_str())
        || PARTS.iter().any(|part| name.contains(part))
}

/// Whether a parameter or a field of this name holds a secret at this path.
pub fn is_secret_at(name: &str, path: &str) -> bool {
    let here = |(at, names): &(&str, &[&str])| names.contains(&name) && fits(at, path);
    is_secret(name) || AT.iter().any(here)
}

/// Whether a name holds a secret at any path: in a text that has the configurations of all of them.
pub(super) fn is_secret_somewhere(name: &str) -> bool {
    is_secret(name) || AT.iter().any(|(_, names)| names.contains(&name))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use pve::apidoc::{Format, Parameter, Schema};

    use super::*;
    use crate::reference::schemas;

    #[test]
    fn a_name_may_hold_a_secret_at_one_path_alone() {
        for (name, path) in [
            ("password", "/x"),
            ("cipassword", "/x"),
            ("token", "/x"),
            ("client-key", "/access/domains/{realm}"),
            ("key", "/cluster/sdn/dns"),
            ("key", "/cluster/sdn/dns/pdns"),
            ("key", "/nodes/pve1/certificates/custom"),
            (
                "target-endpoint",
                "/nodes/{node}/qemu/{vmid}/remote_migrate",
            ),
            ("data", "/cluster/acme/plugins/{id}"),
            ("header", "/cluster/notifications/endpoints/webhook"),
            ("otel-headers", "/cluster/metrics/server/{id}"),
            ("value", "/access/users/{userid}/token/{tokenid}"),
        ] {
            assert!(is_secret_at(name, path), "{name} at {path}");
        }
        for (name, path) in [
            ("tokens", "/access/acl"),
            ("tokenid", "/x"),
            ("lock-token", "/cluster/sdn"),
            ("sshkeys", "/nodes/{node}/qemu"),
            ("key", "/nodes/{node}/qemu/{vmid}/sendkey"),
            ("key", "/nodes/{node}/subscription"),
            ("data", "/access/domains"),
        ] {
            assert!(!is_secret_at(name, path), "{name} at {path}");
        }
    }

    /// Parameters that speak of secrets and hold none: at which paths, and what they hold instead.
    const REVIEWED: &[(&str, &[&str], &str)] = &[
        (
            "/nodes/*/qemu/*/sendkey",
            &["key"],
            "who agrees must see what is pressed",
        ),
        ("/nodes/*/subscription", &["key"], "PVE itself shows it"),
        (
            "/**",
            &[
                "authid", "ciuser", "eab-kid", "tokens", "userid", "username",
            ],
            "who, or whose",
        ),
        (
            "/**",
            &["master-pubkey", "public_key", "ssh-public-keys", "sshkeys"],
            "the public half of a key",
        ),
        ("/**", &["certkey"], "the path of a file"),
        (
            "/**",
            &[
                "crypted",
                "disable_cephx",
                "full",
                "migration_unsecure",
                "privsep",
                "regenerate",
                "release-lock",
            ],
            "a yes or no",
        ),
        ("/cluster/sdn/lock", &["force"], "a yes or no"),
        (
            "/**",
            &[
                "boot",
                "config-keys",
                "efidisk0",
                "iface",
                "sync_attributes",
                "target-disk",
                "target-volume",
            ],
            "names of settings",
        ),
        (
            "/**",
            &[
                "exit-action",
                "expire",
                "features",
                "keyboard",
                "migration_type",
                "token-coefficient",
            ],
            "how, or until when",
        ),
        (
            "/access/**",
            &["path", "port", "privs"],
            "what is asked for",
        ),
        ("/cluster/metrics/**", &["path"], "a prefix of names"),
        ("/**", &["lock-token"], "tells who took a lock"),
        (
            "/cluster/options",
            &["http_proxy"],
            "an address, hidden where it has a password in it",
        ),
    ];

    fn speaks_of_secrets(parameter: &Parameter) -> bool {
        const WORDS: &[&str] = &[
            "password",
            "passwd",
            "passphrase",
            "secret",
            "key",
            "token",
            "header",
            "credential",
            "private",
            "ticket",
            "hmac",
            "bearer",
        ];
        let texts = [&parameter.name, &parameter.description];
        let speaks = |text: &&String| {
            let text = text.to_lowercase();
            WORDS.iter().any(|word| text.contains(word))
        };
        let inside = match &parameter.format {
            Some(Format::Properties(keys)) => keys.iter().any(|key| speaks(&&key.name)),
            _ => false,
        };
        texts.iter().any(speaks) || inside
    }

    #[test]
    fn every_parameter_that_speaks_of_secrets_was_looked_at() {
        let schemas = schemas();
        let mut unseen = BTreeMap::new();
        let mut used = BTreeSet::new();
        for method in schemas.iter().flat_map(Schema::methods) {
            let speaking = method.own_parameters().filter(|it| speaks_of_secrets(it));
            for parameter in speaking {
                let name = parameter.name.as_str();
                used.insert(name.to_owned());
                let reviewed = REVIEWED
                    .iter()
                    .any(|(at, names, _)| names.contains(&name) && fits(at, &method.path));
                if !is_secret_at(name, &method.path) && !reviewed {
                    unseen.insert(
                        name.to_owned(),
                        (method.to_string(), parameter.description.clone()),
                    );
                }
            }
        }
        assert!(unseen.is_empty(), "{unseen:#?}");
        let reviewed = REVIEWED.iter().flat_map(|(_, names, _)| names.iter());
        let stale: Vec<_> = reviewed.filter(|name| !used.contains(**name)).collect();
        assert!(schemas.is_empty() || stale.is_empty(), "{stale:?}");
    }
}
