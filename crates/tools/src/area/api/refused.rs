//! Methods that write_proxmox_api never sends, with what to use instead, and answers that hold a secret.

use pve::Method;

use super::sent::Sent;
use crate::paths::fits;

/// Methods that are not sent.
struct Refused {
    verb: Method,
    /// The path: `*` is one part, `**` at its end are any number of parts.
    path: &'static str,
    instead: &'static str,
}

const fn refused(verb: Method, path: &'static str, instead: &'static str) -> Refused {
    Refused {
        verb,
        path,
        instead,
    }
}

const CONSOLE: &str = "capture_vm_screen, send_vm_key, type_vm_text and run_proxmox_vm_command use consoles; the toolset console has terminals";
const SHELL: &str = "a person opens a shell on the node";
const TUNNEL: &str = "it is one end of a migration; migrate_proxmox_vm migrates";
const LOGIN: &str = "oxmox logs in with its own credentials and shows no tickets";
const CLUSTER: &str = "a person does this at the node, with pvecm";

#[rustfmt::skip]
const REFUSED: &[Refused] = &[
    refused(Method::Get, "/nodes/*/vncwebsocket", CONSOLE),
    refused(Method::Get, "/nodes/*/*/*/vncwebsocket", CONSOLE),
    refused(Method::Post, "/nodes/*/*/*/vncproxy", CONSOLE),
    refused(Method::Post, "/nodes/*/*/*/termproxy", CONSOLE),
    refused(Method::Post, "/nodes/*/*/*/spiceproxy", CONSOLE),
    refused(Method::Post, "/nodes/*/vncshell", SHELL),
    refused(Method::Post, "/nodes/*/termproxy", SHELL),
    refused(Method::Post, "/nodes/*/spiceshell", SHELL),
    refused(Method::Get, "/nodes/*/*/*/mtunnelwebsocket", TUNNEL),
    refused(Method::Post, "/nodes/*/*/*/mtunnel", TUNNEL),
    refused(Method::Get, "/nodes/*/rrd", "get_proxmox_metrics draws charts; /nodes/{node}/rrddata has the figures"),
    refused(Method::Get, "/nodes/*/*/*/rrd", "get_proxmox_metrics draws charts; rrddata beside it has the figures"),
    refused(Method::Post, "/nodes/*/execute", "it runs other calls unseen; make them one by one"),
    refused(Method::Post, "/access/ticket", LOGIN),
    refused(Method::Post, "/access/vncticket", LOGIN),
    refused(Method::Post, "/access/openid/**", LOGIN),
    refused(Method::Post, "/access/tfa/*", "its answer holds a secret; a person sets up second factors in PVE's web interface"),
    refused(Method::Post, "/cluster/config", CLUSTER),
    refused(Method::Post, "/cluster/config/join", CLUSTER),
    refused(Method::Post, "/cluster/config/nodes/*", CLUSTER),
    refused(Method::Delete, "/cluster/config/nodes/*", CLUSTER),
];

/// Methods that only the declared tool sends, which writes the secret in the answer to a file.
const BY_TOOL: &[Refused] = &[refused(
    Method::Post,
    "/access/users/*/token/*",
    "its answer holds the token's secret, which is written to a file: send no other parameters than comment, expire and privsep",
)];

/// What to use instead of a method that is never sent.
pub(super) fn instead(verb: Method, template: &str) -> Option<&'static str> {
    of(REFUSED, verb, template)
}

/// What to send instead of a request that no tool plans.
pub(super) fn instead_of_raw(verb: Method, template: &str) -> Option<&'static str> {
    of(BY_TOOL, verb, template)
}

fn of(rules: &[Refused], verb: Method, template: &str) -> Option<&'static str> {
    let mut rules = rules.iter();
    let rule = rules.find(|it| it.verb == verb && fits(it.path, template));
    rule.map(|rule| rule.instead)
}

/// Writes that PVE answers with a secret if they have this parameter, unless it is off.
const CONFIDES: &[(Method, &str, &str)] = &[
    (
        Method::Put,
        "/access/users/{userid}/token/{tokenid}",
        "regenerate",
    ),
    (Method::Post, "/storage", "encryption-key"),
    (Method::Put, "/storage/{storage}", "encryption-key"),
];

/// Whether PVE's answer holds a secret, which goes into a file and is never shown.
pub(super) fn confides(verb: Method, template: &str, sent: &Sent) -> bool {
    CONFIDES.iter().any(|(of, path, with)| {
        (*of, *path) == (verb, template) && sent.has(with) && sent.flag(with) != Some(false)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pve::apidoc::Schema;

    use super::*;
    use crate::clean::is_secret_at;
    use crate::reference::schemas;

    #[test]
    fn every_rule_is_of_a_method_that_some_version_has() {
        let schemas = schemas();
        let methods: Vec<_> = schemas.iter().flat_map(Schema::methods).collect();
        let is_idle = |rule: &&Refused| {
            let is_of =
                |it: &&pve::apidoc::Method| it.verb == rule.verb && fits(rule.path, &it.path);
            !methods.iter().any(is_of)
        };
        let idle: BTreeSet<_> = REFUSED
            .iter()
            .chain(BY_TOOL)
            .filter(is_idle)
            .map(|it| it.path)
            .collect();
        assert!(schemas.is_empty() || idle.is_empty(), "{idle:?}");
    }

    #[test]
    fn no_write_answers_with_a_secret_that_would_be_shown() {
        for method in schemas().iter().flat_map(Schema::methods) {
            let (verb, path) = (method.verb, method.path.as_str());
            let mut fields = method.returns.fields.iter();
            let tells = verb != Method::Get && fields.any(|it| is_secret_at(it, path));
            let known = CONFIDES.iter().any(|it| (it.0, it.1) == (verb, path));
            let refused = instead(verb, path).or(instead_of_raw(verb, path)).is_some();
            assert!(!tells || known || refused, "{method} answers with a secret");
        }
    }
}
