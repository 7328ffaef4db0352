//! What each method of the API can do, reviewed by hand: not by its verb alone. The first rule that matches decides; a
//! read that no rule names is a read, and a write that none names hands out power until somebody has looked at it.

use pve::Method;

use super::sent::Sent;
use crate::paths::fits;
use crate::spec::Risk;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It runs, with this risk.
    Does(Risk),
    /// It is refused, since another way does it better or nothing may: what to use instead.
    Elsewhere(&'static str),
}

/// The class of some methods.
struct Rule {
    /// Verbs with blanks between them.
    verbs: &'static str,
    /// The path: `*` is one part, `**` at its end are any number of parts.
    path: &'static str,
    class: Class,
}

const fn does(verbs: &'static str, path: &'static str, risk: Risk) -> Rule {
    Rule {
        verbs,
        path,
        class: Class::Does(risk),
    }
}

const fn elsewhere(verbs: &'static str, path: &'static str, instead: &'static str) -> Rule {
    Rule {
        verbs,
        path,
        class: Class::Elsewhere(instead),
    }
}

const CONSOLE: &str = "capture_vm_screen, send_vm_key, type_vm_text and run_proxmox_vm_command use consoles; the toolset console has terminals";
const TUNNEL: &str = "it is one end of a migration; migrate_proxmox_vm migrates";
const LOGIN: &str = "oxmox logs in by itself and shows no tickets";
const CLUSTER: &str = "a person does this at the node, with pvecm";

#[rustfmt::skip]
const RULES: &[Rule] = &[
    // Streams, upgrades and logins.
    elsewhere("GET", "/nodes/*/vncwebsocket", CONSOLE),
    elsewhere("GET", "/nodes/*/*/*/vncwebsocket", CONSOLE),
    elsewhere("POST", "/nodes/*/*/*/vncproxy", CONSOLE),
    elsewhere("POST", "/nodes/*/*/*/termproxy", CONSOLE),
    elsewhere("POST", "/nodes/*/*/*/spiceproxy", CONSOLE),
    elsewhere("POST", "/nodes/*/vncshell", "a person opens a shell of a node"),
    elsewhere("POST", "/nodes/*/termproxy", "a person opens a shell of a node"),
    elsewhere("POST", "/nodes/*/spiceshell", "a person opens a shell of a node"),
    elsewhere("GET", "/nodes/*/*/*/mtunnelwebsocket", TUNNEL),
    elsewhere("POST", "/nodes/*/*/*/mtunnel", TUNNEL),
    elsewhere("GET", "/nodes/*/rrd", "get_proxmox_metrics draws charts; /nodes/{node}/rrddata has the figures"),
    elsewhere("GET", "/nodes/*/*/*/rrd", "get_proxmox_metrics draws charts; rrddata beside it has the figures"),
    elsewhere("GET", "/nodes/*/storage/*/file-restore/download", "download_file_restore (toolset storage) gets a file out of a backup"),
    elsewhere("POST", "/nodes/*/storage/*/upload", "upload_to_storage (toolset storage) sends a file; POST /nodes/{node}/storage/{storage}/download-url has the node fetch one"),
    elsewhere("POST", "/nodes/*/execute", "it runs other calls unseen; make them one by one"),
    elsewhere("POST", "/access/ticket", LOGIN),
    elsewhere("POST", "/access/vncticket", LOGIN),
    elsewhere("POST", "/access/openid/**", LOGIN),
    elsewhere("POST", "/access/users/*/token/*", "PVE tells a token's secret once and it is never shown here; create_user_token of the toolset access makes tokens and puts the secret into a file, or a person makes tokens in PVE's web interface"),
    elsewhere("POST", "/access/tfa/*", "it answers with a secret, which is never shown here; a person sets up second factors in PVE's web interface"),
    elsewhere("POST", "/cluster/config", CLUSTER),
    elsewhere("POST", "/cluster/config/join", CLUSTER),
    elsewhere("POST DELETE", "/cluster/config/nodes/*", CLUSTER),
    // What a tool of its own plans with all that depends on it.
    elsewhere("POST PUT", "/nodes/*/qemu/*/config", "update_proxmox_vm changes settings: it shows old and new, and what becomes of disks"),
    elsewhere("PUT", "/nodes/*/lxc/*/config", "update_proxmox_vm changes settings: it shows old and new, and what becomes of disks"),
    elsewhere("PUT", "/nodes/*/qemu/*/unlink", "update_proxmox_vm removes disks, with delete"),
    elsewhere("DELETE", "/nodes/*/qemu/*", "delete_proxmox_vm deletes guests, after showing what goes with them"),
    elsewhere("DELETE", "/nodes/*/lxc/*", "delete_proxmox_vm deletes guests, after showing what goes with them"),
    elsewhere("DELETE", "/nodes/*/*/*/snapshot/*", "delete_proxmox_vm_snapshot deletes snapshots"),
    elsewhere("POST", "/nodes/*/*/*/snapshot/*/rollback", "rollback_proxmox_vm goes back to snapshots and backups"),
    elsewhere("POST", "/nodes/*/vzdump", "backup_proxmox_vm makes backups, and tells which ones retention would remove"),
    // Inside a guest.
    does("GET", "/nodes/*/qemu/*/agent", Risk::Read),
    does("GET", "/nodes/*/qemu/*/agent/**", Risk::Grant),
    does("POST", "/nodes/*/qemu/*/agent/ping", Risk::Change),
    does("POST", "/nodes/*/qemu/*/agent/**", Risk::Grant),
    does("GET", "/nodes/*/storage/*/file-restore/list", Risk::Grant),
    elsewhere("POST", "/nodes/*/qemu/*/monitor", "send_vm_monitor_command of the toolset qemu sends one, if there is no password in it"),
    // The node connects to where the caller says.
    does("GET", "/nodes/*/query-url-metadata", Risk::Change),
    does("GET", "/nodes/*/query-oci-repo-tags", Risk::Change),
    does("GET", "/nodes/*/scan/lvm", Risk::Read),
    does("GET", "/nodes/*/scan/lvmthin", Risk::Read),
    does("GET", "/nodes/*/scan/zfs", Risk::Read),
    does("GET", "/nodes/*/scan/*", Risk::Change),
    does("GET", "/nodes/*/apt/changelog", Risk::Change),
    does("GET", "/cluster/acme/tos", Risk::Change),
    does("GET", "/cluster/acme/meta", Risk::Change),
    // Power is handed out.
    does("POST PUT DELETE", "/access/**", Risk::Grant),
    does("POST PUT DELETE", "/cluster/jobs/realm-sync/**", Risk::Grant),
    does("POST PUT", "/cluster/mapping/**", Risk::Grant),
    does("POST PUT", "/nodes/*/apt/repositories", Risk::Grant),
    does("POST", "/nodes/*/hosts", Risk::Grant),
    does("PUT", "/nodes/*/dns", Risk::Grant),
    does("POST", "/nodes/*/certificates/custom", Risk::Grant),
    // Guests.
    does("POST", "/nodes/*/qemu", Risk::Change),
    does("POST", "/nodes/*/lxc", Risk::Change),
    does("POST", "/nodes/*/*/*/clone", Risk::Change),
    does("POST", "/nodes/*/*/*/snapshot", Risk::Change),
    does("PUT", "/nodes/*/*/*/snapshot/*/config", Risk::Change),
    does("PUT", "/nodes/*/*/*/resize", Risk::Change),
    does("PUT", "/nodes/*/qemu/*/cloudinit", Risk::Change),
    does("POST", "/nodes/*/qemu/*/dbus-vmstate", Risk::Change),
    does("POST", "/nodes/*/qemu/*/move_disk", Risk::Change),
    does("POST", "/nodes/*/lxc/*/move_volume", Risk::Change),
    does("POST", "/nodes/*/*/*/status/start", Risk::Change),
    does("POST", "/nodes/*/*/*/status/resume", Risk::Change),
    does("POST", "/nodes/*/*/*/status/*", Risk::Disrupt),
    does("PUT", "/nodes/*/qemu/*/sendkey", Risk::Disrupt),
    does("POST", "/nodes/*/*/*/migrate", Risk::Disrupt),
    // There is no way back from a template, and none from another cluster.
    does("POST", "/nodes/*/*/*/template", Risk::Destroy),
    does("POST", "/nodes/*/*/*/remote_migrate", Risk::Destroy),
    does("POST PUT", "/nodes/*/*/*/firewall/**", Risk::Change),
    // Nodes.
    does("POST", "/nodes/*/status", Risk::Disrupt),
    does("POST", "/nodes/*/startall", Risk::Change),
    does("POST", "/nodes/*/stopall", Risk::Disrupt),
    does("POST", "/nodes/*/suspendall", Risk::Disrupt),
    does("POST", "/nodes/*/migrateall", Risk::Disrupt),
    does("POST", "/nodes/*/wakeonlan", Risk::Change),
    does("POST", "/nodes/*/aplinfo", Risk::Change),
    does("POST", "/nodes/*/apt/update", Risk::Change),
    does("POST", "/nodes/*/services/*/start", Risk::Change),
    does("POST", "/nodes/*/services/*/*", Risk::Disrupt),
    does("POST", "/nodes/*/network", Risk::Change),
    does("PUT", "/nodes/*/network", Risk::Disrupt),
    does("PUT", "/nodes/*/network/*", Risk::Change),
    does("PUT", "/nodes/*/config", Risk::Change),
    does("PUT", "/nodes/*/time", Risk::Change),
    does("POST PUT", "/nodes/*/subscription", Risk::Change),
    does("POST PUT", "/nodes/*/certificates/acme/certificate", Risk::Disrupt),
    does("POST PUT", "/nodes/*/firewall/**", Risk::Change),
    does("POST", "/nodes/*/replication/*/schedule_now", Risk::Change),
    does("DELETE", "/nodes/*/tasks/*", Risk::Disrupt),
    // A disk that is given to a storage is overwritten.
    does("POST PUT", "/nodes/*/disks/**", Risk::Destroy),
    does("POST", "/nodes/*/ceph/osd", Risk::Destroy),
    does("POST", "/nodes/*/ceph/osd/*/scrub", Risk::Change),
    does("POST", "/nodes/*/ceph/osd/*/*", Risk::Disrupt),
    does("POST", "/nodes/*/ceph/start", Risk::Change),
    does("POST", "/nodes/*/ceph/stop", Risk::Disrupt),
    does("POST", "/nodes/*/ceph/restart", Risk::Disrupt),
    does("POST PUT", "/nodes/*/ceph/**", Risk::Change),
    // Storages.
    does("POST", "/nodes/*/storage/*/content", Risk::Change),
    does("POST PUT", "/nodes/*/storage/*/content/*", Risk::Change),
    does("POST", "/nodes/*/storage/*/download-url", Risk::Change),
    does("POST", "/nodes/*/storage/*/oci-registry-pull", Risk::Change),
    does("POST PUT", "/storage/**", Risk::Change),
    // The cluster.
    does("POST PUT", "/pools/**", Risk::Grant),
    does("PUT", "/cluster/options", Risk::Change),
    does("POST PUT", "/cluster/acme/**", Risk::Change),
    does("POST PUT", "/cluster/backup/**", Risk::Change),
    does("POST", "/cluster/bulk-action/guest/start", Risk::Change),
    does("POST", "/cluster/bulk-action/guest/*", Risk::Disrupt),
    does("PUT", "/cluster/ceph/flags/**", Risk::Disrupt),
    does("POST PUT", "/cluster/firewall/**", Risk::Change),
    does("POST", "/cluster/ha/resources/*/*", Risk::Disrupt),
    does("POST", "/cluster/ha/status/*", Risk::Disrupt),
    does("POST PUT", "/cluster/ha/**", Risk::Change),
    does("POST PUT", "/cluster/metrics/server/*", Risk::Change),
    does("POST PUT", "/cluster/notifications/**", Risk::Change),
    does("POST PUT", "/cluster/qemu/custom-cpu-models/**", Risk::Change),
    does("POST PUT", "/cluster/replication/**", Risk::Change),
    does("PUT", "/cluster/sdn", Risk::Disrupt),
    does("POST", "/cluster/sdn/rollback", Risk::Destroy),
    does("DELETE", "/cluster/sdn/lock", Risk::Disrupt),
    does("POST PUT", "/cluster/sdn/**", Risk::Change),
    // Whatever is deleted is gone.
    does("DELETE", "/**", Risk::Destroy),
    does("GET", "/**", Risk::Read),
];

/// Parameters that hand out power over a guest, or over its node, whatever the method.
const GRANTS: &[&str] = &[
    "args",
    "cicustom",
    "cipassword",
    "ciuser",
    "entrypoint",
    "env",
    "features",
    "hookscript",
    "password",
    "ssh-public-keys",
    "sshkeys",
];

/// Where `force` overwrites what is there. Elsewhere it passes by a check, or starts what is not started by itself.
const OVERWRITES: &[&str] = &[
    "/nodes/{node}/certificates/acme/certificate",
    "/nodes/{node}/certificates/custom",
    "/nodes/{node}/lxc",
    "/nodes/{node}/qemu",
];

/// Whether an option of a firewall can cut off guests, or the API itself.
fn shuts_out(option: &str) -> bool {
    option == "enable" || option.starts_with("policy_")
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

/// The class of a method, by its template.
pub(super) fn class(verb: Method, template: &str) -> Class {
    let rule = RULES.iter().find(|rule| rule.covers(verb, template));
    rule.map_or(Class::Does(Risk::Grant), |rule| rule.class)
}

/// What does it instead, if a method of this template is left to another way.
pub fn left_to(verb: Method, template: &str) -> Option<&'static str> {
    match class(verb, template) {
        Class::Elsewhere(instead) => Some(instead),
        Class::Does(_) => None,
    }
}

/// What these parameters do beyond what the method does without them.
pub(super) fn of_parameters(template: &str, sent: &Sent) -> Risk {
    let is_on = |name: &str| sent.flag(name) == Some(true);
    let moves = template.ends_with("/move_disk") || template.ends_with("/move_volume");
    if sent.names().any(|name| GRANTS.contains(&name)) {
        Risk::Grant
    } else if sent.has("prune-backups")
        || sent.has("maxfiles")
        || (is_on("force") && OVERWRITES.contains(&template))
        || !sent.unset().is_empty()
        || (moves && (is_on("delete") || sent.has("target-vmid")))
        || (template.ends_with("/content/{volume}") && sent.flag("protected") == Some(false))
    {
        Risk::Destroy
    } else if (template.starts_with("/cluster/ha/resources") && sent.has("state"))
        || (template.ends_with("/firewall/options") && sent.names().any(shuts_out))
    {
        Risk::Disrupt
    } else {
        Risk::Read
    }
}

impl Rule {
    fn covers(&self, verb: Method, template: &str) -> bool {
        let mut verbs = self.verbs.split(' ');
        verbs.any(|it| it == verb.as_str()) && fits(self.path, template)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pve::apidoc::Schema;
    use pve::{Request, Value as Parameter};

    use super::*;
    use crate::clean::is_secret_at;
    use crate::reference::schemas;

    #[test]
    fn the_first_rule_decides() {
        let of = |verb, path: &str| class(verb, path);
        let scan = "/nodes/{node}/scan/";
        let local = of(Method::Get, &format!("{scan}zfs"));
        assert_eq!(local, Class::Does(Risk::Read));
        let remote = of(Method::Get, &format!("{scan}nfs"));
        assert_eq!(remote, Class::Does(Risk::Change));
        assert_eq!(of(Method::Put, "/access/acl"), Class::Does(Risk::Grant));
        assert_eq!(
            of(Method::Delete, "/pools/{poolid}"),
            Class::Does(Risk::Destroy)
        );
        assert_eq!(of(Method::Post, "/brand/new"), Class::Does(Risk::Grant));
    }

    fn of(template: &str, params: &[(&str, Parameter)]) -> Risk {
        let mut request = Request::put("/x");
        for (name, value) in params {
            request = request.with(*name, value.clone());
        }
        of_parameters(template, &Sent::of(&request, template))
    }

    #[test]
    fn parameters_count_too() {
        let text = |text: &str| Parameter::from(text);
        let create = "/nodes/{node}/qemu";
        assert_eq!(of(create, &[("cores", text("2"))]), Risk::Read);
        assert_eq!(of(create, &[("hookscript", text("x"))]), Risk::Grant);
        assert_eq!(of(create, &[("cipassword", text("x"))]), Risk::Grant);
        let moving = "/nodes/{node}/qemu/{vmid}/move_disk";
        assert_eq!(of(moving, &[("delete", true.into())]), Risk::Destroy);
        assert_eq!(of(moving, &[("delete", false.into())]), Risk::Read);
        let volume = "/nodes/{node}/storage/{storage}/content/{volume}";
        assert_eq!(of(volume, &[("protected", false.into())]), Risk::Destroy);
        let options = "/cluster/options";
        assert_eq!(of(options, &[("delete", text("ha"))]), Risk::Destroy);
        assert_eq!(of(options, &[("delete", text(""))]), Risk::Read);
        let job = "/cluster/backup/{id}";
        assert_eq!(of(job, &[("maxfiles", 1.into())]), Risk::Destroy);
        assert_eq!(of(create, &[("force", true.into())]), Risk::Destroy);
        let starting = "/nodes/{node}/startall";
        assert_eq!(of(starting, &[("force", true.into())]), Risk::Read);
        let firewall = "/cluster/firewall/options";
        assert_eq!(of(firewall, &[("enable", 1.into())]), Risk::Disrupt);
        assert_eq!(of(firewall, &[("policy_in", text("DROP"))]), Risk::Disrupt);
        assert_eq!(of(firewall, &[("ebtables", true.into())]), Risk::Read);
    }

    #[test]
    fn every_method_of_every_version_was_looked_at_and_no_rule_is_idle() {
        let schemas = schemas();
        let mut used = BTreeSet::new();
        for method in schemas.iter().flat_map(Schema::methods) {
            let rule = RULES
                .iter()
                .position(|it| it.covers(method.verb, &method.path));
            used.insert(rule.unwrap_or_else(|| panic!("nobody has looked at {method}")));
        }
        let idle = RULES
            .iter()
            .enumerate()
            .filter(|(at, _)| !used.contains(at));
        let idle: Vec<_> = idle.map(|(_, rule)| (rule.verbs, rule.path)).collect();
        assert!(schemas.is_empty() || idle.is_empty(), "{idle:?}");
    }

    #[test]
    fn no_write_answers_with_a_secret_that_would_be_shown() {
        for method in schemas().iter().flat_map(Schema::methods) {
            let (verb, path) = (method.verb, method.path.as_str());
            let mut fields = method.returns.fields.iter();
            let tells = verb != Method::Get && fields.any(|it| is_secret_at(it, path));
            let known = CONFIDES.iter().any(|it| (it.0, it.1) == (verb, path));
            let refused = matches!(class(verb, path), Class::Elsewhere(_));
            assert!(!tells || known || refused, "{method} answers with a secret");
        }
    }

    /// Tools that ask the outside world by a method that could ask anybody, and ask only one that nobody chooses.
    const ASKS_ONE: &[&str] = &["get_acme_tos"];

    #[test]
    fn a_look_is_as_grave_in_one_tool_as_in_another() {
        let mut wrong = Vec::new();
        for tool in crate::registry::all() {
            let spec = tool.spec();
            let methods = tool.methods();
            let reads = methods.iter().filter(|it| it.method == Method::Get);
            for path in reads.map(|read| &read.path) {
                let should_be = class(Method::Get, path) == Class::Does(Risk::Read);
                // One that looks inside a guest leaves a trace instead.
                if (spec.risk == Risk::Read) != should_be
                    && !spec.special.looks_inside
                    && !ASKS_ONE.contains(&spec.name)
                {
                    wrong.push(format!("{}: GET {path}", spec.name));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn few_methods_are_out_of_reach() {
        let Some(newest) = schemas().pop() else {
            return;
        };
        let refused = newest
            .methods()
            .iter()
            .filter(|it| matches!(class(it.verb, &it.path), Class::Elsewhere(_)));
        assert!(refused.count() <= 45);
    }
}
